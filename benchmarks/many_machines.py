"""What many cores and machines make of one large evaluation: a simulation from measured costs.

    python -m benchmarks many-machines [--mentions 400000] [--megabits 1000]

Tables of entity mentions are divided into parts; each is read, checked and counted, its result is
sent, and what all give is merged and scored, as `score --cluster` does. The cost of each step is
measured in this process; that of the steps which only one process does is measured with a quarter,
half and all of the parts. Then a schedule is computed: workers work at once, what they send comes
one after the other, and is merged as it comes.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np

from benchmarks.lorehlt_edl import PER_DOCUMENT, mentions, system_output, write
from hlteval.workflows.run.engine import Run, conclude, open_run
from hlteval.workflows.run.request import Request

T = TypeVar("T")

SIZES = (4_000_000, 40_000_000, 400_000_000, 1_000_000_000)
"""Mentions of the reference, for which schedules are computed."""
CLUSTERS = ((1, 1), (1, 2), (1, 16), (4, 16), (32, 16))
"""Machines, and cores of each."""


@dataclass(frozen=True)
class Costs:
    """CPU seconds and bytes, by mentions of the reference.

    Attributes:
        division: seconds to find the documents.
        part: seconds to read, check and count.
        sent: bytes of the results.
        added: seconds to receive and add them.
        merged: seconds to merge all, to judge and to score: a straight line through what was
            measured, its constant and its slope.
    """

    division: float
    part: float
    sent: float
    added: float
    merged: tuple[float, float]

    def wall(self, size: int, cores: int, bytes_per_second: float) -> tuple[float, str]:
        """The seconds of an evaluation, and which step most of them are.

        Examples:
            >>> costs = Costs(0.0, 1.0, 8.0, 0.25, (1.0, 0.0))
            >>> costs.wall(100, 50, 1e9), costs.wall(100, 10, 1e9)
            ((26.0, 'adding'), (26.0, 'adding'))
        """
        one_by_one = {
            "parts": size * self.part / cores,
            "sending": size * self.sent / bytes_per_second,
            "adding": size * self.added,
        }
        before, after = size * self.division, self.merged[0] + size * self.merged[1]
        longest = max(one_by_one, key=lambda step: one_by_one[step])
        steps = {"division": before, "merging": after, longest: one_by_one[longest]}
        return before + one_by_one[longest] + after, max(steps, key=lambda step: steps[step])


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """The CPU seconds of a function, and its result."""
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def measure(size: int, folder: Path) -> Costs:
    """The costs of an evaluation of so many mentions."""
    gold = write(folder / "gold.tab", mentions(size, PER_DOCUMENT))
    found = system_output(mentions(size, PER_DOCUMENT), size)
    system = write(folder / "system.tab", found)
    request = Request(
        *("lorehlt-edl", str(system), str(gold)), apart=True, condensed=True, alignment=False
    )
    run = open_run(request)
    division, parts = timed(lambda: run.opened.parts)
    assert parts is not None
    # the first batch also imports what it needs
    [[batch.names for batch in each] for each in [next(run.results(None))]]
    counted, batches = timed(lambda: [batch for each in run.results(None) for batch in each])
    packed = [pickle.dumps(batch) for batch in batches]
    added, _ = timed(lambda: _add(run, packed))
    shares = [len(packed) // 4, len(packed) // 2, len(packed)]
    merged = [timed(lambda n=n: _conclude(request, packed[:n]))[0] for n in shares]
    slope, constant = np.polyfit([size * n / len(packed) for n in shares], merged, 1)
    return Costs(
        division / size, counted / size, sum(map(len, packed)) / size, added / size,
        (max(float(constant), 0.0), float(slope)),
    )  # fmt: skip


def _add(run: Run, packed: Sequence[bytes]) -> None:
    for batch in packed:
        run.add(pickle.loads(batch))


def _conclude(request: Request, packed: Sequence[bytes]) -> Any:
    run = open_run(request)
    _add(run, packed)
    run.hold_apart()
    conclude(run)
    return run.scores()


def main(words: Sequence[str]) -> None:
    """Measure, compute the schedules, and print the tables in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mentions", type=int, default=400_000, help="that are measured")
    parser.add_argument("--megabits", type=float, default=1000, help="per second, of the network")
    options = parser.parse_args(words)
    with TemporaryDirectory() as folder:
        costs = measure(options.mentions, Path(folder))
    million = 1_000_000
    print("| step, per million mentions | |\n|---|---|")
    print(f"| find the documents | {costs.division * million:.2f} s |")
    print(f"| read, check and count | {costs.part * million:.1f} s |")
    print(f"| send | {costs.sent:.0f} MB |")
    print(f"| receive and add | {costs.added * million:.2f} s |")
    slope, once = costs.merged[1] * million, costs.merged[0]
    print(f"| merge, judge and score | {slope:.1f} s, and {once:.1f} s once |\n")
    names = [f"{machines} of {cores} cores" for machines, cores in CLUSTERS]
    print(f"| mentions | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for size in SIZES:
        cells = []
        for machines, cores in CLUSTERS:
            seconds, step = costs.wall(size, machines * cores, options.megabits * 125_000)
            cells.append(f"{seconds:,.0f} s ({step})")
        print(f"| {size:,} | {' | '.join(cells)} |")

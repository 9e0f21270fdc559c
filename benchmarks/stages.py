"""Where the CPU time and the memory of a command go: its stages, in one process.

    python -m benchmarks stages score lorehlt-edl -r gold.tab -s system.tab

The command runs here with its output left out. A stage that is inside another one is not counted
twice; what is in none is the start of Python, the imports, and the output. The memory is the peak
of the process when a stage ended for the last time.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

STAGES = (
    ("open", "workflows.run.batches:open_sides"),
    ("find parts", "workflows.run.batches:divide"),
    ("read and align", "workflows.run.engine:_add_each"),
    ("look at both sides", "workflows.run.checks:Check.check_batch"),
    ("rules", "workflows.run.checks:run"),
    ("count", "workflows.run.engine:Run._count"),
    ("detach results of parts", "workflows.run.workers:pickle.dumps"),
    ("detach results of parts", "workflows.run.workers:pickle.loads"),
    ("add", "workflows.run.checks:Check.add"),
    ("compare parts", "workflows.run.checks:Check.hold_apart"),
    ("judge", "workflows.run.checks:Check.verdict"),
    ("score", "workflows.run.engine:conclude"),
    ("score", "workflows.run.engine:Run.scores"),
)
"""Stages of commands, and the functions that are one, below `hlteval`."""


class Stages:
    """The CPU seconds of stages, without those inside them, and the peak memory after each.

    Examples:
        >>> stages = Stages()
        >>> with stages.within("outer"), stages.within("inner"):
        ...     pass
        >>> sorted(stages.seconds)
        ['inner', 'outer']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.peaks: dict[str, int] = {}
        self._inside = [0.0]

    @contextmanager
    def within(self, name: str) -> Iterator[None]:
        """Add what is done here to a stage."""
        begin = time.process_time()
        self._inside.append(0.0)
        try:
            yield
        finally:
            passed, inside = time.process_time() - begin, self._inside.pop()
            self._inside[-1] += passed
            self.seconds[name] = self.seconds.get(name, 0.0) + passed - inside
            self.peaks[name] = peak()

    def watch(self, name: str, place: str) -> None:
        """Count the calls of a function as a stage."""
        module, _, path = place.partition(":")
        *owners, last = path.split(".")
        owner: Any = import_module(f"hlteval.{module}")
        for each in owners:
            owner = getattr(owner, each)
        function: Callable[..., Any] = getattr(owner, last)

        def counted(*arguments: Any, **options: Any) -> Any:
            with self.within(name):
                return function(*arguments, **options)

        setattr(owner, last, counted)


def peak() -> int:
    """The peak memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(words: Sequence[str]) -> None:
    """Run a command, and print the table in Markdown."""
    from hlteval.cli import main as command

    stages = Stages()
    for name, place in STAGES:
        stages.watch(name, place)
    sys.argv = ["hlteval", *words]
    code: Any = 0
    with Path(os.devnull).open("w", encoding="utf-8") as nothing, redirect_stdout(nothing):
        try:
            command()
        except SystemExit as ended:
            code = ended.code
    others = time.process_time() - sum(stages.seconds.values())
    print("| stage | CPU s | peak MB |\n|---|---|---|")
    for name in [name for name in dict(STAGES) if name in stages.seconds]:
        print(f"| {name} | {stages.seconds[name]:.2f} | {stages.peaks[name]:,} |")
    print(f"| start and output | {others:.2f} | |")
    print(f"| all (exit code {code or 0}) | {time.process_time():.2f} | {peak():,} |")

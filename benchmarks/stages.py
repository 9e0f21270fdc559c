"""Where the CPU time and the memory of a command go: its stages, in one process.

    python -m benchmarks stages score lorehlt-edl -r gold.tab -s system.tab

The command runs here with its output left out. A stage that is inside another one is not counted
twice; what is in none is the start of Python, the imports, and the output. The memory is the peak
of the process when a stage ended for the last time.
"""

from __future__ import annotations

import os
import pickle
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from hlteval.validators import rule
from hlteval.workflows.run import batches, checks, engine, parts

STAGES: Sequence[tuple[str, object, Callable[..., Any]]] = (
    ("open", batches, batches.open_sides),
    ("find parts", batches, parts.divide),
    ("read and align", engine, engine._add_each),
    ("look at both sides", checks.Check, checks.Check.check_batch),
    ("rules", checks, rule.run),
    ("count", engine.Run, engine.Run._count),
    ("detach results of parts", pickle, pickle.dumps),
    ("detach results of parts", pickle, pickle.loads),
    ("add", checks.Check, checks.Check.add),
    ("compare parts", checks.Check, checks.Check.hold_apart),
    ("judge", checks.Check, checks.Check.verdict),
    ("score", engine, engine.conclude),
    ("score", engine.Run, engine.Run.scores),
)
"""Stages of commands, and the functions that are one, with the module or class that calls them."""


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

    def watch(self, name: str, owner: object, function: Callable[..., Any]) -> None:
        """Count the calls of a function, by its name in a module or class, as a stage.

        Raises:
            ValueError: if it is not there.
        """
        if getattr(owner, function.__name__, None) is not function:
            raise ValueError(f"{owner} has no {function.__qualname__}")

        def counted(*arguments: Any, **options: Any) -> Any:
            with self.within(name):
                return function(*arguments, **options)

        setattr(owner, function.__name__, counted)


def peak() -> int:
    """The peak memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(words: Sequence[str]) -> None:
    """Run a command, and print the table in Markdown."""
    from hlteval.cli import main as command

    stages = Stages()
    for stage in STAGES:
        stages.watch(*stage)
    sys.argv = ["hlteval", *words]
    code: Any = 0
    with Path(os.devnull).open("w", encoding="utf-8") as nothing, redirect_stdout(nothing):
        try:
            command()
        except SystemExit as ended:
            code = ended.code
    others = time.process_time() - sum(stages.seconds.values())
    print("| stage | CPU s | peak MB |\n|---|---|---|")
    for name in dict.fromkeys(stage for stage, *_ in STAGES if stage in stages.seconds):
        print(f"| {name} | {stages.seconds[name]:.2f} | {stages.peaks[name]:,} |")
    print(f"| start and output | {others:.2f} | |")
    print(f"| all (exit code {code or 0}) | {time.process_time():.2f} | {peak():,} |")

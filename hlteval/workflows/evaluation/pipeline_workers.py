"""Workers of a pipeline: processes that do one order after the other, within limits.

Whatever happens in a worker, a crash, a lack of memory or an endless loop, ends this process only.
A worker that had other orders before gets no blame: the order is tried again by a new one. When the
pipeline is killed, its workers see the end of their input and end at once.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol, cast

from hlteval.tasks.task import WrongOption
from hlteval.workflows.evaluation.pipeline_work import BROKEN, Order, Outcome, perform

_PROGRAM = "hlteval.workflows.evaluation.pipeline_worker"
_START = 60.0
"""Seconds that a new worker has beyond those of its order, to import what it needs."""


@dataclass(frozen=True)
class WorkLimits:
    """What a worker may use for one order.

    Attributes:
        seconds: of time.
        megabytes: of memory; 0 for all there is.
    """

    seconds: int = 3600
    megabytes: int = 8000


class Workers(Protocol):
    """Those who do orders."""

    def outcomes(self, orders: Iterable[Order]) -> Iterator[tuple[Order, Outcome]]:
        """The outcome of each order, as soon as there is one, in any order."""

    def close(self) -> None:
        """End all work."""


@dataclass(frozen=True)
class InProcess:
    """Does the orders in this process, in the root of the evaluation."""

    root: Path

    def outcomes(self, orders: Iterable[Order]) -> Iterator[tuple[Order, Outcome]]:
        """The outcome of each order."""
        for order in orders:
            before = Path.cwd()
            os.chdir(self.root)
            try:
                outcome = perform(order)
            finally:
                os.chdir(before)
            yield order, outcome

    def close(self) -> None:
        """Nothing is left to end."""


@dataclass
class Processes:
    """Does the orders in processes of their own.

    Attributes:
        root: their working directory.
        count: how many there are at most.
        limits: of each order.
        function: the name of the function that does an order, as `module:attribute`.
    """

    root: Path
    count: int = 1
    limits: WorkLimits = WorkLimits()
    function: str = "hlteval.workflows.evaluation.pipeline_work:perform"
    idle: list[_Process] = field(default_factory=list)
    busy: dict[int, _Process] = field(default_factory=dict)

    def outcomes(self, orders: Iterable[Any]) -> Iterator[tuple[Any, Outcome]]:
        """The outcome of each order; orders that are added to a deque meanwhile are done, too."""
        waiting = orders if isinstance(orders, deque) else deque(orders)
        while waiting or self.busy:
            while waiting and len(self.busy) < self.count:
                self._begin(waiting.popleft(), self.idle.pop() if self.idle else None)
            for process in self._ready():
                order, outcome = process.finish(self.limits)
                del self.busy[process.results.fileno()]
                if outcome.result in BROKEN:
                    process.close()
                    if process.done > 1 and outcome.result != "time":
                        self._begin(order, None)
                        continue
                else:
                    self.idle.append(process)
                yield order, outcome

    def _begin(self, order: Any, process: _Process | None) -> None:
        process = process or _Process.start(self.root, self.function, self.limits)
        self.busy[process.results.fileno()] = process
        process.begin(order, self.limits.seconds)

    def _ready(self) -> list[_Process]:
        """The processes that have an outcome, have ended, or have no time left."""
        first = min(process.deadline for process in self.busy.values())
        ready, _, _ = select.select(list(self.busy), [], [], max(0.0, first - time.monotonic()))
        now = time.monotonic()
        late = [number for number, each in self.busy.items() if each.deadline <= now]
        return [self.busy[number] for number in dict.fromkeys([*ready, *late])]

    def close(self) -> None:
        """End all processes."""
        for process in [*self.idle, *self.busy.values()]:
            process.close()
        self.idle.clear()
        self.busy.clear()


@dataclass
class _Process:
    """A worker process.

    Attributes:
        process: the process.
        order: what it does.
        done: how many orders it has got.
        deadline: when it has no time left, by the monotonic clock.
    """

    process: subprocess.Popen[bytes]
    order: Any = None
    done: int = 0
    deadline: float = 0.0

    @classmethod
    def start(cls, root: Path, function: str, limits: WorkLimits) -> _Process:
        """Start one; it is in a session of its own, so that a Ctrl-C reaches only this process."""
        paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)  # noqa: PTH100
        threads = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", _PROGRAM, function, str(limits.megabytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=root,
            env={**threads, **os.environ, "PYTHONPATH": paths},
            start_new_session=True,
        )
        return cls(process)

    @property
    def results(self) -> IO[bytes]:
        """Where its outcomes come from."""
        return cast(IO[bytes], self.process.stdout)

    def begin(self, order: Any, seconds: int) -> None:
        """Give it an order."""
        self.order, self.done = order, self.done + 1
        self.deadline = time.monotonic() + seconds + (_START if self.done == 1 else 0.0)
        with suppress(BrokenPipeError):
            pickle.dump(order, cast(IO[bytes], self.process.stdin))
            cast(IO[bytes], self.process.stdin).flush()

    def finish(self, limits: WorkLimits) -> tuple[Any, Outcome]:
        """What came of its order."""
        if not select.select([self.results], [], [], 0)[0]:
            return self.order, Outcome("time")
        try:
            outcome: Outcome = pickle.load(self.results)  # noqa: S301 - from our own process
        except (EOFError, pickle.UnpicklingError):
            self.process.kill()
            return self.order, _ended(self.process.wait(), limits)
        return self.order, outcome

    def close(self) -> None:
        """End it, and the processes that it started, such as a Java program."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with suppress(BrokenPipeError):
            cast(IO[bytes], self.process.stdin).close()
        self.results.close()
        self.process.wait()


def _ended(status: int, limits: WorkLimits) -> Outcome:
    """The outcome of an order at which a process ended."""
    if status == -signal.SIGABRT and limits.megabytes:  # as libraries end that get no memory
        return Outcome("memory")
    if status < 0:
        return Outcome("crashed", reason=f"the signal {signal.Signals(-status).name}")
    return Outcome("crashed", reason=f"the exit status {status}")


LEAST_MEGABYTES = 1200
"""What the smallest submission needs.

Limits are of addresses, which libraries reserve by far more than they use: the reference and
systems of the demonstration, 20 lines each, take 1,070 MB where they are scored and compared.
"""


def check_memory(megabytes: int, *, unlimited: bool = False) -> None:
    """Refuse a limit with which nothing can be done.

    Args:
        megabytes: the limit.
        unlimited: whether 0 means that there is none.

    Raises:
        WrongOption: for less than what a process needs for the smallest submission.
    """
    if megabytes < LEAST_MEGABYTES and not (unlimited and megabytes == 0):
        all_there_is = ", or 0 for all there is" if unlimited else ""
        raise WrongOption(
            f"--max-memory {megabytes} is less than the smallest submission needs; "
            f"use {LEAST_MEGABYTES} or more{all_there_is}"
        )

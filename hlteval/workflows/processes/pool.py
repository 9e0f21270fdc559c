"""Processes that call functions, one call after the other: one protocol for all who need them.

A process runs `worker`. It gets `Call`s and answers each with `Message`s: any number of reports,
then the result; in both directions they are pickles in a row. Whatever happens in a process, a
crash, a lack of memory or an endless loop, ends this process only. It is in a session of its own,
so that a Ctrl-C does not reach it. When the program that started it ends, it sees the end of its
input and ends at once, with all that it started, such as a Java program.
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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple, cast

_PROGRAM = "hlteval.workflows.processes.worker"
#: Seconds that a new process of a pool has beyond those of its call, to import what it needs.
START = 60.0
#: The environment of a process among others, where the user says nothing else.
ONE_THREAD = MappingProxyType({"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})


class Call(NamedTuple):
    """A call of a function.

    Attributes:
        function: its name, as `module:attribute`.
        arguments: its arguments.
        reports: whether it takes one argument more: a function that sends reports.
    """

    function: str
    arguments: tuple[Any, ...] = ()
    reports: bool = False


class Message(NamedTuple):
    """An answer to a call: a report, or the result."""

    value: Any
    is_result: bool


class Limits(NamedTuple):
    """Limits of the operating system for a process; 0 for none.

    Attributes:
        megabytes: of memory.
        cpu_seconds: of computing.
        file_megabytes: of a file that is written.
    """

    megabytes: int = 0
    cpu_seconds: int = 0
    file_megabytes: int = 0


NO_LIMITS = Limits()


class ProcessEnded(Exception):
    """A process ended without a result.

    Attributes:
        status: its exit status, negative for a signal; None if it had no time left.
    """

    def __init__(self, status: int | None) -> None:
        super().__init__(status)
        self.status = status

    @property
    def reason(self) -> str:
        """The signal or exit status.

        Examples:
            >>> ProcessEnded(-9).reason, ProcessEnded(3).reason
            ('the signal SIGKILL', 'the exit status 3')
        """
        if self.status is not None and self.status < 0:
            return f"the signal {signal.Signals(-self.status).name}"
        return f"the exit status {self.status}"


def _ignore(_report: Any) -> None:
    """Take a report that nobody wants."""


class Process:
    """A process that calls functions.

    Args:
        preload: the function whose module it imports while it waits for the first call.
        root: its working directory; None for this one.
        limits: what it may use.
        environment: all its variables but for the path of modules; None for those of this process.
    """

    def __init__(
        self,
        preload: str,
        *,
        root: Path | None = None,
        limits: Limits = NO_LIMITS,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)  # noqa: PTH100
        own = {**ONE_THREAD, **os.environ} if environment is None else environment
        self.calls = 0
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", _PROGRAM, preload, *map(str, limits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=root,
            env={**own, "PYTHONPATH": paths},
            start_new_session=True,
        )
        self.pid = self._process.pid
        self._stdin = cast(IO[bytes], self._process.stdin)
        self.stdout = cast(IO[bytes], self._process.stdout)

    def begin(self, call: Call) -> None:
        """Send a call."""
        self.calls += 1
        with suppress(BrokenPipeError):
            pickle.dump(call, self._stdin)
            self._stdin.flush()

    def receive(self) -> Message:
        """Wait for the next message.

        Raises:
            ProcessEnded: if there is none.
        """
        try:
            message: Message = pickle.load(self.stdout)  # noqa: S301 - from our own process
        except (EOFError, pickle.UnpicklingError) as error:
            with suppress(subprocess.TimeoutExpired):  # its status, if it ends by itself
                self._process.wait(1)
            raise ProcessEnded(self.end()) from error
        return message

    def call(self, call: Call, report: Callable[[Any], None] = _ignore) -> Any:
        """Send a call and wait for its result.

        Raises:
            ProcessEnded: if there is none.
        """
        self.begin(call)
        while not (message := self.receive()).is_result:
            report(message.value)
        return message.value

    async def answer(
        self, call: Call, seconds: float, report: Callable[[Any], None] = _ignore
    ) -> Any:
        """Send a call and wait for its result, while this program does other things.

        The process is ended if the caller is cancelled.

        Args:
            call: the call.
            seconds: for which it may take.
            report: takes the reports, in another thread.

        Raises:
            ProcessEnded: if there is no result.
        """
        import asyncio  # not for those who wait
        from concurrent.futures import ThreadPoolExecutor

        waiting = ThreadPoolExecutor(1)
        thread = asyncio.get_running_loop().run_in_executor(waiting, self.call, call, report)
        waiting.shutdown(wait=False)
        try:
            async with asyncio.timeout(seconds):
                return await thread
        except TimeoutError as error:
            raise ProcessEnded(None) from error
        finally:
            if not thread.done() or thread.cancelled():
                self.kill()

    def kill(self) -> None:
        """Kill the process, and those that it started; `end` or the end of a call removes it."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def end(self) -> int:
        """End the process, and those that it started; its exit status."""
        self.kill()
        with suppress(BrokenPipeError):
            self._stdin.close()
        status = self._process.wait()
        self.stdout.close()
        return status


class _Turn(NamedTuple):
    """An order that a process of a pool works on, until a time of the monotonic clock."""

    process: Process
    order: Any
    deadline: float


@dataclass
class Pool:
    """Calls a function with one order after the other, in several processes.

    A process that had other orders before gets no blame: the order at which it ends is given to a
    new one.

    Attributes:
        function: takes an order, as `module:attribute`.
        count: number of processes at most.
        seconds: for an order.
        limits: of each process.
        root: their working directory; None for this one.
        is_doubtful: whether a result says more of a process than of the order.
    """

    function: str
    count: int = 1
    seconds: int = 3600
    limits: Limits = NO_LIMITS
    root: Path | None = None
    is_doubtful: Callable[[Any], bool] = lambda _: False
    _idle: list[Process] = field(default_factory=list)
    _busy: dict[int, _Turn] = field(default_factory=dict)

    def results(self, orders: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield each order with its result or `ProcessEnded`, as soon as there is one.

        Orders that are added to a deque meanwhile are done, too.
        """
        waiting = orders if isinstance(orders, deque) else deque(orders)
        while waiting or self._busy:
            while waiting and len(self._busy) < self.count:
                self._begin(waiting.popleft(), self._idle.pop() if self._idle else None)
            for turn, result in self._ends():
                late = isinstance(result, ProcessEnded) and result.status is None
                if not isinstance(result, ProcessEnded) and not self.is_doubtful(result):
                    self._idle.append(turn.process)
                else:
                    turn.process.end()
                    if turn.process.calls > 1 and not late:
                        self._begin(turn.order, None)
                        continue
                yield turn.order, result

    def _begin(self, order: Any, process: Process | None) -> None:
        start = START if process is None else 0.0
        process = process or Process(self.function, root=self.root, limits=self.limits)
        deadline = time.monotonic() + self.seconds + start
        self._busy[process.stdout.fileno()] = _Turn(process, order, deadline)
        process.begin(Call(self.function, (order,)))

    def _ends(self) -> Iterator[tuple[_Turn, Any]]:
        """Wait for turns to end, with a result or `ProcessEnded`."""
        first = min(turn.deadline for turn in self._busy.values())
        ready, _, _ = select.select([*self._busy], [], [], max(0.0, first - time.monotonic()))
        now = time.monotonic()
        for number, turn in [*self._busy.items()]:
            result: Any = ProcessEnded(None)
            if number in ready:
                try:
                    result = turn.process.receive().value
                except ProcessEnded as ended:
                    result = ended
            elif turn.deadline > now:
                continue
            del self._busy[number]
            yield turn, result

    def close(self) -> None:
        """End all processes."""
        for process in [*self._idle, *(turn.process for turn in self._busy.values())]:
            process.end()
        self._idle.clear()
        self._busy.clear()

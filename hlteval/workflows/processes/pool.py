"""Processes that call functions, one call after the other: one protocol for all who need them.

A process runs `worker`. It gets `Call`s and answers each with `Message`s: any number of reports,
then the result; in both directions they are pickles in a row. Whatever happens in a process, a
crash, a lack of memory or an endless loop, ends this process only. It is in a session of its own,
so that a Ctrl-C does not reach it. When the program that started it ends, it sees the end of its
input and ends at once, with all that it started, such as a Java program.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple, cast

_PROGRAM = "hlteval.workflows.processes.worker"
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
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self.pid, signal.SIGKILL)

    def end(self) -> int:
        """End the process, and those that it started; its exit status."""
        self.kill()
        with suppress(BrokenPipeError):
            self._stdin.close()
        status = self._process.wait()
        self.stdout.close()
        return status

"""Processes that do jobs, one each; a spare one waits with everything imported."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec

from hlteval.serve.orders import SCRATCH, Progress

_PROGRAM = "hlteval.serve.worker"
_KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "JAVA_HOME")
"""Variables of the environment that a job has."""
_LINE = 1 << 16
"""Bytes of a line of progress at most."""


class Ended(Exception):
    """A job ended without an outcome; the message says why."""


class Runner(Protocol):
    """What does jobs."""

    async def run(self, folder: Path, report: Callable[[Progress], None]) -> None:
        """Do a job.

        Raises:
            Ended: if it ended before there was an outcome.
        """

    async def prepare(self) -> None:
        """Make the next job begin sooner."""

    async def close(self) -> None:
        """End all that is still there."""


@dataclass
class Processes:
    """Does each job in a process of its own.

    Attributes:
        root: the working directory of a process that waits.
        seconds: that a job may take.
        megabytes: of memory that it may use.
        spare: the process that waits.
        busy: those that work.
    """

    root: Path
    seconds: int = 600
    megabytes: int = 4000
    spare: asyncio.subprocess.Process | None = None
    busy: set[asyncio.subprocess.Process] = field(default_factory=set)

    async def run(self, folder: Path, report: Callable[[Progress], None]) -> None:
        """Do a job; its process ends with it, also where the job is cancelled."""
        process, self.spare = self.spare or await self._start(), None
        self.busy.add(process)
        try:
            async with asyncio.timeout(self.seconds):
                status = await self._watched(process, folder, report)
        except TimeoutError as error:
            raise Ended(f"it took more than {self.seconds} seconds") from error
        finally:
            self.busy.discard(process)
            await _end(process)
        if status:
            raise Ended(_reason(status))

    async def prepare(self) -> None:
        """Start the process that waits."""
        if self.spare is None:
            self.spare = await self._start()

    async def _watched(
        self, process: asyncio.subprocess.Process, folder: Path, report: Callable[[Progress], None]
    ) -> int:
        """Report the progress of a job until its process ends, and return the exit status."""
        assert process.stdin and process.stdout  # noqa: S101 - both are pipes
        with suppress(ConnectionError):
            process.stdin.write(os.fsencode(folder) + b"\n")
            await process.stdin.drain()
        while line := await process.stdout.readline():
            with suppress(msgspec.DecodeError):
                report(msgspec.json.decode(line, type=Progress))
        return await process.wait()

    async def _start(self) -> asyncio.subprocess.Process:
        """Start a process; it is in a session of its own, so that a Ctrl-C does not reach it."""
        scratch = self.root / SCRATCH
        scratch.mkdir(mode=0o700, exist_ok=True)
        paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)  # noqa: PTH100
        own = {name: os.environ[name] for name in _KEPT if name in os.environ}
        own |= {"PYTHONPATH": paths, "HOME": str(scratch), "TMPDIR": str(scratch)}
        own |= {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"}
        own |= {"POLARS_ENGINE_AFFINITY": "in-memory"}
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-B", "-m", _PROGRAM, str(self.megabytes), str(self.seconds)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=self.root,
            env=own,
            start_new_session=True,
            limit=_LINE,
        )

    async def close(self) -> None:
        """End all processes."""
        for process in [*self.busy, *([self.spare] if self.spare else [])]:
            await _end(process)
        self.spare = None


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process, and those that it started, such as a Java program."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    await process.wait()


def _reason(status: int) -> str:
    """Why a process ended."""
    if status in {-signal.SIGABRT, -signal.SIGSEGV}:  # as libraries end that get no memory
        return "it needs more memory than it may use"
    if status == -getattr(signal, "SIGXCPU", 0):
        return "it took too much time"
    return "its process ended"

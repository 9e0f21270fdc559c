"""Processes that do jobs, one each; a spare one waits with everything imported."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Protocol

import msgspec

from hlteval.serve.settings import INPUT, LINKS, OUTPUT, SCRATCH, Order, Outcome, Progress, Upload
from hlteval.serve.uploads import Receiver, Rejected, Space
from hlteval.workflows.processes.pool import ONE_THREAD, Call, Limits, Process, ProcessEnded

_PERFORM = "hlteval.serve.work:perform_alone"
#: Variables of the environment that a job has.
_KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "JAVA_HOME")
_SETTINGS = MappingProxyType(
    {"PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1", "POLARS_ENGINE_AFFINITY": "in-memory"}
)
#: Megabytes that a file may have that is written.
_WRITTEN = 2_000
#: The ends of libraries that get no memory.
_WITHOUT_MEMORY = (-signal.SIGABRT, -signal.SIGSEGV)


class Ended(Exception):
    """A job ended without an outcome; the message says why."""


class Runner(Protocol):
    """Executor of jobs."""

    async def run(self, folder: Path, order: Order, report: Callable[[Progress], None]) -> Outcome:
        """Do a job in its folder.

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
    spare: Process | None = None
    busy: set[Process] = field(default_factory=set)

    async def run(self, folder: Path, order: Order, report: Callable[[Progress], None]) -> Outcome:
        """Do a job; its process ends with it, also where the job is cancelled."""
        process, self.spare = self.spare or self._start(), None
        self.busy.add(process)
        try:
            call = Call(_PERFORM, (folder, order), reports=True)
            outcome: Outcome = await process.answer(call, self.seconds, report)
            return outcome
        except ProcessEnded as ended:
            if ended.status is None:
                reason = f"it took more than {self.seconds} seconds"
            elif ended.status in _WITHOUT_MEMORY:
                reason = "it needs more memory than it may use"
            elif ended.status == -getattr(signal, "SIGXCPU", 0):
                reason = "it took too much time"
            else:
                reason = "its process ended"
            raise Ended(reason) from ended
        finally:
            self.busy.discard(process)
            await asyncio.to_thread(process.end)

    async def prepare(self) -> None:
        """Start the process that waits."""
        if self.spare is None:
            self.spare = self._start()

    def _start(self) -> Process:
        """Start a process, of whose environment only what it needs is that of the server."""
        scratch = self.root / SCRATCH
        scratch.mkdir(mode=0o700, exist_ok=True)
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        kept |= {"HOME": str(scratch), "TMPDIR": str(scratch)} | _SETTINGS | ONE_THREAD
        limits = Limits(self.megabytes, 2 * self.seconds, _WRITTEN)
        return Process(_PERFORM, root=self.root, limits=limits, environment=kept)

    async def close(self) -> None:
        """End all processes."""
        for process in [*self.busy, *([self.spare] if self.spare else [])]:
            await asyncio.to_thread(process.end)
        self.spare = None


State = Literal["uploading", "waiting", "running", "done"]


@dataclass(eq=False)
class Job:
    """A job of a session.

    Attributes:
        key: in its URL.
        folder: of its files.
        order: what is to be done; the uploads are added when it begins.
        space: what its uploads take.
        state: how far it is.
        uploads: the uploaded files, by input.
        progress: while it is running.
        outcome: when it is done.
        touched: when it was last asked about.
        work: the task that does it, once it has begun.
        bug: for the terminal of the server.
    """

    key: str
    folder: Path
    order: Order
    space: Space
    touched: float
    state: State = "uploading"
    uploads: dict[str, tuple[Upload, ...]] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    outcome: Outcome = field(default_factory=Outcome)
    bug: str = ""
    _taken: int = 0
    _receiving: int = 0
    _gone: bool = False
    work: asyncio.Task[None] | None = None

    @classmethod
    def create(
        cls, key: str, root: Path, order: Order, space: Space, given: Mapping[str, Path], now: float
    ) -> Job:
        """A job with an empty folder.

        Args:
            key: in its URL.
            root: the folder in which its own is made.
            order: what is to be done.
            space: that all uploads have.
            given: inputs of the organiser, of which the job gets links.
            now: the time.
        """
        folder = root / key
        folder.mkdir(mode=0o700)
        for name in (INPUT, OUTPUT, LINKS):
            (folder / name).mkdir(mode=0o700)
        links = {}
        for number, (name, path) in enumerate(given.items()):
            link = folder / LINKS / str(number) / path.name
            link.parent.mkdir()
            link.symlink_to(path)
            links[name] = f"{number}/{path.name}"
        return cls(key, folder, msgspec.structs.replace(order, given=links), space, now)

    @property
    def is_busy(self) -> bool:
        """Whether it waits for a process, or has one."""
        return self.state in {"waiting", "running"}

    async def receive(self, name: str, chunks: AsyncIterator[bytes]) -> int:
        """Take the files of an input; the number of files.

        Raises:
            Rejected: if they are not accepted, or the job has begun.
        """
        if self.state != "uploading" or name in self.uploads or self._receiving:
            raise Rejected(409, "These files cannot be added any more.")
        self._receiving = 1
        first = sum(map(len, self.uploads.values()))
        receiver = Receiver(self.folder / INPUT, first, self.space)
        try:
            self.uploads[name] = await receiver.receive(chunks)
        except OSError as error:
            raise Rejected(507, "The disk of the server is full.") from error
        finally:
            self._receiving = 0
            self._taken += receiver.taken
            if name not in self.uploads:  # it can be tried again
                for number in range(first, first + len(receiver.uploads) + 1):
                    (self.folder / INPUT / f"{number:06}").unlink(missing_ok=True)
                self.space.give(receiver.taken)
                self._taken -= receiver.taken
            if self._gone:
                self.remove()
        return len(self.uploads[name])

    def begin(self, runner: Runner, turns: asyncio.Semaphore) -> None:
        """Begin the work.

        Args:
            runner: does it.
            turns: how many jobs may run at a time.

        Raises:
            Rejected: if it has begun, or something is missing.
        """
        if self.state != "uploading" or self._receiving:
            raise Rejected(409, "This job has begun already.")
        self.state = "waiting"
        self.work = asyncio.create_task(self._run(runner, turns))

    async def _run(self, runner: Runner, turns: asyncio.Semaphore) -> None:
        order = msgspec.structs.replace(self.order, uploads=self.uploads)
        try:
            async with turns:
                self.state = "running"
                self.outcome = await runner.run(self.folder, order, self._report)
        except OSError:
            self.outcome = Outcome((), "Nothing came of the work: the disk may be full.")
        except Ended as error:
            self.outcome = Outcome((), f"The work was stopped: {error}.")
        finally:
            self.state = "done"

    def _report(self, progress: Progress) -> None:
        self.progress = progress

    def output(self, file: str) -> Path | None:
        """The path of a file that was made; None if there is none inside the folder."""
        path = self.folder / OUTPUT / file
        inside = path.resolve().is_relative_to((self.folder / OUTPUT).resolve())
        return path if inside and path.is_file() else None

    async def cancel(self) -> None:
        """End the work and remove the folder."""
        if self.work is not None:
            self.work.cancel()
            with suppress(asyncio.CancelledError):
                await self.work
        if not self._receiving:  # many files take a while, in which others are answered
            await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)
        self.remove()

    def remove(self) -> None:
        """Remove the folder; while files come in, that is done when they have stopped."""
        self._gone = True
        self.state = "done"
        if not self._receiving:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.space.give(self._taken)
            self._taken = 0

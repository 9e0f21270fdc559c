"""Jobs of sessions: their uploads, the processes that do them, and when they are removed.

A spare process waits with everything imported.

Format of the body of an upload:
    For each file a line of JSON, `{"name": …, "size": …}`, which ends in a line feed, then its
    bytes. The names are those that the browser gives, with folders.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from hlteval.serve.settings import Folder, Order, Outcome, Progress, ServeLimits, Upload
from hlteval.sources.names import archive_suffix
from hlteval.sources.source import LIMITS, Limits
from hlteval.workflows.processes.pool import ONE_THREAD, Call, Process, ProcessEnded
from hlteval.workflows.processes.pool import Limits as ProcessLimits

#: Bytes of the line before a file at most; names of files have at most 4,096.
_HEADER = 8_192
#: Bytes of the disk that a file takes beside its own.
_BLOCK = 4_096
_INCOMPLETE = "The upload ended before it was complete."


class Rejected(Exception):
    """A request is not accepted.

    Attributes:
        status: of HTTP.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The line before a file."""

    name: str
    size: int


class _Body:
    """The bytes of a body, as lines and contents.

    Args:
        chunks: of the body.
    """

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks, self._rest = chunks, b""

    async def content(self, most: int) -> bytes:
        """The next bytes; nothing at the end of the body."""
        while not self._rest and (chunk := await anext(self._chunks, None)) is not None:
            self._rest = chunk
        content, self._rest = self._rest[:most], self._rest[most:]
        return content

    async def line(self) -> bytes:
        """The next line; nothing at the end of the body.

        Raises:
            Rejected: if the line is too long, or not complete.
        """
        line = b""
        while not line.endswith(b"\n") and (part := await self.content(_HEADER)):
            text, feed, rest = part.partition(b"\n")
            line, self._rest = line + text + feed, rest + self._rest
            if len(line) - len(feed) > _HEADER:
                raise Rejected(400, "A file has too long a name.")
        if line and not line.endswith(b"\n"):
            raise Rejected(400, _INCOMPLETE)
        return line


async def receive(
    chunks: AsyncIterator[bytes], folder: Path, take: Callable[[int], None], limits: Limits = LIMITS
) -> tuple[Upload, ...]:
    """Write the files of the body of an upload, under numbers.

    Args:
        chunks: of the body.
        folder: the folder of an input, in that of all.
        take: counts bytes before they are written.
        limits: of archives.

    Raises:
        Rejected: if the body has another form, or is too large.
        NotWritten: if the disk is full.
    """
    body, total = _Body(chunks), 0
    uploads: list[Upload] = []
    while line := await body.line():
        try:
            header = msgspec.json.decode(line, type=_Header)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Rejected(400, "The upload has a form that the server does not know.") from error
        total += header.size
        if header.size < 0:
            raise Rejected(400, "A file has a size below 0.")
        if len(uploads) >= limits.members:
            raise Rejected(413, f"There are more than {limits.members:,} files.")
        if total > limits.total_bytes:
            most = limits.total_bytes >> 20
            raise Rejected(413, f"The files are larger than {most:,} MiB together.")
        is_archive = archive_suffix(header.name) is not None  # as large as its members
        most = limits.total_bytes if is_archive else limits.member_bytes
        file = f"{folder.name}/{len(uploads):06}" if header.size <= most else ""
        left = header.size
        take(_BLOCK if file else 0)
        with (folder.parent / file).open("xb") if file else nullcontext() as stream:
            while left:
                if not (content := await body.content(left)):
                    raise Rejected(400, _INCOMPLETE)
                left -= len(content)
                if stream is not None:
                    take(len(content))
                    stream.write(content)
        uploads.append(Upload(header.name, header.size, file))
    if not uploads:
        raise Rejected(400, "The upload contains no files.")
    return tuple(uploads)


_PERFORM = "hlteval.serve.work:perform_alone"
#: Variables of the environment that a job has.
_KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "JAVA_HOME")
_SETTINGS = {
    **ONE_THREAD,
    "PYTHONUTF8": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "POLARS_ENGINE_AFFINITY": "in-memory",
}
#: Megabytes that a file may have that is written.
_WRITTEN = 2_000
#: Why a process ended, by its status; libraries that get no memory end in two ways.
_REASONS: Mapping[int | None, str] = {
    None: "it took more than {} seconds",
    -getattr(signal, "SIGXCPU", 0): "it took too much time",
    **dict.fromkeys((-signal.SIGABRT, -signal.SIGSEGV), "it needs more memory than it may use"),
}


@dataclass
class Processes:
    """Does each job in a process of its own.

    Attributes:
        root: the working directory of a process that waits.
        limits: the time and the memory of a job.
        spare: the process that waits.
    """

    root: Path
    limits: ServeLimits = field(default_factory=ServeLimits)
    spare: Process | None = None

    async def run(self, folder: Path, order: Order, report: Callable[[Progress], None]) -> Outcome:
        """Do a job in its folder; its process ends with it, also where the job is cancelled."""
        process, self.spare = self.spare or self._start(), None
        try:
            call = Call(_PERFORM, (folder, order), reports=True)
            outcome: Outcome = await process.answer(call, self.limits.seconds, report)
            return outcome
        except ProcessEnded as ended:
            reason = _REASONS.get(ended.status, "its process ended").format(self.limits.seconds)
            return Outcome(error=f"The work was stopped: {reason}.")
        finally:
            await asyncio.to_thread(process.end)

    def prepare(self) -> None:
        """Start the process that waits, so that the next job begins sooner."""
        self.spare = self.spare or self._start()

    def _start(self) -> Process:
        """Start a process, of whose environment only what it needs is that of the server."""
        scratch = self.root / Folder.SCRATCH
        scratch.mkdir(mode=0o700, exist_ok=True)
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        environment |= _SETTINGS | {"HOME": str(scratch), "TMPDIR": str(scratch)}
        limits = ProcessLimits(self.limits.megabytes, 2 * self.limits.seconds, _WRITTEN)
        return Process(_PERFORM, root=self.root, limits=limits, environment=environment)

    async def close(self) -> None:
        """End the process that waits; one that works ends with its job."""
        if (process := self.spare) is not None:
            self.spare = None
            await asyncio.to_thread(process.end)


@dataclass(eq=False)
class Job:
    """A job of a session.

    Attributes:
        folder: of its files; its name is in the URL.
        order: what is to be done; the uploads are added when it begins.
        sessions: those of all, whose uploads share the disk.
        touched: when it was last asked about.
        state: how far it is.
        uploads: the uploaded files, by input.
        progress: while it is running.
        outcome: when it is done.
        work: the task that does it, once it has begun.
    """

    folder: Path
    order: Order
    sessions: Sessions
    touched: float
    state: Literal["uploading", "waiting", "running", "done"] = "uploading"
    uploads: dict[str, tuple[Upload, ...]] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    outcome: Outcome = field(default_factory=Outcome)
    work: asyncio.Task[None] | None = None
    _taken: int = 0
    _receiving: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it takes files, or can begin."""
        return self.state == "uploading" and not self._receiving

    @property
    def is_busy(self) -> bool:
        """Whether it waits for a process, or has one."""
        return self.state in {"waiting", "running"}

    def _take(self, size: int) -> None:
        """Count bytes on the disk; a size below 0 gives some back."""
        if size > 0 and self.sessions.used + size > self.sessions.limits.bytes:
            raise Rejected(507, "The server has no room for more files now. Try again later.")
        self.sessions.used += size
        self._taken += size

    async def receive(self, name: str, chunks: AsyncIterator[bytes]) -> int:
        """Take the files of an input; the number of files.

        Raises:
            Rejected: if they are not accepted, or the job has begun.
        """
        if not self.is_open or name in self.uploads:
            raise Rejected(409, "These files cannot be added any more.")
        self._receiving, before = True, self._taken
        folder = self.folder / Folder.INPUT / str(len(self.uploads))
        try:
            folder.mkdir()
            self.uploads[name] = await receive(chunks, folder, self._take)
        except OSError as error:
            raise Rejected(507, "The disk of the server is full.") from error
        finally:
            self._receiving = False
            if name not in self.uploads:  # it can be tried again
                shutil.rmtree(folder, ignore_errors=True)
                self._take(before - self._taken)
            if self.state == "done":
                await self.remove()
        return len(self.uploads[name])

    def begin(self) -> None:
        """Begin the work, or wait for other jobs to end.

        Raises:
            Rejected: if it has begun, or something is missing.
        """
        if not self.is_open:
            raise Rejected(409, "This job has begun already.")
        self.state = "waiting"
        self.work = asyncio.create_task(self._run())

    async def _run(self) -> None:
        order = msgspec.structs.replace(self.order, uploads=self.uploads)
        report = partial(setattr, self, "progress")
        try:
            async with self.sessions.turns:
                self.state = "running"
                self.outcome = await self.sessions.runner.run(self.folder, order, report)
        except OSError:
            self.outcome = Outcome(error="Nothing came of the work: the disk may be full.")
        finally:
            self.state = "done"

    def output(self, file: str) -> Path | None:
        """The path of a file that was made; None if there is none inside the folder."""
        folder = self.folder / Folder.OUTPUT
        path = folder / file
        inside = path.resolve().is_relative_to(folder.resolve())
        return path if inside and path.is_file() else None

    async def remove(self) -> None:
        """End the work and remove the folder; while files come in, when they have stopped."""
        self.state = "done"
        if self.work is not None:
            self.work.cancel()
            with suppress(asyncio.CancelledError):
                await self.work
        if not self._receiving:  # many files take a while, in which others are answered
            await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)
            self._take(-self._taken)


@dataclass(eq=False)
class Session:
    """A browser, or a tab of one.

    Attributes:
        key: in its URLs.
        secret: in its cookie.
        touched: when it was last used.
        jobs: its jobs, oldest first.
    """

    key: str
    secret: str
    touched: float
    jobs: dict[str, Job] = field(default_factory=dict)


#: Seconds after which it is looked for what has expired.
_OFTEN = 30.0
#: Bytes of random names: 144 bits.
_BITS = 18


@dataclass
class Sessions:
    """All sessions of a server.

    Attributes:
        root: the folder of their files.
        runner: does the jobs.
        given: inputs of the organiser, by the name of the input.
        clock: gives the time in seconds.
        sessions: by the key in their URLs.
        used: the bytes on the disk that all uploads have.
    """

    root: Path
    runner: Processes
    given: Mapping[str, Path] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    sessions: dict[str, Session] = field(default_factory=dict)
    used: int = 0

    def __post_init__(self) -> None:
        self.limits = self.runner.limits
        self.turns = asyncio.Semaphore(self.limits.jobs)

    async def open(self) -> Session:
        """A new session.

        Raises:
            Rejected: if there are too many.
        """
        await self.expire()
        if len(self.sessions) >= self.limits.sessions:
            idle = [each for each in self.sessions.values() if not each.jobs]
            if not idle:
                raise Rejected(503, "Too many people use this server now. Try again later.")
            del self.sessions[min(idle, key=lambda each: each.touched).key]
        key, secret = secrets.token_urlsafe(_BITS), secrets.token_urlsafe(_BITS)
        self.sessions[key] = session = Session(key, secret, self.clock())
        return session

    def find(self, key: str, secret: str) -> Session | None:
        """The session of a URL, if the cookie is its own."""
        session = self.sessions.get(key)
        expected = session.secret if session else "none"
        if not secrets.compare_digest(expected.encode(), secret.encode("utf-8", "replace")):
            return None
        if session is not None:
            session.touched = self.clock()
        return session

    async def create(self, session: Session, order: Order) -> Job:
        """A new job of a session, with folders, and links to inputs of the organiser.

        Raises:
            Rejected: if it has too many that are not done.
        """
        await self.expire()
        while len(session.jobs) >= self.limits.session_jobs:
            oldest = next((job for job in session.jobs.values() if not job.is_busy), None)
            if oldest is None:
                raise Rejected(429, "Too many jobs at a time. Wait until one is done.")
            await self.remove(session, oldest)
        folder = self.root / secrets.token_urlsafe(_BITS)
        for part in ("", Folder.INPUT, Folder.OUTPUT, Folder.LINKS):
            (folder / part).mkdir(mode=0o700)
        links = {}
        for number, (name, path) in enumerate(self.given.items()):
            links[name] = f"{number}/{path.name}"
            (folder / Folder.LINKS / str(number)).mkdir()
            (folder / Folder.LINKS / links[name]).symlink_to(path)
        order = msgspec.structs.replace(order, given=links)
        session.jobs[folder.name] = job = Job(folder, order, self, self.clock())
        return job

    async def remove(self, session: Session, job: Job) -> None:
        """End a job and remove its files."""
        session.jobs.pop(job.folder.name, None)
        await job.remove()

    async def expire(self) -> None:
        """Remove what nobody has asked about for long."""
        now = self.clock()
        for session in list(self.sessions.values()):
            for job in list(session.jobs.values()):
                if not job.is_busy and now - job.touched > self.limits.job_age:
                    await self.remove(session, job)
            if not session.jobs and now - session.touched > self.limits.session_age:
                self.sessions.pop(session.key, None)

    async def tend(self) -> None:
        """Remove what has expired, now and then, and keep a process ready."""
        while True:
            self.runner.prepare()
            await self.expire()
            await asyncio.sleep(_OFTEN)

    async def close(self) -> None:
        """End all jobs, and what does them."""
        for session in list(self.sessions.values()):
            for job in list(session.jobs.values()):
                await self.remove(session, job)
        await self.runner.close()

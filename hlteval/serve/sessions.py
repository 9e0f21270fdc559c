"""Sessions: who has the token gets one, and sees nothing of another."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hlteval.serve.jobs import Job
from hlteval.serve.orders import Order
from hlteval.serve.processes import Runner
from hlteval.serve.uploads import Rejected, Space

_BITS = 18
"""Bytes of random names: 144 bits."""


@dataclass(frozen=True)
class Bounds:
    """How much there may be at a time.

    Attributes:
        sessions: number of sessions.
        jobs: number of jobs of a session, those that are done included.
        running: number of jobs that are worked on.
        bytes: of all uploads together.
        job_seconds: after which a job is removed that nobody asks about.
        session_seconds: after which a session without jobs is removed.
    """

    sessions: int = 200
    jobs: int = 6
    running: int = 2
    bytes: int = 4 << 30
    job_seconds: float = 3600
    session_seconds: float = 12 * 3600


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


@dataclass
class Sessions:
    """All sessions of a server.

    Attributes:
        root: the folder of their files.
        runner: does the jobs.
        bounds: how much there may be.
        given: inputs of the organiser, by the name of the input.
        clock: gives the time in seconds.
    """

    root: Path
    runner: Runner
    bounds: Bounds = Bounds()
    given: Mapping[str, Path] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    sessions: dict[str, Session] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.space = Space(self.bounds.bytes)
        self.turns = asyncio.Semaphore(self.bounds.running)

    async def open(self) -> Session:
        """A new session.

        Raises:
            Rejected: if there are too many.
        """
        await self.expire()
        if len(self.sessions) >= self.bounds.sessions:
            idle = [each for each in self.sessions.values() if not each.jobs]
            if not idle:
                raise Rejected(503, "Too many people use this server now. Try again later.")
            del self.sessions[min(idle, key=lambda each: each.touched).key]
        session = Session(_random(), _random(), self.clock())
        self.sessions[session.key] = session
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
        """A new job of a session.

        Raises:
            Rejected: if it has too many that are not done.
        """
        await self.expire()
        while len(session.jobs) >= self.bounds.jobs:
            oldest = next((job for job in session.jobs.values() if not job.is_busy), None)
            if oldest is None:
                raise Rejected(429, "Too many jobs at a time. Wait until one is done.")
            await self.remove(session, oldest)
        job = Job.create(_random(), self.root, order, self.space, self.given, self.clock())
        session.jobs[job.key] = job
        return job

    async def remove(self, session: Session, job: Job) -> None:
        """End a job and remove its files."""
        session.jobs.pop(job.key, None)
        await job.cancel()

    async def expire(self) -> None:
        """Remove what nobody has asked about for long."""
        now = self.clock()
        for session in list(self.sessions.values()):
            for job in list(session.jobs.values()):
                if not job.is_busy and now - job.touched > self.bounds.job_seconds:
                    await self.remove(session, job)
            if not session.jobs and now - session.touched > self.bounds.session_seconds:
                self.sessions.pop(session.key, None)

    async def close(self) -> None:
        """End all jobs, and what does them."""
        for session in list(self.sessions.values()):
            for job in list(session.jobs.values()):
                await self.remove(session, job)
        await self.runner.close()


def _random() -> str:
    return secrets.token_urlsafe(_BITS)

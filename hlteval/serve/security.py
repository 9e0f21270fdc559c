"""The guard of the application, for requests of the page only and safe answers; and its sessions.

Security:
    A page elsewhere cannot reach the server under a name of its own (Host), send it anything
    (Origin, Sec-Fetch-Site), show it in a frame, or read what it answers (no CORS headers,
    Cross-Origin-Resource-Policy). Nothing is kept in caches, and no URL is sent as a Referer.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hlteval.serve.jobs import Job, Runner
from hlteval.serve.settings import Order
from hlteval.serve.uploads import Rejected, Space

Headers: TypeAlias = list[tuple[bytes, bytes]]

#: The headers of every answer.
ALWAYS: Headers = [
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
#: The content security policy of answers that have none of their own.
NOTHING = b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_SAFE = frozenset({"GET", "HEAD"})
_METHODS = _SAFE | {"POST", "PUT", "DELETE"}


class Guard:
    """Middleware that refuses what does not come from the page.

    Args:
        app: the application.
        port: of the server.
        notify: takes what the terminal of the server shows.
    """

    def __init__(self, app: ASGIApp, port: int, notify: Callable[[str], None]) -> None:
        self.app, self.notify = app, notify
        ends = ("", ":80") if port == 80 else (f":{port}",)
        names = ("127.0.0.1", "localhost", "[::1]")
        self.hosts = frozenset(f"{name}{end}" for name in names for end in ends)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; an internal error is an answer without its traceback."""
        if scope["type"] != "http":
            return
        answer = _Answer(send, scope["method"] in _SAFE)
        status, reason = self.refusal(scope)
        if status:
            await answer.plain(status, reason)
            return
        try:
            await self.app(scope, receive, answer.send)
        except Exception as error:
            self.notify(f"internal error of the server: {type(error).__name__}")
            if not answer.begun:
                await answer.plain(500, "Internal error of the server.")

    def refusal(self, scope: Scope) -> tuple[int, str]:
        """The status and the reason with which a request is refused; 0 if it is not."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if scope["method"] not in _METHODS:
            return 405, "This method is not allowed."
        host = headers.get("host", [])
        if len(host) != 1 or host[0].lower() not in self.hosts:
            return 421, "This server answers only under the address that it printed."
        if any(len(headers.get(name, [])) > 1 for name in ("origin", "cookie", "sec-fetch-site")):
            return 400, "Duplicate header."
        if not _is_same_origin(scope, headers, host[0].lower()):
            return 403, "This request does not come from the page of this server."
        return 0, ""


def _is_same_origin(scope: Scope, headers: Mapping[str, list[str]], host: str) -> bool:
    """Whether a request comes from the page, or from the address bar.

    The first page may be reached by a link from elsewhere: it needs the token.
    """
    site = headers.get("sec-fetch-site", [""])[0]
    origin = headers.get("origin", [""])[0].lower()
    if scope["method"] in _SAFE:
        is_link = scope["path"] == "/" and headers.get("sec-fetch-mode", [""])[0] == "navigate"
        return is_link or (site in {"", "none", "same-origin"} and origin in {"", f"http://{host}"})
    return site in {"", "same-origin"} and origin == f"http://{host}"


class _Answer:
    """An answer: the headers of all are added, and a connection with an unread body is closed."""

    def __init__(self, send: Send, safe: bool) -> None:
        self._send, self.safe = send, safe
        self.begun = False

    async def send(self, message: Message) -> None:
        """Send a part of it."""
        if message["type"] == "http.response.start":
            self.begun = True
            headers: Headers = list(message.get("headers", []))
            names = {name.lower() for name, _ in headers}
            more = ALWAYS if b"content-security-policy" in names else [*ALWAYS, _POLICY, _FRAMES]
            headers += [pair for pair in more if pair[0] not in names]
            if message["status"] >= 400 and not self.safe:
                headers.append((b"connection", b"close"))
            message = {**message, "headers": headers}
        await self._send(message)

    async def plain(self, status: int, reason: str) -> None:
        """Send a line of text."""
        body = f"{reason}\n".encode()
        length = (b"content-length", str(len(body)).encode())
        headers = [(b"content-type", b"text/plain; charset=utf-8"), length]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


_POLICY = (b"content-security-policy", NOTHING)
_FRAMES = (b"x-frame-options", b"DENY")


#: Bytes of random names: 144 bits.
_BITS = 18


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

"""The application: the page, its jobs, and their reports.

Paths:
    `/?token=…` opens a session. All else is below `/s/SESSION/` and needs its cookie: the page
    itself, `jobs` (POST an order), `jobs/JOB` (GET its state, DELETE it), `jobs/JOB/INPUT` (PUT
    files), `jobs/JOB/begin` (POST), `jobs/JOB/parts/PART` and `jobs/JOB/files/FILE` (GET).
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from hlteval.serve.bodies import chunks, small
from hlteval.serve.forms import form, held, inputs
from hlteval.serve.jobs import Job
from hlteval.serve.orders import REFERENCE, SUBMISSION, Order
from hlteval.serve.pages import REPORT_POLICY, entrance, page
from hlteval.serve.security import Guard
from hlteval.serve.sessions import Session, Sessions
from hlteval.serve.settings import ServeSettings
from hlteval.serve.timing import Pace
from hlteval.serve.uploads import Rejected
from hlteval.sources.limits import LIMITS
from hlteval.tasks import load

_BODY = LIMITS.total_bytes + 64 * LIMITS.members
"""Bytes of an upload with its headers at most."""
_COOKIE = "hlteval"
_OFTEN = 30.0
"""Seconds after which it is looked for what has expired."""
_CHUNK = 1 << 16

Answer = Callable[[Request], Awaitable[Response]]


@dataclass
class Application:
    """What answers the requests.

    Attributes:
        sessions: of all users.
        settings: what the organiser gives.
        token: that opens a session.
        port: of the server.
        pace: how slow clients may be.
        notify: takes what the terminal of the server shows.
    """

    sessions: Sessions
    settings: ServeSettings
    token: str
    port: int
    pace: Pace = field(default_factory=Pace)
    notify: Callable[[str], None] = lambda _: None
    app: ASGIApp = field(init=False)

    def __post_init__(self) -> None:
        below = "/s/{session}/jobs"
        routes = [
            Route("/", _answer(self.enter)),
            Route("/s/{session}/", _answer(self.page)),
            Route(below, _answer(self.create), methods=["POST"]),
            Route(f"{below}/{{job}}", _answer(self.state)),
            Route(f"{below}/{{job}}", _answer(self.remove), methods=["DELETE"]),
            Route(f"{below}/{{job}}/begin", _answer(self.begin), methods=["POST"]),
            Route(f"{below}/{{job}}/inputs/{{name}}", _answer(self.receive), methods=["PUT"]),
            Route(f"{below}/{{job}}/parts/{{name}}", _answer(self.report)),
            Route(f"{below}/{{job}}/files/{{name}}", _answer(self.download)),
        ]
        handlers: dict[Any, Any] = {404: _not_found, 405: _not_found, 500: _broken}
        inner = Starlette(routes=routes, exception_handlers=handlers, lifespan=self._lifespan)
        inner.router.redirect_slashes = False
        self.app = Guard(inner, self.port, self._notify)

    def _notify(self, text: str) -> None:
        self.notify(text)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Remove what has expired, now and then, and everything at the end."""
        tending = asyncio.create_task(self._tend())
        try:
            yield
        finally:
            tending.cancel()
            await self.sessions.close()

    async def _tend(self) -> None:
        while True:
            await self.sessions.runner.prepare()
            await self.sessions.expire()
            await asyncio.sleep(_OFTEN)

    async def enter(self, request: Request) -> Response:
        """Open a session for who has the token."""
        given = request.query_params.get("token", "")
        if not secrets.compare_digest(given.encode("utf-8", "replace"), self.token.encode()):
            raise Rejected(403, "Open the address that the server printed, with its token.")
        session = await self.sessions.open()
        html, policy = entrance(f"/s/{session.key}/")
        answer = HTMLResponse(html, headers={"content-security-policy": policy})
        path = f"/s/{session.key}/"
        answer.set_cookie(_COOKIE, session.secret, path=path, httponly=True, samesite="strict")
        return answer

    def session(self, request: Request) -> Session:
        """The session of a request.

        Raises:
            Rejected: if there is none, or the cookie is that of another.
        """
        key, secret = request.path_params["session"], request.cookies.get(_COOKIE, "")
        if (session := self.sessions.find(key, secret)) is None:
            raise Rejected(403, "This session has ended. Open the address of the server again.")
        return session

    def job(self, request: Request) -> Job:
        """The job of a request.

        Raises:
            Rejected: if the session has no such job.
        """
        job = self.session(request).jobs.get(request.path_params["job"])
        if job is None:
            raise Rejected(404, "This job no longer exists.")
        job.touched = self.sessions.clock()
        return job

    async def page(self, request: Request) -> Response:
        """The page."""
        self.session(request)
        html, policy = page(form(self.settings))
        return HTMLResponse(html, headers={"content-security-policy": policy})

    async def create(self, request: Request) -> Response:
        """A new job, from an order without its files."""
        session = self.session(request)
        try:
            order = msgspec.json.decode(await small(request, self.pace), type=Order)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Rejected(400, "This is not an order.") from error
        job = await self.sessions.create(session, held(order, self.settings))
        return JSONResponse({"job": job.key}, 201)

    async def receive(self, request: Request) -> Response:
        """The files of an input."""
        job, name = self.job(request), request.path_params["name"]
        if name not in inputs(load(job.order.task), self.settings):
            raise Rejected(404, "Unknown input.")
        try:
            count = await job.receive(name, chunks(request, _BODY, self.pace))
        except ClientDisconnect as error:
            raise Rejected(400, "The upload ended before it was complete.") from error
        return JSONResponse({"files": count})

    async def begin(self, request: Request) -> Response:
        """Begin the work."""
        job = self.job(request)
        task = load(job.order.task)
        if SUBMISSION not in job.uploads:
            raise Rejected(400, "The submission is missing.")
        has_reference = REFERENCE in job.uploads or REFERENCE in self.settings.files
        if not (has_reference or task.reference_optional or task.scored_alone):
            raise Rejected(400, "This task needs a reference.")
        job.begin(self.sessions.runner, self.sessions.turns)
        return JSONResponse({"state": job.state}, 202)

    async def state(self, request: Request) -> Response:
        """How far a job is."""
        job = self.job(request)
        if job.outcome.bug and not job.bug:
            job.bug = job.outcome.bug
            self.notify(f"internal error in a job: {job.bug}")
        plain = msgspec.to_builtins
        return JSONResponse(
            {
                "state": job.state,
                "progress": plain(job.progress),
                "parts": [_shown(plain(part)) for part in job.outcome.parts],
                "error": job.outcome.error,
            }
        )

    async def remove(self, request: Request) -> Response:
        """End a job and remove its files."""
        await self.sessions.remove(self.session(request), self.job(request))
        return Response(status_code=204)

    async def report(self, request: Request) -> Response:
        """A report as a page of no origin, which loads nothing."""
        job, name = self.job(request), request.path_params["name"]
        part = job.part(name)
        path = job.output(part.file) if part else None
        if path is None:
            raise Rejected(404, "Report not found.")
        headers = {"content-security-policy": REPORT_POLICY, "x-frame-options": "SAMEORIGIN"}
        headers["cross-origin-opener-policy"] = "unsafe-none"  # none goes with a sandbox
        return _sent(path, "text/html; charset=utf-8", headers)

    async def download(self, request: Request) -> Response:
        """A file to save, which no browser opens."""
        job, name = self.job(request), request.path_params["name"]
        files = [each for part in job.outcome.parts for each in part.downloads]
        found = next((each for each in files if each.key == name), None)
        path = job.output(found.file) if found else None
        if path is None or found is None:
            raise Rejected(404, "File not found.")
        name = quote(found.name, safe="", errors="replace")
        headers = {
            "content-disposition": f"attachment; filename*=UTF-8''{name}",
            "content-security-policy": "default-src 'none'; sandbox",
        }
        return _sent(path, "application/octet-stream", headers)


def _sent(path: Path, kind: str, headers: dict[str, str]) -> Response:
    """A file; parts of it cannot be asked for."""
    length = {"content-length": str(path.stat().st_size)}
    return StreamingResponse(_read(path), media_type=kind, headers={**headers, **length})


async def _read(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def _shown(part: dict[str, Any]) -> dict[str, Any]:
    """A part as the page sees it: without names of files of the server."""
    files = [{"key": each["key"], "label": each["label"]} for each in part["downloads"]]
    return {**{name: part[name] for name in ("key", "title", "outcome", "facts")}, "files": files}


def _answer(answer: Answer) -> Answer:
    """An answer whose rejection is a line of JSON."""

    async def wrapped(request: Request) -> Response:
        try:
            return await answer(request)
        except Rejected as error:
            return JSONResponse({"error": str(error)}, error.status)

    return wrapped


async def _broken(_: Request, __: Exception) -> Response:
    return JSONResponse({"error": "Internal error of the server."}, 500)


async def _not_found(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": "Not found."}, getattr(error, "status_code", 404))

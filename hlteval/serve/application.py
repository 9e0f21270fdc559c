"""Application of the page: its data, made from the declarations of the tasks, and its answers."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import structs
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from hlteval.findings import REFERENCE, SUBMISSION
from hlteval.reports.html.page import as_json
from hlteval.serve.jobs import Job
from hlteval.serve.security import Guard, Session, Sessions
from hlteval.serve.settings import OPTION, SECOND, Order, ServeSettings
from hlteval.serve.uploads import Pace, Rejected, chunks, small
from hlteval.sources.decoding import check_encoding
from hlteval.sources.names import is_text
from hlteval.sources.source import LIMITS
from hlteval.tasks import load, task_modules
from hlteval.tasks.task import Option, Task

#: Characters of the value of an option at most.
_LONGEST = 500


def offered_options(task: Task) -> list[Option]:
    """The options of a task that the page has.

    An option that names a program, or a file with the names of other files, is none of them: no
    user may name what is on this machine.
    """
    return [o for o in task.options if not o.holds_options and o.metavar != "JAR"]


def tasks_of(settings: ServeSettings) -> list[str]:
    """The names of the tasks that the page offers."""
    return [settings.task] if settings.task else list(task_modules())


def form(settings: ServeSettings) -> Mapping[str, Any]:
    """The data of the page: the tasks with their options, and what is given or limited."""
    tasks = []
    for task in map(load, tasks_of(settings)):
        needed = "optional" if task.reference_optional else "needed"
        tasks.append(
            {
                "name": task.name,
                "title": task.title,
                "reference": "none" if task.scored_alone else needed,
                "scored": task.metric is not None,
                "folder": task.submitted_as_folder,
                "profiles": list(task.profiles),
                "options": [_option(option, settings) for option in offered_options(task)],
            }
        )
    sizes = {"files": LIMITS.members, "file": LIMITS.member_bytes, "total": LIMITS.total_bytes}
    return {
        "tasks": tasks,
        "given": {name: path.name for name, path in settings.files.items()},
        "profile": settings.profile,
        "encoding": settings.encoding,
        "limits": sizes,
    }


def _option(option: Option, settings: ServeSettings) -> Mapping[str, Any]:
    kind = "switch" if option.switch else "choice" if option.choices else "text"
    return {
        "name": option.name,
        "label": option.name.replace("_", " "),
        "help": option.help,
        "kind": "file" if option.is_input else kind,
        "choices": list(option.choices),
        "placeholder": option.placeholder,
        "fixed": option.name in settings.options,
    }


def inputs(task: Task, settings: ServeSettings) -> set[str]:
    """The names of the inputs that can be uploaded for a task."""
    names = {SUBMISSION, SECOND} if task.metric else {SUBMISSION}
    names |= set() if task.scored_alone else {REFERENCE}
    names |= {f"{OPTION}{option.name}" for option in offered_options(task) if option.is_input}
    return names - settings.files.keys()


def restrict(order: Order, settings: ServeSettings) -> Order:
    """The order of a page with what the organiser gives in place of what a user sends.

    Raises:
        Rejected: if the task is not offered, or an option of it is not text.
    """
    if order.task not in tasks_of(settings):
        raise Rejected(400, "This task is not offered here.")
    task = load(order.task)
    encoding = settings.encoding or order.encoding
    try:
        check_encoding(encoding)
    except (LookupError, ValueError) as error:
        raise Rejected(400, f"Unknown encoding {encoding[:40]}.") from error
    profile = settings.profile or order.profile
    if profile not in task.profiles:
        raise Rejected(400, f"{task.name} has no profile {profile[:40]}.")
    texts = {o.name for o in offered_options(task) if not o.is_input}
    for name, value in order.options.items():
        if name not in texts or len(value) > _LONGEST or not is_text(value) or "\0" in value:
            raise Rejected(400, f"The option {name[:40]} cannot have this value.")
    options = {**{n: v for n, v in order.options.items() if v}, **settings.values}
    return structs.replace(
        order, profile=profile, encoding=encoding, options=options, uploads={}, given={}
    )


_FILES = resources.files("hlteval.serve") / "assets"
_STRICT = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
#: The policy of a report beside its own: it has no origin, and no cookie.
REPORT_POLICY = "sandbox allow-scripts; frame-ancestors 'self'"


def page(data: Mapping[str, Any]) -> tuple[str, str]:
    """The page of a session, and its content security policy.

    Args:
        data: what it asks for, as plain values.
    """
    style, script = _asset("page.css"), _asset("page.js")
    html = _asset("page.html").replace("{{ style }}", style).replace("{{ script }}", script)
    policy = (
        f"{_STRICT}; script-src {_digest(script)}; style-src {_digest(style)}; "
        "connect-src 'self'; frame-src 'self'; img-src data:; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return html.replace("{{ data }}", as_json(data)), policy


def entrance(path: str) -> tuple[str, str]:
    """A page that goes on to another path at once, and its content security policy.

    It is not a redirect: the browser would not send the new cookie after a link from elsewhere.
    """
    return _asset("entrance.html").replace("{{ path }}", path), _STRICT


def _asset(name: str) -> str:
    return _FILES.joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    """A text as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


#: Bytes of an upload with its headers at most.
_BODY = LIMITS.total_bytes + 64 * LIMITS.members
_COOKIE = "hlteval"
#: Seconds after which it is looked for what has expired.
_OFTEN = 30.0
_CHUNK = 1 << 16


@dataclass
class Application:
    """The application that answers the requests.

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
            Route("/", self.enter),
            Route("/s/{session}/", self.page),
            Route(below, self.create, methods=["POST"]),
            Route(f"{below}/{{job}}", self.state),
            Route(f"{below}/{{job}}", self.remove, methods=["DELETE"]),
            Route(f"{below}/{{job}}/begin", self.begin, methods=["POST"]),
            Route(f"{below}/{{job}}/inputs/{{name}}", self.receive, methods=["PUT"]),
            Route(f"{below}/{{job}}/parts/{{name}}", self.report),
            Route(f"{below}/{{job}}/files/{{name}}", self.download),
        ]
        handlers: dict[Any, Any] = {404: _refuse, 405: _refuse, 500: _refuse, Rejected: _refuse}
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
        token = request.query_params.get("token", "").encode("utf-8", "replace")
        if not secrets.compare_digest(token, self.token.encode()):
            raise Rejected(403, "Open the address that the server printed, with its token.")
        session = await self.sessions.open()
        path = f"/s/{session.key}/"
        html, policy = entrance(path)
        answer = HTMLResponse(html, headers={"content-security-policy": policy})
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
        job = await self.sessions.create(session, restrict(order, self.settings))
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
        if SUBMISSION not in job.uploads:
            raise Rejected(400, "The submission is missing.")
        task, known = load(job.order.task), job.uploads.keys() | self.settings.files.keys()
        if not (REFERENCE in known or task.reference_optional or task.scored_alone):
            raise Rejected(400, "This task needs a reference.")
        job.begin(self.sessions.runner, self.sessions.turns)
        return JSONResponse({"state": job.state}, 202)

    async def state(self, request: Request) -> Response:
        """How far a job is."""
        job = self.job(request)
        if job.outcome.bug and not job.bug:
            job.bug = job.outcome.bug
            self.notify(f"internal error in a job: {job.bug}")
        parts = [  # without names of files of the server
            {
                "key": part.key,
                "title": part.title,
                "outcome": part.outcome,
                "facts": part.facts,
                "files": [{"key": each.key, "label": each.label} for each in part.downloads],
            }
            for part in job.outcome.parts
        ]
        progress, error = msgspec.to_builtins(job.progress), job.outcome.error
        return JSONResponse(
            {"state": job.state, "progress": progress, "parts": parts, "error": error}
        )

    async def remove(self, request: Request) -> Response:
        """End a job and remove its files."""
        await self.sessions.remove(self.session(request), self.job(request))
        return Response(status_code=204)

    async def report(self, request: Request) -> Response:
        """A report as a page of no origin, which loads nothing."""
        job, name = self.job(request), request.path_params["name"]
        files = (part.file for part in job.outcome.parts if part.key == name)
        path = job.output(next(files, ""))
        if path is None:
            raise Rejected(404, "Report not found.")
        headers = {"content-security-policy": REPORT_POLICY, "x-frame-options": "SAMEORIGIN"}
        headers["cross-origin-opener-policy"] = "unsafe-none"  # none goes with a sandbox
        return _send(path, "text/html; charset=utf-8", headers)

    async def download(self, request: Request) -> Response:
        """A file to save, which no browser opens."""
        job, name = self.job(request), request.path_params["name"]
        downloads = (each for part in job.outcome.parts for each in part.downloads)
        download = next((each for each in downloads if each.key == name), None)
        path = job.output(download.file) if download else None
        if path is None or download is None:
            raise Rejected(404, "File not found.")
        name = quote(download.name, safe="", errors="replace")
        headers = {
            "content-disposition": f"attachment; filename*=UTF-8''{name}",
            "content-security-policy": "default-src 'none'; sandbox",
        }
        return _send(path, "application/octet-stream", headers)


def _send(path: Path, kind: str, headers: dict[str, str]) -> Response:
    """A file; parts of it cannot be asked for."""

    async def read() -> AsyncIterator[bytes]:
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk

    length = {"content-length": str(path.stat().st_size)}
    return StreamingResponse(read(), media_type=kind, headers={**headers, **length})


async def _refuse(_: Request, error: Exception) -> Response:
    """A line of JSON for a request that is rejected, unknown, or ends in an internal error."""
    if isinstance(error, Rejected):
        return JSONResponse({"error": str(error)}, error.status)
    if isinstance(error, HTTPException):
        return JSONResponse({"error": "Not found."}, error.status_code)
    return JSONResponse({"error": "Internal error of the server."}, 500)

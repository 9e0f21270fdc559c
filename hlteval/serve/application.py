"""The application: the data of the page, the answers to its requests, and who may send them.

Security:
    A page elsewhere cannot reach the server under a name of its own (Host), send it anything
    (Origin, Sec-Fetch-Site), show it in a frame, or read what it answers (no CORS headers,
    Cross-Origin-Resource-Policy). Nothing is kept in caches, and no URL is sent as a Referer.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import structs
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from hlteval.extensions import read_tables
from hlteval.findings import REFERENCE, SUBMISSION
from hlteval.reports.html.page import as_json, digests
from hlteval.serve.jobs import Job, Rejected, Session, Sessions
from hlteval.serve.settings import Order, ServeLimits, ServeSettings
from hlteval.sources.decoding import check_encoding
from hlteval.sources.names import is_text
from hlteval.sources.source import LIMITS
from hlteval.tasks import load, task_names
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
    return [settings.task] if settings.task else list(task_names())


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
        "label": option.key.replace("_", " "),
        "help": option.help,
        "kind": "file" if option.is_input else kind,
        "choices": list(option.choices),
        "placeholder": option.placeholder,
        "fixed": option.name in settings.options,
    }


def inputs(task: Task, settings: ServeSettings) -> set[str]:
    """The names of the inputs that can be uploaded for a task."""
    names = {SUBMISSION, Order.SECOND} if task.metric else {SUBMISSION}
    names |= set() if task.scored_alone else {REFERENCE}
    names |= {f"{Order.OPTION}{option.name}" for option in offered_options(task) if option.is_input}
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


#: The headers of every answer.
ALWAYS = read_tables("hlteval.serve", "assets/headers")
#: The content security policy of answers that have none of their own.
NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
#: The policy of a report beside its own: it has no origin, and no cookie.
REPORT_POLICY = "sandbox allow-scripts; frame-ancestors 'self'"
_SAFE = frozenset({"GET", "HEAD"})
_METHODS = _SAFE | {"POST", "PUT", "DELETE"}
#: Bytes of an upload with its headers, and of another body, at most.
_BODY, _SMALL = LIMITS.total_bytes + 64 * LIMITS.members, 65_536
_COOKIE = "hlteval"
_CHUNK = 1 << 16


class Application:
    """The application that answers the requests of the page, and refuses others.

    Args:
        sessions: of all users.
        settings: what the organiser gives.
        token: that opens a session.
        port: of the server.

    Attributes:
        notify: takes what the terminal of the server shows.
    """

    def __init__(self, sessions: Sessions, settings: ServeSettings, token: str, port: int) -> None:
        self.sessions, self.settings, self.token = sessions, settings, token
        self.notify: Callable[[str], None] = lambda _: None
        ends = ("", ":80") if port == 80 else (f":{port}",)
        names = ("127.0.0.1", "localhost", "[::1]")
        self.hosts = frozenset(f"{name}{end}" for name in names for end in ends)
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
        self._inner = Starlette(routes=routes, exception_handlers=handlers)
        self._inner.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with headers; an internal error is an answer without its traceback."""
        begun = False

        async def send_safely(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                if "content-security-policy" not in headers:
                    headers["content-security-policy"] = NOTHING
                    headers.setdefault("x-frame-options", "DENY")
                for name, value in ALWAYS.items():
                    headers.setdefault(name, value)
                if message["status"] >= 400 and scope["method"] not in _SAFE:  # an unread body
                    headers.append("connection", "close")
            await send(message)

        status, reason = self.refusal(scope)
        if not status:
            try:
                await self._inner(scope, receive, send_safely)
            except Exception as error:
                self.notify(f"internal error of the server: {type(error).__name__}")
                status, reason = 500, "Internal error of the server."
        if status and not begun:
            answer = Response(f"{reason}\n", status, media_type="text/plain")
            await answer(scope, receive, send_safely)

    def refusal(self, scope: Scope) -> tuple[int, str]:
        """The status and the reason with which a request is refused; 0 if it is not."""
        headers = Headers(scope=scope)
        if scope["method"] not in _METHODS:
            return 405, "This method is not allowed."
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return 421, "This server answers only under the address that it printed."
        names = ("origin", "cookie", "sec-fetch-site")
        if any(len(headers.getlist(name)) > 1 for name in names):
            return 400, "Duplicate header."
        # A request comes from the page, or from the address bar: the first page may be reached by a
        # link from elsewhere, as it needs the token.
        site, origin = headers.get("sec-fetch-site", ""), headers.get("origin", "").lower()
        address, is_safe = f"http://{hosts[0].lower()}", scope["method"] in _SAFE
        is_ours = site in {"", "same-origin", *(["none"] if is_safe else [])}
        is_ours = is_ours and origin in {address, *([""] if is_safe else [])}
        is_link = is_safe and scope["path"] == "/" and headers.get("sec-fetch-mode") == "navigate"
        if not (is_ours or is_link):
            return 403, "This request does not come from the page of this server."
        return 0, ""

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

    async def enter(self, request: Request) -> Response:
        """Open a session for who has the token, with a page that goes on to its path at once.

        It is not a redirect: the browser would not send the new cookie after a link from elsewhere.
        """
        token = request.query_params.get("token", "").encode("utf-8", "replace")
        if not secrets.compare_digest(token, self.token.encode()):
            raise Rejected(403, "Open the address that the server printed, with its token.")
        session = await self.sessions.open()
        path = f"/s/{session.key}/"
        answer = HTMLResponse(_asset("entrance.html").replace("{{ path }}", path))
        answer.set_cookie(_COOKIE, session.secret, path=path, httponly=True, samesite="strict")
        return answer

    async def page(self, request: Request) -> Response:
        """The page, with its data."""
        self.session(request)
        html, style, script = map(_asset, ("page.html", "page.css", "page.js"))
        sources = zip(("script-src", "style-src"), digests([script, style]), strict=True)
        policy = (
            f"{NOTHING}; {'; '.join(map(' '.join, sources))}; "
            "connect-src 'self'; frame-src 'self'; img-src data:; "
            "require-trusted-types-for 'script'; trusted-types 'none'"
        )
        parts = {"style": style, "script": script, "data": as_json(form(self.settings))}
        for name, text in parts.items():
            html = html.replace(f"{{{{ {name} }}}}", text)
        return HTMLResponse(html, headers={"content-security-policy": policy})

    async def create(self, request: Request) -> Response:
        """A new job, from an order without its files."""
        session = self.session(request)
        body = [part async for part in chunks(request, _SMALL, self.sessions.limits)]
        try:
            order = msgspec.json.decode(b"".join(body), type=Order)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Rejected(400, "This is not an order.") from error
        job = await self.sessions.create(session, restrict(order, self.settings))
        return JSONResponse({"job": job.folder.name}, 201)

    async def receive(self, request: Request) -> Response:
        """The files of an input."""
        job, name = self.job(request), request.path_params["name"]
        if name not in inputs(load(job.order.task), self.settings):
            raise Rejected(404, "Unknown input.")
        count = await job.receive(name, chunks(request, _BODY, self.sessions.limits))
        return JSONResponse({"files": count})

    async def begin(self, request: Request) -> Response:
        """Begin the work."""
        job = self.job(request)
        if SUBMISSION not in job.uploads:
            raise Rejected(400, "The submission is missing.")
        task, known = load(job.order.task), job.uploads.keys() | self.settings.files.keys()
        if not (REFERENCE in known or task.reference_optional or task.scored_alone):
            raise Rejected(400, "This task needs a reference.")
        job.begin()
        return JSONResponse({"state": job.state}, 202)

    async def state(self, request: Request) -> Response:
        """How far a job is."""
        job = self.job(request)
        if job.outcome.bug:  # it is said once
            self.notify(f"internal error in a job: {job.outcome.bug}")
            job.outcome = structs.replace(job.outcome, bug="")
        # Nothing of it is the name of a file of the server.
        known = {"progress": job.progress, "parts": job.outcome.parts, "error": job.outcome.error}
        text = msgspec.json.encode({"state": job.state, **known})
        return Response(text, media_type="application/json")

    async def remove(self, request: Request) -> Response:
        """End a job and remove its files."""
        await self.sessions.remove(self.session(request), self.job(request))
        return Response(status_code=204)

    async def report(self, request: Request) -> Response:
        """A report as a page of no origin, which loads nothing."""
        job, name = self.job(request), request.path_params["name"]
        file = f"{name}.html" if any(part.key == name for part in job.outcome.parts) else ""
        headers = {"content-security-policy": REPORT_POLICY, "x-frame-options": "SAMEORIGIN"}
        headers["cross-origin-opener-policy"] = "unsafe-none"  # none goes with a sandbox
        return _send("Report", job.output(file), "text/html; charset=utf-8", headers)

    async def download(self, request: Request) -> Response:
        """A file to save, which no browser opens."""
        job = self.job(request)
        file, name = job.outcome.files.get(request.path_params["name"], ("", ""))
        name = quote(name, safe="", errors="replace")
        headers = {
            "content-disposition": f"attachment; filename*=UTF-8''{name}",
            "content-security-policy": "default-src 'none'; sandbox",
        }
        return _send("File", job.output(file), "application/octet-stream", headers)


def _asset(name: str) -> str:
    return (resources.files("hlteval.serve") / "assets" / name).read_text("utf-8")


async def chunks(request: Request, most: int, limits: ServeLimits) -> AsyncIterator[bytes]:
    """The bytes of a body as they come.

    Args:
        request: the request.
        most: its bytes at most.
        limits: how slow it may be.

    Raises:
        Rejected: if it is too large or too slow, or the client has gone.
    """
    too_large = Rejected(413, f"More than {most >> 20:,} MiB cannot be uploaded.")
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared[:20]) > most:
        raise too_large
    loop = asyncio.get_running_loop()
    begun, total = loop.time(), 0
    stream = request.stream()
    while True:
        left = begun + limits.grace + total / limits.rate - loop.time()
        try:
            chunk = await asyncio.wait_for(anext(stream), max(0.0, min(limits.pause, left)))
        except StopAsyncIteration:
            return
        except TimeoutError as error:
            raise Rejected(408, "The upload is too slow.") from error
        except ClientDisconnect as error:
            raise Rejected(400, "The upload ended before it was complete.") from error
        total += len(chunk)
        if total > most:
            raise too_large
        yield chunk


def _send(title: str, path: Path | None, kind: str, headers: dict[str, str]) -> Response:
    """A file, of which no parts can be asked for.

    Raises:
        Rejected: if there is none.
    """
    if path is None:
        raise Rejected(404, f"{title} not found.")

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

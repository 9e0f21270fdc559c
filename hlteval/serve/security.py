"""The guard of the application: it lets in requests of the page only, and lets out safe answers.

Security:
    A page elsewhere cannot reach the server under a name of its own (Host), send it anything
    (Origin, Sec-Fetch-Site), show it in a frame, or read what it answers (no CORS headers,
    Cross-Origin-Resource-Policy). Nothing is kept in caches, and no URL is sent as a Referer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Headers: TypeAlias = list[tuple[bytes, bytes]]

ALWAYS: Headers = [
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
"""The headers of every answer."""
NOTHING = b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""The content security policy of answers that have none of their own."""
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
        headers = _all(scope)
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


def _all(scope: Scope) -> Mapping[str, list[str]]:
    """The values of each header."""
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


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
            own: Headers = list(message.get("headers", []))
            names = {name.lower() for name, _ in own}
            more = ALWAYS if b"content-security-policy" in names else [*ALWAYS, _POLICY, _FRAMES]
            own += [pair for pair in more if pair[0] not in names]
            if message["status"] >= 400 and not self.safe:
                own.append((b"connection", b"close"))
            message = {**message, "headers": own}
        await self._send(message)

    async def plain(self, status: int, reason: str) -> None:
        """Send a line of text."""
        body = f"{reason}\n".encode()
        head: dict[str, Any] = {"type": "http.response.start", "status": status}
        head["headers"] = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
        ]
        await self.send(head)
        await self.send({"type": "http.response.body", "body": body})


_POLICY = (b"content-security-policy", NOTHING)
_FRAMES = (b"x-frame-options", b"DENY")

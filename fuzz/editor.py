"""An editor for tests and fuzzing: it talks to the language server in the same process.

Messages are JSON in both directions, as over standard input and output; workers answer at once, so
that nothing depends on time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from itertools import count
from typing import Any

from hlteval.lsp.actions import perform
from hlteval.lsp.editor import Server
from hlteval.lsp.session import Failure, Order, Worker


class Strict(Worker):
    """A worker in this process that keeps the errors of the program.

    Attributes:
        errors: as they were raised.
    """

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[Exception] = []

    def start(self) -> Any:
        """It has what it needs."""

    async def answer(self, order: Order) -> Any:
        """The answer to an order, or a `Failure`."""
        try:
            return perform(order)
        except Exception as error:
            self.errors.append(error)
            return Failure(type(error).__name__)


class Editor:
    """A client of the language server.

    Args:
        capabilities: of the client.
        settings: the initialization options.
        given: settings of the command line.
        root: URI of the folder that is open.
        configuration: what the editor answers when it is asked for its settings.

    Attributes:
        shown: the last diagnostics by URI.
        published: all diagnostics that were published, in order.
        messages: what the server wants to show to the user.
    """

    def __init__(
        self,
        capabilities: Mapping[str, Any] | None = None,
        settings: Any = None,
        given: Mapping[str, Any] | None = None,
        root: str | None = None,
        configuration: Any = None,
    ) -> None:
        self.worker = Strict()
        self.server = Server(given or {}, self.worker, self.worker)
        self.server.validation.quiet = 0
        self.server.protocol.set_writer(self)
        self.capabilities, self.settings, self.root = capabilities or {}, settings, root
        self.configuration = configuration
        self.numbers = count(1)
        self.answers: dict[int, Any] = {}
        self.shown: dict[str, list[dict[str, Any]]] = {}
        self.published: list[dict[str, Any]] = []
        self.messages: list[str] = []

    async def __aenter__(self) -> Editor:
        params = {"capabilities": self.capabilities, "rootUri": self.root, "processId": None}
        answer = await self.request(
            "initialize", {**params, "initializationOptions": self.settings}
        )
        self.abilities = answer["capabilities"]
        await self.notify("initialized", {})
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.request("shutdown", None)
        await self.server.close()
        self.server.shutdown()

    def write(self, data: bytes) -> None:
        """Take a message of the server."""
        message = json.loads(data.partition(b"\r\n\r\n")[2])
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published.append(message["params"])
            self.shown[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif message.get("method") == "window/showMessage":
            self.messages.append(message["params"]["message"])
        elif message.get("method") == "workspace/configuration":
            result = {"jsonrpc": "2.0", "id": message["id"], "result": [self.configuration]}
            asyncio.get_running_loop().call_soon(self._send, result)
        elif "id" in message:
            self.answers[message["id"]] = message

    def close(self) -> None:
        """Nothing is written any more."""

    def _send(self, message: Mapping[str, Any]) -> None:
        protocol = self.server.protocol
        text = json.dumps(message)
        protocol.handle_message(json.loads(text, object_hook=protocol.structure_message))

    async def notify(self, method: str, params: Any) -> None:
        """Send a notification, and wait until everything that follows is done."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})
        await self.settle()

    async def request(self, method: str, params: Any) -> Any:
        """The answer to a request.

        Raises:
            ValueError: if it is an error.
        """
        number = next(self.numbers)
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while number not in self.answers:
            await asyncio.sleep(0)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["result"]

    async def settle(self) -> None:
        """Wait until nothing is validated."""
        for _ in range(3):  # an answer of ours may start something
            await asyncio.sleep(0)
        while self.server.session.waiting or self.server.session.running:
            await asyncio.sleep(0)

    async def open(self, uri: str, text: str, version: int = 1) -> list[dict[str, Any]]:
        """Open a document; its diagnostics."""
        item = {"uri": uri, "languageId": "x", "version": version, "text": text}
        await self.notify("textDocument/didOpen", {"textDocument": item})
        return self.shown.get(uri, [])

    async def change(self, uri: str, version: int, *changes: Any) -> list[dict[str, Any]]:
        """Change a document, by texts or by pairs of a range and a text; its diagnostics."""
        written = [
            {"text": item} if isinstance(item, str) else {"range": item[0], "text": item[1]}
            for item in changes
        ]
        document = {"uri": uri, "version": version}
        params = {"textDocument": document, "contentChanges": written}
        await self.notify("textDocument/didChange", params)
        return self.shown.get(uri, [])

    async def ask(self, feature: str, uri: str, line: int, character: int, **more: Any) -> Any:
        """The answer about a position, e.g. `hover`."""
        position = {"line": line, "character": character}
        params = {"textDocument": {"uri": uri}, "position": position, **more}
        return await self.request(f"textDocument/{feature}", params)

    async def fixes(self, uri: str, place: Any, only: list[str] | None = None) -> list[Any]:
        """The code actions of a range."""
        context = {"diagnostics": [], **({"only": only} if only else {})}
        params = {"textDocument": {"uri": uri}, "range": place, "context": context}
        return await self.request("textDocument/codeAction", params) or []


def at(line: int, start: int, end: int | None = None) -> dict[str, Any]:
    """A range of the protocol within a line."""
    last = start if end is None else end
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": last}}


def edited(text: str, edits: list[dict[str, Any]]) -> str:
    """A text after edits of the protocol in UTF-16, which do not depend on each other."""
    found = []
    for edit in edits:
        start, end = (offset(text, edit["range"][side]) for side in ("start", "end"))
        found.append((start, end, edit["newText"]))
    for start, end, put in sorted(found, reverse=True):
        text = text[:start] + put + text[end:]
    return text


def offset(text: str, position: Mapping[str, int]) -> int:
    """The offset in code points of a position in UTF-16, found one character after the other."""
    begin = 0
    for _ in range(position["line"]):
        end = _end(text, begin)
        if end == len(text):
            return end
        begin = end + (2 if text.startswith("\r\n", end) else 1)
    left, end = position["character"], _end(text, begin)
    while begin < end and left >= (width := 1 + (ord(text[begin]) > 0xFFFF)):
        left, begin = left - width, begin + 1
    return begin


def _end(text: str, begin: int) -> int:
    """Where a line ends, without its line break."""
    ends = [at for mark in "\r\n" if (at := text.find(mark, begin)) >= 0]
    return min(ends, default=len(text))

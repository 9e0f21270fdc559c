"""The language server as a program, with the client of a library over standard input and output."""

from __future__ import annotations

import asyncio
import builtins
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from typer.testing import Result

from hlteval.lsp.session import Session, Validation, Worker

ROWS = "".join(f"R\tm{n}\tOsh\td{n}:3-5\tNIL{n}\tGPE\tNAM\t1.0\n" for n in range(3))
WRONG = ROWS.replace("GPE", "CITY", 1)


class Client(LanguageClient):
    """A client that keeps what the server shows."""

    def __init__(self) -> None:
        super().__init__("tests", "1")
        self.shown: dict[str, types.PublishDiagnosticsParams] = {}
        self.changed = asyncio.Event()
        self.messages: list[str] = []

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def shows(params: types.PublishDiagnosticsParams) -> None:
            self.shown[params.uri] = params
            self.changed.set()

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        def collects(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)

    async def open(self, uri: str, text: str) -> None:
        item = types.TextDocumentItem(uri, "edl", 1, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))

    async def put(self, uri: str, version: int, text: str) -> None:
        document = types.VersionedTextDocumentIdentifier(version, uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        params = types.DidChangeTextDocumentParams(document, [change])
        self.text_document_did_change(params)

    async def codes(self, uri: str, version: int) -> list[Any]:
        """The codes that are shown of a version, once they are."""
        async with asyncio.timeout(120):
            while uri not in self.shown or self.shown[uri].version != version:
                self.changed.clear()
                await self.changed.wait()
        return [item.code for item in self.shown[uri].diagnostics]


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def client(loop: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The client of one server for all tests of this file, which ends as an editor ends it."""
    home = tmp_path_factory.mktemp("home")

    async def start() -> Client:
        made = Client()
        environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home)}
        command = [sys.executable, "-m", "hlteval", "lsp"]
        await made.start_io(*command, cwd=home, env=environment)
        capabilities = types.ClientCapabilities()
        await made.initialize_async(types.InitializeParams(capabilities=capabilities))
        made.initialized(types.InitializedParams())
        return made

    async def end(made: Client) -> tuple[int | None, bytes]:
        server = made._server
        assert server is not None
        assert server.stderr is not None
        await made.shutdown_async(None)
        made.exit(None)
        async with asyncio.timeout(60):
            await made.stop()
        return server.returncode, await server.stderr.read()

    made = loop.run(start())
    yield made
    assert loop.run(end(made)) == (0, b"")
    assert not made.messages
    assert not list(home.iterdir())


def test_findings_hover_and_fixes(client: Client, loop: asyncio.Runner, tmp_path: Path) -> None:
    text = ROWS.replace("\tGPE", "\tgpe", 1)
    uri = (tmp_path / "run.tab").as_uri()
    document = types.TextDocumentIdentifier(uri)

    async def body() -> None:
        await client.open(uri, text)
        assert await client.codes(uri, 1) == ["EDL309"]
        place = client.shown[uri].diagnostics[0].range
        hover = await client.text_document_hover_async(types.HoverParams(document, place.start))
        assert hover is not None
        assert "EDL309" in str(hover.contents)
        actions = await client.text_document_code_action_async(
            types.CodeActionParams(document, place, types.CodeActionContext([]))
        )
        action = (actions or [])[0]
        assert isinstance(action, types.CodeAction)
        assert action.edit is not None
        (edit,) = (action.edit.changes or {})[uri]
        assert edit.new_text == "GPE"
        at = types.Position(0, text.index("NIL"))
        found = await client.text_document_definition_async(types.DefinitionParams(document, at))
        assert isinstance(found, tuple | list)
        assert [item.uri for item in found if isinstance(item, types.Location)] == [uri]

    loop.run(body())
    assert not (tmp_path / "run.tab").exists()


def test_the_newest_text_wins(client: Client, loop: asyncio.Runner, tmp_path: Path) -> None:
    uri = (tmp_path / "many.tab").as_uri()

    async def body() -> None:
        await client.open(uri, WRONG)
        for version in range(2, 40):
            await client.put(uri, version, WRONG if version % 2 else ROWS)
        assert await client.codes(uri, 39) == ["EDL309"]

    loop.run(body())


def test_what_is_no_request_stops_nothing(
    client: Client, loop: asyncio.Runner, tmp_path: Path
) -> None:
    uri = (tmp_path / "run.tab").as_uri()

    async def body() -> None:
        server = client._server
        assert server is not None
        assert server.stdin is not None
        for written in (b"{", b"[]", b'{"jsonrpc":"2.0","method":3}', b'{"jsonrpc":"2.0"}'):
            server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(written), written))
        await client.open(uri, WRONG)
        assert await client.codes(uri, 1) == ["EDL309"]

    loop.run(body())


def test_an_outdated_validation_is_ended_and_the_newest_text_is_validated(tmp_path: Path) -> None:
    """The worker is a process that is ended and started again."""
    uri = (tmp_path / "run.tab").as_uri()

    async def body() -> None:
        worker = Worker()
        session = Session(lambda _: None)
        validation = Validation(session, worker, quiet=0)
        session.open(uri, 1, WRONG)
        validation.notice()
        while not session.running:
            await asyncio.sleep(0)
        session.open(uri, 2, ROWS)
        first = worker._process
        validation._end_outdated(validation._order)  # type: ignore[arg-type]
        while session.waiting or session.running:
            await asyncio.sleep(0.01)
        assert [item.version for item in session.shown.values()] == [2]
        assert not any(item.findings for item in session.shown.values())
        assert worker._process is not first or first is None
        await validation.close()
        await worker.close()

    asyncio.run(body())


def test_an_unknown_task_is_named(invoke: Callable[..., Result]) -> None:
    result = invoke("lsp", "seedev-ful")
    assert result.exit_code == 2
    assert "did you mean seedev-full" in result.stderr


def test_a_missing_library_is_named(
    invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **more: Any) -> Any:
        if name == "hlteval.lsp.editor":
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    result = invoke("lsp")
    assert result.exit_code == 2
    assert "pip install 'hlteval[lsp]'" in result.stderr

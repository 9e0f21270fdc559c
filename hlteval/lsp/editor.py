"""The editor as the server sees it: its messages, and the answers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from threading import Event
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import FeatureNotificationError
from pygls.io_ import StdinAsyncReader, StdoutWriter, run_async
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

import hlteval
from hlteval.lsp import protocol
from hlteval.lsp.actions import Fix, fixes, hover
from hlteval.lsp.documents import Document, is_path, key
from hlteval.lsp.orders import Edit, Failure, Links, Site
from hlteval.lsp.process import Process, Worker
from hlteval.lsp.session import Session, Shown, Validation

_QUICK = types.CodeActionKind.QuickFix.value
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.hlteval"
"""The kind of the action that corrects a whole document, e.g. when it is saved."""
_PATHS = ("reference", "against")
_MARKDOWN = types.MarkupKind.Markdown
_SECTION = "hlteval"


class Editor:
    """Handles the messages of an editor.

    Args:
        server: the server, through which answers go.
        given: settings of the command line, by the keys of a file of defaults.
        worker: validates.
        looker: answers what the user waits for, beside it.
    """

    def __init__(
        self, server: LanguageServer, given: Mapping[str, Any], worker: Worker, looker: Worker
    ) -> None:
        self.server, self.given, self.worker, self.looker = server, given, worker, looker
        self.session = Session(self.publish, given=given)
        self.validation = Validation(self.session, worker)
        self.docs = ""
        self._initial: Mapping[str, Any] = {}

    def register(self) -> None:
        """Register everything that it handles."""
        actions = types.CodeActionOptions([_QUICK, FIX_ALL], resolve_provider=True)
        handlers: dict[str, Callable[[Any], Any]] = {
            types.INITIALIZE: self.initialize,
            types.INITIALIZED: self.initialized,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: self.configured,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self.disk_changed,
            types.TEXT_DOCUMENT_DID_OPEN: self.opened,
            types.TEXT_DOCUMENT_DID_CHANGE: self.changed,
            types.TEXT_DOCUMENT_DID_SAVE: self.saved,
            types.TEXT_DOCUMENT_DID_CLOSE: self.closed,
            types.TEXT_DOCUMENT_HOVER: self.hover,
            types.TEXT_DOCUMENT_DEFINITION: self.definition,
            types.TEXT_DOCUMENT_REFERENCES: self.references,
            types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: self.highlights,
            types.TEXT_DOCUMENT_CODE_ACTION: self.actions,
            types.CODE_ACTION_RESOLVE: self.resolved,
        }
        for name, handler in handlers.items():
            options = actions if name == types.TEXT_DOCUMENT_CODE_ACTION else None
            # The library writes to attributes of a handler, which a method does not have.
            self.server.feature(name, options)(partial(handler))

    async def close(self) -> None:
        """End whatever goes on."""
        await self.validation.close()
        for worker in (self.worker, self.looker):
            await worker.close()

    def publish(self, shown: Shown) -> None:
        """Show findings in the editor."""
        self.server.text_document_publish_diagnostics(protocol.published(shown, self.docs))

    # Settings

    def initialize(self, params: types.InitializeParams) -> None:
        """The session begins."""
        self.session.units = protocol.units(_encoding(self.server))
        given = params.initialization_options
        self._initial = given if isinstance(given, dict) else {}
        self._set({})

    async def initialized(self, _: types.InitializedParams) -> None:
        """The session has begun: the editor can be asked for its settings."""
        await self.worker.start()
        await self._ask()

    async def configured(self, params: types.DidChangeConfigurationParams) -> None:
        """Settings have changed."""
        given = params.settings.get(_SECTION) if isinstance(params.settings, dict) else None
        if given is None:
            await self._ask()
        else:
            self._set(given)
        self._revalidate()

    async def _ask(self) -> None:
        """Ask the editor for its settings, if it can send them."""
        if not self._can("workspace.configuration"):
            return
        item = types.ConfigurationItem(section=_SECTION)
        params = types.ConfigurationParams([item])
        answer = await self.server.workspace_configuration_async(params)
        if answer and isinstance(answer[0], dict) and answer[0]:
            self._set(answer[0])
            self._revalidate()

    def _set(self, given: Any) -> None:
        """Take settings, which add to those of the beginning; the command line overrides both."""
        values = {**self._initial, **(given if isinstance(given, dict) else {})}
        docs = values.pop("docs", "")
        self.docs = docs if isinstance(docs, str) else ""
        for name in _PATHS:
            if isinstance(values.get(name), str) and values[name]:
                values[name] = os.path.join(self._root, values[name])  # noqa: PTH118
        self.session.given = {**values, **self.given}

    @property
    def _root(self) -> str:
        """The folder that the editor has opened."""
        folder = key(self.server.workspace.root_uri or "")
        return folder if is_path(folder) else os.getcwd()  # noqa: PTH109

    def _can(self, capability: str) -> bool:
        return bool(get_capability(self.server.client_capabilities, capability))

    def _revalidate(self) -> None:
        self.session.again()
        self.validation.notice()

    def disk_changed(self, _: types.DidChangeWatchedFilesParams) -> None:
        """Files of the disk have changed."""
        self._revalidate()

    # Documents

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        """A document is opened."""
        document = params.text_document
        self.session.open(document.uri, document.version, document.text)
        self.validation.notice()

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """A document is changed."""
        document, changes = params.text_document, map(protocol.change, params.content_changes)
        self.session.change(document.uri, document.version, list(changes))
        self.validation.notice()

    def saved(self, params: types.DidSaveTextDocumentParams) -> None:
        """A document is saved."""
        self.session.save(params.text_document.uri)
        self.validation.notice()

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        """A document is closed."""
        self.session.close(params.text_document.uri)
        self.validation.notice()

    # Requests

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """The explanation of the findings at a position."""
        at = protocol.position(params.position)
        findings = self.session.at(key(params.text_document.uri), at, at)
        formats = get_capability(
            self.server.client_capabilities, "text_document.hover.content_format", []
        )
        markdown = not formats or _MARKDOWN in formats
        text = hover(findings, self.docs, markdown=markdown)
        if not text:
            return None
        kind = _MARKDOWN if markdown else types.MarkupKind.PlainText
        return types.Hover(types.MarkupContent(kind, text), protocol.range_of(findings[0].range))

    async def definition(self, params: types.DefinitionParams) -> list[types.Location] | None:
        """Where the identifier at a position is defined."""
        links = await self._links(params)
        return self._locations(links.definitions)

    async def references(self, params: types.ReferenceParams) -> list[types.Location] | None:
        """Where the identifier at a position is mentioned."""
        links = await self._links(params)
        defined = links.definitions if params.context.include_declaration else ()
        return self._locations(tuple(dict.fromkeys((*defined, *links.mentions))))

    async def highlights(
        self, params: types.DocumentHighlightParams
    ) -> list[types.DocumentHighlight] | None:
        """The same identifier in the same document."""
        links, own = await self._links(params), key(params.text_document.uri)
        sites = dict.fromkeys((*links.definitions, *links.mentions))
        ranges = [protocol.range_of(site.range) for site in sites if site.path == own]
        return [types.DocumentHighlight(each) for each in ranges] or None

    async def _links(self, params: Any) -> Links:
        path = key(params.text_document.uri)
        if path not in self.session.documents:
            return Links()
        order = self.session.order("links", path, position=protocol.position(params.position))
        answer = await self.looker.answer(order)
        return Links() if isinstance(answer, Failure) else answer

    def _locations(self, sites: Sequence[Site]) -> list[types.Location] | None:
        addresses = {path: item.uri for path, item in self.session.documents.items()}
        return [protocol.location(site, addresses) for site in sites] or None

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        """The quick fixes for the findings in a range."""
        path = key(params.text_document.uri)
        document = self.session.documents.get(path)
        if document is None:
            return None
        lazily = "edit" in (
            get_capability(
                self.server.client_capabilities,
                "text_document.code_action.resolve_support.properties",
            )
            or ()
        )
        offered = list(self._offered(document, params))
        actions = [self._action(document, fix, kind) for fix, kind in offered]
        if not lazily:
            actions = [each for action in actions if (each := await self.resolved(action)).edit]
        return actions or None

    def _offered(
        self, document: Document, params: types.CodeActionParams
    ) -> Iterator[tuple[Fix, str]]:
        """The fixes that are asked for, with their kinds."""
        place, every = protocol.place(params.range), self.session.findings(document.key)
        findings = self.session.at(document.key, place.start, place.end)
        wanted = params.context.only
        for fix in fixes(document, findings, every):
            kind = _QUICK if fix.findings or fix.code else FIX_ALL
            if not wanted or any(f"{kind}.".startswith(f"{_text(only)}.") for only in wanted):
                yield fix, kind

    def _action(self, document: Document, fix: Fix, kind: str) -> types.CodeAction:
        data = {"uri": document.uri, "version": document.version}
        return types.CodeAction(
            fix.title,
            kind=kind,
            diagnostics=[protocol.diagnostic(item, self.docs) for item in fix.findings] or None,
            is_preferred=True if fix.line else None,
            data={**data, "code": fix.code, "line": fix.line},
        )

    async def resolved(self, action: types.CodeAction) -> types.CodeAction:
        """A quick fix with its edit; without one where it does not help."""
        data = action.data if isinstance(action.data, dict) else {}
        path = key(str(data.get("uri", "")))
        document = self.session.documents.get(path)
        if document is None or document.version != data.get("version"):
            return action
        code, line = str(data.get("code", "")), data.get("line", 0)
        line = line if isinstance(line, int) else 0
        answer = await self.looker.answer(self.session.order("fix", path, code=code, line=line))
        if answer and not isinstance(answer, Failure):
            action.edit = self._edit(document, answer)
        return action

    def _edit(self, document: Document, edits: Sequence[Edit]) -> types.WorkspaceEdit:
        changes = protocol.text_edits(edits)
        if not self._can("workspace.workspace_edit.document_changes"):
            return types.WorkspaceEdit(changes={document.uri: changes})
        named = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(named, changes)])


def _encoding(server: LanguageServer) -> str:
    """The encoding of positions on which both sides agree."""
    encoding = server.workspace.position_encoding
    return _text(encoding) if encoding else "utf-16"


def _text(value: Any) -> str:
    """The text of a name that may be one of an enumeration."""
    return str(getattr(value, "value", value))


class Protocol(LanguageServerProtocol):
    """The protocol, with documents of our own: those of the library end lines at other places."""

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: Any) -> Generator[Any, Any, None]:
        """A document is opened."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: Any) -> Generator[Any, Any, None]:
        """A document is changed."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: Any) -> Generator[Any, Any, None]:
        """A document is closed."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE], (params,), None


class Server(LanguageServer):
    """The server of `hlteval lsp`.

    Args:
        given: settings of the command line, by the keys of a file of defaults.
        worker: validates.
        looker: answers what the user waits for, beside it.
    """

    def __init__(self, given: Mapping[str, Any], worker: Worker, looker: Worker) -> None:
        super().__init__(
            "hlteval",
            hlteval.__version__,
            protocol_cls=Protocol,
            converter_factory=default_converter,
        )
        self.editor = Editor(self, given, worker, looker)
        self.editor.register()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Report an error of the program by its name; what it says may quote data."""
        if source is FeatureNotificationError:
            text = f"internal error of hlteval: {type(error).__name__}"
            params = types.ShowMessageParams(types.MessageType.Error, text)
            self.window_show_message(params)


def serve(given: Mapping[str, Any], stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serve an editor until it ends the session.

    Args:
        given: settings of the command line, by the keys of a file of defaults.
        stdin: where its messages come from.
        stdout: where answers go; nothing else may be written there.

    Raises:
        SystemExit: when the editor ends the session: with 0 if it asked to shut down before.
    """
    asyncio.run(_serve(given, stdin, stdout))


async def _serve(given: Mapping[str, Any], stdin: BinaryIO, stdout: BinaryIO) -> None:
    worker, looker = Process(), Process()
    server = Server(given, worker, looker)
    server.protocol.set_writer(StdoutWriter(stdout))
    try:
        await run_async(
            stop_event=Event(),
            reader=StdinAsyncReader(stdin, server.thread_pool),
            protocol=server.protocol,
            error_handler=server.report_server_error,
        )
    finally:
        await server.editor.close()
        server.thread_pool.shutdown(wait=False)

"""The server as an editor sees it: its messages, the answers, and the values of the protocol."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from threading import Event
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import FeatureNotificationError
from pygls.io_ import StdinAsyncReader, StdoutWriter, run_async
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

import hlteval
from hlteval.findings import SUBMISSION, Severity
from hlteval.lsp.actions import fixes, hover, page
from hlteval.lsp.documents import NOWHERE, Edit, Position, Range, Units, is_path, key, uri
from hlteval.lsp.session import EditorFinding, Links, Publication, Session, Site, Validation, Worker
from hlteval.reports.terminal import visible

_QUICK = types.CodeActionKind.QuickFix.value
#: The kind of the action that corrects a whole document, e.g. when it is saved.
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.hlteval"
_PATHS = ("reference", "against")
_MARKDOWN = types.MarkupKind.Markdown
_SECTION = SOURCE = "hlteval"
#: Both begin with the worst.
SEVERITIES = dict(zip(Severity, types.DiagnosticSeverity, strict=False))
#: The largest number of a line or column in the protocol.
_LARGEST = 2**31 - 1
_ALL = Range(NOWHERE.start, Position(_LARGEST, 0))


def position(sent: types.Position) -> Position:
    """A position, whatever a client sends."""
    return Position(*(max(0, min(int(n), _LARGEST)) for n in (sent.line, sent.character)))


def change(sent: types.TextDocumentContentChangeEvent) -> Edit:
    """A change of a document."""
    if isinstance(sent, types.TextDocumentContentChangeWholeDocument):
        return Edit(_ALL, sent.text)
    return Edit(Range(position(sent.range.start), position(sent.range.end)), sent.text)


def range_of(own: Range) -> types.Range:
    """A range of ours in the protocol."""
    return types.Range(*(types.Position(*each) for each in own))


class Protocol(LanguageServerProtocol):
    """The protocol, with documents of our own: those of the library end lines at other places."""

    lsp_text_document__did_open: Any = None
    lsp_text_document__did_change: Any = None
    lsp_text_document__did_close: Any = None


class Server(LanguageServer):
    """The server of `hlteval lsp`, which handles the messages of an editor.

    Args:
        given: settings of the command line, by the keys of a file of defaults.
        worker: validates.
        looker: answers what the user waits for, beside it.
    """

    def __init__(self, given: Mapping[str, Any], worker: Worker, looker: Worker) -> None:
        version = hlteval.__version__
        super().__init__(
            "hlteval", version, protocol_cls=Protocol, converter_factory=default_converter
        )
        self.given, self.worker, self.looker = given, worker, looker
        self.session = Session(self.publish, given=given)
        self.validation = Validation(self.session, worker)
        self.docs = ""
        self._initial: Mapping[str, Any] = {}
        actions = types.CodeActionOptions([_QUICK, FIX_ALL], resolve_provider=True)
        handlers: dict[str, Callable[[Any], Any]] = {
            types.INITIALIZE: self.initialize,
            types.INITIALIZED: self.on_initialized,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: self.change_settings,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self.revalidate,
            types.TEXT_DOCUMENT_DID_OPEN: self.open_document,
            types.TEXT_DOCUMENT_DID_CHANGE: self.change_document,
            types.TEXT_DOCUMENT_DID_SAVE: self.save_document,
            types.TEXT_DOCUMENT_DID_CLOSE: self.close_document,
            types.TEXT_DOCUMENT_HOVER: self.hover,
            types.TEXT_DOCUMENT_DEFINITION: self.definition,
            types.TEXT_DOCUMENT_REFERENCES: self.references,
            types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: self.highlights,
            types.TEXT_DOCUMENT_CODE_ACTION: self.actions,
            types.CODE_ACTION_RESOLVE: self.resolve,
        }
        for name, handler in handlers.items():
            options = actions if name == types.TEXT_DOCUMENT_CODE_ACTION else None
            # The library writes to attributes of a handler, which a method does not have.
            self.feature(name, options)(partial(handler))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Report an error of the program by its name; what it says may quote data."""
        if source is FeatureNotificationError:
            text = f"internal error of hlteval: {type(error).__name__}"
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, text))

    async def close(self) -> None:
        """End whatever goes on."""
        await self.validation.close()
        for worker in (self.worker, self.looker):
            await worker.close()

    def publish(self, shown: Publication) -> None:
        """Show the findings of a document, and notes at its beginning, in the editor."""
        level = types.DiagnosticSeverity.Information
        notes = [
            types.Diagnostic(range_of(NOWHERE), visible(note), severity=level, source=SOURCE)
            for note in shown.notes
        ]
        findings = [self.diagnostic(item) for item in shown.findings]
        params = types.PublishDiagnosticsParams(shown.uri, [*notes, *findings], shown.version)
        self.text_document_publish_diagnostics(params)

    def diagnostic(self, item: EditorFinding) -> types.Diagnostic:
        """A finding at its range: its message, and its help in a line of its own."""
        finding, docs = item.finding, self.docs
        side = "" if finding.side == SUBMISSION else f"{finding.side}: "
        more = f" (and {finding.count - 1:,} more)" if finding.further and finding.count > 1 else ""
        text = f"{side}{visible(finding.message)}{more}"
        return types.Diagnostic(
            range_of(item.range),
            message=f"{text}\nhelp: {visible(finding.help)}" if finding.help else text,
            severity=SEVERITIES[finding.severity],
            code=finding.code,
            code_description=types.CodeDescription(page(finding.code, docs)) if docs else None,
            source=SOURCE,
        )

    # Settings

    def initialize(self, params: types.InitializeParams) -> None:
        """Handle `initialize`: the session begins."""
        known: Mapping[str, Units] = {"utf-8": "utf-8", "utf-32": "utf-32"}
        self.session.units = known.get(self.workspace.position_encoding or "", "utf-16")
        options = params.initialization_options
        self._initial = options if isinstance(options, dict) else {}
        self._set({})

    async def on_initialized(self, _: types.InitializedParams) -> None:
        """Handle `initialized`: the editor can be asked for its settings."""
        self.worker.start()
        await self._ask()

    async def change_settings(self, params: types.DidChangeConfigurationParams) -> None:
        """Handle changes of settings."""
        values = params.settings.get(_SECTION) if isinstance(params.settings, dict) else None
        if values is None:
            await self._ask()
        else:
            self._set(values)
        self.revalidate()

    async def _ask(self) -> None:
        """Ask the editor for its settings, if it can send them."""
        if self._can("workspace.configuration"):
            params = types.ConfigurationParams([types.ConfigurationItem(section=_SECTION)])
            answer = await self.workspace_configuration_async(params)
            if answer and isinstance(answer[0], dict) and answer[0]:
                self._set(answer[0])
                self.revalidate()

    def _set(self, sent: Any) -> None:
        """Take settings, which add to those of the beginning; the command line overrides both."""
        values = {**self._initial, **(sent if isinstance(sent, dict) else {})}
        docs = values.pop("docs", "")
        self.docs = docs if isinstance(docs, str) else ""
        folder = key(self.workspace.root_uri or "")  # that the editor has opened
        root = folder if is_path(folder) else os.getcwd()  # noqa: PTH109
        for name in _PATHS:
            if isinstance(values.get(name), str) and values[name]:
                values[name] = os.path.join(root, values[name])  # noqa: PTH118
        self.session.given = {**values, **self.given}

    def _can(self, capability: str) -> Any:
        """The value of a capability of the client; nothing if it does not have it."""
        return get_capability(self.client_capabilities, capability) or ()

    def revalidate(self, _: types.DidChangeWatchedFilesParams | None = None) -> None:
        """Validate everything again: settings or files of the disk have changed."""
        self.session.again()
        self.validation.notice()

    # Documents

    def open_document(self, params: types.DidOpenTextDocumentParams) -> None:
        """Handle `didOpen`."""
        document = params.text_document
        self.session.open(document.uri, document.version, document.text)
        self.validation.notice()

    def change_document(self, params: types.DidChangeTextDocumentParams) -> None:
        """Handle `didChange`."""
        document, changes = params.text_document, map(change, params.content_changes)
        self.session.change(document.uri, document.version, changes)
        self.validation.notice()

    def save_document(self, params: types.DidSaveTextDocumentParams) -> None:
        """Handle `didSave`."""
        self.session.save(params.text_document.uri)
        self.validation.notice()

    def close_document(self, params: types.DidCloseTextDocumentParams) -> None:
        """Handle `didClose`."""
        self.session.close(params.text_document.uri)
        self.validation.notice()

    # Requests

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """The explanation of the findings at a position."""
        where = position(params.position)
        findings = self.session.at(key(params.text_document.uri), where, where)
        formats = self._can("text_document.hover.content_format")
        kind = types.MarkupKind.PlainText if formats and _MARKDOWN not in formats else _MARKDOWN
        text = hover(findings, self.docs, markdown=kind is _MARKDOWN)
        if not text:
            return None
        return types.Hover(types.MarkupContent(kind, text), range_of(findings[0].range))

    async def definition(self, params: types.DefinitionParams) -> list[types.Location] | None:
        """The definitions of the identifier at a position."""
        return self._locations((await self._links(params)).definitions)

    async def references(self, params: types.ReferenceParams) -> list[types.Location] | None:
        """The mentions of the identifier at a position."""
        links = await self._links(params)
        definitions = links.definitions if params.context.include_declaration else ()
        return self._locations((*definitions, *links.mentions))

    async def highlights(
        self, params: types.DocumentHighlightParams
    ) -> list[types.DocumentHighlight] | None:
        """All places of the identifier at a position in its document."""
        links, path = await self._links(params), key(params.text_document.uri)
        sites = dict.fromkeys((*links.definitions, *links.mentions))
        ranges = [range_of(site.range) for site in sites if site.path == path]
        return [types.DocumentHighlight(each) for each in ranges] or None

    async def _links(
        self, params: types.DefinitionParams | types.ReferenceParams | types.DocumentHighlightParams
    ) -> Links:
        path = key(params.text_document.uri)
        if path not in self.session.documents:
            return Links()
        order = self.session.order("links", path)._replace(position=position(params.position))
        answer = await self.looker.answer(order)
        return answer if isinstance(answer, Links) else Links()

    def _locations(self, sites: tuple[Site, ...]) -> list[types.Location] | None:
        """Places in the protocol, once each; open documents have the URIs of the client."""
        addresses = {path: item.uri for path, item in self.session.documents.items()}
        return [
            types.Location(addresses.get(site.path, uri(site.path)), range_of(site.range))
            for site in dict.fromkeys(sites)
        ] or None

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        """The quick fixes for the findings in a range."""
        path = key(params.text_document.uri)
        document = self.session.documents.get(path)
        if document is None:
            return None
        start, end = position(params.range.start), position(params.range.end)
        findings = self.session.at(path, start, end)
        actions = []
        for fix in fixes(document, findings, self.session.findings(path)):
            kind = _QUICK if fix.code else FIX_ALL
            wanted = params.context.only or [kind]
            if not any(f"{kind}.".startswith(only + ".") for only in wanted):
                continue
            place = {"uri": document.uri, "version": document.version}
            action = types.CodeAction(fix.title, kind=kind, is_preferred=bool(fix.line) or None)
            action.diagnostics = [self.diagnostic(item) for item in fix.findings] or None
            action.data = {**place, "code": fix.code, "line": fix.line}
            actions.append(action)
        if "edit" not in self._can("text_document.code_action.resolve_support.properties"):
            actions = [each for action in actions if (each := await self.resolve(action)).edit]
        return actions or None

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """A quick fix with its edit; without one where it does not help."""
        data = action.data if isinstance(action.data, dict) else {}
        path = key(str(data.get("uri", "")))
        document = self.session.documents.get(path)
        if document is None or document.version != data.get("version"):
            return action
        code, line = str(data.get("code", "")), data.get("line", 0)
        line = line if isinstance(line, int) else 0
        order = self.session.order("fix", path)._replace(code=code, line=line)
        answer = await self.looker.answer(order)
        if not answer or not isinstance(answer, list):
            return action
        edits = [types.TextEdit(range_of(edit.place), edit.put) for edit in answer]
        if self._can("workspace.workspace_edit.document_changes"):
            version = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
            changes = [types.TextDocumentEdit(version, edits)]
            action.edit = types.WorkspaceEdit(document_changes=changes)
        else:
            action.edit = types.WorkspaceEdit(changes={document.uri: edits})
        return action


async def serve(given: Mapping[str, Any], stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serve an editor until it ends the session.

    Args:
        given: settings of the command line, by the keys of a file of defaults.
        stdin: where its messages come from.
        stdout: where answers go; nothing else may be written there.

    Raises:
        SystemExit: when the editor ends the session: with 0 if it asked to shut down before.
    """
    server = Server(given, Worker(), Worker())
    server.protocol.set_writer(StdoutWriter(stdout))
    try:
        await run_async(
            stop_event=Event(),
            reader=StdinAsyncReader(stdin, server.thread_pool),
            protocol=server.protocol,
            error_handler=server.report_server_error,
        )
    finally:
        await server.close()
        server.thread_pool.shutdown(wait=False)

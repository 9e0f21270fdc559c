"""The server: what an editor asks, over standard input and output."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from threading import Event
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.exceptions import FeatureNotificationError
from pygls.io_ import StdinAsyncReader, StdoutWriter, run_async
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

import hlteval
from hlteval.lsp.editor import Editor
from hlteval.lsp.process import Process, Worker


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

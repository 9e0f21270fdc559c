"""The server: uvicorn on the loopback address, with bounds for clients that are slow or many.

Uvicorn waits for ever for the headers of a request, and for who does not read an answer. `_Patient`
ends such connections.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
import signal
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hlteval.serve.settings import CannotServe, ServeLimits, ServeSettings
from hlteval.sources.spooling import temporary
from hlteval.workflows.evaluation.pipeline import FILE as LOCK
from hlteval.workflows.evaluation.pipeline import InUse, lock_folder

if TYPE_CHECKING:
    from hlteval.serve.application import Application

HOST = "127.0.0.1"
_PREFIX = "hlteval-serve-"
#: Bytes of the headers of a request at most.
_HEADER_BYTES = 16_384
#: Connections at a time; more get the status 503.
_CONNECTIONS = 100
#: A level of logs above all there are: they have tracebacks, and what clients send.
_SILENT = 100
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


def serve(
    settings: ServeSettings,
    *,
    port: int = 0,
    limits: ServeLimits | None = None,
    ready: Callable[[str, Path], None] = lambda _url, _file: None,
    notify: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve the page until a signal ends it; then nothing of it is left on the disk.

    Args:
        settings: what the organiser gives, checked.
        port: of the loopback address; 0 for one that is free.
        limits: what the server, its jobs and its clients may use.
        ready: called with the URL, and with a file that leads a browser there, when connections
            are accepted.
        notify: takes what the terminal shows.

    Raises:
        CannotServe: if its libraries are not installed, or the port is taken.
        NotWritten: if there is no folder for temporary files.
    """
    if not (find_spec("starlette") and find_spec("uvicorn")):
        raise CannotServe("serve needs starlette and uvicorn: pip install 'hlteval[serve]'")
    token = secrets.token_urlsafe(24)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            raise CannotServe(f"cannot use port {port}: {error.strerror}") from error
        with _folder() as folder:
            from hlteval.serve.application import Application
            from hlteval.serve.jobs import Processes, Sessions

            root, bound = folder / "sessions", listener.getsockname()[1]
            runner = Processes(root, limits or ServeLimits())
            sessions = Sessions(root, runner, settings.files)
            application = Application(sessions, settings, token, bound)
            application.notify = notify
            url = f"http://{HOST}:{bound}/?token={token}"
            page = f'<meta charset="utf-8"><meta http-equiv="refresh" content="0;url={url}">'
            file = folder / "open.html"
            file.write_text(page, "utf-8", newline="\n")
            asyncio.run(_run(application, listener, lambda: ready(url, file)))


@contextmanager
def _folder() -> Iterator[Path]:
    """The folder of all files of the server, which only this user can read.

    Folders of servers that were killed are removed first: nobody holds their locks.
    """
    with (
        temporary(),
        tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder,
        lock_folder(Path(folder)),
    ):
        root = Path(folder)
        for path in root.parent.glob(f"{_PREFIX}*"):
            status = path.lstat()
            is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == root.stat().st_uid
            if path == root or not is_ours or not (path / LOCK).is_file():  # it starts just now
                continue
            with suppress(InUse, OSError), lock_folder(path):
                shutil.rmtree(path, ignore_errors=True)
        (root / "sessions").mkdir(mode=0o700)
        yield root


async def _run(
    application: Application, listener: socket.socket, ready: Callable[[], None]
) -> None:
    """Run the server of an application, which prints nothing, until a signal stops it."""
    import uvicorn

    class Server(uvicorn.Server):
        """A server whose signals are handled here."""

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            ready()

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    sessions = application.sessions
    config = uvicorn.Config(
        application,
        http=_patient(sessions.limits),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=_SILENT,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=2,
    )
    server = Server(config)
    stop = partial(setattr, server, "should_exit", True)
    for name in _SIGNALS:  # where the system has them
        with suppress(NotImplementedError, AttributeError):
            asyncio.get_running_loop().add_signal_handler(getattr(signal, name), stop)
    tending = asyncio.create_task(sessions.tend())
    try:
        await server.serve(sockets=[listener])
    finally:
        tending.cancel()
        await sessions.close()


def _patient(limits: ServeLimits) -> type[asyncio.Protocol]:
    """The protocol of connections, which waits for clients no longer than it should."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Patient(H11Protocol):
        """A connection that ends where the client sends no whole headers, or reads nothing."""

        def connection_made(self, transport: Any) -> None:
            self._timers: dict[str, asyncio.TimerHandle] = {}
            super().connection_made(transport)
            self._wait()

        def _start(self, name: str, seconds: float) -> None:
            if name not in self._timers:
                self._timers[name] = self.loop.call_later(seconds, self.transport.abort)

        def _stop(self, name: str) -> None:
            if (timer := self._timers.pop(name, None)) is not None:
                timer.cancel()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._wait()

        def _wait(self) -> None:
            """Give headers their time: all that comes while no request is being answered."""
            if bool(self.cycle) and not self.cycle.response_complete:
                self._stop("headers")
            else:
                self._start("headers", limits.headers)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self.transport.is_closing():
                self._start("headers", limits.headers)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._start("reading", limits.reading)

        def resume_writing(self) -> None:
            super().resume_writing()
            self._stop("reading")

        def connection_lost(self, exc: Exception | None) -> None:
            for name in [*self._timers]:
                self._stop(name)
            super().connection_lost(exc)

    return Patient

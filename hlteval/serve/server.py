"""The server: uvicorn on the loopback address, with bounds for clients that are slow or many.

Uvicorn waits for ever for the headers of a request, and for who does not read an answer. `_Patient`
ends such connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
import signal
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hlteval.serve.settings import CannotServe, ServeSettings
from hlteval.serve.uploads import Timing
from hlteval.sources.spooling import temporary
from hlteval.workflows.evaluation.pipeline import FILE as LOCK
from hlteval.workflows.evaluation.pipeline import InUse, locked

if TYPE_CHECKING:
    import uvicorn

HOST = "127.0.0.1"
_PREFIX = "hlteval-serve-"
_HEADER_BYTES = 16_384
"""Bytes of the headers of a request at most."""
_CONNECTIONS = 100
"""Connections at a time; more get the status 503."""
_SILENT = 100
"""A level of logs above all there are: they have tracebacks, and what clients send."""
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


@dataclass(frozen=True)
class ServeLimits:
    """What the server and its jobs may use.

    Attributes:
        jobs: number of jobs at a time.
        seconds: of a job.
        megabytes: of memory of a job.
    """

    jobs: int = 2
    seconds: int = 600
    megabytes: int = 4000


def serve(
    settings: ServeSettings,
    *,
    port: int = 0,
    limits: ServeLimits | None = None,
    timing: Timing | None = None,
    ready: Callable[[str, Path], None] = lambda _url, _file: None,
    notify: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve the page until a signal ends it; then nothing of it is left on the disk.

    Args:
        settings: what the organiser gives, checked.
        port: of the loopback address; 0 for one that is free.
        limits: what the server and its jobs may use.
        timing: how slow clients may be.
        ready: called with the URL, and with a file that leads a browser there, when connections
            are accepted.
        notify: takes what the terminal shows.

    Raises:
        CannotServe: if its libraries are not installed, or the port is taken.
        NotWritten: if there is no folder for temporary files.
    """
    _check_libraries()
    token = secrets.token_urlsafe(24)
    with _listening(port) as listening, _folder() as folder:
        own = listening.getsockname()[1]
        url = f"http://{HOST}:{own}/?token={token}"
        file = folder / "open.html"
        file.write_text(f'<meta charset="utf-8"><meta http-equiv="refresh" content="0;url={url}">')
        make = (settings, token, own, folder / "sessions", limits or ServeLimits(), notify)
        asyncio.run(_run(make, listening, timing or Timing(), lambda: ready(url, file)))


def _check_libraries() -> None:
    if not (find_spec("starlette") and find_spec("uvicorn")):
        raise CannotServe("serve needs starlette and uvicorn: pip install 'hlteval[serve]'")


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    """A socket of the loopback address.

    Raises:
        CannotServe: if the port is taken.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((HOST, port))
        except OSError as error:
            raise CannotServe(f"cannot use port {port}: {error.strerror}") from error
        yield made


@contextmanager
def _folder() -> Iterator[Path]:
    """The folder of all files of the server, which only this user can read.

    Folders of servers that were killed are removed first: nobody holds their locks.
    """
    with (
        temporary(),
        tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder,
        locked(Path(folder)),
    ):
        _remove_orphans(Path(folder))
        (Path(folder) / "sessions").mkdir(mode=0o700)
        yield Path(folder)


def _remove_orphans(own: Path) -> None:
    """Remove the folders of this user's servers that ended without removing them."""
    for path in own.parent.glob(f"{_PREFIX}*"):
        status = path.lstat()
        if path == own or not stat.S_ISDIR(status.st_mode) or status.st_uid != own.stat().st_uid:
            continue
        if not (path / LOCK).is_file():  # a server that starts just now
            continue
        with contextlib.suppress(InUse, OSError), locked(path):
            shutil.rmtree(path, ignore_errors=True)


async def _run(
    make: tuple[Any, ...], listening: socket.socket, timing: Timing, ready: Callable[[], None]
) -> None:
    settings, token, port, root, limits, notify = make
    from hlteval.serve.application import Application
    from hlteval.serve.jobs import Processes
    from hlteval.serve.security import Bounds, Sessions

    runner = Processes(root, limits.seconds, limits.megabytes)
    sessions = Sessions(root, runner, Bounds(running=limits.jobs), settings.files)
    application = Application(sessions, settings, token, port, timing.pace, notify)
    server = _server(application.app, timing, ready)
    _stop_at_signals(server)
    await server.serve(sockets=[listening])


def _server(app: Any, timing: Timing, ready: Callable[[], None]) -> uvicorn.Server:
    """The server of an application, which prints nothing."""
    import uvicorn

    class Server(uvicorn.Server):
        """A server whose signals are handled here."""

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            ready()

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    config = uvicorn.Config(
        app,
        http=_patient(timing),
        ws="none",
        lifespan="on",
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
    return Server(config)


def _stop_at_signals(server: Any) -> None:
    """Let signals stop the server, where the system can."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        server.should_exit = True

    for name in _SIGNALS:
        with contextlib.suppress(NotImplementedError, AttributeError):
            loop.add_signal_handler(getattr(signal, name), stop)


def _patient(timing: Timing) -> type[asyncio.Protocol]:
    """The protocol of connections, which waits for clients no longer than it should."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Patient(H11Protocol):
        """A connection that ends where the client sends no whole headers, or reads nothing."""

        _sending: asyncio.TimerHandle | None = None
        _reading: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._wait()

        def _wait(self) -> None:
            """Give headers their time: all that comes while no request is being answered."""
            answering = bool(self.cycle) and not self.cycle.response_complete
            if answering and self._sending is not None:
                self._sending.cancel()
                self._sending = None
            elif not answering and self._sending is None:
                self._sending = self.loop.call_later(timing.headers, self.transport.abort)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self._sending is None and not self.transport.is_closing():
                self._sending = self.loop.call_later(timing.headers, self.transport.abort)

        def pause_writing(self) -> None:
            super().pause_writing()
            if self._reading is None:
                self._reading = self.loop.call_later(timing.reading, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._reading is not None:
                self._reading.cancel()
                self._reading = None

        def connection_lost(self, exc: Exception | None) -> None:
            for timer in (self._sending, self._reading):
                if timer is not None:
                    timer.cancel()
            super().connection_lost(exc)

    return Patient

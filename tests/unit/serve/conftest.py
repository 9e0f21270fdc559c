"""A real server for attacks: one for all tests, with little patience."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

PROGRAM = """
from hlteval.serve.server import serve
from hlteval.serve.settings import ServeLimits, ServeSettings
limits = ServeLimits(headers=1.0, reading=1.0, pause=1.0, grace=1.0, rate=1e6)
serve(ServeSettings(), limits=limits, ready=lambda url, file: print(url, file, flush=True))
"""


@dataclass
class Served:
    """A server that runs.

    Attributes:
        process: of it.
        port: of the loopback address.
        token: that opens a session.
        folder: of its files.
    """

    process: subprocess.Popen[str]
    port: int
    token: str
    folder: Path

    def enter(self) -> tuple[str, str]:
        """The path and the cookie of a new session."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"/?token={self.token}")
        answer = connection.getresponse()
        path = answer.read().decode().partition("url=")[2].partition('"')[0]
        cookie = answer.headers["set-cookie"].partition(";")[0]
        connection.close()
        return path, cookie

    def is_well(self) -> bool:
        """Whether it still answers."""
        return self.process.poll() is None and bool(self.enter()[0])


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server; at the end it has printed nothing, and nothing of it is left."""
    place = tmp_path_factory.mktemp("served")
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdout
        first = process.stdout.readline()
        assert first, process.communicate()[1]
        url, file = first.split()
        parts = urlsplit(url)
        assert parts.hostname == "127.0.0.1"
        token = parts.query.removeprefix("token=")
        yield Served(process, int(parts.port or 0), token, Path(file).parent)
        process.terminate()
        out, errors = process.communicate(timeout=60)
    assert (out, errors, process.returncode) == ("", "", 0)
    assert not Path(file).parent.exists()
    assert list(place.iterdir()) == []

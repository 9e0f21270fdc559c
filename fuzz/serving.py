"""A server without a network: visitors of the application in this process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from hlteval.serve.application import Application
from hlteval.serve.jobs import Processes, Sessions
from hlteval.serve.settings import Order, Outcome, Progress, ServeLimits, ServeSettings
from hlteval.serve.work import perform

TOKEN = "token-of-the-tests"
PORT = 40_404
HOST = f"127.0.0.1:{PORT}"

Files = Sequence[tuple[str, bytes]]
"""Names with folders, as a browser gives them, and contents."""


class InProcess(Processes):
    """Does jobs in this process."""

    async def run(self, folder: Path, order: Order, report: Callable[[Progress], None]) -> Outcome:
        """Do a job."""
        return perform(folder, order, report)


@contextmanager
def application(
    settings: ServeSettings | None = None,
    limits: ServeLimits | None = None,
    runner: Processes | None = None,
) -> Iterator[Application]:
    """An application with a folder of its own."""
    with TemporaryDirectory(prefix="hlteval-serve-") as folder:
        made, root = settings or ServeSettings(), Path(folder)
        runner = runner or InProcess(root, limits or ServeLimits())
        yield Application(Sessions(root, runner, made.files), made, TOKEN, PORT)


def framed(files: Files) -> bytes:
    """The body of an upload."""
    lines = (
        json.dumps({"name": name, "size": len(data)}).encode() + b"\n" + data
        for name, data in files
    )
    return b"".join(lines)


def of_folder(path: Path) -> Files:
    """A folder or a file as a browser gives it."""
    if path.is_file():
        return [(path.name, path.read_bytes())]
    files = sorted(each for each in path.rglob("*") if each.is_file())
    return [(each.relative_to(path.parent).as_posix(), each.read_bytes()) for each in files]


class Visitor:
    """A browser with a session.

    Args:
        application: that it visits.
    """

    def __init__(self, application: Application) -> None:
        transport = httpx.ASGITransport(application, raise_app_exceptions=False)
        origin = f"http://{HOST}"
        self.client = httpx.AsyncClient(
            transport=transport, base_url=origin, headers={"origin": origin}, timeout=None
        )
        self.application = application
        self.answers: list[httpx.Response] = []
        self.path = ""

    async def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Send a request; the answer is kept."""
        answer = await self.client.request(method, path, **more)
        self.answers.append(answer)
        return answer

    async def enter(self, token: str = TOKEN) -> httpx.Response:
        """Open a session."""
        answer = await self.ask("GET", "/", params={"token": token})
        if answer.status_code == 200:
            self.path = answer.text.partition("url=")[2].partition('"')[0]
        return answer

    async def begin(self, task: str, inputs: Mapping[str, Files | bytes], **order: Any) -> str:
        """Begin a job; its path.

        Raises:
            AssertionError: if a step is refused.
        """
        answer = await self.ask("POST", f"{self.path}jobs", json={"task": task, **order})
        assert answer.status_code == 201, answer.text
        path = f"{self.path}jobs/{answer.json()['job']}"
        for name, files in inputs.items():
            body = files if isinstance(files, bytes) else framed(files)
            answer = await self.ask("PUT", f"{path}/inputs/{name}", content=body)
            assert answer.status_code == 200, answer.text
        answer = await self.ask("POST", f"{path}/begin")
        assert answer.status_code == 202, answer.text
        return path

    async def finished(self, path: str) -> dict[str, Any]:
        """The state of a job when it is done."""
        job = self.application.sessions.sessions[path.split("/")[2]].jobs[path.split("/")[4]]
        if job.work is not None:
            await asyncio.wait([job.work])
        state: dict[str, Any] = (await self.ask("GET", path)).json()
        return state

    async def done(
        self, task: str, inputs: Mapping[str, Files | bytes], **order: Any
    ) -> tuple[str, dict[str, Any]]:
        """Do a job; its path and its state."""
        path = await self.begin(task, inputs, **order)
        return path, await self.finished(path)

    async def read(self, path: str, state: Mapping[str, Any]) -> dict[str, bytes]:
        """All reports and downloads of a job, by key."""
        found = {}
        for part in state["parts"]:
            answer = await self.ask("GET", f"{path}/parts/{part['key']}")
            found[part["key"]] = answer.content
            for file in part["files"]:
                answer = await self.ask("GET", f"{path}/files/{file['key']}")
                found[file["key"]] = answer.content
        return found

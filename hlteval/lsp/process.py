"""Workers as the server sees them: a process that answers one order at a time."""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol

from hlteval.lsp.documents import Buffer
from hlteval.lsp.orders import Failure, Order
from hlteval.lsp.worker import LENGTH

SECONDS = 120.0
"""Time for an order; then its worker is ended."""
TOO_LONG = Failure("TimeoutError")


class Worker(Protocol):
    """Answers orders."""

    async def start(self) -> None:
        """Begin to import what it needs."""

    async def answer(self, order: Order) -> Any:
        """The answer to an order, or a `Failure`; it has all buffers that are open."""

    def end(self) -> None:
        """End what it does; it starts again with the next order."""

    async def close(self) -> None:
        """End it, and wait until it has ended."""


class InProcess:
    """A worker in this process, for programs that wait for each answer."""

    async def start(self) -> None:
        """It has what it needs."""

    async def answer(self, order: Order) -> Any:
        """The answer to an order, or a `Failure`."""
        from hlteval.lsp.actions import Answers

        return Answers().answer(order)

    def end(self) -> None:
        """Nothing goes on after an answer."""

    async def close(self) -> None:
        """There is nothing to close."""


class Process:
    """A worker in a process of its own, which is started with the first order."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()
        self._sent: dict[str, Buffer] = {}

    async def start(self) -> None:
        """Start the process, which begins to import what it needs."""
        async with self._lock:
            await self._started()

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None:
            environment = {**os.environ, "POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            self._sent = {}
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "hlteval.lsp.worker",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=environment,
            )  # fmt: skip
        return self._process

    async def answer(self, order: Order) -> Any:
        """The answer to an order, or a `Failure`."""
        async with self._lock:
            process = await self._started()
            try:
                async with asyncio.timeout(SECONDS):
                    return await self._exchange(process, order)
            except (asyncio.IncompleteReadError, ConnectionError):
                self._end(process)
                return Failure("ended")
            except TimeoutError:
                self._end(process)
                return TOO_LONG
            except asyncio.CancelledError:
                self._end(process)
                raise

    async def _exchange(self, process: asyncio.subprocess.Process, order: Order) -> Any:
        if process.stdin is None or process.stdout is None:
            raise ConnectionError
        content = pickle.dumps(replace(order, buffers=self._changes(order.buffers)))
        process.stdin.write(LENGTH.pack(len(content)) + content)
        await process.stdin.drain()
        (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
        return pickle.loads(await process.stdout.readexactly(length))  # noqa: S301 - from our own process

    def _changes(self, buffers: Mapping[str, Buffer | None]) -> dict[str, Buffer | None]:
        """The buffers that the process has not, or otherwise; None for those that were closed."""
        present = {key: buffer for key, buffer in buffers.items() if buffer is not None}
        changed: dict[str, Buffer | None] = {
            key: buffer for key, buffer in present.items() if self._sent.get(key) is not buffer
        }
        changed |= dict.fromkeys(self._sent.keys() - present.keys())
        self._sent = present
        return changed

    def _end(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is not None:
            process.stdin.close()
        with suppress(ProcessLookupError):
            process.kill()
        if self._process is process:
            self._process = None

    def end(self) -> None:
        """End the process, whatever it does; it starts again with the next order."""
        if self._process is not None:
            self._end(self._process)

    async def close(self) -> None:
        """End the process, and wait until it has ended."""
        if (process := self._process) is not None:
            self._end(process)
            await process.wait()

"""Workers as the server sees them: a process that answers one order at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from hlteval.lsp.documents import Buffer
from hlteval.lsp.orders import Failure, Order
from hlteval.workflows.processes.pool import Call, Limits, ProcessEnded
from hlteval.workflows.processes.pool import Process as Program

SECONDS = 120.0
"""Time for an order; then its worker is ended."""
TOO_LONG = Failure("TimeoutError")
_ANSWER = "hlteval.lsp.actions:answer"
_LIMITS = Limits(megabytes=8000)
"""Limits of a worker: those of a submission of a pipeline."""


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
        self._program: Program | None = None
        self._lock = asyncio.Lock()
        self._sent: dict[str, Buffer] = {}

    async def start(self) -> None:
        """Start the process, which begins to import what it needs."""
        async with self._lock:
            self._start()

    def _start(self) -> Program:
        if self._program is None:
            self._sent = {}
            self._program = Program(_ANSWER, limits=_LIMITS)
        return self._program

    async def answer(self, order: Order) -> Any:
        """The answer to an order, or a `Failure`."""
        async with self._lock:
            program = self._start()
            changed = replace(order, buffers=self._changes(order.buffers))
            try:
                return await program.answer(Call(_ANSWER, (changed,)), SECONDS)
            except ProcessEnded as ended:
                self._forget(program)
                return TOO_LONG if ended.status is None else Failure("ended")
            except asyncio.CancelledError:
                self._forget(program)
                raise

    def _changes(self, buffers: Mapping[str, Buffer | None]) -> dict[str, Buffer | None]:
        """The buffers that the process has not, or otherwise; None for those that were closed."""
        present = {key: buffer for key, buffer in buffers.items() if buffer is not None}
        changed: dict[str, Buffer | None] = {
            key: buffer for key, buffer in present.items() if self._sent.get(key) is not buffer
        }
        changed |= dict.fromkeys(self._sent.keys() - present.keys())
        self._sent = present
        return changed

    def _forget(self, program: Program) -> None:
        if self._program is program:
            self._program = None

    def end(self) -> None:
        """End the process, whatever it does; it starts again with the next order."""
        if self._program is not None:
            self._program.kill()
            self._program = None

    async def close(self) -> None:
        """End the process, and wait until it has ended."""
        if (program := self._program) is not None:
            self._program = None
            await asyncio.to_thread(program.end)

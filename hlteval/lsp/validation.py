"""When documents are validated: after a pause, one order at a time, and the newest text wins."""

from __future__ import annotations

import asyncio

from hlteval.lsp.orders import Failure, Order
from hlteval.lsp.process import Worker
from hlteval.lsp.session import Session

QUIET = 0.2
"""Seconds without a change before documents are validated."""
PATIENCE = 2.0
"""Seconds after the first change when they are in any case."""
SHORT = 1.0
"""Seconds that an outdated validation may take; starting a worker again takes as long."""


class Validation:
    """Validates what waits in a session.

    Args:
        session: the session.
        worker: validates.
        quiet: seconds without a change before it does.
    """

    def __init__(self, session: Session, worker: Worker, quiet: float = QUIET) -> None:
        self.session, self.worker, self.quiet = session, worker, quiet
        self._first = self._last = self._began = 0.0
        self._order: Order | None = None
        self._task: asyncio.Task[None] | None = None
        self._ending: asyncio.TimerHandle | None = None

    def notice(self) -> None:
        """Something waits: it is validated after a pause."""
        loop = asyncio.get_running_loop()
        self._last = loop.time()
        if self._task is None or self._task.done():
            self._first = self._last
            self._task = loop.create_task(self._work())
        if self._order is not None and self.session.is_outdated and self._ending is None:
            wait = max(self.quiet, SHORT - (self._last - self._began))
            self._ending = loop.call_later(wait, self._end_outdated, self._order)

    def _end_outdated(self, order: Order) -> None:
        """End a validation whose answer nobody wants any more."""
        self._ending = None
        if order is self._order:
            self.worker.end()

    async def _work(self) -> None:
        while self.session.waiting:
            await self._pause()
            if (order := self.session.next_order()) is None:
                return
            self._order, self._began = order, asyncio.get_running_loop().time()
            answer = await self.worker.answer(order)
            self._order, self._first = None, asyncio.get_running_loop().time()
            if answer == Failure("ended") and self.session.is_outdated:
                self.session.retry()
            else:
                self.session.take(answer)

    async def _pause(self) -> None:
        """Wait until nothing has changed for a moment, but not for ever."""
        loop = asyncio.get_running_loop()
        while (now := loop.time()) < min(self._last + self.quiet, self._first + PATIENCE):
            await asyncio.sleep(min(self._last + self.quiet, self._first + PATIENCE) - now)

    async def close(self) -> None:
        """End whatever goes on."""
        if self._ending is not None:
            self._ending.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

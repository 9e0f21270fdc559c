"""What a worker does: the answers to orders, from the buffers that it was sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hlteval.lsp.buffers import Buffer
from hlteval.lsp.fixes import edits
from hlteval.lsp.judging import unit_results
from hlteval.lsp.links import links
from hlteval.lsp.orders import Failure, Order


@dataclass
class Answers:
    """The answers to orders, one after the other.

    Attributes:
        buffers: by key, as all orders so far have left them.
    """

    buffers: dict[str, Buffer] = field(default_factory=dict)

    def answer(self, order: Order) -> Any:
        """The answer to an order, or a `Failure` for an error of the program."""
        try:
            return self.perform(order)
        except Exception as error:
            return Failure(type(error).__name__)

    def perform(self, order: Order) -> Any:
        """The answer to an order: a list of `UnitResult`, edits, or `Links`."""
        self._take(order.buffers)
        if order.kind == "judge":
            return list(unit_results(order, self.buffers))
        return edits(order, self.buffers) if order.kind == "fix" else links(order, self.buffers)

    def _take(self, changed: Mapping[str, Buffer | None]) -> None:
        for key, buffer in changed.items():
            if buffer is None:
                self.buffers.pop(key, None)
            else:
                self.buffers[key] = buffer

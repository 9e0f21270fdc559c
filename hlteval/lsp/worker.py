"""The program of a worker: orders from standard input, answers to standard output."""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
from contextlib import suppress
from typing import BinaryIO

LENGTH = struct.Struct(">Q")
"""The length of an order or of an answer, before it."""
_MEMORY = 8_000_000_000
"""Bytes that a worker may use: as a submission of a pipeline."""


def main() -> None:
    """Answer orders until the server ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides
    orders, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that is printed gets among the answers
    _limit_memory()
    from hlteval.lsp.actions import Answers

    results = Answers()
    with suppress(BrokenPipeError):
        while (order := _next(orders)) is not None:
            content = pickle.dumps(results.answer(pickle.loads(order)))  # noqa: S301 - from our own process
            answers.write(LENGTH.pack(len(content)) + content)
            answers.flush()


def _next(orders: BinaryIO) -> bytes | None:
    """The next order; None at the end."""
    head = orders.read(LENGTH.size)
    return orders.read(*LENGTH.unpack(head)) if len(head) == LENGTH.size else None


def _limit_memory() -> None:
    """Limit the memory of this process, where the system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        least = _MEMORY if most == resource.RLIM_INFINITY else min(_MEMORY, most)
        resource.setrlimit(resource.RLIMIT_AS, (least, most))


if __name__ == "__main__":
    main()

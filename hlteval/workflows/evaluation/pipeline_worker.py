"""The program of the workers of a pipeline: orders from standard input, outcomes to its output."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from queue import SimpleQueue
from threading import Thread
from typing import Any

from hlteval.extensions import resolve

_MEGABYTE = 1_000_000


def main() -> None:
    """Do orders until there are no more."""
    function, megabytes = sys.argv[1], int(sys.argv[2])
    with os.fdopen(os.dup(1), "wb") as outcomes:
        os.dup2(2, 1)  # nothing that is printed gets among the outcomes
        perform = resolve(function)
        _limit_memory(megabytes)
        orders: SimpleQueue[Any] = SimpleQueue()
        Thread(target=_receive, args=[orders], daemon=True).start()
        while True:
            outcome = perform(orders.get())
            pickle.dump(outcome, outcomes)
            outcomes.flush()


def _receive(orders: SimpleQueue[Any]) -> None:
    """Take orders; at the end of the input the pipeline has ended, and so does this process.

    What it started, such as a Java program, is in its group of processes and ends, too.
    """
    try:
        while True:
            orders.put(pickle.load(sys.stdin.buffer))  # noqa: S301 - from our own process
    finally:
        os.killpg(os.getpgrp(), signal.SIGKILL)


def _limit_memory(megabytes: int) -> None:
    """Limit the memory of this process, where the system can."""
    import resource

    if megabytes:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = megabytes * _MEGABYTE
        least = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_AS, (least, most))


if __name__ == "__main__":
    main()

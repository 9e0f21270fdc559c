"""Program of all processes of `pool`: calls from standard input, answers to its output."""

import os
import pickle
import signal
import sys
from queue import SimpleQueue
from threading import Thread
from typing import Any

from hlteval.extensions import resolve
from hlteval.workflows.processes.pool import Call, Limits, Message

_MEGABYTE = 1_000_000


def main() -> None:
    """Answer calls until there are no more."""
    preload, limits = sys.argv[1], Limits(*map(int, sys.argv[2:]))
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # nothing that is printed gets among the answers

        def send(value: Any, *, is_result: bool = False) -> None:
            pickle.dump(Message(value, is_result), answers)
            answers.flush()

        _limit(limits)
        resolve(preload)
        calls: SimpleQueue[Call] = SimpleQueue()
        Thread(target=_receive, args=[calls], daemon=True).start()
        while True:
            call = calls.get()
            arguments = (*call.arguments, send) if call.reports else call.arguments
            send(resolve(call.function)(*arguments), is_result=True)


def _limit(limits: Limits) -> None:
    """Limit this process and those that it starts, where the system can."""
    if sys.platform == "win32":
        return
    import resource

    wanted = {
        resource.RLIMIT_AS: limits.megabytes * _MEGABYTE,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_FSIZE: limits.file_megabytes * _MEGABYTE,
    }
    for kind, limit in wanted.items():
        if limit:
            _, most = resource.getrlimit(kind)
            least = limit if most == resource.RLIM_INFINITY else min(limit, most)
            resource.setrlimit(kind, (least, least))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _receive(calls: SimpleQueue[Call]) -> None:
    """Take calls; at the end of the input, end this process and its group."""
    try:
        while True:
            calls.put(pickle.load(sys.stdin.buffer))  # noqa: S301 - from our own process
    finally:
        if sys.platform != "win32":
            os.killpg(os.getpgrp(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()

"""The program of one job: its progress and nothing else goes to its output, a line each.

It waits for the folder of the job on its input, so that it can be started before there is one. When
the server ends, the input ends too, and so does this process with all that it started.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path
from threading import Thread

import msgspec

from hlteval.serve.settings import SCRATCH, Progress

_MEGABYTE = 1_000_000
_WRITTEN = 2_000
"""Megabytes that a file may have that is written."""


def main() -> None:
    """Do a job, then end."""
    _limit(int(sys.argv[1]), int(sys.argv[2]))
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)  # nothing that is printed gets among the progress
        _prepare()
        with os.fdopen(os.dup(0), "rb", 0) as orders:  # without a buffer that threads would share
            if not (line := orders.readline().strip()):
                return
        Thread(target=_end_with_server, daemon=True).start()
        from hlteval.serve.work import perform

        def report(progress: Progress) -> None:
            output.write(msgspec.json.encode(progress) + b"\n")
            output.flush()

        folder = Path(os.fsdecode(line))
        _settle(folder / SCRATCH)
        perform(folder, report)


def _prepare() -> None:
    """Import what every job needs, while nobody waits."""


def _settle(scratch: Path) -> None:
    """Let all temporary files be in a folder of the job."""
    scratch.mkdir(mode=0o700)
    os.environ |= {"TMPDIR": str(scratch), "HOME": str(scratch)}
    tempfile.tempdir = None


def _end_with_server() -> None:
    """Wait for the end of the input."""
    while os.read(0, 1024):
        pass
    if hasattr(os, "killpg"):
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGTERM)


def _limit(megabytes: int, seconds: int) -> None:
    """Limit memory, CPU time and the size of files, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {
        resource.RLIMIT_AS: megabytes * _MEGABYTE,
        resource.RLIMIT_CPU: 2 * seconds,
        resource.RLIMIT_FSIZE: _WRITTEN * _MEGABYTE,
        resource.RLIMIT_CORE: 0,
    }
    for kind, wanted in limits.items():
        _, most = resource.getrlimit(kind)
        least = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(kind, (least, least))


if __name__ == "__main__":
    main()

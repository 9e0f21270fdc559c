"""The worker process, which runs trials and prints a line before and after each one.

It exits with a traceback when a trial takes too long; the parent process continues with the next
number.
"""

from __future__ import annotations

import faulthandler
import json
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from fuzz.minimising import minimise
from fuzz.mutations import Files, combine
from fuzz.trial import Outcome, generate, run_trial, write_files

HANG = 30
"""CPU time in seconds after which a trial is ended."""
MINIMISING = 600
"""CPU time in seconds for making a failing input small."""
WAIT = 600
"""Wall time in seconds after which a trial is ended: it waits for something."""
ADDRESSES = 16 << 30
"""Maximum address space of the process in bytes."""


def main() -> None:
    """Run trials from a first number, up to a number of mutations; save failing inputs."""
    reader, number, mutations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    failing, seen = Path(sys.argv[4], reader), set(json.loads(sys.argv[5]))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    faulthandler.register(signal.SIGXCPU, chain=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        while mutations > 0:
            report(start=number)
            faulthandler.dump_traceback_later(WAIT, exit=True)
            limit(HANG)
            subjects = generate(reader, number)
            outcome = run_trial(reader, number, combine(subjects), Path(scratch, "trial"))
            faulthandler.cancel_dump_traceback_later()
            kind = failure_kind(outcome)
            if kind and kind not in seen:
                seen.add(kind)
                limit(MINIMISING)
                _save(reader, number, subjects, outcome, failing)
            values = outcome._asdict() | {"failure": kind, "report": ""}
            report(done=number, mutations=len(subjects), **values)
            mutations -= len(subjects)
            number += 1


def limit(seconds: int) -> None:
    """End the process, with a traceback, after some more seconds of CPU time."""
    spent = int(time.process_time())
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (spent + seconds, hard))


def report(**values: object) -> None:
    """Print a line of JSON for the parent process."""
    sys.stdout.write(f"{json.dumps(values)}\n")
    sys.stdout.flush()


def failure_kind(outcome: Outcome) -> str:
    """The failure of a trial without its numbers, so that it is saved once."""
    return outcome.failure.partition(": ")[0]


def _save(
    reader: str, number: int, subjects: Sequence[Files], outcome: Outcome, folder: Path
) -> None:
    """Write a failing input, as generated and minimised."""

    def fails(candidate: Files) -> bool:
        other = run_trial(reader, number, candidate, folder / "trial")
        return failure_kind(other) == failure_kind(outcome)

    single = (subject for subject in subjects if len(subjects) > 1 and fails(subject))
    subject = next(single, combine(subjects))
    small = subject if outcome.failure.startswith(("slow", "memory")) else minimise(subject, fails)
    for name, files in ((f"{number}", subject), (f"{number}-small", small)):
        write_files(files, folder / name)
        (folder / name / "report.txt").write_text(outcome.report, "utf-8")


if __name__ == "__main__":
    main()

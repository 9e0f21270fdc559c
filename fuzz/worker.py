"""The worker process, which runs trials and prints a line before and after each one.

It exits with a traceback when a trial takes too long; the parent process continues with the next
number.
"""

from __future__ import annotations

import faulthandler
import json
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fuzz.minimising import minimise
from fuzz.mutations import Files, combine
from fuzz.trial import Outcome, generate, run_trial, write_files

CLOCK = 30
"""Maximum wall time of a trial in seconds."""
ADDRESSES = 16 << 30
"""Maximum address space of the process in bytes."""


def main() -> None:
    """Run trials from a first number, up to a number of mutations; save failing inputs."""
    reader, number, mutations, failing = (
        sys.argv[1],
        int(sys.argv[2]),
        int(sys.argv[3]),
        sys.argv[4],
    )
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    seen: set[str] = set(json.loads(sys.argv[5]))
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        while mutations > 0:
            report(start=number)
            faulthandler.dump_traceback_later(CLOCK, exit=True)
            subjects = generate(reader, number)
            outcome = run_trial(reader, number, combine(subjects), Path(scratch, "trial"))
            faulthandler.cancel_dump_traceback_later()
            if outcome.failure and failure_kind(outcome) not in seen:
                seen.add(failure_kind(outcome))
                _save(reader, number, subjects, outcome, Path(failing, reader))
            values = outcome._asdict() | {"failure": failure_kind(outcome), "report": ""}
            report(done=number, mutations=len(subjects), **values)
            mutations -= len(subjects)
            number += 1


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
        return failure_kind(run_trial(reader, number, candidate, folder / "trial")) == failure_kind(
            outcome
        )

    single = (subject for subject in subjects if len(subjects) > 1 and fails(subject))
    subject = next(single, combine(subjects))
    small = subject if outcome.failure.startswith(("slow", "memory")) else minimise(subject, fails)
    for name, files in ((f"{number}", subject), (f"{number}-small", small)):
        write_files(files, folder / name)
        (folder / name / "report.txt").write_text(outcome.report, "utf-8")


if __name__ == "__main__":
    main()

"""The process in which trials run: a line is told before and after each, so that none is lost.

It ends itself, with the stack, when a trial takes too long by the clock; whoever started it goes on
with the next number.
"""

from __future__ import annotations

import faulthandler
import json
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fuzz.minimising import minimised
from fuzz.mutations import Files, together
from fuzz.trial import Outcome, drawn, placed, tried

CLOCK = 30
"""Seconds by the clock, on a machine that has other things to do."""
ADDRESSES = 16 << 30
"""Bytes of addresses; what takes more ends the process."""


def main() -> None:
    """Run trials from a number on, for some mutations; keep what fails below a folder."""
    reader, number, wanted, failing = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    seen: set[str] = set(json.loads(sys.argv[5]))
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        while wanted > 0:
            tell(start=number)
            faulthandler.dump_traceback_later(CLOCK, exit=True)
            listed = drawn(reader, number)
            outcome = tried(reader, number, together(listed), Path(scratch, "trial"))
            faulthandler.cancel_dump_traceback_later()
            if outcome.fault and kind(outcome) not in seen:
                seen.add(kind(outcome))
                _keep(reader, number, listed, outcome, Path(failing, reader))
            told = outcome._asdict() | {"fault": kind(outcome), "report": ""}
            tell(done=number, mutations=len(listed), **told)
            wanted -= len(listed)
            number += 1


def tell(**said: object) -> None:
    """A line for whoever started this process."""
    sys.stdout.write(f"{json.dumps(said)}\n")
    sys.stdout.flush()


def kind(outcome: Outcome) -> str:
    """A fault without its numbers, so that it is kept once."""
    return outcome.fault.partition(": ")[0]


def _keep(
    reader: str, number: int, listed: Sequence[Files], outcome: Outcome, folder: Path
) -> None:
    """Write what fails, as it was drawn and as small as it gets."""

    def fails(candidate: Files) -> bool:
        return kind(tried(reader, number, candidate, folder / "trial")) == kind(outcome)

    single = (one for one in listed if len(listed) > 1 and fails(one))
    given = next(single, together(listed))
    small = given if outcome.fault.startswith(("slow", "memory")) else minimised(given, fails)
    for name, files in ((f"{number}", given), (f"{number}-small", small)):
        placed(files, folder / name)
        (folder / name / "report.txt").write_text(outcome.report, "utf-8")


if __name__ == "__main__":
    main()

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
from pathlib import Path

from fuzz.minimising import minimised
from fuzz.mutations import Files
from fuzz.trial import drawn, placed, tried

CLOCK = 30
"""Seconds by the clock, on a machine that has other things to do."""
ADDRESSES = 16 << 30
"""Bytes of addresses; what takes more ends the process."""


def main() -> None:
    """Run the trials from one number to another; keep what fails below a folder."""
    reader, first, last, failing = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    seen: set[str] = set(json.loads(sys.argv[5]))
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        for number in range(first, last):
            print(json.dumps({"start": number}), flush=True)
            faulthandler.dump_traceback_later(CLOCK, exit=True)
            given = drawn(reader, number)
            outcome = tried(reader, number, given, Path(scratch, "trial"))
            faulthandler.cancel_dump_traceback_later()
            if outcome.fault and outcome.fault not in seen:
                seen.add(outcome.fault)
                _keep(reader, number, given, outcome.fault, outcome.report, Path(failing, reader))
            told = outcome._asdict() | {"done": number, "report": ""}
            print(json.dumps(told), flush=True)


def _keep(
    reader: str, number: int, given: Files, fault: str, report: str, folder: Path
) -> None:
    """Write what fails, as it was drawn and as small as it gets."""
    placed(given, folder / f"{number}")
    (folder / f"{number}" / "report.txt").write_text(report, "utf-8")
    if fault.startswith(("slow", "memory")):
        return

    def fails(candidate: Files) -> bool:
        return tried(reader, number, candidate, folder / "trial").fault == fault

    small = minimised(given, fails)
    placed(small, folder / f"{number}-small")
    (folder / f"{number}-small" / "report.txt").write_text(report, "utf-8")


if __name__ == "__main__":
    main()

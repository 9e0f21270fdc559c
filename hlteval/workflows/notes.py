"""Notes about a submission that was scored, for readers of its scores."""

from __future__ import annotations

from collections.abc import Collection

from hlteval.findings import Finding
from hlteval.results.verdict import Verdict


def despite(judged: Verdict) -> tuple[str, ...]:
    """The findings that block, in spite of which was scored, in one note; none if none blocks."""
    blocking = [finding for finding in judged.findings if finding.blocking]
    if not blocking:
        return ()
    codes = ", ".join(sorted({finding.code for finding in blocking}))
    number = f"{len(blocking):,} blocking finding" + "s" * (len(blocking) > 1)
    return (
        f"scored despite {number} ({codes}): missing documents and "
        "unreadable records are left out, all other records count as written",
    )


def noted_warnings(judged: Verdict, noted: Collection[str]) -> tuple[str, ...]:
    """The warnings about files of options, which no other command shows, and some others.

    Args:
        judged: the verdict.
        noted: the codes of these others.
    """
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in judged.findings:
        if finding.severity != "warning":
            continue
        if finding.side.startswith("--") or (finding.code in noted and not finding.blocking):
            found.setdefault((finding.side, finding.code), []).append(finding)
    notes = []
    for (side, code), same in found.items():
        more = f", and {len(same) - 1:,} more" if len(same) > 1 else ""
        where = f"{same[0].file}{same[0].position}"
        hint = f"; {same[0].help}" if code in noted else ""
        notes.append(f"{side}: {where}: {same[0].message}{hint} ({code}){more}")
    return tuple(notes)

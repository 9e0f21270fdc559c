"""Notes about a submission that was scored, for readers of its scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from hlteval.findings import Finding
from hlteval.results.verdict import Verdict
from hlteval.tasks.task import Task


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
        where = f": {same[0].file}{same[0].position}" if same[0].file else ""
        hint = f"; {same[0].help}" if code in noted else ""
        notes.append(f"{side}{where}: {same[0].message}{hint} ({code}){more}")
    return tuple(notes)


def of_this_size(task: Task, names: Iterable[str], documents: int) -> Iterator[str]:
    """The note about intervals of measures whose mean grows with the number of documents.

    Args:
        task: the task.
        names: the metrics that have intervals.
        documents: the number of documents that were scored.
    """
    grow = [name for name in names if (found := task.statistic(name)) and found.grows]
    if grow:
        listed = ", ".join(dict.fromkeys(name.partition(".")[0] for name in grow))
        yield (
            f"intervals of {listed} are for corpora of {documents:,} documents: with more "
            "documents, these values are higher on average; see biased measures in "
            "docs/intervals.md"
        )

"""The report of a verdict, and of a refusal to score."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from hlteval.reports.html.finding_sections import FindingList, finding_sections
from hlteval.reports.html.page import Page, Tab
from hlteval.reports.html.sections import Copied, Fact, Headline, Notes, Section
from hlteval.reports.refusal import Refusal
from hlteval.results.verdict import Verdict
from hlteval.tasks import known, load


def verdict_page(verdict: Verdict, parent: tuple[str, str] | None = None) -> Page:
    """The report of validation: how many findings of each code, and each with its line.

    Args:
        verdict: the verdict.
        parent: a link to the page that this one belongs to, and its text.
    """
    tabs = [Tab("Findings", [_counts(verdict), *finding_sections(verdict)])]
    return Page(title(verdict.task), about(verdict), tabs, verdict.outcome, parent)


def refusal_page(refusal: Refusal, parent: tuple[str, str] | None = None) -> Page:
    """The report of a submission of which nothing was scored: why, and what to do.

    Args:
        refusal: the reason, with the verdict of validation.
        parent: a link to the page that this one belongs to, and its text.
    """
    verdict = refusal.verdict
    tabs = [
        Tab("Refusal", list(_refused(refusal))),
        Tab("All findings", [_counts(verdict), *finding_sections(verdict)], found(verdict)),
    ]
    return Page(title(verdict.task), about(verdict), tabs, "refused", parent)


def title(task: str) -> str:
    """The title of a task; its name for one that is not known."""
    return load(task).title if task in known() else task or "Findings"


def about(verdict: Verdict) -> list[tuple[str, str]]:
    """What was checked, against what, and how much was read."""
    read = [("documents", verdict.documents), ("records", verdict.records)]
    return [
        ("task", verdict.task),
        ("profile", verdict.profile),
        *((side, path) for side, path in verdict.paths.items() if path),
        *((name, f"{count:,}") for name, count in read if count is not None),
    ]


def found(verdict: Verdict) -> int:
    """The number of findings, with those that are only counted."""
    return sum(finding.count for finding in verdict.findings)


def _counts(verdict: Verdict) -> Headline:
    counts = verdict.by_severity.items()
    return Headline(facts=[Fact(f"{name}s", f"{count:,}") for name, count in counts])


def _refused(refusal: Refusal) -> Iterator[Section]:
    """The reason and what to do, the findings that are the reason, and the command for the rest."""
    yield Notes("Nothing was scored", warnings=[refusal.reason], notes=[refusal.help])
    if refusal.blocking:
        yield FindingList("The reason", findings=refusal.blocking)
    if refusal.command:
        yield Copied("Command", "It reports all findings.", text=shlex.join(refusal.command))

"""Validation: every problem of a submission in one run."""

from __future__ import annotations

from collections.abc import Iterator

from hlteval.findings import Finding, in_order
from hlteval.reports.verdict import Verdict
from hlteval.runs.batches import Pair, Submission, submission
from hlteval.tasks import load
from hlteval.validators import Case, apply


def validate(task: str, path: str, *, against: str | None = None, profile: str = "plan") -> Verdict:
    """Check a submission.

    Args:
        task: name of the task.
        path: the submission: a folder, file, archive, or `-`.
        against: the documents it is for, in the same forms; not needed where it brings its own.
        profile: `plan`: errors fail; `official`: what the official software refuses fails.

    Raises:
        KeyError: for an unknown task.
        FileNotFoundError: if a path does not exist.
        hlteval.runs.batches.NothingGiven: if there is nothing to check against.
    """
    opened = submission(load(task), path, against)
    findings = list(outside(opened))
    for pair in opened.pairs():
        findings.extend(inside(opened, pair))
    return verdict(task, profile, findings)


def outside(opened: Submission) -> Iterator[Finding]:
    """What is wrong with the sources, and with the submission as a package."""
    yield from opened.system.findings
    yield from opened.reference.findings if opened.reference else ()
    yield from opened.task.package(opened.package)


def inside(opened: Submission, pair: Pair) -> Iterator[Finding]:
    """What is wrong with the records of a batch."""
    yield from pair.system.findings
    if pair.reference is not pair.system:
        yield from pair.reference.findings
    case = Case(pair.system.corpus, pair.reference.corpus, opened.task.schema())
    yield from apply(opened.task.rules, case, pair.system.members, opened.format)


def verdict(task: str, profile: str, findings: list[Finding]) -> Verdict:
    """The findings in order, and whether the submission passes in a profile."""
    fails = (lambda f: f.blocking) if profile == "official" else (lambda f: f.severity == "error")
    return Verdict(
        task=task,
        profile=profile,
        passed=not any(fails(finding) for finding in findings),
        findings=tuple(in_order(findings)),
    )

"""The verdict of validation: whether a submission passes, and its findings."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Literal

import msgspec

from hlteval.extensions import lazy
from hlteval.findings import SUBMISSION, Findings, Severity, in_order
from hlteval.findings.sequence import severities, tally
from hlteval.results.defaults import Defaults
from hlteval.results.versions import head

Outcome = Literal["pass", "fail", "undecided"]


class _InOrder(Findings):
    """Findings that are sorted, without duplicates."""

    __slots__ = ()


class Verdict(msgspec.Struct, frozen=True):
    """The verdict of validation.

    `passed` does not follow from the findings: an official checker may accept errors.

    Attributes:
        task: name of the task; empty for findings without a task, such as those of a conversion.
        profile: `plan` or `official`; empty without a task.
        passed: whether the submission is valid in that profile.
        findings: the findings of all sides, sorted by side, file, line, column and code, without
            duplicates.
        side: whose verdict it is: findings of other sides do not make it fail.
        decided: whether there is a verdict; without a usable reference there is none.
        paths: the path of each side that was read.
        documents: the number of documents that were read of what is judged; None if it is no matter
            of reading.
        records: the number of their records, such as mentions, frames, segments or tokens, with
            those that cannot be read.
        compared: what the records were compared with, where that depends on the arguments.
        files_judged: the paths of the files of what is judged, if they are known.
        defaults: what was taken from a file of defaults; None if nothing was.

    Examples:
        >>> verdict = Verdict("seedev-binary", "plan", passed=True)
        >>> verdict.by_severity, verdict.worst
        ({'error': 0, 'warning': 0, 'info': 0}, None)
    """

    task: str
    profile: str
    passed: bool
    findings: Findings = Findings()
    side: str = SUBMISSION
    decided: bool = True
    paths: Mapping[str, str] = {}
    documents: int | None = None
    records: int | None = None
    compared: str = ""
    files_judged: tuple[str, ...] = ()
    defaults: Defaults | None = None

    def __post_init__(self) -> None:
        # A changed copy has the same findings most of the time: they are sorted once.
        if not isinstance(self.findings, _InOrder):
            msgspec.structs.force_setattr(self, "findings", _InOrder(in_order(self.findings)))

    def __repr__(self) -> str:
        head = f"{self.task}, profile {self.profile}: " if self.task else ""
        return f"<Verdict: {head}{self.outcome}; {severities(self.findings) or 'no findings'}>"

    def _repr_html_(self) -> str:
        html: str = lazy("hlteval.reports.notebook:verdict")(self)
        return html

    def to_dict(self) -> dict[str, Any]:
        """The verdict in plain types, as `hlteval validate --format json` prints it."""
        return {
            **head("verdict"),
            "task": self.task,
            "profile": self.profile,
            "verdict": self.outcome,
            "side": self.side,
            "documents": self.documents,
            "records": self.records,
            **msgspec.to_builtins(self.more),
            "counts": self.counts,
            "findings": self.findings.to_dict(),
        }

    @property
    def more(self) -> dict[str, Any]:
        """The members of its JSON that only some verdicts have."""
        members = {"compared": self.compared, "defaults": self.defaults}
        return {name: value for name, value in members.items() if value}

    @property
    def outcome(self) -> Outcome:
        """`pass` or `fail`; `undecided` if the reference cannot be used.

        Examples:
            >>> Verdict("seedev-binary", "plan", passed=True).outcome
            'pass'
        """
        if not self.decided:
            return "undecided"
        return "pass" if self.passed else "fail"

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides with findings, that of the verdict first."""
        found = dict.fromkeys(finding.side for finding in self.findings)
        return tuple(sorted(found, key=lambda side: side != self.side))

    def of(self, side: str) -> Verdict:
        """The same verdict with the findings of one side only."""
        own = Findings(finding for finding in self.findings if finding.side == side)
        return msgspec.structs.replace(self, findings=own)

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """The number of findings by severity, by code and by side."""
        sides = dict(tally(self.findings, attrgetter("side")))
        return {"severity": self.by_severity, "code": self.by_code, "side": sides}

    @property
    def by_severity(self) -> dict[str, int]:
        """The number of findings of each severity, most severe first."""
        counts = tally(self.findings, attrgetter("severity"))
        return {severity.value: counts[severity] for severity in Severity}

    @property
    def by_code(self) -> dict[str, int]:
        """The number of findings of each code with findings, sorted by code."""
        return dict(sorted(tally(self.findings, attrgetter("code")).items()))

    @property
    def files(self) -> int:
        """The number of files with findings."""
        return len({finding.file for finding in self.findings} - {None})

    @property
    def worst(self) -> Severity | None:
        """The highest severity of the findings of its side; None without findings."""
        found = {finding.severity for finding in self.findings if finding.side == self.side}
        return next((severity for severity in Severity if severity in found), None)

    def reaches(self, severity: Severity) -> bool:
        """Whether a finding of its side has at least a given severity.

        Examples:
            >>> Verdict("seedev-binary", "plan", passed=True).reaches(Severity.INFO)
            False
        """
        return self.worst is not None and self.worst.rank <= severity.rank

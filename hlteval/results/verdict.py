"""The verdict of validation: whether a submission passes, and its findings."""

from __future__ import annotations

from collections import Counter

import msgspec

from hlteval.findings import Finding, Severity, in_order


class Verdict(msgspec.Struct, frozen=True):
    """The verdict of validation.

    `passed` does not follow from the findings: an official checker may accept errors.

    Attributes:
        task: name of the task; empty for findings without a task, such as those of a conversion.
        profile: `plan` or `official`; empty without a task.
        passed: whether the submission is valid in that profile.
        findings: the findings, sorted by file, line, column and code, without duplicates.

    Examples:
        >>> verdict = Verdict("seedev-binary", "plan", passed=True)
        >>> verdict.by_severity, verdict.worst
        ({'error': 0, 'warning': 0, 'info': 0}, None)
    """

    task: str
    profile: str
    passed: bool
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "findings", tuple(in_order(self.findings)))

    @property
    def by_severity(self) -> dict[str, int]:
        """The number of findings of each severity, most severe first."""
        counts = Counter(finding.severity for finding in self.findings)
        return {severity.value: counts[severity] for severity in Severity}

    @property
    def by_code(self) -> dict[str, int]:
        """The number of findings of each code with findings, sorted by code."""
        return dict(sorted(Counter(finding.code for finding in self.findings).items()))

    @property
    def files(self) -> int:
        """The number of files with findings."""
        return len({finding.file for finding in self.findings} - {None})

    @property
    def worst(self) -> Severity | None:
        """The highest severity of all findings; None without findings."""
        found = {finding.severity for finding in self.findings}
        return next((severity for severity in Severity if severity in found), None)

    def reaches(self, severity: Severity) -> bool:
        """Whether a finding has at least a given severity.

        Examples:
            >>> Verdict("seedev-binary", "plan", passed=True).reaches(Severity.INFO)
            False
        """
        return self.worst is not None and self.worst.rank <= severity.rank

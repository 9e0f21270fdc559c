"""The verdict: whether a submission passed, and everything that was found."""

from __future__ import annotations

from collections import Counter

import msgspec

from hlteval.findings import Finding, Severity, in_order


class Verdict(msgspec.Struct, frozen=True):
    """What validation of a submission came to.

    `passed` is given and not derived: an official checker may pass what has errors.

    Attributes:
        task: name of the task; empty where findings are shown that no task judges.
        profile: `plan` or `official`; empty like the task.
        passed: whether the submission is acceptable in that profile.
        findings: by file, line, column and code, each once, in whatever order they were given.

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
        """The number of findings of each severity, the worst first."""
        counts = Counter(finding.severity for finding in self.findings)
        return {severity.value: counts[severity] for severity in Severity}

    @property
    def by_code(self) -> dict[str, int]:
        """The number of findings of each code that was found, in the order of the codes."""
        return dict(sorted(Counter(finding.code for finding in self.findings).items()))

    @property
    def files(self) -> int:
        """The number of files that something was found in."""
        return len({finding.file for finding in self.findings} - {None})

    @property
    def worst(self) -> Severity | None:
        """The worst severity that was found; None where nothing was."""
        found = {finding.severity for finding in self.findings}
        return next((severity for severity in Severity if severity in found), None)

    def reaches(self, severity: Severity) -> bool:
        """Whether something as bad as this, or worse, was found.

        Examples:
            >>> Verdict("seedev-binary", "plan", passed=True).reaches(Severity.INFO)
            False
        """
        return self.worst is not None and self.worst.rank <= severity.rank

"""The selection of findings by a user, and overrides of their severity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from hlteval.findings import Finding, Severity, catalogue


class UnknownCode(ValueError):
    """No code has a given prefix, or a severity is unknown: a usage error."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The findings that are reported, by code or prefix of codes.

    Attributes:
        select: prefixes of the codes to report; empty for all.
        ignore: prefixes of codes not to report; overrides `select`.
        severities: overrides of the severity, by prefix; the longest matching prefix applies.

    Examples:
        >>> from hlteval.findings import finding
        >>> wrong = [finding("SRC201", offset=3, byte="0xe9", guess="")]
        >>> Selection(ignore=("SRC2",)).of(wrong)
        []
        >>> Selection(severities={"SRC201": Severity.INFO}).of(wrong)[0].severity
        <Severity.INFO: 'info'>
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severities: Mapping[str, Severity] = field(default_factory=dict)

    @classmethod
    def parse(
        cls, select: Iterable[str], ignore: Iterable[str], severities: Iterable[str]
    ) -> Selection:
        """A selection in the notation of the command line: `STD,SEE310`, and `SEE310=warning`.

        Raises:
            UnknownCode: if no code has a prefix, or a severity is unknown.
        """
        levels: dict[str, Severity] = {}
        for assignment in _split(severities):
            code, _, level = assignment.partition("=")
            if level not in list(Severity):
                raise UnknownCode(
                    f"invalid severity {assignment}: use CODE=error, CODE=warning or CODE=info"
                )
            levels[_prefix(code)] = Severity(level)
        return cls(tuple(map(_prefix, _split(select))), tuple(map(_prefix, _split(ignore))), levels)

    def of(self, findings: Iterable[Finding]) -> list[Finding]:
        """The selected findings, with the severities of this selection."""
        return [
            self._override(finding)
            for finding in findings
            if (not self.select or finding.code.startswith(self.select))
            and not finding.code.startswith(self.ignore)
        ]

    def _override(self, finding: Finding) -> Finding:
        prefixes = [prefix for prefix in self.severities if finding.code.startswith(prefix)]
        if not prefixes:
            return finding
        return msgspec.structs.replace(finding, severity=self.severities[max(prefixes, key=len)])


def _split(values: Iterable[str]) -> list[str]:
    """The items of comma-separated lists."""
    return [item.strip() for value in values for item in value.split(",") if item.strip()]


def _prefix(written: str) -> str:
    """A prefix of codes in upper case."""
    prefix = written.upper()
    if not any(code.startswith(prefix) for code in catalogue()):
        raise UnknownCode(f"no code starts with {written}; see docs/codes.md")
    return prefix

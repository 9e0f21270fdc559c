"""Which findings count for a user, and how much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from hlteval.findings import Finding, Severity, catalogue


class UnknownCode(ValueError):
    """No code begins like this, or a severity is none: an error of usage."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The findings that a user wants to see, by code or by the beginning of codes.

    Attributes:
        select: codes that are kept; empty keeps all.
        ignore: codes that are left out all the same.
        severities: other severities than those of the catalogue.

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
        """A selection as on the command line: `STD,SEE310`, and `SEE310=warning`.

        Raises:
            UnknownCode: if no code begins so, or there is no such severity.
        """
        levels: dict[str, Severity] = {}
        for given in _listed(severities):
            code, _, level = given.partition("=")
            if level not in list(Severity):
                raise UnknownCode(
                    f"invalid severity {given}: use CODE=error, CODE=warning or CODE=info"
                )
            levels[_known(code)] = Severity(level)
        chosen, left = map(_known, _listed(select)), map(_known, _listed(ignore))
        return cls(tuple(chosen), tuple(left), levels)

    def of(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that are kept, with the severities that the user gives them."""
        return [self._weighed(finding) for finding in findings if self._kept(finding.code)]

    def _kept(self, code: str) -> bool:
        chosen = not self.select or code.startswith(self.select)
        return chosen and not (self.ignore and code.startswith(self.ignore))

    def _weighed(self, finding: Finding) -> Finding:
        begins = [given for given in self.severities if finding.code.startswith(given)]
        if not begins:
            return finding
        return msgspec.structs.replace(finding, severity=self.severities[max(begins, key=len)])


def _listed(given: Iterable[str]) -> list[str]:
    return [part.strip() for parts in given for part in parts.split(",") if part.strip()]


def _known(beginning: str) -> str:
    upper = beginning.upper()
    if not any(code.startswith(upper) for code in catalogue()):
        raise UnknownCode(f"no code starts with {beginning}; see docs/codes.md")
    return upper

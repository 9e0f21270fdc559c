"""Findings as workflow commands, which GitHub Actions shows as annotations of the lines."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hlteval.findings import SUBMISSION, Finding, Severity
from hlteval.reports.display import visible
from hlteval.results.verdict import Verdict

COMMANDS: Mapping[Severity, str] = MappingProxyType(
    {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
)
"""The workflow commands by severity."""


def github(verdict: Verdict) -> str:
    """One command per finding, with file, line and columns.

    Examples:
        >>> github(Verdict("seedev-binary", "plan", passed=True))
        ''
    """
    return "".join(map(_command, verdict.findings))


def _command(finding: Finding) -> str:
    whose = "" if finding.side == SUBMISSION else f" ({finding.side})"
    properties = {"title": f"{finding.code} {finding.name}{whose}"}
    if finding.file:
        properties = {"file": finding.file} | properties
    if finding.span:
        span = finding.span
        numbers = {"line": span.line, "col": span.column, "endColumn": span.end_column}
        properties |= {name: str(number) for name, number in numbers.items()}
    pairs = ",".join(
        f"{name}={_escape(value).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in properties.items()
    )
    text = "\n".join(filter(None, [finding.message, finding.help]))
    return f"::{COMMANDS[finding.severity]} {pairs}::{_escape(text)}\n"


def _escape(text: str) -> str:
    """The text of a command on one line; a percent sign introduces an escape."""
    return "%0A".join(visible(line) for line in text.replace("%", "%25").split("\n"))

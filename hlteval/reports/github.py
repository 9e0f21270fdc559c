"""Findings as workflow commands, which GitHub Actions shows beside the lines at fault."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hlteval.findings import Finding, Severity
from hlteval.reports.display import visible
from hlteval.results.verdict import Verdict

COMMANDS: Mapping[Severity, str] = MappingProxyType(
    {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
)
"""The commands by severity."""


def github(verdict: Verdict) -> str:
    """One command per finding, with file, line and columns.

    Examples:
        >>> github(Verdict("seedev-binary", "plan", passed=True))
        ''
    """
    return "".join(map(_command, verdict.findings))


def _command(finding: Finding) -> str:
    properties = {"title": f"{finding.code} {finding.name}"}
    if finding.file:
        properties = {"file": finding.file} | properties
    if finding.span:
        span = finding.span
        places = {"line": span.line, "col": span.column, "endColumn": span.end_column}
        properties |= {name: str(place) for name, place in places.items()}
    told = "\n".join(filter(None, [finding.message, finding.help]))
    named = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{COMMANDS[finding.severity]} {named}::{_data(told)}\n"


def _data(text: str) -> str:
    """Text behind a command: a line of its own, in which a percent sign escapes."""
    return "%0A".join(visible(line) for line in text.replace("%", "%25").split("\n"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

"""Findings in SARIF 2.1.0, which code hosts and editors show as annotations of the lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import hlteval
from hlteval.findings import Finding, Severity, catalogue
from hlteval.results.verdict import Verdict

LEVELS: Mapping[Severity, str] = MappingProxyType(
    {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
)
"""The SARIF levels by severity."""


def sarif(verdict: Verdict) -> str:
    """One log with one run, whose rules are the codes found and whose results are the findings.

    Columns are in code points, as declared by `columnKind`, and ends are exclusive.

    Examples:
        >>> log = json.loads(sarif(Verdict("seedev-binary", "plan", passed=True)))
        >>> log["version"], log["runs"][0]["results"]
        ('2.1.0', [])
    """
    rules = {code: index for index, code in enumerate(verdict.by_code)}
    driver = {
        "name": "hlteval",
        "semanticVersion": hlteval.__version__,
        "rules": [_rule(code) for code in rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "properties": {"task": verdict.task, "profile": verdict.profile, "passed": verdict.passed},
        "results": [_result(finding, rules[finding.code]) for finding in verdict.findings],
    }
    return json.dumps({"version": "2.1.0", "runs": [run]}, separators=(",", ":")) + "\n"


def _rule(code: str) -> dict[str, Any]:
    """The catalogue entry of a code as a SARIF rule; only the code if it has no entry."""
    entry = catalogue().get(code)
    if entry is None:
        return {"id": code}
    return {
        "id": code,
        "name": entry.name,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": _prose(entry.why)},
        "help": {"text": _prose(f"{entry.fix}\n\n{entry.clause}")},
        "defaultConfiguration": {"level": LEVELS[entry.severity]},
    }


def _prose(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    optional = {"help": finding.help, "clause": finding.clause, "record": finding.record}
    result = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": LEVELS[finding.severity],
        "message": {"text": finding.message},
        "properties": {"blocking": finding.blocking, "side": finding.side}
        | {name: value for name, value in optional.items() if value},
    }
    if finding.further:
        result["occurrenceCount"] = finding.count
    if finding.file:
        result["locations"] = [{"physicalLocation": _location(finding, finding.file)}]
    return result


def _location(finding: Finding, file: str) -> dict[str, Any]:
    # A path is not a URI: bytes that a URI cannot contain are percent-encoded.
    location: dict[str, Any] = {
        "artifactLocation": {"uri": quote(file.encode("utf-8", "surrogateescape"), safe="/")}
    }
    if finding.span:
        location["region"] = {
            "startLine": finding.span.line,
            "startColumn": finding.span.column,
            "endColumn": finding.span.end_column,
        }
    return location

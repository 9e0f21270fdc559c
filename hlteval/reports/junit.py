"""Findings as a JUnit report, which continuous integration shows as failed tests."""

from __future__ import annotations

from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from hlteval.findings import Finding, Severity
from hlteval.reports.display import visible
from hlteval.results.verdict import Verdict


def junit(verdict: Verdict) -> str:
    """One suite per file and one test per finding; without findings, one passed test.

    Errors are failed tests; warnings and infos are passed tests with output.

    Examples:
        >>> 'failures="0"' in junit(Verdict("seedev-binary", "plan", passed=True))
        True
    """
    root = Element("testsuites", _counts(verdict.findings, name=f"hlteval {verdict.task}".strip()))
    for file, group in groupby(verdict.findings, lambda finding: finding.file):
        findings = tuple(group)
        name = visible(file) if file else "submission"
        suite = SubElement(root, "testsuite", _counts(findings, name=name))
        for finding in findings:
            _case(suite, finding, name)
    if not verdict.findings:
        suite = SubElement(root, "testsuite", _counts((), name="submission"))
        SubElement(suite, "testcase", classname="submission", name="no findings")
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, "unicode") + "\n"


def _counts(findings: tuple[Finding, ...], *, name: str) -> dict[str, str]:
    failures = sum(finding.severity is Severity.ERROR for finding in findings)
    tests = max(1, len(findings))
    return {"name": name, "tests": str(tests), "failures": str(failures), "errors": "0"}


def _case(suite: Element, finding: Finding, name: str) -> None:
    place = f" {finding.span.line}:{finding.span.column}" if finding.span else ""
    case = SubElement(suite, "testcase", classname=name, name=f"{finding.code}{place}")
    message = visible(finding.message)
    lines = [message, f"help: {finding.help}" if finding.help else ""]
    lines += [f"rule: {finding.clause}" if finding.clause else ""]
    body = "\n".join(visible(line) for line in lines if line)
    if finding.severity is Severity.ERROR:
        SubElement(case, "failure", type=finding.code, message=message).text = body
    else:
        SubElement(case, "system-out").text = f"{finding.severity}: {body}"

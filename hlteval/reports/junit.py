"""Findings as a JUnit report, which continuous integration shows as failed tests."""

from __future__ import annotations

from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from hlteval.findings import SUBMISSION, Finding, Severity
from hlteval.reports.display import visible
from hlteval.results.verdict import Verdict


def junit(verdict: Verdict) -> str:
    """One suite per side and file, one test per finding; without findings, one passed test.

    Errors of the side that is judged are failed tests; all other findings are passed tests with
    output.

    Examples:
        >>> 'failures="0"' in junit(Verdict("seedev-binary", "plan", passed=True))
        True
    """
    name = f"hlteval {verdict.task}".strip()
    root = Element("testsuites", _counts(verdict, verdict.findings, name=name))
    for (side, file), group in groupby(verdict.findings, lambda item: (item.side, item.file)):
        findings = tuple(group)
        whose = f"{visible(side)}: " if file and side != SUBMISSION else ""
        name = f"{whose}{visible(file)}" if file else visible(side)
        suite = SubElement(root, "testsuite", _counts(verdict, findings, name=name))
        for finding in findings:
            _case(suite, finding, name, failed=_is_failure(verdict, finding))
    if not verdict.findings:
        suite = SubElement(root, "testsuite", _counts(verdict, (), name=verdict.side))
        SubElement(suite, "testcase", classname=verdict.side, name="no findings")
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, "unicode") + "\n"


def _is_failure(verdict: Verdict, finding: Finding) -> bool:
    """Whether a finding is a failed test: an error of what is judged, or one without a verdict."""
    own = finding.side == verdict.side or not verdict.decided
    return own and finding.severity is Severity.ERROR


def _counts(verdict: Verdict, findings: tuple[Finding, ...], *, name: str) -> dict[str, str]:
    failures = sum(_is_failure(verdict, finding) for finding in findings)
    tests = max(1, len(findings))
    return {"name": name, "tests": str(tests), "failures": str(failures), "errors": "0"}


def _case(suite: Element, finding: Finding, name: str, *, failed: bool) -> None:
    place = finding.position.replace(":", " ", 1)
    case = SubElement(suite, "testcase", classname=name, name=f"{finding.code}{place}")
    message = visible(finding.message)
    lines = [message, f"help: {finding.help}" if finding.help else ""]
    lines += [f"rule: {finding.clause}" if finding.clause else ""]
    body = "\n".join(visible(line) for line in lines if line)
    if failed:
        SubElement(case, "failure", type=finding.code, message=message).text = body
    else:
        SubElement(case, "system-out").text = f"{finding.severity}: {body}"

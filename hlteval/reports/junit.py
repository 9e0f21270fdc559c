"""Findings as a JUnit report, which continuous integration shows as failed tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from hlteval.findings import Finding, Severity
from hlteval.reports.display import visible
from hlteval.results.verdict import Verdict

Cases = Mapping[str, Sequence[Finding]]
"""The findings by file; an empty name is a side as a whole."""


def junit(verdict: Verdict) -> str:
    """One suite per side, one test case per file; what concerns no file is a case of the side.

    A file with errors of the side that is judged is a failed test, which lists all of them; other
    findings are output of the case.

    Examples:
        >>> 'failures="0"' in junit(Verdict("seedev-binary", "plan", passed=True))
        True
    """
    suites = {side: _cases(verdict, side) for side in dict.fromkeys([verdict.side, *verdict.sides])}
    root = Element("testsuites", {"name": f"hlteval {verdict.task}".strip()})
    for side, cases in suites.items():
        counts = _counts(verdict, cases)
        suite = SubElement(root, "testsuite", {"name": visible(_named(verdict, side)), **counts})
        for file, findings in cases.items():
            _case(suite, verdict, file or _named(verdict, side), findings)
    root.attrib |= _counts(verdict, {str(at): item for at, item in enumerate(_all(suites))})
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, "unicode") + "\n"


def _all(suites: Mapping[str, Cases]) -> Iterator[Sequence[Finding]]:
    return (findings for cases in suites.values() for findings in cases.values())


def _cases(verdict: Verdict, side: str) -> Cases:
    """The files of a side, those without findings too, where they are known."""
    own = side == verdict.side
    cases: dict[str, list[Finding]] = {file: [] for file in verdict.files_judged if own}
    for finding in verdict.findings:
        if finding.side == side:
            cases.setdefault(finding.file or "", []).append(finding)
    return dict(sorted(cases.items())) or {"": []}


def _named(verdict: Verdict, side: str) -> str:
    """What a suite is called: the side with its path."""
    path = verdict.paths.get(side, "")
    return f"{side}: {path}" if path else side


def _failures(verdict: Verdict, findings: Sequence[Finding]) -> list[Finding]:
    """Those that fail a test: errors of what is judged, or of any side without a verdict."""
    return [
        finding
        for finding in findings
        if finding.severity is Severity.ERROR
        and (finding.side == verdict.side or not verdict.decided)
    ]


def _counts(verdict: Verdict, cases: Cases) -> dict[str, str]:
    failures = sum(bool(_failures(verdict, findings)) for findings in cases.values())
    counts = {"tests": len(cases), "failures": failures, "errors": 0, "skipped": 0, "time": 0}
    return {name: str(number) for name, number in counts.items()}


def _case(suite: Element, verdict: Verdict, name: str, findings: Sequence[Finding]) -> None:
    classname = f"hlteval.{verdict.task}".strip(".")
    case = SubElement(suite, "testcase", classname=classname, name=visible(name), time="0")
    failures = _failures(verdict, findings)
    if failures:
        count = sum(finding.count or 1 for finding in failures)
        message = f"{count:,} error{'s' * (count > 1)}"
        kinds = ",".join(sorted({finding.code for finding in failures}))
        failure = SubElement(case, "failure", type=kinds, message=message)
        failure.text = "\n".join(map(_shown, failures))
    failed = {id(finding) for finding in failures}
    rest = [finding for finding in findings if id(finding) not in failed]
    if rest:
        SubElement(case, "system-out").text = "\n".join(map(_shown, rest))


def _shown(finding: Finding) -> str:
    """A finding with its place, in a few lines."""
    place = finding.position.removeprefix(":")
    head = f"{place}: " if place else ""
    lines = [f"{head}{finding.severity}[{finding.code}] {finding.message}"]
    lines += [f"  help: {finding.help}"] if finding.help else []
    lines += [f"  rule: {finding.clause}"] if finding.clause else []
    return "\n".join(map(visible, lines))

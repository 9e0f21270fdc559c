"""What a verdict counts."""

from __future__ import annotations

import pytest

from hlteval.findings import Finding, Severity, Span
from hlteval.results.verdict import Verdict


def problem(code: str, severity: str, file: str | None = "a", line: int = 1) -> Finding:
    return Finding(
        code=code,
        name="a-test",
        severity=Severity(severity),
        blocking=False,
        message="wrong",
        file=file,
        span=Span(line, 1, 2) if file else None,
    )


FINDINGS = (
    problem("B2", "warning", "b"),
    problem("A1", "info", "a", 2),
    problem("B2", "warning", "a", 1),
    problem("A1", "info", "a", 2),
    problem("C3", "info", None),
)


def test_findings_are_in_order_and_each_once():
    verdict = Verdict("t", "plan", passed=True, findings=FINDINGS)
    places = [(f.file, f.span.line if f.span else 0, f.code) for f in verdict.findings]
    assert places == [(None, 0, "C3"), ("a", 1, "B2"), ("a", 2, "A1"), ("b", 1, "B2")]
    assert verdict == Verdict("t", "plan", passed=True, findings=FINDINGS[::-1])


def test_counts():
    verdict = Verdict("t", "plan", passed=True, findings=FINDINGS)
    assert list(verdict.by_severity.items()) == [("error", 0), ("warning", 2), ("info", 2)]
    assert list(verdict.by_code.items()) == [("A1", 1), ("B2", 2), ("C3", 1)]
    assert verdict.files == 2


@pytest.mark.parametrize(
    ("severities", "worst", "reached"),
    [
        ([], None, []),
        (["info"], "info", ["info"]),
        (["info", "warning"], "warning", ["warning", "info"]),
        (["error", "info"], "error", ["error", "warning", "info"]),
    ],
)
def test_the_worst_decides_what_is_reached(severities, worst, reached):
    findings = tuple(problem(f"T{n}", severity) for n, severity in enumerate(severities))
    verdict = Verdict("t", "plan", passed=True, findings=findings)
    assert verdict.worst == worst
    assert [severity for severity in Severity if verdict.reaches(severity)] == reached

"""Findings: problems of data as values, and the catalogue of their codes."""

from hlteval.findings.catalogue import Entry, Problem, catalogue, entry, finding, in_order
from hlteval.findings.finding import (
    REFERENCE,
    SUBMISSION,
    Excerpt,
    FieldRef,
    Finding,
    Further,
    Location,
    Severity,
    Span,
    excerpt,
    spot,
)
from hlteval.findings.sequence import (
    MAX_PER_CODE,
    Bounded,
    Findings,
    Item,
    findings_of,
    line_findings,
    part,
    summary,
)

__all__ = [
    "MAX_PER_CODE", "REFERENCE", "SUBMISSION", "Bounded", "Entry", "Excerpt", "FieldRef", "Finding",
    "Findings", "Further", "Item", "Location", "Problem", "Severity", "Span", "catalogue", "entry",
    "excerpt", "finding", "findings_of", "in_order", "line_findings", "part", "spot", "summary",
]  # fmt: skip

"""Findings: problems of data as values, and the catalogue of their codes."""

from hlteval.findings.bounded import MAX_PER_CODE, Bounded, explained, line_findings, part, summary
from hlteval.findings.catalogue import Entry, catalogue, entry, finding, in_order
from hlteval.findings.excerpts import excerpt, spot
from hlteval.findings.finding import (
    REFERENCE,
    SUBMISSION,
    Excerpt,
    Finding,
    Further,
    Severity,
    Span,
)
from hlteval.findings.location import FieldRef, Location
from hlteval.findings.problem import Problem
from hlteval.findings.sequence import Findings, Item

__all__ = [
    "MAX_PER_CODE",
    "REFERENCE",
    "SUBMISSION",
    "Bounded",
    "Entry",
    "Excerpt",
    "FieldRef",
    "Finding",
    "Findings",
    "Further",
    "Item",
    "Location",
    "Problem",
    "Severity",
    "Span",
    "catalogue",
    "entry",
    "excerpt",
    "explained",
    "finding",
    "in_order",
    "line_findings",
    "part",
    "spot",
    "summary",
]

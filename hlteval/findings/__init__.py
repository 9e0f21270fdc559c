"""Findings: problems of data as values, and the catalogue of their codes."""

from hlteval.findings.catalogue import Entry, catalogue, entry, finding, in_order
from hlteval.findings.excerpts import excerpt, spot
from hlteval.findings.finding import REFERENCE, SUBMISSION, Excerpt, Finding, Severity, Span
from hlteval.findings.location import FieldRef, Location
from hlteval.findings.problem import Problem, line_findings
from hlteval.findings.sequence import Findings, Item

__all__ = [
    "REFERENCE",
    "SUBMISSION",
    "Entry",
    "Excerpt",
    "FieldRef",
    "Finding",
    "Findings",
    "Item",
    "Location",
    "Problem",
    "Severity",
    "Span",
    "catalogue",
    "entry",
    "excerpt",
    "finding",
    "in_order",
    "line_findings",
    "spot",
]

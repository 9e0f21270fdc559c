"""Findings in a report: a table of codes, and each finding with its line and a caret."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from hlteval.findings import Finding, entry
from hlteval.reports.display import draw, visible
from hlteval.reports.escapes import printable
from hlteval.reports.html.columns import packed
from hlteval.reports.html.sections import TABLES, Column, DataTable, Section
from hlteval.results.verdict import Verdict

WIDTH = 96
"""The most columns of an excerpt."""
_FIELDS = (
    *("severity", "code", "side", "file", "place", "message"),
    *("before", "marked", "after", "record", "help", "clause"),
)
_NUMBERS = ("number", "indent", "width", "count")


@dataclass(frozen=True)
class FindingList(Section):
    """Findings as a table that sorts, filters and pages.

    Attributes:
        findings: the findings, in the order in which they are shown.
    """

    findings: Sequence[Finding] = ()
    kind: ClassVar[str] = "findings"
    scripts: ClassVar[tuple[str, ...]] = (*TABLES, "assets/findings.js")

    def data(self) -> Any:
        """The parts of each finding by name, and how many problems they are."""
        types = dict.fromkeys(_FIELDS, pl.String) | dict.fromkeys(_NUMBERS, pl.Int64)
        rows = [printable(_row(finding)) for finding in self.findings]
        columns = packed(pl.DataFrame(rows, schema=types))
        titles = {code: _title(code) for code in sorted({item.code for item in self.findings})}
        return {"title": self.title or "Findings", "columns": columns, "titles": titles}


def finding_sections(verdict: Verdict) -> Iterator[Section]:
    """The findings of a verdict by code, then each of them; nothing without any."""
    if verdict.findings:
        yield _by_code(verdict)
        yield FindingList("Findings", findings=verdict.findings)


def _by_code(verdict: Verdict) -> DataTable:
    """How many findings of each code a side has, the most severe first."""
    counts: dict[tuple[int, str, str, str], int] = {}
    for finding in verdict.findings:
        key = (finding.severity.rank, finding.side, finding.code, finding.severity.value)
        counts[key] = counts.get(key, 0) + finding.count
    rows = [
        (severity, code, side, count, _title(code))
        for (_, side, code, severity), count in sorted(counts.items())
    ]
    types = dict.fromkeys(("severity", "code", "side"), pl.String)
    schema = {**types, "count": pl.Int64, "title": pl.String}
    return DataTable(
        "By code",
        frame=pl.DataFrame(rows, schema=schema, orient="row"),
        columns=[Column(name, kind="number" if name == "count" else "text") for name in schema],
        page_size=10,
    )


def _title(code: str) -> str:
    """The title of a code; empty for one that is not in the catalogue."""
    try:
        return entry(code).title
    except KeyError:
        return ""


def _row(finding: Finding) -> dict[str, Any]:
    return {
        "severity": finding.severity.value + (", blocking" if finding.blocking else ""),
        "code": finding.code,
        "side": finding.side,
        "file": finding.file,
        "place": f"{finding.file}{finding.position}" if finding.file else "",
        "message": finding.message,
        "record": finding.record if not finding.excerpt else None,
        "help": finding.help,
        "clause": finding.clause,
        "count": finding.count,
        **_line(finding),
    }


def _line(finding: Finding) -> dict[str, Any]:
    """The line of a finding in three pieces, the middle of which is marked, and the caret."""
    if not (finding.span and finding.excerpt):
        return {}
    line = draw(finding.excerpt, finding.span, WIDTH)
    pieces: dict[str, str] = {"before": "", "marked": "", "after": ""}
    cells = 0
    for piece in line.pieces:
        where = "before" if cells < line.column else "marked"
        where = "after" if cells >= line.column + line.width else where
        pieces[where] += piece.text
        cells += piece.cells
    caret = {"number": finding.span.line, "indent": line.column, "width": line.width}
    return {**{name: visible(text) for name, text in pieces.items()}, **caret}

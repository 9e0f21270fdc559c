"""A knowledge base as a table of its entities.

Format:
    A header and tab-separated columns, as in LDC's distribution of the LoReHLT knowledge base. The
    column `entityid` is required; `entity_type`, `origin` and `name` are optional; others are
    ignored. Without a header, the first column is the entity identifier.

Conventions:
    `origin` is GEO (GeoNames), WLL (World Leaders), APB (Appendix B of the World Factbook) or AUG
    (added manually). An entity may have several lines, one for each of its names.

Example lines:
    origin	entity_type	entityid	name
    GEO	GPE	3617476	Republic of Nicaragua

Codes raised: KBT1xx.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from hlteval.converters.format import Format, ReadResult
from hlteval.converters.toolkit.single_file import File, head, readings
from hlteval.findings import FieldRef, Finding, Location, Span, catalogue, excerpt
from hlteval.representation import Corpus
from hlteval.sources import Member, Source

COLUMNS = {"entity": "entityid", "label": "entity_type", "source": "origin", "name": "name"}
"""The columns of the table `entities`, and what the header calls them."""


def sniff(source: Source) -> bool:
    """Whether it is a single file whose header names the identifiers of entities."""
    return COLUMNS["entity"] in _cells(head(source).partition("\n")[0].lower())


def read(source: Source) -> Iterator[ReadResult]:
    """The entities, without documents."""
    return readings(source, FORMAT.name, _read)


def _read(file: File) -> tuple[Corpus, Iterable[Finding]]:
    entities, findings = _entities(file.text or "", file.member.display)
    return Corpus(sources=[file.origin], entities=entities), findings


def _entities(text: str, display: str) -> tuple[pl.DataFrame, list[Finding]]:
    lines = text.replace("\r\n", "\n").split("\n")
    header = _cells(lines[0].lower())
    named = COLUMNS["entity"] in header
    at = {
        column: header.index(name) for column, name in COLUMNS.items() if named and name in header
    } or {"entity": 0}
    rows = pl.DataFrame({"line": lines}, schema={"line": pl.String}).select(
        record=pl.int_range(1, pl.len() + 1),
        blank=pl.col("line").str.strip_chars() == "",
        line=pl.col("line"),
        cells=pl.col("line").str.split("\t"),
    )
    rows = rows.slice(1 if named else 0).filter(~pl.col("blank"))
    cells = {name: pl.col("cells").list.get(place, null_on_oob=True) for name, place in at.items()}
    entities = rows.select("record", "line", **cells)
    lacking = pl.col("entity").fill_null("").str.strip_chars() == ""
    told = entities.filter(lacking).select("record", "line").rows()
    findings = [_lacks(record, line, display) for record, line in told]
    kept = entities.filter(~lacking).drop("record", "line").unique(maintain_order=True)
    return kept.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64)), findings


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")]


def _lacks(record: int, line: str, display: str) -> Finding:
    span = Span(record, 1, len(line) + 1)
    return catalogue()["KBT101"].finding(file=display, span=span, excerpt=excerpt(line, span))


def locate(_: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """Nowhere: the table is only read to look entities up."""
    return [None for _ in places]


FORMAT = Format(
    name="kb-tab",
    title="knowledge base entries as a table (LoReHLT)",
    suffixes=(".tab",),
    layout="single_file",
    carries=(
        *("sources", "entities"),
        *("entities.label", "entities.source", "entities.name"),
    ),
    sniff=sniff,
    read=read,
    locate=locate,
)

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

from collections.abc import Iterable, Iterator
from dataclasses import replace

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.source_files import File, head, read_files
from hlteval.findings import Finding, finding
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.syntax.tsv import WHITE_SPACE, Column, Table, shorten

#: The columns of the table `entities`, and their names in the header.
TABLE = Table(
    (
        Column("entity", heading="entityid", pattern=f"(?s:.*[^{WHITE_SPACE}].*)"),
        Column("label", heading="entity_type", optional=True),
        Column("source", heading="origin", optional=True),
        Column("name", optional=True),
    ),
    code="KBT101",
    header="required",
    exact=False,
    any_order=True,
    ragged=True,
)


def sniff(source: Source) -> bool:
    """Whether it is a single file whose header names the identifiers of entities."""
    return TABLE.ordered_by(head(source).partition("\n")[0]) is not None


def read(source: Source) -> Iterator[ReadResult]:
    """The entities, without documents."""
    return read_files(source, FORMAT.name, _read)


def _read(file: File) -> tuple[Corpus, Iterable[Finding]]:
    text = file.text or ""
    has_header = TABLE.ordered_by(text.partition("\n")[0])
    table = TABLE if has_header else replace(TABLE, columns=TABLE.columns[:1], header="none")
    parsed = table.read(text)
    entities = parsed.rows.drop("record").unique(maintain_order=True)
    entities = entities.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
    findings = parsed.findings(file.member)
    if not has_header and entities.height and not entities["entity"].str.contains("^[0-9]+$").any():
        given = shorten(entities["entity"][0], 40)
        findings.append(finding("KBT102", file=file.member.display, given=given))
    return Corpus(sources=[file.origin], entities=entities), findings


FORMAT = declaration(__name__)

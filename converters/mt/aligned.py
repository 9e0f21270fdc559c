"""Lists of segments and the texts of sets beside them, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from hlteval.converters.mt.texts import ROLES
from hlteval.converters.toolkit.cell_escapes import escaped, unescaped
from hlteval.findings import Finding, finding
from hlteval.representation import Corpus
from hlteval.syntax.tsv import Column, ParsedTable, Table

#: A list of segments, a line for each.
IDS = Table(
    (
        Column("document", pattern=r"[^\t]+", code="MTF401"),
        Column("segment", pattern=r"[^\t]+", code="MTF401"),
    ),
    code="MTF401",
)


class Set(NamedTuple):
    """The texts of a set in the order of a corpus: their keys, and the text of each."""

    role: str
    name: str | None
    texts: Mapping[tuple[int, str], str]


def sets(corpus: Corpus) -> list[Set]:
    """The sets of a corpus, by role and in order; of a repeated segment the first text."""
    found: dict[tuple[str, str | None], dict[tuple[int, str], str]] = {}
    columns = ("role", "set", "document", "segment", "text")
    for role, name, document, segment, text in corpus.translations.select(columns).iter_rows():
        found.setdefault((role, name), {}).setdefault((document, segment), text)
    ordered = sorted(found, key=lambda key: ROLES.index(key[0]))
    return [Set(role, name, found[role, name]) for role, name in ordered]


def keys(corpus: Corpus) -> list[tuple[int, str]]:
    """The segments of all sets, by document, in the order of a corpus."""
    rows = corpus.translations.select("document", "segment").unique(maintain_order=True)
    return list(rows.sort("document", maintain_order=True).iter_rows())


def ids(corpus: Corpus, listed: Sequence[tuple[int, str]]) -> str:
    """A list of segments as text."""
    names = dict(corpus.documents.select("row", "name").iter_rows())
    rows = [(names[document], segment) for document, segment in listed]
    schema = {"document": pl.String, "segment": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    cells = frame.select(escaped("document"), escaped("segment"))
    return "".join(f"{document}\t{segment}\n" for document, segment in cells.iter_rows())


class SegmentList(NamedTuple):
    """A list of segments.

    Attributes:
        text: the list as written.
        table: its lines, with what is wrong with them.
        rows: `record`, `document` and `segment` of each line that could be read.
    """

    text: str
    table: ParsedTable
    rows: pl.DataFrame


def read_ids(text: str) -> SegmentList:
    """The segments of a list."""
    table = IDS.read(text)
    cells = table.rows.select("record", unescaped("document"), unescaped("segment"))
    return SegmentList(text, table, cells)


def lines_of(text: str) -> list[str]:
    r"""The lines of a text: only line feeds end them, with a carriage return before or not.

    Examples:
        >>> lines_of("a\r\nb\u2028c\n"), lines_of("a\nb"), lines_of("")
        (['a', 'b\u2028c'], ['a', 'b'], [])
    """
    lines = text.removesuffix("\n").split("\n") if text else []
    return [line.removesuffix("\r") for line in lines]


def wrong_length(text: str, listed: str, file: str, beside: str) -> list[Finding]:
    """The finding about a text with more or fewer lines than its list, if it has.

    Args:
        text: the text.
        listed: the list.
        file: the text's display path.
        beside: the name of the list.
    """
    count, segments = len(lines_of(text)), len(lines_of(listed))
    if count == segments:
        return []
    return [finding("MTF402", file=file, lines=count, segments=segments, ids=beside)]


def lost(corpus: Corpus, changed: pl.Expr) -> dict[str, int]:
    """The counts of what lines beside a list cannot represent.

    Args:
        corpus: the documents.
        changed: whether a text is written otherwise.
    """
    rows = corpus.translations
    silent = corpus.documents.filter(~pl.col("row").is_in(rows["document"].implode())).height
    repeated = rows.height - rows.select("document", "segment", "role", "set").n_unique()
    return {
        "documents without translations": silent,
        "repeated segments": repeated if rows.height else 0,
        "texts with line breaks or other space": rows.filter(changed).height,
    }

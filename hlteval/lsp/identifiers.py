"""What the identifiers of the representation refer to, as columns of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import polars as pl

from hlteval.representation import Corpus


class Names(NamedTuple):
    """Identifiers of one kind.

    Attributes:
        defined: the columns with the identifier of a record itself.
        mentioned: the columns with that of another record.
        global_scope: whether documents share them.
    """

    defined: tuple[str, ...]
    mentioned: tuple[str, ...]
    global_scope: bool = False


KINDS = {
    "item": Names(
        ("mentions.mention", "frames.frame", "modifiers.modifier", "groups.group"),
        (
            *("arguments.target", "frames.trigger", "groups.member", "modifiers.target"),
            *("fills.target", "sentiments.target"),
        ),
    ),
    "segment": Names(("segments.name", "translations.segment"), ("frames.justification",)),
    "region": Names(("regions.region",), ("instances.region", "ratings.region")),
    "entity": Names(
        ("entities.entity",),
        ("mentions.entity", "links.entity", "frames.place_kb", "sentiments.holder_kb"),
        global_scope=True,
    ),
}
"""The kinds of identifiers; a table that a corpus does not have rows of says nothing."""
_SHAPE = {
    "kind": pl.String,
    "document": pl.String,
    "identifier": pl.String,
    "defines": pl.Boolean,
    "origin": pl.Int64,
    "record": pl.Int64,
}


def identifiers(corpus: Corpus) -> pl.DataFrame:
    """Every identifier of a corpus.

    Returns:
        A table of `kind`, `document` (its name; empty where documents share the identifiers),
        `identifier` as written, whether the record `defines` it, and its `origin` and `record`.
    """
    parts = [
        _column(corpus, kind, column, defines=defines)
        for kind, names in KINDS.items()
        for defines, columns in ((True, names.defined), (False, names.mentioned))
        for column in _with_rows(corpus, columns)
    ]
    return pl.concat([pl.DataFrame(schema=_SHAPE), *parts])


def _with_rows(corpus: Corpus, columns: Iterable[str]) -> Iterator[str]:
    """The columns of tables that have rows."""
    for column in columns:
        table: pl.DataFrame = getattr(corpus, column.partition(".")[0])
        if table.height and {"record", "origin"} <= {*table.columns}:
            yield column


def _column(corpus: Corpus, kind: str, name: str, *, defines: bool) -> pl.DataFrame:
    """The identifiers of one column."""
    table, _, column = name.partition(".")
    rows: pl.DataFrame = getattr(corpus, table)
    documents = corpus.documents.select(document="row", _name="name")
    scope = pl.lit("") if KINDS[kind].global_scope else pl.col("_name")
    return (
        rows.select("document", "origin", "record", identifier=column)
        .filter(pl.col("identifier").is_not_null(), pl.col("identifier") != "")
        .join(documents, on="document", how="left", maintain_order="left")
        .select(
            kind=pl.lit(kind),
            document=scope.fill_null(""),
            identifier="identifier",
            defines=pl.lit(defines),
            origin="origin",
            record="record",
        )
    )

"""Invisible characters in names, for the records of all tasks (CHR101)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from hlteval.findings.finding import INVISIBLE, code_point
from hlteval.validators.rule import Rule, RuleContext, at

#: The columns of each table whose values are compared as names.
_NAMES = {
    "mentions": ("mention", "label", "entity"),
    "frames": ("label", "place", "place_kb"),
    "arguments": ("role", "target"),
    "modifiers": ("label", "target"),
    "fills": ("slot", "target"),
    "instances": ("label", "status"),
    "mappings": ("label", "target"),
    "segments": ("name",),
    "translations": ("segment",),
    "responses": ("condition", "speaker", "response"),
}
#: The tables whose records name their documents; other formats have them in the names of files.
_IN_RECORDS = ("mentions", "instances", "translations", "responses")


def _in_names(table: str, context: RuleContext) -> pl.LazyFrame:
    """The records with an invisible character in a name, each at the first of these characters."""
    rows = context.table(table, "origin", "record", *_NAMES[table])
    return _at_characters(rows, _NAMES[table])


def _in_documents(table: str, context: RuleContext) -> pl.LazyFrame:
    """The first record of each document with an invisible character in its name."""
    rows = context.table(table, "document", "origin", "record")
    first = rows.unique("document", keep="first", maintain_order=True)
    named = first.join(context.names, on="document", maintain_order="left")
    return _at_characters(named, ("name",))


def _at_characters(rows: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
    """The rows with an invisible character in a column, with the first of these characters."""
    first = pl.coalesce(pl.col(name).str.extract(f"({INVISIBLE})", 1) for name in columns)
    names = pl.coalesce(
        pl.when(pl.col(name).str.contains(INVISIBLE)).then(name) for name in columns
    )
    found = rows.with_columns(character=first, given=names.str.slice(0, 40)).drop_nulls("character")
    point = pl.col("character").map_elements(code_point, return_dtype=pl.String)
    return at(found, "").with_columns(character=point, id=pl.lit(None, pl.String))


def _are_odd(table: str, context: RuleContext) -> bool:
    """Whether any name has an invisible character."""
    rows: pl.DataFrame = getattr(context.system, table)
    return any(bool(rows[name].str.contains(INVISIBLE).any()) for name in _NAMES[table])


def _documents_are_odd(context: RuleContext) -> bool:
    """Whether the name of any document has an invisible character."""
    return bool(context.system.documents["name"].str.contains(INVISIBLE).any())


#: The rules: of the names in each table, and of the documents that its records name.
RULES = (
    *(
        Rule("CHR101", table, partial(_in_names, table), suspects=partial(_are_odd, table))
        for table in _NAMES
    ),
    *(
        Rule("CHR101", table, partial(_in_documents, table), suspects=_documents_are_odd)
        for table in _IN_RECORDS
    ),
)

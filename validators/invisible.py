"""Invisible characters in names, for the records of all tasks (CHR101)."""

from __future__ import annotations

from functools import partial

import polars as pl

from hlteval.findings.invisible import INVISIBLE, code_point
from hlteval.validators.rule import Rule, RuleContext, at

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
}
"""The columns of each table whose values are compared as names."""


def _in_names(table: str, context: RuleContext) -> pl.LazyFrame:
    """The records with an invisible character in a name, each at the first of these characters."""
    rows = context.table(table, "origin", "record", *_NAMES[table])
    first = pl.coalesce(pl.col(name).str.extract(f"({INVISIBLE})", 1) for name in _NAMES[table])
    names = pl.coalesce(
        pl.when(pl.col(name).str.contains(INVISIBLE)).then(name) for name in _NAMES[table]
    )
    found = rows.with_columns(character=first, given=names.str.slice(0, 40)).drop_nulls("character")
    point = pl.col("character").map_elements(code_point, return_dtype=pl.String)
    return at(found, "").with_columns(character=point, id=pl.lit(None, pl.String))


def _are_odd(table: str, context: RuleContext) -> bool:
    """Whether any name has an invisible character."""
    rows: pl.DataFrame = getattr(context.system, table)
    return any(bool(rows[name].str.contains(INVISIBLE).any()) for name in _NAMES[table])


RULES = tuple(
    Rule("CHR101", table, partial(_in_names, table), suspects=partial(_are_odd, table))
    for table in _NAMES
)
"""The rules, a table each."""

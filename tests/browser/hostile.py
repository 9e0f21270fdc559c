"""Results with hostile text in all their fields: what a browser would obey if it were HTML."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import msgspec
import polars as pl

from hlteval.findings import Findings
from hlteval.scoring.metric import Evidence

HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert(3)>"
    "{{7*7}}<!--<script>\u2028\u2029\u202e\u2066\ufeff\x00\x1b[31m&lt;&amp;`${alert(4)}`"
    "<a href=javascript:alert(5)>javascript:alert(6)//" + "W" * 300
)
"""Ends of elements, handlers, entities, line separators, bidi marks, NUL, and a very long word."""
_KEPT = frozenset({"task", "profile", "code", "severity", "side"})
"""Fields that name what we declare, not what a file has."""
_DECLARED = frozenset({"outcome", "status", "level", "mode", "genre", "side"})
"""Columns of the same kind."""
_OFFSETS = re.compile(r"-?\d+--?\d+")


def poisoned(value: Any) -> Any:
    """A value with hostile text before each of its texts; equal ones stay equal."""
    match value:
        case pl.DataFrame():
            value = _table(value)
        case Enum():
            pass
        case str():
            value = value if _OFFSETS.fullmatch(value) else HOSTILE + value
        case Mapping():
            value = {poisoned(key): poisoned(each) for key, each in value.items()}
        case Findings() | tuple() | list():
            value = type(value)([poisoned(each) for each in value])
        case msgspec.Struct():
            value = msgspec.structs.replace(value, **_fields(value, value.__struct_fields__))
        case Evidence():
            names = (field.name for field in dataclasses.fields(value))
            value = dataclasses.replace(value, **_fields(value, names))
    return value


def _fields(value: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: poisoned(getattr(value, name)) for name in names if name not in _KEPT}


def scores(value: Any) -> Any:
    """Scores with hostile text; the names of their tables are ours."""
    tables = {name: poisoned(table) for name, table in value.tables.items()}
    return msgspec.structs.replace(poisoned(value), tables=tables)


def _table(table: pl.DataFrame) -> pl.DataFrame:
    """A table with hostile text in each of its columns of text."""
    return table.with_columns(
        _column(name, dtype)
        for name, dtype in table.schema.items()
        if name not in _DECLARED and dtype in (pl.String, pl.List(pl.String))
    )


def _column(name: str, dtype: Any) -> pl.Expr:
    column = pl.col(name)
    if dtype == pl.String:
        places = column.str.contains(f"^{_OFFSETS.pattern}$")
        return pl.when(places).then(column).otherwise(pl.concat_str(pl.lit(HOSTILE), column))
    return column.list.eval(pl.concat_str(pl.lit(HOSTILE), pl.element()))

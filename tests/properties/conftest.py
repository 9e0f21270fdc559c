"""What the properties are tried on."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import strategies as st

from hlteval.representation import TABLES, Column, Corpus, Table
from hlteval.representation.corpus import inside_documents

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
"""Every character that Unicode has, in all planes, and no lone surrogates."""
INTEGERS = st.integers(-(2**63), 2**63 - 1)


@pytest.fixture(scope="session")
def corpora() -> st.SearchStrategy[Corpus]:
    """Corpora with rows in every table, whose keys are valid, in no order and with gaps."""
    return _corpora()


@st.composite
def _corpora(draw: st.DrawFn) -> Corpus:
    made: dict[str, list[dict[str, Any]]] = {}
    for name, table in TABLES.items():
        keys = draw(st.lists(st.integers(0, 2**40), max_size=4, unique=True))
        rows = (_row(draw, table, key, made) for key in keys)
        made[name] = [row for row in rows if row is not None]
    return Corpus(**made)


def _row(
    draw: st.DrawFn, table: Table, key: int, made: dict[str, list[dict[str, Any]]]
) -> dict[str, Any] | None:
    """A row; none where it would refer to nothing."""
    references, inside = dict(table.references), dict(inside_documents(table))
    row: dict[str, Any] = {"row": key}
    for column in table.columns[1:]:
        if column.name not in references:
            row[column.name] = draw(_values(column))
            continue
        others = made[references[column.name]]
        if column.name in inside:
            others = [other for other in others if other["document"] == row["document"]]
        targets = [None] * column.nullable + [other["row"] for other in others]
        if not targets:
            return None
        row[column.name] = draw(st.sampled_from(targets))
    return row


def _values(column: Column) -> st.SearchStrategy[Any]:
    values = _of_type(column.dtype)
    return st.none() | values if column.nullable else values


def _of_type(dtype: object) -> st.SearchStrategy[Any]:
    if dtype == pl.Int64:
        return INTEGERS
    if dtype == pl.String:
        return TEXT
    if dtype == pl.Float64:
        return st.floats(allow_nan=False, allow_infinity=False)
    if dtype == pl.Boolean:
        return st.booleans()
    if isinstance(dtype, pl.List):
        return st.lists(_of_type(dtype.inner), max_size=3)
    if isinstance(dtype, pl.Struct):
        return st.fixed_dictionaries({field.name: _of_type(field.dtype) for field in dtype.fields})
    raise TypeError(f"say here what values of {dtype} the properties are tried on")

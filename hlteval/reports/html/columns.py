"""Columns of data frames as a report has them: values that repeat are written once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from hlteval.reports.html.sections import Column


def packed(frame: pl.DataFrame, columns: Sequence[Column] = ()) -> list[dict[str, Any]]:
    """The columns of a data frame as plain values.

    Texts that occur more than once are listed in `words`, and `at` has the number of each row's;
    other columns have their `values`.

    Args:
        frame: the rows.
        columns: its columns, in order; all of them if there are none.

    Examples:
        >>> packed(pl.DataFrame({"type": ["PER", "PER", "PER"]}))[0]["words"]
        ['PER']
    """
    chosen = columns or [column(name, dtype) for name, dtype in frame.schema.items()]
    return [{**_head(each), **_values(frame[each.name])} for each in chosen]


def column(name: str, dtype: Any) -> Column:
    """A column of a data frame of which nothing is declared.

    Examples:
        >>> column("f1", pl.Float64()).kind
        'rate'
    """
    if dtype.is_float():
        return Column(name, kind="rate")
    if dtype.is_integer():
        return Column(name, kind="number")
    return Column(name, kind="list" if isinstance(dtype, pl.List) else "text")


def _head(column: Column) -> dict[str, Any]:
    head = {"name": column.name, "title": column.heading, "kind": column.kind}
    return head | ({"meaning": column.meaning} if column.meaning else {})


def _values(values: pl.Series) -> dict[str, Any]:
    if values.dtype != pl.String or not len(values):
        return {"values": _plain(values)}
    words = values.unique(maintain_order=True).drop_nulls()
    if len(words) * 2 > len(values):
        return {"values": values.to_list()}
    numbers = pl.DataFrame({"word": words, "at": range(len(words))})
    at = values.to_frame("word").join(numbers, on="word", how="left", maintain_order="left")["at"]
    return {"words": words.to_list(), "at": at.to_list()}


def _plain(values: pl.Series) -> list[Any]:
    """Values as JSON knows them; what is not a number is undefined."""
    if values.dtype.is_float():
        return values.fill_nan(None).to_list()
    known = values.dtype.is_integer() or values.dtype in (pl.String, pl.Boolean)
    if known or values.dtype == pl.List(pl.String):
        return values.to_list()
    return [None if value is None else str(value) for value in values.to_list()]

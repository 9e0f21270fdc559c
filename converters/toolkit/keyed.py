"""Rows that a reader collects, as tables of the representation."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from hlteval.representation import TABLES


def keyed(name: str, rows: Sequence[tuple[object, ...]], columns: Sequence[str]) -> pl.DataFrame:
    """Rows as a table whose key `row` counts from 0.

    Args:
        name: name of the table.
        rows: the rows.
        columns: the names of their columns, in order, without the key.

    Examples:
        >>> keyed("documents", [("d1",), ("d2",)], ["name"]).rows()
        [(0, 'd1'), (1, 'd2')]
    """
    schema = {column: TABLES[name].schema[column] for column in columns}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *columns)

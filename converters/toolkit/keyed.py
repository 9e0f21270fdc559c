"""Rows that a reader collects, as tables of the representation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from hlteval.representation import TABLES


def keyed(name: str, rows: Sequence[Sequence[Any]], columns: Sequence[str] = ()) -> pl.DataFrame:
    """Rows as a table whose key `row` counts from 0.

    Args:
        name: the name of the table.
        rows: the rows.
        columns: the names of their columns in order, without the key; by default those of the
            table, as many as the rows have.

    Examples:
        >>> keyed("documents", [(0, "d1"), (0, "d2")]).rows()
        [(0, 0, 'd1'), (1, 0, 'd2')]
        >>> keyed("documents", [("d1",), ("d2",)], ["name"]).rows()
        [(0, 'd1'), (1, 'd2')]
    """
    own = list(TABLES[name].schema)[1:]
    columns = columns or (own[: len(rows[0])] if rows else own)
    schema = {column: TABLES[name].schema[column] for column in columns}
    values = zip(*rows, strict=True) if rows else [()] * len(schema)
    frame = pl.DataFrame(dict(zip(schema, map(list, values), strict=True)), schema)
    return frame.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *schema)

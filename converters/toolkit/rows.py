"""Rows that a reader collects, as tables of the representation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from hlteval.representation import TABLES


def keyed(table: str, rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    """A table of rows, whose keys are their ordinals.

    Args:
        table: the name of the table.
        rows: the values of the columns after `row`, in their order; columns at the end that may be
            null can be left out of all rows.

    Examples:
        >>> keyed("documents", [(0, "d1"), (0, "d2")]).rows()
        [(0, 0, 'd1'), (1, 0, 'd2')]
    """
    if not rows:
        return TABLES[table].empty()
    columns = list(TABLES[table].schema.items())[1 : len(rows[0]) + 1]
    frame = pl.DataFrame(rows, schema=dict(columns), orient="row")
    return frame.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), pl.all())

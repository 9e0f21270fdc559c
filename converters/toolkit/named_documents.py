"""The documents that the rows of a table name."""

from __future__ import annotations

import polars as pl


def with_documents(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The documents in the order of their first rows, and the rows with their keys.

    Args:
        rows: with the column `name`, the name of a document, and `origin`, if the rows are from
            several sources.

    Returns:
        The columns `row`, `name` and `origin` of `documents`; and the rows with `row`, `document`
        and `origin` instead of `name`.

    Examples:
        >>> documents, rows = with_documents(pl.DataFrame({"name": ["d2", "d1", "d2"]}))
        >>> documents["name"].to_list(), rows["document"].to_list()
        (['d2', 'd1'], [0, 1, 0])
    """
    key = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")
    if "origin" not in rows.columns:
        rows = rows.with_columns(origin=pl.lit(0, pl.Int64))
    documents = rows.select("name", "origin").unique("name", keep="first", maintain_order=True)
    documents = documents.with_columns(key)
    names = documents.select("name", document="row")
    # Only the names are joined: that of all columns would copy them.
    numbers = rows.select("name").join(names, on="name", how="left", maintain_order="left")
    return documents, rows.drop("name").with_columns(numbers["document"], key)

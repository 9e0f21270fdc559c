"""Keys: what a frame says as one string, and which rows are the first, second, … of their kind.

Joining the strings of a group costs thirty times as much as taking its first and last; nearly all
frames have no more than two arguments, and nearly all rows are the only ones of their kind.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

SEPARATOR = "\x1f"
"""Stands between the parts of a key; no identifier of a format has it."""


def frame_keys(arguments: pl.DataFrame, said: pl.Expr) -> pl.DataFrame:
    """One string for all that the arguments of a frame say, in whatever order they stand.

    Args:
        arguments: a table with the column `frame_row`.
        said: what an argument says, as a string.

    Returns:
        A row per frame that has arguments, by rising `frame_row`: that, and `said`.

    Examples:
        >>> rows = pl.DataFrame({"frame_row": [1, 1], "target": ["T2", "T1"]})
        >>> frame_keys(rows, pl.col("target"))["said"].to_list() == [f"T1{SEPARATOR}T2"]
        True
    """
    stated = arguments.select("frame_row", said=said).sort("frame_row", "said")
    ends = stated.group_by("frame_row", maintain_order=True).agg(
        first=pl.col("said").first(), last=pl.col("said").last(), size=pl.len()
    )
    several = pl.col("size") > 1
    pair = pl.when(several).then(pl.concat_str("first", "last", separator=SEPARATOR)).otherwise("first")
    short = ends.select("frame_row", "size", said=pair)
    many = short.filter(pl.col("size") > 2).select("frame_row")
    if many.is_empty():
        return short.drop("size")
    long = stated.join(many, on="frame_row", how="semi", maintain_order="left")
    joined = long.group_by("frame_row", maintain_order=True).agg(pl.col("said").str.join(SEPARATOR))
    return short.drop("size").update(joined, on="frame_row")


def ordinals(rows: pl.DataFrame, by: Sequence[str]) -> pl.Series:
    """How many rows of the same kind stand before each row.

    Args:
        rows: a table.
        by: the columns that make a kind.

    Examples:
        >>> ordinals(pl.DataFrame({"id": ["E1", "E2", "E1"]}), ["id"]).to_list()
        [0, 0, 1]
    """
    repeated = rows.select(pl.struct(by).is_duplicated()).to_series()
    if not repeated.any():
        return pl.zeros(rows.height, dtype=pl.Int64, eager=True)
    some = rows.select(by).with_row_index("at").filter(repeated)
    some = some.with_columns(ordinal=pl.int_range(pl.len(), dtype=pl.Int64).over(by))
    zero = pl.DataFrame({"at": range(rows.height)}, schema={"at": some.schema["at"]})
    filled = zero.join(some.select("at", "ordinal"), on="at", how="left", maintain_order="left")
    return filled["ordinal"].fill_null(0)

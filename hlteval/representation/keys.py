"""Keys: the content of a frame as one string, and the ordinal of a row among equal ones.

Joining the strings of a group costs thirty times as much as taking its first and last; nearly all
frames have no more than two arguments, and nearly all rows are the only ones of their kind.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

SEPARATOR = "\x1f"
"""Separates the parts of a key; no identifier of a format contains it."""


def hashed(*columns: str) -> pl.Expr:
    """A hash of some columns of a row, as the column `hashed`.

    Grouping and joining by it takes a third of the time that it takes by strings. Different hashes
    mean different contents; equal ones nearly always mean equal contents, which is to be checked
    where it matters.
    """
    first, *rest = (pl.col(column).hash(seed) for seed, column in enumerate(columns, start=1))
    return sum(rest, first).alias("hashed")


def frame_keys(arguments: pl.DataFrame, value: pl.Expr, keep: Sequence[str] = ()) -> pl.DataFrame:
    """One string for the arguments of each frame, independent of their order.

    Args:
        arguments: a table with the column `frame_row`.
        value: an argument as a string.
        keep: further columns of the result, which are the same for all arguments of a frame.

    Returns:
        A row per frame that has arguments, by ascending `frame_row`: that, `content`, and `keep`.

    Examples:
        >>> rows = pl.DataFrame({"frame_row": [1, 1], "target": ["T2", "T1"]})
        >>> frame_keys(rows, pl.col("target"))["content"].to_list() == [f"T1{SEPARATOR}T2"]
        True
    """
    values = arguments.lazy().select("frame_row", *keep, content=value).collect()
    if not values["frame_row"].is_sorted():
        values = values.sort("frame_row")
    begins = (values["frame_row"] != values["frame_row"].shift(1)).fill_null(True)
    firsts = begins.arg_true()
    lasts = begins.shift(-1, fill_value=True).arg_true()
    ends = values.select(pl.all().gather(firsts)).with_columns(
        last=values["content"].gather(lasts), size=lasts - firsts + 1
    )
    first, last = pl.col("content"), pl.col("last")
    pair = (
        pl.when(pl.col("size") == 1)
        .then(first)
        .when(first <= last)
        .then(pl.concat_str(first, last, separator=SEPARATOR))
        .otherwise(pl.concat_str(last, first, separator=SEPARATOR))
    )
    short = ends.select("frame_row", "size", *keep, content=pair)
    if short["size"].max() in {None, 1, 2}:
        return short.select("frame_row", "content", *keep)
    many = short.lazy().filter(pl.col("size") > 2).select("frame_row")
    long = values.lazy().join(many, on="frame_row", how="semi", maintain_order="left")
    grouped = long.sort("frame_row", "content").group_by("frame_row", maintain_order=True)
    joined = grouped.agg(pl.col("content").str.join(SEPARATOR))
    return short.lazy().drop("size").update(joined, on="frame_row").collect()


def ordinals(rows: pl.DataFrame, by: Sequence[str]) -> pl.Series:
    """The number of earlier rows that are equal to each row.

    Args:
        rows: a table.
        by: the columns that are compared.

    Examples:
        >>> ordinals(pl.DataFrame({"id": ["E1", "E2", "E1"]}), ["id"]).to_list()
        [0, 0, 1]
    """
    compared = rows.select(by)
    repeated = compared.select(hashed(*by).is_duplicated()).to_series()
    ordinal = pl.zeros(rows.height, dtype=pl.Int64, eager=True)
    if repeated.any():
        counted = pl.int_range(pl.len(), dtype=pl.Int64).over(by)
        some = compared.lazy().filter(repeated).select(counted).collect().to_series()
        ordinal = ordinal.scatter(repeated.arg_true(), some)
    return ordinal.alias("ordinal")

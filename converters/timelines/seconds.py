"""Times of timelines: rows in seconds, times as text, and rounding to milliseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext

import numpy as np
import polars as pl

from hlteval.representation import Corpus

#: No stream is so many seconds long.
LATEST = 1e9
#: Enough for the sum of any two times, digit for digit.
_DIGITS = 400


def placed(corpus: Corpus, table: str) -> pl.DataFrame:
    """The rows of a table with the `name` and the `modality` of their documents.

    Changes, which are points, have the columns `start` and `end` of others.
    """
    documents = corpus.documents.select("name", "modality", document="row")
    frame: pl.DataFrame = getattr(corpus, table)
    rows = frame.join(documents, on="document", maintain_order="left")
    return rows.with_columns(start="at", end="at") if table == "changes" else rows


def in_text() -> pl.Expr:
    """Whether a row is of a document of text, whose places are characters."""
    return pl.col("modality").eq_missing("text")


def is_timed() -> pl.Expr:
    """Whether a row has a stretch of seconds from 0."""
    start, end = pl.col("start"), pl.col("end")
    inside = start.is_between(0, LATEST) & end.is_between(0, LATEST) & (start <= end)
    return inside.fill_null(value=False)


def count_untimed(corpus: Corpus, table: str) -> Mapping[str, int]:
    """The counts of the rows of a table that are not in seconds, as losses."""
    rows = placed(corpus, table)
    return {
        f"{table} in characters of text": rows.filter(in_text()).height,
        f"{table} without a stretch of seconds": rows.filter(~in_text(), ~is_timed()).height,
    }


def count_silent(corpus: Corpus, *tables: str) -> Mapping[str, int]:
    """The count of documents without rows of some tables, as a loss of a file of all documents."""
    named = [getattr(corpus, table).select("document") for table in tables]
    silent = corpus.documents.join(pl.concat(named), left_on="row", right_on="document", how="anti")
    return {f"documents without {' or '.join(tables)}": silent.height}


def milliseconds(column: str) -> pl.Expr:
    """Seconds as whole milliseconds."""
    return (pl.col(column) * 1000).round().cast(pl.Int64)


def count_finer(rows: pl.DataFrame) -> int:
    """The count of rows with times that have fractions of milliseconds."""
    times = rows.select("start", "end").to_numpy()
    # Polars divides by multiplying with the reciprocal, whose last digit may differ.
    return int((np.rint(times * 1000) / 1000 != times).any(axis=1).sum())


def has_length() -> pl.Expr:
    """Whether a row has a length of milliseconds."""
    return milliseconds("start") < milliseconds("end")


def plain_text(values: pl.Series) -> list[str]:
    """Times as text, without exponents, that is the same number again.

    Examples:
        >>> plain_text(pl.Series([45.2, 1e-05]))
        ['45.2', '0.00001']
    """
    return [format(Decimal(repr(value)), "f") for value in values]


def durations(starts: pl.Series, ends: pl.Series) -> list[str]:
    """Ends less starts, as the exact decimal numbers that they are written as.

    Examples:
        >>> durations(pl.Series([45.2]), pl.Series([60.3]))
        ['15.1']
    """
    with localcontext(prec=_DIGITS):
        pairs = zip(starts, ends, strict=True)
        return [format(Decimal(repr(end)) - Decimal(repr(start)), "f") for start, end in pairs]


def ends(starts: Sequence[str], lengths: Sequence[str]) -> list[float]:
    """Starts and durations, as written, to ends.

    Examples:
        >>> ends(["45.2"], ["15.1"])
        [60.3]
    """
    with localcontext(prec=_DIGITS):
        pairs = zip(starts, lengths, strict=True)
        return [float(Decimal(start) + Decimal(length)) for start, length in pairs]

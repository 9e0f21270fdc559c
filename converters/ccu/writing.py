"""Rows as cells of tables of CCU, and which of them a table can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from hlteval.converters.ccu.tables import Kind
from hlteval.syntax.tsv import Column

#: What no cell can have.
NO_CELL = r"[\t\n\r\x00]"
_NUMBER = Column("number", "number")


def number_cells(values: pl.Series) -> pl.Series:
    """Numbers as cells, whole ones without a point; null stays null.

    Examples:
        >>> number_cells(pl.Series([12.0, 0.5, None, -1e-7])).to_list()
        ['12', '0.5', None, '-1e-07']
    """
    return score_cells(values).str.strip_suffix(".0")


def score_cells(values: pl.Series) -> pl.Series:
    """Scores as cells, each with a point or an exponent; null stays null.

    The official validator refuses a table whose scores are all whole numbers.

    Examples:
        >>> score_cells(pl.Series([12.0, 0.5, None])).to_list()
        ['12.0', '0.5', None]
    """
    cells = _NUMBER.cells(values.cast(pl.Float64))
    return pl.select(pl.when(values.is_not_null()).then(cells)).to_series()


def with_number_cells(rows: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Rows with some columns of numbers as cells; `llr` is a score."""
    made = {name: score_cells if name == "llr" else number_cells for name in names}
    return rows.with_columns(cells(rows[name]).alias(name) for name, cells in made.items())


def fits(kind: Kind, rows: pl.DataFrame) -> pl.Series:
    """Which rows of cells a table can hold: each cell is what its column allows."""
    columns = [column for column in kind.columns if column.name in rows.columns]
    allowed = [
        column.valid(pl.col(column.name))
        & (pl.col(column.name).is_not_null() | pl.lit(column.nullable or column.optional))
        for column in columns
    ]
    texts = [name for name, dtype in rows.schema.items() if dtype == pl.String]
    clean = [~pl.col(name).str.contains(NO_CELL).fill_null(value=False) for name in texts]
    return rows.select(fits=pl.all_horizontal(*allowed, *clean, pl.lit(value=True))).to_series()


def text(titles: Mapping[str, str], rows: pl.DataFrame) -> str:
    """A table as text, with its header.

    Args:
        titles: the heading of each column that is written, by its name in the rows.
        rows: of cells; null is an empty cell.
    """
    cells = [pl.col(name).fill_null("") for name in titles]
    lines = rows.select(line=pl.concat_str(cells, separator="\t"))["line"]
    return "\n".join(["\t".join(titles.values()), *lines, ""])


def titles_of(kind: Kind, rows: pl.DataFrame, always: Sequence[str] = ()) -> dict[str, str]:
    """The columns of a kind that are written: optional ones if they are used, or always."""
    used = {c for c in rows.columns if rows[c].is_not_null().any()} | {*always}
    return {c.name: c.title for c in kind.columns if not c.optional or c.name in used}

r"""Escapes in the cells of tables that have no quoting: `\t`, `\n`, `\r`, `\\`, and `\e` alone."""

from __future__ import annotations

import polars as pl

_ESCAPES = {"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"}


def escaped(column: str) -> pl.Expr:
    r"""The cells of a column of texts; an empty text is `\e`, and a null stays null.

    Examples:
        >>> frame = pl.DataFrame({"text": ["a\tb", "", None]})
        >>> frame.select(escaped("text"))["text"].to_list()
        ['a\\tb', '\\e', None]
    """
    cell = pl.col(column)
    for character, escape in _ESCAPES.items():
        cell = cell.str.replace_all(character, escape, literal=True)
    return pl.when(pl.col(column) == "").then(pl.lit(r"\e")).otherwise(cell).alias(column)


def unescaped(column: str) -> pl.Expr:
    r"""The texts of a column of cells.

    Examples:
        >>> frame = pl.DataFrame({"text": ["a\\tb", r"\e", None]})
        >>> frame.select(unescaped("text"))["text"].to_list()
        ['a\tb', '', None]
    """
    cell = pl.col(column).str.replace_all(r"\\", "\0", literal=True)  # no text has this character
    for character, escape in _ESCAPES.items():
        cell = cell.str.replace_all(escape, character, literal=True)
    return (
        pl.when(pl.col(column) == r"\e")
        .then(pl.lit(""))
        .otherwise(cell.str.replace_all("\0", "\\", literal=True))
        .alias(column)
    )

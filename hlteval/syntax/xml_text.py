"""Writes XML: tags and text, of single values or of whole columns."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

ABSENT = "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
"""Characters that XML cannot hold."""
_TEXT = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#13;"))
_VALUE = (*_TEXT, ('"', "&quot;"), ("\t", "&#9;"), ("\n", "&#10;"))


def escaped(written: str) -> str:
    """Text between tags.

    Examples:
        >>> escaped('AT&T "x"')
        'AT&amp;T "x"'
    """
    return _replaced(written, _TEXT)


def _replaced(written: str, escapes: Iterable[tuple[str, str]]) -> str:
    for character, escape in escapes:
        written = written.replace(character, escape)
    return written


def attributes(pairs: Iterable[tuple[str, str | None]]) -> str:
    """The attributes with a value, each after a space.

    Examples:
        >>> attributes([("id", 'a"b'), ("lang", None)])
        ' id="a&quot;b"'
    """
    return "".join(
        f' {name}="{_replaced(value, _VALUE)}"' for name, value in pairs if value is not None
    )


def content(column: str) -> pl.Expr:
    """A column as text between tags."""
    return _column(column, _TEXT)


def _column(column: str, escapes: Iterable[tuple[str, str]]) -> pl.Expr:
    found = pl.col(column).cast(pl.String)
    for character, escape in escapes:
        found = found.str.replace_all(character, escape, literal=True)
    return found


def attribute(name: str, column: str = "") -> pl.Expr:
    """A column as an attribute after a space; null where the value is null."""
    return pl.format(f' {name}="{{}}"', _column(column or name, _VALUE))


def start_tag(element: str, *values: pl.Expr) -> pl.Expr:
    """A start tag with the attributes that are not null."""
    return pl.concat_str(pl.lit(f"<{element}"), *values, pl.lit(">"), ignore_nulls=True)

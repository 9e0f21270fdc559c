"""The columns of tables of tab-separated values: their types, patterns, values and cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

_PATTERNS = {
    "text": "",
    "integer": "[0-9]{1,15}",
    "number": r"[+-]?(?:[0-9]{1,200}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?",
}
_TYPES = {"text": pl.String(), "integer": pl.Int64(), "number": pl.Float64()}
_LONGEST = 80
WHITE_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""The white space of Unicode, for use in the brackets of a pattern; `\\s` is more in Python."""


def is_blank(text: str) -> bool:
    r"""Whether a text has no characters but white space, as Unicode defines it.

    Examples:
        >>> is_blank(" \u3000"), is_blank(""), is_blank("\x1c")
        (True, True, False)
    """
    return re.fullmatch(f"[{WHITE_SPACE}]*", text) is not None


def shortened(text: str, length: int = _LONGEST) -> str:
    """A text as a message quotes it: cut after some characters.

    Examples:
        >>> shortened("x" * 99, 3), shortened("x")
        ('xxx…', 'x')
    """
    return text if len(text) <= length else f"{text[:length]}…"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        name: in the data frame.
        kind: `text`, `integer` or `number`.
        pattern: what a cell must match in full, or a function that returns it, called when a file
            is read; by default any text, up to 15 digits, or a decimal number.
        code: of the problem that a cell does not match, at the cell; the table's `code` without.
        nullable: whether a cell may be empty, which is null.
        optional: whether lines may end before this cell, which is null then; all columns after an
            optional one are optional.
        tolerated: whether a cell that does not match is reported but read.
        heading: in the header, if not `name`.
        describe: further values of the message, from the cell; `given` and `column` are there.
        usual: what cells match that rules accept, if that is less than `pattern`: mistakes in all
            rows are recognised by it.
        words: cells that other letter case may be corrected to; by default the words of a pattern
            that is nothing but a list.
    """

    name: str
    kind: Literal["text", "integer", "number"] = "text"
    pattern: str | Callable[[], str] = ""
    code: str = ""
    nullable: bool = False
    optional: bool = False
    tolerated: bool = False
    heading: str = ""
    describe: Callable[[str], Mapping[str, object]] | None = None
    usual: str | Callable[[], str] = ""
    words: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What the header calls it."""
        return self.heading or self.name

    @property
    def full_pattern(self) -> str:
        """The pattern of a cell, empty for any text."""
        pattern = self.pattern() if callable(self.pattern) else self.pattern
        return pattern or _PATTERNS[self.kind]

    @property
    def usual_pattern(self) -> str:
        """The pattern of a cell that rules accept too, empty for any text."""
        usual = self.usual() if callable(self.usual) else self.usual
        return usual or self.full_pattern

    def accepts(self, cell: str | None) -> bool:
        r"""Whether a cell is valid; None is a cell that the line does not have.

        Examples:
            >>> score = Column("score", "number", nullable=True)
            >>> [score.accepts(cell) for cell in ("0.5", "", "nan", "1\n")]
            [True, True, False, False]
        """
        if self.full_pattern == "" or (cell is None and self.optional):
            return True
        return (self.nullable and not cell) or bool(re.fullmatch(self.full_pattern, cell or ""))

    def accepted(self, cell: pl.Expr) -> pl.Expr:
        """The same for the cells of all lines."""
        if self.full_pattern == "":
            return pl.lit(True)
        fits = cell.fill_null("").str.contains(f"^(?:{self.full_pattern})$")
        if self.nullable:
            fits |= cell.fill_null("") == ""
        return fits | cell.is_null() if self.optional else fits

    def values(self, cells: pl.Series) -> pl.Series:
        """Valid cells as values of the column's type."""
        if self.nullable:
            cells = cells.replace("", None)
        if self.kind != "number":
            return cells.cast(_TYPES[self.kind])
        values = cells.cast(pl.Float64, strict=False)
        odd = cells.filter(values.is_null()).drop_nulls().unique()  # what Polars does not take
        numbers = {text: float(text) for text in odd}
        rest = cells.replace_strict(numbers, default=None, return_dtype=pl.Float64)
        return values.fill_null(rest)

    def cells(self, values: pl.Series) -> pl.Series:
        """Values as cells; a null is an empty cell, or none in an optional column.

        Examples:
            >>> Column("score", "number").cells(pl.Series([0.5, 1e-9, None])).to_list()
            ['0.5', '1e-09', '']
        """
        cells = values.cast(pl.String)
        if self.kind == "number":  # the text of Polars is Python's but for exponents
            odd = values.filter(~values.abs().is_between(1e-3, 1e15)).unique().drop_nulls()
            cells = cells.replace(odd.cast(pl.String), pl.Series([repr(value) for value in odd]))
        return cells if self.optional else cells.fill_null("")

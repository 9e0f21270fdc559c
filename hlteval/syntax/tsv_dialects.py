"""How the cells of a table are separated and quoted, and how the usual other notations are."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

SPACES = " "
"""The separator of a table whose cells are separated by any spaces and tabs."""
WIDE = "  "
"""The separator of a table whose cells are aligned by two spaces or more."""
NAMES = {
    "\t": "tabs",
    ",": "commas",
    ";": "semicolons",
    "|": "vertical bars",
    WIDE: "several spaces",
    SPACES: "spaces",
}
"""The separators in words."""
_FEWEST = 2
"""Lines with quotation marks, of which a spreadsheet may be the cause."""
_RUN, _WIDE_RUN = re.compile("[ \t]+"), re.compile("[ ]{2,}")
_QUOTED = re.compile(r'(?:^|[\t,;|])"', re.MULTILINE)


class Row(NamedTuple):
    """A row of a table: the numbers of the lines where it begins and ends, and its cells."""

    line: int
    last: int
    cells: Sequence[str]


class Dialect(NamedTuple):
    """A notation of tables.

    Attributes:
        separator: between cells.
        quoted: whether cells may be in quotation marks, which are doubled inside.
        most: how often spaces separate cells in a line; 0 for always.
    """

    separator: str
    quoted: bool
    most: int = 0

    def rows(self, text: str) -> Iterator[Row]:
        """The rows of a text; empty lines are none.

        Raises:
            csv.Error: if a quoted cell is too long, as where a quotation mark is missing.

        Examples:
            >>> [row.cells for row in Dialect(";", True).rows('a;"b; c"')]
            [['a', 'b; c']]
        """
        lines = io.StringIO(text, newline="\n")
        if not self.quoted:
            for number, line in enumerate(lines, start=1):
                bare = line.rstrip("\r\n")
                if bare.strip():
                    yield Row(number, number, self._split(bare))
            return
        spaced = self.separator == SPACES
        reader = csv.reader(lines, delimiter=self.separator, skipinitialspace=spaced)
        number = 1
        for cells in reader:
            if any(cells):
                yield Row(number, reader.line_num, cells)
            number = reader.line_num + 1

    def _split(self, line: str) -> Sequence[str]:
        if self.separator == SPACES:
            return _RUN.split(line.strip(" \t"), maxsplit=self.most)
        if self.separator == WIDE:
            return _WIDE_RUN.split(line.strip(" "))
        return line.split(self.separator)

    def line(self, cells: Sequence[str]) -> str:
        r"""Cells as a line; line breaks, and separators that cannot be quoted, become spaces.

        Examples:
            >>> Dialect("\t", False).line(["a", "b\nc"]), Dialect(",", True).line(["a,b", "c"])
            ('a\tb c', '"a,b",c')
        """
        plain = [re.sub(r"\r?\n|\r", " ", cell) for cell in cells]
        if self.quoted:
            written = io.StringIO()
            csv.writer(written, delimiter=self.separator, lineterminator="").writerow(plain)
            return written.getvalue()
        return self.separator.join(cell.replace(self.separator, " ") for cell in plain)


def own(separator: str) -> Dialect:
    """The notation of a table that is declared with a separator: only commas have quoting."""
    return Dialect(separator, separator == ",")


def others(text: str, separator: str) -> Iterator[Dialect]:
    """The notations that a text may have in place of the declared one, the likeliest first."""
    begin = text[:10_000]
    quoted = sum(_QUOTED.search(line) is not None for line in begin.split("\n"))
    separators = [separator, *(each for each in NAMES if each != separator and each in begin)]
    for each in separators:
        fewest = _FEWEST if each == separator else 1
        for quoting in (True, False) if quoted >= fewest else (each == "," == separator,):
            possible = not (quoting and each == WIDE)
            if possible and Dialect(each, quoting) != own(separator):
                yield Dialect(each, quoting)


def sample(dialect: Dialect, text: str, size: int) -> list[Row]:
    """The first rows of a text in a notation; none if it is not in it."""
    try:
        return list(islice(dialect.rows(text), size))
    except csv.Error:
        return []

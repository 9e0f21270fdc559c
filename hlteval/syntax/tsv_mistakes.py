"""Mistakes in all rows of a table: its notation, header and cells; their diagnosis and repair."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from typing import NamedTuple

from hlteval.findings.suggest import closest
from hlteval.syntax.tsv import Column, Table, shortened
from hlteval.syntax.tsv_steps import (
    LACKING,
    Columns,
    Step,
    cell_steps,
    fits,
    length_step,
    misfits,
    order_step,
)

SPACES = " "
"""The separator of a table whose cells are separated by any spaces and tabs."""
NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "vertical bars", SPACES: "spaces"}
"""The separators in words."""
_FEWEST = 2
"""Lines with quotation marks, of which a spreadsheet may be the cause."""
_RUN = re.compile("[ \t]+")
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
    """

    separator: str
    quoted: bool

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
                    spaced = self.separator == SPACES
                    cells = _RUN.split(bare.strip(" \t")) if spaced else bare.split(self.separator)
                    yield Row(number, number, cells)
            return
        spaced = self.separator == SPACES
        reader = csv.reader(lines, delimiter=self.separator, skipinitialspace=spaced)
        number = 1
        for cells in reader:
            if any(cells):
                yield Row(number, reader.line_num, cells)
            number = reader.line_num + 1

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
            if Dialect(each, quoting) != own(separator):
                yield Dialect(each, quoting)


def sample(dialect: Dialect, text: str, size: int) -> list[Row]:
    """The first rows of a text in a notation; none if it is not in it."""
    try:
        return list(islice(dialect.rows(text), size))
    except csv.Error:
        return []


RENAMED, MISSING, EXTRA = "TAB103", "TAB104", "TAB105"
_ALIKE = 50.0
"""Least similarity, in percent, of a name in a header; the cells below it must fit too."""
_NO_WORD = "?!"
"""A cell that only columns of any text take."""
_MOST = 100
"""Most columns of a table."""


@dataclass(frozen=True)
class Header:
    """A way to read the first row of a table.

    Attributes:
        columns: those of the other rows, in the order of the file.
        is_row: whether the first row is a header.
        code: of what is wrong with it; empty if nothing is.
        values: of the message.
        written: the header as it should be; empty where there should be none.
        known: whether it names columns.
    """

    columns: Columns
    is_row: bool
    code: str = ""
    values: Mapping[str, object] = field(default_factory=dict)
    written: Sequence[str] = ()
    known: bool = False


def read_header(rows: Sequence[Sequence[str]], table: Table) -> Iterator[Header]:
    """The ways to read the first of some rows, the likeliest first.

    Args:
        rows: the first rows of a file, in the notation that it may have.
        table: the declaration.
    """
    first = [cell.strip() for cell in rows[0]]
    if len(first) > _MOST:
        return
    known = table.ordered_by("\t".join(rows[0])) if table.header != "none" else None
    if known is not None:
        columns: Columns = tuple(None if "\t" in c.name else c for c in known.columns)
        yield Header(columns, is_row=True, written=rows[0], known=True)
        return
    if table.header != "required":
        yield Header(table.columns, is_row=False)
        words = [cell for cell in first if cell and not any(map(str.isdigit, cell))]
        fit = all(fits(column, cell) for column, cell in zip(table.columns, first, strict=False))
        if not fit and len(words) >= len(first) - 1 and len(set(first)) == len(first):
            values = {"given": shortened(" ".join(first), 80)}
            yield Header(table.columns, True, EXTRA, values)
        return
    titles = [column.title for column in table.columns]
    if 2 * sum(cell in titles for cell in first) > len(first) or not _recurs(rows):
        if not any(character in title for title in first for character in '",;|'):
            yield from _header_with_names(first, _columns_by_title(first, rows[1:], table), table)
        return
    needed = tuple(column for column in table.columns if not column.optional)
    for columns in dict.fromkeys((table.columns, needed)):
        if len(first) == len(columns):
            names = [column.title for column in columns]
            values = {"header": shortened(" ".join(names), 200)}
            yield Header(columns, False, MISSING, values, names)


def _recurs(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of some rows looks like the others, and not like a header."""
    first, *others = rows
    numbers = [any(map(str.isdigit, cell)) for cell in first]
    return any(
        cell and any(at < len(row) and (row[at] == cell or numbers[at]) for row in others)
        for at, cell in enumerate(first)
    )


def _columns_by_title(
    titles: Sequence[str], rows: Sequence[Sequence[str]], table: Table
) -> list[Column | None]:
    """The column that each title of a header names, or nearly names; None for the others.

    A title that is like no name names the only column that its cells fit; columns whose pattern
    fits anything are not recognized by cells.
    """
    free = {column.title: column for column in table.columns}
    columns: list[Column | None] = [free.pop(title, None) for title in titles]
    for at, title in enumerate(titles):
        if columns[at] is None and (other := closest(title, free, cutoff=_ALIKE)):
            columns[at] = free.pop(other)
    fitting: dict[int, list[Column]] = {}
    for at in (at for at, column in enumerate(columns) if column is None):
        cells = [row[at] for row in rows if at < len(row)]
        fitting[at] = [
            column
            for column in free.values()
            if not fits(column, _NO_WORD) and any(cells) and all(fits(column, c) for c in cells)
        ]
    for at, candidates in fitting.items():
        if len(candidates) == 1 and sum(candidates[0] in c for c in fitting.values()) == 1:
            columns[at] = candidates[0]
    return columns


def _header_with_names(
    titles: Sequence[str], columns: Sequence[Column | None], table: Table
) -> Iterator[Header]:
    """The reading of a header with other names, of which some columns may be known.

    A header that lacks a column is none: its format reports the name.
    """
    there = {column.name for column in columns if column}
    if any(c.name not in there and not (c.optional or c.nullable) for c in table.columns):
        return
    written = [
        column.title if column else title for column, title in zip(columns, titles, strict=True)
    ]
    pairs = [
        f"{shortened(title, 30) or 'nothing'} for {right}"
        for title, right in zip(titles, written, strict=True)
        if title != right
    ]
    values = {"names": ", ".join(pairs), "header": shortened(" ".join(written), 200)}
    yield Header(tuple(columns), True, RENAMED if pairs else "", values, written, known=True)


QUOTES, SEPARATORS = "TAB101", "TAB102"
LARGEST = 100_000_000
"""Most characters of a text that is looked at: the time for more would be felt."""
_SAMPLE = 60
"""Rows from which a diagnosis is made."""
_SURE = 0.9
"""The share of these rows that must fit."""
_STEPS = 4
"""Most steps, beside those about notation and header: who made more mistakes made another table."""


class Mistake(NamedTuple):
    """A mistake in the rows of a table.

    Attributes:
        code: of the finding.
        line: the first line concerned.
        values: of the message, with `count` rows of `rows` that it explains.
    """

    code: str
    line: int
    values: dict[str, object]


@dataclass(frozen=True)
class Diagnosis:
    """The mistakes in all rows of a table.

    Attributes:
        table: the declaration of the table.
        dialect: the notation that it has.
        header: how its first row is read.
        steps: what was done with the cells of the other rows, in order.
        unfit: how many of the first rows do not fit then.
    """

    table: Table
    dialect: Dialect
    header: Header
    steps: tuple[Step, ...] = ()
    unfit: int = 0

    @property
    def codes(self) -> list[str]:
        """The codes of its mistakes, in the order in which they are undone."""
        notation = [] if self.dialect == own(self.table.separator) else [self._notation]
        header = [self.header.code] if self.header.code else []
        return [*notation, *header, *(step.code for step in self.steps)]

    @property
    def _notation(self) -> str:
        return QUOTES if self.dialect.separator == self.table.separator else SEPARATORS

    def mistakes(self, text: str) -> list[Mistake]:
        """Its mistakes in the text of a table, with the rows that each explains."""
        counts: Counter[int] = Counter()
        lines = text.split("\n")
        total = marked = first = 0
        rows_of_table = (
            row for row in self.dialect.rows(text) if not self.table.ignores(row.cells)
        )
        for at, row in enumerate(rows_of_table):
            marked += '"' in lines[row.line - 1]
            if not at and self.header.is_row:
                continue
            first, total = first or row.line, total + 1
            cells = list(row.cells)
            for number, step in enumerate(self.steps):
                changed = step.row(cells)
                counts[number] += changed != cells
                cells = changed
        mistakes = []
        if self._notation in self.codes:
            rows = total + self.header.is_row
            values: dict[str, object] = {
                "wrong": NAMES[self.dialect.separator],
                "right": NAMES[self.table.separator],
                "count": marked if self._notation == QUOTES else rows,
                "rows": rows,
            }
            mistakes.append(Mistake(self._notation, 1, values))
        if self.header.code:
            mistakes.append(Mistake(self.header.code, 1, {**self.header.values, "rows": total}))
        for number, step in enumerate(self.steps):
            values = {**step.values, "count": counts[number] or total, "rows": total}
            mistakes.append(Mistake(step.code, first or 1, values))
        return mistakes

    def repaired(self, text: str, codes: Collection[str]) -> list[tuple[int, str]] | None:
        """The lines of a table after its mistakes are undone, each with the number that it had.

        Args:
            text: of the table.
            codes: the mistakes that are undone; the first of others ends what is done.

        Returns:
            The lines with their carriage returns; None if nothing can be undone.
        """
        allowed = set(takewhile(lambda code: code in codes and code != LACKING, self.codes))
        if not allowed:
            return None
        dialect = own(self.table.separator)
        lines, fresh, skipped = text.split("\n"), dict[int, str](), set[int]()
        at = -1
        for row in self.dialect.rows(text):
            cells = list(row.cells)
            if self.table.ignores(cells):
                if self.dialect != dialect:
                    fresh[row.line] = dialect.line(cells)
                continue
            at += 1
            is_head = at == 0 and self.header.is_row
            body = list(self.header.written) if is_head and self.header.code in allowed else cells
            for step in self.steps:
                if step.code in allowed:
                    body = step.head(body) if is_head else step.row(body)
            skipped.update(range(row.line + 1, row.last + 1))
            if not body:
                skipped.add(row.line)
            elif self.dialect != dialect or body != cells:
                end = "\r" * lines[row.last - 1].endswith("\r")
                fresh[row.line] = dialect.line(body) + end
        begin = []
        if self.header.code in allowed and not self.header.is_row and self.header.written:
            begin = [(0, dialect.line(self.header.written))]
        numbered = enumerate(lines, start=1)
        return begin + [(n, fresh.get(n, line)) for n, line in numbered if n not in skipped]


def diagnose(text: str, tables: Sequence[Table]) -> Diagnosis | None:
    r"""Diagnose the mistakes in all rows of a text that should be a table.

    Args:
        text: of the file.
        tables: the declarations of the tables that it may be, the likeliest first.

    Returns:
        None if it is no other notation of one of the tables.

    Examples:
        >>> from hlteval.syntax.tsv import Column
        >>> table = Table((Column("name", pattern="[a-z]+"), Column("score", "number")))
        >>> found = diagnose("a;0,5\nb;0,25\nc;1\n", [table])
        >>> found.codes
        ['TAB102', 'TAB106']
        >>> found.repaired("a;0,5\nb;0,25\nc;1\n", found.codes)
        [(1, 'a\t0.5'), (2, 'b\t0.25'), (3, 'c\t1'), (4, '')]
    """
    if len(text) > LARGEST:
        return None
    candidates = [
        diagnosis
        for table in tables
        for dialect in (own(table.separator), *others(text, table.separator))
        if (diagnosis := _in_dialect(text, table, dialect)) is not None
    ]
    best = min(candidates, key=lambda each: (each.unfit, len(each.codes)), default=None)
    if best is None or best.codes:
        return best
    # Cells without a pattern may be in quotation marks: spreadsheets write some so.
    cells = re.finditer(r'(?:^|\t)"(?:[^"\t\n]|"")*"(?=\t|\r?$)', text, re.MULTILINE)
    if best.table.separator != "\t" or len(list(islice(cells, _FEWEST))) < _FEWEST:
        return None
    return replace(best, dialect=Dialect(best.table.separator, quoted=True))


def _in_dialect(text: str, table: Table, dialect: Dialect) -> Diagnosis | None:
    """The diagnosis of a table in a notation, if its rows fit then."""
    rows = sample(dialect, text, _SAMPLE)
    if dialect.separator == SPACES:
        declared = sample(own(table.separator), text, _SAMPLE)
        if all(len(row.cells) == len(table.columns) for row in declared):
            return None  # each row has a cell for each column: spaces do not separate them
    begin = [row.cells for row in rows if not table.ignores(row.cells)]
    if not begin:
        return None
    candidates = []
    for header in read_header(begin, table):
        body = begin[header.is_row :]
        steps, unfit = _steps(header.columns, body, table)
        if unfit <= (1 - _SURE) * len(body) and (body or header.known):
            candidates.append(Diagnosis(table, dialect, header, tuple(steps), unfit))
    return min(candidates, key=lambda each: (each.unfit, len(each.codes)), default=None)


def _steps(columns: Columns, body: Sequence[Sequence[str]], table: Table) -> tuple[list[Step], int]:
    """The steps after which the most cells fit, and how many rows do not."""
    steps: list[Step] = []
    rows = [list(cells) for cells in body]
    if sized := length_step(columns, rows, table):
        columns = sized[1]
        steps.append(sized[0])
        rows = [sized[0].row(cells) for cells in rows]
    if ordered := order_step(columns, table):
        steps.append(ordered)
        rows = [ordered.row(cells) for cells in rows]
        columns = table.columns
    for _ in range(_STEPS):
        if not (step := cell_steps(columns, rows, table)):
            break
        steps.append(step)
        rows = [step.row(cells) for cells in rows]
    return steps, misfits(columns, rows, table)

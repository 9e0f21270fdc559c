"""Mistakes in all rows of a table: its notation, header and cells; their diagnosis and repair."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache, partial
from itertools import combinations, islice, pairwise, takewhile
from typing import NamedTuple

from hlteval.findings.suggest import closest
from hlteval.syntax.tsv import Column, Table, shortened

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


_SURE = 0.9
"""The share of rows that must fit, and of cells that a step that changes values must explain."""
Columns = tuple[Column | None, ...]
"""The columns of a file in their order; None for one that the table does not have."""
Cells = list[str]
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
_PERCENTAGE = re.compile(r"([0-9]{1,3}(?:[.,][0-9]*)?)\s*%|(?:100|[0-9]{1,2})(?:\.[0-9]*)?")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?")
_FEWEST_ROWS = 2
"""Rows of which a step that changes values must explain at least so many."""
_LEAST, _MOST_WORDS = 2, 50
COMMAS, PERCENTAGES, EXCHANGED = "TAB106", "TAB107", "TAB108"
SURPLUS, LACKING, CASE = "TAB109", "TAB110", "TAB111"


def same(cells: Cells) -> Cells:
    """Return cells as they are."""
    return cells


@dataclass(frozen=True)
class Step:
    """A step that makes cells fit.

    Attributes:
        code: of the finding.
        values: of its message.
        row: the cells of a row after it.
        head: the cells of the header after it.
    """

    code: str
    values: Mapping[str, object]
    row: Callable[[Cells], Cells] = same
    head: Callable[[Cells], Cells] = same


def _point(cell: str) -> str:
    """A number with a decimal point."""
    return cell.replace(",", ".") if _COMMA.fullmatch(cell.strip()) else cell


def _share(cell: str) -> str:
    """A percentage as a number from 0 to 1."""
    found = _PERCENTAGE.fullmatch(cell.strip())
    if not found:
        return cell
    share = Decimal((found[1] or found[0]).replace(",", ".")) / 100
    return f"{share:f}" if share % 1 else f"{share:.1f}"


def _word_of_list(cell: str, words: Sequence[str]) -> str:
    """A word of a list as the list writes it."""
    alike = [word for word in words if word.casefold() == cell.strip().casefold()]
    return alike[0] if len(alike) == 1 else cell


def _order(places: Sequence[int], names: Sequence[str], *, with_header: bool) -> Step:
    """The step that puts columns in another order: `places` has for each its place before."""

    def move(cells: Cells) -> Cells:
        if len(cells) <= max(places):
            return cells
        return [*(cells[at] for at in places), *cells[len(places) :]]

    values = {"columns": f"{', '.join(names[:-1])} and {names[-1]}"}
    return Step(EXCHANGED, values, move, move if with_header else same)


def order_step(columns: Columns, table: Table) -> Step | None:
    """The step for a header in another order than that of the table, if that counts."""
    names = [column.name if column else "" for column in columns]
    wanted = [column.name for column in table.columns if column.name in names]
    if table.any_order or "" in names or names == wanted:
        return None
    places = [names.index(name) for name in wanted]
    moved = [at for at, place in enumerate(places) if at != place]
    titles = [name_of(columns, at, table) for at in moved]
    return _order(places, titles, with_header=True)


@lru_cache(maxsize=10_000)
def fits(column: Column | None, cell: str) -> bool:
    """Whether a cell looks like one of a column."""
    if column is None or (column.nullable and not cell):
        return True
    pattern = column.usual_pattern
    return pattern == "" or re.fullmatch(pattern, cell) is not None


def name_of(columns: Columns, at: int, table: Table) -> str:
    """The name of a column in messages: its heading, or its number where there is no header."""
    column = columns[at]
    title = column.title if column else f"column {at + 1}"
    return title if table.header == "required" else f"{title} (field {at + 1})"


def _counts(columns: Columns, table: Table) -> range:
    """How many cells a row may have."""
    fewest = sum(column is None or not column.optional for column in columns)
    if table.ragged:
        return range(1 if table.header == "required" else fewest, 10**9)
    return range(fewest, len(columns) + 1)


def _bad(columns: Columns, rows: Iterable[Cells], table: Table) -> list[int]:
    """How many cells of each column do not fit, in rows with as many cells as they must have."""
    counts, known = [0] * len(columns), _counts(columns, table)
    names = [column.name if column else "" for column in columns]
    ascending = [names.index(name) for name in table.ascending if name in names]
    for cells in rows:
        if len(cells) not in known:
            continue
        for at, (column, cell) in enumerate(zip(columns, cells, strict=False)):
            counts[at] += not fits(column, cell)
        if len(ascending) == 2 and max(ascending) < len(cells):
            start, end = (cells[at] for at in ascending)
            both = _NUMBER.fullmatch(start) and _NUMBER.fullmatch(end)
            for at in ascending if both and float(start) > float(end) else ():
                counts[at] += 1
    return counts


def misfits(columns: Columns, rows: Sequence[Cells], table: Table) -> int:
    """How many rows do not fit the columns of a table."""
    known = _counts(columns, table)
    return sum(len(cells) not in known or any(_bad(columns, [cells], table)) for cells in rows)


def length_step(
    columns: Columns, rows: Sequence[Cells], table: Table
) -> tuple[Step, Columns] | None:
    """The step for rows with a column too many, or too few, and the columns after it.

    Args:
        columns: those of the header, or of the table.
        rows: the rows.
        table: the declaration.
    """
    lengths = Counter(map(len, rows)).most_common(1)
    if not lengths or lengths[0][1] < _FEWEST_ROWS:
        return None
    length = lengths[0][0]
    unknown = [at for at, column in enumerate(columns) if column is None]
    if len(unknown) == 1 and length == len(columns):
        at = unknown[0]  # another one that a header names is reported by its name
        numbers = [cells[at] for cells in rows if len(cells) == length]
        return (_too_many(rows, length, at), _without(columns, at)) if _counts_up(numbers) else None
    if length == len(columns) + 1 and not table.ragged:
        tried = range(length)
        at = min(tried, key=lambda at: _badness(_leaving_out(at, length), columns, rows, table, at))
        return _too_many(rows, length, at), columns
    if length + 1 == _counts(columns, table).start and length > 1:
        at = min(
            range(len(columns)),
            key=lambda at: (sum(_bad(_without(columns, at), rows, table)), -at),
        )
        return Step(LACKING, {"column": name_of(columns, at, table)}), _without(columns, at)
    return None


def _counts_up(cells: Sequence[str]) -> bool:
    """Whether cells are the numbers of rows."""
    return [cell for cell in cells if cell.isdecimal()] == list(cells) and all(
        int(other) == int(cell) + 1 for cell, other in pairwise(cells)
    )


def _without(columns: Columns, at: int) -> Columns:
    return (*columns[:at], *columns[at + 1 :])


def _leaving_out(at: int, length: int) -> Callable[[Cells], Cells]:
    """Rows of some length without a cell."""
    return lambda cells: [*cells[:at], *cells[at + 1 :]] if len(cells) == length else cells


def _badness(
    leave_out: Callable[[Cells], Cells],
    columns: Columns,
    rows: Sequence[Cells],
    table: Table,
    at: int,
) -> tuple[int, bool, int]:
    """How badly rows fit without a column; of equal ones, numbers of rows go, then the last."""
    numbered = _counts_up([cells[at] for cells in rows if at < len(cells)])
    return sum(_bad(columns, map(leave_out, rows), table)), not numbered, -at


def _too_many(rows: Sequence[Cells], length: int, at: int) -> Step:
    """The step that leaves a column out, in the header too if it has it."""
    example = next((cells[at] for cells in rows if len(cells) == length), "")
    values = {"column": f"column {at + 1}", "example": shortened(example, 40) or "nothing"}
    leave_out = _leaving_out(at, length)
    return Step(SURPLUS, values, leave_out, leave_out)


def cell_steps(columns: Columns, rows: Sequence[Cells], table: Table) -> Step | None:
    """The step after which the most cells more fit; None if there is none."""
    bad = _bad(columns, rows, table)
    if not any(bad):
        return None
    gains = [(step, gain) for step, gain in _gains(columns, rows, table, bad) if gain > 0]
    if not gains:
        return None
    most = max(gain for _, gain in gains)
    best = [step for step, gain in gains if gain == most]
    # Columns that may be exchanged with several others are not certain.
    return None if len(best) > 1 and best[0].code == EXCHANGED else best[0]


def _gains(
    columns: Columns, rows: Sequence[Cells], table: Table, bad: Sequence[int]
) -> Iterator[tuple[Step, int]]:
    """Each step that explains nearly all cells that do not fit, and how many."""
    for at, column in enumerate(columns):
        if column is None:
            continue
        wrong = [c[at] for c in rows if at < len(c) and not fits(column, c[at])]
        for code, change in _changes(column, wrong, len(rows)):
            left = sum(not fits(column, change(cell)) for cell in wrong)
            if left <= (1 - _SURE) * len(wrong):
                example, meant = shortened(wrong[0], 40), shortened(change(wrong[0]), 40)
                values = {"column": name_of(columns, at, table), "example": example, "meant": meant}
                yield Step(code, values, _on_cell(at, change)), len(wrong) - left
    for pair in combinations(range(len(columns)), 2):
        before = sum(bad[at] for at in pair)
        if None in (columns[pair[0]], columns[pair[1]]):
            continue
        if max(bad[at] for at in pair) < max(_FEWEST_ROWS, len(rows) / 2):
            continue
        places = list(range(len(columns)))
        places[pair[0]], places[pair[1]] = reversed(pair)
        names = [name_of(columns, at, table) for at in pair]
        exchange = _order(places, names, with_header=False)
        after = _bad(columns, map(exchange.row, rows), table)
        left = sum(after[at] for at in pair)
        if left <= (1 - _SURE) * before:
            yield exchange, before - left


def _on_cell(at: int, change: Callable[[str], str]) -> Callable[[Cells], Cells]:
    """Rows with one cell changed."""
    return lambda cells: (
        [*cells[:at], change(cells[at]), *cells[at + 1 :]] if at < len(cells) else cells
    )


def _changes(
    column: Column, wrong: Sequence[str], rows: int
) -> Iterator[tuple[str, Callable[[str], str]]]:
    """The changes that may undo what was done to the cells of a column that do not fit."""
    if len(wrong) < max(_FEWEST_ROWS, rows / 2):
        return
    if _COMMA.fullmatch(wrong[0].strip()):
        yield COMMAS, _point
    in_all = len(wrong) >= _SURE * rows or "%" in wrong[0]
    if _PERCENTAGE.fullmatch(wrong[0].strip()) and in_all and len(wrong) > _FEWEST_ROWS:
        yield PERCENTAGES, _share
    if words := _words(column.usual_pattern):
        yield CASE, partial(_word_of_list, words=words)


@lru_cache(maxsize=200)
def _words(pattern: str) -> tuple[str, ...]:
    """The words of a pattern that is nothing but a list of them."""
    words = [re.sub(r"\\([^\w])", r"\1", word) for word in pattern.split("|")]
    plain = all(re.fullmatch(r"(?:\\[^\w]|[\w ,/-])+", word) for word in pattern.split("|"))
    return tuple(words) if plain and _LEAST <= len(words) <= _MOST_WORDS else ()


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

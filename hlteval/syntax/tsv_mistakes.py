"""Mistakes in all rows of a table: notation, header and cells, their diagnosis and repair.

They are diagnosed only if there are errors: from the first 60 rows, in each notation that they may
have, with the steps that make their cells fit (`syntax/tsv_steps.py`).
`workflows/run/checks.py` reads the table again without the mistakes; what is gone follows from
them and is not reported. Texts of more than 100 million characters are not diagnosed: a table of
20 MB with semicolons and decimal commas takes 7 s of CPU time and 600 MB.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from typing import NamedTuple

from hlteval.findings.suggest import closest
from hlteval.syntax.tsv import Column, Table, shorten
from hlteval.syntax.tsv_steps import (
    LENGTHS,
    NO_WORD,
    NO_WORDS,
    Columns,
    Step,
    cell_steps,
    fits,
    length_step,
    misfits,
    order_step,
)

#: The separator of a table whose cells are separated by any spaces and tabs.
SPACES = " "
#: The separator of a table whose cells are aligned by two spaces or more.
WIDE = "  "
#: The separators in words.
_SIGNS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "vertical bars"}
NAMES = {**_SIGNS, WIDE: "several spaces", SPACES: "spaces"}
#: Lines with quotation marks, of which a spreadsheet may be the cause.
_FEWEST = 2
QUOTES, SEPARATORS = "TAB101", "TAB102"
RENAMED, MISSING, EXTRA = "TAB103", "TAB104", "TAB105"
#: Most characters of a text that is looked at: the time for more would be felt.
LARGEST = 100_000_000
#: Rows from which a diagnosis is made.
_SAMPLE = 60
#: The share of these rows that must fit.
_SURE = 0.9
#: Most steps, beside those about notation and header: who made more mistakes made another table.
_STEPS = 4
#: Least similarity, in percent, of a name in a header; the cells below it must fit too.
_ALIKE = 50.0
#: Most columns of a table.
_MOST = 100
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
    single = not any("\t" in cell for cell in rows[0])  # else it is a header in its own notation
    known = table.ordered_by("\t".join(rows[0])) if single and table.header != "none" else None
    if known is not None:
        own: Columns = tuple(None if "\t" in column.name else column for column in known.columns)
        yield Header(own, is_row=True, written=rows[0], known=True)
        return
    if table.header != "required":
        yield from _without_header(first, table)
        return
    titles = [column.title for column in table.columns]
    needed = tuple(column for column in table.columns if not column.optional)
    if is_numbered(first) and len(first) in {len(titles), len(needed)}:
        columns = table.columns if len(first) == len(titles) else needed
        yield from _known_header(first, list(columns), table)
        return
    if 2 * sum(cell in titles for cell in first) > len(first) or not _recurs(rows):
        if not any(character in title for title in first for character in '",;|'):
            yield from _known_header(first, _match_titles(first, rows[1:], table), table)
        return
    for columns in dict.fromkeys((table.columns, needed)):
        if len(first) == len(columns):
            names = [column.title for column in columns]
            values = {"header": shorten(" ".join(names), 200)}
            yield Header(columns, False, MISSING, values, names)


def _without_header(first: Sequence[str], table: Table) -> Iterator[Header]:
    """The readings of the first row of a table that needs no header."""
    yield Header(table.columns, is_row=False)
    words = [cell for cell in first if cell and not any(map(str.isdigit, cell))]
    wrong = not all(map(fits, table.columns, first))
    named = len(words) >= max(1, len(first) - 1) and len(set(first)) == len(first) > 1
    if wrong and (named or is_numbered(first)):
        given = shorten(" ".join(first), 80)
        yield Header(table.columns, True, EXTRA, {"given": given})


def is_numbered(cells: Sequence[str]) -> bool:
    """Whether cells are the numbers that programs give columns without names.

    Examples:
        >>> is_numbered(["0", "1", "2"]), is_numbered(["1", "2", "3"]), is_numbered(["0"])
        (True, False, False)
    """
    return len(cells) > 1 and list(cells) == list(map(str, range(len(cells))))


def _recurs(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of some rows looks like the others, and not like a header."""
    first, *others = rows
    for at, cell in enumerate(first):
        below = [row[at] for row in others if at < len(row)]
        if cell and (cell in below or (below and any(map(str.isdigit, cell)))):
            return True
    return False


def _match_titles(
    titles: Sequence[str], rows: Sequence[Sequence[str]], table: Table
) -> list[Column | None]:
    """The column that each title of a header names, or nearly names; None for the others.

    A title that is like no name names the only column that its cells fit.
    """
    free = {column.title: column for column in table.columns}
    found: list[Column | None] = [free.pop(title, None) for title in titles]
    for at, title in enumerate(titles):
        if found[at] is None and (other := closest(title, free, cutoff=_ALIKE)):
            found[at] = free.pop(other)
    # Columns that reject some cells, so that cells that fit identify them.
    telling = [column for column in free.values() if not fits(column, NO_WORD)]
    fitting: dict[int, list[Column]] = {}
    for at, column in enumerate(found):
        below = [row[at] for row in rows if at < len(row)]
        if column is None and any(below):
            fitting[at] = [each for each in telling if all(fits(each, cell) for cell in below)]
    for at, columns in fitting.items():
        if len(columns) == 1 and sum(columns[0] in others for others in fitting.values()) == 1:
            found[at] = columns[0]
    return found


def _known_header(
    titles: Sequence[str], found: list[Column | None], table: Table
) -> Iterator[Header]:
    """The reading of a header with other names, of which some columns may have been found.

    A header that lacks a column is none: its format reports the name.
    """
    needed = {own.name for own in table.columns if not (own.optional or own.nullable)}
    if needed - {column.name for column in found if column}:
        return
    both = list(zip(titles, found, strict=True))
    written = [column.title if column else title for title, column in both]
    others = [(title, own.title) for title, own in both if own and own.title != title]
    pairs = [f"{shorten(title, 30) or 'nothing'} for {right}" for title, right in others]
    values = {"names": ", ".join(pairs), "header": shorten(" ".join(written), 200)}
    yield Header(tuple(found), True, RENAMED if pairs else "", values, written, known=True)


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
    """Mistakes in all rows of a table.

    Attributes:
        table: the declaration of the table.
        dialect: the notation that it has.
        header: how its first row is read.
        steps: what was done with the cells of the other rows, in order.
        unfit: how many of the first rows do not fit then.
        can_split: whether it is known where cells end.
    """

    table: Table
    dialect: Dialect
    header: Header
    steps: tuple[Step, ...] = ()
    unfit: int = 0
    can_split: bool = True

    @property
    def codes(self) -> list[str]:
        """The codes of its mistakes, in the order in which they are undone."""
        notation = [] if self.dialect == own(self.table.separator) else [self._notation]
        header = [self.header.code] if self.header.code else []
        return [*notation, *header, *(step.code for step in self.steps)]

    @property
    def is_certain(self) -> bool:
        """Whether it is known how to undo all of its mistakes."""
        return self.can_split and all(step.can_undo for step in self.steps)

    @property
    def _notation(self) -> str:
        return QUOTES if self.dialect.separator == self.table.separator else SEPARATORS

    def mistakes(self, text: str) -> list[Mistake]:
        """Its mistakes in the text of a table, with the rows that each explains."""
        counts: Counter[int] = Counter()
        lines = text.split("\n")
        total = marked = first = 0
        for at, row in enumerate(self._rows(text)):
            marked += '"' in lines[row.line - 1]
            if not at and self.header.is_row:
                continue
            first, total = first or row.line, total + 1
            cells = list(row.cells)
            for number, step in enumerate(self.steps):
                changed = step.row(cells)
                counts[number] += changed != cells
                cells = changed
        found = []
        if self._notation in self.codes:
            wrong, right = NAMES[self.dialect.separator], NAMES[self.table.separator]
            where = "" if self.can_split else " where no cell can have a space"
            hint = f"separate cells by {right}; --fix does so{where}"
            names: dict[str, object] = {"wrong": wrong, "right": right, "hint": hint}
            count = marked if self._notation == QUOTES else total + self.header.is_row
            rows = total + self.header.is_row
            found.append(Mistake(self._notation, 1, {**names, "count": count, "rows": rows}))
        if self.header.code:
            found.append(Mistake(self.header.code, 1, {**self.header.values, "rows": total}))
        for number, step in enumerate(self.steps):
            values = {**step.values, "count": counts[number] or total, "rows": total}
            found.append(Mistake(step.code, first or 1, values))
        return found

    def _rows(self, text: str) -> Iterator[Row]:
        """The rows, without lines that are none."""
        return (row for row in self.dialect.rows(text) if not self.table.ignores(row.cells))

    def repair(self, text: str, codes: Collection[str]) -> list[tuple[int, str]] | None:
        """The lines of a table after its mistakes are undone, each with the number that it had.

        Args:
            text: of the table.
            codes: the mistakes that are undone; the first of others ends what is done.

        Returns:
            The lines with their carriage returns; None if nothing can be undone.
        """
        if not self.can_split:
            return self._split(text) if self._notation in codes else None
        open_codes = {step.code for step in self.steps if not step.can_undo}
        able = {*codes} - open_codes
        allowed = {*takewhile(able.__contains__, self.codes)}
        if not allowed:
            return None
        dialect = own(self.table.separator)
        lines, fresh, skipped = text.split("\n"), dict[int, str](), set[int]()
        is_header = self.header.is_row
        for row in self.dialect.rows(text):
            cells = list(row.cells)
            if self.table.ignores(cells):
                if self.dialect != dialect:
                    fresh[row.line] = dialect.line(cells)
                continue
            body = list(self.header.written) if is_header and self.header.code in allowed else cells
            for step in self.steps:
                if step.code in allowed:
                    body = step.head(body) if is_header else step.row(body)
            is_header = False
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

    def _split(self, text: str) -> list[tuple[int, str]] | None:
        """The lines with separators where no cell can have a space; None if there is no such."""
        lines, columns = text.split("\n"), self.table.columns
        whole = (row for row in self.dialect.rows(text) if len(row.cells) == len(columns))
        certain = [row for row in whole if not misfits(columns, [list(row.cells)], self.table)]
        for row in certain:
            end = "\r" * lines[row.line - 1].endswith("\r")
            lines[row.line - 1] = own(self.table.separator).line(row.cells) + end
        return list(enumerate(lines, start=1)) if certain else None


def diagnose(text: str, tables: Sequence[Table]) -> Diagnosis | None:
    r"""Diagnose the mistakes in all rows of a text that should be a table.

    Args:
        text: of the file.
        tables: the declarations of the tables that it may be, the likeliest first.

    Returns:
        None if it is not another notation of one of the tables.

    Examples:
        >>> from hlteval.syntax.tsv import Column
        >>> table = Table((Column("name", pattern="[a-z]+"), Column("score", "number")))
        >>> found = diagnose("a;0,5\nb;0,25\nc;1\n", [table])
        >>> found.codes
        ['TAB102', 'TAB106']
        >>> found.repair("a;0,5\nb;0,25\nc;1\n", found.codes)
        [(1, 'a\t0.5'), (2, 'b\t0.25'), (3, 'c\t1'), (4, '')]
    """
    if len(text) > LARGEST:
        return None
    found = [
        diagnosis
        for table in tables
        for dialect in (own(table.separator), *others(text, table.separator))
        if (diagnosis := _in_dialect(text, table, dialect)) is not None
    ]
    best = min(found, key=lambda each: (each.unfit, len(each.codes)), default=None)
    if best is not None and not best.codes:
        quoting = replace(best, dialect=Dialect(best.table.separator, quoted=True))
        return quoting if _is_quoted(text, best.table) else None
    return best


def _is_quoted(text: str, table: Table) -> bool:
    """Whether cells without a pattern are in quotation marks, as spreadsheets write some."""
    if table.separator != "\t":
        return False
    found = re.finditer(r'(?:^|\t)"(?:[^"\t\n]|"")*"(?=\t|\r?$)', text, re.MULTILINE)
    return len(list(islice(found, _FEWEST))) == _FEWEST


def _has_cells(rows: Sequence[Row], text: str, table: Table) -> bool:
    """Whether some rows have a cell for each column, so that spaces do not separate all cells."""
    lines = text.split("\n", rows[-1].last)
    split = [lines[row.line - 1].removesuffix("\r").split(table.separator) for row in rows]
    return sum(len(cells) == len(table.columns) for cells in split) > (1 - _SURE) * len(rows)


def _in_dialect(text: str, table: Table, dialect: Dialect) -> Diagnosis | None:
    """The diagnosis of a table in a notation, if its rows fit then."""
    spaced = dialect.separator != table.separator and dialect.separator in {SPACES, WIDE}
    if spaced and not dialect.quoted:
        *others, _ = table.columns
        only_last = not any(fits(column, NO_WORDS) for column in others)  # may have spaces itself
        dialect = dialect._replace(most=len(others) if only_last else 0)
    try:
        rows = list(islice(dialect.rows(text), _SAMPLE))
    except csv.Error:  # another notation
        return None
    if not rows or (spaced and _has_cells(rows, text, table)):
        return None
    begin = [row.cells for row in rows if not table.ignores(row.cells)]
    if not begin:
        return None
    found = None
    for header in read_header(begin, table):
        body = begin[header.is_row :]
        steps, unfit = _steps(header.columns, body, table)
        each = Diagnosis(table, dialect, header, tuple(steps), unfit)
        if unfit > (1 - _SURE) * len(body) or (not body and not header.known):
            continue
        if spaced and any(step.code in LENGTHS for step in steps):
            continue  # texts have spaces, too
        if found is None or (unfit, len(each.codes)) < (found.unfit, len(found.codes)):
            found = each
    if found is None and dialect[:2] == (SPACES, False) and _lacks_tabs(begin, text, table):
        header = Header(table.columns, is_row=False)
        return Diagnosis(table, dialect, header, unfit=len(begin), can_split=False)
    return found


def _lacks_tabs(rows: Sequence[Sequence[str]], text: str, table: Table) -> bool:
    """Whether no row has a tab, and each has words enough for the columns of a table."""
    fewest = sum(not column.optional for column in table.columns)
    enough = all(len(cells) >= fewest for cells in rows)
    return enough and fewest > 1 and table.separator == "\t" and "\t" not in text


def _steps(columns: Columns, body: Sequence[Sequence[str]], table: Table) -> tuple[list[Step], int]:
    """The steps after which the most cells fit, and how many rows do not."""
    steps: list[Step] = []
    rows = [list(cells) for cells in body]

    def take(step: Step) -> None:
        steps.append(step)
        rows[:] = map(step.row, rows)

    if sized := length_step(columns, rows, table):
        step, columns = sized
        take(step)
    if ordered := order_step(columns, table):
        take(ordered)
        columns = tuple(column for column in table.columns if column in columns)
    for _ in range(_STEPS):
        if not (found := cell_steps(columns, rows, table)):
            break
        take(found)
    return steps, misfits(columns, rows, table)

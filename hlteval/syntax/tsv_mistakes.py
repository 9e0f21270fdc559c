"""Mistakes that spreadsheets and scripts make in all rows of a table, and how they are undone.

A table is asked about only if its reader, or a rule, has refused something. The first rows are read
in the notations that a table may have in place of its own; the cells of each are compared with the
patterns of the columns, and one step after another is taken that makes more of them fit: a comma
that becomes a decimal point, two columns that are exchanged. What then fits nearly all rows in the
fewest steps is the diagnosis. Whoever asks reads the table again as it would be after these steps.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from hlteval.syntax.tsv import Table
from hlteval.syntax.tsv_dialects import NAMES, SPACES, WIDE, Dialect, Row, others, own, sample
from hlteval.syntax.tsv_headers import Header, read_header
from hlteval.syntax.tsv_steps import (
    LENGTHS,
    NO_WORDS,
    Columns,
    Step,
    cell_steps,
    fits,
    length_step,
    misfits,
    order_step,
)

QUOTES, SEPARATORS = "TAB101", "TAB102"
LARGEST = 100_000_000
"""Most characters of a text that is looked at: the time for more would be felt."""
_SAMPLE = 60
"""Rows from which a diagnosis is made."""
_SURE = 0.9
"""The share of these rows that must fit."""
_FEWEST = 2
"""Cells in quotation marks, of which a spreadsheet may be the cause."""
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
    """What is wrong in all rows of a table.

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

    def repaired(self, text: str, codes: Collection[str]) -> list[tuple[int, str]] | None:
        """The lines of a table after its mistakes are undone, each with the number that it had.

        Args:
            text: of the table.
            codes: the mistakes that are undone; the first of others ends what is done.

        Returns:
            The lines with their carriage returns; None if nothing can be undone.
        """
        if not self.can_split:
            return self._split(text) if self._notation in codes else None
        allowed = self._up_to_first_other(codes)
        return self._undone(text, allowed) if allowed else None

    def _undone(self, text: str, allowed: Collection[str]) -> list[tuple[int, str]]:
        """The lines of a table after some mistakes, at least one, are undone."""
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
            if at or not self.header.is_row:
                body = cells
            elif self.header.code in allowed:
                body = list(self.header.written)
            else:
                body = cells
            for step in self.steps:
                if step.code in allowed and (at or not self.header.is_row):
                    body = step.row(body)
                elif step.code in allowed:
                    body = step.head(body)
            skipped.update(range(row.line + 1, row.last + 1))
            if not body:
                skipped.add(row.line)
            elif self.dialect != dialect or body != cells:
                end = "\r" * lines[row.last - 1].endswith("\r")
                fresh[row.line] = dialect.line(body) + end
        added = (
            self.header.written if self.header.code in allowed and not self.header.is_row else ()
        )
        begin = [(0, dialect.line(added))] if added else []
        numbered = enumerate(lines, start=1)
        return begin + [(n, fresh.get(n, line)) for n, line in numbered if n not in skipped]

    def _split(self, text: str) -> list[tuple[int, str]] | None:
        """The lines with separators where no cell can have a space; None if there is no such."""
        lines, columns = text.split("\n"), self.table.columns
        certain = [
            row
            for row in self.dialect.rows(text)
            if len(row.cells) == len(columns)
            and not misfits(columns, [list(row.cells)], self.table)
        ]
        for row in certain:
            end = "\r" * lines[row.line - 1].endswith("\r")
            lines[row.line - 1] = own(self.table.separator).line(row.cells) + end
        return list(enumerate(lines, start=1)) if certain else None

    def _up_to_first_other(self, codes: Collection[str]) -> set[str]:
        """The codes that can be undone, in order, up to the first that is not to be."""
        allowed = set[str]()
        open_codes = {step.code for step in self.steps if not step.can_undo}
        for code in self.codes:
            if code not in codes or code in open_codes:
                break
            allowed.add(code)
        return allowed


def diagnose(text: str, tables: Sequence[Table]) -> Diagnosis | None:
    r"""What is wrong in all rows of a text that should be a table.

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


def _splits(table: Table) -> int:
    """How often spaces separate the cells of a line, if only the last has spaces itself."""
    return (
        0
        if any(fits(column, NO_WORDS) for column in table.columns[:-1])
        else (len(table.columns) - 1)
    )


def _in_dialect(text: str, table: Table, dialect: Dialect) -> Diagnosis | None:
    """The diagnosis of a table in a notation, if its rows fit then."""
    spaced = dialect.separator != table.separator and dialect.separator in {SPACES, WIDE}
    if spaced and not dialect.quoted:
        dialect = dialect._replace(most=_splits(table))
    rows = sample(dialect, text, _SAMPLE)
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

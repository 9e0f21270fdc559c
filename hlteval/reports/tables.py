"""Tables in a terminal, in Markdown, LaTeX and TSV.

In a terminal, names and numbers are whole: one that is too narrow first wraps the sentences of a
table, then drops its least important columns, and names them; what is left is printed beyond the
edge. In a pipe no column is dropped.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import zip_longest
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.text import Text

from hlteval.findings.counts import count_of
from hlteval.findings.suggest import did_you_mean
from hlteval.reports import terminal
from hlteval.reports.terminal import Prose, in_cells, in_latex, in_markdown, visible
from hlteval.tasks.task import HIGH, LOW, NORMAL, RATE, Range

#: Cells between two columns.
GAP = 2
#: Cells that a column of sentences has at least, or its longest word.
NARROWEST = 24
#: The importance of columns that are never dropped, such as the value that ranks.
FIXED = 99
#: The importance of columns that are in every selection too, such as the names of the rows.
KEY = 100

#: The text of a cell, or its text and its style.
Cell = str | tuple[str, str]


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        name: its header.
        kind: names are on the left and numbers on the right; only prose is wrapped.
        importance: columns of the lowest importance are dropped first, of these the last.
    """

    name: str
    kind: Literal["name", "number", "prose"] = "number"
    importance: int = KEY


#: The kinds of columns in text by those of fields; others are numbers.
_KINDS: Mapping[str, Literal["name", "prose"]] = {"text": "name", "prose": "prose"}
FieldKind = Literal["text", "prose", "limits", "list", "rate", "number", "figure", "link"]


class Field(NamedTuple):
    """A column of a data frame, as people read it in text and on pages.

    In text, `low` and `high` are one column, `interval`.

    Attributes:
        name: in the data frame.
        title: as people read it; if it is empty the name, on pages with spaces.
        kind: `rate` is shown with four decimals, `number` as it is, `text`, `prose`, `limits` and
            `list` as text; `figure` is text that is sorted and filtered as the number that it is,
            `link` a link to the file of that name.
        meaning: shown where the pointer is, on pages.
        importance: of the column in text; None if only pages have it.
        values: what its numbers can be, from which their text follows.
        signed: whether text has the sign of positive numbers.
    """

    name: str
    title: str = ""
    kind: FieldKind = "text"
    meaning: str = ""
    importance: int | None = KEY
    values: Range = RATE
    signed: bool = False

    @property
    def header(self) -> str:
        """The header of its column in text."""
        return "interval" if self.name == "low" else self.title or self.name

    @property
    def column(self) -> Column:
        """Its column in text."""
        importance = KEY if self.importance is None else self.importance
        return Column(self.header, _KINDS.get(self.kind, "number"), importance)


def fields_of(table: str) -> tuple[Field, ...]:
    """The columns of a table of `columns.toml`.

    Examples:
        >>> [field.header for field in fields_of("refusals")]
        ['system', 'reason', 'what to do']
    """
    words = {"fixed": FIXED, "high": HIGH, "normal": NORMAL, "low": LOW, "pages": None, "key": KEY}
    return tuple(
        Field(name, **{**declared, "importance": words[declared.get("importance", "key")]})
        for name, declared in _declarations()[table].items()
    )


@cache
def _declarations() -> Mapping[str, Mapping[str, Any]]:
    text = resources.files("hlteval.reports").joinpath("columns.toml").read_text("utf-8")
    return tomllib.loads(text)


def column_headers(*tables: Iterable[Field]) -> tuple[str, ...]:
    """The headers of the columns of some tables in text, each once."""
    fields = (field for table in tables for field in table if field.importance is not None)
    return tuple(dict.fromkeys(field.header for field in fields if field.name != "high"))


class Table(msgspec.Struct, frozen=True):
    """A table.

    Attributes:
        columns: its columns.
        rows: its rows, a cell for each column.
        title: a line above it, if any.
        header: whether the names of the columns are shown.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    header: bool = True

    def only(self, names: Collection[str]) -> Table:
        """The table with the columns of some names, in their order, after those that are keys."""
        keys = [index for index, column in enumerate(self.columns) if column.importance == KEY]
        indices = {column.name: index for index, column in enumerate(self.columns)}
        chosen = [indices[name] for name in names if name in indices]
        order = list(dict.fromkeys([*keys, *chosen]))
        columns = [self.columns[index]._replace(importance=KEY) for index in order]
        return replace(self, columns=columns, rows=[[row[i] for i in order] for row in self.rows])

    def markdown(self, *, aligned: bool = True) -> str:
        """The table in Markdown, after its title.

        Args:
            aligned: whether numbers are on the right.
        """
        head, *rows = (f"| {' | '.join(cells)} |\n" for cells in self._lines(in_markdown))
        right = [aligned and column.kind == "number" for column in self.columns]
        rule = "".join("---:|" if number else "---|" for number in right)
        title = f"{self.title}:\n\n" if self.title else ""
        return "".join([title, head, f"|{rule}\n", *rows])

    def latex(self, *, aligned: bool = True) -> str:
        """The table in LaTeX (booktabs), after its title as a comment.

        Args:
            aligned: whether numbers are on the right.
        """
        head, *rows = (rf"{' & '.join(cells)} \\" + "\n" for cells in self._lines(in_latex))
        right = [aligned and column.kind == "number" for column in self.columns]
        kinds = "".join("r" if number else "l" for number in right)
        title = f"% {self.title}\n" if self.title else ""
        return (
            f"{title}\\begin{{tabular}}{{{kinds}}}\n\\toprule\n{head}\\midrule\n"
            f"{''.join(rows)}\\bottomrule\n\\end{{tabular}}\n"
        )

    def _lines(self, escape: Callable[[str], str]) -> Iterator[list[str]]:
        """The header and the rows, as a format writes the text of their cells."""
        yield [escape(column.name) for column in self.columns]
        for row in self.rows:
            yield [escape(cell if isinstance(cell, str) else cell[0]) for cell in row]


def tsv_lines(*lines: Iterable[object]) -> str:
    r"""Lines of cells with tabs between them; numbers are in full, what is undefined is empty.

    Examples:
        >>> tsv_lines(["metric", "value"], ["f1", 0.123456], ["=auc", None])
        "metric\tvalue\nf1\t0.123456\n'=auc\t\n"
    """
    return "".join(
        "\t".join("" if cell is None else in_cells(visible(str(cell))) for cell in line) + "\n"
        for line in lines
    )


class Tables(msgspec.Struct, frozen=True):
    """Tables one below the other; in a terminal with a line about the columns that do not fit.

    Attributes:
        tables: the tables.
        wide: whether all columns are shown even if they do not fit.
    """

    tables: Sequence[Table]
    wide: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text | Prose]:
        width = options.max_width
        whole = self.wide or not console.is_terminal
        dropped: dict[tuple[str, ...], list[str]] = {}
        for table in self.tables:
            kept = range(len(table.columns)) if whole else _fit(table, width)
            yield from _lines(table, kept, width)
            absent = [table.columns[i].name for i in range(len(table.columns)) if i not in kept]
            if absent:
                dropped.setdefault(tuple(absent), []).append(table.title)
        for names, titles in dropped.items():
            where = f"{', '.join(titles)}: " if len(dropped) > 1 and all(titles) else ""
            columns = f"{count_of(len(names), 'column')} not shown: {', '.join(names)}"
            yield Prose(f"{where}{columns}; use --wide or --columns", "dim")

    def markdown(self, signature: str, *, aligned: bool = True) -> str:
        """A signature and the tables in Markdown; see `Table.markdown`."""
        tables = (table.markdown(aligned=aligned) for table in self.tables)
        return "\n".join([f"`{signature}`\n", *tables])

    def latex(self, comment: str, *, aligned: bool = True) -> str:
        """A comment, such as a signature, and the tables in LaTeX; see `Table.latex`."""
        tables = (table.latex(aligned=aligned) for table in self.tables)
        return "\n".join([f"% {comment}\n", *tables])


class View(NamedTuple):
    """Selection of the columns of the tables of a result.

    Attributes:
        columns: the names of the columns; empty for all.
        wide: whether columns are shown that a terminal is too narrow for.
        confusion: whether scores have the confusion of labels, too.
    """

    columns: tuple[str, ...] = ()
    wide: bool = False
    confusion: bool = False

    def of(self, tables: Iterable[Table]) -> list[Table]:
        """The tables with its columns only; tables without any of them are left out."""
        if not self.columns:
            return list(tables)
        wanted = set(self.columns)
        return [
            table.only(self.columns)
            for table in tables
            if not wanted.isdisjoint(column.name for column in table.columns)
        ]


#: All columns, as far as they fit.
ALL = View()


def column_names(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """The names of columns in a list separated by commas, as they are written in the tables.

    Args:
        text: the list; case, spaces, hyphens and underscores do not matter.
        known: the names of all columns.

    Raises:
        UnknownColumnError: if there is no such column.

    Examples:
        >>> column_names("f1,false_positives", ["F1", "Recall", "False Positives"])
        ('F1', 'False Positives')
    """
    plain = {_letters(name): name for name in known}
    asked = [name.strip() for name in text.split(",") if name.strip()]
    for name in asked:
        if _letters(name) not in plain:
            raise UnknownColumnError(name, list(plain.values()))
    return tuple(dict.fromkeys(plain[_letters(name)] for name in asked))


class UnknownColumnError(ValueError):
    """A column that no table has: an error of usage."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        hint = did_you_mean(name, known, f"use {', '.join(known)}")
        super().__init__(f"unknown column {name}; {hint}")


def _letters(name: str) -> str:
    return re.sub("[ _-]", "", name.casefold())


def _plain(cell: Cell) -> str:
    return terminal.isolate_bidi(cell if isinstance(cell, str) else cell[0])


def _widths(table: Table, index: int) -> tuple[int, int]:
    """The least width of a column, and the one with which no cell of it is wrapped.

    Only sentences are wrapped, to a minimum or their longest word.
    """
    name, kind, _ = table.columns[index]
    cells = [_plain(row[index]) for row in table.rows]
    natural = max(map(cell_len, [*([name] if table.header else []), *cells]), default=0)
    if kind != "prose":
        return natural, natural
    words = [word for cell in cells for word in cell.split(" ")]
    return min(natural, max(NARROWEST, *map(cell_len, [name, *words]))), natural


def _fit(table: Table, width: int) -> Sequence[int]:
    """The columns that are shown: the least important are dropped until the others fit."""
    least = {index: _widths(table, index)[0] for index in range(len(table.columns))}
    ranks = [(column.importance, -index) for index, column in enumerate(table.columns)]
    last = max((rank for rank in ranks if rank[0] < KEY), default=None)  # beside names, a value
    for _, index in sorted(rank for rank in ranks if rank[0] < FIXED and rank != last):
        if _total(least) <= width:
            break
        del least[-index]
    return list(least)


def _total(widths: Mapping[int, int]) -> int:
    return sum(widths.values()) + GAP * (len(widths) - 1)


def _lines(table: Table, kept: Sequence[int], width: int) -> Iterator[Text | Prose]:
    """The lines of a table: sentences share the width that others leave, the widest give first."""
    if table.title:
        yield Prose(table.title, "italic")
    least, widths = {}, {}
    for index in kept:
        least[index], widths[index] = _widths(table, index)
    for _ in range(_total(widths) - width):
        widest = max(kept, key=lambda index: (widths[index] > least[index], widths[index]))
        widths[widest] = max(widths[widest] - 1, least[widest])
    if table.header:
        yield from _row(table, widths, [(column.name, "bold") for column in table.columns])
    for row in table.rows:
        yield from _row(table, widths, row)


def _row(table: Table, widths: Mapping[int, int], row: Sequence[Cell]) -> Iterator[Text]:
    """The lines of a row: as many as its longest sentence."""
    wrapped = []
    for index, width in widths.items():
        text, style = _plain(row[index]), "" if isinstance(row[index], str) else row[index][1]
        kind, lines = table.columns[index].kind, []
        for part in terminal.wrap(text, width) if kind == "prose" else [text]:
            spaces = " " * (width - cell_len(part))
            lines.append(Text(spaces + part if kind == "number" else part + spaces, style))
        wrapped.append(lines)
    for cells in zip_longest(*wrapped):
        padded = zip(cells, widths.values(), strict=True)
        line = Text(" " * GAP).join(cell or Text(" " * width) for cell, width in padded)
        line.rstrip()
        yield line

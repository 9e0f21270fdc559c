"""Tables of tab-separated values: columns, lines, reading, problems and writing."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain, islice, pairwise, takewhile
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings import Finding, Problem, findings_of
from hlteval.sources import Member

_PATTERNS = {
    "text": "",
    "integer": "[0-9]{1,15}",
    "number": r"[+-]?(?:[0-9]{1,200}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?",
}
_TYPES = {"text": pl.String(), "integer": pl.Int64(), "number": pl.Float64()}
_LONGEST = 80
#: The white space of Unicode, for use in the brackets of a pattern; `\s` is more in Python.
WHITE_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


def is_blank(text: str) -> bool:
    r"""Whether a text has no characters but white space, as Unicode defines it.

    Examples:
        >>> is_blank(" \u3000"), is_blank(""), is_blank("\x1c")
        (True, True, False)
    """
    return re.fullmatch(f"[{WHITE_SPACE}]*", text) is not None


def shorten(text: str, length: int = _LONGEST) -> str:
    """A text as a message quotes it: cut after some characters.

    Examples:
        >>> shorten("x" * 99, 3), shorten("x")
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
        """Its name in the header."""
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

    def valid(self, cell: pl.Expr) -> pl.Expr:
        """Whether each cell of a column is valid; see `accepts`."""
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


#: Characters that are split at a time; more cost memory and save no time.
SLICE = 1_000_000
#: The most lines that are split at a time: empty lines have few characters, but as many cells.
MOST = 40_000
#: Slices whose cells are read at once: to read fewer takes longer, as each call does.
TOGETHER = 6


#: Of so many lines, one is cut out rather than all split.
_FEW = 8


#: The encoding of any text, and what becomes of what no text should have.
_ANY = ("utf-8", "surrogatepass")


def _is_break(data: bytes) -> NDArray[np.bool_]:
    """Whether each byte is a line feed; in a text, each is searched for, which takes longer."""
    return np.equal(np.frombuffer(data, dtype=np.uint8), ord("\n"))


class Lines:
    r"""The lines of a text without their line breaks, which are LF or CRLF.

    Args:
        text: the text; it is kept, and split where lines are asked for.
        size: about how many characters are split at a time; by default `SLICE`.

    Examples:
        >>> lines = Lines("a\r\nb\n\nc", 2)
        >>> len(lines), lines[1], list(lines), lines.gather([3, 0]).to_list()
        (4, 'b', ['a', 'b', '', 'c'], ['c', 'a'])
    """

    def __init__(self, text: str, size: int | None = None) -> None:
        self._text, self._size = text, SLICE if size is None else size
        self._last: tuple[int, pl.Series] | None = None

    @cached_property
    def _bounds(self) -> tuple[list[int], list[int]]:
        """The starts of slices in the text, and the numbers of their first lines."""
        text, size, starts, firsts = self._text, self._size, [0], [0]
        while starts[-1] < len(text):
            end = text.find("\n", starts[-1] + size) + 1 or len(text)
            count = int(np.count_nonzero(_is_break(text[starts[-1] : end].encode(*_ANY))))
            count += not text.endswith("\n", 0, end)
            if count > MOST:
                size //= 2
                continue
            firsts.append(firsts[-1] + count)
            starts.append(end)
            size = min(2 * size + 1, self._size)
        return starts, firsts

    def __len__(self) -> int:
        return self._bounds[1][-1]

    def __getitem__(self, number: int) -> str:
        firsts = self._bounds[1]
        at = bisect_right(firsts, number) - 1
        line: str = self._slice(at)[number - firsts[at]]
        return line

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(lines for _, lines in self.slices())

    def slices(self) -> Iterator[tuple[int, pl.Series]]:
        """Some lines at a time, each time after the number of the first one, from 0."""
        for at, first in enumerate(self._bounds[1][:-1]):
            yield first, self._slice(at)

    def table(self) -> pl.DataFrame:
        """All lines as the column `line`, with their numbers from 1 as `record`."""
        line = pl.concat(
            [pl.Series("line", [], dtype=pl.String), *(own for _, own in self.slices())]
        )
        return line.to_frame().select(
            pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("record"), "line"
        )

    def texts(self) -> Iterator[tuple[int, str]]:
        """The text of some slices at a time, each after the number of its first line, from 0."""
        starts, firsts = self._bounds
        bounds = pairwise([*starts[:-1:TOGETHER], len(self._text)])
        for first, (start, end) in zip(firsts[:-1:TOGETHER], bounds, strict=True):
            yield first, self._text[start:end]

    def gather(self, numbers: Sequence[int] | pl.Series) -> pl.Series:
        """Some lines by their numbers, from 0."""
        wanted = pl.Series("number", numbers, dtype=pl.Int64)
        if wanted.is_empty():  # then no line feed is searched for
            return pl.Series("line", [], dtype=pl.String)
        order = wanted.arg_sort()
        sought = wanted.gather(order)
        firsts = self._bounds[1]
        bounds = sought.search_sorted(pl.Series(firsts, dtype=pl.Int64))
        found = [pl.Series("line", [], dtype=pl.String)]
        for at, (begin, end) in enumerate(pairwise(bounds)):
            if begin < end:
                found.append(self._some(at, sought[begin:end] - firsts[at]))
        lines = pl.concat(found)
        return lines.gather(order.arg_sort())

    def _some(self, at: int, numbers: pl.Series) -> pl.Series:
        """Some lines of a slice; a few are cut out, since to split it takes much longer."""
        starts, firsts = self._bounds
        if len(numbers) * _FEW > firsts[at + 1] - firsts[at]:
            return self._slice(at).gather(numbers)
        data, index = self._text[starts[at] : starts[at + 1]].encode(*_ANY), numbers.to_numpy()
        ends = np.r_[-1, np.flatnonzero(_is_break(data)), len(data)]
        bounds = zip((ends[index] + 1).tolist(), ends[index + 1].tolist(), strict=True)
        lines = [data[start:end].decode(*_ANY).removesuffix("\r") for start, end in bounds]
        return pl.Series("line", lines, dtype=pl.String)

    def _slice(self, at: int) -> pl.Series:
        if self._last is None or self._last[0] != at:
            starts = self._bounds[0]
            text = self._text[starts[at] : starts[at + 1]].removesuffix("\n")
            lines = pl.Series("line", [text], dtype=pl.String).str.split("\n").explode()
            self._last = (at, lines.str.strip_suffix("\r"))
        return self._last[1]


@dataclass(slots=True, eq=False)
class LineProblems:
    """Problems of lines, each after the number of its line; equal lines share a problem.

    There may be one in each of a million lines, so a further line takes a few bytes.

    Examples:
        >>> found, problem = LineProblems(), Problem("SNT101", 0, 0, 1)
        >>> found.add(1, problem)
        >>> found.add(7, problem)
        >>> len(found), [(record, item.code) for record, item in found]
        (2, [(1, 'SNT101'), (7, 'SNT101')])
    """

    records: array[int] = field(default_factory=lambda: array("q"))
    _which: array[int] = field(default_factory=lambda: array("q"))
    _problems: list[Problem] = field(default_factory=list)
    _known: dict[int, int] = field(default_factory=dict)

    def add(self, record: int, problem: Problem) -> None:
        """Add the problem of a line."""
        which = self._known.setdefault(id(problem), len(self._problems))
        if which == len(self._problems):
            self._problems.append(problem)  # which keeps its id from others
        self.records.append(record)
        self._which.append(which)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[tuple[int, Problem]]:
        return zip(self.records, map(self._problems.__getitem__, self._which), strict=True)

    def frame(self) -> pl.DataFrame:
        """The code of each problem, and its first and last column in the line, from 1."""
        schema = {"code": pl.String, "column": pl.Int64, "end_column": pl.Int64}
        rows = [(item.code, item.start + 1, item.end + 1) for item in self._problems]
        problems = pl.DataFrame(rows, schema=schema, orient="row")
        return problems[pl.Series(self._which, dtype=pl.Int64)]


@dataclass(frozen=True, slots=True)
class ParsedTable:
    """The rows and problems of a file.

    Attributes:
        rows: the columns of the declaration after `record`, the 1-based number of the line; in the
            order of the lines.
        wrong: the problems, in the order of the lines.
        rejected: of these, the first of each line that has no row.
        lines: all lines, without their line breaks.
        table: the declaration, its columns in the order of the file.
    """

    rows: pl.DataFrame
    wrong: LineProblems
    rejected: LineProblems
    lines: Lines
    table: Table

    @property
    def problems(self) -> list[Problem]:
        """The problems, in the order of the lines."""
        return [problem._replace(record=record) for record, problem in self.wrong]

    def problems_at(
        self, code: str, rows: pl.DataFrame, *columns: str, most: int = 0
    ) -> list[Problem]:
        r"""A problem for each of some rows, with its columns as values.

        Args:
            code: of the problem.
            rows: with the column `record`.
            columns: names of the columns that it concerns; by default the whole line.
            most: the maximum of problems that are explained, 0 for all; the others are only
                counted, so that they have no values.

        Examples:
            >>> from hlteval.syntax.tsv import Column, Table
            >>> parsed = Table((Column("start", "integer"), Column("end", "integer"))).read("7\t3")
            >>> (problem,) = parsed.problems_at("NEL201", parsed.rows, "end")
            >>> problem.record, problem.start, problem.values["start"]
            (1, 2, 7)
        """
        problems = []
        some = rows.head(most + 1) if most else rows
        for row in some.iter_rows(named=True):
            line = self.lines[row["record"] - 1]
            places = [self.table.stretch(line, name) for name in columns or [""]]
            start, end = min(start for start, _ in places), max(end for _, end in places)
            problems.append(Problem(code, row["record"], start, end, row))
        return problems + [Problem(code, other, 0, 0) for other in rows["record"][some.height :]]

    def findings(self, file: Member, *more: Problem, **values: object) -> list[Finding]:
        """The findings of all problems and of some that were found later.

        Args:
            file: the file.
            more: problems with the rows.
            values: further values of all problems.
        """

        def finding(record: int, problem: Problem) -> Finding:
            known = {**problem.values, **values} if values else problem.values
            placed = problem._replace(record=record, values=known)
            return placed.in_line(file.display, self.lines[record - 1])

        further = ((problem.record, problem) for problem in more)
        return findings_of(chain(self.wrong, further), finding, file.max_per_code)

    def rejected_records(
        self, kind: str, *, origin: int = 0, first: int = 0, id_column: str = ""
    ) -> pl.DataFrame:
        """The rows of the table `rejected_records`, one for each line without a row.

        Args:
            kind: what a line should be, such as `mention`.
            origin: the row of the file in the table `sources`.
            first: key of the first row.
            id_column: the column with the identifier of a record.
        """
        record = pl.Series("record", self.rejected.records, dtype=pl.Int64)
        texts = self.lines.gather(record - 1)
        names = self.rows.columns[1:]
        at = names.index(id_column) if id_column in names else 2**31  # no line has it
        return self.rejected.frame().select(
            record,
            pl.all(),
            row=pl.int_range(first, first + pl.len(), dtype=pl.Int64),
            origin=pl.lit(origin, pl.Int64),
            id=texts.str.split("\t").list.get(at, null_on_oob=True),
            kind=pl.lit(kind),
            text=texts,
            expected=pl.lit(""),
        )


#: The cells of a row, one for each column; None where the line has no such cell.
Cells = Sequence[str | None]
#: The rows that a line is read as, usually one or none, and its problems, the worst first.
Explanation = tuple[Sequence[Cells], Sequence[Problem]]
_Explained = tuple[Sequence[Cells], Sequence[Problem], bool]
_Explain = Callable[[str], _Explained]
#: Different lines that are not explained again where they are repeated.
_ALIKE = 1000


@dataclass(frozen=True, slots=True)
class Table:
    r"""The declaration of a table.

    Attributes:
        columns: in the order of the cells of a line.
        code: of a line with too few or too many cells, or with an invalid cell whose column has no
            code; at the whole line, with the values `given` and `wanted`.
        header: whether the first line names the columns; an `optional` header is recognised.
        header_code: of a missing or wrong header, after which nothing is read; with the values
            `header`, `missing` and `unknown`.
        exact: whether the header is compared with its case and spaces.
        any_order: whether the header gives the order of columns. It must name all columns that are
            neither nullable nor optional, and no unknown ones.
        ragged: whether lines may be shorter or longer than the table: missing cells count as empty
            and are null if valid, further ones are ignored, as are unknown columns.
        empty_code: of an empty line; by default empty lines are ignored.
        blank_is_empty: whether a line of spaces and tabs is empty.
        explain: reads a line that is not valid, if it is more than its cells: it is called with the
            number of the line and the line.
        ignored: pattern of the first cell of a line that is not a row, such as a comment.
        separator: of cells; readers of their own have commas, or any spaces.
        ascending: the names of two columns of numbers, of which the second is never below the
            first.

    Examples:
        >>> columns = (Column("name"), Column("score", "number", code="SFT103"))
        >>> table = Table(columns, code="SFT102")
        >>> parsed = table.read("a\t0.5\nb\nc\thigh\n")
        >>> parsed.rows.rows()
        [(1, 'a', 0.5)]
        >>> [(problem.code, problem.record, problem.start + 1) for problem in parsed.problems]
        [('SFT102', 2, 1), ('SFT103', 3, 3)]
        >>> table.lines(parsed.rows).to_list()
        ['a\t0.5']
    """

    columns: tuple[Column, ...]
    code: str = ""
    header: Literal["none", "optional", "required"] = "none"
    header_code: str = ""
    exact: bool = True
    any_order: bool = False
    ragged: bool = False
    empty_code: str = ""
    blank_is_empty: bool = True
    explain: Callable[[int, str], Explanation] | None = None
    ignored: str = ""
    separator: str = "\t"
    ascending: tuple[str, ...] = ()

    @property
    def headings(self) -> tuple[str, ...]:
        """The cells of the header."""
        return tuple(column.title for column in self.columns)

    def ordered_by(self, line: str) -> Table | None:
        r"""The table with its columns in the order of a header; None if the line is not a header.

        Args:
            line: the first line of a file.

        Examples:
            >>> table = Table((Column("start"), Column("end")), header="required", any_order=True)
            >>> table.ordered_by("end\tstart").headings
            ('end', 'start')
            >>> table.ordered_by("end\tbegin") is None
            True
        """
        titles, wanted = self._titles(line), self._titles("\t".join(self.headings))
        if not self.any_order:
            return self if titles == wanted else None
        known = dict(zip(wanted, self.columns, strict=True))
        missing, unknown = self._differences(titles)
        if missing or ((unknown or len({*titles}) < len(titles)) and not self.ragged):
            return None
        ignored = (Column(f"\t{index}") for index in range(len(titles)))  # no name of a column
        columns = (known.pop(title, other) for title, other in zip(titles, ignored, strict=True))
        return replace(self, columns=tuple(replace(column, optional=False) for column in columns))

    def _titles(self, line: str) -> list[str]:
        cells = line.split("\t")
        return cells if self.exact else [cell.strip().lower() for cell in cells]

    def _differences(self, titles: Sequence[str]) -> tuple[list[str], list[str]]:
        """The columns that a header lacks, and those that it has too many."""
        wanted = dict(zip(self._titles("\t".join(self.headings)), self.columns, strict=True))
        needed = [title for title, own in wanted.items() if not (own.nullable or own.optional)]
        missing = [title for title in needed if title not in titles]
        return missing, [title for title in titles if title not in wanted]

    def ignores(self, cells: Sequence[str]) -> bool:
        """Whether the cells of a line are no row."""
        return bool(self.ignored) and re.match(self.ignored, cells[0]) is not None

    def is_empty(self, line: str) -> bool:
        """Whether a line is an empty one."""
        return is_blank(line) if self.blank_is_empty else not line

    def read(self, text: str) -> ParsedTable:
        """Read the text of a file: valid lines in bulk, the others one by one."""
        lines = Lines(text)
        first = lines[0] if len(lines) else ""
        headed = self.ordered_by(first) if self.header != "none" else None
        wrong, rejected = LineProblems(), LineProblems()
        if headed is None and self.header == "required":
            missing, unknown = (", ".join(names) for names in self._differences(first.split("\t")))
            values = {"header": " ".join(self.headings), "missing": missing, "unknown": unknown}
            wrong.add(1, Problem(self.header_code, 1, 0, len(first), values))
            lines = lines if len(lines) else Lines("\n")
            return ParsedTable(self._convert(pl.DataFrame()), wrong, rejected, lines, self)
        table = headed._with_short_lines(self.columns) if headed else self
        parsed = ParsedTable(pl.DataFrame(), wrong, rejected, lines, table)
        explain = lru_cache(_ALIKE)(table._explain_line)
        parts: list[pl.DataFrame] = []
        for number, some in lines.slices():
            records = pl.int_range(number + 1, number + 1 + pl.len(), dtype=pl.Int64)
            numbered = some.to_frame().with_columns(record=records)
            body = numbered.slice(headed is not None and not number)
            parts.append(self._convert(table._cells(body, parsed, explain)))
        parts = parts or [self._convert(pl.DataFrame())]
        # The memory of all is contiguous; parts are taken apart, a column at a time.
        columns = ([part.drop_in_place(name) for part in parts] for name in parts[0].columns)
        return replace(parsed, rows=pl.DataFrame([pl.concat(c, rechunk=True) for c in columns]))

    def _with_short_lines(self, declared: Sequence[Column]) -> Table:
        """The table in the order of a header; its last columns are optional if declared so."""
        optional = {column.name for column in declared if column.optional and not self.ragged}
        last = [*takewhile(lambda own: own.name in optional, reversed(self.columns))]
        short = (replace(column, optional=True) for column in reversed(last))
        return replace(self, columns=(*self.columns[: len(self.columns) - len(last)], *short))

    def _cells(
        self, numbered: pl.DataFrame, parsed: ParsedTable, explain: _Explain
    ) -> pl.DataFrame:
        """The cells of valid lines; problems of the others are added to a table."""
        if not self.empty_code:  # nothing is said of empty lines, of which there may be a million
            numbered = numbered.filter(pl.col("line") != "")
        names = [column.name for column in self.columns]
        cells = pl.col("line").str.split_exact("\t", len(names))
        cells = cells.struct.rename_fields([*names, "\t"]).alias("\t\t")
        split = numbered.select("line", "record", cells).unnest("\t\t")
        fits = split.select(fits=self._fits()).to_series()
        rows: list[tuple[object, ...]] = []
        for record, line in split.filter(~fits).select("record", "line").iter_rows():
            read, wrong, is_empty = explain(line)
            rows += [(record, *row) for row in read]
            for problem in wrong:
                parsed.wrong.add(record, problem)
            if wrong and not read and not is_empty:
                parsed.rejected.add(record, wrong[0])
        accepted = split.filter(fits).select("record", *names)
        if not rows:
            return accepted
        explained = pl.DataFrame(rows, schema=accepted.schema, orient="row")
        return pl.concat([accepted, explained]).sort("record", maintain_order=True)

    def _explain_line(self, line: str) -> _Explained:
        """The rows that a line is read as, its problems, and whether it is empty."""
        if self.is_empty(line):
            return (), [Problem(self.empty_code, 0, 0, 0)] if self.empty_code else (), True
        return *(self.explain or self.explain_cells)(0, line), False

    def _fits(self) -> pl.Expr:
        """Whether a line has as many cells as it must have, and all of them are valid."""
        fits = [column.valid(pl.col(column.name)) for column in self.columns]
        if not self.ragged:
            last = [column.name for column in self.columns if not column.optional][-1:]
            fits += [pl.col("\t").is_null(), *(pl.col(name).is_not_null() for name in last)]
        blank = pl.col("line").str.strip_chars() if self.blank_is_empty else pl.col("line")
        return pl.all_horizontal(blank != "", *fits)

    def _convert(self, cells: pl.DataFrame) -> pl.DataFrame:
        """Rows with the types of the columns; a column that is not there is null."""
        nothing = pl.Series([None] * cells.height, dtype=pl.String)
        given = [(own, cells.get_column(own.name, default=nothing)) for own in self.columns]
        columns = [column.values(texts).alias(column.name) for column, texts in given]
        record = cells.get_column("record", default=pl.Series("record", []))
        return pl.DataFrame([record.cast(pl.Int64), *columns])

    def explain_cells(self, record: int, line: str) -> Explanation:
        r"""Read a line by itself: its cells, or what is wrong with them.

        Args:
            record: the number of the line.
            line: the line, without its line break.

        Examples:
            >>> table = Table((Column("start", "integer"),), code="SNT101")
            >>> table.explain_cells(3, "x")[1][0][:4]
            ('SNT101', 3, 0, 1)
        """
        written = line.split("\t")
        count, wanted = len(written), len(self.columns)
        fewest = sum(not column.optional for column in self.columns)
        whole = Problem(self.code, record, 0, len(line), {"given": count, "wanted": wanted})
        if not (fewest <= count <= wanted or self.ragged):
            return (), [whole]
        cells: Cells = [*written[:wanted], *[None] * (wanted - count)]
        starts = [0, *accumulate(len(cell) + 1 for cell in written[:-1]), *[len(line)] * wanted]
        valid, problems = True, list[Problem]()
        for column, cell, start in zip(self.columns, cells, starts, strict=False):
            if column.accepts(cell):
                continue
            valid = valid and column.tolerated
            given = cell or ""
            values = {"given": shorten(given) or "nothing", "column": column.title}
            more = column.describe(given) if column.describe else {}
            if column.code:
                end = start + len(given)
                problems.append(Problem(column.code, record, start, end, {**values, **more}))
            elif whole not in problems:
                problems.insert(0, whole)
        return [cells] if valid else (), problems

    def stretch(self, line: str, name: str) -> tuple[int, int]:
        r"""The place of a cell in its line: first code point, and one past the last, 0-based.

        Args:
            line: the line.
            name: of the column, or its heading; the whole line for any other name, and for a cell
                that the line does not have.

        Examples:
            >>> Table((Column("start"), Column("end"))).stretch("10\t25", "end")
            (3, 5)
        """
        start = 0
        for column, cell in zip(self.columns, line.split("\t"), strict=False):
            if name in (column.name, column.title):
                return start, start + len(cell)
            start += len(cell) + 1
        return 0, len(line)

    def lines(self, rows: pl.DataFrame) -> pl.Series:
        """The lines of some rows, without line breaks.

        Args:
            rows: with the columns of the table, each writable; others are ignored.

        Raises:
            ValueError: for a cell with a tab or a line break, which would be read as two: nothing
                is escaped, so a format counts such values as losses.
        """
        cells = [column.cells(rows[column.name]).alias(column.name) for column in self.columns]
        for cell in cells:
            torn = cell.filter(cell.str.contains("[\t\n]").fill_null(value=False))
            if torn.len():
                raise ValueError(f"{cell.name}: a cell has a tab or a line break: {torn[0]!r}")
        line = pl.concat_str(pl.all(), separator="\t", ignore_nulls=True)
        return pl.DataFrame(cells).select(line=line)["line"]

    def write(self, tables: Iterable[pl.DataFrame], path: Path) -> None:
        """Write rows to a file, in UTF-8 with LF, after the header if there must be one.

        An optional header is written only if the first row would be taken for it.

        Args:
            tables: rows, see `lines`.
            path: of the file.
        """
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            lines = chain.from_iterable(map(self.lines, tables))
            begin = list(islice(lines, 1))
            alike = self.header == "optional" and any(map(self.ordered_by, begin))
            if alike or self.header == "required":
                stream.write("\t".join(self.headings) + "\n")
            stream.writelines(f"{line}\n" for line in chain(begin, lines))

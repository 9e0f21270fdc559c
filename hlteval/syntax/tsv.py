r"""Tables of tab-separated values, declared by their columns.

A `Table` declares what the lines of a file look like: its columns, each with a type and a pattern,
its header, and the codes of what can be wrong. The same declaration reads and writes.

Reading has two speeds. Polars splits all lines, counts their cells and compares these with the
patterns; a line that passes is a row. Every other line is explained by itself, which yields
problems with their places, and rows as far as it can be read. Nothing is quoted or escaped, short
lines are not filled up, and a number is what matches a pattern. Patterns run in two engines
(`re` and Rust's): write `[0-9]` and not `\d`, no lookaround and no backreferences.

Lines end in LF or CRLF; any other CR is part of a cell. The text comes from
`hlteval.sources.decode`, which reports bytes that are not UTF-8 and removes a byte order mark.

Example:
    A format with two kinds of problems, wrong numbers of cells and wrong scores::

        TABLE = Table(
            (
                Column("name", heading="file_id", pattern=r"[^\t]+"),
                Column("score", "number", nullable=True, code="ABC102"),
            ),
            code="ABC101",
            header="required",
            header_code="ABC103",
        )

    Its reader is ``table = TABLE.read(text)``: `table.rows` holds the columns `record` (the line
    number), `name` and `score`, and `table.findings(file)` what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Literal

import polars as pl

from hlteval.findings import Problem
from hlteval.syntax.tsv_columns import Column, is_blank, shortened
from hlteval.syntax.tsv_lines import Lines
from hlteval.syntax.tsv_parsed import LineProblems, ParsedTable

__all__ = ["Cells", "Column", "Explanation", "ParsedTable", "Table"]

Cells = Sequence[str | None]
"""The cells of a row, one for each column; None where the line has no such cell."""
Explanation = tuple[Sequence[Cells], Sequence[Problem]]
"""The rows that a line is read as, usually one or none, and its problems, the worst first."""
_Explained = tuple[Sequence[Cells], Sequence[Problem], bool]
_Explain = Callable[[str], _Explained]
_ALIKE = 1000
"""Different lines that are not explained again where they are repeated."""


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
        ignored: pattern of the first cell of a line that is no row, such as a comment.
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
        repeated = len(set(titles)) < len(titles)
        if missing or ((unknown or repeated) and not self.ragged):
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
        missing = [
            title
            for title, column in wanted.items()
            if title not in titles and not (column.nullable or column.optional)
        ]
        return missing, [title for title in titles if title not in wanted]

    def ignores(self, cells: Sequence[str]) -> bool:
        """Whether the cells of a line are no row."""
        return bool(self.ignored) and re.match(self.ignored, cells[0]) is not None

    def is_empty(self, line: str) -> bool:
        """Whether a line is an empty one."""
        return is_blank(line) if self.blank_is_empty else not line

    def read(self, text: str, *, bulk: bool = True) -> ParsedTable:
        """Read a file.

        Args:
            text: of the file.
            bulk: whether valid lines are read in bulk; otherwise every line is explained, which
                gives the same.
        """
        lines = Lines(text)
        first = lines[0] if len(lines) else ""
        table = self.ordered_by(first) if self.header != "none" else None
        if table is None and self.header == "required":
            missing, unknown = (", ".join(names) for names in self._differences(first.split("\t")))
            values = {"header": " ".join(self.headings), "missing": missing, "unknown": unknown}
            wrong = LineProblems()
            wrong.add(1, Problem(self.header_code, 1, 0, len(first), values))
            lines = lines if len(lines) else Lines("\n")
            return ParsedTable(self._typed(pl.DataFrame()), wrong, LineProblems(), lines, self)
        return (table or self)._parsed(lines, self, headed=table is not None, bulk=bulk)

    def _parsed(self, lines: Lines, declared: Table, *, headed: bool, bulk: bool) -> ParsedTable:
        """The rows and problems of lines, some lines at a time."""
        parsed = ParsedTable(pl.DataFrame(), LineProblems(), LineProblems(), lines, self)
        explain = lru_cache(_ALIKE)(self._explained)
        rows: list[pl.DataFrame] = []
        for first, some in lines.slices():
            numbers = pl.int_range(first + 1, first + 1 + pl.len(), dtype=pl.Int64)
            numbered = some.to_frame().with_columns(record=numbers)
            cells = self._accepted(numbered.slice(headed and not first), parsed, explain, bulk=bulk)
            rows.append(declared._typed(cells))
        return replace(parsed, rows=_joined(rows or [declared._typed(pl.DataFrame())]))

    def _accepted(
        self, numbered: pl.DataFrame, parsed: ParsedTable, explain: _Explain, *, bulk: bool
    ) -> pl.DataFrame:
        """The cells of valid lines; what is wrong with the others is added to a table."""
        if not self.empty_code:  # nothing is said of empty lines, of which there may be a million
            numbered = numbered.filter(pl.col("line") != "")
        names = [column.name for column in self.columns]
        cells = pl.col("line").str.split_exact("\t", len(names))
        cells = cells.struct.rename_fields([*names, "\t"]).alias("\t\t")
        split = numbered.select("line", "record", cells).unnest("\t\t")
        fits = split.select(fits=self._fits() if bulk else pl.col("line").is_null()).to_series()
        rows: list[tuple[object, ...]] = []
        for record, line in split.filter(~fits).select("record", "line").iter_rows():
            found, wrong, is_empty = explain(line)
            rows += [(record, *row) for row in found]
            for problem in wrong:
                parsed.wrong.add(record, problem)
            if wrong and not found and not is_empty:
                parsed.rejected.add(record, wrong[0])
        accepted = split.filter(fits).select("record", *names)
        if not rows:
            return accepted
        read = pl.DataFrame(rows, schema=accepted.schema, orient="row")
        return pl.concat([accepted, read]).sort("record", maintain_order=True)

    def _explained(self, line: str) -> _Explained:
        """The rows that a line is read as, its problems, and whether it is empty."""
        if self.is_empty(line):
            return (), [Problem(self.empty_code, 0, 0, 0)] if self.empty_code else (), True
        return *(self.explain or self.explain_cells)(0, line), False

    def _fits(self) -> pl.Expr:
        """Whether a line has as many cells as it must have, and all of them are valid."""
        fits = [column.accepted(pl.col(column.name)) for column in self.columns]
        if not self.ragged:
            last = [column.name for column in self.columns if not column.optional][-1:]
            fits += [pl.col("\t").is_null(), *(pl.col(name).is_not_null() for name in last)]
        blank = pl.col("line").str.strip_chars() if self.blank_is_empty else pl.col("line")
        return pl.all_horizontal(blank != "", *fits)

    def _typed(self, cells: pl.DataFrame) -> pl.DataFrame:
        """Rows with the types of the columns; a column that is not there is null."""
        columns = [
            column.values(cells[column.name]).alias(column.name)
            if column.name in cells.columns
            else column.values(pl.Series(column.name, [None] * cells.height, dtype=pl.String))
            for column in self.columns
        ]
        record = cells["record"] if "record" in cells.columns else pl.Series("record", [])
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
            values = {"given": shortened(given) or "nothing", "column": column.title}
            more = column.describe(given) if column.describe else {}
            if column.code:
                end = start + len(given)
                problems.append(Problem(column.code, record, start, end, {**values, **more}))
            elif whole not in problems:
                problems.insert(0, whole)
        return [cells] if valid else (), problems

    def stretch(self, line: str, name: str) -> tuple[int, int]:
        r"""Where a cell is in its line: first code point, and one past the last, 0-based.

        Args:
            line: the line.
            name: of the column, or its heading; the whole line for any other name, and for a cell
                that the line does not have.

        Examples:
            >>> Table((Column("start"), Column("end"))).stretch("10\t25", "end")
            (3, 5)
        """
        cells = line.split("\t")
        for column, cell, end in zip(
            self.columns, cells, accumulate(len(cell) + 1 for cell in cells), strict=False
        ):
            if name in (column.name, column.title):
                return end - 1 - len(cell), end - 1
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

        Args:
            tables: rows, see `lines`.
            path: of the file.
        """
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            if self.header == "required":
                stream.write("\t".join(self.headings) + "\n")
            for rows in tables:
                stream.writelines(f"{line}\n" for line in self.lines(rows))


def _joined(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Tables as one, whose memory is contiguous; they are taken apart, a column at a time."""
    each = ([part.drop_in_place(name) for part in parts] for name in parts[0].columns)
    return pl.DataFrame([pl.concat(columns, rechunk=True) for columns in each])

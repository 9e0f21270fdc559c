"""A table that was read: its rows, its lines, and what is wrong with them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import polars as pl

from hlteval.findings import Finding, Problem, explained
from hlteval.sources import Member
from hlteval.syntax.tsv_lines import Lines

if TYPE_CHECKING:
    from hlteval.syntax.tsv import Table


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
    """What a table says.

    Attributes:
        rows: the columns of the declaration after `record`, the 1-based number of the line; in the
            order of the lines.
        wrong: what is wrong, in the order of the lines.
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
        """What is wrong, in the order of the lines."""
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
            starts, ends = zip(
                *(self.table.stretch(line, name) for name in columns or [""]), strict=True
            )
            problems.append(Problem(code, row["record"], min(starts), max(ends), row))
        others = rows["record"][some.height :]
        return problems + [Problem(code, record, 0, 0) for record in others]

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
        return explained(chain(self.wrong, further), finding, file.max_per_code)

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

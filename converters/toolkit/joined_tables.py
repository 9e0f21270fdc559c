"""Many small tables of one header, read as one: a table costs the same for few as for many."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

import polars as pl

from hlteval.findings import Bounded, Finding, Problem
from hlteval.sources import Member
from hlteval.syntax.tsv import ParsedTable, Table


@dataclass
class JoinedTables:
    """The files of one header: their lines are read as one table.

    Attributes:
        table: the declaration of their lines, which has no header.
        origins: the row of `sources` of each file.
        members: each file.
        bodies: the lines after the header of each.
        first: the number of the first line after the header in its file.
    """

    table: Table
    origins: list[int] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    first: int = 2

    def add(self, origin: int, member: Member, body: str) -> None:
        """Add a file without its header."""
        if body:
            self.origins.append(origin)
            self.members.append(member)
            self.bodies.append(body if body.endswith("\n") else f"{body}\n")

    @cached_property
    def parsed(self) -> ParsedTable:
        """All lines as one table; the texts are not needed after that."""
        text = "".join(self.bodies)
        self._ends  # noqa: B018 - counted while the texts are there
        self.bodies.clear()
        return self.table.read(text)

    @cached_property
    def _counts(self) -> list[int]:
        """The number of lines of each file."""
        return [body.count("\n") for body in self.bodies]

    @cached_property
    def _ends(self) -> list[int]:
        """The number of lines up to the end of each file."""
        return list(accumulate(self._counts))

    def place(self, line: int) -> tuple[int, int]:
        """The index of the file that a line of the joined table is in, and its number there."""
        at = bisect_right(self._ends, line - 1)
        return at, line - (self._ends[at - 1] if at else 0) + self.first - 1

    @property
    def rows(self) -> pl.DataFrame:
        """The rows with `origin`, `record` as the number of the line in its file, and `line`."""
        parsed = self.parsed.rows.rename({"record": "line"})
        if len(self.origins) == 1:
            record = pl.col("line") + (self.first - 1)
            return parsed.with_columns(origin=pl.lit(self.origins[0], pl.Int64), record=record)
        before = [0, *self._ends[:-1]] if self._ends else []
        schema = {"origin": pl.Int64, "count": pl.Int64, "before": pl.Int64}
        files = pl.DataFrame([self.origins, self._counts, before], schema=schema)
        lines = files.select(pl.all().repeat_by("count")).explode(files.columns)
        lines = lines.with_columns(line=pl.int_range(1, pl.len() + 1, dtype=pl.Int64))
        joined = parsed.join(lines, on="line", how="left", maintain_order="left")
        record = pl.col("line") - pl.col("before") + self.first - 1
        return joined.with_columns(record=record).drop("before", "count")

    def take_rows(self) -> pl.DataFrame:
        """The rows, which are not kept: there are none after that."""
        rows = self.rows
        self.parsed = replace(self.parsed, rows=self.parsed.rows.clear())
        return rows

    def problem(self, code: str, line: int, *columns: str, **values: object) -> tuple[int, Problem]:
        """A problem of cells of a line; of the whole line without columns.

        Args:
            code: of the problem.
            line: the number of the line in the joined table.
            columns: the names of the columns concerned.
            values: of the message.
        """
        text = self.parsed.lines[line - 1]
        places = [self.parsed.table.stretch(text, name) for name in columns or ("",)]
        start, end = min(place[0] for place in places), max(place[1] for place in places)
        return line, Problem(code, line, start, end, values)

    def findings(self, *more: tuple[int, Problem]) -> Iterator[Finding]:
        """The findings of all problems, and of more, each in its file."""
        files: dict[int, Bounded] = {}
        for line, problem in (*self.parsed.wrong, *more):
            at, record = self.place(line)
            found = files.setdefault(at, Bounded(self.members[at].max_per_code))
            found.add(problem.code, record, self._finding, (line, problem))
        for each in files.values():
            yield from each.findings

    def _finding(self, record: int, given: tuple[int, Problem]) -> Finding:
        line, problem = given
        display = self.members[self.place(line)[0]].display
        return problem._replace(record=record).in_line(display, self.parsed.lines[line - 1])

    def rejected_records(
        self, kind: str, *more: tuple[int, Problem], first: int = 0
    ) -> Iterator[dict[str, object]]:
        """The lines without a row, and more, as rows of `rejected_records`.

        Args:
            kind: what a line should be.
            more: the number of a line of the joined table, and why it has no row.
            first: the key of the first row.
        """
        for row, (line, problem) in enumerate((*self.parsed.rejected, *more), start=first):
            at, record = self.place(line)
            text = self.parsed.lines[line - 1]
            moved = problem._replace(record=record)
            yield {**moved.rejection(kind, text), "row": row, "origin": self.origins[at]}

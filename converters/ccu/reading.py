"""The files of a source as tables of one header each, with what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from hlteval.converters.ccu.tables import Kind
from hlteval.converters.toolkit.joined_tables import JoinedTables
from hlteval.converters.toolkit.per_document import FileBatch
from hlteval.findings import Finding, Problem
from hlteval.sources import Member

#: The columns of rows that say where they are.
PLACE = ("origin", "record", "line", "group")
_TYPES = {"text": pl.String, "integer": pl.Int64, "number": pl.Float64}
_Placed = tuple[tuple[str, str], tuple[int, Problem]]


class Tables:
    """Files in groups of one kind and one header.

    Attributes:
        files: the files as such: sources, members and findings about bytes.
        groups: the groups by kind and header.
        wrong: the row of `sources` of each file whose header cannot be read.
    """

    def __init__(self, path: str, form: str) -> None:
        self.files = FileBatch(path, form)
        self.groups: dict[tuple[str, str], JoinedTables] = {}
        self.wrong: set[int] = set()
        self._found: list[Finding] = []
        self._headers: dict[tuple[str, str], list[Problem]] = {}
        self._later: dict[tuple[str, str], list[tuple[int, Problem]]] = {}
        self._refused: dict[tuple[str, str], list[tuple[int, Problem]]] = {}

    def fetch(self, member: Member) -> tuple[int, str] | None:
        """The row of `sources` and the text of a file; None if it cannot be read."""
        before = len(self.files.texts)
        self.files.add(member.name, member)
        if len(self.files.texts) == before:
            return None
        origin, _, text = self.files.texts.pop()
        return origin, text

    def read(self, member: Member, kind: Kind) -> int | None:
        """Read a file as a kind; its row of `sources`, None if it cannot be read."""
        fetched = self.fetch(member)
        if fetched is None:
            return None
        self.take(member, kind, *fetched)
        return fetched[0]

    def take(self, member: Member, kind: Kind, origin: int, text: str) -> None:
        """Add the text of a file as a kind."""
        header, _, body = text.partition("\n")
        header, body = header.removesuffix("\r"), body.rstrip("\r\n")
        if (kind.name, header) not in self._headers:  # thousands of files share one
            self._headers[kind.name, header] = list(kind.problems(header))
        problems = self._headers[kind.name, header]
        self._found += [problem.in_line(member.display, header) for problem in problems]
        if any(problem.code[3:] in {"102", "104"} for problem in problems):
            self.wrong.add(origin)
            return
        table = kind.table(header.split("\t"))
        group = self.groups.setdefault((kind.name, header), JoinedTables(table))
        group.add(origin, member, body)

    def report(self, *found: Finding) -> None:
        """Add findings about files as wholes."""
        self._found += found

    def named(self, code: str, file: str, **values: object) -> None:
        """Add a finding about a file as a whole."""
        self._found.append(Problem(code, 0, 0, 0, values).finding(file, None, None))

    def take_rows(self, kind: Kind) -> pl.DataFrame:
        """The rows of a kind, with `PLACE` and all its columns, null where a file has none.

        They are not kept: a reference has millions.
        """
        types = {column.name: _TYPES[column.kind] for column in kind.columns}
        empty = pl.DataFrame(schema={**dict.fromkeys(PLACE, pl.Int64), **types})
        parts = [
            group.take_rows().select(pl.exclude("^\t.*$"), group=pl.lit(number, pl.Int64))
            for number, (key, group) in enumerate(self.groups.items())
            if key[0] == kind.name
        ]
        return pl.concat([empty, *parts], how="diagonal")

    def problems(self, code: str, rows: pl.DataFrame, *columns: str) -> None:
        """Add a problem for each of some rows, with its columns as values.

        Args:
            code: of the problem.
            rows: of `take_rows`.
            columns: the columns that it concerns; the whole line without any.
        """
        for key, problem in self._made(code, rows, *columns):
            self._later.setdefault(key, []).append(problem)

    def reject(self, code: str, rows: pl.DataFrame) -> None:
        """Keep some rows as `rejected_records`, for a reason that is reported."""
        for key, problem in self._made(code, rows):
            self._refused.setdefault(key, []).append(problem)

    def _made(self, code: str, rows: pl.DataFrame, *columns: str) -> Iterator[_Placed]:
        keys = list(self.groups)
        for row in rows.iter_rows(named=True):
            key = keys[row["group"]]
            values = {name: value for name, value in row.items() if name not in PLACE}
            yield key, self.groups[key].problem(code, row["line"], *columns, **values)

    def findings(self) -> Iterator[Finding]:
        """All findings."""
        yield from self.files.findings
        yield from self._found
        for key, group in self.groups.items():
            yield from group.findings(*self._later.get(key, []))

    def rejected(self, kinds: Mapping[str, str]) -> Iterator[dict[str, object]]:
        """The rows of `rejected_records`, one by one: a million of them take a gigabyte.

        Args:
            kinds: what a line of each kind should be.
        """
        count = 0
        for key, group in self.groups.items():
            more = self._refused.get(key, [])
            for row in group.rejected_records(kinds[key[0]], *more, first=count):
                count += 1
                yield row

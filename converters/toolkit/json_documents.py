"""Documents in JSON: those of a file, and what is wrong with them, each problem at its place.

A file is an array of documents, a document per line, or a single one. A schema of grammars/ defines
a document; its errors are only explained where it rejects one.
"""

import json
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from itertools import repeat
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np
import polars as pl

from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.rows import from_dictionaries, table_of
from hlteval.converters.toolkit.source_files import FileBatch
from hlteval.findings import Bounded, FieldRef, Finding, Location, Problem
from hlteval.representation import TABLES, Corpus
from hlteval.representation.corpus import Rows as TableRows
from hlteval.sources import Member, decode
from hlteval.syntax.json_parser import blanks
from hlteval.syntax.json_text import (
    KINDS,
    WANTED,
    Layout,
    SchemaError,
    broken_keywords,
    extents,
    format_path,
    invalid,
    items,
    schema_errors,
    strict,
    value_at,
)
from hlteval.syntax.places import Path, Places
from hlteval.syntax.sections import Sections, line_sections

#: An object.
Item = dict[str, Any]
#: Gives the values of a message.
Values = Callable[[], Mapping[str, object]]
#: Most characters that are kept of a document that cannot be read.
_SHOWN = 1000
#: Lines that are looked at to find out whether each is a document.
_FIRST = 5
#: Problems of a document that are put in order.
_WAITING = 20_000
#: Characters of texts that complete a batch, documents, and members that are kept.
_CHARACTERS, _MOST, _KEPT = 2_000_000, 20_000, 200_000
#: Rows of a document that become a table of their own.
_LARGE = 1000


def compact(value: Any) -> str:
    """A value as JSON.

    Examples:
        >>> compact({"a": ["é", 1.5]})
        '{"a": ["é", 1.5]}'
    """
    if type(value) is str and value.isprintable() and '"' not in value and "\\" not in value:
        return f'"{value}"'  # most are so, and this is quick
    if type(value) is int:
        return str(value)
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)


@dataclass
class Content:
    """The content of a file.

    Attributes:
        text: the file.
        values: the documents, or what is in their place.
        single: whether the file is one document.
        problems: what is not JSON outside of documents.
        unreadable: the problems of documents that are not JSON, by index. In a file that is
            `in_lines`, they count from the start of the document, so that equal lines share them.
        found: where each document starts and ends, where that is known.
        in_lines: whether each line is a document.
    """

    text: str
    values: list[Any]
    single: bool = False
    problems: Sequence[Problem] = ()
    unreadable: dict[int, Sequence[Problem]] = field(default_factory=dict)
    found: Sequence[tuple[int, int]] | None = None
    in_lines: bool = False

    @cached_property
    def extents(self) -> Sequence[tuple[int, int]]:
        """The start and end of each document."""
        if self.found is not None:
            return self.found
        if not self.single:
            return extents(self.text)
        return [(blanks(self.text, 0)[0], len(self.text))]


def file_content(text: str) -> Content:
    """The documents of a file: of an array, of lines, or a single one."""
    valid, value = strict(text.encode())
    if valid:
        single = not isinstance(value, list)
        return Content(text, [value] if single else value, single=single)
    if not text.strip():
        return Content(text, [])
    if text.lstrip(" \t\r\n").startswith("{"):
        lines = [line for line in text.split("\n", _FIRST * 2) if line.strip()]
        tried = (strict(line.encode()) for line in lines[:_FIRST])
        if len(lines) > 1 and any(valid and isinstance(value, dict) for valid, value in tried):
            return _lines(text)
    found = items(text)
    array = text.lstrip(" \t\r\n\ufeff").startswith("[")
    content = Content(text, [item.value for item in found.parsed], single=not array)
    content.found = [(item.start, item.end) for item in found.parsed]
    content.problems = found.problems
    for index, parsed in enumerate(found.parsed):
        if parsed.problems or not parsed.complete:
            content.unreadable[index] = parsed.problems
    return content


class _Extents(Sequence[tuple[int, int]]):
    """The start and end of each line: a tuple of two numbers would take ten times as much."""

    def __init__(self) -> None:
        self.starts, self.ends = array("q"), array("q")

    def add(self, start: int, end: int) -> None:
        """Add a line."""
        self.starts.append(start)
        self.ends.append(end)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return list(zip(self.starts[at], self.ends[at], strict=True))
        return self.starts[at], self.ends[at]


def name_of(value: object, usual: str) -> str:
    """The name of a document: the text or number that is its identifier, or else the usual one."""
    return str(value) if isinstance(value, str | int) and value != "" else usual


def object_sections(
    member: Member,
    identifiers: Sequence[str],
    usual: str,
    several: str = "",
    *,
    in_lines: bool = False,
) -> Sections | None:
    r"""The documents of a file that has an object on each line; see `line_sections`.

    Args:
        member: the file, in UTF-8.
        identifiers: the members of which the first that an object has names its document.
        usual: the names of others, by their number from 1.
        several: a member of objects of several documents, with which the file is not divided.
        in_lines: whether a line is a record.

    Examples:
        >>> member = Member("", "s.jsonl", None, lambda: b'{"id": 7}\n{}\n')
        >>> object_sections(member, ["id"], "s-{}").names
        ['7', 's-2']
    """
    names = [*identifiers, *filter(None, [several])]
    unset: Any = msgspec.UNSET
    fields = [(f"_{at}", Any, unset) for at, _ in enumerate(names)]
    kind = msgspec.defstruct("Object", fields, rename=lambda own: names[int(own[1:])], gc=False)
    decode = msgspec.json.Decoder(kind).decode

    def name(line: bytes, number: int) -> str | None:
        try:
            *values, last = msgspec.structs.astuple(decode(line))
        except (ValueError, RecursionError):
            return None
        if several and last is not unset:
            return None
        given = [value for value in (*values, last) if value is not unset]
        return name_of(given[0] if given else None, usual.format(number))

    return line_sections(member, name, in_lines=in_lines)


def _lines(text: str) -> Content:
    """The documents of a file that has one a line."""
    found = _Extents()
    content, at = Content(text, [], found=found, in_lines=True), 0
    value_of = lru_cache(maxsize=100)(_value_of)  # many lines are alike
    for line in text.split("\n"):
        end, index = at + len(line), len(found)
        if line.strip():
            begin = end - len(line.lstrip())
            found.add(begin, end)
            valid, value = strict(line.encode())
            if not valid:
                value, content.unreadable[index] = value_of(line.lstrip())
            content.values.append(value)
        at = end + 1
    return content


def _value_of(line: str) -> tuple[Any, list[Problem]]:
    """The value of a line that is not a valid document, and its problems."""
    parsed = value_at(line, 0)
    problems = list(parsed.problems)
    rest = blanks(line, parsed.end)[0] if parsed.complete else len(line)
    if rest < len(line):
        hint = {"hint": "put one document on each line, and nothing after it"}
        problems.append(Problem("JSN107", 0, rest, min(len(line), rest + 40), hint))
    return parsed.value, problems


@dataclass(frozen=True)
class Structure:
    """The structure that documents of a format must have, and the codes of what they lack.

    Attributes:
        schema: the name of the schema, in grammars/; its array has all documents of a file.
        lists: the names of arrays of any length in it.
        part: gives the item of a document that a path leads into, and its definition in the schema;
            of what is in no item, the document.
        codes: the code of the errors of a keyword; that of other errors under an empty name.
        no_document: the code of a file without documents.
        explain: gives the values of the message about an error of the schema.
        outer: the definitions of what is read in spite of errors.
    """

    schema: str
    lists: Sequence[str]
    part: Callable[[Path], tuple[Path, str]]
    codes: Mapping[str, str]
    no_document: str
    explain: Callable[[SchemaError], dict[str, object]]
    outer: frozenset[str] = frozenset()


class Reporter:
    """Reports the problems of the documents of a file.

    Attributes:
        bounded: takes the findings.
    """

    def __init__(self, content: Content, member: Member, structure: Structure) -> None:
        self.content, self.display, self.structure = content, member.display, structure
        self.bounded = Bounded(member.max_per_code)
        self.places = Places(content.text)
        self.layout: tuple[int, Layout] | None = None
        self.waiting: list[tuple[Problem, str, Values]] = []
        self._add_unreadable()
        if not content.values and not content.problems:
            self.add(Problem(structure.no_document, 0, 0, 0), "$")
        self.invalid = {*invalid(structure.schema, content.values)} - content.unreadable.keys()

    def _add_unreadable(self) -> None:
        """Add what is not JSON."""
        content = self.content
        for problem in content.problems:
            self.add(problem, self.path(None, ()))
        for index, problems in content.unreadable.items():
            begin = content.extents[index][0] if content.in_lines else 0
            for problem in problems:
                counted = self.bounded.is_full(problem.code)
                self.add(problem if counted else problem.shift(begin), self.path(index, ()))

    def take(self) -> Iterator[Any]:
        """Take each document, or what is in its place; the one before is forgotten."""
        for index, value in enumerate(self.content.values):
            yield value
            self.content.values[index] = None

    def path(self, index: int | None, path: Path) -> str:
        """A path in the file, as people write it."""
        return format_path(path if index is None or self.content.single else (index, *path))

    def add(self, problem: Problem, path: str) -> None:
        """Add the finding of a problem at a path of the file."""
        self.bounded.add(problem.code, path, self._finding, problem)

    def _finding(self, path: str, problem: Problem) -> Finding:
        problem = problem._replace(values={"path": path, **problem.values})
        return self.places.finding(problem, self.display, path)

    def report(
        self, index: int, code: str, path: Path, explain: Values | None = None, **values: object
    ) -> None:
        """Keep a problem of a part of a document until all of the document is known.

        Args:
            index: the document.
            code: of the problem.
            path: the part; the place of a whole document is its first character.
            explain: gives the values of the message, if it is explained at all.
            values: the values otherwise.
        """
        if self.bounded.is_full(code):
            self.bounded.count(code, self.path(index, path))
            return
        problem = Problem(code, 0, *self.place(index, path))
        self.waiting.append((problem, self.path(index, path), explain or (lambda: values)))
        if len(self.waiting) == _WAITING:  # few of so many are explained
            self.settle()

    def place(self, index: int, path: Path) -> tuple[int, int]:
        """Start and end of a part of a document; of a whole document, its first character."""
        begin = self.content.extents[index][0]
        if not path:
            start = blanks(self.content.text, begin)[0]
            return start, start + 1
        if self.layout is None or self.layout[0] != index:
            self.layout = (index, Layout(self.content.text, begin))
        return self.layout[1].place(path)

    def settle(self) -> None:
        """Add what was kept in the order of its places: going back costs a new start."""
        for kept, path, values in sorted(self.waiting, key=lambda kept: kept[0][2:4]):
            counted = self.bounded.is_full(kept.code)
            self.add(kept if counted else kept._replace(values=values()), path)
        self.waiting.clear()

    def schema_errors(self, index: int) -> set[Path]:
        """Report how a document breaks the schema, and give the paths of the items that do."""
        if index not in self.invalid:
            return set()
        document, structure = self.content.values[index], self.structure

        @lru_cache(maxsize=1)  # an item may have many errors, and they are explained in order
        def errors_in(part: Path, definition: str) -> dict[tuple[Path, str], SchemaError]:
            value = document
            for step in part:
                value = value[step]
            if isinstance(value, dict):
                lists = [name for name in structure.lists if isinstance(value.get(name), list)]
                value = {**value, **{name: [] for name in lists}}
            errors = schema_errors(structure.schema, definition, value)
            return {((*part, *error.path), error.keyword): error for error in errors}

        def explain(path: Path, keyword: str) -> Mapping[str, object]:
            return structure.explain(errors_in(*structure.part(path))[path, keyword])

        @lru_cache(maxsize=1)
        def item_of(array: Path) -> tuple[int, bool]:
            """The steps to the part that has the items of an array, and whether it is rejected."""
            part, definition = structure.part((*array, 0))
            return len(part), definition not in structure.outer

        broken = broken_keywords(structure.schema, document, lists=structure.lists)
        broken.sort(key=lambda error: "" if error[1] == "type" else error[1])
        broken.sort(key=itemgetter(0))  # keys of their own would take as much again
        found = set[Path]()
        for path, keyword in broken:
            code = structure.codes.get(keyword, structure.codes[""])
            self.report(index, code, path, partial(explain, path, keyword))
            if path and isinstance(path[-1], int):
                size, rejected = item_of(path[:-1])
                part = path[:size]
            else:
                part, definition = structure.part(path)
                rejected = definition not in structure.outer
            if rejected:
                found.add(part)
        return found

    def reject(self, index: int, row: int, origin: int, record: int) -> Mapping[str, object]:
        """A document that cannot be read, as a row of the table `rejected_records`.

        Its text is its first line as it is written, or the beginning of a long one.
        """
        structure = self.structure
        code, is_json = structure.codes[""], index not in self.content.unreadable
        if is_json and self.bounded.is_full(code):  # it has this problem alone
            self.report(index, code, ())
        elif is_json:
            value = self.content.values[index]
            for violation in schema_errors(structure.schema, "document", value):
                self.report(index, code, (), partial(structure.explain, violation))
            self.settle()
        return self.rejection(index, row, origin, record)

    def rejection(self, index: int, row: int, origin: int, record: int) -> Mapping[str, object]:
        """The row of a document whose problems are reported. See `reject`."""
        text, (start, end) = self.content.text, self.content.extents[index]
        code = self.structure.codes[""]
        if index in self.content.unreadable:  # its end is not known
            code = next((problem.code for problem in self.content.unreadable[index]), "JSN101")
            more = self.content.extents[index + 1 : index + 2]
            end = more[0][0] if more else len(text)
        line = text[start : min(end, start + _SHOWN)].partition("\n")[0]
        column = self.places.span(start, start).column - 1
        problem = Problem(code, record, column, column + len(line))
        return problem.rejection("document", line, expected="a document", row=row, origin=origin)


class TableBuilder:
    """Makes rows of tables from the documents of files.

    Attributes:
        names: the names of documents in use, and how often each was written.
        rows: the rows of each table, without their numbers.
        rejected: those of documents that cannot be read, after those that are `packed` as a table.
        rejected_count: how many these are.
        texts: how many characters the texts have.
    """

    reporter: Reporter

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.begin()

    def begin(self) -> None:
        """Begin a batch."""
        self.rows: dict[str, list[Any]] = defaultdict(list)
        self.frames: dict[str, list[pl.DataFrame]] = defaultdict(list)
        self.rejected: list[Mapping[str, object]] = []
        self.rejected_count = 0
        self.packed = from_dictionaries("rejected_records", ())
        self.texts = 0

    def open(self, reporter: Reporter) -> None:
        """Begin a file."""
        self.reporter = reporter

    def close(self) -> None:
        """End a file."""

    def take(self, index: int, value: Item, stem: str, place: tuple[int, int]) -> int:
        """Add a document, and give its number of records.

        Args:
            index: of the document in its file.
            value: the document.
            stem: its name if it has none.
            place: the file, and the ordinal of the first record in it.
        """
        raise NotImplementedError

    def add_columns(self, table: str, size: int, columns: Mapping[str, Any]) -> None:
        """Add rows of a document as columns, in the order of their table.

        Args:
            table: the table.
            size: how many rows there are.
            columns: the values of each column, or one value for all.
        """
        many = {
            name: isinstance(values, list | range | np.ndarray) for name, values in columns.items()
        }
        if size < _LARGE:  # a frame costs more
            own = (values if many[name] else repeat(values) for name, values in columns.items())
            own = (values.tolist() if isinstance(values, np.ndarray) else values for values in own)
            self.rows[table] += zip(*own, strict=False)
            return
        schema = TABLES[table].schema
        lists = {
            name: pl.Series(values, dtype=schema[name])
            for name, values in columns.items()
            if many[name]
        }
        same = {
            name: pl.lit(values, schema[name]) for name, values in columns.items() if not many[name]
        }
        self.frames[table].append(pl.DataFrame(lists).select(**lists, **same))

    def reject(self, row: Mapping[str, object]) -> None:
        """Add a document that cannot be read: `Reporter.reject` and `rejection` make the row."""
        self.rejected.append(row)
        self.rejected_count += 1
        if len(self.rejected) == _LARGE:  # a table takes a tenth of the memory
            self.packed.extend(from_dictionaries("rejected_records", self.rejected))
            self.rejected.clear()

    @property
    def is_full(self) -> bool:
        """Whether the documents are enough for a batch."""
        count = len(self.rows["documents"]) + self.rejected_count
        kept = len(self.rows["attributes"])
        return self.texts >= _CHARACTERS or count >= _MOST or kept >= _KEPT

    def tables(self) -> dict[str, TableRows]:
        """Take the rows as tables."""
        self.rows["arguments"].sort(key=lambda row: int(row[3]))  # by frame, in their order
        tables: dict[str, TableRows] = {}
        for name in tuple(self.rows.keys() | self.frames.keys()):
            frame = table_of(name, self.rows.pop(name, []))
            if frames := self.frames.pop(name, None):
                every = pl.concat([frame.drop("row"), *frames], how="diagonal")
                ordered = every.sort("document", "record", maintain_order=True)
                frame = ordered.select(
                    pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), pl.all()
                )
            tables[name] = frame
        rejected = from_dictionaries("rejected_records", self.rejected)
        tables["rejected_records"] = self.packed.extend(rejected)
        self.begin()
        return tables

    def read(self, every: Iterable[FileBatch], structure: Structure) -> Iterator[ReadResult]:
        """The documents of files, as many at a time as are enough.

        Args:
            every: the files.
            structure: the structure of their documents.
        """
        for batch in every:
            findings = list(batch.findings)
            for origin, stem, text in batch.texts:
                reporter = Reporter(file_content(text), batch.members[origin], structure)
                for tables in self.add_file(reporter, stem, origin):
                    corpus = Corpus(sources=batch.sources, **tables)
                    findings += reporter.bounded.take()
                    yield ReadResult(corpus, tuple(findings), tuple(batch.members))
                    findings.clear()
                findings += reporter.bounded.findings
            corpus = Corpus(sources=batch.sources, **self.tables())
            yield ReadResult(corpus, tuple(findings), tuple(batch.members))

    def add_file(
        self, reporter: Reporter, stem: str, origin: int
    ) -> Iterator[Mapping[str, TableRows]]:
        """Add the documents of a file, and give the tables of as many as are enough.

        Args:
            reporter: gives the documents, and reports their problems.
            stem: the name of the file.
            origin: its row of `sources`.
        """
        record, content = 1, reporter.content
        self.open(reporter)
        for index, value in enumerate(reporter.take()):
            empty = value == {} and index in reporter.invalid
            if index in content.unreadable or not isinstance(value, dict) or empty:
                row = self.rejected_count
                self.reject(reporter.reject(index, row, origin, record))
                record += 1
            else:
                name = stem if content.single else f"{stem}-{index + 1}"
                record += self.take(index, value, name, (origin, record))
                reporter.settle()
            if self.is_full:
                yield self.tables()
        self.close()


def explain(violation: SchemaError) -> dict[str, object]:
    """The values of the message about an error of the schema."""
    keyword, wanted, given = violation.keyword, violation.wanted, violation.given
    if keyword == "required":
        missing = [name for name in wanted if name not in given]
        return {"missing": ", ".join(missing)}
    if keyword == "minProperties":
        return {"given": "an empty object", "wanted": "an object with members"}
    if keyword == "anyOf":
        return {"given": compact(given)[:60], "wanted": violation.schema.get("description", "")}
    allowed = wanted if isinstance(wanted, list) else [wanted]
    if keyword == "type":
        kind = KINDS.get(type(given), "something else")
        kinds = " or ".join(WANTED.get(name, str(name)) for name in allowed)
        return {"given": kind, "wanted": kinds}
    limit = " or ".join(map(str, allowed)) if allowed is wanted else f"{keyword} {wanted}"
    return {"given": str(given)[:60], "wanted": limit}


def locate_records(
    member: Member,
    places: Sequence[FieldRef],
    records: Callable[[Mapping[str, Any]], Iterator[Path]],
) -> list[Location | None]:
    """The places of records, and of their members as fields; of a document, only its start.

    Args:
        member: the file.
        places: the records and fields.
        records: gives the path of each record of a document in order: itself, and what is in it.
    """
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    content, wanted = file_content(text), {place.record for place in places}
    paths: dict[int, tuple[int, Path]] = {}
    record = 1
    for index, document in enumerate(content.values):
        readable = isinstance(document, dict) and index not in content.unreadable
        for path in records(document) if readable else [()]:
            if record in wanted:
                paths[record] = (index, path)
            record += 1
    lines, layouts = Places(text), dict[int, Layout]()
    found: list[Location | None] = []
    for place in places:
        if place.record not in paths:
            found.append(None)
            continue
        index, path = paths[place.record]
        layout = layouts.setdefault(index, Layout(text, content.extents[index][0]))
        own = (*path, place.field)
        path = own if layout.find(own) is not None else path
        span = lines.span(*layout.place(path))
        found.append(Location(span, lines.excerpt(span)))
    return found

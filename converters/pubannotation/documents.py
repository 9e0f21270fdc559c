"""The documents of a file of PubAnnotation, and their problems, each at its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any

from hlteval.findings import Bounded, Finding, Problem
from hlteval.sources import Member
from hlteval.syntax.json_parser import Path, blanks
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
from hlteval.syntax.places import Places

#: Gives the values of a message.
Values = Callable[[], Mapping[str, object]]
SECTIONS = ("denotations", "blocks", "relations", "attributes", "modifications")
_SCHEMA = "pubannotation"
#: Most characters that are kept of a document that cannot be read.
_SHOWN = 1000
#: Lines that are looked at to find out whether each is a document.
_FIRST = 5


def compact(value: Any) -> str:
    """A value as JSON.

    Examples:
        >>> compact({"a": ["é", 1.5]})
        '{"a": ["é", 1.5]}'
    """
    return _encoder().encode(value)


@cache
def _encoder() -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=False)


@dataclass
class Content:
    """What a file holds.

    Attributes:
        text: the file.
        values: the documents, or what is in their place.
        single: whether the file is one document.
        problems: what is not JSON, with the index of the document; None outside of documents.
        unreadable: the documents that are not JSON, by index, each with the code of a problem.
        found: where each document starts and ends, where that is known.
    """

    text: str
    values: list[Any]
    single: bool = False
    problems: list[tuple[int | None, Problem]] = field(default_factory=list)
    unreadable: dict[int, str] = field(default_factory=dict)
    found: list[tuple[int, int]] | None = None

    @cached_property
    def extents(self) -> Sequence[tuple[int, int]]:
        """Where each document starts and ends."""
        if self.found is not None:
            return self.found
        if not self.single:
            return extents(self.text)
        return [(blanks(self.text, 0)[0], len(self.text))]

    def written(self, index: int) -> str:
        """The first line of a document as it is written, or the beginning of a long one."""
        start, end = self.extents[index]
        if index in self.unreadable:  # its end is not known
            more = index + 1 < len(self.extents)
            end = self.extents[index + 1][0] if more else len(self.text)
        return self.text[start : min(end, start + _SHOWN)].partition("\n")[0]

    def add(self, problems: Iterable[Problem], index: int | None) -> None:
        """Add what is not JSON, in a document or outside of documents."""
        self.problems += [(index, problem) for problem in problems]


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
    content.add(found.problems, None)
    for index, parsed in enumerate(found.parsed):
        content.add(parsed.problems, index)
        if parsed.problems or not parsed.complete:
            content.unreadable[index] = parsed.problems[0].code if parsed.problems else "JSN101"
    return content


def _lines(text: str) -> Content:
    """The documents of a file that has one a line."""
    found: list[tuple[int, int]] = []
    content, at = Content(text, [], found=found), 0
    for line in text.split("\n"):
        end, index = at + len(line), len(found)
        if line.strip():
            begin = end - len(line.lstrip())
            found.append((begin, end))
            valid, value = strict(line.encode())
            if not valid:
                value, problems = _of_line(line.lstrip(), begin)
                content.add(problems, index)
                content.unreadable[index] = problems[0].code if problems else "JSN101"
            content.values.append(value)
        at = end + 1
    return content


def _of_line(line: str, begin: int) -> tuple[Any, list[Problem]]:
    """The value of a line that is not a valid document, and its problems with their offsets."""
    parsed = value_at(line, 0)
    problems = list(parsed.problems)
    rest = blanks(line, parsed.end)[0] if parsed.complete else len(line)
    if rest < len(line):
        hint = {"hint": "put one document on each line, and nothing after it"}
        problems.append(Problem("JSN107", 0, rest, min(len(line), rest + 40), hint))
    return parsed.value, [
        problem._replace(start=problem.start + begin, end=problem.end + begin)
        for problem in problems
    ]


class Reporter:
    """Reports the problems of the documents of a file.

    Attributes:
        bounded: takes the findings.
    """

    def __init__(self, content: Content, member: Member) -> None:
        self.content, self.display = content, member.display
        self.bounded = Bounded(member.max_per_code)
        self.places = Places(content.text)
        self.layout: tuple[int, Layout] | None = None
        self.waiting: list[tuple[Problem, str, Values]] = []
        for index, problem in content.problems:
            self.add(problem, self.path(index, ()))
        if not content.values and not content.problems:
            self.add(Problem("PUB101", 0, 0, 0), "$")
        self.invalid = {*invalid(_SCHEMA, content.values)} - content.unreadable.keys()

    def path(self, index: int | None, path: Path) -> str:
        """A path in the file, as people write it."""
        return format_path(path if index is None or self.content.single else (index, *path))

    def add(self, problem: Problem, path: str) -> None:
        """Add the finding of a problem at a path of the file."""
        self.bounded.add(problem.code, path, self._finding, problem)

    def _finding(self, path: str, problem: Problem) -> Finding:
        problem = problem._replace(values={"path": path, **problem.values})
        return self.places.finding(problem, self.display, path)

    def report(self, index: int, code: str, path: Path, **values: object) -> None:
        """Keep a problem of a part of a document until all of the document is known."""
        self.keep(index, code, path, lambda: values)

    def keep(self, index: int, code: str, path: Path, values: Values) -> None:
        """Keep a problem of which the values are asked for only if it is explained."""
        start, end = self._place(index, path)
        self.waiting.append((Problem(code, 0, start, end), self.path(index, path), values))

    def _place(self, index: int, path: Path) -> tuple[int, int]:
        begin = self.content.extents[index][0]
        if not path:  # the place of a whole document is its first character
            begin = blanks(self.content.text, begin)[0]
            return begin, begin + 1
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
        items: set[Path] = set()
        if index in self.invalid:
            document = self.content.values[index]
            explained = _Explained(document)
            broken = broken_keywords(_SCHEMA, document, lists=_LISTS)
            for path, keyword in sorted(broken, key=_order):
                self.keep(index, _code(keyword), path, partial(explained.values, path, keyword))
                items.update(_item(path))
        return items

    def rejected(self, index: int, row: int, origin: int, record: int) -> Mapping[str, object]:
        """A document that cannot be read, as a row of the table `rejected_records`."""
        code = self.content.unreadable.get(index)
        if code is None:
            code = "PUB104"
            if self.bounded.is_full(code):  # what is not an object has this problem alone
                self.add(Problem(code, 0, 0, 0), self.path(index, ()))
                return self._row(code, index, row, origin, record)
            for violation in schema_errors(_SCHEMA, "document", self.content.values[index]):
                self.report(index, code, (), **_explanation(violation)[1])
            self.settle()
        return self._row(code, index, row, origin, record)

    def _row(
        self, code: str, index: int, row: int, origin: int, record: int
    ) -> Mapping[str, object]:
        start, text = self.content.extents[index][0], self.content.written(index)
        column = self.places.span(start, start).column - 1
        problem = Problem(code, record, column, column + len(text))
        return problem.rejection("document", text, expected="a document", row=row, origin=origin)


def _item(path: Path) -> Iterator[Path]:
    """The path of the item that a path leads into, if it leads into one."""
    for at, (step, after) in enumerate(pairwise(path)):
        if step in SECTIONS and isinstance(after, int):
            yield path[: at + 2]
            return


class _Explained:
    """The values of the messages about a document that breaks the schema, item by item."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.part: Path | None = None
        self.found: dict[tuple[Path, str], SchemaError] = {}

    def values(self, path: Path, keyword: str) -> Mapping[str, object]:
        """The values of the message about an error of the schema.

        Args:
            path: the path to the invalid value.
            keyword: the keyword of the schema that it breaks.
        """
        part, definition = _part(path)
        if part != self.part:
            self.part, self.found = part, {}
            for error in schema_errors(_SCHEMA, definition, self._without_lists(part)):
                self.found[(*part, *error.path), error.keyword] = error
        return _explanation(self.found[path, keyword])[1]

    def _without_lists(self, part: Path) -> Any:
        """A part of the document; of a track or of the document itself what it has of its own."""
        value: Any = self.document
        for step in part:
            value = value[step]
        if not isinstance(value, dict) or any(_item(part)):
            return value
        empty: dict[str, Any] = {name: [] for name in _LISTS if isinstance(value.get(name), list)}
        return {**value, **empty}


def _part(path: Path) -> tuple[Path, str]:
    """The item, track or document that a path leads into, and its definition in the schema.

    Examples:
        >>> _part(("denotations", 3, "span", "begin")), _part(("text",))
        ((('denotations', 3), 'denotation'), ((), 'document'))
    """
    for item in _item(path):
        return item, _DEFINITIONS[str(item[-2])]
    return (path[:2], "track") if path[:1] == ("tracks",) and path[1:] else ((), "document")


_DEFINITIONS = {**{name: name.removesuffix("s") for name in SECTIONS}, "blocks": "denotation"}
_LISTS = (*SECTIONS, "tracks")


def _order(broken: tuple[Path, str]) -> tuple[list[str], bool]:
    """By the parts of the path; a wrong type first."""
    path, keyword = broken
    return [str(step) for step in path], keyword != "type"


def _code(keyword: str) -> str:
    """The code of an error of the schema."""
    return {"required": "PUB103", "anyOf": "PUB105"}.get(keyword, "PUB104")


def _explanation(violation: SchemaError) -> tuple[str, dict[str, object]]:
    """The code of a violation and the values of its message."""
    keyword, wanted, given = violation.keyword, violation.wanted, violation.given
    if keyword == "required":
        missing = [name for name in wanted if name not in given]
        flat = "span" in missing and "begin" in given
        hint = 'write "span": {"begin": …, "end": …}' if flat else "add it"
        return "PUB103", {"missing": ", ".join(missing), "hint": hint}
    if keyword == "anyOf":
        return "PUB105", {"given": compact(given)[:60]}
    allowed = wanted if isinstance(wanted, list) else [wanted]
    if keyword == "type":
        kind = KINDS.get(type(given), "something else")
        kinds = " or ".join(WANTED.get(name, str(name)) for name in allowed)
        return "PUB104", {"given": kind, "wanted": kinds}
    limit = " or ".join(map(str, allowed)) if allowed is wanted else f"{keyword} {wanted}"
    return "PUB104", {"given": str(given)[:60], "wanted": limit}

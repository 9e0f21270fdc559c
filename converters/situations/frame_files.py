"""Files of situation frames in JSON: the items of one array, and what is wrong with them."""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple, TypeGuard

import polars as pl

from hlteval.converters.situations.types import type_hint
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.findings import MAX_PER_CODE, FieldRef, Finding, Location, Problem, findings_of
from hlteval.findings.suggest import closest, did_you_mean
from hlteval.representation import TABLES
from hlteval.sources import Member, decode
from hlteval.syntax.json_parser import ONCE, Parsed, parse
from hlteval.syntax.json_text import (
    KINDS,
    WANTED,
    Items,
    Layout,
    SchemaError,
    extents,
    format_path,
    items,
    strict,
)
from hlteval.syntax.places import Path, Places

#: Characters of an unreadable item that are kept.
_SHOWN = 1000
#: Different items of which the errors are kept for others of the same notation.
_ALIKE = 10_000


class _Broken(NamedTuple):
    """How an item breaks the schema.

    Attributes:
        is_frame: whether it can be read as a frame even so.
        problems: the problems, each with its path in the item; only their codes are known.
    """

    is_frame: bool
    problems: Sequence[tuple[str, Problem]]


class FrameFile(ABC):
    """The items of a file of frames, and the problems with them.

    A format extends it with its schema.

    Attributes:
        no_array: code of a text that is not an array.
        no_frame: code of an item that breaks the schema so that it cannot be read as a frame.
        text: the text.
        most: the maximum number of problems of a code that are explained; 0 for all.
        values: the items.
        problems: what is wrong, each with its path in the file, with offsets in the text.
        counts: how many of each code are to be explained.
        bad: the items that are not frames, by index, with the code of the reason.
    """

    no_array: str
    no_frame: str

    def __init__(self, text: str, most: int = MAX_PER_CODE) -> None:
        self.text, self.most = text, most
        self.values: list[Any] = []
        self.problems: list[tuple[str, Problem]] = []
        self.counts: Counter[str] = Counter()
        self.bad: dict[int, str] = {}
        self._known: dict[str, _Broken] = {}
        self._layout: tuple[int, Layout] | None = None

    @abstractmethod
    def invalid(self) -> Iterable[int]:
        """The indices of the items that break the schema."""

    @abstractmethod
    def is_frame(self, value: Any) -> bool:
        """Whether an item can be read as a frame, even if it breaks the schema."""

    @abstractmethod
    def broken(self, value: Any) -> list[tuple[str, Path]]:
        """The code and the path of each way in which an item breaks the schema."""

    @abstractmethod
    def violations(self, value: Any) -> Iterable[tuple[str, Path, Mapping[str, object]]]:
        """The same, each with the values of its message, which take longer."""

    @abstractmethod
    def array_hint(self, value: Any) -> str:
        """What to write instead of a value that is not an array of frames."""

    @cached_property
    def places(self) -> Places:
        """Lines and columns."""
        return Places(self.text)

    @cached_property
    def extents(self) -> Sequence[tuple[int, int]]:
        """The start and the end of each item."""
        return extents(self.text)

    def parsed(self, index: int) -> Parsed:
        """An item with the places of its parts."""
        return parse(self.text, self.extents[index][0])

    def take(self) -> None:
        """Read the items: fast if all of them are valid."""
        valid, value = strict(self.text.encode())
        if valid and isinstance(value, list):
            self.values = value
        else:
            self._slowly(items(self.text))
        for index in self.invalid():
            if index not in self.bad:
                self._explain(index)

    def _explain(self, index: int) -> None:
        """Report why an item breaks the schema; what nobody will read is only counted."""
        value = self.values[index]
        if self.most and len(self.problems) > self.most:
            known = self._alike(value)
            if all(self.enough(problem.code) for _, problem in known.problems):
                if not known.is_frame:
                    self.bad[index] = self.no_frame
                self.problems += [(f"$[{index}]{path}", found) for path, found in known.problems]
                return
        if not self.is_frame(value):
            self.bad[index] = self.no_frame
        for code, path, values in self.violations(value):
            self.report_at(code, index, path, **values)

    def _alike(self, value: Any) -> _Broken:
        """How an item breaks the schema; items of one notation are alike."""
        notation = repr(value)
        if notation not in self._known:
            if len(self._known) >= _ALIKE:
                self._known.clear()
            self._known[notation] = _Broken(
                self.is_frame(value),
                [(format_path(path)[1:], _uncounted(code)) for code, path in self.broken(value)],
            )
        return self._known[notation]

    def _slowly(self, found: Items) -> None:
        """Read the items of a text that is not a valid array."""
        if found.root is not None:
            start = found.parsed[0].start
            given = KINDS.get(type(found.root), "something else")
            hint = self.array_hint(found.root)
            self.report(self.no_array, (start, start + 1), (), given=given, hint=hint)
        self.add((), found.problems)
        parsed = () if _has_columns(found.root) else found.parsed
        self.extents = [(item.start, item.end) for item in parsed]
        for index, item in enumerate(parsed):
            self.values.append(item.value)
            if item.problems or not item.complete:
                self.bad[index] = item.problems[0].code if item.problems else "JSN101"
            known = [code for code in ONCE if self.counts[code]]
            self.add((index,), (found for found in item.problems if found.code not in known))

    def add(self, path: Path, problems: Iterable[Problem]) -> None:
        """Add problems of what a path leads to."""
        for problem in problems:
            self.counts[problem.code] += 1
            self.problems.append((format_path(path), _with_path(problem, path)))

    def count(self, code: str, index: int, path: Path) -> None:
        """Add a problem that nobody will read: only its place is known."""
        self.problems.append((format_path((index, *path)), _uncounted(code)))

    def enough(self, code: str) -> bool:
        """Whether further problems of a code are only counted."""
        return bool(self.most) and self.counts[code] > self.most

    def report(self, code: str, at: tuple[int, int], path: Path, **values: object) -> None:
        """Add a problem at a stretch of the text."""
        self.add(path, [Problem(code, 0, *at, values)])

    def report_at(self, code: str, index: int, path: Path, **values: object) -> None:
        """Add a problem at a part of an item."""
        if self.enough(code):
            self.count(code, index, path)
            return
        if self._layout is None or self._layout[0] != index:
            self._layout = (index, Layout(self.text, self.extents[index][0]))
        at = self._layout[1].place(path)
        self.report(code, at, (index, *path), **values)

    def unknown_properties(self, code: str, properties: Collection[str]) -> None:
        """Report properties that are not in the schema, each name once."""
        known = set(properties)
        named = Counter(
            name
            for value in self.values
            if isinstance(value, dict) and not known.issuperset(value)
            for name in value
        )
        for index, value in enumerate(self.values):
            if index in self.bad or known.issuperset(value):
                continue
            parsed = self.parsed(index)
            for name in [name for name in value if name not in known]:
                known.add(name)
                hint = did_you_mean(name, properties, "remove it; it is not evaluated")
                at = parsed.keys.get((name,), (parsed.start, parsed.start + 1))
                self.report(code, at, (index, name), name=name, count=named[name], hint=hint)

    def findings(self, file: str) -> list[Finding]:
        """The findings of all problems in a file of some name."""

        def finding_at(path: str, problem: Problem) -> Finding:
            return self.places.finding(problem, file, path)

        return findings_of(self.problems, finding_at, self.most)

    def frames(self) -> Iterator[tuple[int, Any]]:
        """The items that can be read as frames, each with its index."""
        return ((at, value) for at, value in enumerate(self.values) if at not in self.bad)

    def rejected_records(self) -> pl.DataFrame:
        """The items that are not frames."""
        bad = sorted(self.bad)
        starts = [self.extents[index][0] for index in bad]
        texts = [
            self.text[start : min(self.extents[index][1], start + _SHOWN)]
            for index, start in zip(bad, starts, strict=True)
        ]
        columns = [self.places.span(start, start).column for start in starts]
        widths = [len(text.partition("\n")[0]) for text in texts]
        schema = TABLES["rejected_records"].schema
        table = pl.DataFrame(
            {
                "row": range(len(bad)),
                "origin": [0] * len(bad),
                "record": [index + 1 for index in bad],
                "code": [self.bad[index] for index in bad],
                "text": texts,
                "column": columns,
                "end_column": map(sum, zip(columns, widths, strict=True)),
            },
            schema_overrides=schema,
        )
        return table.with_columns(kind=pl.lit("frame"), expected=pl.lit("a frame"))


def _uncounted(code: str) -> Problem:
    """A problem of which only the code is known."""
    return Problem(code, 0, 0, 0)


def _with_path(problem: Problem, path: Path) -> Problem:
    """A problem in the item that a path leads to, with that path among its values."""
    record = int(path[0]) + 1 if path else 0
    return problem._replace(record=record, values={"path": format_path(path), **problem.values})


def document_rows(names: Iterable[str]) -> tuple[list[dict[str, object]], list[int]]:
    """The rows of `documents` for the documents of frames, and the row of each frame's document.

    Examples:
        >>> document_rows(["a", "b", "a"])[1]
        [0, 1, 0]
    """
    numbers: dict[str, int] = {}
    rows = [numbers.setdefault(name, len(numbers)) for name in names]
    return [{"row": row, "origin": 0, "name": name} for name, row in numbers.items()], rows


def frame_table(
    indices: Sequence[int], documents: Sequence[int], columns: Mapping[str, Sequence[object]]
) -> pl.DataFrame:
    """The table `frames` of the items of a file.

    Args:
        indices: the index of the item of each frame.
        documents: the row of its document.
        columns: further columns.
    """
    table = {
        "row": range(len(indices)),
        "document": documents,
        "origin": [0] * len(indices),
        "record": [at + 1 for at in indices],
        "kind": [SITUATION] * len(indices),
        **columns,
    }
    return pl.DataFrame(table, schema={name: TABLES["frames"].schema[name] for name in table})


def located_items(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of items and of their parts, found in one pass over the file.

    Args:
        member: the file.
        places: what is looked for; fields are names of properties, or several names and indices
            with points between them, such as `SEC.0.Source`.
    """
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    stretches, lines = extents(text), Places(text)
    found: dict[FieldRef, Location] = {}
    for record, some in groupby(sorted(places, key=attrgetter("record")), attrgetter("record")):
        if 1 <= record <= len(stretches):
            layout = Layout(text, stretches[record - 1][0])
            for place in some:
                span = lines.span(*layout.place(_path(place.field)))
                found[place] = Location(span, lines.excerpt(span))
    return [found.get(place) for place in places]


def _path(field: str) -> Path:
    """The path that a field names; empty for the whole item.

    Examples:
        >>> _path("SEC.0.Source"), _path("")
        (('SEC', 0, 'Source'), ())
    """
    steps = field.split(".") if field else []
    return tuple(int(step) if step.isdecimal() else step for step in steps)


def _has_columns(root: object) -> bool:
    """Whether a text is an object of objects, as programs write the columns of a table."""
    return isinstance(root, dict) and bool(root) and all(isinstance(v, dict) for v in root.values())


# Why an item is not a Speech Situation Frame.


PROPERTIES = ("DocumentID", "PlaceMention", "Status", "Type", "TypeConfidence")


def is_frame(value: Any) -> bool:
    """Whether an item can be read as a frame, even if it breaks the schema."""
    if not isinstance(value, dict):
        return False
    confidence = value.get("TypeConfidence")
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)):
        return False
    try:
        finite = math.isfinite(float(confidence))
    except OverflowError:
        return False
    named = isinstance(value.get("DocumentID"), str) and isinstance(value.get("Type"), str)
    return finite and named and isinstance(value.get("PlaceMention", ""), str)


def code_of(path: Path, keyword: str) -> str:
    """The code of an error of the schema.

    Args:
        path: the path to the invalid value in the item.
        keyword: the keyword of the schema that it breaks.

    Examples:
        >>> code_of((), "type"), code_of(("Type",), "enum")
        ('SFJ203', 'SFJ206')
    """
    if keyword == "type":
        return "SFJ204" if path else "SFJ203"
    if keyword == "enum":
        return "SFJ206" if path[-1] == "Type" else "SFJ207"
    return _CODES[keyword]


_CODES = {"required": "SFJ202", "minimum": "SFJ205", "maximum": "SFJ205"}


def explain(error: SchemaError) -> tuple[str, dict[str, object]]:
    """The code of an error of the schema, and the values of its message."""
    return code_of(error.path, error.keyword), _values(error)


def _values(error: SchemaError) -> dict[str, object]:
    keyword, wanted, given = error.keyword, error.wanted, error.given
    if keyword == "required":
        missing = [name for name in wanted if name not in given]
        unknown = [name for name in given if name not in PROPERTIES]
        similar = {name: found for name in missing if (found := closest(name, unknown))}
        hints = [f"did you mean {name} by {found}?" for name, found in similar.items()]
        within = "leave out the whole Status if only half of it is known" if error.path else _NEEDED
        hint = " ".join(hints) or within
        return {"missing": ", ".join(missing), "hint": hint}
    if keyword == "type":
        hint = _type_hint(str(error.path[-1]) if error.path else "", wanted, given)
        kinds = {"given": KINDS.get(type(given), "something else"), "wanted": WANTED[wanted]}
        return {**kinds, "hint": hint}
    if keyword in {"minimum", "maximum"}:
        return {"given": given, "least": 0, "most": 1}
    if error.path[-1] == "Type":
        return {"given": str(given)[:80], "hint": type_hint(str(given))}
    return {"given": str(given)[:80], "values": ", ".join(map(str, wanted))}


_NUMBER = re.compile(r"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?", re.ASCII)
_AS_FRAME = "write it as a frame in curly brackets"
_NEEDED = "give each frame a DocumentID, a Type and a TypeConfidence"


def _type_hint(name: str, wanted: str, given: object) -> str:
    """What to write instead of a value of another type."""
    if name in {"Need", "Relief", "Status"}:
        return "write an object with Need and Relief, each one of its values, or leave Status out"
    if wanted == "number":
        return _number_hint(given)
    if given is None and name:
        optional = name == "PlaceMention"
        return "leave the property out" if optional else f"write the {name} of the frame"
    if isinstance(given, list):
        return _list_hint(name, given)
    if name and isinstance(given, (int, float)):
        return f'write it in quotation marks: "{json.dumps(given)}"'
    return f"write {WANTED[wanted]}" if name else _AS_FRAME


def _list_hint(name: str, given: list[object]) -> str:
    if name:
        return f"write a frame for each {name}"
    framed = any(isinstance(item, dict) for item in given)
    return "remove the square brackets around the frames inside the array" if framed else _AS_FRAME


def _number_hint(given: object) -> str:
    if isinstance(given, bool):
        return "write a number from 0 to 1; true and false are not numbers"
    number = given.strip().replace(",", ".") if isinstance(given, str) else ""
    if number == given and _NUMBER.fullmatch(number):
        return "remove the quotes"
    if _NUMBER.fullmatch(number):
        return f"write {number}, without quotes"
    if number.endswith("%") and _NUMBER.fullmatch(number[:-1].rstrip()):
        return f"write {float(number[:-1]) / 100:g}, without quotes"
    return "write a number from 0 to 1, such as 0.5"


def array_hint(value: object) -> str:
    """What to write instead of a value that is not an array of frames.

    Examples:
        >>> array_hint({"frames": [{"Type": "Shelter"}]})
        'keep only the array that is the value of frames, without the object around it'
        >>> array_hint({"DocumentID": "D1", "Type": "Shelter"})
        'put the frames in square brackets: [ … ]'
        >>> array_hint({"DocumentID": {"0": "D1"}, "Type": {"0": "Shelter"}})
        'write an array of frames, as to_json(orient="records") in pandas does'
    """
    arrays = [key for key, item in value.items() if isinstance(item, list)] if _is(value) else []
    if _is(value) and value and all(map(_is, value.values())):
        return 'write an array of frames, as to_json(orient="records") in pandas does'
    if _is(value) and not {"DocumentID", "Type"}.isdisjoint(value):
        return "put the frames in square brackets: [ … ]"
    if len(arrays) == 1:
        return f"keep only the array that is the value of {arrays[0]}, without the object around it"
    if arrays:
        return "join the arrays to one array of all frames, without the object around them"
    return "write one array of frames: [ … ], or [ ] if there are none"


def _is(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)

"""Files of situation frames in JSON: the items of one array, and what is wrong with them."""

import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from pathlib import Path as FilePath
from typing import Any, ClassVar, NamedTuple, TypeGuard

import polars as pl

from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.findings import MAX_PER_CODE, FieldRef, Finding, Location, Problem, findings_of
from hlteval.findings.finding import INVISIBLE, code_point
from hlteval.findings.suggest import closest, did_you_mean
from hlteval.grammars import vocabulary
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source, decode
from hlteval.syntax import json_text
from hlteval.syntax.json_parser import ONCE, Parsed, parse
from hlteval.syntax.places import Path, Places

#: What a message calls a value of no type of JSON.
_OTHER = "something else"
#: Characters of an unreadable item that are kept.
_SHOWN = 1000
_NUMBER = re.compile(r"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?", re.ASCII)

# Why an item is not a frame: the errors of a schema, and what to do about them.


class Violation(NamedTuple):
    """A way in which an item breaks a schema: code, path in the item, values of the message."""

    code: str
    path: Path
    values: dict[str, object]


class FrameSchema(ABC):
    """A schema of frames, and the explanation of its errors.

    Attributes:
        name: of the schema, in grammars/.
        definition: of the schema, which all items follow.
        codes: the codes of errors by keyword, from the vocabulary of that name.
        missing_hints: the fixes of missing properties, from there too.
        properties: those of a frame.
        inner_properties: those of an object within a frame.
        texts: the properties that must be strings for an item to be read.
        confidence: the property that must be a number.
        nothing: what a message quotes of an empty value.
    """

    name: ClassVar[str]
    properties: ClassVar[Collection[str]]
    inner_properties: ClassVar[Collection[str]]
    texts: ClassVar[Collection[str]]
    confidence: ClassVar[str]
    nothing: ClassVar[str] = ""

    def __init__(self, definition: str = "frame") -> None:
        self.definition = definition
        tables = vocabulary(self.name)
        self.codes: Mapping[str, str] = tables["codes"]
        self.missing_hints: Mapping[str, str] = tables["missing"]

    def branch(self, item: Any) -> tuple[str, str]:  # noqa: ARG002
        """The definition that an item is meant to follow, and the kind of its frame in words."""
        return self.definition, "frame"

    @abstractmethod
    def type_hint(self, name: str, wanted: str, given: object) -> str:
        """The fix of a value of another type.

        Args:
            name: of the property; empty for an item.
            wanted: the type that the schema requires.
            given: the value.
        """

    @abstractmethod
    def value_hint(self, name: str, given: Any) -> str:
        """The fix of a value of a property outside a closed list."""

    def invalid(self, values: Sequence[Any]) -> list[int]:
        """The indices of the items that break the schema."""
        return json_text.invalid(self.name, values, self.definition)

    def is_frame(self, value: Any) -> bool:
        """Whether an item can be read as a frame, even if it breaks the schema."""
        if not isinstance(value, dict) or not {"DocumentID", "Type"} <= value.keys():
            return False
        texts = all(isinstance(value.get(name, ""), str) for name in self.texts)
        confidence = as_float(value.get(self.confidence))
        return texts and confidence is not None and math.isfinite(confidence)

    def errors(self, item: Any) -> list[tuple[str, Path]]:
        """The code and the path of each way in which an item breaks the schema."""
        found = json_text.broken_keywords(self.name, item, self.branch(item)[0], ("SEC",))
        return sorted(self._code(path, keyword) for path, keyword in found)

    def _code(self, path: Path, keyword: str) -> tuple[str, Path]:
        """The code of an error of the schema, and its path."""
        if keyword == "not":
            return self.codes["not"], ("Resolution",)
        if keyword == "type" and not path:
            return self.codes["object"], path
        of_values = self.codes.get(str(path[-1]), self.codes["enum"]) if path else ""
        return (of_values if keyword == "enum" else self.codes.get(keyword, of_values)), path

    def violations(self, item: Any) -> list[Violation]:
        """Explain each way in which an item breaks the schema, with the values of the message."""
        found = []
        definition, branch = self.branch(item)
        for error in json_text.schema_errors(self.name, definition, item):
            keyword, wanted, given = error.keyword, error.wanted, error.given
            code, path = self._code(error.path, keyword)
            name = str(path[-1]) if path else ""
            values: dict[str, object] = {"branch": branch, "property": name, "given": given}
            values |= {"least": 0, "most": 1}
            if keyword == "required":
                values |= self._absent_properties(wanted, given, path)
            elif keyword == "type":
                values["given"] = json_text.KINDS.get(type(given), _OTHER)
                values["wanted"] = json_text.WANTED[wanted]
                values["hint"] = self.type_hint(name, wanted, given)
            elif keyword == "enum":
                values["given"] = str(given)[:80] or self.nothing
                values["values"] = ", ".join(map(str, wanted))
                values["hint"] = self.value_hint(name, given)
            found.append(Violation(code, path, values))
        return found

    def _absent_properties(
        self, wanted: Sequence[str], given: Mapping[str, Any], path: Path
    ) -> dict[str, object]:
        """The properties that an object lacks, and what to do about them."""
        missing = [name for name in wanted if name not in given]
        known = self.inner_properties if path else self.properties
        unknown = [name for name in given if name not in known]
        similar = {name: other for name in missing if (other := closest(name, unknown))}
        hints = [f"did you mean {name} by {other}?" for name, other in similar.items()]
        if "Justification_ID" in missing and "Justification" in given:
            hints.append("rename Justification to Justification_ID: this schema has no other name")
        hint = " ".join(hints) or self.missing_hints.get(missing[0], self.missing_hints[""])
        part = {"branch": "entry of SEC"} if path else {}
        return {**part, "missing": ", ".join(missing), "hint": hint}


def as_float(value: object) -> float | None:
    """A number of JSON as a float; None for other values, and for integers that are too large."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def number_hint(given: object, limits: str, example: str = "") -> str:
    """The fix of a value that is not a number.

    Examples:
        >>> number_hint("50%", "from 0 to 1"), number_hint("0,5", "from 0 to 1")
        ('write 0.5, without quotes', 'write 0.5, without quotes')
    """
    if isinstance(given, bool):
        return f"write a number {limits}; true and false are not numbers"
    number = given.strip().replace(",", ".") if isinstance(given, str) else ""
    if number == given and _NUMBER.fullmatch(number):
        return "remove the quotes"
    if _NUMBER.fullmatch(number):
        return f"write {number}, without quotes"
    if number.endswith("%") and _NUMBER.fullmatch(number[:-1].rstrip()):
        return f"write {float(number[:-1]) / 100:g}, without quotes"
    return f"write a number {limits}{example}"


def text_hint(name: str, given: object) -> str:
    """The fix of a list or a number in place of a string; empty for other values."""
    if isinstance(given, list):
        return f"write a frame for each {name}"
    if isinstance(given, (int, float)):
        return f'write it in quotation marks: "{json.dumps(given)}"'
    return ""


def array_hint(value: object) -> str:
    """The fix of a value that is not an array of frames.

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


# The items of a file.


class FrameFile:
    """The items of a file of frames, and the problems with them.

    Attributes:
        text: the text.
        schema: the schema that they must follow.
        most: the maximum number of problems of a code that are explained; 0 for all.
        values: the items.
        problems: what is wrong, each with its path in the file, with offsets in the text.
        counts: how many of each code are to be explained.
        bad: the items that are not frames, by index, with the code of the reason.
    """

    def __init__(self, text: str, schema: FrameSchema, most: int = MAX_PER_CODE) -> None:
        self.text, self.schema, self.most = text, schema, most
        self.values: list[Any] = []
        self.problems: list[tuple[str, Problem]] = []
        self.counts: Counter[str] = Counter()
        self.bad: dict[int, str] = {}
        self._layout: tuple[int, json_text.Layout] | None = None

    @cached_property
    def places(self) -> Places:
        """Lines and columns."""
        return Places(self.text)

    @cached_property
    def extents(self) -> Sequence[tuple[int, int]]:
        """The start and the end of each item."""
        return json_text.extents(self.text)

    def take(self) -> None:
        """Read the items: fast if all of them are valid."""
        valid, value = json_text.strict(self.text.encode())
        if valid and isinstance(value, list):
            self.values = value
        else:
            self._recover(json_text.items(self.text))
        for index in self.schema.invalid(self.values):
            if index not in self.bad:
                self._explain(index)

    def _recover(self, found: json_text.Items) -> None:
        """Read the items of a text that is not a valid array."""
        root = found.root
        if root is not None:
            start = found.parsed[0].start
            code, given = self.schema.codes["array"], json_text.KINDS.get(type(root), _OTHER)
            self.report(code, (start, start + 1), (), given=given, hint=array_hint(root))
        self.add((), found.problems)
        # an object of objects is how programs write the columns of a table
        is_table = _is(root) and bool(root) and all(map(_is, root.values()))
        parsed: Sequence[Parsed] = () if is_table else found.parsed
        self.extents = [(item.start, item.end) for item in parsed]
        for index, item in enumerate(parsed):
            self.values.append(item.value)
            if item.problems or not item.complete:
                self.bad[index] = item.problems[0].code if item.problems else "JSN101"
            known = [code for code in ONCE if self.counts[code]]
            self.add((index,), (each for each in item.problems if each.code not in known))

    def _explain(self, index: int) -> None:
        """Report why an item breaks the schema; what nobody will read is only counted."""
        value = self.values[index]
        if not self.schema.is_frame(value):
            self.bad[index] = self.schema.codes["frame"]
        if self.most and len(self.problems) > self.most:
            errors = self.schema.errors(value)
            if all(self.enough(code) for code, _ in errors):
                for code, path in errors:
                    self.count(code, index, path)
                return
        for code, path, values in self.schema.violations(value):
            self.report_at(code, index, path, **values)

    def add(self, path: Path, problems: Iterable[Problem]) -> None:
        """Add problems of what a path leads to."""
        name, record = json_text.format_path(path), int(path[0]) + 1 if path else 0
        for problem in problems:
            self.counts[problem.code] += 1
            values = {"path": name, **problem.values}
            self.problems.append((name, problem._replace(record=record, values=values)))

    def count(self, code: str, index: int, path: Path) -> None:
        """Add a problem that nobody will read: only its place is known."""
        self.problems.append((json_text.format_path((index, *path)), Problem(code, 0, 0, 0)))

    def enough(self, code: str) -> bool:
        """Whether further problems of a code are only counted."""
        return bool(self.most) and self.counts[code] > self.most

    def report(self, code: str, span: tuple[int, int], path: Path, **values: object) -> None:
        """Add a problem at a stretch of the text."""
        self.add(path, [Problem(code, 0, *span, values)])

    def report_at(self, code: str, index: int, path: Path, **values: object) -> None:
        """Add a problem at a part of an item."""
        if self.enough(code):
            self.count(code, index, path)
            return
        if self._layout is None or self._layout[0] != index:
            self._layout = (index, json_text.Layout(self.text, self.extents[index][0]))
        self.report(code, self._layout[1].place(path), (index, *path), **values)

    def unknown_properties(self, code: str) -> None:
        """Report properties that are not in the schema, each name once."""
        known = set(self.schema.properties)
        named = Counter(
            name
            for value in self.values
            if isinstance(value, dict) and not known.issuperset(value)
            for name in value
        )
        for index, value in self.frames():
            if known.issuperset(value):
                continue
            parsed = parse(self.text, self.extents[index][0])
            for name in [name for name in value if name not in known]:
                known.add(name)
                hint = did_you_mean(name, self.schema.properties, "remove it; it is not evaluated")
                span = parsed.keys.get((name,), (parsed.start, parsed.start + 1))
                self.report(code, span, (index, name), name=name, count=named[name], hint=hint)

    def invisible_characters(self, code: str, names: Iterable[str]) -> None:
        """Report invisible characters in some properties of frames, once in each."""
        for index, value in self.frames():
            for name in names:
                text = value.get(name)
                # no invisible character is printable, which is known much faster
                if not isinstance(text, str) or text.isprintable():
                    continue
                if found := re.search(INVISIBLE, text):
                    self.report_at(code, index, (name,), character=code_point(found[0]))

    def findings(self, file: str) -> list[Finding]:
        """The findings of all problems in a file of some name."""

        def finding_at(path: str, problem: Problem) -> Finding:
            return self.places.finding(problem, file, path)

        return findings_of(self.problems, finding_at, self.most)

    def frames(self) -> Iterator[tuple[int, Any]]:
        """The items that can be read as frames, each with its index."""
        return ((index, value) for index, value in enumerate(self.values) if index not in self.bad)

    def corpus(
        self,
        origin: Mapping[str, object],
        names: Iterable[str],
        columns: Mapping[str, Sequence[object]],
    ) -> Corpus:
        """The documents, the frames, and the items that are not frames.

        Args:
            origin: the row of `sources`.
            names: the name of the document of each frame.
            columns: the columns of the table `frames` that are properties.
        """
        numbers: dict[str, int] = {}
        documents = [numbers.setdefault(name, len(numbers)) for name in names]
        frames = {
            "row": range(len(documents)),
            "document": documents,
            "origin": [0] * len(documents),
            "record": [index + 1 for index, _ in self.frames()],
            "kind": [SITUATION] * len(documents),
            **columns,
        }
        return Corpus(
            sources=[origin],
            documents=[{"row": row, "origin": 0, "name": name} for name, row in numbers.items()],
            frames=pl.DataFrame(frames, {name: TABLES["frames"].schema[name] for name in frames}),
            rejected_records=self._rejected_records(),
        )

    def _rejected_records(self) -> pl.DataFrame:
        bad = sorted(self.bad)
        rows = []
        for row, index in enumerate(bad):
            start, end = self.extents[index]
            text = self.text[start : min(end, start + _SHOWN)]
            column = self.places.span(start, start).column
            width = len(text.partition("\n")[0])
            rows.append((row, 0, index + 1, self.bad[index], text, column, column + width))
        names = ("row", "origin", "record", "code", "text", "column", "end_column")
        schema = {name: TABLES["rejected_records"].schema[name] for name in names}
        table = pl.DataFrame(rows, schema, orient="row")
        return table.with_columns(kind=pl.lit("frame"), expected=pl.lit("a frame"))


def json_member(source: Source, name: str = "") -> Member | None:
    """The file of frames: the only one, the one of a name, or the only one ending in .json."""
    if source.kind in {"file", "stdin"}:
        return source.members[0] if source.members else None
    files = [member for member in source.members if member.basename.endswith(".json")]
    files = [member for member in files if member.basename == name] or files
    return files[0] if len(files) == 1 else None


def write_array(
    frames: Iterable[Mapping[str, object]], path: FilePath, *, escapes: bool = False
) -> None:
    r"""Write frames as one array, one per line.

    Args:
        frames: the frames.
        path: the file.
        escapes: whether every other character is written as a `\u` escape.
    """
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("[")
        for number, frame in enumerate(frames):
            stream.write(",\n " if number else "\n ")
            stream.write(json.dumps(frame, ensure_ascii=escapes))
        stream.write("\n]\n")


def locate_items(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of items and of their parts, found in one pass over the file.

    Args:
        member: the file.
        places: what is looked for; fields are names of properties, or several names and indices
            with points between them, such as `SEC.0.Source`.
    """
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    stretches, lines = json_text.extents(text), Places(text)
    found: dict[FieldRef, Location] = {}
    for record, some in groupby(sorted(places, key=attrgetter("record")), attrgetter("record")):
        if 1 <= record <= len(stretches):
            layout = json_text.Layout(text, stretches[record - 1][0])
            for place in some:
                steps = place.field.split(".") if place.field else []
                path = tuple(int(step) if step.isdecimal() else step for step in steps)
                span = lines.span(*layout.place(path))
                found[place] = Location(span, lines.excerpt(span))
    return [found.get(place) for place in places]

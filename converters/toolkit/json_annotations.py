"""Annotations in JSON: from values of JSON to rows of the tables, for formats of annotation tools.

A format declares a `Dialect`: how its documents are structured, which parts of them are records,
and a function that adds what is in a document to a `Draft`. All else is here: documents, places,
spans and their texts, identifiers, and what is not read.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.json_documents import (
    Item,
    Reporter,
    Structure,
    TableBuilder,
    compact,
    explain,
    locate_records,
    name_of,
    object_sections,
)
from hlteval.converters.toolkit.json_writing import Objects, writer
from hlteval.converters.toolkit.offsets import CHARACTERS, place_in
from hlteval.converters.toolkit.source_files import (
    FileBatch,
    batches,
    documents,
    head_of_first,
    stem,
    unique_name,
    with_suffix,
)
from hlteval.converters.toolkit.span_texts import (
    UNIT_NAMES,
    Mismatch,
    Mismatches,
    TextWindow,
    WordEdges,
    is_text_of,
    matching_units,
)
from hlteval.converters.toolkit.spans import ROLES, Quotes
from hlteval.findings import FieldRef, Location
from hlteval.findings.counts import count_of
from hlteval.sources import Member, Source
from hlteval.syntax.places import Path
from hlteval.syntax.sections import Sections

#: A text that is long; the bytes in which members after such are looked for.
_TEXT, _FAR = 1000, 1_000_000
_LONG, _STRING = (
    re.compile(rf'"(?:[^"\\]|\\.){{{_TEXT}}}', re.S),
    re.compile(r'(?s)"(?:[^"\\]++|\\.)*+"'),
)
_CODES = {"required": "JAN103", "": "JAN104"}


@dataclass(frozen=True)
class Dialect:
    """A format of annotation tools, as far as it is not like the others.

    Attributes:
        form: its name.
        suffix: of its files.
        parts: the definition in the schema of what is at each path, `*` for each of several; the
            parts are records in this order, after their document.
        take: adds a document to a draft.
        members: what the beginning of a file has.
        objects: gives the objects of a batch, each with the row of its document.
        layout: how it is written by default.
        merges: whether several documents of a name and a text are one, of several annotators.
        naming: the settings that name something in documents, with their defaults.
        identifiers: the members of which the first that an object has names its document.
        several: a member of objects of several documents.
        fixed: whether its program counts offsets in code points alone.
    """

    form: str
    suffix: str
    parts: Mapping[str, str]
    take: Callable[["Draft", Item], None]
    members: re.Pattern[str]
    objects: Objects
    layout: str = "lines"
    merges: bool = False
    naming: Mapping[str, str] = field(default_factory=dict)
    identifiers: Sequence[str] = ("id",)
    several: str = ""
    fixed: bool = False

    def sniff(self, source: Source) -> bool:
        """Whether a file has members of the format."""
        return is_like(source, self.suffix, self.members)

    @property
    def write(self) -> Callable[..., None]:
        """Write all documents; see `write_objects`."""
        return writer(self.objects, self.layout)

    @property
    def structure(self) -> Structure:
        """The structure that documents must have."""
        steps = (name for pattern in self.parts for name in pattern.split(".")[:-1])
        lists = tuple(dict.fromkeys(name for name in steps if name != "*"))
        part = partial(find_part, self.parts)
        return Structure(self.form, lists, part, _CODES, "JAN101", explain)

    def records(self, document: Mapping[str, Any]) -> Iterator[Path]:
        """The path of each record of a document: itself, and its parts."""
        yield ()
        for pattern in self.parts:
            yield from (path for path, _ in expand(document, pattern))

    def locate(self, member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
        """The places of records; see `locate_records`."""
        return locate_records(member, places, self.records)

    def sections(self, member: Member, **_: str) -> Sections | None:
        """The documents of a file that has an object on each line; see `object_sections`."""
        usual = f"{stem(member, self.suffix)}-{{}}"
        found = object_sections(member, self.identifiers, usual, self.several)
        return found if found and len(found.names) > 1 else None  # one has the name of the file

    def read(
        self, source: Source, offsets: str = CHARACTERS, **settings: str
    ) -> Iterator[ReadResult]:
        """The documents of a source, some hundred at a time; of all files at once if they merge.

        Args:
            source: the files.
            offsets: the unit that offsets count.
            settings: those that the format has of its own, for `take`.
        """
        every = batches(source, self.form, self.suffix)
        if self.merges:
            files = FileBatch(source.path, self.form)
            for name, members in documents(source, self.suffix).items():
                for member in members:
                    files.add(name, member)
            every = iter([files])
        return Draft(self, offsets, settings).read(every, self.structure)


def is_like(source: Source, suffix: str, members: re.Pattern[str]) -> bool:
    """Whether the file, or the first of a folder with a suffix, has members of a format.

    They may be after a long text.
    """
    files = with_suffix(source, suffix)
    begin = head_of_first(files)
    if _LONG.search(begin):
        far = head_of_first(files, _FAR)
        begin = _STRING.sub(lambda found: found[0] if len(found[0]) < _TEXT else '""', far)[:4000]
    return begin.lstrip()[:1] in {"[", "{"} and bool(members.search(begin))


def expand(value: Any, pattern: str) -> list[tuple[Path, Any]]:
    """The parts of a value that a pattern leads to, each with its path.

    Examples:
        >>> [path for path, _ in expand({"a": [{"b": 1}, {}, {"b": 2}]}, "a.*.b")]
        [('a', 0, 'b'), ('a', 2, 'b')]
    """
    found: list[tuple[Path, Any]] = [((), value)]
    for step in pattern.split("."):
        if not found:
            break
        if step != "*":
            own = [pair for pair in found if isinstance(pair[1], dict) and step in pair[1]]
            found = [((*path, step), part[step]) for path, part in own]
            continue
        several = [pair for pair in found if isinstance(pair[1], list | dict)]
        found = [
            ((*path, name), inner)
            for path, part in several
            for name, inner in (part.items() if isinstance(part, dict) else enumerate(part))
        ]
    return found


def find_part(parts: Mapping[str, str], path: Path) -> tuple[Path, str]:
    """The part of a document that a path leads into, and its definition.

    Examples:
        >>> find_part({"spans.*": "span"}, ("spans", 2, "label")), find_part({}, ("text",))
        ((('spans', 2), 'span'), ((), 'document'))
    """
    best: tuple[Path, str] = ((), "document")
    for pattern, definition in parts.items():
        steps = pattern.split(".")
        fits = len(path) >= len(steps) and all(
            step in {"*", own} for step, own in zip(steps, path, strict=False)
        )
        if fits and len(steps) > len(best[0]):
            best = (path[: len(steps)], definition)
    return best


class Draft(TableBuilder):
    """The rows of documents.

    Attributes:
        dialect: the format.
        offsets: the unit that offsets count.
        settings: those of the format.
        members: the member in which each part is, with its pattern.
        text: the text of the document that is added.
        row: its row.
        last: the number after that of the last record.
        entries: the number of the last annotation or answer of each document, by row.
        unmatched: the settings that name something that no document of the file has so far.
    """

    text: str | None

    def __init__(self, dialect: Dialect, offsets: str, settings: Mapping[str, str]) -> None:
        super().__init__()
        self.dialect, self.offsets, self.settings = dialect, offsets, settings
        self.members = [(pattern.partition(".")[0], pattern) for pattern in dialect.parts]

    def begin(self) -> None:
        """Begin a batch."""
        super().begin()
        self.merged: dict[str, int] = {}
        self.numbers, self.entries = defaultdict[int, int](int), defaultdict[int, int](int)
        self.identifiers: dict[int, set[str]] = defaultdict(set)

    def open(self, reporter: Reporter) -> None:
        """Begin a file."""
        super().open(reporter)
        self.mismatches, self.edges = Mismatches(self._report_mismatch, 1), WordEdges()
        self.left_out: dict[tuple[str, str], list[Any]] = {}
        usual = self.dialect.naming.items()
        self.unmatched = {name for name, value in usual if self.settings[name] not in {"", value}}

    def close(self) -> None:
        """End a file: report what is known of all of it."""
        self.mismatches.decide()
        unit = "" if self.dialect.fixed else self.edges.unit
        if self.edges.first and unit not in {"", self.offsets}:
            (index, path), wrong = self.edges.first, self.edges.wrong
            left = wrong - self.edges.clean[unit]
            values = {"count": wrong, "all": self.edges.count, "left": left, "setting": unit}
            what = UNIT_NAMES[unit]
            self.reporter.report(index, "JAN205", path, None, what=what, **values)
        for (code, what), (index, path, count) in self.left_out.items():
            shown = count_of(count, what) if code == "JAN107" else what
            self.reporter.report(index, code, path, what=shown, count=count)
        for name in sorted(self.unmatched if self.reporter.content.values else ()):
            value = self.settings[name][:40]
            self.reporter.report(0, "JAN108", (), setting=name, value=value)
        self.reporter.settle()

    @property
    def is_full(self) -> bool:
        """Whether the documents are enough for a batch; never while further files may merge."""
        return super().is_full and not self.dialect.merges

    def take(self, index: int, value: Item, stem: str, place: tuple[int, int]) -> int:
        """Add a document, and give its number of records. See `TableBuilder`."""
        self.index, self.stem = index, stem
        self.origin, self.first = place
        self.bad = self.reporter.schema_errors(index)
        self.parts: dict[str, tuple[int, Sequence[tuple[Path, Any]]]] = {}
        number = self.first + 1
        for name, pattern in self.members:
            if name in value:
                found = expand(value, pattern)
                self.parts[pattern] = (number, found)
                number += len(found)
        self.text, self.record, self.last = None, self.first, number
        if () not in self.bad:
            self.dialect.take(self, value)
        else:
            self.reject(self.reporter.rejection(index, self.rejected_count, *place))
        return self.last - self.first

    def report(self, code: str, path: Path, **values: object) -> None:
        """Report a problem of a part of the document."""
        self.reporter.report(self.index, code, path, None, **values)

    def leave_out(self, what: str, path: Path, code: str = "JAN107") -> None:
        """Count something that is not read; it is reported once a file, at the first place.

        Args:
            what: what it is, in the singular for JAN107.
            path: the path to it.
            code: the code that reports it.
        """
        counted = self.left_out.setdefault((code, what), [self.index, path, 0])
        counted[2] += 1

    def document(self, name: object, text: str | None, language: str | None = None) -> bool:
        """Begin the document, or go on with it; whether it is new.

        Args:
            name: its name, if it has one.
            text: its text; None is reported.
            language: its language.
        """
        own = name_of(name, self.stem)
        row = self.merged.get(own)
        self.text = text
        self.quotes = Quotes(text or "")
        self.place = place_in(text or "", self.offsets)
        if row is not None and self.rows["documents"][row][2] == text:
            self.row = row
            self.entries[row] += 1
            return False
        unique = unique_name(own, self.names)
        if unique != own:
            self.report("JAN105", (), name=own[:40], other=unique[:50])
        self.row = len(self.rows["documents"])
        self.entries[self.row] = 1
        if self.dialect.merges:
            self.merged.setdefault(own, self.row)
        self.rows["documents"].append((self.origin, unique, text, language))
        self.texts += 0 if text is None else len(text)
        if text is None:
            self.report("JAN102", (), name=unique[:40])
        return True

    def each(self, pattern: str) -> Iterator[tuple[Path, Any]]:
        """The records at a pattern that are in the schema, each with its path."""
        number, listed = self.parts.get(pattern, (0, ()))
        outer, rejected = None, False
        for record, (path, item) in enumerate(listed, number):
            if self.bad and path[:-1] != outer:
                outer = path[:-1]
                rejected = any(path[:size] in self.bad for size in range(1, len(path)))
            if rejected or path in self.bad:
                continue
            self.record = record
            yield path, item
        self.record = self.first

    def identify(self, name: object, path: Path, prefix: str = "") -> str:
        """The name of a mention: its own, one with a prefix if it is in use, or its number.

        Args:
            name: its identifier, if it has one.
            path: the path to it, where a name that is not unique is reported.
            prefix: the beginning of a name that another annotator uses, too.
        """
        self.numbers[self.row] += 1
        if name is None or name == "":
            return f"T{self.numbers[self.row]}"
        own, known = str(name), self.identifiers[self.row]
        if f"{prefix}\n{own}" in known:
            self.report("JAN302", path, id=own[:40])
        unique = f"{prefix}{own}" if own in known else own
        known |= {unique, f"{prefix}\n{own}"}
        return unique

    def mention(
        self,
        path: Path,
        name: str,
        label: str,
        span: tuple[int, int],
        text: object = None,
        entity: str | None = None,
        confidence: float | None = None,
        annotator: str | None = None,
    ) -> None:
        """Add a mention, and check its span.

        Args:
            path: the path to it.
            name: its identifier.
            label: its label.
            span: its offsets as written.
            text: its text as written, if it is.
            entity: its entity.
            confidence: its confidence.
            annotator: whose it is.
        """
        written, (start, end) = span, self.place(*span)
        if self.text is not None:
            is_own = isinstance(text, str) and text != ""
            there = self.text[start:end] if is_own and start >= 0 else ""
            if isinstance(text, str) and text and not is_text_of(text, there):
                window, at = TextWindow(self.text, 0), (self.index, path)
                units = matching_units(window, [written], text) - {self.offsets}
                spans = [(start, end) if start >= 0 else (0, 0)]
                self.mismatches.add(Mismatch(at, window, spans, text, units))
            elif end <= start:
                self.report("JAN202", path, begin=written[0], end=written[1])
            elif end > len(self.text):
                self.report("JAN201", path, end=written[1], length=len(self.text))
            if isinstance(text, str):
                text = there if text.replace("\\n", "\n") == there else text
            else:
                text = self.quotes.at((start, end)) if start >= 0 else ""
                self.edges.add((self.index, path), self.text, written, (start, end))
        own = (self.row, self.origin, self.record, name, label, start, end, None)
        given = text if isinstance(text, str) else None
        row = (*own, given, entity, None, confidence, None, annotator)
        self.rows["mentions"].append(row)

    def span(
        self, path: Path, item: Item, element: str, known: Collection[str], by: str | None = None
    ) -> str:
        """Add a mention with the names of members that spaCy has for spans, and give its name.

        Args:
            path: the path to it.
            item: it as it is written.
            element: what it is: its other members are kept.
            known: the members that the tables represent.
            by: the annotator.
        """
        own = {name: item.get(name) for name in known}
        name, limits = self.identify(own["id"], path), (item["start"], item["end"])
        more = (own.get("text"), own["kb_id"] or None, own.get("score"), by)
        self.mention(path, name, item.get("label", ""), limits, *more)
        self.keep(element, item, known)
        return name

    def _report_mismatch(self, mismatch: Mismatch, unit: str) -> None:
        index, path = mismatch.place
        code, wanted = "JAN204" if unit else "JAN203", UNIT_NAMES.get(self.offsets, self.offsets)
        self.reporter.report(index, code, path, lambda: mismatch.values(unit) | {"wanted": wanted})

    def relation(
        self,
        path: Path,
        label: str,
        item: Item,
        ends: Mapping[str, str | None],
        annotator: str | None = None,
    ) -> None:
        """Add a relation of two mentions.

        Args:
            path: the path to it.
            label: its label.
            item: it as it is written; its identifier is `id`.
            ends: by the members for its ends, the identifier of each mention, None where there is
                none.
            annotator: whose it is.
        """
        row, place = len(self.rows["frames"]), (self.row, self.origin, self.record)
        own, empty = None if item.get("id") is None else str(item["id"]), (None,) * 10
        self.rows["frames"].append((*place, own, "relation", label, None, *empty, annotator))
        for position, (role, (member, target)) in enumerate(zip(ROLES, ends.items(), strict=True)):
            written = str(item.get(member, ""))
            if target is None:
                self.report("JAN301", (*path, member), id=written[:40])
            argument = written if target is None else target
            self.rows["arguments"].append((*place, row, position + 1, role, argument))

    def token(
        self, start: int, end: int, text: str | None, sentence: int | None, *more: str | None
    ) -> None:
        """Add a token.

        Args:
            start: its first character.
            end: one past its last.
            text: its text; None for that of the document.
            sentence: its row of `segments`.
            more: its part of speech and its features.
        """
        word = self.quotes.at((start, end)) or "" if text is None else text
        place = (self.row, self.origin, self.record, sentence, None, start, end)
        self.rows["tokens"].append((*place, word, *more))

    def label(
        self, *labels: object, score: float | None = None, annotator: str | None = None
    ) -> None:
        """Add labels of the document."""
        place, more = (self.row, self.origin, self.record), (score, None, None, annotator)
        empty = (None, None, None)
        rows = [(*place, "label", str(label), *empty, *more) for label in labels]
        self.rows["instances"] += rows

    def keep(
        self,
        element: str,
        item: Mapping[str, Any],
        known: Collection[str] = (),
        usual: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """Keep the members of an item that the tables cannot represent, as attributes.

        Args:
            element: what the item is, `$` for a document.
            item: the item.
            known: the members that the tables represent.
            usual: the members that are written if the item has none, with their values.
        """
        place = (self.row, self.origin, self.record, element)
        self.rows["attributes"] += [
            (*place, name, compact(value))
            for name, value in item.items()
            if name not in known and (name not in usual or value != usual[name])
        ]

    def number(self, count: int) -> range:
        """The numbers of records beside the parts of the document."""
        self.last += count
        return range(self.last - count, self.last)

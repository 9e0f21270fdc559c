r"""Speech Situation Frames (v1.5): system output as one JSON array.

Format:
    An array of objects as defined in grammars/speech-sf.schema.json: `DocumentID`, `Type` and
    `TypeConfidence`, and optionally `PlaceMention` and `Status` (`Need`, `Relief`).

Conventions:
    A record is an item of the array, counted from 1. `\u` escapes and native script are
    equivalent. A reference without confidences is written with a confidence of 1.

Example line:
    {"DocumentID": "CHN_EVAL_096_004", "Type": "Medical Assistance", "TypeConfidence": 0.55}

Codes raised: JSNxxx, for invalid JSON; SFJxxx, for schema violations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import polars as pl

from hlteval.converters.format import Format, ReadResult, Setting
from hlteval.converters.situations.speech_sf_faults import (
    PROPERTIES,
    explained,
    is_frame,
    near,
)
from hlteval.converters.toolkit.frame_kinds import SITUATION, others
from hlteval.findings import FieldRef, Finding, Location, catalogue, finding
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256
from hlteval.syntax.json_parser import JsonFault, Parsed, parse
from hlteval.syntax.json_places import Places, place_of, shown
from hlteval.syntax.json_schema import KINDS, refused, violations
from hlteval.syntax.json_text import Items, items, starts, strict

SCHEMA = "speech-sf"
_HEADER = b'"hlteval-corpus"'
_OTHERS = re.compile(rb'"(?:denotations|sourceid|sourcedb)"[ \t\r\n]*:')
"""Members of the annotations of PubAnnotation, which look alike."""
_BOM = "\ufeff".encode()
_CONTROL = "[\x00-\x1f\x7f]"


def _member(source: Source) -> Member | None:
    """The file of the frames: the only one, or the only one that ends in .json."""
    if source.kind in {"file", "stdin"}:
        return source.members[0] if source.members else None
    found = [member for member in source.members if member.basename.endswith(".json")]
    return found[0] if len(found) == 1 else None


def sniff(source: Source) -> bool:
    """Whether it is a single .json file, or a file that begins with an array or an object."""
    member = _member(source)
    if member is None:
        return False
    try:
        head = member.fetch()[:2000].removeprefix(_BOM).lstrip()
    except Unreadable:
        return False
    if _HEADER in head.partition(b"\n")[0] or _OTHERS.search(head):
        return False
    return head[:1] in {b"[", b"{"} or member.basename.endswith(".json")


def read(source: Source) -> Iterator[ReadResult]:
    """The frames of the file, as one batch."""
    member = _member(source)
    if member is None:
        yield ReadResult(Corpus(), (finding("SFJ101", file=source.path),))
        return
    try:
        data = member.fetch()
    except Unreadable as reason:
        yield ReadResult(Corpus(), (reason.finding,))
        return
    decoded = decode(data, display=member.display, encoding=member.encoding)
    found = _File(member, data, decoded.text)
    corpus = found.corpus(source.path)
    yield ReadResult(corpus, (*decoded.findings, *found.findings), (member,))


class _File:
    """A file of frames: its items, and what is found wrong with them."""

    def __init__(self, member: Member, data: bytes, text: str | None) -> None:
        self.member, self.data, self.text = member, data, text or ""
        self.findings: list[Finding] = []
        self.values: list[Any] = []
        self.parsed: list[Parsed] | None = None
        self.bad: dict[int, str] = {}
        """The items that are no frames, by index, with the code that tells why."""
        self._places: Places | None = None
        if text is not None:
            self.take()

    def take(self) -> None:
        """Take in the items, quickly where nothing is wrong with any."""
        good, value = strict(self.text.encode())
        if good and isinstance(value, list):
            self.values = value
        else:
            self.slowly(items(self.text))
        broken = [at for at in refused(SCHEMA, self.values) if at not in self.bad]
        if broken and self.parsed is None:
            self.parsed = [
                Parsed(None, at, at, (), {}, {}, complete=True) for at in starts(self.text)
            ]
        for index in broken:
            self.explain(index)
        self.unknown_properties()

    def slowly(self, found: Items) -> None:
        """Take in the items of a text that is no faultless array."""
        if found.root is not None:
            given = KINDS.get(type(found.root), "something else")
            self.tell(
                "SFJ201", (found.parsed[0].start, found.parsed[0].start + 1), "$", given=given
            )
        for fault in found.faults:
            self.tell_fault(fault, "$")
        self.parsed = list(found.parsed)
        for index, one in enumerate(found.parsed):
            self.values.append(one.value)
            if one.faults or not one.complete:
                self.bad[index] = one.faults[0].code if one.faults else "JSN101"
            for fault in one.faults:
                self.tell_fault(fault, shown((index,)))

    @property
    def places(self) -> Places:
        """Lines and columns."""
        if self._places is None:
            self._places = Places(self.text)
        return self._places

    def tell(self, code: str, at: tuple[int, int], path: str, **values: object) -> None:
        span = self.places.span(*at)
        self.findings.append(
            catalogue()[code].finding(
                {"path": path, **values},
                file=self.member.display,
                span=span,
                excerpt=self.places.excerpt(span),
                record=path,
            )
        )

    def tell_fault(self, fault: JsonFault, path: str) -> None:
        self.tell(fault.code, (fault.start, fault.end), path, **fault.values)

    def explain(self, index: int) -> None:
        """Tell why an item breaks the schema."""
        value = self.values[index]
        one = parse(self.text, self.parsed[index].start) if self.parsed else parse("")
        for violation in violations(SCHEMA, "frame", value):
            code, values = explained(violation)
            path = shown((index, *violation.path))
            self.tell(code, place_of(self.text, one, violation.path), path, **values)
        if not is_frame(value):
            self.bad[index] = "SFJ202"

    def unknown_properties(self) -> None:
        """Tell of properties that mean nothing, each name once."""
        known, told = set(PROPERTIES), set()
        for index, value in enumerate(self.values):
            if index in self.bad or known.issuperset(value):
                continue
            for name in value:
                if name not in known and name not in told:
                    told.add(name)
                    count = sum(isinstance(v, dict) and name in v for v in self.values)
                    one = parse(self.text, self.start(index))
                    hint = near(name, PROPERTIES) or "remove it; it is not evaluated"
                    path = shown((index, name))
                    at = one.keys.get((name,), (one.start, one.start + 1))
                    self.tell("SFJ208", at, path, name=name, count=count, hint=hint)

    def start(self, index: int) -> int:
        """Where an item begins."""
        if self.parsed is None:
            self.parsed = [
                Parsed(None, at, at, (), {}, {}, complete=True) for at in starts(self.text)
            ]
        return self.parsed[index].start

    def corpus(self, path: str) -> Corpus:
        """The frames, and the items that are none."""
        records = [at for at in range(len(self.values)) if at not in self.bad]
        frames = [self.values[at] for at in records]
        numbers: dict[str, int] = {}
        documents = [numbers.setdefault(one["DocumentID"], len(numbers)) for one in frames]
        status = [one.get("Status") for one in frames]
        said = any(status)
        table = pl.DataFrame(
            {
                "row": range(len(frames)),
                "document": documents,
                "origin": [0] * len(frames),
                "record": [at + 1 for at in records],
                "kind": [SITUATION] * len(frames),
                "label": [one["Type"] for one in frames],
                "place": [one.get("PlaceMention") for one in frames],
                "status": [_text(one, "Need") for one in status] if said else status,
                "resolution": [_text(one, "Relief") for one in status] if said else status,
                "confidence": [float(one["TypeConfidence"]) for one in frames],
            },
            schema={name: TABLES["frames"].schema[name] for name in _COLUMNS},
        )
        self.control_characters(table, list(numbers))
        digest = sha256(self.data)
        return Corpus(
            sources=[
                {"row": 0, "path": path, "member": self.member.name, "format": FORMAT.name,
                 "sha256": digest}
            ],
            documents=[{"row": row, "origin": 0, "name": name} for name, row in numbers.items()],
            frames=table,
            rejected_records=list(self.rejected_records()),
        )  # fmt: skip

    def control_characters(self, table: pl.DataFrame, names_of_documents: Sequence[str]) -> None:
        """Tell of invisible characters in places and identifiers."""
        odd = pl.col("place").str.contains(_CONTROL).fill_null(False)
        strange = [
            number
            for number, name in enumerate(names_of_documents)
            if not name.isprintable() and any(ord(c) < 32 or ord(c) == 127 for c in name)
        ]
        found = table.filter(odd | pl.col("document").is_in(strange))
        for record, document in found.select("record", "document").iter_rows():
            name = "DocumentID" if document in strange else "PlaceMention"
            one = parse(self.text, self.start(record - 1))
            written = self.values[record - 1][name]
            character = next(c for c in written if ord(c) < 32 or ord(c) == 127)
            self.tell(
                "SFJ209",
                place_of(self.text, one, (name,)),
                shown((record - 1, name)),
                character=f"U+{ord(character):04X}",
            )

    def rejected_records(self) -> Iterator[dict[str, object]]:
        """The items that are no frames."""
        for row, (index, code) in enumerate(sorted(self.bad.items())):
            start = self.start(index)
            end = parse(self.text, start).end
            text = self.text[start : min(end, start + 1000)]
            column = self.places.span(start, start).column
            yield {
                "row": row, "origin": 0, "record": index + 1, "code": code, "kind": "frame",
                "text": text, "column": column, "end_column": column + len(text.partition("\n")[0]),
                "expected": "a frame",
            }  # fmt: skip


_COLUMNS = (
    *("row", "document", "origin", "record", "kind"),
    *("label", "place", "status", "resolution", "confidence"),
)


def _text(status: Any, name: str) -> str | None:
    value = status.get(name) if isinstance(status, dict) else None
    return value if isinstance(value, str) else None


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """Line and column of items and of their properties, found in one pass over the file."""
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    found, lines = starts(text), Places(text)
    located = {place: _located(text, found, lines, place) for place in sorted(places, key=_record)}
    return [located[place] for place in places]


def _record(place: FieldRef) -> int:
    return place.record


def _located(text: str, found: Sequence[int], lines: Places, place: FieldRef) -> Location | None:
    if not 1 <= place.record <= len(found):
        return None
    one = parse(text, found[place.record - 1])
    span = lines.span(*place_of(text, one, (place.field,) if place.field else ()))
    return Location(span, lines.excerpt(span))


def write(corpora: Iterable[Corpus], path: FilePath, escapes: str = "native") -> None:
    r"""The situation frames of all documents as one array, a frame a line.

    Args:
        corpora: the batches.
        path: the file.
        escapes: `ascii` writes every other character as a `\u` escape.
    """
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("[")
        first = True
        for corpus in corpora:
            for frame in _objects(corpus):
                text = json.dumps(frame, ensure_ascii=escapes == "ascii")
                stream.write("\n " if first else ",\n ")
                stream.write(text)
                first = False
        stream.write("\n]\n")


def _objects(corpus: Corpus) -> Iterator[dict[str, object]]:
    names_of = corpus.documents.select("name", document="row")
    frames = corpus.frames.filter(pl.col("kind") == SITUATION).join(
        names_of, on="document", maintain_order="left"
    )
    columns = ("name", "place", "status", "resolution", "label", "confidence")
    for name, place, need, relief, label, confidence in frames.select(columns).iter_rows():
        frame: dict[str, object] = {"DocumentID": name}
        if place is not None:
            frame["PlaceMention"] = place
        if need is not None and relief is not None:
            frame["Status"] = {"Need": need, "Relief": relief}
        sure = 1.0 if confidence is None else confidence
        yield frame | {"Type": label, "TypeConfidence": int(sure) if sure in {0, 1} else sure}


def lost(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables no frame can say."""
    frames = corpus.frames.filter(pl.col("kind") == SITUATION)
    half = pl.col("status").is_null() != pl.col("resolution").is_null()
    silent = corpus.documents.join(frames, left_on="row", right_on="document", how="anti")
    return {
        **others(corpus),
        "segments without frames": silent.height,
        "incomplete statuses": frames.filter(half).height,
    }


FORMAT = Format(
    name="speech-sf-json",
    title="Speech Situation Frames v1.5: system output as a JSON array",
    suffixes=(".json",),
    layout="single_file",
    carries=(
        *("sources", "documents", "frames"),
        *("frames.place", "frames.status", "frames.resolution", "frames.confidence"),
    ),
    known_losses="layout; properties outside the schema",
    sniff=sniff,
    read=read,
    locate=locate,
    write=write,
    frame_kinds=(SITUATION,),
    count_losses=lost,
    settings=(
        Setting(
            "escapes",
            "Write non-ASCII characters in native script or as \\u escapes.",
            "native",
            of="write",
            choices=("native", "ascii"),
        ),
    ),
)

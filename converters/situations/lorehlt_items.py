"""The items of a file of LoReHLT situation frames, and the tables that they make."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from hlteval.converters.situations.frame_files import FrameFile, document_rows, frame_table
from hlteval.converters.situations.lorehlt_problems import (
    EMOTIONS,
    PROPERTIES,
    Violation,
    broken,
    is_frame,
    violations,
)
from hlteval.converters.situations.lorehlt_types import SCHEMA
from hlteval.converters.situations.speech_sf_problems import array_hint
from hlteval.findings import entry
from hlteval.findings.counts import fill
from hlteval.findings.finding import INVISIBLE, code_point
from hlteval.representation import TABLES, Corpus
from hlteval.syntax.json_text import invalid
from hlteval.syntax.places import Path

#: The characters that the official scorer removes from the end of document identifiers.
_STRIPPED = ".txt"
#: The properties that are strings and may be missing, by column; an empty one is none.
_COLUMNS = {"place_kb": "Place_KB_ID", "status": "Status", "resolution": "Resolution"}
_JUSTIFICATIONS = ("Justification_ID", "Justification")
#: What the official validator refuses of justifications, the fix, and whether Justification is
#: there.
_UNOFFICIAL = (
    ("Justification in place of Justification_ID", "rename it to Justification_ID", True),
    ("no Justification_ID", "add Justification_ID, in audio possibly empty", False),
)


class LorehltFile(FrameFile):
    """The items of a file of frames, and the problems with them.

    Args:
        text: the text.
        version: the version of the schema that it must follow.
        most: the maximum number of problems of a code that are explained; 0 for all.
    """

    no_array, no_frame = "LSF201", "LSF203"

    def __init__(self, text: str, version: str, most: int) -> None:
        super().__init__(text, most)
        self.version = version

    def array_hint(self, value: Any) -> str:
        """What to write instead of a value that is not an array of frames."""
        return array_hint(value)

    def invalid(self) -> Iterable[int]:
        """The indices of the items that break the version of the schema."""
        return invalid(SCHEMA, self.values, self.version)

    def is_frame(self, value: Any) -> bool:
        """Whether an item can be read as a frame, even if it breaks the schema."""
        return is_frame(value)

    def broken(self, value: Any) -> list[tuple[str, Path]]:
        """How an item breaks the version of the schema: codes and paths."""
        return broken(value, self.version)

    def violations(self, value: Any) -> list[Violation]:
        """The same with the values of the messages, by the branch that was meant."""
        return violations(value, self.version)

    def read(self) -> None:
        """Read the items, and report what is odd in those that can be read."""
        self.take()
        self.unknown_properties("LSF210", PROPERTIES)
        if self.version == "plan":
            self._unofficial_justifications()
        else:
            self._beyond_the_plan()
        for index, value in self.frames():
            self._oddities(index, value)

    def _unofficial_justifications(self) -> None:
        """Report once each what the official validator refuses, with the number of frames."""
        lacking = [(at, own) for at, own in self.frames() if "Justification_ID" not in own]
        wrong = {*invalid(SCHEMA, [value for _, value in lacking], self.version)}
        lacking = [item for number, item in enumerate(lacking) if number not in wrong]
        for given, hint, renamed in _UNOFFICIAL:
            found = [at for at, value in lacking if ("Justification" in value) is renamed]
            if found:
                path = ("Justification",) if renamed else ()
                self.report_at("LSF215", found[0], path, given=given, hint=hint, count=len(found))

    def _beyond_the_plan(self) -> None:
        """Report once what the version accepts and the plan does not, each kind of it."""
        known: set[tuple[str, object]] = set()
        for index in invalid(SCHEMA, self.values, "plan"):
            if index in self.bad:
                continue
            value = self.values[index]
            reported = set(self.broken(value))
            for code, path, values in violations(value, "plan"):
                kind = (code, values.get("missing") or (path[-1:] if path else ()))
                if (code, path) in reported or kind in known:
                    continue
                known.add(kind)
                message = fill(entry(code).message, {"path": "", **values})
                reason = message.removeprefix(": ").strip()
                self.report_at("LSF212", index, path, schema=self.version, reason=reason)

    def _oddities(self, index: int, value: Mapping[str, Any]) -> None:
        """Report invisible characters, and two justifications that differ."""
        for name in ("DocumentID", "Place_KB_ID", *_JUSTIFICATIONS):
            given = value.get(name)
            if isinstance(given, str) and (found := re.search(INVISIBLE, given)):
                self.report_at("LSF211", index, (name,), character=code_point(found[0]))
        first, second = (value.get(name) for name in _JUSTIFICATIONS)
        if first is not None and second is not None and first != second:
            self.report_at("LSF214", index, ("Justification",), given=second, other=first)

    def _stripped(self, frames: Sequence[Mapping[str, Any]], records: Sequence[int]) -> list[str]:
        """The document identifiers as the official scorer reads them, each change reported once."""
        names = [frame["DocumentID"] for frame in frames]
        changed = {name: name.rstrip(_STRIPPED) for name in names}
        counts = Counter(names)
        first = dict(zip(reversed(names), reversed(records), strict=True))
        for name, stripped in changed.items():
            if name != stripped:
                values = {"given": name, "read": stripped, "count": counts[name]}
                self.report_at("LSF213", first[name], ("DocumentID",), **values)
        return [changed[name] for name in names]

    def corpus(self, origin: Mapping[str, object], *, stripped: bool = False) -> Corpus:
        """The frames, their sentiments, and the rejected items.

        Args:
            origin: the row of `sources`.
            stripped: whether document identifiers are read as the official scorer reads them.
        """
        records, frames = [at for at, _ in self.frames()], [value for _, value in self.frames()]
        names = self._stripped(frames, records) if stripped else [f["DocumentID"] for f in frames]
        rows, documents = document_rows(names)
        return Corpus(
            sources=[origin],
            documents=rows,
            frames=frame_table(records, documents, _columns(frames)),
            sentiments=_sentiment_table(frames, records, documents),
            attributes=_unlisted(frames, records, documents),
            rejected_records=self.rejected_records(),
        )


def _columns(frames: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[object]]:
    """The columns of the table `frames` that are properties."""
    urgent = {True: "true", False: "false"}
    return {
        "label": [frame["Type"] for frame in frames],
        **{
            column: [frame.get(name) or None for frame in frames]
            for column, name in _COLUMNS.items()
        },
        "urgent": [
            urgent[value] if isinstance(value := frame.get("Urgent"), bool) else None
            for frame in frames
        ],
        "confidence": [float(frame["Confidence"]) for frame in frames],
        "justification": [_justification(frame) for frame in frames],
    }


def _justification(frame: Mapping[str, Any]) -> str | None:
    given = (frame.get(name) for name in _JUSTIFICATIONS)
    return next((value for value in given if isinstance(value, str) and value), None)


def _unlisted(
    frames: Sequence[Mapping[str, Any]], records: Sequence[int], documents: Sequence[int]
) -> list[dict[str, object]]:
    """The sentiments that are not a list of objects, an attribute of their frame for each."""
    found = [
        (documents[row], records[row] + 1, json.dumps(given)[:_SHOWN])
        for row, frame in enumerate(frames)
        if not _is_list(given := frame.get("SEC", []))
    ]
    own = {"origin": 0, "element": "frame", "name": "SEC"}
    return [
        {"row": row, "document": document, "record": record, "value": value, **own}
        for row, (document, record, value) in enumerate(found)
    ]


def _is_list(value: object) -> bool:
    """Whether a value is a list of objects, or an empty text, which has as few of them."""
    return value == "" or (isinstance(value, list) and all(isinstance(v, dict) for v in value))


#: The characters that are kept of a value that cannot be read.
_SHOWN = 80
_SENTIMENT = (
    *("document", "origin", "record", "frame_row", "item"),
    *("holder_kb", "value", "fear", "anger", "joy"),
)


def _sentiment_table(
    frames: Sequence[Mapping[str, Any]], records: Sequence[int], documents: Sequence[int]
) -> pl.DataFrame:
    rows = [
        (documents[row], 0, records[row] + 1, row, item, *_entry(value))
        for row, frame in enumerate(frames)
        if isinstance(frame.get("SEC"), list)
        for item, value in enumerate(frame["SEC"], start=1)
        if isinstance(value, dict)
    ]
    schema = {name: TABLES["sentiments"].schema[name] for name in _SENTIMENT}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    return table.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))


def _entry(value: Mapping[str, Any]) -> tuple[str | None, float | None, *tuple[bool | None, ...]]:
    """The source, the sentiment and the emotions of an entry; None for what cannot be read."""
    source, sentiment = value.get("Source"), value.get("Sentiment")
    is_number = isinstance(sentiment, (int, float)) and not isinstance(sentiment, bool)
    felt = (value.get(name) for name in EMOTIONS)
    return (
        source if isinstance(source, str) else None,
        _number(sentiment) if is_number else None,
        *(given if isinstance(given, bool) else None for given in felt),
    )


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None

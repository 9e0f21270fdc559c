"""The items of a file of LoReHLT situation frames, and the tables that they make."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import polars as pl

from hlteval.converters.situations.frame_files import (
    FrameFile,
    array_hint,
    document_rows,
    frame_table,
)
from hlteval.converters.situations.types import QUOTES
from hlteval.findings import entry
from hlteval.findings.counts import fill
from hlteval.findings.finding import INVISIBLE, code_point
from hlteval.findings.suggest import closest
from hlteval.grammars import schema
from hlteval.representation import TABLES, Corpus
from hlteval.syntax.json_text import (
    KINDS,
    WANTED,
    SchemaError,
    broken_keywords,
    invalid,
    schema_errors,
)
from hlteval.syntax.places import Path

# The types of LoReHLT situation frames, and the values that each kind of frame may have.


SCHEMA = "lorehlt-sf"
#: The schemas of submissions: that of the plan, and those that were published.
VERSIONS = ("plan", "2018-v2", "2019-v1", "2019-v2")
Kind = Literal["need", "issue", ""]
NEED: Kind = "need"
ISSUE: Kind = "issue"

#: The types by their names in other annotations, in lower case.
_SPEECH: Mapping[str, str] = {
    "evacuation": "evac",
    "food supply": "food",
    "infrastructure": "infra",
    "medical assistance": "med",
    "urgent rescue": "search",
    "shelter": "shelter",
    "utilities, energy, or sanitation": "utils",
    "water supply": "water",
    "elections and politics": "regimechange",
    "regime change": "regimechange",
    "civil unrest or wide-spread crime": "crimeviolence",
    "civil unrest": "crimeviolence",
    "terrorism or other extreme violence": "terrorism",
}


@cache
def types(kind: Kind = "") -> Sequence[str]:
    """The types of needs, of issues, or all of them.

    Examples:
        >>> types("issue")
        ('regimechange', 'crimeviolence', 'terrorism')
        >>> len(types())
        11
    """
    return _allowed(kind, "Type")


@cache
def _allowed(kind: Kind, name: str) -> Sequence[str]:
    properties = schema(SCHEMA)["definitions"][kind or "frame"]["properties"]
    return tuple(properties[name]["enum"])


def statuses(kind: Kind) -> Sequence[str]:
    """The values of Status of a need or an issue.

    Examples:
        >>> statuses("issue")
        ('current', 'not_current')
    """
    return _allowed(kind, "Status")


def kind_of(label: object) -> Kind:
    """Whether a type is that of a need or of an issue; empty if it is unknown.

    Examples:
        >>> kind_of("food"), kind_of("terrorism"), kind_of("Food")
        ('need', 'issue', '')
    """
    if not isinstance(label, str):
        return ""
    if label in types("need"):
        return "need"
    return "issue" if label in types("issue") else ""


def type_hint(unknown: str) -> str:
    """A hint for an unknown type: the type that was probably meant, or all of them.

    Examples:
        >>> type_hint("Food"), type_hint("Water Supply")
        ('did you mean food?', 'did you mean water?')
        >>> type_hint("weather")[:36]
        'use one of: evac, food, infra, med, '
    """
    bare = unknown.strip(f"{QUOTES} ")
    name = _SPEECH.get(bare.lower())
    if name is None and bare.lower() in types():
        name = bare.lower()
    if name is None and re.search(r"[a-z]{4}", bare.lower()):
        name = closest(bare, types(), cutoff=75)
    return f"did you mean {name}?" if name else f"use one of: {', '.join(types())}"


# Why an item is not a LoReHLT situation frame, by the branch of the schema that was meant.


#: The properties of a frame in any version of the schema.
PROPERTIES = (
    *("DocumentID", "Type", "Place_KB_ID", "Status", "Confidence", "Justification_ID"),
    *("Justification", "Resolution", "Urgent", "SEC"),
)
EMOTIONS = ("Emotion_Fear", "Emotion_Anger", "Emotion_Joy")
#: The properties of an entry of SEC.
ENTRY = ("Sentiment", *EMOTIONS, "Source")
_TEXTS = ("DocumentID", "Type", "Place_KB_ID", "Status", "Resolution")


class Violation(NamedTuple):
    """A way in which an item breaks a version of the schema: code, path in the item, values."""

    code: str
    path: Path
    values: dict[str, object]


def is_frame(value: Any) -> bool:
    """Whether an item can be read as a frame, even if it breaks the schema."""
    if not isinstance(value, dict):
        return False
    named = isinstance(value.get("DocumentID"), str) and isinstance(value.get("Type"), str)
    strings = all(isinstance(value.get(name, ""), str) for name in _TEXTS)
    return named and strings and _is_number(value.get("Confidence"))


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def violations(item: Any, version: str) -> list[Violation]:
    """How an item breaks a version of the schema, by the branch of its type: need or issue.

    Args:
        item: the item.
        version: of the schema, one of `VERSIONS`.

    Examples:
        >>> frame = {"DocumentID": "d", "Type": "food", "Place_KB_ID": "", "Status": "current"}
        >>> frame |= {"Confidence": 1, "Urgent": True, "SEC": []}
        >>> (only,) = violations(frame, "plan")
        >>> only.code, only.values["branch"], only.values["missing"]
        ('LSF202', 'need frame', 'Resolution')
    """
    errors = schema_errors(SCHEMA, _definition(item, version), item)
    return [_violation(error, f"{_kind(item)} frame".strip()) for error in errors]


def broken(item: Any, version: str) -> list[tuple[str, Path]]:
    """The code and the path of each way in which an item breaks a version of the schema.

    Examples:
        >>> broken({"Type": 1}, "plan")
        [('LSF202', ()), ('LSF204', ('Type',))]
    """
    found = broken_keywords(SCHEMA, item, _definition(item, version), ("SEC",))
    return sorted(_code(path, keyword) for path, keyword in found)


def _definition(item: Any, version: str) -> str:
    """The branch of a version of the schema that is meant by the type of an item."""
    return f"{version}-{_kind(item) or 'frame'}"


def _kind(item: Any) -> Kind:
    return kind_of(item.get("Type")) if isinstance(item, dict) else ""


_CODES = {"required": "LSF202", "minimum": "LSF205", "maximum": "LSF205"}
_OF_VALUES = {"Sentiment": "LSF209", "Type": "LSF206"}


def _code(path: Path, keyword: str) -> tuple[str, Path]:
    """The code of an error of the schema, and its path."""
    if keyword == "not":
        return "LSF208", ("Resolution",)
    if keyword == "type":
        return "LSF204" if path else "LSF203", path
    of_values = _OF_VALUES.get(str(path[-1]), "LSF207") if path else ""
    return _CODES.get(keyword, of_values), path


def _violation(error: SchemaError, branch: str) -> Violation:
    """The code of an error of the schema, its path, and the values of its message."""
    code, path = _code(error.path, error.keyword)
    return Violation(code, path, _values(error, code, branch))


def _values(error: SchemaError, code: str, branch: str) -> dict[str, object]:
    keyword, wanted, given, path = error.keyword, error.wanted, error.given, error.path
    if keyword == "required":
        part = branch if not path else "entry of SEC"
        return {"branch": part, **_missing(wanted, given, path)}
    if keyword == "not":
        return {"branch": branch}
    if keyword == "type":
        kinds = {"given": KINDS.get(type(given), "something else"), "wanted": WANTED[wanted]}
        return {**kinds, "hint": _type_hint(path, wanted, given)}
    if keyword in {"minimum", "maximum"}:
        return {"given": given}
    return _outside(code, error, branch)


def _outside(code: str, error: SchemaError, branch: str) -> dict[str, object]:
    """The values of a message about a value outside a closed list."""
    given = error.given
    if code == "LSF209":
        return {"given": given, "hint": _sentiment_hint(given)}
    shown = str(given)[:80] or "nothing"
    if code == "LSF206":
        return {"given": shown, "hint": type_hint(str(given))}
    named = {"property": str(error.path[-1]), "branch": branch}
    return {"given": shown, **named, "values": ", ".join(map(str, error.wanted))}


def _missing(wanted: Sequence[str], given: Mapping[str, object], path: Path) -> dict[str, object]:
    """The properties that an object lacks, and what to do about them."""
    missing = [name for name in wanted if name not in given]
    unknown = [name for name in given if name not in (ENTRY if path else PROPERTIES)]
    similar = {name: found for name in missing if (found := closest(name, unknown))}
    hints = [f"did you mean {name} by {found}?" for name, found in similar.items()]
    if "Justification_ID" in missing and "Justification" in given:
        hints.append("rename Justification to Justification_ID: this schema has no other name")
    hint = " ".join(hints) or _WANTED.get(missing[0], "add what is missing")
    return {"missing": ", ".join(missing), "hint": hint}


_WANTED = {
    "Resolution": "add sufficient or insufficient; what is not known to be sufficient is "
    "insufficient",
    "Urgent": "add true or false; issues need it too",
    "SEC": "add an array of sentiments; an empty one, [ ], if there are none",
    "Place_KB_ID": 'add the entry of the knowledge base; an empty string, "", for no place',
    "Confidence": "add a number from 0 to 1",
    "Justification_ID": "add the identifier of one segment that justifies the frame",
}


def _sentiment_hint(given: float) -> str:
    """The closest sentiment that is allowed.

    Examples:
        >>> _sentiment_hint(0), _sentiment_hint(-2.8), _sentiment_hint(7)
        ('leave the entry out: a sentiment is not 0', 'write -3', 'write 3')
    """
    if given == 0:
        return "leave the entry out: a sentiment is not 0"
    size = min(3.0, max(0.5, round(min(abs(given), 9) * 2) / 2))
    return f"write {math.copysign(size, given):g}"


_NUMBER = re.compile(r"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?", re.ASCII)


def _type_hint(path: Path, wanted: str, given: object) -> str:
    """What to write instead of a value of another type."""
    name = str(path[-1]) if path else ""
    if wanted == "number":
        return _number_hint(name, given)
    if wanted == "boolean":
        word = str(given).strip().lower()
        quoted = isinstance(given, str) and word in {"true", "false"}
        return f"write {word}, without quotes" if quoted else "write true or false"
    if wanted == "array":
        none = "write [ ] if there are no sentiments"
        return "put the entry in square brackets" if isinstance(given, dict) else none
    return _string_hint(name, given) if wanted == "string" else "write it as an object: { … }"


def _string_hint(name: str, given: object) -> str:
    """What to write instead of a value that is not a string."""
    if given is None and name == "Place_KB_ID":
        return 'write an empty string for no place: ""'
    if isinstance(given, list):
        return f"write a frame for each {name}"
    if isinstance(given, (int, float)):
        return f'write it in quotation marks: "{json.dumps(given)}"'
    return f"write the {name} as a string"


def _number_hint(name: str, given: object) -> str:
    example = "from 0 to 1" if name == "Confidence" else "from -3 to 3"
    if isinstance(given, bool):
        return f"write a number {example}; true and false are not numbers"
    number = given.strip().replace(",", ".") if isinstance(given, str) else ""
    if number == given and _NUMBER.fullmatch(number):
        return "remove the quotes"
    if _NUMBER.fullmatch(number):
        return f"write {number}, without quotes"
    if number.endswith("%") and _NUMBER.fullmatch(number[:-1].rstrip()):
        return f"write {float(number[:-1]) / 100:g}, without quotes"
    return f"write a number {example}"


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

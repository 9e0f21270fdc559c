"""The items of a file of LoReHLT situation frames, and the tables that they make."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

from hlteval.converters.situations import frame_files
from hlteval.converters.situations.types import QUOTES
from hlteval.converters.toolkit.rows import table_of
from hlteval.findings import entry
from hlteval.findings.counts import fill
from hlteval.findings.suggest import closest
from hlteval.grammars import schema, vocabulary
from hlteval.representation import Corpus

# The types of LoReHLT situation frames, and the values that each kind of frame may have.


SCHEMA = "lorehlt-sf"
#: The schemas of submissions: that of the plan, and those that were published.
VERSIONS = ("plan", "2018-v2", "2019-v1", "2019-v2")
Kind = Literal["need", "issue", ""]
NEED: Kind = "need"
ISSUE: Kind = "issue"


@cache
def types(kind: Kind = "") -> Sequence[str]:
    """The types of needs, of issues, or all of them.

    Examples:
        >>> types("issue")
        ('regimechange', 'crimeviolence', 'terrorism')
        >>> len(types())
        11
    """
    return tuple(schema(SCHEMA)["definitions"][kind or "frame"]["properties"]["Type"]["enum"])


def kind_of(label: object) -> Kind:
    """Whether a type is that of a need or of an issue; empty if it is unknown.

    Examples:
        >>> kind_of("food"), kind_of("terrorism"), kind_of("Food")
        ('need', 'issue', '')
    """
    return next((kind for kind in (NEED, ISSUE) if label in types(kind)), "")


def type_hint(unknown: str) -> str:
    """A hint for an unknown type: the type that was probably meant, or all of them.

    Examples:
        >>> type_hint("Food"), type_hint("Water Supply")
        ('did you mean food?', 'did you mean water?')
        >>> type_hint("weather")[:36]
        'use one of: evac, food, infra, med, '
    """
    bare = unknown.strip(f"{QUOTES} ")
    name: str | None = vocabulary(SCHEMA)["types"].get(bare.lower())
    if name is None and bare.lower() in types():
        name = bare.lower()
    if name is None and re.search(r"[a-z]{4}", bare.lower()):
        name = closest(bare, types(), cutoff=75)
    return f"did you mean {name}?" if name else f"use one of: {', '.join(types())}"


# Why an item is not a LoReHLT situation frame, by the branch of the schema that was meant.


#: The properties of a frame and of an entry of SEC as columns; `name` is that of the document.
FRAME: Mapping[str, str] = {
    "DocumentID": "name",
    "Type": "label",
    "Place_KB_ID": "place_kb",
    "Status": "status",
    "Confidence": "confidence",
    "Justification_ID": "justification",
    "Resolution": "resolution",
    "Urgent": "urgent",
}
EMOTIONS = {"Emotion_Fear": "fear", "Emotion_Anger": "anger", "Emotion_Joy": "joy"}
ENTRY: Mapping[str, str] = {"Sentiment": "value", **EMOTIONS, "Source": "holder_kb"}
_JUSTIFICATIONS = ("Justification_ID", "Justification")


class LorehltSchema(frame_files.FrameSchema):
    """A version of the schema of LoReHLT situation frames.

    Args:
        version: one of `VERSIONS`.

    Examples:
        >>> frame = {"DocumentID": "d", "Type": "food", "Place_KB_ID": "", "Status": "current"}
        >>> frame |= {"Confidence": 1, "Urgent": True, "SEC": []}
        >>> (only,) = LorehltSchema("plan").violations(frame)
        >>> only.code, only.values["branch"], only.values["missing"]
        ('LSF202', 'need frame', 'Resolution')
    """

    name = SCHEMA
    #: In any version.
    properties = (*tuple(FRAME)[:6], "Justification", "Resolution", "Urgent", "SEC")
    inner_properties = tuple(ENTRY)
    texts = ("DocumentID", "Type", "Place_KB_ID", "Status", "Resolution")
    confidence = "Confidence"
    nothing = "nothing"

    def branch(self, item: Any) -> tuple[str, str]:
        """The branch of the schema that is meant by the type of an item: need or issue."""
        kind = kind_of(item.get("Type")) if isinstance(item, dict) else ""
        return f"{self.definition}-{kind or 'frame'}", f"{kind} frame".strip()

    def type_hint(self, name: str, wanted: str, given: object) -> str:
        """The fix of a value of another type."""
        if wanted == "number":
            limits = "from 0 to 1" if name == "Confidence" else "from -3 to 3"
            return frame_files.number_hint(given, limits)
        if wanted == "boolean":
            word = str(given).strip().lower()
            quoted = isinstance(given, str) and word in {"true", "false"}
            return f"write {word}, without quotes" if quoted else "write true or false"
        if wanted == "array":
            none = "write [ ] if there are no sentiments"
            return "put the entry in square brackets" if isinstance(given, dict) else none
        if wanted != "string":
            return "write it as an object: { … }"
        if given is None and name == "Place_KB_ID":
            return 'write an empty string for no place: ""'
        return frame_files.text_hint(name, given) or f"write the {name} as a string"

    def value_hint(self, name: str, given: Any) -> str:
        """The fix of an unknown type, and the closest sentiment that is allowed.

        Examples:
            >>> [LorehltSchema("plan").value_hint("Sentiment", given) for given in (-2.8, 7)]
            ['write -3', 'write 3']
        """
        if name == "Type":
            return type_hint(str(given))
        if name != "Sentiment":
            return ""
        if given == 0:
            return "leave the entry out: a sentiment is not 0"
        size = min(3.0, max(0.5, round(min(abs(given), 9) * 2) / 2))
        return f"write {math.copysign(size, given):g}"


# The items of a file, and the tables that they make.


#: The characters that the official scorer removes from the end of document identifiers.
STRIPPED = ".txt"
#: What the official validator refuses of justifications, the fix, and whether Justification is
#: there.
_UNOFFICIAL = (
    ("Justification in place of Justification_ID", "rename it to Justification_ID", True),
    ("no Justification_ID", "add Justification_ID, in audio possibly empty", False),
)
#: The characters that are kept of a value that cannot be read.
_SHOWN = 80


class LorehltFile(frame_files.FrameFile):
    """The items of a file of frames, and the problems with them."""

    def read(self) -> None:
        """Read the items, and report what is odd in those that can be read."""
        self.take()
        self.unknown_properties("LSF210")
        if self.schema.definition == "plan":
            self._unofficial_justifications()
        else:
            self._beyond_the_plan()
        self.invisible_characters("LSF211", ("DocumentID", "Place_KB_ID", *_JUSTIFICATIONS))
        for index, value in self.frames():
            first, second = (value.get(name) for name in _JUSTIFICATIONS)
            if first is not None and second is not None and first != second:
                self.report_at("LSF214", index, ("Justification",), given=second, other=first)

    def _unofficial_justifications(self) -> None:
        """Report once each what the official validator refuses, with the number of frames."""
        lacking = [item for item in self.frames() if "Justification_ID" not in item[1]]
        wrong = {*self.schema.invalid([value for _, value in lacking])}
        lacking = [item for number, item in enumerate(lacking) if number not in wrong]
        for given, hint, renamed in _UNOFFICIAL:
            indices = [index for index, value in lacking if ("Justification" in value) is renamed]
            if indices:
                path = ("Justification",) if renamed else ()
                values = {"given": given, "hint": hint, "count": len(indices)}
                self.report_at("LSF215", indices[0], path, **values)

    def _beyond_the_plan(self) -> None:
        """Report once what the version accepts and the plan does not, each kind of it."""
        plan, known = LorehltSchema("plan"), set[tuple[str, object]]()
        for index in plan.invalid(self.values):
            if index in self.bad:
                continue
            value = self.values[index]
            reported = set(self.schema.errors(value))
            for code, path, values in plan.violations(value):
                kind = (code, values.get("missing") or (path[-1:] if path else ()))
                if (code, path) in reported or kind in known:
                    continue
                known.add(kind)
                message = fill(entry(code).message, {**values, "path": ""})
                reason = message.removeprefix(": ").strip()
                version = self.schema.definition
                self.report_at("LSF212", index, path, schema=version, reason=reason)

    def _strip_names(self, names: Sequence[str]) -> list[str]:
        """Read document identifiers as the official scorer does; each change is reported once."""
        records = [index for index, _ in self.frames()]
        first = dict(zip(reversed(names), reversed(records), strict=True))
        for name, count in Counter(names).items():
            stripped = name.rstrip(STRIPPED)
            if name != stripped:
                values = {"given": name, "read": stripped, "count": count}
                self.report_at("LSF213", first[name], ("DocumentID",), **values)
        return [name.rstrip(STRIPPED) for name in names]

    def tables(self, origin: Mapping[str, object], *, stripped: bool = False) -> Corpus:
        """The frames, their sentiments, and the rejected items.

        Args:
            origin: the row of `sources`.
            stripped: whether document identifiers are read as the official scorer reads them.
        """
        frames = [frame for _, frame in self.frames()]
        names = [frame["DocumentID"] for frame in frames]
        justifications = [[frame.get(name) for name in _JUSTIFICATIONS] for frame in frames]
        columns = {
            "label": [frame["Type"] for frame in frames],
            "place_kb": [frame.get("Place_KB_ID") or None for frame in frames],
            "status": [frame.get("Status") or None for frame in frames],
            "resolution": [frame.get("Resolution") or None for frame in frames],
            "urgent": [
                str(value).lower() if isinstance(value := frame.get("Urgent"), bool) else None
                for frame in frames
            ],
            "confidence": [float(frame["Confidence"]) for frame in frames],
            "justification": [
                next((value for value in values if isinstance(value, str) and value), None)
                for values in justifications
            ],
        }
        corpus = self.corpus(origin, self._strip_names(names) if stripped else names, columns)
        records = corpus.frames.select("document", "origin", "record").rows()
        sentiments, others = [], []
        for row, (frame, record) in enumerate(zip(frames, records, strict=True)):
            given = frame.get("SEC", [])
            entries = given if isinstance(given, list) else []
            objects = [(item, e) for item, e in enumerate(entries, start=1) if isinstance(e, dict)]
            sentiments += [(*record, row, item, *_entry(each)) for item, each in objects]
            # an empty text has no entries either
            if given != "" and (not isinstance(given, list) or len(objects) < len(entries)):
                others.append((*record, "frame", "SEC", json.dumps(given)[:_SHOWN]))
        return corpus.replace(
            sentiments=table_of("sentiments", sentiments, _SENTIMENT),
            attributes=table_of("attributes", others, _ATTRIBUTE),
        )


_SENTIMENT = (
    *("document", "origin", "record", "frame_row", "item"),
    *("holder_kb", "value", *EMOTIONS.values()),
)
_ATTRIBUTE = ("document", "origin", "record", "element", "name", "value")


def _entry(value: Mapping[str, Any]) -> tuple[str | None, float | None, *tuple[bool | None, ...]]:
    """The source, the sentiment and the emotions of an entry; None for what cannot be read."""
    source = value.get("Source")
    felt = (value.get(name) for name in EMOTIONS)
    return (
        source if isinstance(source, str) else None,
        frame_files.as_float(value.get("Sentiment")),
        *(given if isinstance(given, bool) else None for given in felt),
    )

"""The blocks of one Appen annotation file: what they say, and what is wrong with them.

A block begins at its TYPE line; the lines of the other keys follow until the next TYPE line. Each
line is read by the rule of its key in grammars/appen.lark; a value that this refuses is explained.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple
from unicodedata import is_normalized

from hlteval.grammars import load, pattern

BLANKS = " \t\r\f\x0b"
SEPARATORS = ",፣"
"""What separates places if nothing else is said: the comma, and that of Ethiopic scripts."""

NONE = "n/a"
NO_TYPE = (NONE, "out-of-domain")
_RULES = {
    "TYPE": "type_line",
    "TIME": "time_line",
    "Resolution": "resolution_line",
    "PLACE": "place_line",
    "URGENCY": "urgency_line",
}
KEYS = tuple(_RULES)
"""The keys in the order of a block; the last may be left out."""

_REQUIRED = KEYS[1:4]
_BAD_VALUE = {"TIME": "APN202", "Resolution": "APN203", "URGENCY": "APN204"}
_VALUES = {
    "TIME": "Current, Future, Past Only or n/a",
    "Resolution": "Insufficient/Unknown, No_Known_Resolution, Sufficient or n/a",
    "URGENCY": "Urgent, Unknown, Not… or n/a",
}
_FIELD = re.compile(r"([A-Za-z][A-Za-z_ -]{0,20}?)[ \t]*:")
_FOREIGN = ",፣،、\uff0c;\uff1b؛"
"""Characters that separate names in some script."""
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Fault(NamedTuple):
    """Something wrong in a line: its code, place (0-based columns), and values for the message."""

    code: str
    record: int
    start: int
    end: int
    values: Mapping[str, object]


class Frame(NamedTuple):
    """One type of a block, at one of its places; `candidates` where it is not said at which."""

    record: int
    label: str
    place: str | None
    status: str | None
    resolution: str | None
    urgent: str | None
    candidates: tuple[str, ...] = ()


class _Line(NamedTuple):
    record: int
    text: str
    start: int
    """Where the value begins."""

    @property
    def value(self) -> str:
        return self.text[self.start :]

    def fault(self, code: str, span: tuple[int, int] | None = None, **values: object) -> Fault:
        """A fault of this line: at a span of it, or else of its value."""
        start, end = span or (self.start, len(self.text))
        return Fault(code, self.record, start, end, values)


def parse(text: str, separators: str = SEPARATORS) -> tuple[list[Frame], list[Fault]]:
    r"""The frames of a file and what is wrong with it.

    Args:
        text: the whole file.
        separators: the characters between places.

    Examples:
        >>> frames, faults = parse("TYPE: Shelter\nTIME: Current\nResolution: n/a\nPLACE: Osh\n")
        >>> frames[0].label, frames[0].place, [fault.code for fault in faults]
        ('Shelter', 'Osh', ['APN206'])
    """
    frames: list[Frame] = []
    faults: list[Fault] = []
    seen: dict[tuple[str, str | None], int] = {}
    for block in _blocks(text, faults):
        made = _frames(block, separators, faults)
        again = [seen[key] for frame in made if (key := (frame.label, frame.place)) in seen]
        if again:
            faults.append(block["TYPE"].fault("APN307", first=again[0]))
        seen.update({(frame.label, frame.place): frame.record for frame in made})
        frames += made
    return frames, sorted(faults, key=lambda fault: fault[:3])


def _blocks(text: str, faults: list[Fault]) -> Iterator[dict[str, _Line]]:
    """The blocks, each as its lines by key; faults of lines as such are added to `faults`."""
    block: dict[str, _Line] = {}
    for record, written in enumerate(text.split("\n"), start=1):
        line = written.rstrip(BLANKS)
        if not line:
            continue
        key, colon, value = line.partition(":")
        if not colon or key not in _RULES:
            faults.append(_no_field(_Line(record, line, 0)))
            continue
        field = _Line(record, line, len(line) - len(value.lstrip(" \t")))
        if key == "TYPE":
            if block:
                yield block
            block = {key: field}
        elif not block:
            faults.append(field.fault("APN103", (0, len(key)), key=key))
        elif key in block:
            faults.append(field.fault("APN105", (0, len(key)), key=key, first=block[key].record))
        else:
            block[key] = field
    if block:
        yield block


def _no_field(line: _Line) -> Fault:
    """A line that begins with no key: one that was perhaps meant, or free text."""
    found = _FIELD.match(line.text)
    if not found:
        return line.fault("APN101", (0, len(line.text)))
    meant = next((key for key in KEYS if key.lower() == found[1].lower()), None)
    hint = f"did you mean {meant}:?" if meant else f"use {', '.join(KEYS[:-1])} or {KEYS[-1]}"
    return line.fault("APN102", found.span(), key=found[1], hint=hint)


def _frames(block: Mapping[str, _Line], separators: str, faults: list[Fault]) -> list[Frame]:
    """What a block says: every type at every place, or with all places where that is ambiguous."""
    head = block["TYPE"]
    faults.extend(
        head.fault("APN104", (0, len("TYPE")), key=key) for key in _REQUIRED if key not in block
    )
    faults.extend(_disorder(block))
    labels = _types(head, faults)
    status, resolution, urgent = (
        _value(block.get(key), key, faults) for key in ("TIME", "Resolution", "URGENCY")
    )
    places = _places(block["PLACE"], separators, faults) if "PLACE" in block else []
    if labels:
        faults.extend(_half_status(block, status, resolution))
    if len(labels) > 1 and len(places) > 1:
        faults.append(head.fault("APN306", types=len(labels), places=len(places)))
        return [
            Frame(head.record, label, None, status, resolution, urgent, tuple(places))
            for label in labels
        ]
    return [
        Frame(head.record, label, place, status, resolution, urgent)
        for label in labels
        for place in (*places, *([] if places else [None]))
    ]


def _disorder(block: Mapping[str, _Line]) -> Iterator[Fault]:
    """The first line that stands before one that should precede it; where none does, nothing."""
    keys = list(block)
    for key, follower in pairwise(keys):
        if KEYS.index(key) > KEYS.index(follower):
            yield block[key].fault("APN106", (0, len(key)), key=key, follower=follower)
            return


def _types(line: _Line, faults: list[Fault]) -> list[str]:
    """The types of a TYPE line: names are matched whole, longest first, never split at commas."""
    if _rule("type_line").fullmatch(line.text):
        return list(dict.fromkeys(_name().findall(line.text, line.start)))
    if not line.value:
        faults.append(line.fault("APN207", (0, len(line.text))))
        return []
    labels: list[str] = []
    none: list[tuple[int, int]] = []
    for start, end, name in _listed_types(line):
        if name in NO_TYPE:
            none.append((start, end))
        elif _name().fullmatch(name):
            labels.append(name)
        else:
            faults.append(line.fault("APN201", (start, end), label=name, hint=_meant(name)))
    if none and labels:
        start, end = none[0]
        faults.append(line.fault("APN205", none[0], given=line.text[start:end]))
    return list(dict.fromkeys(labels))


def _listed_types(line: _Line) -> Iterator[tuple[int, int, str]]:
    """The parts of a TYPE line that its rule refuses: known names, and what stands between them."""
    at, text = line.start, line.text
    while at < len(text):
        at += len(text[at:]) - len(text[at:].lstrip(" \t,"))
        known = _name().match(text, at)
        end = known.end() if known and _ends(text, known.end()) else text.find(",", at)
        end = len(text) if end < 0 else end
        if name := text[at:end].rstrip(BLANKS):
            yield at, at + len(name), name
        at = end + 1


def _ends(text: str, at: int) -> bool:
    rest = text[at:].lstrip(" \t")
    return not rest or rest[0] == ","


def _meant(name: str) -> str:
    from rapidfuzz import fuzz, process, utils

    near = process.extractOne(
        name, names(), scorer=fuzz.WRatio, processor=utils.default_process, score_cutoff=80
    )
    return f"did you mean {near[0]}?" if near else f"use one of: {'; '.join(names())}"


def _value(line: _Line | None, key: str, faults: list[Fault]) -> str | None:
    """The value of a line; None where there is none, or none that is known."""
    if line is None:
        return None
    if _rule(_RULES[key]).fullmatch(line.text):
        return None if line.value == NONE else line.value
    span = None if line.value else (0, len(line.text))
    faults.append(
        line.fault(_BAD_VALUE[key], span, given=line.value or "(empty)", values=_VALUES[key])
    )
    return None


def _half_status(
    block: Mapping[str, _Line], status: str | None, resolution: str | None
) -> Iterator[Fault]:
    """One of TIME and Resolution is n/a and the other is not."""
    for key, value, other in (("TIME", status, resolution), ("Resolution", resolution, status)):
        if value is None and other is not None and key in block and block[key].value == NONE:
            yield block[key].fault("APN206", key=key)


def _places(line: _Line, separators: str, faults: list[Fault]) -> list[str]:
    """The places of a PLACE line, each once, without n/a and empty ones."""
    spans = list(_divided(line, separators))
    named = [(start, end) for start, end in spans if line.text[start:end] not in {"", NONE}]
    none = [(start, end) for start, end in spans if line.text[start:end] == NONE]
    if not line.value:
        faults.append(line.fault("APN301", (0, len(line.text))))
    elif empty := [span for span in spans if span[0] == span[1]]:
        at = min(empty[0][0], len(line.text) - 1)
        faults.append(line.fault("APN301", (at, at + 1)))
    if named and none:
        faults.append(line.fault("APN302", none[0]))
    for start, end in named:
        place = line.text[start:end]
        if not (place.isascii() and place.isprintable() and ";" not in place):
            faults.extend(_oddities(line, start, place, separators))
    return list(dict.fromkeys(line.text[start:end] for start, end in named))


def _divided(line: _Line, separators: str) -> Iterator[tuple[int, int]]:
    at = line.start
    for part in _divider(separators).split(line.value):
        bare = part.strip(BLANKS)
        start = at + (len(part) - len(part.lstrip(BLANKS)) if bare else len(part))
        yield start, start + len(bare)
        at += len(part) + 1


def _oddities(line: _Line, start: int, place: str, separators: str) -> Iterator[Fault]:
    """What in the name of a place may not be meant: separators, invisible characters, encoding."""
    for at, character in enumerate(place):
        if character in _FOREIGN and character not in separators:
            span = (start + at, start + at + 1)
            yield line.fault("APN303", span, character=_point(character))
            break
    if unseen := _UNSEEN.search(place):
        span = (start + unseen.start(), start + unseen.end())
        yield line.fault("APN304", span, character=_point(unseen[0]))
    if not is_normalized("NFC", place):
        yield line.fault("APN305", (start, start + len(place)))


def _point(character: str) -> str:
    return f"U+{ord(character):04X}"


@cache
def _rule(name: str) -> re.Pattern[str]:
    return re.compile(pattern("appen", name))


@cache
def _name() -> re.Pattern[str]:
    """The name of a type, as the grammar has it."""
    terminals = {one.name: one.pattern for one in load("appen").terminals}
    return re.compile(terminals["TYPE"].to_regexp())


@cache
def names() -> Sequence[str]:
    """The names of all types, in the order of the alphabet.

    Examples:
        >>> len(names()), names()[0]
        (11, 'Civil Unrest or Wide-spread Crime')
    """
    from hlteval.grammars import schema

    listed = schema("speech-sf")["definitions"]["frame"]["properties"]["Type"]["enum"]
    return tuple(sorted(listed))


@cache
def _divider(separators: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(separators)}]" if separators else "(?!)")


def writable(label: str, place: str | None, separators: str = SEPARATORS) -> bool:
    r"""Whether a block can say this.

    Examples:
        >>> writable("Shelter", "Osh"), writable("Shelter", "Osh, Kyrgyzstan")
        (True, False)
    """
    if not _name().fullmatch(label):
        return False
    if place is None:
        return True
    bare = place.strip(BLANKS)
    return bare == place and place not in {"", NONE} and not (set(place) & set(separators + "\n"))

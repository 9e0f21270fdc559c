"""The blocks of one Appen annotation file: their frames, and their problems.

A block begins at its TYPE line; the lines of the other keys follow until the next TYPE line. The
rule of its key in grammars/appen.lark matches each line; rejected values are explained here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import NamedTuple
from unicodedata import is_normalized

from hlteval.converters.situations.types import type_hint
from hlteval.findings import Problem
from hlteval.grammars import load, matcher

BLANKS = " \t\r\f\x0b"
SEPARATORS = ",፣"
"""The default separators of places: the comma, and the Ethiopic comma."""

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
"""The keys in the order of a block; the last is optional."""

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


class Frame(NamedTuple):
    """One type of a block at one of its places, or with all of these as `candidates`."""

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
    """The start of the value."""

    @property
    def value(self) -> str:
        return self.text[self.start :]

    def problem(self, code: str, span: tuple[int, int] | None = None, **values: object) -> Problem:
        """A problem at a span of this line, by default its value."""
        start, end = span or (self.start, len(self.text))
        return Problem(code, self.record, start, end, values)


def parse(text: str, separators: str = SEPARATORS) -> tuple[list[Frame], list[Problem]]:
    r"""The frames of a file, and its problems.

    Args:
        text: the whole file.
        separators: the characters between places.

    Examples:
        >>> frames, problems = parse("TYPE: Shelter\nTIME: Current\nResolution: n/a\nPLACE: Osh\n")
        >>> frames[0].label, frames[0].place, [problem.code for problem in problems]
        ('Shelter', 'Osh', ['APN206'])
    """
    frames: list[Frame] = []
    problems: list[Problem] = []
    seen: dict[tuple[str, str | None], int] = {}
    for block in _blocks(text, problems):
        made = _frames(block, separators, problems)
        again = [seen[key] for frame in made if (key := (frame.label, frame.place)) in seen]
        if again:
            problems.append(block["TYPE"].problem("APN307", first=again[0]))
        seen.update({(frame.label, frame.place): frame.record for frame in made})
        frames += made
    return frames, sorted(problems, key=lambda problem: problem[:3])


def _blocks(text: str, problems: list[Problem]) -> Iterator[dict[str, _Line]]:
    """The blocks, each as its lines by key; problems of single lines are added to `problems`."""
    block: dict[str, _Line] = {}
    for record, written in enumerate(text.split("\n"), start=1):
        line = written.rstrip(BLANKS)
        if not line:
            continue
        key, colon, value = line.partition(":")
        if not colon or key not in _RULES:
            problems.append(_no_field(_Line(record, line, 0)))
            continue
        field = _Line(record, line, len(line) - len(value.lstrip(" \t")))
        if key == "TYPE":
            if block:
                yield block
            block = {key: field}
        elif not block:
            problems.append(field.problem("APN103", (0, len(key)), key=key))
        elif key in block:
            problems.append(
                field.problem("APN105", (0, len(key)), key=key, first=block[key].record)
            )
        else:
            block[key] = field
    if block:
        yield block


def _no_field(line: _Line) -> Problem:
    """The problem of a line that does not begin with a key."""
    found = _FIELD.match(line.text)
    if not found:
        return line.problem("APN101", (0, len(line.text)))
    meant = next((key for key in KEYS if key.lower() == found[1].lower()), None)
    hint = f"did you mean {meant}:?" if meant else f"use {', '.join(KEYS[:-1])} or {KEYS[-1]}"
    return line.problem("APN102", found.span(), key=found[1], hint=hint)


def _frames(block: Mapping[str, _Line], separators: str, problems: list[Problem]) -> list[Frame]:
    """The frames of a block: every type at every place, or with candidates if that is ambiguous."""
    head = block["TYPE"]
    problems.extend(
        head.problem("APN104", (0, len("TYPE")), key=key) for key in _REQUIRED if key not in block
    )
    problems.extend(_disorder(block))
    labels = _types(head, problems)
    status, resolution, urgent = (
        _value(block.get(key), key, problems) for key in ("TIME", "Resolution", "URGENCY")
    )
    places = _places(block["PLACE"], separators, problems) if "PLACE" in block else []
    if labels:
        problems.extend(_half_status(block, status, resolution))
    if len(labels) > 1 and len(places) > 1:
        problems.append(head.problem("APN306", types=len(labels), places=len(places)))
        return [
            Frame(head.record, label, None, status, resolution, urgent, tuple(places))
            for label in labels
        ]
    return [
        Frame(head.record, label, place, status, resolution, urgent)
        for label in labels
        for place in (*places, *([] if places else [None]))
    ]


def _disorder(block: Mapping[str, _Line]) -> Iterator[Problem]:
    """The problem of the first line before a line that should precede it, if there is one."""
    keys = list(block)
    for key, follower in pairwise(keys):
        if KEYS.index(key) > KEYS.index(follower):
            yield block[key].problem("APN106", (0, len(key)), key=key, follower=follower)
            return


def _types(line: _Line, problems: list[Problem]) -> list[str]:
    """The types of a TYPE line: whole names are matched, longest first, never split at commas."""
    if matcher("appen", "type_line").fullmatch(line.text):
        return list(dict.fromkeys(_name().findall(line.text, line.start)))
    if not line.value:
        problems.append(line.problem("APN207", (0, len(line.text))))
        return []
    labels: list[str] = []
    none: list[tuple[int, int]] = []
    for start, end, name in _items(line):
        if name in NO_TYPE:
            none.append((start, end))
        elif _name().fullmatch(name):
            labels.append(name)
        else:
            problems.append(line.problem("APN201", (start, end), label=name, hint=type_hint(name)))
    if none and labels:
        start, end = none[0]
        problems.append(line.problem("APN205", none[0], given=line.text[start:end]))
    return list(dict.fromkeys(labels))


def _items(line: _Line) -> Iterator[tuple[int, int, str]]:
    """The items of a TYPE line that its rule rejects: known names, and the text between them."""
    at, text = line.start, line.text
    while at < len(text):
        at += len(text[at:]) - len(text[at:].lstrip(" \t,"))
        known = _name().match(text, at)
        whole = known and text[known.end() :].lstrip(" \t")[:1] in {"", ","}
        end = known.end() if known and whole else text.find(",", at)
        end = len(text) if end < 0 else end
        if name := text[at:end].rstrip(BLANKS):
            yield at, at + len(name), name
        at = end + 1


def _value(line: _Line | None, key: str, problems: list[Problem]) -> str | None:
    """The value of a line; None if there is no known value."""
    if line is None:
        return None
    if matcher("appen", _RULES[key]).fullmatch(line.text):
        return None if line.value == NONE else line.value
    span = None if line.value else (0, len(line.text))
    problems.append(
        line.problem(_BAD_VALUE[key], span, given=line.value or "(empty)", values=_VALUES[key])
    )
    return None


def _half_status(
    block: Mapping[str, _Line], status: str | None, resolution: str | None
) -> Iterator[Problem]:
    """The problem that only one of TIME and Resolution is n/a."""
    for key, value, other in (("TIME", status, resolution), ("Resolution", resolution, status)):
        if value is None and other is not None and key in block and block[key].value == NONE:
            yield block[key].problem("APN206", key=key)


def _places(line: _Line, separators: str, problems: list[Problem]) -> list[str]:
    """The places of a PLACE line without duplicates, n/a and empty ones."""
    spans = list(_divided(line, separators))
    named = [(start, end) for start, end in spans if line.text[start:end] not in {"", NONE}]
    none = [(start, end) for start, end in spans if line.text[start:end] == NONE]
    if not line.value:
        problems.append(line.problem("APN301", (0, len(line.text))))
    elif empty := [span for span in spans if span[0] == span[1]]:
        at = min(empty[0][0], len(line.text) - 1)
        problems.append(line.problem("APN301", (at, at + 1)))
    if named and none:
        problems.append(line.problem("APN302", none[0]))
    for start, end in named:
        place = line.text[start:end]
        if not (place.isascii() and place.isprintable() and ";" not in place):
            problems.extend(_oddities(line, start, place, separators))
    return list(dict.fromkeys(line.text[start:end] for start, end in named))


def _divided(line: _Line, separators: str) -> Iterator[tuple[int, int]]:
    at = line.start
    for part in _divider(separators).split(line.value):
        bare = part.strip(BLANKS)
        start = at + (len(part) - len(part.lstrip(BLANKS)) if bare else len(part))
        yield start, start + len(bare)
        at += len(part) + 1


def _oddities(line: _Line, start: int, place: str, separators: str) -> Iterator[Problem]:
    """Suspicious characters in the name of a place: separators, invisible ones, encoding."""
    for at, character in enumerate(place):
        if character in _FOREIGN and character not in separators:
            span = (start + at, start + at + 1)
            yield line.problem("APN303", span, character=_point(character))
            break
    if unseen := _UNSEEN.search(place):
        span = (start + unseen.start(), start + unseen.end())
        yield line.problem("APN304", span, character=_point(unseen[0]))
    if not is_normalized("NFC", place):
        yield line.problem("APN305", (start, start + len(place)))


def _point(character: str) -> str:
    return f"U+{ord(character):04X}"


@cache
def _name() -> re.Pattern[str]:
    """The pattern of the names of types, from the grammar."""
    terminals = {terminal.name: terminal.pattern for terminal in load("appen").terminals}
    return re.compile(terminals["TYPE"].to_regexp())


@cache
def _divider(separators: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(separators)}]" if separators else "(?!)")


def writable(label: str, place: str | None, separators: str = SEPARATORS) -> bool:
    r"""Whether a block can represent a type at a place.

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

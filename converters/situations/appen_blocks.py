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

from hlteval.converters.situations.types import NO_TYPE, NONE, QUOTES, names, type_hint
from hlteval.findings import Problem
from hlteval.findings.finding import INVISIBLE, code_point
from hlteval.findings.suggest import closest
from hlteval.grammars import load, matcher

SPACES = " \t\r\f\x0b"
#: The default separators of places: the comma, and the Ethiopic comma.
SEPARATORS = ",፣"

_RULES = {
    "TYPE": "type_line",
    "TIME": "time_line",
    "Resolution": "resolution_line",
    "PLACE": "place_line",
    "URGENCY": "urgency_line",
}
#: The keys in the order of a block; the last is optional.
KEYS = tuple(_RULES)

_SEPARATE = "separate types with a comma"
_REQUIRED = KEYS[1:4]
_BAD_VALUE = {"TIME": "APN202", "Resolution": "APN203", "URGENCY": "APN204"}
_VALUES = {
    "TIME": "Current, Future, Past Only or n/a",
    "Resolution": "Insufficient/Unknown, No_Known_Resolution, Sufficient or n/a",
    "URGENCY": "Urgent, Unknown, Not… or n/a",
}
#: The spaces before a key, and the key.
_FIELD = re.compile(r"(\s*)([A-Za-z][A-Za-z_ -]{0,20}?)[ \t]*:")
#: Characters that separate names in some script.
_FOREIGN = ",፣،、\uff0c;\uff1b؛"


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

    def matches(self, key: str) -> bool:
        """Whether the rule of its key accepts the line, but for how the key is written."""
        return bool(matcher("appen", _RULES[key]).fullmatch(f"{key}: {self.value}"))

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
        line = written.rstrip(SPACES)
        if not line:
            continue
        written_key, _, value = line.partition(":")
        field = _Line(record, line, len(line) - len(value.lstrip(" \t")))
        key = written_key if written_key in _RULES else _meant(field, problems)
        if key is None:
            continue
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


def _meant(line: _Line, problems: list[Problem]) -> str | None:
    """The key of a line that does not begin with one, if its value can be read; with its problem.

    A key with spaces before it is read, and a misspelt one too, except for TYPE: the lines after it
    would belong to another block if it were meant as something else.
    """
    found = _FIELD.match(line.text)
    if not found:
        problems.append(line.problem("APN101", (0, len(line.text))))
        return None
    if found[2] in KEYS and found[1]:
        problems.append(line.problem("APN107", found.span(1), key=found[2]))
        return found[2]
    meant = closest(found[2], KEYS)
    hint = f"did you mean {meant}:?" if meant else f"use {', '.join(KEYS[:-1])} or {KEYS[-1]}"
    span = (found.start(2), found.end())
    problems.append(line.problem("APN102", span, key=found[2], hint=hint))
    return meant if meant != "TYPE" else None


def _frames(block: Mapping[str, _Line], separators: str, problems: list[Problem]) -> list[Frame]:
    """The frames of a block: every type at every place, or with candidates if that is ambiguous."""
    head = block["TYPE"]
    problems.extend(
        head.problem("APN104", (0, len("TYPE")), key=key) for key in _REQUIRED if key not in block
    )
    problems.extend(_disorder(block))
    labels = _types(head, separators, problems)
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


def _types(line: _Line, separators: str, problems: list[Problem]) -> list[str]:
    """The types of a TYPE line: whole names are matched, longest first, never split at commas."""
    if line.matches("TYPE"):
        return list(dict.fromkeys(_name().findall(line.text, line.start)))
    if not line.value:
        problems.append(line.problem("APN207", (0, len(line.text))))
        return []
    labels: list[str] = []
    none: list[tuple[int, int]] = []
    for start, end, name in _items(line, separators):
        if name in NO_TYPE:
            none.append((start, end))
        elif _name().fullmatch(name):
            labels.append(name)
        else:
            hint = _character_hint(name) or type_hint(name, NO_TYPE, _SEPARATE)
            problems.append(line.problem("APN201", (start, end), label=name, hint=hint))
    if none and labels:
        start, end = none[0]
        problems.append(line.problem("APN205", none[0], given=line.text[start:end]))
    return list(dict.fromkeys(labels))


def _character_hint(part: str) -> str:
    """A hint for what has no letter or digit: it separates, quotes or is invisible; or empty."""
    if any(character.isalnum() for character in part):
        return ""
    if not part.strip():
        return f"remove the invisible character {code_point(part[0])}"
    if not part.strip(QUOTES):
        return "remove the quotation marks"
    return f"{_SEPARATE}, or list the separator with --place-separators"


def _items(line: _Line, separators: str) -> Iterator[tuple[int, int, str]]:
    """The names of a TYPE line that its rule rejects, in any case, and the text between them.

    A name is whole: neither a letter nor a digit is next to it, spaces aside.
    """
    at = line.start
    for known in _whole_name().finditer(line.text, line.start):
        yield from _unknown(line, at, known.start(), separators)
        yield known.start(), known.end(), known[0]
        at = known.end()
    yield from _unknown(line, at, len(line.text), separators)


def _unknown(line: _Line, start: int, end: int, separators: str) -> Iterator[tuple[int, int, str]]:
    """The parts between separators of a stretch of a TYPE line that are not empty."""
    at = start
    for part in place_divider(separators).split(line.text[start:end]):
        if name := part.strip(SPACES):
            begin = at + part.index(name)
            yield begin, begin + len(name), name
        at += len(part) + 1


def _value(line: _Line | None, key: str, problems: list[Problem]) -> str | None:
    """The value of a line; None if there is no known value."""
    if line is None:
        return None
    if line.matches(key):
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
    none = [(start, end) for start, end in spans if line.text[start:end].lower() == NONE]
    named = [span for span in spans if span[0] < span[1] and span not in none]
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
    for part in place_divider(separators).split(line.value):
        bare = part.strip(SPACES)
        start = at + (len(part) - len(part.lstrip(SPACES)) if bare else len(part))
        yield start, start + len(bare)
        at += len(part) + 1


def _oddities(line: _Line, start: int, place: str, separators: str) -> Iterator[Problem]:
    """Suspicious characters in the name of a place: separators, invisible ones, encoding."""
    for at, character in enumerate(place):
        if character in _FOREIGN and character not in separators:
            span = (start + at, start + at + 1)
            yield line.problem("APN303", span, character=code_point(character))
            break
    if unseen := re.search(INVISIBLE, place):
        span = (start + unseen.start(), start + unseen.end())
        yield line.problem("APN304", span, character=code_point(unseen[0]))
    if not is_normalized("NFC", place):
        yield line.problem("APN305", (start, start + len(place)))


@cache
def _name() -> re.Pattern[str]:
    """The pattern of the names of types, from the grammar."""
    terminals = {terminal.name: terminal.pattern for terminal in load("appen").terminals}
    return re.compile(terminals["TYPE"].to_regexp())


@cache
def _whole_name() -> re.Pattern[str]:
    """The pattern of whole names of types in any case, and of what means that there is none."""
    names = "|".join([_name().pattern, *map(re.escape, NO_TYPE)])
    return re.compile(rf"(?<![^\W_])(?<![^\W_] )(?:{names})(?!\s*[^\W_])", re.IGNORECASE)


@cache
def place_divider(separators: str) -> re.Pattern[str]:
    """The pattern of a separator of places."""
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
    bare = place.strip(SPACES)
    known = place.lower() not in {"", NONE}
    return bare == place and known and not (set(place) & set(separators + "\n"))


# The blocks of an annotation as the official script reads them: by position, not by key.
#
# Conventions:
#     The script splits lines at every character that Unicode counts as a line break. The three
#     lines after a TYPE line are TIME, Resolution and PLACE, whatever they are. A type counts
#     wherever its name occurs in the TYPE line. Only `n/a`, in these letters, is no place; a place
#     that occurs twice counts as two. A byte order mark hides a TYPE line in the first line.


#: Lines of a block.
_LINES = 4


class ScriptResult(NamedTuple):
    """The frames of a file, and the line of a block after which the file ends too early, if any."""

    frames: list[Frame]
    cut_off: int | None = None


def parse_by_position(text: str, separators: str) -> ScriptResult:
    r"""The frames of a file as the official script reads it.

    Args:
        text: the whole file, with its byte order mark.
        separators: the characters between places.

    Returns:
        The frames; a block of several types and several places gives its places as candidates. The
        script crashes at a TYPE line with fewer than three lines after it.

    Examples:
        >>> frames, _ = parse_by_position("TYPE: Shelter; Evacuation\n\n\nPLACE:Osh\n", ",")
        >>> [(frame.label, frame.place) for frame in frames]
        [('Evacuation', 'PLACE:Osh'), ('Shelter', 'PLACE:Osh')]
    """
    frames: list[Frame] = []
    lines = text.splitlines(keepends=True)
    at, record = 0, 1
    while at < len(lines):
        size = 1
        if lines[at].startswith("TYPE:"):
            block = [line.splitlines()[0] for line in lines[at : at + _LINES]]
            if len(block) < _LINES:
                return ScriptResult(frames, record)
            frames += _script_frames(block, record, separators)
            size = _LINES
        record += sum(line.count("\n") for line in lines[at : at + size])
        at += size
    return ScriptResult(frames)


def _script_frames(block: list[str], record: int, separators: str) -> list[Frame]:
    """The frames of four lines."""
    time, resolution = (
        None if value == NONE else value
        for value in (_script_value(block[1], "TIME"), _script_value(block[2], "Resolution"))
    )
    labels = [name for name in names() if name in block[0]]
    places = [
        part.strip() for part in place_divider(separators).split(_script_value(block[3], "PLACE"))
    ]
    places = [place for place in places if place != NONE]
    if len(labels) > 1 and len(places) > 1:
        every = tuple(places)
        return [Frame(record, label, None, time, resolution, None, every) for label in labels]
    return [
        Frame(record, label, place, time, resolution, None)
        for label in labels
        for place in (*places, *([] if places else [None]))
    ]


def _script_value(line: str, key: str) -> str:
    """A line without its key, if spaces follow the key; else the whole line."""
    return re.sub(rf"^{key}:\s+", "", line)

"""The blocks of one Appen annotation file: their frames, and their problems.

A block begins at its TYPE line; the lines of the other keys follow until the next TYPE line. The
rule of its key in grammars/appen.lark matches each line; rejected values are explained here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
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
#: The codes of unknown values, and the values, by key.
_VALUES = {
    "TIME": ("APN202", "Current, Future, Past Only or n/a"),
    "Resolution": ("APN203", "Insufficient/Unknown, No_Known_Resolution, Sufficient or n/a"),
    "URGENCY": ("APN204", "Urgent, Unknown, Not… or n/a"),
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


def frames_of(
    record: int, labels: Sequence[str], places: Sequence[str], *values: str | None
) -> list[Frame]:
    """The frames of a block: every type at every place, or with candidates if that is ambiguous.

    Args:
        record: the number of its first line.
        labels: its types.
        places: its places.
        values: its status, resolution and urgency.
    """
    status, resolution, urgent = values
    candidates = tuple(places) if len(labels) > 1 and len(places) > 1 else ()
    return [
        Frame(record, label, place, status, resolution, urgent, candidates)
        for label in labels
        for place in ([None] if candidates or not places else places)
    ]


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

    def parts(self, start: int, end: int, separators: str) -> Iterator[tuple[int, int]]:
        """The parts of a stretch between separators, without spaces around them; some are empty."""
        for part in place_divider(separators).split(self.text[start:end]):
            bare = part.strip(SPACES)
            begin = start + (len(part) - len(part.lstrip(SPACES)) if bare else len(part))
            yield begin, begin + len(bare)
            start += len(part) + 1


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
    return _Parser(separators).parse(text)


class _Parser:
    """The frames and the problems of a file."""

    def __init__(self, separators: str) -> None:
        self.separators = separators
        self.problems: list[Problem] = []

    def report(
        self, code: str, line: _Line, span: tuple[int, int] | None = None, **values: object
    ) -> None:
        """Add a problem at a span of a line, by default its value."""
        start, end = span or (line.start, len(line.text))
        self.problems.append(Problem(code, line.record, start, end, values))

    def parse(self, text: str) -> tuple[list[Frame], list[Problem]]:
        """Read all blocks; see `parse`."""
        frames: list[Frame] = []
        seen: dict[tuple[str, str | None], int] = {}
        for block in self._blocks(text):
            own = self._frames(block)
            again = [seen[key] for frame in own if (key := (frame.label, frame.place)) in seen]
            if again:
                self.report("APN307", block["TYPE"], first=again[0])
            seen.update({(frame.label, frame.place): frame.record for frame in own})
            frames += own
        return frames, sorted(self.problems, key=lambda problem: problem[:3])

    def _blocks(self, text: str) -> Iterator[dict[str, _Line]]:
        """The blocks, each as its lines by key; problems of single lines are reported."""
        block: dict[str, _Line] = {}
        for record, written in enumerate(text.split("\n"), start=1):
            line = written.rstrip(SPACES)
            if not line:
                continue
            written_key, _, value = line.partition(":")
            field = _Line(record, line, len(line) - len(value.lstrip(" \t")))
            key = written_key if written_key in _RULES else self._meant_key(field)
            if key == "TYPE":
                if block:
                    yield block
                block = {key: field}
            elif key and not block:
                self.report("APN103", field, (0, len(key)), key=key)
            elif key in block:
                self.report("APN105", field, (0, len(key)), key=key, first=block[key].record)
            elif key:
                block[key] = field
        if block:
            yield block

    def _meant_key(self, line: _Line) -> str:
        """The key of a line that does not begin with one; empty if its value cannot be read.

        A key with spaces before it is read, and a misspelt one too, except for TYPE: the lines
        after it would belong to another block if it were meant as something else.
        """
        field = _FIELD.match(line.text)
        if not field:
            self.report("APN101", line, (0, len(line.text)))
            return ""
        if field[2] in KEYS and field[1]:
            self.report("APN107", line, field.span(1), key=field[2])
            return field[2]
        meant = closest(field[2], KEYS)
        hint = f"did you mean {meant}:?" if meant else f"use {', '.join(KEYS[:-1])} or {KEYS[-1]}"
        self.report("APN102", line, (field.start(2), field.end()), key=field[2], hint=hint)
        return meant if meant and meant != "TYPE" else ""

    def _frames(self, block: Mapping[str, _Line]) -> list[Frame]:
        """The frames of a block."""
        head = block["TYPE"]
        for key in _REQUIRED:
            if key not in block:
                self.report("APN104", head, (0, len("TYPE")), key=key)
        # the first line before a line that should precede it
        for key, follower in pairwise(block):
            if KEYS.index(key) > KEYS.index(follower):
                self.report("APN106", block[key], (0, len(key)), key=key, follower=follower)
                break
        labels = self._types(head)
        values = {key: self._value(block.get(key), key) for key in _VALUES}
        places = self._places(block["PLACE"]) if "PLACE" in block else []
        for key, other in (("TIME", "Resolution"), ("Resolution", "TIME")):
            is_half = values[key] is None and values[other] is not None
            if labels and is_half and key in block and block[key].value == NONE:
                self.report("APN206", block[key], key=key)
        if len(labels) > 1 and len(places) > 1:
            self.report("APN306", head, types=len(labels), places=len(places))
        return frames_of(head.record, labels, places, *values.values())

    def _types(self, line: _Line) -> list[str]:
        """The types of a TYPE line: whole names are matched, longest first, never split at commas.

        In a line that its rule rejects, names are known in any case; a name is whole if neither a
        letter nor a digit is next to it, spaces aside.
        """
        if line.matches("TYPE"):
            return list(dict.fromkeys(_name().findall(line.text, line.start)))
        if not line.value:
            self.report("APN207", line, (0, len(line.text)))
            return []
        spans, begin = list[tuple[int, int]](), line.start
        for known in _whole_name().finditer(line.text, line.start):
            spans += [*line.parts(begin, known.start(), self.separators), known.span()]
            begin = known.end()
        spans += line.parts(begin, len(line.text), self.separators)
        labels: list[str] = []
        none: list[tuple[int, int]] = []
        for start, end in spans:
            name = line.text[start:end]
            if name in NO_TYPE:
                none.append((start, end))
            elif _name().fullmatch(name):
                labels.append(name)
            elif name:
                hint = _character_hint(name) or type_hint(name, NO_TYPE, _SEPARATE)
                self.report("APN201", line, (start, end), label=name, hint=hint)
        if none and labels:
            self.report("APN205", line, none[0], given=line.text[slice(*none[0])])
        return list(dict.fromkeys(labels))

    def _value(self, line: _Line | None, key: str) -> str | None:
        """The value of a line; None if there is no known value."""
        if line is None:
            return None
        if line.matches(key):
            return None if line.value == NONE else line.value
        code, values = _VALUES[key]
        span = None if line.value else (0, len(line.text))
        self.report(code, line, span, given=line.value or "(empty)", values=values)
        return None

    def _places(self, line: _Line) -> list[str]:
        """The places of a PLACE line without duplicates, n/a and empty ones."""
        spans = list(line.parts(line.start, len(line.text), self.separators))
        none = [(start, end) for start, end in spans if line.text[start:end].lower() == NONE]
        named = [span for span in spans if span[0] < span[1] and span not in none]
        if not line.value:
            self.report("APN301", line, (0, len(line.text)))
        elif empty := [span for span in spans if span[0] == span[1]]:
            start = min(empty[0][0], len(line.text) - 1)
            self.report("APN301", line, (start, start + 1))
        if named and none:
            self.report("APN302", line, none[0])
        for start, end in named:
            place = line.text[start:end]
            if not (place.isascii() and place.isprintable() and ";" not in place):
                self._report_characters(line, start, place)
        return list(dict.fromkeys(line.text[start:end] for start, end in named))

    def _report_characters(self, line: _Line, start: int, place: str) -> None:
        """Report suspicious characters of a place: separators, invisible ones, encoding."""
        foreign = (c for c in place if c in _FOREIGN and c not in self.separators)
        unseen = re.search(INVISIBLE, place)
        for code, character in (("APN303", next(foreign, "")), ("APN304", unseen and unseen[0])):
            if character:
                begin = start + place.index(character)
                span = (begin, begin + len(character))
                self.report(code, line, span, character=code_point(character))
        if not is_normalized("NFC", place):
            self.report("APN305", line, (start, start + len(place)))


def _character_hint(part: str) -> str:
    """A hint for what has no letter or digit: it separates, quotes or is invisible; or empty."""
    if any(character.isalnum() for character in part):
        return ""
    if not part.strip():
        return f"remove the invisible character {code_point(part[0])}"
    if not part.strip(QUOTES):
        return "remove the quotation marks"
    return f"{_SEPARATE}, or list the separator with --place-separators"


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


def parse_by_position(text: str, separators: str) -> tuple[list[Frame], int | None]:
    r"""The frames of a file as the official script reads it.

    Args:
        text: the whole file, with its byte order mark.
        separators: the characters between places.

    Returns:
        The frames; a block of several types and several places gives its places as candidates. And
        the line of a block after which the file ends too early, if any: the script crashes at a
        TYPE line with fewer than three lines after it.

    Examples:
        >>> frames, _ = parse_by_position("TYPE: Shelter; Evacuation\n\n\nPLACE:Osh\n", ",")
        >>> [(frame.label, frame.place) for frame in frames]
        [('Evacuation', 'PLACE:Osh'), ('Shelter', 'PLACE:Osh')]
    """
    frames: list[Frame] = []
    lines = text.splitlines(keepends=True)
    first, record = 0, 1
    while first < len(lines):
        size = 1
        if lines[first].startswith("TYPE:"):
            size = len(KEYS[:4])
            block = [line.splitlines()[0] for line in lines[first : first + size]]
            if len(block) < size:
                return frames, record
            # a line without its key, if spaces follow the key; else the whole line
            status, resolution, places = (
                re.sub(rf"^{key}:\s+", "", line)
                for key, line in zip(_REQUIRED, block[1:], strict=True)
            )
            parts = (part.strip() for part in place_divider(separators).split(places))
            labels = [name for name in names() if name in block[0]]
            values = (None if value == NONE else value for value in (status, resolution))
            known = [place for place in parts if place != NONE]
            frames += frames_of(record, labels, known, *values, None)
        record += sum(line.count("\n") for line in lines[first : first + size])
        first += size
    return frames, None

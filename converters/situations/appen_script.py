"""The blocks of an annotation as the official script reads them: by position, not by key.

Conventions:
    The script splits lines at every character that Unicode counts as a line break. The three lines
    after a TYPE line are TIME, Resolution and PLACE, whatever they are. A type counts wherever its
    name occurs in the TYPE line. Only `n/a`, in these letters, is no place; a place that occurs
    twice counts as two. A byte order mark hides a TYPE line in the first line.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hlteval.converters.situations.appen_blocks import Frame, place_divider
from hlteval.converters.situations.types import NONE, names

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
            frames += _frames(block, record, separators)
            size = _LINES
        record += sum(line.count("\n") for line in lines[at : at + size])
        at += size
    return ScriptResult(frames)


def _frames(block: list[str], record: int, separators: str) -> list[Frame]:
    """The frames of four lines."""
    time, resolution = (
        None if value == NONE else value
        for value in (_value(block[1], "TIME"), _value(block[2], "Resolution"))
    )
    labels = [name for name in names() if name in block[0]]
    places = [part.strip() for part in place_divider(separators).split(_value(block[3], "PLACE"))]
    places = [place for place in places if place != NONE]
    if len(labels) > 1 and len(places) > 1:
        every = tuple(places)
        return [Frame(record, label, None, time, resolution, None, every) for label in labels]
    return [
        Frame(record, label, place, time, resolution, None)
        for label in labels
        for place in (*places, *([] if places else [None]))
    ]


def _value(line: str, key: str) -> str:
    """A line without its key, if spaces follow the key; else the whole line."""
    return re.sub(rf"^{key}:\s+", "", line)

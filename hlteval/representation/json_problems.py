"""Lines of JSON that cannot be decoded: the message and the column of the problem."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

import msgspec

Path = tuple[str | int, ...]
"""The path of a value: names of members, indices of items."""

_SPACE = re.compile(r"[ \t\n\r]*")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_UNKNOWN = re.compile("Object contains unknown field `(.*)`", re.DOTALL)
_MALFORMED = re.compile(r"JSON is malformed: (.*) \(byte (\d+)\)")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
DEPTH = 100
"""Levels of a line that is called too deep; no row has more than five."""
_LONE_SURROGATE = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F])"
)


def problem(line: bytes, error: ValueError | RecursionError) -> tuple[str, int]:
    """The message and the column of a problem for which msgspec rejects a line.

    Args:
        line: the bytes of the line.
        error: the exception of msgspec.

    Returns:
        A message, and a column: 1-based, in code points.

    Examples:
        >>> try:
        ...     msgspec.json.decode(b'["a", 2]', type=list[str])
        ... except ValueError as error:
        ...     problem(b'["a", 2]', error)
        ('Expected `str`, got `int`', 7)
    """
    try:
        text = line.decode()
    except UnicodeDecodeError as bad:
        return f"byte {line[bad.start]:#04x} is not UTF-8", len(line[: bad.start].decode()) + 1
    if isinstance(error, RecursionError):
        return f"nested deeper than {DEPTH} levels", _depth_column(text)
    if isinstance(error, msgspec.ValidationError):
        return _invalid(text, str(error))
    return _malformed(line, text, str(error))


def _malformed(line: bytes, text: str, message: str) -> tuple[str, int]:
    """A line that is not JSON: msgspec counts bytes, and does not name a surrogate as the cause."""
    if not text.strip():
        return "line is empty", 1
    if (match := _MALFORMED.fullmatch(message)) and "surrogate" not in match[1]:
        index = int(match[2]) - (match[1] == "trailing characters")  # msgspec is one past these
        before = line[:index].decode(errors="ignore")  # it may stop inside a character
        return f"invalid JSON: {match[1]}", len(before) + 1
    for match in _LONE_SURROGATE.finditer(text):
        if match[1]:
            return "unpaired surrogate", match.start() + 1
    return "invalid JSON: unexpected end of line", len(text.rstrip()) + 1


def _invalid(text: str, message: str) -> tuple[str, int]:
    """A line of JSON that is not a row."""
    what, _, way = message.partition(" - at `$")
    path: Path = tuple(name or int(index) for name, index in _STEP.findall(way))
    if unknown := _UNKNOWN.fullmatch(what):
        return f"unknown column {unknown[1]!r}", column_of(text, (*path, unknown[1]))
    if path == ("table",):
        what = "unknown table"
    return what, column_of(text, path)


def _depth_column(text: str) -> int:
    """The column of the first array or object that is nested too deeply; 1 if there is none."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth > DEPTH:
            return token.start() + 1
    return 1


def column_of(text: str, path: Path) -> int:
    """The column of a value in a line of JSON that is well formed up to there.

    If a value before it is nested too deeply, the column of that nesting.

    Examples:
        >>> column_of('{"a": [1, {"b": 2}]}', ("a", 1, "b"))
        17
    """
    index = _skip(text, 0)
    try:
        for step in path:
            if isinstance(step, int):
                index = _item(text, index, step)
            else:
                index = _member(text, index, step)
    except RecursionError:
        return _depth_column(text)
    return index + 1


def member_columns(text: str, names: Collection[str]) -> dict[str, int]:
    """The column of the value of some members of an object in a line, found in one pass.

    Args:
        text: the line.
        names: of members that the object has. Where one is nested too deeply, those that are not
            before it have the column of that nesting.

    Examples:
        >>> member_columns('{"a": 1, "b": 2, "c": 3}', ["b", "c"])
        {'b': 15, 'c': 23}
    """
    found: dict[str, int] = {}
    wanted = set(names)
    try:
        for name, index in _members(text, _skip(text, 0)):
            if name in wanted:
                wanted.remove(name)
                found[name] = index + 1
    except RecursionError:
        return dict.fromkeys(names, _depth_column(text)) | found
    return found


def _member(text: str, index: int, name: str) -> int:
    """The index of the value of a member of the object at an index; that object if it has none."""
    return next((value for key, value in _members(text, index) if key == name), index)


def _members(text: str, index: int) -> Iterator[tuple[object, int]]:
    """The members of the object at an index: the name of each, and the index of its value."""
    while text[index] != "}":
        key, index = _value(text, _skip(text, index + 1))
        value = _skip(text, _skip(text, index) + 1)
        yield key, value
        index = _skip(text, _value(text, value)[1])


def _item(text: str, index: int, number: int) -> int:
    """The index of an item of the array at an index."""
    for _ in range(number):
        index = _skip(text, _value(text, _skip(text, index + 1))[1])
    return _skip(text, index + 1)


def _value(text: str, index: int) -> tuple[object, int]:
    return json.JSONDecoder().raw_decode(text, index)


def _skip(text: str, index: int) -> int:
    """The first index from here on that is not white space."""
    match = _SPACE.match(text, index)
    return match.end() if match else index

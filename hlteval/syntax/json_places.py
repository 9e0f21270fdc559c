"""Places in a JSON text: paths as people write them, and the offsets of values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.scanner import c_make_scanner  # type: ignore[attr-defined]
from typing import Any

from hlteval.syntax.json_parser import Path, parse

_SCAN: Callable[[str, int], tuple[Any, int]] = c_make_scanner(json.JSONDecoder())
_SPACE = re.compile(r"[ \t\r\n]*")
Stretch = tuple[int, int]
"""Start and end of a value."""


def shown(path: Path) -> str:
    """A path as people write it.

    Examples:
        >>> shown((3, "Status", "Need"))
        '$[3].Status.Need'
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "$" + "".join(steps)


class Layout:
    """The places of the parts of a value, each found when it is asked for.

    Args:
        text: the whole text.
        start: where the value begins.

    Examples:
        >>> layout = Layout('{"a": [1, 23]}', 0)
        >>> layout.place(("a", 1)), layout.place(("a",)), layout.place(("b",))
        ((10, 12), (6, 7), (0, 1))
    """

    def __init__(self, text: str, start: int) -> None:
        self.text, self.start = text, start
        self._parts: dict[Path, Mapping[str | int, Stretch]] = {}
        self._parsed: Mapping[Path, Stretch] | None = None

    def place(self, path: Path) -> Stretch:
        """Start and end of a part; of an object, an array or what is not there, one character."""
        start, end = self.stretch(path) or (self.start, self.start + 1)
        container = not path or self.text[start : start + 1] in {"{", "["}
        return (start, start + 1) if container else (start, end)

    def stretch(self, path: Path) -> Stretch | None:
        """Start and end of a part with all that is in it; None if there is no such part."""
        if self._parsed is None:
            try:
                return self._found(path)
            except (ValueError, StopIteration, RecursionError):  # not valid JSON
                self._parsed = parse(self.text, self.start).values
        return self._parsed.get(path)

    def _found(self, path: Path) -> Stretch | None:
        if not path:
            return self.start, _SCAN(self.text, self.start)[1]
        whole = path[:-1]
        if whole not in self._parts:
            outer = self._found(whole) if whole else (self.start, self.start)
            self._parts[whole] = dict(_parts(self.text, outer[0])) if outer else {}
        return self._parts[whole].get(path[-1])


def _parts(text: str, at: int) -> Iterator[tuple[str | int, Stretch]]:
    """The parts of the object or array at an offset, with their names or numbers.

    Raises:
        ValueError: if it is not valid JSON; as is StopIteration.
    """
    closing = {"{": "}", "[": "]"}.get(text[at : at + 1])
    if closing is None:
        return
    at, number = _after_space(text, at + 1), 0
    while text[at : at + 1] != closing:
        name: str | int = number
        if closing == "}":
            name, at = _name(text, at)
        _, end = _SCAN(text, at)
        yield name, (at, end)
        number, at = number + 1, _after_space(text, end)
        if text[at : at + 1] == ",":
            at = _after_space(text, at + 1)
        elif text[at : at + 1] != closing:
            raise ValueError


def _name(text: str, at: int) -> tuple[str, int]:
    """The name of a member, and where its value begins."""
    if text[at : at + 1] != '"':
        raise ValueError
    name, at = scanstring(text, at + 1, True)
    at = _after_space(text, at)
    if text[at : at + 1] != ":":
        raise ValueError
    return name, _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at

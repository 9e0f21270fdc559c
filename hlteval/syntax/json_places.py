"""Places in a JSON text: paths as people write them, and the offsets of values."""

from __future__ import annotations

from hlteval.syntax.json_parser import Parsed, Path


def shown(path: Path) -> str:
    """A path as people write it.

    Examples:
        >>> shown((3, "Status", "Need"))
        '$[3].Status.Need'
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "$" + "".join(steps)


def place_of(text: str, parsed: Parsed, path: Path) -> tuple[int, int]:
    """Start and end of a part of an item; of an object or array, only of its first character.

    Examples:
        >>> from hlteval.syntax.json_parser import parse
        >>> text = '{"a": [1, 23]}'
        >>> place_of(text, parse(text), ("a", 1)), place_of(text, parse(text), ("a",))
        ((10, 12), (6, 7))
    """
    start, end = parsed.values.get(path, (parsed.start, parsed.start + 1))
    container = not path or text[start : start + 1] in {"{", "["}
    return (start, start + 1) if container else (start, end)

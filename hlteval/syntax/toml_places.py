"""Places of the keys and values of a TOML document, which `tomllib` does not tell.

`tomllib` reads; only a document about which there is something to report is parsed again, with the
grammar of its keys and values, for their lines and columns.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hlteval.grammars import load
from hlteval.syntax.json_parser import Path

if TYPE_CHECKING:
    from lark import Token, Tree


class Extent(NamedTuple):
    """Where something is in a text: the offsets of its first character, and after its last."""

    start: int
    end: int


class Located(NamedTuple):
    """Where a key and its value are; a table has the place of its header, or of its first key."""

    key: Extent
    value: Extent


def located(text: str) -> Mapping[Path, Located]:
    r"""Where all keys and values of a valid TOML document are, by their paths.

    Args:
        text: the document, which `tomllib` accepts.

    Examples:
        >>> found = located("[a.b]\nc = [1, 22]\n[[d]]\n[[d]]\ne = 'x'\n")
        >>> found["a", "b", "c"].key, found["a", "b", "c", 1].value
        (Extent(start=6, end=7), Extent(start=14, end=16))
        >>> sorted(path for path in found if path[0] == "d")
        [('d',), ('d', 0), ('d', 1), ('d', 1, 'e')]
    """
    found: dict[Path, Located] = {}
    tables: Counter[Path] = Counter()
    at: Path = ()
    parts: list[Any] = load("toml").parse(text).children
    for part in filter(None, parts):
        if part.data == "pair":
            _keep(found, _pairs(at, part))
            continue
        key = part.children[0]
        at = _inside(_names(key), tables)
        extent = _extent(key)
        _keep(found, ((at[:size], Located(extent, extent)) for size in range(1, len(at) + 1)))
        if part.data == "table_array":
            at = (*at, tables[at])
            tables[at[:-1]] += 1
            found[at] = Located(extent, extent)
    return found


def _keep(found: dict[Path, Located], places: Iterator[tuple[Path, Located]]) -> None:
    """Add places; the first one of a table stays."""
    for path, place in places:
        found.setdefault(path, place)


def _inside(names: Path, tables: Counter[Path]) -> Path:
    """The path of a table, in the last element of each array of tables on the way."""
    path: Path = ()
    for name in names[:-1]:
        path = (*path, name)
        path = (*path, tables[path] - 1) if path in tables else path
    return (*path, *names[-1:])


def _pairs(at: Path, pair: Tree[Token]) -> Iterator[tuple[Path, Located]]:
    """The place of a key, of the tables that it names, and of all that is in its value."""
    parts: list[Any] = pair.children
    key, value = parts
    path = (*at, *_names(key))
    place = Located(_extent(key), _extent(value))
    yield path, place
    yield from ((path[:size], place) for size in range(len(at) + 1, len(path)))
    yield from _values(path, value)


def _values(path: Path, value: Any) -> Iterator[tuple[Path, Located]]:
    """The places of all that is in an array or an inline table."""
    kind = getattr(value, "data", "")
    items = [item for item in getattr(value, "children", ()) if item is not None]
    for index, item in enumerate(items):
        if kind == "inline_table":
            yield from _pairs(path, item)
        else:
            yield (*path, index), Located(_extent(item), _extent(item))
            yield from _values((*path, index), item)


def _names(key: Tree[Token]) -> Path:
    """The names of a dotted key."""
    return tuple(_name(str(part)) for part in key.children)


def _name(written: str) -> str:
    if not written.startswith(("'", '"')):
        return written
    return str(tomllib.loads(f"name = {written}")["name"])


def _extent(part: Any) -> Extent:
    """The extent of a token or a tree."""
    meta = getattr(part, "meta", part)
    return Extent(meta.start_pos, meta.end_pos)

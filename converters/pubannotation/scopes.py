"""What a document of PubAnnotation consists of: its own annotations and those of its tracks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from hlteval.syntax.json_parser import Path

SECTIONS = ("denotations", "blocks", "relations", "attributes", "modifications")


class Scope(NamedTuple):
    """The annotations of a document, or of one of its tracks.

    Attributes:
        path: the way to them.
        prefix: what identifiers begin with in the tables, so that tracks do not meet.
        said: sections by name.
    """

    path: Path
    prefix: str
    said: Mapping[str, Any]

    def items(self, section: str) -> Iterator[tuple[Path, Any]]:
        """The items of a section, each with the way to it."""
        listed = self.said.get(section)
        if isinstance(listed, list):
            for at, one in enumerate(listed):
                yield (*self.path, section, at), one

    def name(self, given: Any) -> str | None:
        """An identifier as it is in the tables; None where there is none."""
        if given is None:
            return self.prefix or None
        return f"{self.prefix}{given}"


def compact(value: Any) -> str:
    """A value as JSON.

    Examples:
        >>> compact({"a": ["é", 1.5]})
        '{"a": ["é", 1.5]}'
    """
    return _encoder().encode(value)


@cache
def _encoder() -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=False)


def scopes(document: Mapping[str, Any]) -> Iterator[Scope]:
    """The annotations of a document, and those of each of its tracks."""
    yield Scope((), "", document)
    tracks = document.get("tracks")
    for at, track in enumerate(tracks if isinstance(tracks, list) else ()):
        if isinstance(track, dict):
            yield Scope(("tracks", at), f"{at + 1}:", track)


def records(document: Mapping[str, Any]) -> Iterator[Path]:
    """The way to each record of a document in order: itself, its items, tracks and theirs."""
    for scope in scopes(document):
        yield scope.path
        for section in SECTIONS:
            yield from (path for path, _ in scope.items(section))


def title(document: Mapping[str, Any], stem: str) -> str:
    """What a document is called: by its source, its number there, and its part, as far as told.

    Examples:
        >>> title({"sourcedb": "PMC", "sourceid": "1134658", "divid": 0}, "file")
        'PMC-1134658-0'
    """
    parts = [document.get(name) for name in ("sourcedb", "sourceid", "divid")]
    if not isinstance(parts[1], str | int) or parts[1] == "":
        return stem
    return "-".join(str(one) for one in parts if isinstance(one, str | int) and one != "")

"""Several inputs of a function, each with a name of its own."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping

from hlteval.sources import open_source
from hlteval.sources.frames import is_frame
from hlteval.sources.inputs import Input, WrongArgument, as_path
from hlteval.sources.open_input import OpenInput


def system_paths(systems: Iterable[Input] | Mapping[str, Input], table: str) -> list[str]:
    """The submissions of a comparison, each with a name of its own.

    Raises:
        TypeError: for a single submission, or names that are not text.
        WrongArgument: if there are none.
    """
    single = isinstance(systems, str | os.PathLike) or hasattr(systems, "read")
    if single or is_frame(systems) or not isinstance(systems, Iterable):
        kind = type(systems).__name__
        raise TypeError(f"systems: expected a list or a mapping of submissions, got {kind}")
    if isinstance(systems, Mapping):
        paths = [_renamed(name, as_path("systems", s, table=table)) for name, s in systems.items()]
    else:
        paths = with_distinct_names([as_path("systems", system, table=table) for system in systems])
    if not paths:
        raise WrongArgument("systems: expected at least one submission, got none")
    return paths


def with_distinct_names(paths: list[str]) -> list[str]:
    """Inputs with names that differ where they are not paths: `<corpus>`, `<corpus> 2`."""
    count: Counter[str] = Counter()
    named = []
    for path in paths:
        count[path] += 1
        several = isinstance(path, OpenInput) and count[path] > 1
        named.append(_renamed(f"{path} {count[path]}", path) if several else path)
    return named


def _renamed(name: object, path: str) -> str:
    """A submission under the name that it has in a mapping."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"systems: expected names as text, got {name!r}")
    return OpenInput(open_source(path), name=name)

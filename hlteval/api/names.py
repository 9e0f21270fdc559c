"""Several inputs of a function, each with a name of its own."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping

from hlteval.findings import finding
from hlteval.sources import Source, open_source
from hlteval.sources.frames import is_frame
from hlteval.sources.inputs import Input, WrongArgument, as_path
from hlteval.sources.open_input import OpenInput


def system_paths(
    systems: Iterable[Input] | Mapping[str, Input],
    table: str,
    *,
    existing: bool = True,
    argument: str = "systems",
) -> list[str]:
    """The submissions of a comparison, or other inputs, each with a name of its own.

    Args:
        systems: the submissions.
        table: the table that a single data frame is.
        existing: whether all paths must exist; paths that do not are kept otherwise.
        argument: the name of the argument, for messages.

    Raises:
        TypeError: for a single submission, or names that are not text.
        WrongArgument: if there are none.
    """
    single = isinstance(systems, str | os.PathLike) or hasattr(systems, "read")
    if single or is_frame(systems) or not isinstance(systems, Iterable):
        kind = type(systems).__name__
        what = "submissions" if argument == "systems" else argument
        raise TypeError(f"{argument}: expected a list or a mapping of {what}, got {kind}")
    if isinstance(systems, Mapping):
        named = (
            (name, _path(argument, system, table, existing)) for name, system in systems.items()
        )
        paths = [_renamed(name, path) for name, path in named]
    else:
        paths = with_distinct_names([_path(argument, s, table, existing) for s in systems])
    if not paths:
        what = "submission" if argument == "systems" else "annotation"
        raise WrongArgument(f"{argument}: expected at least one {what}, got none")
    return paths


def _path(argument: str, system: Input, table: str, existing: bool) -> str:
    try:
        return as_path(argument, system, table=table)
    except FileNotFoundError as reason:
        if existing:
            raise
        return str(reason.filename)


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
    try:
        source = open_source(path)
    except FileNotFoundError:
        source = Source(path, "file", (), findings=(finding("LDB201", file=path),))
    return OpenInput(source, name=name)

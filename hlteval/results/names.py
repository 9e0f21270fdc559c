"""Names of systems: short, and different for each, from the paths of their submissions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import PurePath

from hlteval.sources.names import as_text
from hlteval.sources.open_input import OpenInput

_SUFFIX = re.compile(
    r"(?<=[^/])(\.tar\.gz|\.tgz|\.zip|\.gz|\.jsonl?|(\.ltf|\.laf|\.mteval|\.bioc)?\.xml"
    r"|(\.index|\.issues|\.needs)?\.tab|(\.rsd)?\.txt|\.tsv|\.csv|\.tpl|\.sgml?|\.ann|\.a[12]"
    r"|\.frames|\.appen|\.muc|\.neleval|\.rttm|\.parquet)$"
)
"""The suffixes of submissions; nothing is left out of names such as `system-1.0` or `run.final`."""


def short_names(paths: Iterable[str]) -> dict[str, str]:
    """A short name for each path, such as that of a submission; no two have the same.

    It is the shortest end of the path that no other has. Suffixes are left out, unless paths differ
    in nothing else. Paths that mean the same place are numbered. Inputs that are not paths, such as
    those to which a user has given names, keep these.

    Args:
        paths: the paths; repeated ones count once.

    Returns:
        The names by path, in the order of the paths.

    Examples:
        >>> short_names(["runs/a.json", "runs/b.json"])
        {'runs/a.json': 'a', 'runs/b.json': 'b'}
        >>> short_names(["a/system.json", "b/system.json", "b/system.tgz"])["a/system.json"]
        'a/system.json'
    """
    listed = list(dict.fromkeys(paths))
    whole = [_parts(path) for path in listed]
    stems = [_parts(path, without_suffix=True) for path in listed]
    ends = _ends(stems if len(set(stems)) == len(set(whole)) else whole)
    return dict(zip(listed, _numbered([*map(as_text, ends)]), strict=True))


def _parts(path: str, *, without_suffix: bool = False) -> tuple[str, ...]:
    """The parts of a path; a name that is not a path has one."""
    if isinstance(path, OpenInput):
        return (str(path),)
    parts = PurePath(path).parts or (".",)
    return (*parts[:-1], _SUFFIX.sub("", parts[-1])) if without_suffix else parts


def _ends(paths: Sequence[tuple[str, ...]]) -> list[str]:
    """The shortest end of each path that is not the end of another."""
    shared = Counter(path[-size:] for path in set(paths) for size in range(1, len(path) + 1))
    found = (
        next((path[-size:] for size in range(1, len(path)) if shared[path[-size:]] == 1), path)
        for path in paths
    )
    return [end[0] + "/".join(end[1:]) if end[0] == "/" else "/".join(end) for end in found]


def _numbered(names: Sequence[str]) -> list[str]:
    """Names of which those that are there already get a number."""
    taken, numbered = set(names), []
    for at, name in enumerate(names):
        new = name
        if name in names[:at]:
            new = next(other for n in count(2) if (other := f"{name} {n}") not in taken)
        taken.add(new)
        numbered.append(new)
    return numbered

"""Names of documents: why those of two sides may have nothing in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from hlteval.findings.suggest import closest_files

#: Names of each side that are compared.
_SAMPLE = 50


def mismatch(reference: Sequence[str], system: Sequence[str]) -> str:
    """The likely reason why no name is on both sides, as the fix.

    Args:
        reference: the names of one side.
        system: those of the other side, which are to be changed.

    Examples:
        >>> mismatch(["d1", "d2"], ["D1", "D2"])
        'write the names in the case of the reference: d1, not D1'
        >>> mismatch(["d1", "d2"], ["d1.ltf", "d2.ltf"])
        'remove .ltf from the end of the names: d1, not d1.ltf'
        >>> mismatch(["d1", "d2"], ["test/d1", "test/d2"])
        'remove test/ from the beginning of the names: d1, not test/d1'
        >>> mismatch(["d1"], ["x9"])
        'check that both are of the same data'
    """
    for key, hint in _SPELLINGS:
        keys = {key(name): name for name in reversed(reference)}
        if meant := next((n for n in system if key(n) in keys), None):
            return f"{hint}: {keys[key(meant)]}, not {meant}"
    parts = Counter(_parts(reference[:_SAMPLE], system[:_SAMPLE]))
    for (fix, part), count in parts.most_common(1):
        if 2 * count >= min(len(reference), len(system), _SAMPLE):
            return _example(fix, part, reference, system)
    similar = closest_files(system, reference)
    examples = [f"did you mean {ours}, not {theirs}?" for theirs, ours in similar.items()]
    return examples[0] if examples else "check that both are of the same data"


_SPELLINGS: tuple[tuple[Callable[[str], str], str], ...] = (
    (str.casefold, "write the names in the case of the reference"),
    (
        lambda name: re.sub(r"[\W_]+", "", name.casefold()) or name,
        "write the names with the punctuation of the reference",
    ),
)


def _parts(reference: Sequence[str], system: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What one name has more than a name of the other side, as the fix and the part."""
    for ours in reference:
        for theirs in system:
            longer, shorter = (theirs, ours) if len(theirs) > len(ours) else (ours, theirs)
            verb = "remove {} from" if longer == theirs else "add {} to"
            if shorter and longer.startswith(shorter):
                yield f"{verb} the end of the names", longer[len(shorter) :]
            if shorter and longer.endswith(shorter):
                yield f"{verb} the beginning of the names", longer[: -len(shorter)]


def _example(fix: str, part: str, reference: Sequence[str], system: Sequence[str]) -> str:
    """The fix with the first pair of names that it makes equal."""
    begins = "beginning" in fix
    for ours in reference:
        for theirs in system:
            longer, shorter = (theirs, ours) if "remove" in fix else (ours, theirs)
            if longer == (part + shorter if begins else shorter + part):
                return f"{fix.format(part)}: {ours}, not {theirs}"
    return fix.format(part)

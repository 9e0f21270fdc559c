"""What name may have been meant: suggestions for names that are not known."""

from __future__ import annotations

from collections.abc import Sequence

_MOST = 100
"""Names that are looked for letter by letter; where more are strange, there is another cause."""


def near(strange: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """For names of documents that are not known, the known one that is nearly the same, if any.

    Names are nearly the same if they differ in folder, suffix or case, or else in one letter.

    Examples:
        >>> near(["out/d1.txt", "D22", "x"], ["D1", "D23"])
        {'out/d1.txt': 'D1', 'D22': 'D23'}
    """
    from rapidfuzz import process
    from rapidfuzz.distance import DamerauLevenshtein

    stems = {name.lower(): name for name in known}
    found = {}
    for name in strange:
        stem = name.rpartition("/")[2].partition(".")[0].lower()
        meant = stems.get(stem) or stems.get(name.lower())
        if meant is None and len(strange) <= _MOST:
            best = process.extractOne(
                name, known, scorer=DamerauLevenshtein.distance, score_cutoff=1
            )
            meant = best[0] if best else None
        if meant is not None:
            found[name] = meant
    return found

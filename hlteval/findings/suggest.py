"""Suggestions ("did you mean …?") for unknown identifiers, labels, options and file names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

_SEPARATOR = re.compile(", (?:or )?| or | and ")
#: Maximum number of unknown names to compare; more of them have another cause.
_MOST = 100
#: Least similarity, in percent, of a name that is suggested.
_CLOSE = 70.0
_IGNORED = str.maketrans("", "", " _-")
#: Least number of letters of a name that is searched in longer ones.
_LEAST = 4


def closest(name: str, known: Iterable[str], *, cutoff: float = _CLOSE) -> str | None:
    """The known name most similar to an unknown one; None if none is similar.

    Case, spaces, hyphens and underscores do not count; otherwise names are compared by their
    normalized Damerau-Levenshtein similarity. One of the alternatives of a name with a slash means
    this name. If none is similar, the only name that contains the unknown one is suggested. A name
    with or without "not" is the opposite, and never suggested.

    Args:
        name: the unknown name.
        known: the known names; of equally similar names the first is suggested.
        cutoff: minimum similarity in percent.

    Examples:
        >>> closest("water supply", ["Food Supply", "Water Supply"])
        'Water Supply'
        >>> closest("Regulates", ["Regulates_Process", "Regulate"])
        'Regulate'
        >>> closest("Terrorism", ["Shelter", "Terrorism or other Extreme Violence"])
        'Terrorism or other Extreme Violence'
        >>> closest("insufficient", ["Sufficient", "Insufficient/Unknown"])
        'Insufficient/Unknown'
        >>> closest("x", ["Shelter"]) is None
        True
        >>> closest("not_current", ["past", "current"]) is None
        True
    """
    from rapidfuzz import process
    from rapidfuzz.distance.DamerauLevenshtein import normalized_similarity

    plain = _plain(name)
    opposite = plain.removeprefix("not") if plain.startswith("not") else f"not{plain}"
    names, plain_names, whole = _plain_forms(tuple(n for n in known if _plain(n) != opposite))
    if len(plain) >= _LEAST and plain in whole:
        return whole[plain]
    found = process.extractOne(
        plain, plain_names, scorer=normalized_similarity, score_cutoff=cutoff / 100
    )
    if found:
        return names[found[2]]
    if len(plain) < _LEAST:
        return None
    longer = [names[at] for at, other in enumerate(plain_names) if plain in other]
    return longer[0] if len(longer) == 1 else None


@lru_cache(maxsize=100)
def _plain_forms(known: tuple[str, ...]) -> tuple[Sequence[str], Sequence[str], Mapping[str, str]]:
    """Known names, the same in plain form, and the name of each alternative in plain form."""
    names = list(dict.fromkeys(known))
    whole: dict[str, str] = {}
    for name in names:
        for alternative in name.split("/"):
            whole.setdefault(_plain(alternative), name)
    return names, list(map(_plain, names)), whole


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """A hint with the closest known name, or `otherwise` if no known name is similar.

    Examples:
        >>> did_you_mean("Shelterr", ["Shelter"]), did_you_mean("x", ["Shelter"], "see the plan")
        ('did you mean Shelter?', 'see the plan')
    """
    found = closest(name, known)
    return f"did you mean {found}?" if found else otherwise


def hints(unknown: Iterable[str], known: Iterable[str], otherwise: str = "") -> dict[str, str]:
    """The hint of `did_you_mean` for each unknown name.

    Where these are many, only names that differ in case, spaces, hyphens and underscores are
    suggested, so that the work does not grow with the square of a file.

    Examples:
        >>> hints(["Shelterr", "x"], ["Shelter"], "see the plan")
        {'Shelterr': 'did you mean Shelter?', 'x': 'see the plan'}
        >>> many = hints(["SHELTER", "Shelterr", *map(str, range(100))], ["Shelter"])
        >>> many["SHELTER"], many["Shelterr"]
        ('did you mean Shelter?', '')
    """
    names, listed = list(dict.fromkeys(unknown)), tuple(known)
    if len(names) <= _MOST:
        return {name: did_you_mean(name, listed, otherwise) for name in names}
    _, _, whole = _plain_forms(listed)
    meant = {name: whole.get(_plain(name)) for name in names}
    return {name: f"did you mean {other}?" if other else otherwise for name, other in meant.items()}


@lru_cache(maxsize=1000)
def suggestion(name: str, listed: str) -> str:
    """A hint with the closest of the names that a help lists; empty if it lists a single one.

    Args:
        name: the unknown name.
        listed: the known names, separated by commas and `or`, possibly after `use`.

    Examples:
        >>> suggestion("agent", "Agent, Process or Tissue"), suggestion("x", "Agent, Process")
        ('did you mean Agent?', '')
    """
    names = _SEPARATOR.split(listed.removeprefix("use "))
    return did_you_mean(name, names) if len(names) > 1 else ""


def closest_files(
    unknown: Sequence[str], known: Sequence[str], *, distance: int = 1
) -> dict[str, str]:
    """The known document for names of documents that differ in folder, suffix, case or one letter.

    Args:
        unknown: names of documents that are not known.
        known: the names that there are.
        distance: most letters in which they may differ.

    Examples:
        >>> closest_files(["out/d1.txt", "D22", "x"], ["D1", "D23"])
        {'out/d1.txt': 'D1', 'D22': 'D23'}
    """
    if not unknown:  # nothing is loaded for nothing
        return {}
    from rapidfuzz import process
    from rapidfuzz.distance.DamerauLevenshtein import distance as edits

    stems = {name.lower(): name for name in known}
    found = {}
    for name in unknown:
        stem = name.rpartition("/")[2].partition(".")[0].lower()
        match = stems.get(stem) or stems.get(name.lower())
        if match is None and len(unknown) <= _MOST:
            near = process.extractOne(
                name, known, scorer=edits, processor=str.lower, score_cutoff=distance
            )
            match = near[0] if near else None
        if match is not None:
            found[name] = match
    return found


def _plain(name: str) -> str:
    return name.casefold().translate(_IGNORED)

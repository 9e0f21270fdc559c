"""The types of situation frames in speech."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hlteval.findings.suggest import closest
from hlteval.grammars import schema


@cache
def names() -> Sequence[str]:
    """The names of all types, in alphabetical order.

    Examples:
        >>> len(names()), names()[0]
        (11, 'Civil Unrest or Wide-spread Crime')
    """
    types = schema("speech-sf")["definitions"]["frame"]["properties"]["Type"]["enum"]
    return tuple(sorted(types))


def type_hint(unknown: str) -> str:
    """A hint for an unknown type: the type that was probably meant, or all of them.

    Examples:
        >>> type_hint("water  supply")
        'did you mean Water Supply? It differs only in case or spacing'
    """
    name = closest(unknown, names())
    if name is None:
        return f"use one of: {'; '.join(names())}"
    same = "".join(name.lower().split()) == "".join(unknown.lower().split())
    return f"did you mean {name}?" + " It differs only in case or spacing" * same

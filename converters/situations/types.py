"""The types of situation frames in speech."""

import re
from collections.abc import Sequence
from functools import cache

from hlteval.findings.suggest import closest
from hlteval.grammars import schema

#: Quotation marks of several scripts.
QUOTES = "\"'“”„\u2018\u2019«»`"
NONE = "n/a"
#: What annotations have where there is no type.
NO_TYPE = (NONE, "out-of-domain")


@cache
def names() -> Sequence[str]:
    """The names of all types, in alphabetical order.

    Examples:
        >>> len(names()), names()[0]
        (11, 'Civil Unrest or Wide-spread Crime')
    """
    types = schema("speech-sf")["definitions"]["frame"]["properties"]["Type"]["enum"]
    return tuple(sorted(types))


def type_hint(
    unknown: str, also: Sequence[str] = (), several: str = "write a frame for each type"
) -> str:
    """A hint for an unknown type: the type that was probably meant, or all of them.

    Args:
        unknown: the name as written; quotation marks around it do not count.
        also: further values, such as `n/a`.
        several: what to do with several types.

    Examples:
        >>> type_hint("water  supply")
        'did you mean Water Supply? It differs only in case or spacing'
        >>> type_hint("Shelter, Evacuation")
        'write a frame for each type: Evacuation, Shelter'
        >>> type_hint("“Shelter”")
        'remove the quotation marks: Shelter'
    """
    bare, known = unknown.strip(QUOTES), (*names(), *also)
    if bare in known:
        return f"remove the quotation marks: {bare}"
    if bare.lower() in NO_TYPE and not also:
        return "delete the frame: a segment without situations has no frames"
    inside = [
        other for other in names() if other in bare and re.search(rf"\b{re.escape(other)}\b", bare)
    ]
    if len(inside) > 1:
        return f"{several}: {', '.join(inside)}"
    name = closest(bare, known) or next(iter(inside), None)
    if name is None:
        return f"use one of: {'; '.join(known)}"
    same = "".join(name.lower().split()) == "".join(bare.lower().split())
    return f"did you mean {name}?" + " It differs only in case or spacing" * same

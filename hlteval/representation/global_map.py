"""Global maps: rules that rewrite spellings, so that texts can be compared.

A converter reads them from a global mapping file; scoring applies them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: `source` becomes `target` between `left` and `right`.

    All are strings of characters, spaces included; an empty context matches anything.

    Examples:
        >>> Rule("CAN'T", "CAN NOT", " ", " ").target
        'CAN NOT'
    """

    source: str
    target: str
    left: str = ""
    right: str = ""


@dataclass(frozen=True, slots=True)
class GlobalMap:
    """The rules of a global mapping file, in its order: the first that fits is applied.

    `case_sensitive` is as in its header.

    Examples:
        >>> GlobalMap((Rule("a", "b"),)).rules[0].source
        'a'
    """

    rules: tuple[Rule, ...]
    case_sensitive: bool = False

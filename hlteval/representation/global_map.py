"""Global maps: rules that rewrite spellings, so that texts can be compared.

A converter reads them from a global mapping file; scoring applies them. Neither may import the
other, so the rules are here.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: `source` becomes `target` between `left` and `right`.

    All are strings of characters, spaces included; an empty context matches anything. A target may
    have alternatives, `{CAN NOT / CANNOT}`.

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

    Attributes:
        rules: its rules.
        case_sensitive: as in its header.
        copy_no_hit: whether characters that no rule matches are kept, as in its header.

    Examples:
        >>> GlobalMap((Rule("a", "b"),)).rules[0].source
        'a'
    """

    rules: tuple[Rule, ...]
    case_sensitive: bool = False
    copy_no_hit: bool = True

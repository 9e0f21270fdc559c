r"""Characters that cannot be seen, or only as a space.

Joiners are not among them: they are letters of some scripts.

Examples:
    >>> import re
    >>> [code_point(found) for found in re.findall(INVISIBLE, "Osh\u200b \u00a0city")]
    ['U+200B', 'U+00A0']
"""

from __future__ import annotations

INVISIBLE = (
    "[\x00-\x1f\x7f-\xa0\xad\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u2064"
    "\u2066-\u206f\u3000\ufeff]"
)
"""The pattern of an invisible character, also of spaces other than U+0020."""


def code_point(character: str) -> str:
    """The number of a character as Unicode writes it."""
    return f"U+{ord(character):04X}"

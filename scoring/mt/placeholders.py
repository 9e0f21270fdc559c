"""Protection of URLs: tokenizers of all metrics split them into many words (section 15.2.2).

Each URL, e-mail address, @name and #tag becomes one word of letters, which no tokenizer splits.
Equal strings have equal words in all texts, and different ones differ.
"""

from __future__ import annotations

import hashlib
import re

_WORD = r"[^\W_]"
_HOST = rf"{_WORD}(?:[\w-]*{_WORD})?"
_DOMAIN = rf"{_HOST}(?:\.{_HOST})*\.[^\W\d_]{{2,}}"
_PROTECTED = re.compile(
    rf"""
    (?P<url>(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>"]+)
    | (?P<email>(?<![\w.+-])[\w.+-]*{_WORD}@{_DOMAIN})
    | (?P<name>(?<![\w@\#])[@\#]\w+)
    """,
    re.IGNORECASE | re.VERBOSE,
)
#: Characters that end a sentence or a bracket, and no URL.
_AFTER = ".,;:!?'\u2019\u201d\u00bb\u2026)]}"
#: Digests as consonants: no stemmer takes them for endings, no tokenizer splits off digits.
_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")


def protected(text: str) -> str:
    """A text with a word in place of each URL, e-mail address, @name and #tag.

    Examples:
        >>> one, two = protected("see https://example.org/a."), protected("https://example.org/a")
        >>> one == f"see {two}.", two.isalpha()
        (True, True)
    """
    return _PROTECTED.sub(_placeholder, text)


def _placeholder(found: re.Match[str]) -> str:
    written = found[0]
    kept = written.rstrip(_AFTER) if found["url"] else written
    # The bracket of a URL such as .../A_(b) belongs to it.
    if kept.count("(") > kept.count(")") and written[len(kept) :].startswith(")"):
        kept += ")"
    digest = hashlib.sha256(kept.encode()).hexdigest()[:16].translate(_LETTERS)
    return f"x{digest}x{written[len(kept) :]}"

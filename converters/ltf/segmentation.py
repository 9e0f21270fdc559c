r"""Splits plain text into segments and tokens, by simple rules without a language model.

A segment is a line without its line feed, so that the text can be rebuilt from the segments. White
space separates tokens; punctuation at either end of a token is a token of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple
from unicodedata import category

WORD, PUNCT, UNKNOWN = "word", "punct", "unknown"
_LINE, _CHUNK = re.compile("[^\n]+"), re.compile(r"\S+")
#: Addresses, user names and hash tags, whose first character is not punctuation.
_WHOLE = re.compile(r"[A-Za-z][A-Za-z+.-]*://\S*\w/?|[@#]\w+")
_APOSTROPHES = "'`\u2019\u02bc\u02bb"


class Token(NamedTuple):
    """A token: its offsets (half-open), and whether it is a word, punctuation or neither."""

    start: int
    end: int
    pos: str


def lines(text: str) -> Iterator[tuple[int, int]]:
    r"""The lines of a text that are not empty, as offsets.

    Only a line feed ends a line.

    Examples:
        >>> list(lines("\nab\n\nc d\n"))
        [(1, 3), (5, 8)]
    """
    return (line.span() for line in _LINE.finditer(text))


def tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens of a stretch of a text.

    Examples:
        >>> text = "(Reuters) - Ukraine's Buk-M2."
        >>> [text[token.start : token.end] for token in tokens(text)]
        ['(', 'Reuters', ')', '-', "Ukraine's", 'Buk-M2', '.']
        >>> [token.pos for token in tokens(text)][-3:]
        ['word', 'unknown', 'punct']
    """
    for chunk in _CHUNK.finditer(text, start, len(text) if end is None else end):
        yield from _divided(text, *chunk.span())


def _divided(text: str, start: int, end: int) -> Iterator[Token]:
    """The tokens of a stretch without white space: its core, and the punctuation around it."""
    whole = _WHOLE.match(text, start, end)
    first = start
    while not whole and first < end and _is_mark(text[first]):
        first += 1
    last = end
    floor = whole.end() if whole else first
    while last > floor and _is_mark(text[last - 1]):
        last -= 1
    if first > start:
        yield Token(start, first, PUNCT)
    if last > first:
        letters = all(_is_letter(c) or c in _APOSTROPHES for c in text[first:last])
        yield Token(first, last, WORD if letters and not whole else UNKNOWN)
    if end > last:
        yield Token(last, end, PUNCT)


@cache
def _is_mark(character: str) -> bool:
    """Whether a character is punctuation, or a sign of money or arithmetic."""
    return category(character)[0] == "P" or category(character) in {"Sc", "Sm", "Sk"}


@cache
def _is_letter(character: str) -> bool:
    """Whether a character is a letter, a digit, a mark on one, or a joiner between two."""
    return category(character)[0] in "LMN" or character in "\u200c\u200d"

"""LTF documents as a whole: the text beside its length and digest, and explanations of problems.

These functions check single documents and segments: the few in which rules have found a problem.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

#: Start and end, half-open, and the annotated text.
Span = tuple[int, int, str]

#: Gaps that are tried one by one for a space in place of a line feed.
_MOST_GAPS = 200
#: Segments that show that a whole document is shifted.
_EVIDENCE = 2
#: Places of a segment in the raw text that are tried.
_MOST_PLACES = 100
#: Line feeds after the last segment that are tried if no length is declared.
_TAILS = 10


class Convention(NamedTuple):
    """A way to count that explains all offsets of a document."""

    what: str
    fix: str


UTF16 = Convention("offsets count UTF-16 code units", "count code points, as Python's len() does")
BYTES = Convention("offsets count UTF-8 bytes", "count code points: decode the text first")
EXCLUSIVE = Convention("each end_char is one past the end", "subtract 1 from every end_char")
ONE_BASED = Convention("offsets are 1-based", "subtract 1 from every start_char and end_char")

_UNITS: Sequence[tuple[Convention, Callable[[str], int], int]] = (
    (UTF16, lambda character: 1 + (character > "\uffff"), 0),
    (BYTES, lambda character: len(character.encode()), 0),
    (EXCLUSIVE, lambda _: 1, 1),
)


def convention(segments: Sequence[tuple[Span, Sequence[Span]]]) -> Convention | None:
    """The known way to count by which all segments and tokens of a document fit, if there is one.

    Args:
        segments: each with its tokens.

    Examples:
        >>> convention([((0, 3, "a😀"), [(0, 1, "a"), (1, 3, "😀")])]).what
        'offsets count UTF-16 code units'
    """
    for known, unit, past in _UNITS:
        if all(_fits(segment, tokens, unit, past) for segment, tokens in segments):
            return known
    for known, unit, _ in _UNITS[:2]:
        if any(_tokens_fit(segments, unit, absolute=absolute) for absolute in (True, False)):
            what = f"segments count code points, but token {known.what}"
            return Convention(what, known.fix)
    return None


def _tokens_fit(
    segments: Sequence[tuple[Span, Sequence[Span]]], unit: Callable[[str], int], *, absolute: bool
) -> bool:
    """Whether only the tokens fit with other units, from the start of the document or segment."""
    before = 0
    for (begin, end, text), tokens in segments:
        offsets = [0, *accumulate(map(unit, text))]
        moved = [(s - before, e - before, token) for s, e, token in tokens]
        segment = (begin, begin + offsets[-1], text)
        if end - begin != len(text) or not _fits(segment, moved if absolute else tokens, unit, 0):
            return False
        before += offsets[-1] - len(text)
    return True


def _fits(segment: Span, tokens: Sequence[Span], unit: Callable[[str], int], past: int) -> bool:
    """Whether a segment and its tokens fit, with other units and ends `past` units later."""
    begin, end, text = segment
    offsets = [0, *accumulate(map(unit, text))]
    if end - begin - past != offsets[-1]:
        return False
    index = {offset: number for number, offset in enumerate(offsets)}
    for start, stop, token in tokens:
        at, to = index.get(start - begin), index.get(stop - past - begin)
        if at is None or to is None or text[at:to] != token:
            return False
    return True


def shifted(content: str, segments: Sequence[Span]) -> Convention | None:
    """The distance by which all segments of a document are beside their text, if there is one.

    Args:
        content: the raw text of the document.
        segments: its segments; of a single one the distance is not evidence.

    Examples:
        >>> shifted("Osh is dry.", [(1, 4, "Osh"), (8, 12, "dry.")]).fix
        'subtract 1 from every start_char and end_char, unless this is another raw text'
    """
    if len(segments) < _EVIDENCE:
        return None
    start, _, longest = max(segments, key=lambda segment: len(segment[2]))
    at = content.find(longest)
    for _ in range(_MOST_PLACES):
        moved = start - at
        if at < 0 or not moved:
            return None
        if all(s >= moved and content.startswith(text, s - moved) for s, _, text in segments):
            return _moved_by(moved)
        at = content.find(longest, at + 1)
    return None


def _moved_by(distance: int) -> Convention:
    size, words = abs(distance), ("larger", "subtract", "from")
    if distance < 0:
        words = ("smaller", "add", "to")
    what = f"all offsets are {size} {words[0]} than in the raw text"
    fix = f"{words[1]} {size} {words[2]} every start_char and end_char"
    return Convention(what, f"{fix}, unless this is another raw text")


def text_convention(content: str, spans: Sequence[Span]) -> Convention | None:
    """The other units by which all annotations of a text fit, if there are any.

    Args:
        content: the text of the document.
        spans: the annotations with their texts.

    Examples:
        >>> text_convention("😀 Osh", [(3, 6, "Osh")]).what
        'offsets count UTF-16 code units'
    """
    for known, unit, _ in _UNITS[:2]:
        offsets = [0, *accumulate(map(unit, content))]
        index = {offset: number for number, offset in enumerate(offsets)}
        places = [(index.get(start), index.get(end), text) for start, end, text in spans]
        if all(
            begin is not None and end is not None and _flat(content[begin:end]) == _flat(text)
            for begin, end, text in places
        ):
            return known
    return None


def _flat(text: str) -> str:
    return re.sub(r"[\r\n]", " ", text)


def shift(segment: Span, tokens: Sequence[Span]) -> int | None:
    """The distance by which a segment must be moved to fit all its tokens; None if there is none.

    Examples:
        >>> shift((0, 5, "ab cd"), [(2, 4, "ab"), (5, 7, "cd")])
        2
    """
    begin, _, text = segment
    if not tokens:
        return None
    start, _, first = tokens[0]
    at = text.find(first) if first else -1
    while at >= 0:
        moved = start - begin - at
        if moved and all(
            text[s - begin - moved : e - begin - moved] == token and s - begin >= moved
            for s, e, token in tokens
        ):
            return moved
        at = text.find(first, at + 1)
    return None


def uncovered(text: str, start: int, tokens: Sequence[tuple[int, int]]) -> tuple[int, str]:
    """The number of characters of a segment, spaces apart, in no token, and the first run of them.

    Examples:
        >>> uncovered("ab, cd", 10, [(10, 12), (14, 16)])
        (1, ',')
    """
    edges = [0, *(edge - start for span in tokens for edge in span), len(text)]
    gaps = (text[begin:end].split() for begin, end in zip(edges[::2], edges[1::2], strict=True))
    left = [run for gap in gaps for run in gap]
    return sum(map(len, left)), left[0]


def where(content: str, text: str, start: int) -> str:
    """The occurrence of a text in a document that is nearest to an offset, as a hint.

    Examples:
        >>> where("Osh and Osh", "Osh", 7)
        'write 8-10, the nearest place with this text'
    """
    after = content.find(text, start) if text else -1
    before = content.rfind(text, 0, start + len(text)) if text else -1
    found = [at for at in (after, before) if at >= 0]
    if not found:
        return "correct the text or check the document, which does not contain it"
    at = min(found, key=lambda place: abs(place - start))
    return f"write {at}-{at + len(text) - 1}, the nearest place with this text"


#: A length that a 64-bit number holds.
_LENGTH = re.compile("0*[0-9]{1,18}")


class TextProblem(NamedTuple):
    """A problem of a document as a whole: a code, and the values of its message."""

    code: str
    values: Mapping[str, object]


def text_problem(
    text: str, ends: Sequence[int], length: str | None, md5: str | None
) -> TextProblem | None:
    r"""The problem of a rebuilt text with its declared length or digest; None if there is none.

    Args:
        text: as rebuilt.
        ends: where each segment ends in it.
        length: as declared.
        md5: as declared.

    Examples:
        >>> text_problem("a\n", [1], "2", hashlib.md5(b"a\n").hexdigest()) is None
        True
        >>> text_problem("abc", [3], "2", None).code
        'LTF503'
    """
    number = int(length) if length is not None and _LENGTH.fullmatch(length) else None
    if length is not None and number is None:
        return TextProblem("LTF502", {"given": length[:40] or "empty"})
    long = number is not None and len(text) > number
    if md5 is not None and (long or md5 not in _digests(text, number)):
        if _one_based(text, number, md5):
            return TextProblem("LTF501", ONE_BASED._asdict())
        if not long:
            hint = _hint(text, ends, md5.strip())
            return TextProblem(
                "LTF504", {"given": md5[:40] or "empty", "digest": digest(text), "hint": hint}
            )
    if number is not None and long:
        more = len(text) - number
        return TextProblem("LTF503", {"given": number, "length": len(text), "more": more})
    return None


def digest(text: str) -> str:
    """The MD5 digest of a text in UTF-8, in hexadecimal."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _digests(text: str, length: int | None) -> Iterator[str]:
    """The right digests: without a declared length, any number of line feeds may follow."""
    yield digest(text)
    if length is None:
        yield from (digest(text + "\n" * count) for count in range(1, _TAILS))


def _one_based(text: str, length: int | None, md5: str) -> bool:
    if not text.startswith("\n"):
        return False
    bare = text[1:]
    short = max(0, (length or 0) - len(bare))
    return md5 in (digest(bare), digest(bare + "\n" * short))


def _hint(text: str, ends: Sequence[int], md5: str) -> str:
    """A possible cause of another digest."""
    if md5.lower() == digest(text):
        return "write the digest in lower case"
    if len(md5) != 32 or set(md5.lower()) - set("0123456789abcdef"):
        return "write an MD5 digest: 32 hexadecimal digits"
    for other in _other_tails(text):
        if digest(other) == md5:
            return f"set raw_text_char_length to {len(other)}, with which the digest matches"
    for what, changed in _variants(text, ends):
        if digest(changed) == md5:
            return f"check the gaps between segments: the digest matches with {what}"
    return "look for a character, in or between segments, that differs from the annotated text"


def _other_tails(text: str) -> Iterator[str]:
    """The text with more or fewer line feeds at its end."""
    for count in range(1, _TAILS):
        yield text + "\n" * count
        if text.endswith("\n" * count):
            yield text[:-count]


def _variants(text: str, ends: Sequence[int]) -> Iterator[tuple[str, str]]:
    """The text with other gaps than line feeds between segments."""
    inner = [end for end in ends[:-1] if text[end : end + 1] == "\n"]
    single = [end for end in inner if text[end : end + 2] != "\n\n"]
    blanked = list(text)
    for end in single:
        blanked[end] = " "
    yield "a space between segments of one line", "".join(blanked)
    yield "CR LF line endings", text.replace("\n\n", "\r\n")
    for end in inner[:_MOST_GAPS]:
        yield f"a space at code point {end}", f"{text[:end]} {text[end + 1 :]}"

"""Causes of what rules find in a single document: other units, moved offsets, another raw text."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice
from typing import NamedTuple

#: Start and end, half-open, and the annotated text.
Span = tuple[int, int, str]
#: Units of a character.
Unit = Callable[[str], int]

#: Gaps that are tried one by one for a space in place of a line feed.
_MOST_GAPS = 200
#: Segments that show that a whole document is shifted.
_EVIDENCE = 2
#: Places of a segment in the raw text that are tried.
_MOST_PLACES = 100
#: Line feeds after the last segment that are tried if no length is declared.
_TAILS = 10
#: A length that a 64-bit number holds.
_LENGTH = re.compile("0*[0-9]{1,18}")


class Convention(NamedTuple):
    """A way to count that explains all offsets of a document."""

    what: str
    fix: str


UTF16 = Convention("offsets count UTF-16 code units", "count code points, as Python's len() does")
BYTES = Convention("offsets count UTF-8 bytes", "count code points: decode the text first")
EXCLUSIVE = Convention("each end_char is one past the end", "subtract 1 from every end_char")
ONE_BASED = Convention("offsets are 1-based", "subtract 1 from every start_char and end_char")

_UNITS: Sequence[tuple[Convention, Unit]] = (
    (UTF16, lambda character: 1 + (character > "\uffff")),
    (BYTES, lambda character: len(character.encode())),
)


def convention(segments: Sequence[tuple[Span, Sequence[Span]]]) -> Convention | None:
    """The known way to count by which all segments and tokens of a document fit, if there is one.

    Args:
        segments: each with its tokens.

    Examples:
        >>> convention([((0, 3, "a😀"), [(0, 1, "a"), (1, 3, "😀")])]).what
        'offsets count UTF-16 code units'
    """
    for known, unit in _UNITS:
        if all(_fits(segment, tokens, unit) for segment, tokens in segments):
            return known
    if all(_fits(segment, tokens, len, past=1) for segment, tokens in segments):
        return EXCLUSIVE
    for known, unit in _UNITS:
        if any(_tokens_fit(segments, unit, absolute=absolute) for absolute in (True, False)):
            what = f"segments count code points, but token {known.what}"
            return Convention(what, known.fix)
    return None


def _fits(segment: Span, tokens: Sequence[Span], unit: Unit, past: int = 0) -> bool:
    """Whether a segment and its tokens fit, with other units and ends `past` units later."""
    begin, end, text = segment
    units = enumerate(accumulate(map(unit, text), initial=0))
    index = {offset: number for number, offset in units}
    return end - begin - past == max(index) and all(
        start - begin in index
        and stop - past - begin in index
        and text[index[start - begin] : index[stop - past - begin]] == token
        for start, stop, token in tokens
    )


def _tokens_fit(
    segments: Sequence[tuple[Span, Sequence[Span]]], unit: Unit, *, absolute: bool
) -> bool:
    """Whether only the tokens fit with other units, from the start of the document or segment."""
    before = 0
    for (begin, end, text), tokens in segments:
        size = sum(map(unit, text))
        moved = [(start - before, stop - before, token) for start, stop, token in tokens]
        if end - begin != len(text) or not _fits((begin, begin + size, text), moved, unit):
            return False
        before += size - len(text) if absolute else 0
    return True


def text_convention(content: str, spans: Sequence[Span]) -> Convention | None:
    """The other units by which all annotations of a text fit, if there are any.

    Args:
        content: the text of the document.
        spans: the annotations with their texts.

    Examples:
        >>> text_convention("😀 Osh", [(3, 6, "Osh")]).what
        'offsets count UTF-16 code units'
    """
    flat = re.sub(r"[\r\n]", " ", content)
    tokens = [(start, end, re.sub(r"[\r\n]", " ", text)) for start, end, text in spans]
    for known, unit in _UNITS:
        if _fits((0, sum(map(unit, flat)), flat), tokens, unit):
            return known
    return None


def common_shift(content: str, segments: Sequence[Span]) -> Convention | None:
    """The distance by which all segments of a document are beside their text, if there is one.

    Args:
        content: the raw text of the document.
        segments: its segments; of a single one the distance is not evidence.

    Examples:
        >>> common_shift("Osh is dry.", [(1, 4, "Osh"), (8, 12, "dry.")]).fix
        'subtract 1 from every start_char and end_char, unless this is another raw text'
    """
    if len(segments) < _EVIDENCE:
        return None
    start, _, longest = max(segments, key=lambda segment: len(segment[2]))
    for place in islice(_places(content, longest), _MOST_PLACES):
        moved = start - place
        if not moved:
            return None
        if all(s >= moved and content.startswith(text, s - moved) for s, _, text in segments):
            what, fix = f"all offsets are {-moved} smaller", f"add {-moved} to"
            if moved > 0:
                what, fix = f"all offsets are {moved} larger", f"subtract {moved} from"
            fix = f"{fix} every start_char and end_char, unless this is another raw text"
            return Convention(f"{what} than in the raw text", fix)
    return None


def shift(segment: Span, tokens: Sequence[Span]) -> int | None:
    """The distance by which a segment must be moved to fit all its tokens; None if there is none.

    Examples:
        >>> shift((0, 5, "ab cd"), [(2, 4, "ab"), (5, 7, "cd")])
        2
    """
    begin, _, text = segment
    start, _, first = tokens[0] if tokens else (0, 0, "")
    for place in _places(text, first) if first else ():
        moved = start - begin - place
        inside = ((s - begin - moved, e - begin - moved, token) for s, e, token in tokens)
        if moved and all(text[s:e] == token and s >= 0 for s, e, token in inside):
            return moved
    return None


def _places(content: str, text: str) -> Iterator[int]:
    """The places where a text begins in another, from left to right."""
    place = content.find(text)
    while place >= 0:
        yield place
        place = content.find(text, place + 1)


def nearest_place(content: str, text: str, start: int) -> str:
    """The occurrence of a text in a document that is nearest to an offset, as a hint.

    Examples:
        >>> nearest_place("Osh and Osh", "Osh", 7)
        'write 8-10, the nearest place with this text'
    """
    after = content.find(text, start) if text else -1
    before = content.rfind(text, 0, start + len(text)) if text else -1
    places = [place for place in (after, before) if place >= 0]
    if not places:
        return "correct the text or check the document, which does not contain it"
    place = min(places, key=lambda place: abs(place - start))
    return f"write {place}-{place + len(text) - 1}, the nearest place with this text"


def text_problem(
    text: str, ends: Sequence[int], length: str | None, md5: str | None
) -> tuple[str, Mapping[str, object]] | None:
    r"""The problem of a rebuilt text with its declared length or digest, if there is one.

    Args:
        text: as rebuilt.
        ends: where each segment ends in it.
        length: as declared.
        md5: as declared; without a length, any line feeds may follow the text.

    Returns:
        The code, and the values of its message.

    Examples:
        >>> text_problem("a\n", [1], "2", digest("a\n")) is None
        True
        >>> text_problem("abc", [3], "2", None)
        ('LTF503', {'given': 2, 'length': 3, 'more': 1})
    """
    number = int(length) if length is not None and _LENGTH.fullmatch(length) else None
    if length is not None and number is None:
        return "LTF502", {"given": length[:40] or "empty"}
    more = 0 if number is None else len(text) - number
    tails = range(_TAILS if number is None else 1)
    if md5 is not None and (more > 0 or md5 not in (digest(text + "\n" * n) for n in tails)):
        bare = text.removeprefix("\n")
        if bare != text and md5 in (digest(bare), digest(bare.ljust(number or 0, "\n"))):
            return "LTF501", ONE_BASED._asdict()
        if more <= 0:
            values = {"given": md5[:40] or "empty", "digest": digest(text)}
            return "LTF504", {**values, "hint": _digest_hint(text, ends, md5.strip())}
    if more > 0:
        return "LTF503", {"given": number, "length": len(text), "more": more}
    return None


def digest(text: str) -> str:
    """The MD5 digest of a text in UTF-8, in hexadecimal."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _digest_hint(text: str, ends: Sequence[int], md5: str) -> str:
    """A possible cause of another digest: its notation, the end of the text, or gaps in it."""
    if md5.lower() == digest(text):
        return "write the digest in lower case"
    if len(md5) != 32 or set(md5.lower()) - set("0123456789abcdef"):
        return "write an MD5 digest: 32 hexadecimal digits"
    for count in range(1, _TAILS):
        feeds = "\n" * count
        for other in (text + feeds, text.removesuffix(feeds)):
            if digest(other) == md5:
                return f"set raw_text_char_length to {len(other)}, with which the digest matches"
    inner = [end for end in ends[:-1] if text[end : end + 1] == "\n"]
    blank = list(text)
    for end in inner:
        if text[end : end + 2] != "\n\n":
            blank[end] = " "
    gaps = [
        ("a space between segments of one line", "".join(blank)),
        ("CR LF line endings", text.replace("\n\n", "\r\n")),
    ]
    single = ((end, f"{text[:end]} {text[end + 1 :]}") for end in inner[:_MOST_GAPS])
    gaps_of_one = ((f"a space at code point {end}", other) for end, other in single)
    for what, other in chain(gaps, gaps_of_one):
        if digest(other) == md5:
            return f"check the gaps between segments: the digest matches with {what}"
    return "look for a character, in or between segments, that differs from the annotated text"

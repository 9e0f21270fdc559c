"""Offsets that count otherwise than in characters from 0 with exclusive ends.

Java and JavaScript count UTF-16 code units, some tools bytes of UTF-8 or grapheme clusters; others
count from 1, or give the last character of a span as its end. What reads tokens may count these:
here words, which white space separates. The texts of spans show it. Formats have the setting
`offsets` (offsets.toml), by which all of these are read.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.quotes import normalized_spaces
from hlteval.representation import Corpus

CHARACTERS = "characters"
#: Gives the new start and end of a span.
Place = Callable[[int, int], tuple[int, int]]


class UnitText:
    r"""A text whose offsets count a unit.

    Attributes:
        size: its length in characters.

    Examples:
        >>> text = UnitText("\u00f6x", "bytes")
        >>> text.length, text.character(2), text.character(9)
        (3, 1, 8)
    """

    def __init__(self, text: str, unit: str) -> None:
        self.size = len(text)
        ends = np.cumsum(widths(text, unit))
        # Up to each offset, the characters that end there or before it.
        self.ended = np.bincount(ends, minlength=1).cumsum(dtype=np.int32)

    @property
    def length(self) -> int:
        """The length in units."""
        return len(self.ended) - 1

    def character(self, offset: int) -> int:
        """The offset in characters; beyond the text, each unit counts as one."""
        if not 0 <= offset <= self.length:
            return offset if offset < 0 else self.size + offset - self.length
        return int(self.ended[offset])


def word_places(text: str, *, inclusive: bool) -> Place:
    """The places of words of a text by their numbers from 0, the end exclusive or inclusive.

    Where there are no such words, it is beyond the text, and empty where the end is too small.

    Examples:
        >>> place = word_places("in the Osh region", inclusive=False)
        >>> place(2, 4), place(2, 2), place(3, 5)
        ((7, 17), (7, 7), (20, 22))
    """
    words = [word.span() for word in _WORD.finditer(text)]

    def place(start: int, end: int) -> tuple[int, int]:
        last = end if inclusive else end - 1
        if start < 0:
            return start, end
        if max(start, last) >= len(words):
            return len(text) + start, len(text) + end
        first, _ = words[start]
        return first, words[last][1] if last >= start else first

    return place


#: The units that differ from characters, and the ways to count words.
UNITS = frozenset({"bytes", "utf-16", "crlf", "graphemes"})

WORDS = frozenset({"tokens", "tokens-inclusive"})
_WORD = re.compile(r"\S+")


def widths(text: str, unit: str) -> NDArray[np.int8]:
    r"""How many units each character of a text has; of a grapheme cluster, its first has the one.

    Examples:
        >>> widths("\u00f6\n", "bytes").tolist(), widths("\u00f6\n", "crlf").tolist()
        ([2, 1], [1, 2])
    """
    if unit == "graphemes":
        import regex  # type: ignore[import-untyped]

        sizes = [len(cluster) for cluster in regex.findall(r"\X", text)]
        begins = np.cumsum([0, *sizes])[:-1]
        return np.bincount(begins, minlength=len(text)).astype(np.int8)
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    more = {"bytes": (0x80, 0x800, 0x10000), "utf-16": (0x10000,)}.get(unit, ())
    wide = [points >= least for least in more] or [points == 0x0A]
    return np.asarray(1 + np.sum(wide, axis=0, dtype=np.int8), np.int8)


class Counting(NamedTuple):
    """A way to count offsets.

    Attributes:
        setting: the value of the setting `offsets` of formats.
        called: what a message calls it.
        fix: what to do about it in the program that writes them; empty for units.
        start: what has to be added to a start.
        end: what has to be added to an end.
    """

    setting: str
    called: str
    fix: str = ""
    start: int = 0
    end: int = 0

    def place(self, text: str) -> Place:
        """The start and end of a span of a text in characters, from those as written."""
        if self.setting in UNITS:
            character = UnitText(text, self.setting).character
            return lambda start, end: (character(start), character(end))
        if self.setting in WORDS:
            return word_places(text, inclusive=self.setting == "tokens-inclusive")
        return lambda start, end: (start + self.start, end + self.end)


#: The likeliest first.
COUNTINGS: Mapping[str, Counting] = MappingProxyType(
    {
        counting.setting: counting
        for counting in (
            Counting("utf-16", "UTF-16 code units"),
            Counting("bytes", "bytes of UTF-8"),
            Counting(
                *("from-1", "offsets count from 1", "subtract 1 from each start and end"),
                start=-1,
                end=-1,
            ),
            Counting("inclusive", "ends are the last characters", "add 1 to each end", end=1),
            Counting(
                *("from-1-inclusive", "offsets count from 1, and ends are the last characters"),
                fix="subtract 1 from each start",
                start=-1,
            ),
            Counting(
                *("from-minus-1", "offsets are 1 too small", "add 1 to each start and end"),
                start=1,
                end=1,
            ),
            Counting(
                *("crlf", "line ends count as two characters"),
                fix="use the texts with LF as line ends",
            ),
            Counting("graphemes", "grapheme clusters"),
            Counting("tokens", "words separated by white space"),
            Counting(
                "tokens-inclusive", "words separated by white space, and ends are the last words"
            ),
        )
    }
)


def place_in(text: str, offsets: str) -> Place:
    """The start and end in characters of a span of a text, whose offsets count in some way."""
    return keep_place if offsets == CHARACTERS else COUNTINGS[offsets].place(text)


def in_characters(corpus: Corpus, offsets: str) -> Corpus:
    r"""A corpus whose mentions count otherwise, with offsets in characters of the texts.

    Args:
        corpus: as it was read.
        offsets: the value of the setting.

    Examples:
        >>> place = {"row": 0, "document": 0, "origin": 0, "record": 1}
        >>> corpus = Corpus(
        ...     documents=[{"row": 0, "name": "d1", "text": "\u00d6, Osh"}],
        ...     mentions=[{**place, "mention": "T1", "label": "City", "start": 4, "end": 7}],
        ... )
        >>> in_characters(corpus, "bytes").mentions.select("start", "end").rows()
        [(3, 6)]
        >>> in_characters(corpus, "from-1").mentions.select("start", "end").rows()
        [(3, 6)]
    """
    if offsets == CHARACTERS or corpus.mentions.is_empty():
        return corpus
    counting = COUNTINGS[offsets]
    of_text, same = offsets in UNITS | WORDS, offsets in {"bytes", "utf-16"}
    texts = corpus.documents.drop_nulls("text").select("row", "text").iter_rows()
    places = {
        row: counting.place(text)
        for row, text in (texts if of_text else ())
        if not (same and text.isascii())
    }
    otherwise = keep_place if of_text else counting.place("")
    return corpus.replace(mentions=map_spans(corpus.mentions, places, otherwise))


def keep_place(start: int, end: int) -> tuple[int, int]:
    """A span as it is."""
    return start, end


def map_spans(
    mentions: pl.DataFrame, places: Mapping[int, Place], otherwise: Place = keep_place
) -> pl.DataFrame:
    """Mentions with other offsets, also of fragments.

    Args:
        mentions: the mentions.
        places: by document, the new place of each span.
        otherwise: that of spans in other documents.
    """
    new: dict[str, list[object]] = {"start": [], "end": [], "fragments": []}
    for document, start, end, parts in mentions.select("document", *new).iter_rows():
        place = places.get(document, otherwise)
        for name, value in zip(("start", "end"), place(start, end), strict=True):
            new[name].append(value)
        spans = (place(part["start"], part["end"]) for part in parts or ())
        moved = [{"start": first, "end": last} for first, last in spans]
        new["fragments"].append(None if parts is None else moved)
    types = mentions.schema
    return mentions.with_columns(
        pl.Series(name, values, types[name]) for name, values in new.items()
    )


def results_in_characters(results: Iterator[ReadResult], offsets: str) -> Iterator[ReadResult]:
    """The results of a reader, with offsets in characters."""
    for result in results:
        corpus = in_characters(result.corpus, offsets)
        yield ReadResult(corpus, result.findings, result.members)


# The way to count that spans with other texts than their documents show.

#: Spans whose text is elsewhere, and the share of them, from which they count otherwise.
_FEWEST, _MOST = 3, 0.5
#: Spans whose texts are compared at a time, and characters that are kept of what is there.
_SPANS, _SHOWN = 5_000, 40


def likeliest(explained: Iterable[tuple[str, int]], total: int, least: float) -> tuple[str, int]:
    """The way to count that explains most mismatches, with their number; empty for too few.

    Args:
        explained: ways to count, the likeliest first, each with how many it explains.
        total: how many mismatches there are.
        least: how many it has to explain.

    Examples:
        >>> likeliest([("utf-16", 3), ("bytes", 9)], 10, 5)
        ('bytes', 9)
    """
    best, most = "", 0
    for counting, count in explained:
        if count > most:
            best, most = counting, count
        if most == total:  # no other way explains more
            break
    return (best, most) if most >= least else ("", 0)


class Misfits(NamedTuple):
    """Spans that have another text than they say, and the way to count that explains them.

    Attributes:
        rows: these spans, with the beginning of the text that is there as `actual`.
        counting: the way that explains most of them; None if none does.
        explained: how many it explains.
    """

    rows: pl.DataFrame
    counting: Counting | None = None
    explained: int = 0


def misfits(documents: pl.DataFrame, spans: pl.DataFrame, quoted: pl.Series) -> Misfits:
    """The spans whose text is not at their offsets, white space apart.

    Args:
        documents: with their texts.
        spans: mentions with their texts; those with fragments are left out.
        quoted: whether the text of each is exactly that of its document.
    """
    texts = dict(documents.select("row", "text").drop_nulls().iter_rows())
    continuous = pl.col("fragments").is_null() & pl.col("text").is_not_null()
    rows = spans.filter(~quoted).filter(continuous, pl.col("document").is_in(list(texts)))
    found = [_with_actual(texts, part) for part in rows.iter_slices(_SPANS)]
    wrong = pl.concat(found or [_with_actual(texts, rows)])
    if wrong.height < _FEWEST:
        return Misfits(wrong)
    places = wrong.select("document", "start", "end", "text").rows()
    own = {row: texts[row] for row in wrong["document"].unique()}
    counts = ((name, _count_explained(name, own, places)) for name in COUNTINGS)
    best, count = likeliest(counts, wrong.height, _MOST * wrong.height)
    return Misfits(wrong, COUNTINGS.get(best), count)


def _with_actual(texts: Mapping[int, str], rows: pl.DataFrame) -> pl.DataFrame:
    """The spans that have another text than they say, with the beginning of that."""
    actual = [  # a much longer one is another, and is not copied
        texts[document][max(start, 0) : max(min(end, start + 10 * len(text) + 1000), 0)]
        for document, start, end, text in rows.select("document", "start", "end", "text").rows()
    ]
    rows = rows.with_columns(actual=pl.Series(actual, dtype=pl.String))
    wrong = rows.filter(normalized_spaces("text") != normalized_spaces("actual"))
    return wrong.with_columns(pl.col("actual").str.head(_SHOWN))


def _count_explained(
    offsets: str, texts: Mapping[int, str], places: Sequence[tuple[int, int, int, str]]
) -> int:
    """How many spans have their text if they count in a way."""
    place = cache(lambda document: COUNTINGS[offsets].place(texts[document]))
    count = 0
    for document, start, end, text in places:
        first, last = place(document)(start, end)
        count += texts[document][max(first, 0) : max(last, 0)] == text
    return count

"""Text columns: extents of two different texts made comparable by aligning the texts.

An extent becomes the columns of its first and last word in the alignment of the two texts, both
inclusive, as in the specification's example (`General Motors` is ##4#5# on both sides). As there,
columns count from the first word behind the document's identifier; before it they are negative.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from hlteval.representation.global_map import GlobalMap
from hlteval.scoring.hub4.normalizer import BEGIN, END, MARKS, OR, SpellingFilter, capitals
from hlteval.scoring.hub4.word_alignment import DOCUMENT, Costs, Integers, alignments

_TAG = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"\S+")
_MARKED = re.compile(r"<([^<>/\s]+)[^<>]*>([^<>]*)</\1>")


class Text(NamedTuple):
    """A text, and where in its file it starts, in code points."""

    text: str
    start: int = 0


class Words(NamedTuple):
    """The words of a text with the offsets of the characters they come from."""

    words: list[str]
    starts: Integers
    ends: Integers


class Scale(NamedTuple):
    """The words of a text by their offsets, with the column of each."""

    starts: Integers
    ends: Integers
    columns: Integers

    def renumbered(self, starts: Integers, ends: Integers) -> tuple[Integers, Integers]:
        """Extents in columns: of the first and the last word that they touch.

        An extent that touches no word gets the column of the word behind it.
        """
        return Scales([self]).renumbered(np.zeros(len(starts), dtype=np.int64), starts, ends)

    def behind(self, offset: int) -> int:
        """The column behind those of the words before an offset."""
        before = self.columns[self.starts < offset]
        return int(before[-1]) + 1 if len(before) else 0

    def counted_from(self, column: int) -> Scale:
        """The scale on which a column is 0."""
        return self._replace(columns=self.columns - column)


@dataclass(frozen=True)
class TextPair:
    """The texts that the two sides worked on, by document.

    Attributes:
        reference: the texts of the reference.
        system: those of the system; under the empty name, one text for all documents.
        spellings: global maps for the words of the reference and of the system.
        costs: of the alignment.
    """

    reference: Mapping[str, Text]
    system: Mapping[str, Text]
    spellings: tuple[GlobalMap | None, GlobalMap | None] = (None, None)
    costs: Costs = DOCUMENT

    @cached_property
    def _filters(self) -> tuple[SpellingFilter, SpellingFilter]:
        return SpellingFilter(self.spellings[0]), SpellingFilter(self.spellings[1])

    def scales(self, names: Iterable[tuple[str, str]]) -> list[tuple[Scale, Scale] | None]:
        """The scales of documents of either side; None where one has no text.

        Args:
            names: the names of each document in the reference and in the system.

        Examples:
            >>> pair = TextPair({"d": Text("<DOC> a b </DOC>")}, {"d": Text("<DOC> b </DOC>")})
            >>> [[scale.columns.tolist() for scale in found] for found in pair.scales([("d", "d")])]
            [[[0, 1], [1]]]
        """
        pairs = list(names)
        known = [pair for pair in pairs if pair[0] in self.reference and pair[1] in self.system]
        texts = [(self.reference[ours].text, self.system[theirs].text) for ours, theirs in known]
        found = dict(zip(known, self._aligned(texts), strict=True))
        for (ours, theirs), (reference, system) in zip(known, texts, strict=True):
            scales = found[ours, theirs]
            named = (identifier(reference, ours), identifier(system, theirs))
            first = max(map(Scale.behind, scales, named))
            found[ours, theirs] = scales[0].counted_from(first), scales[1].counted_from(first)
        return [found.get(pair) for pair in pairs]

    def whole(self) -> tuple[Scale, Scale] | None:
        """The scales of all documents as one text, in offsets from the beginning of the file."""
        if "" not in self.system:
            return None
        return self._aligned([(joined(self.reference.values()), self.system[""].text)])[0]

    def _aligned(self, texts: Sequence[tuple[str, str]]) -> list[tuple[Scale, Scale]]:
        """The scales of pairs of texts."""
        pairs = [self._words(*pair) for pair in texts]
        found = alignments([(ours.words, theirs.words) for ours, theirs in pairs], self.costs)
        return [
            (
                Scale(ours.starts, ours.ends, alignment.reference),
                Scale(theirs.starts, theirs.ends, alignment.system),
            )
            for (ours, theirs), alignment in zip(pairs, found, strict=True)
        ]

    def _words(self, reference: str, system: str) -> tuple[Words, Words]:
        ours = words(reference, self._filters[0])
        theirs = words(system, self._filters[1])
        return chosen(ours, theirs.words), chosen(theirs, ours.words)


def identifier(text: str, name: str) -> int:
    """Where the identifier of a document ends, with its tags; 0 where it is not marked in the text.

    Examples:
        >>> identifier("<DOC><DOCNO> d 1 </DOCNO> a", "d1")
        25
    """
    marked = (found for found in _MARKED.finditer(text) if "".join(found[2].split()) == name)
    return next((found.end() for found in marked), 0)


def words(text: str, spellings: SpellingFilter) -> Words:
    """The words of a text outside its tags, in capitals, spelt the usual way."""
    plain = _TAG.sub(lambda tag: " " * len(tag.group()), text)
    plain = plain if plain.isascii() else plain.translate(MARKS)
    extents = np.array([word.span() for word in _WORD.finditer(plain)], dtype=np.int64)
    starts, ends = extents.reshape(-1, 2).T
    if not spellings.changes:
        return Words(capitals(plain).split(), starts, ends)
    spelt = spellings.words(plain.split())
    first, last = ([getattr(word, side) for word in spelt] for side in ("first", "last"))
    return Words([word.text for word in spelt], starts[first], ends[last])


def chosen(own: Words, other: Sequence[str]) -> Words:
    """The words with one member of all alternatives: one that the other text has, if there is one.

    With the words on both sides of it if possible, otherwise with one of them, or alone; else it is
    the first member.

    Examples:
        >>> here = np.arange(5)
        >>> chosen(Words([BEGIN, "A", OR, "B", END], here, here), ["C", "B"]).words
        ['B']
    """
    if BEGIN not in own.words:
        return own
    kept: list[int] = []
    places = list(_alternatives(own.words))
    known = _stretches(other, {stretch for *_, ranked in places for stretch, _ in ranked})
    done = 0
    for start, end, ranked in places:
        member = next((member for stretch, member in ranked if stretch in known), ranked[-1][1])
        kept += [*range(done, start), *member]
        done = end
    kept += range(done, len(own.words))
    at = np.array(kept, dtype=np.int64)
    return Words([own.words[place] for place in kept], own.starts[at], own.ends[at])


#: Stretches of words, the one that is preferred first, each with the places of its member.
_Ranked = list[tuple[tuple[str, ...], range]]


def _alternatives(words: Sequence[str]) -> Iterator[tuple[int, int, _Ranked]]:
    """Start and end of all alternatives, with what to look for of each."""
    starts = [place for place, word in enumerate(words) if word == BEGIN]
    for start in starts:
        end = words.index(END, start)
        marks = [start, *(at for at in range(start, end) if words[at] == OR), end]
        members = [range(one + 1, two) for one, two in pairwise(marks)]
        before, after = words[max(start - 1, 0) : start], words[end + 1 : end + 2]
        around = [(before, after), (before, ()), ((), after), ((), ())]
        ranked = [
            ((*left, *(words[place] for place in member), *right), member)
            for left, right in around
            for member in members
            if member or (left and right)
        ]
        yield start, end + 1, [*ranked, ((), members[0])]


def _stretches(words: Sequence[str], wanted: Collection[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """The stretches among some that a text has."""
    found: set[tuple[str, ...]] = set()
    for size in {len(stretch) for stretch in wanted} - {0}:
        every = zip(*(words[shift:] for shift in range(size)), strict=False)
        found |= {stretch for stretch in every if stretch in wanted}
    return found


def joined(texts: Iterable[Text]) -> str:
    """Texts at their places in one file, blanks between them.

    Examples:
        >>> joined([Text("b", 3), Text("a")])
        'a  b'
    """
    parts: list[str] = []
    place = 0
    for item in sorted(texts, key=lambda text: text.start):
        parts += [" " * max(item.start - place, 0), item.text]
        place = max(place, item.start) + len(item.text)
    return "".join(parts)


def same_file(texts: Mapping[str, Text], file: Text) -> bool:
    r"""Whether texts at their places are all of a file, but for white space between them.

    Examples:
        >>> same_file({"a": Text("x", 0), "b": Text("y", 3)}, Text("x  y\n"))
        True
    """
    return joined(texts.values()).split() == file.text.split() and all(
        file.text.startswith(text, start) for text, start in texts.values()
    )


class Scales:
    """Scales in one row of offsets, those of each after all of the one before: one search does.

    Args:
        scales: the scales, which go by their numbers.

    Examples:
        >>> scale = Scale(np.array([0, 2]), np.array([1, 3]), np.array([5, 6]))
        >>> Scales([scale, scale]).renumbered(np.array([1]), np.array([0]), np.array([3]))
        (array([5]), array([6]))
    """

    def __init__(self, scales: Sequence[Scale]) -> None:
        empty = Scale(*[np.zeros(0, dtype=np.int64)] * 3)
        starts, ends, self._columns = map(np.concatenate, zip(*scales, empty, strict=True))
        self._sizes = np.array([len(scale.columns) for scale in scales], dtype=np.int64)
        self._begins = np.cumsum(self._sizes) - self._sizes
        # Between two scales there is room for offsets before and after all words.
        self._limit = int(max(starts.max(initial=0), ends.max(initial=0))) + 1
        shifts = np.repeat(np.arange(len(scales)), self._sizes) * (self._limit + 2)
        self._starts, self._ends = starts + shifts, ends + shifts

    def renumbered(
        self, scales: Integers, starts: Integers, ends: Integers
    ) -> tuple[Integers, Integers]:
        """Extents in columns: of the first and the last word that they touch, each on its scale.

        An extent that touches no word gets the column of the word behind it; 0 if there is no word.
        """
        begins, last, shift = self._begins[scales], self._sizes[scales] - 1, self._limit + 2
        starts, ends = (values.clip(-1, self._limit) + scales * shift for values in (starts, ends))
        first = np.searchsorted(self._ends, starts, side="right") - begins
        final = np.searchsorted(self._starts, ends, side="left") - 1 - begins
        first, final = (values.clip(0, np.maximum(last, 0)) for values in (first, final))
        columns = np.zeros((2, len(scales)), dtype=np.int64)
        some = last >= 0
        columns[0, some] = self._columns[(begins + first)[some]]
        columns[1, some] = self._columns[(begins + np.maximum(first, final))[some]]
        return columns[0], columns[1]


def in_columns(
    extents: pl.DataFrame, scales: Mapping[int, Scale], more: Sequence[str] = ()
) -> pl.DataFrame:
    """Extents with their offsets made columns.

    Args:
        extents: with `document`, `start` and `end`.
        scales: of some documents; extents of others become null.
        more: names of columns with other starts of the extents.
    """
    distinct = {id(scale): scale for scale in scales.values()}
    numbers = {key: number for number, key in enumerate(distinct)}
    known = {document: numbers[id(scale)] for document, scale in scales.items()}
    table = pl.DataFrame({"document": list(known), "scale": list(known.values())}, _SCALES)
    rows = extents.join(table, on="document", how="left", maintain_order="left")
    every = Scales(list(distinct.values()))
    found = [_renumbered(rows.select("scale", name, "end"), every) for name in ("start", *more)]
    firsts = {name: start for name, (start, _) in zip(more, found[1:], strict=True)}
    start, end = found[0]
    return extents.with_columns(start=start, end=end, **firsts)


_SCALES = {"document": pl.Int64, "scale": pl.Int64}


def _renumbered(extents: pl.DataFrame, scales: Scales) -> tuple[pl.Series, pl.Series]:
    """The columns of extents, null where an offset or the scale is."""
    rows = extents.with_row_index("row")
    known = rows.drop_nulls()
    starts, ends = scales.renumbered(*(column.to_numpy() for column in known.drop("row")))
    found = known.select("row", start=pl.Series(starts), end=pl.Series(ends))
    found = rows.select("row").join(found, on="row", how="left", maintain_order="left")
    return found["start"], found["end"]

"""Text columns: extents of two different texts made comparable by aligning the texts.

An extent becomes the columns of its first and last word in the alignment of the two texts, both
inclusive, as in the specification's example (`General Motors` is ##4#5# on both sides). As there,
columns count from the first word behind the document's identifier; before it they are negative.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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

    def after(self, offset: int) -> int:
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
        found = dict(zip(known, self._align(texts), strict=True))
        for (ours, theirs), (reference, system) in zip(known, texts, strict=True):
            scales = found[ours, theirs]
            named = (identifier(reference, ours), identifier(system, theirs))
            first = max(map(Scale.after, scales, named))
            found[ours, theirs] = scales[0].counted_from(first), scales[1].counted_from(first)
        return [found.get(pair) for pair in pairs]

    def whole(self) -> tuple[Scale, Scale] | None:
        """The scales of all documents as one text, in offsets from the beginning of the file."""
        if "" not in self.system:
            return None
        return self._align([(join_texts(self.reference.values()), self.system[""].text)])[0]

    def _align(self, texts: Sequence[tuple[str, str]]) -> list[tuple[Scale, Scale]]:
        """The scales of pairs of texts."""
        filters = [SpellingFilter(spellings) for spellings in self.spellings]
        pairs: list[tuple[Words, Words]] = []
        for reference, system in texts:
            ours, theirs = words(reference, filters[0]), words(system, filters[1])
            pairs.append((choose(ours, theirs.words), choose(theirs, ours.words)))
        found = alignments([(ours.words, theirs.words) for ours, theirs in pairs], self.costs)
        return [
            (
                Scale(ours.starts, ours.ends, alignment.reference),
                Scale(theirs.starts, theirs.ends, alignment.system),
            )
            for (ours, theirs), alignment in zip(pairs, found, strict=True)
        ]


def identifier(text: str, name: str) -> int:
    """End of the identifier of a document, with its tags; 0 where it is not marked in the text.

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


def choose(own: Words, other: Sequence[str]) -> Words:
    """The words with one member of all alternatives: one that the other text has, if there is one.

    With the words on both sides of it if possible, otherwise with one of them, or alone; else it is
    the first member.

    Examples:
        >>> here = np.arange(5)
        >>> choose(Words([BEGIN, "A", OR, "B", END], here, here), ["C", "B"]).words
        ['B']
    """
    if BEGIN not in own.words:
        return own
    alternatives = list(_alternatives(own.words))
    wanted = {phrase for *_, ranked in alternatives for phrase, _ in ranked}
    known: set[tuple[str, ...]] = set()
    for size in {len(phrase) for phrase in wanted} - {0}:
        phrases = zip(*(other[shift:] for shift in range(size)), strict=False)
        known |= {phrase for phrase in phrases if phrase in wanted}
    kept: list[int] = []
    done = 0
    for start, end, ranked in alternatives:
        member = next((member for phrase, member in ranked if phrase in known), ranked[-1][1])
        kept += [*range(done, start), *member]
        done = end
    kept += range(done, len(own.words))
    places = np.array(kept, dtype=np.int64)
    return Words([own.words[place] for place in kept], own.starts[places], own.ends[places])


#: Phrases, the one that is preferred first, each with the places of its member.
_Ranked = list[tuple[tuple[str, ...], range]]


def _alternatives(words: Sequence[str]) -> Iterator[tuple[int, int, _Ranked]]:
    """Start and end of all alternatives, with what to look for of each."""
    for start in (place for place, word in enumerate(words) if word == BEGIN):
        end = words.index(END, start)
        marks = [start, *(place for place in range(start, end) if words[place] == OR), end]
        members = [range(mark + 1, after) for mark, after in pairwise(marks)]
        before, after = words[max(start - 1, 0) : start], words[end + 1 : end + 2]
        ranked = [
            ((*left, *words[member.start : member.stop], *right), member)
            for left, right in ((before, after), (before, ()), ((), after), ((), ()))
            for member in members
            if member or (left and right)
        ]
        yield start, end + 1, [*ranked, ((), members[0])]


def join_texts(texts: Iterable[Text]) -> str:
    """Texts at their places in one file, blanks between them.

    Examples:
        >>> join_texts([Text("b", 3), Text("a")])
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
    there = (file.text.startswith(text, start) for text, start in texts.values())
    return join_texts(texts.values()).split() == file.text.split() and all(there)


def in_columns(
    extents: pl.DataFrame, scales: Mapping[int, Scale], more: Sequence[str] = ()
) -> pl.DataFrame:
    """Extents with their offsets made columns: of the first and the last word that they touch.

    An extent that touches no word gets the column of the word after it; 0 if there is no word.

    Args:
        extents: with `document`, `start` and `end`.
        scales: of some documents; extents of others become null.
        more: names of columns with other starts of the extents.

    Examples:
        >>> scale = Scale(np.array([0, 2]), np.array([1, 3]), np.array([5, 6]))
        >>> extents = pl.DataFrame({"document": [1], "start": [0], "end": [3]})
        >>> in_columns(extents, {1: scale}).row(0)
        (1, 5, 6)
    """
    distinct = {id(scale): scale for scale in scales.values()}
    numbers = {key: number for number, key in enumerate(distinct)}
    # All scales in one row of offsets, with room between them for those before and after all words.
    empty = Scale(*[np.zeros(0, dtype=np.int64)] * 3)
    starts, ends, columns = map(np.concatenate, zip(*distinct.values(), empty, strict=True))
    sizes = np.array([len(scale.columns) for scale in distinct.values()], dtype=np.int64)
    begins = np.cumsum(sizes) - sizes
    limit = int(max(starts.max(initial=0), ends.max(initial=0))) + 1
    shifts = np.repeat(np.arange(len(sizes)), sizes) * (limit + 2)
    starts, ends = starts + shifts, ends + shifts

    known = {document: numbers[id(scale)] for document, scale in scales.items()}
    number = pl.col("document").replace_strict(known, default=None, return_dtype=pl.Int64)
    rows = extents.with_row_index("row").with_columns(scale=number)
    result = rows.drop("start", "end", *more)
    for name in (*more, "start"):
        some = rows.drop_nulls(["scale", name, "end"])
        scale, start, end = (some[column].to_numpy() for column in ("scale", name, "end"))
        start, end = (value.clip(-1, limit) + scale * (limit + 2) for value in (start, end))
        final = begins[scale] + np.maximum(sizes[scale] - 1, 0)
        first = np.searchsorted(ends, start, side="right").clip(begins[scale], final)
        last = (np.searchsorted(starts, end, side="left") - 1).clip(first, final)
        padded, has_words = np.append(columns, 0), sizes[scale] > 0
        first, last = (np.where(has_words, padded[place], 0) for place in (first, last))
        found = some.select("row").with_columns(pl.Series(name, first), pl.Series("end", last))
        result = result.drop("end", strict=False)
        result = result.join(found, on="row", how="left", maintain_order="left")
    return result.select(extents.columns)

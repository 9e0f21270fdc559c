"""The strings of fills as they are compared, by the specification's "Normalization".

In its order: spellings are made the usual ones (if the texts differ), unwanted text is whited out,
premodifiers are removed. White-out leaves extents as they are; a removed premodifier moves the
start of the extent by as many characters. A removal never empties a string, nor a minimal string
in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from hlteval.representation.global_map import GlobalMap
from hlteval.scoring.hub4.spelling import SpellingFilter

_WORD = re.compile(r"\S+")
_TAG = re.compile(r"<(/?)([^\s<>/]+)[^<>]*>")


@dataclass(frozen=True)
class TextNormalizer:
    """How the strings of fills are made comparable.

    Attributes:
        spellings: a global map, where the texts of the two sides differ.
        fold: whether case is ignored.
        whiteout: characters that become blanks.
        nonextractable: names of elements that become blanks, from start tag to end tag.
        premodifiers: words that are removed from the beginning of a string, in any case.
        anywhere: whether they are removed wherever they stand.
    """

    spellings: GlobalMap | None = None
    fold: bool = False
    whiteout: str = ""
    nonextractable: tuple[str, ...] = ()
    premodifiers: tuple[str, ...] = ()
    anywhere: bool = False

    @cached_property
    def _filter(self) -> SpellingFilter:
        return SpellingFilter(self.spellings)

    @cached_property
    def _removed(self) -> frozenset[str]:
        return frozenset(word.lower() for word in self.premodifiers)

    def content(self, text: str, *, most: int | None = None, whole: bool = False) -> str:
        """A string as it is compared, words with a space between.

        Args:
            text: the string.
            most: most premodifiers that are removed.
            whole: whether premodifiers are kept.

        Examples:
            >>> normalizer = TextNormalizer(premodifiers=("and", "the"), whiteout=".,")
            >>> normalizer.content("And the  U.S. team,")
            'U S team'
        """
        if self.spellings is not None:
            text = self._filter.text(text)
        words = self._blanked(text).split()
        if self.premodifiers and not whole:
            words = self._kept(words, most)
        kept = " ".join(words)
        return kept.lower() if self.fold else kept

    def shift(self, text: str, *, most: int | None = None) -> int:
        """How many characters the premodifiers at the beginning of a string take.

        Args:
            text: the string.
            most: most premodifiers that are removed.

        Examples:
            >>> TextNormalizer(premodifiers=("and", "the")).shift("and the other title")
            8
        """
        words = list(_WORD.finditer(self._blanked(text)))
        gone = self._leading([word.group() for word in words], most)
        return words[gone].start() if gone else 0

    def bare(self, text: str) -> bool:
        """Whether a string has nothing but premodifiers."""
        words = self._blanked(text).split()
        return bool(words) and all(word.lower() in self._removed for word in words)

    def spared(self, text: str, minimal: Iterable[tuple[int, int]]) -> int | None:
        """How many premodifiers can be removed from a string without emptying a minimal string.

        Args:
            text: the maximal string.
            minimal: start and end of the minimal strings in it.

        Returns:
            None where no minimal string has nothing but premodifiers.

        Examples:
            >>> TextNormalizer(premodifiers=("and", "the")).spared("the And One", [(4, 7)])
            1
        """
        ends = [end for start, end in minimal if self.bare(text[start:end])]
        if not ends:
            return None
        return min(len(self._blanked(text[:end]).split()) - 1 for end in ends)

    def _blanked(self, text: str) -> str:
        """A string with what is unwanted made blanks, as long as before."""
        if self.nonextractable and "<" in text:
            text = self._without_sections(text)
        return text.translate(self._blanks) if self.whiteout else text

    @cached_property
    def _blanks(self) -> dict[int, str]:
        return dict.fromkeys(map(ord, self.whiteout), " ")

    def _without_sections(self, text: str) -> str:
        parts, place = [], 0
        for start, end in _sections(text, {name.lower() for name in self.nonextractable}):
            parts += [text[place:start], " " * (end - start)]
            place = end
        return "".join([*parts, text[place:]])

    def _leading(self, words: Sequence[str], most: int | None = None) -> int:
        """How many words at the beginning are premodifiers; the last word always stays."""
        last = len(words) - 1 if most is None else min(most, len(words) - 1)
        for place, word in enumerate(words):
            if word.lower() not in self._removed or place == last:
                return place
        return 0

    def _kept(self, words: list[str], most: int | None) -> list[str]:
        if not self.anywhere or most is not None:
            return words[self._leading(words, most) :]
        return [word for word in words if word.lower() not in self._removed] or words[-1:]

    def contents(self, texts: pl.Series, *, whole: bool = False) -> pl.Series:
        """The strings of a column as they are compared, each different one computed once."""
        return _mapped(texts, lambda text: self.content(text, whole=whole), pl.String)

    def bares(self, texts: pl.Series) -> pl.Series:
        """Whether each string of a column has nothing but premodifiers."""
        if not self.premodifiers:
            return pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True)
        return _mapped(texts, self.bare, pl.Boolean).fill_null(False)

    def shifts(self, texts: pl.Series) -> pl.Series:
        """The shift of each string of a column, 0 where there is none."""
        if not self.premodifiers:
            return pl.repeat(0, len(texts), dtype=pl.Int64, eager=True)
        return _mapped(texts, self.shift, pl.Int64).fill_null(0)


def _mapped(
    texts: pl.Series, function: Callable[[str], object], dtype: type[pl.DataType]
) -> pl.Series:
    """What a function gives for each string of a column, computed once for each different one."""
    rows = texts.alias("text").to_frame()
    distinct = texts.drop_nulls().unique(maintain_order=True).alias("text")
    found = pl.Series("found", [function(text) for text in distinct.to_list()], dtype=dtype)
    known = pl.DataFrame([distinct, found])
    return rows.join(known, on="text", how="left", maintain_order="left")["found"]


def _sections(text: str, names: set[str]) -> Iterator[tuple[int, int]]:
    """The stretches of elements of some names: whole elements, or a tag that stands alone."""
    opened: tuple[str, int, int] | None = None
    for tag in _TAG.finditer(text):
        name = tag.group(2).lower()
        if opened is not None and tag.group(1) and name == opened[0]:
            yield opened[1], tag.end()
            opened = None
        elif opened is None and name in names:
            if tag.group(1):
                yield tag.span()
            else:
                opened = (name, tag.start(), tag.end())
    if opened is not None:
        yield opened[1], opened[2]

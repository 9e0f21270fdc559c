"""The strings of fills as they are compared, by the specification's "Normalization".

In its order: spellings are made the usual ones (if the texts differ), unwanted text is whited out,
premodifiers are removed. White-out leaves extents as they are; a removed premodifier moves the
start of the extent by as many characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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

    def content(self, text: str) -> str:
        """A string as it is compared, words with a blank between.

        Examples:
            >>> normalizer = TextNormalizer(premodifiers=("and", "the"), whiteout=".,")
            >>> normalizer.content("And the  U.S. team,")
            'U S team'
        """
        if self.spellings is not None:
            text = self._filter.text(text)
        words = self._blanked(text).split()
        if self.premodifiers:
            words = self._kept(words)
        kept = " ".join(words)
        return kept.lower() if self.fold else kept

    def shift(self, text: str) -> int:
        """How many characters the premodifiers at the beginning of a string take.

        Examples:
            >>> TextNormalizer(premodifiers=("and", "the")).shift("and the other title")
            8
        """
        words = list(_WORD.finditer(self._blanked(text)))
        gone = self._leading([word.group() for word in words])
        return words[gone].start() if gone else 0

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

    def _leading(self, words: Sequence[str]) -> int:
        """How many words at the beginning are premodifiers; the last word always stays."""
        for place, word in enumerate(words):
            if word.lower() not in self._removed or place == len(words) - 1:
                return place
        return 0

    def _kept(self, words: list[str]) -> list[str]:
        if not self.anywhere:
            return words[self._leading(words) :]
        return [word for word in words if word.lower() not in self._removed] or words[-1:]

    def contents(self, texts: pl.Series) -> pl.Series:
        """The strings of a column as they are compared, each different one worked out once."""
        return self._mapped(texts, [self.content(text) for text in _distinct(texts)], pl.String)

    def shifts(self, texts: pl.Series) -> pl.Series:
        """The shift of each string of a column, 0 where there is none."""
        if not self.premodifiers:
            return pl.repeat(0, len(texts), dtype=pl.Int64, eager=True)
        found = [self.shift(text) for text in _distinct(texts)]
        return self._mapped(texts, found, pl.Int64).fill_null(0)

    def _mapped(
        self, texts: pl.Series, found: Sequence[object], dtype: type[pl.DataType]
    ) -> pl.Series:
        known = pl.DataFrame({"text": _distinct(texts), "found": pl.Series(found, dtype=dtype)})
        rows = texts.alias("text").to_frame()
        return rows.join(known, on="text", how="left", maintain_order="left")["found"]


def _distinct(texts: pl.Series) -> pl.Series:
    return texts.drop_nulls().unique(maintain_order=True)


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

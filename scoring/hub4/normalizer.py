"""The strings of fills as they are compared, by the specification's "Normalization".

In its order: spellings are made the usual ones (if the texts differ), unwanted text is whited out,
premodifiers are removed. White-out leaves extents as they are; a removed premodifier moves the
start of the extent by as many characters. A removal never empties a string, nor a minimal string
in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from hlteval.representation.global_map import GlobalMap, Rule
from hlteval.scoring.hub4.word_alignment import UNIT, Costs, Integers, is_fragment

# Spelling: a global map applied to words, as the filter of the speech evaluations does it.
#
# A cursor moves over the text. Of the rules that fit at the cursor the first is applied, and the
# cursor goes behind what it rewrote; contexts are looked for in the text as it was given, and what
# a rule wrote is not looked at again. Where no rule fits, a character is copied, unless the map
# says not to.
#
# Conventions:
#     Texts are words with a space between, in capitals, and a space at either end. Alternatives
#     `{A / B}` that a rule writes are between marks, which are words of their own and occur in no
#     text; `@` is an empty alternative.


_KEY = 3
#: Marks of alternatives: code points that Unicode reserves for use inside programs.
BEGIN, OR, END = "\ufdd0", "\ufdd1", "\ufdd2"
#: How a global map writes each of these marks.
NOTATION = ((f"{BEGIN} ", "{"), (OR, "/"), (f" {END}", "}"))
#: What stands for these code points where a text has them.
MARKS = str.maketrans(dict.fromkeys((BEGIN, OR, END), "\ufffd"))
_WRITTEN = re.compile(r"\{([^{}]*)\}")
_MARKED = re.compile(f"{BEGIN}([^{BEGIN}{END}]*){END}")
#: Most combinations of alternatives of one text that are looked at.
MOST = 4096


class Word(NamedTuple):
    """A word after the filter: its text, and which of the given words it comes from."""

    text: str
    first: int
    last: int


class SpellingFilter:
    """A global map, ready to be applied.

    Args:
        rules: the map; None changes nothing but the case.

    Examples:
        >>> rules = GlobalMap((Rule("CEASEFIRE", "CEASE FIRE", " ", " "),))
        >>> SpellingFilter(rules).words(["A", "ceasefire"])
        [Word(text='A', first=0, last=0), Word(text='CEASE', first=1, last=1), \
Word(text='FIRE', first=1, last=1)]
    """

    def __init__(self, rules: GlobalMap | None) -> None:
        self.rules = rules
        self.sensitive = rules is not None and rules.case_sensitive

    @cached_property
    def _index(self) -> dict[str, list[tuple[int, Rule]]]:
        """The rules by what their text begins with, up to `_KEY` characters, with their ranks."""
        index: dict[str, list[tuple[int, Rule]]] = {}
        for rank, rule in enumerate(self.rules.rules if self.rules else ()):
            if rule.source:
                sides = (rule.source, _marked(rule.target), rule.left, rule.right)
                kept = Rule(*(sides if self.sensitive else map(capitals, sides)))
                index.setdefault((kept.source + kept.right)[:_KEY], []).append((rank, kept))
        return index

    @property
    def changes(self) -> bool:
        """Whether there is a rule that could change more than the case."""
        return bool(self._index)

    def text(self, written: str) -> str:
        """A text in capitals with its spellings made the usual ones.

        Examples:
            >>> SpellingFilter(GlobalMap((Rule("GONNA", "GOING TO"),))).text("gonna go")
            'GOING TO GO'
        """
        return " ".join(word.text for word in self.words(written.translate(MARKS).split()))

    def words(self, written: Sequence[str]) -> list[Word]:
        """The words of a text with their spellings made the usual ones, each with its origin."""
        if not self.changes:
            return [Word(capitals(word), place, place) for place, word in enumerate(written)]
        text = f" {' '.join(written)} "
        origin = [place for place, word in enumerate(written) for _ in range(len(word) + 1)]
        origin = [0, *origin]  # a blank belongs to the word before it
        return list(_split(self._pieces(text if self.sensitive else capitals(text)), origin))

    def _pieces(self, text: str) -> Iterator[tuple[str, int, int]]:
        """What is written, with the stretch of the text that it is written for."""
        place, copies = 0, self.rules is None or self.rules.copy_no_hit
        while place < len(text):
            rule = self._fitting(text, place)
            end = place + (len(rule.source) if rule else 1)
            unmatched = text[place] if copies else ""
            yield capitals(rule.target if rule else unmatched), place, end
            place = end

    def _fitting(self, text: str, place: int) -> Rule | None:
        found: list[tuple[int, Rule]] = []
        for size in range(1, _KEY + 1):
            found += self._index.get(text[place : place + size], ())
        for _, rule in sorted(found, key=lambda one: one[0]) if len(found) > 1 else found:
            before = place - len(rule.left)
            if before >= 0 and text.startswith(rule.left + rule.source + rule.right, before):
                return rule
        return None


def capitals(text: str) -> str:
    """A text in capitals, as many characters as before.

    Examples:
        >>> capitals("straße")
        'STRAßE'
    """
    if text.isascii():
        return text.upper()
    return "".join(big if len(big := item.upper()) == 1 else item for item in text)


def _marked(target: str) -> str:
    """A target with its alternatives between marks; a single word in braces is not one."""
    return _WRITTEN.sub(lambda found: _between_marks(found[1].split("/")), target)


def _between_marks(members: Sequence[str]) -> str:
    bare = [member.strip() for member in members]
    bare = [item[1:-1] if item[:1] + item[-1:] == "[]" else item for item in bare]
    bare = ["" if item == "@" else item for item in bare]
    if len(bare) == 1:
        return bare[0]
    return f" {BEGIN} {f' {OR} '.join(bare)} {END} "


@lru_cache(maxsize=4096)
def variants(text: str) -> tuple[str, ...]:
    """All texts that one with alternatives may be; no more than `MOST`.

    Examples:
        >>> variants(SpellingFilter(GlobalMap((Rule("C", "{A / B}"),))).text("c d"))
        ('A D', 'B D')
    """
    if BEGIN not in text:
        return (text,)
    parts = _MARKED.split(text)  # what is between two marks is at the odd places
    members = (part.split(OR) if at % 2 else [part] for at, part in enumerate(parts))
    found = (" ".join("".join(chosen).split()) for chosen in product(*members))
    return tuple(dict.fromkeys(islice(found, MOST)))


def _split(pieces: Iterator[tuple[str, int, int]], origin: list[int]) -> Iterator[Word]:
    """The words of what was written, each with the first and last word it comes from."""
    text, first, last = "", 0, 0
    for written, start, end in pieces:
        for character in written:
            if character == " ":
                if text:
                    yield Word(text, first, last)
                text = ""
                continue
            if not text:
                first = origin[min(start, len(origin) - 1)]
            text += character
            last = origin[min(end - 1, len(origin) - 1)]
    if text:
        yield Word(text, first, last)


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


# Phones: how far two words sound apart, by a lexicon that the user supplies.


@dataclass(frozen=True)
class Lexicon:
    """The pronunciations of words: each a string with one character a phone.

    Attributes:
        phones: the pronunciations of each word, in small letters.
    """

    phones: Mapping[str, tuple[str, ...]]

    @staticmethod
    def of(entries: Iterable[tuple[str, Sequence[str]]]) -> Lexicon:
        """A lexicon of words with their phones; a word may come more than once.

        Examples:
            >>> lexicon = Lexicon.of([("heart", "HH AA1 R T".split()), ("part", ["P", "AA1"])])
            >>> len(lexicon.phones["heart"][0])
            4
        """
        signs: dict[str, str] = {}
        phones: dict[str, tuple[str, ...]] = {}
        for word, written in entries:
            # Stress is not part of a phone; each phone becomes a character of a private use area.
            plain = (phone.rstrip("0123456789") or phone for phone in written)
            pronunciations = "".join(
                signs.setdefault(phone, chr(0xE000 + len(signs))) for phone in plain
            )
            phones[word.lower()] = (*phones.get(word.lower(), ()), pronunciations)
        return Lexicon(phones)

    def pronunciations(self, word: str) -> tuple[str, ...]:
        """The pronunciations of a word, of a fragment without its `-`; or else its letters."""
        plain = word[:-1] if is_fragment(word) else word
        return self.phones.get(word) or self.phones.get(plain) or (plain,)

    def distance(self, words: Sequence[str], others: Sequence[str]) -> Integers:
        """The cost of words beside others: 4 times the share of phones that differ.

        Of words with several pronunciations the closest count; where one of two words has none,
        both are spelt.

        Examples:
            >>> Lexicon.of([]).distance(["heart"], ["heart", "part"]) / UNIT
            array([[0. , 1.6]])
        """
        if not words or not others:
            return np.zeros((len(words), len(others)), dtype=np.int64)
        letters = _rates(words, others)
        rows, columns = ([self.pronunciations(word) for word in side] for side in (words, others))
        phones = _rates(
            [p for forms in rows for p in forms], [p for forms in columns for p in forms]
        )
        phones = np.minimum.reduceat(phones, _starts(rows), axis=0)
        phones = np.minimum.reduceat(phones, _starts(columns), axis=1)
        known = [np.array([word in self.phones for word in side]) for side in (words, others)]
        rates = np.where(known[0][:, None] & known[1][None, :], phones, letters)
        costs: Integers = np.rint(rates * 4 * UNIT).astype(np.int64)
        return costs

    def costs(self) -> Costs:
        """The costs of aligning words by how they sound."""
        return Costs(fragment=UNIT, distance=self.distance)


def _rates(words: Sequence[str], others: Sequence[str]) -> npt.NDArray[np.float32]:
    """The share of characters that differ."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    return cdist(words, others, scorer=Levenshtein.normalized_distance)


def _starts(forms: Sequence[tuple[str, ...]]) -> Integers:
    """Where the forms of each word begin among those of all."""
    return np.cumsum([0, *map(len, forms)])[:-1]

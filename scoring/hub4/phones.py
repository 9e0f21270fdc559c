"""Phones: how far two words sound apart, by a lexicon that the user supplies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hlteval.scoring.hub4.word_alignment import UNIT, Costs, Integers, is_fragment


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

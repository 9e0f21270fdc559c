"""Phones: how far two words sound apart, by a lexicon that the user supplies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hlteval.scoring.word_alignment import UNIT, Costs, Integers, is_fragment


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
        for word, listed in entries:
            # Stress is no phone of its own, and a character of a private area stands for each.
            plain = (phone.rstrip("0123456789") or phone for phone in listed)
            spoken = "".join(signs.setdefault(one, chr(0xE000 + len(signs))) for one in plain)
            phones[word.lower()] = (*phones.get(word.lower(), ()), spoken)
        return Lexicon(phones)

    def spoken(self, word: str) -> tuple[str, ...]:
        """The pronunciations of a word, of a fragment without its `-`; or else its letters."""
        plain = word[:-1] if is_fragment(word) else word
        return self.phones.get(word) or self.phones.get(plain) or (plain,)

    def distance(self, word: str, others: Sequence[str]) -> Integers:
        """The cost of a word beside each of others: 4 times the share of phones that differ.

        Of words with several pronunciations the closest count; where one of two words has none,
        both are spelt.

        Examples:
            >>> Lexicon.of([]).distance("heart", ["heart", "part"]) / UNIT
            array([0. , 1.6])
        """
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist

        known = word in self.phones
        spelt = [other not in self.phones for other in others]
        said = [
            (other,) if alone or not known else self.spoken(other)
            for other, alone in zip(others, spelt, strict=True)
        ]
        flat = [one for listed in said for one in listed]
        starts = np.cumsum([0, *(len(listed) for listed in said)])[:-1]
        forms = list(dict.fromkeys([word, *self.spoken(word)]))
        rates = cdist(forms, flat, scorer=Levenshtein.normalized_distance)
        if not flat:
            return np.zeros(0, dtype=np.int64)
        by_letters = rates[0]
        by_phones = rates[1:].min(axis=0) if len(forms) > 1 else by_letters
        single = np.repeat(np.array(spelt), [len(listed) for listed in said])
        rate = np.minimum.reduceat(np.where(single | (not known), by_letters, by_phones), starts)
        costs: Integers = np.rint(rate * 4 * UNIT).astype(np.int64)
        return costs

    def costs(self) -> Costs:
        """The costs of aligning words by how they sound."""
        return Costs(fragment=UNIT, distance=self.distance)

"""BLEU, chrF, chrF++ and TER as sacrebleu defines them, of many segments at once.

sacrebleu tokenizes each distinct word once, and searches the shifts of TER. Tokens are numbers
here: n-grams of all segments are counted by sorting these. The values follow from sums of counts by
the operations of sacrebleu, in its order, so that they are equal to the last digit.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import chain, count, pairwise
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from hlteval.findings import finding
from hlteval.scoring.metric import CannotCount
from hlteval.scoring.mt.segments import TranslationOptions
from hlteval.scoring.ratios import ratio

Numbers = NDArray[np.float64]
Whole = NDArray[np.int64]

#: The names as sacrebleu writes them, and how many counts a segment has.
NAMES = {"bleu": "BLEU", "chrf": "chrF2", "chrf_pp": "chrF2++", "ter": "TER"}
SIZES = {"bleu": 10, "chrf": 18, "chrf_pp": 24, "ter": 2}
#: Characters that are counted at a time, and bits of the number of an n-gram and its segment.
BLOCK, BITS = 1 << 17, 62
#: The beam of TER: words on each side of the diagonal; and words that can be characters.
BEAM, MOST = 25, 0x10FFFF


def encode(lists: Sequence[Sequence[str]]) -> tuple[list[str], Whole, Whole]:
    """The distinct items of lists, the number of each item, and the lengths of the lists.

    Examples:
        >>> items, numbers, lengths = encode([["a", "b"], [], ["a"]])
        >>> items, numbers.tolist(), lengths.tolist()
        (['a', 'b'], [0, 1, 0], [2, 0, 1])
    """
    known: defaultdict[str, int] = defaultdict(count().__next__)
    numbers = np.fromiter(map(known.__getitem__, chain.from_iterable(lists)), np.int64)
    return list(known), numbers, np.fromiter(map(len, lists), np.int64)


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments whose white space is normalised.

    Attributes:
        translations: their texts.
        references: one or several per segment.
        lowercase: whether BLEU, chrF and chrF++ ignore case.
    """

    translations: Sequence[str]
    references: Sequence[Sequence[str]]
    lowercase: bool = False

    def blocks(self) -> "Iterator[Segments]":
        """Parts that are counted at a time, so that memory does not grow with their number."""
        pairs = zip(self.translations, self.references, strict=True)
        lengths = [len(own) + sum(map(len, others)) for own, others in pairs]
        bounds = np.flatnonzero(np.diff(np.cumsum(lengths) // BLOCK, prepend=-1)).tolist()
        for part in map(slice, bounds, [*bounds[1:], None]):
            yield Segments(self.translations[part], self.references[part], self.lowercase)

    @cached_property
    def places(self) -> Whole:
        """The side of each text (0 for a translation, the number of a reference), and its segment.

        The texts are in the order of segments, translations before references.
        """
        side = [number for others in self.references for number in range(len(others) + 1)]
        return np.array([side, np.cumsum(np.equal(side, 0)) - 1])

    @cached_property
    def begins(self) -> Whole:
        """The first reference of each segment among those of all."""
        return np.flatnonzero(self.places[0][self.places[0] > 0] == 1)

    @cached_property
    def _words(self) -> tuple[list[str], Whole, Whole]:
        """The distinct words with the spaces beside them; the words of all texts; their numbers."""
        pairs = zip(self.translations, self.references, strict=True)
        texts = chain.from_iterable((own, *others) for own, others in pairs)
        words, *places = encode([text.replace(" ", " \n ").split("\n") for text in texts])
        return [word.lower() if self.lowercase else word for word in words], places[0], places[1]

    def tokens(self, split: Callable[[str], Sequence[str]]) -> tuple[Whole, Whole]:
        """The tokens of all texts as numbers, and how many each text has."""
        words, numbers, lengths = self._words
        _, codes, sizes = encode([split(word) for word in words])
        own, begins = sizes[numbers], (np.cumsum(sizes) - sizes)[numbers]
        places = np.arange(own.sum()) + np.repeat(begins - np.cumsum(own) + own, own)
        return codes[places], np.add.reduceat(own, np.cumsum(lengths) - lengths)

    def ngrams(self, tokens: tuple[Whole, Whole], orders: int, *, clipped: bool = False) -> Whole:
        """The n-grams of translations, of references, and of both, by reference and order.

        N-grams up to the longest that 64 bits hold are sorted once; their beginnings are then in
        order, too. Each text ends with the number of its side, so that no n-gram that leaves a text
        is on both sides.

        Args:
            tokens: as `tokens` gives them.
            orders: the longest n-grams.
            clipped: whether those of both are the most of any of the references.
        """
        (codes, lengths), (side, segment) = tokens, self.places
        size, sides = len(codes) + len(lengths), int(side.max()) + 1
        units = np.append(np.insert(codes + sides, np.cumsum(lengths), side), [0] * orders)
        of_side, rows = np.repeat(self.places, lengths + 1, axis=1)
        width, low = int(units.max()).bit_length(), (sides - 1).bit_length()
        both = np.zeros((orders, sides - 1, rows[-1] + 1), np.int64)
        grams, bits, order = rows, len(segment).bit_length(), 0
        while order < orders:
            steps = min(orders - order, (BITS - low - bits) // width)
            if steps < 1:
                grams, bits = np.unique(grams, return_inverse=True)[1], size.bit_length()
                continue
            for ahead in range(order, order + steps):
                grams = grams << width | units[ahead : ahead + size]
            bits += width * steps
            keys = np.sort(grams << low | of_side)
            sums = np.cumsum(keys & (1 << low) - 1 == np.arange(sides)[:, None], axis=1)
            for shift in range(width * (steps - 1) + low, low - 1, -width):
                starts = np.flatnonzero(np.diff(keys >> shift, prepend=-1))
                own, *others = np.diff(sums[:, np.append(starts[1:], size) - 1], prepend=0)
                matches = np.minimum(own, others)
                every = matches.max(axis=0, keepdims=True) if clipped else matches
                both[order] = [np.bincount(rows[starts], each, rows[-1] + 1) for each in every]
                order += 1
        at, own = side > 0, lengths[side == 0][segment]
        totals = [np.maximum(each[at, None] - np.arange(orders), 0) for each in (own, lengths)]
        return np.stack([*totals, both[:, side[at] - 1, segment[at]].T], axis=2)

    @cached_property
    def characters(self) -> Whole:
        """The n-grams of up to six characters."""
        return self.ngrams(self.tokens(lambda word: "".join(word.split())), 6)


@dataclass(frozen=True)
class StringMeasure:
    """BLEU, chrF, chrF++ or TER.

    Attributes:
        name: one of `NAMES`.
        options: the tokenizer of BLEU, and whether case is ignored.
    """

    name: str
    options: TranslationOptions

    @property
    def size(self) -> int:
        """How many counts a segment has."""
        return SIZES[self.name]

    def counts(self, segments: Segments) -> Numbers:
        """The counts of segments, a row each.

        Raises:
            CannotCount: if sacrebleu is not installed.
        """
        special = {"bleu": self._bleu_counts, "ter": self._ter_counts}
        return special.get(self.name, self._chrf_counts)(segments).astype(np.float64)

    def _bleu_counts(self, segments: Segments) -> NDArray[Any]:
        split = self._corpus.tokenizer
        grams = segments.ngrams(segments.tokens(lambda word: split(word).split()), 4, clipped=True)
        own, other, _ = grams[:, 0].T
        # The reference whose length is closest, of two the shorter one.
        closest = np.minimum.reduceat(abs(own - other) << 32 | other, segments.begins) % (1 << 32)
        grams = grams[segments.begins]
        return np.column_stack([grams[:, 0, 0], closest, grams[..., 2], grams[..., 0]])

    def _chrf_counts(self, segments: Segments) -> NDArray[Any]:
        split, grams = self._corpus._remove_punctuation, segments.characters
        if self.name == "chrf_pp":
            grams = np.hstack([grams, segments.ngrams(segments.tokens(split), 2)])
        # Of an order that the reference does not have nothing counts.
        rows = (grams * (grams[..., 1:2] > 0)).reshape(-1, self.size)
        # The first of the references with the best value.
        segment = segments.places[1][segments.places[0] > 0]
        return rows[np.lexsort((-chrf(rows), segment))[segments.begins]]

    def _ter_counts(self, segments: Segments) -> NDArray[Any]:
        tokens = segments.tokens(lambda word: self._corpus.tokenizer(word).split())
        words: Any = tokens[0].tolist()
        # Strings are compared and shifted fastest.
        letters = "".join(map(chr, words)) if max(words, default=0) <= MOST else words
        ends = np.cumsum(tokens[1]).tolist()
        texts = [letters[begin:end] for begin, end in pairwise([0, *ends])]
        sides = enumerate(segments.places[0].tolist())
        pairs = [(texts[at - side], texts[at]) for at, side in sides if side]
        edits = np.array([Levenshtein.distance(*pair) for pair in pairs])
        own, other, both = segments.ngrams(tokens, 1)[:, 0].T
        # Words that the other side lacks are edits wherever they are shifted to.
        least = np.maximum(own, other) - both
        # Shorter texts and distances have all their shortest paths in the beam.
        is_outside = (other >= BEAM) & (edits + abs(own - other) > 2 * BEAM - 4)
        for at in np.flatnonzero(is_outside | (edits > least + 1)).tolist():
            edits[at] = shifted_edits(*pairs[at], int(least[at]))
        length, number = (np.add.reduceat(each, segments.begins) for each in (other, other**0))
        return np.column_stack([np.minimum.reduceat(edits, segments.begins), length / number])

    def values(self, sums: Numbers, *, alone: bool = False) -> dict[str, Numbers]:
        """The values of rows of summed counts, by what follows the name of the metric in theirs.

        Args:
            sums: the counts.
            alone: whether a row is a segment by itself: BLEU is of the orders that it has.
        """
        if self.name == "bleu":
            return {"": bleu(sums, effective_order=alone)}
        return {"": ter(sums) if self.name == "ter" else chrf(sums)}

    def signature(self, references: int) -> str:
        """The signature of sacrebleu, in one line.

        Args:
            references: how many each segment has; -1 where that varies.
        """
        self._corpus.num_refs = references
        return f"{NAMES[self.name]}|{self._corpus.get_signature()}"

    def finish(self) -> None:
        """Nothing is kept."""

    @cached_property
    def _corpus(self) -> Any:
        """The metric of sacrebleu."""
        try:
            from sacrebleu import metrics
        except ImportError as reason:
            raise CannotCount(finding("MTS107").of("--metric")) from reason
        own = self.options
        if self.name == "bleu":
            return metrics.bleu.BLEU(own.lowercase, force=True, tokenize=own.tokenize)
        if self.name == "ter":
            return metrics.ter.TER()
        return metrics.chrf.CHRF(lowercase=own.lowercase, word_order=2 * (self.name == "chrf_pp"))


def shifted_edits(translation: str, reference: str, least: int) -> int:
    """The edits of TER with shifts, which sacrebleu searches.

    It asks for the distance after each shift that it considers. Where that is not shorter, or has a
    shortest path in the beam, the distance without a beam serves.

    Args:
        translation: a character per word.
        reference: the same.
        least: edits that are left after any shifts. One more ends the search, too: the shift that
            saves it is an edit.
    """
    library: Any = import_module("sacrebleu.metrics.lib_ter")
    beam, words, shifts, checked = library.BeamEditDistance(reference), translation, 0, 0

    def distance(shifted: str) -> tuple[int, str]:
        if shifted == words:
            return edits, trace
        shortest = Levenshtein.distance(shifted, reference, score_cutoff=edits - 1)
        if shortest < edits:
            slope, path = len(reference) / len(shifted), Levenshtein.opcodes(shifted, reference)
            if any(abs(code.dest_end - code.src_end * slope) >= BEAM - 1 for code in path):
                return beam(shifted)  # type: ignore[no-any-return]
        return shortest, ""

    while True:
        edits, trace = beam(words)
        if edits <= least + 1:
            break
        gain, shifted, checked = library._shift(words, reference, distance, checked)
        if checked >= library._MAX_SHIFT_CANDIDATES or gain <= 0:
            break
        words, shifts = shifted, shifts + 1
    return shifts + int(edits)


def bleu(sums: Numbers, *, effective_order: bool = False) -> Numbers:
    """BLEU of rows of counts: words of both sides, matches and n-grams of one to four words.

    Examples:
        >>> bleu(np.array([[4.0, 4, 4, 3, 2, 1, 4, 3, 2, 1]])).round(6).tolist()
        [100.0]
    """
    own, other, matches, totals = sums[:, 0], sums[:, 1], sums[:, 2:6], sums[:, 6:]
    orders = np.logical_and.accumulate(totals > 0, axis=1).sum(axis=1)
    # The first order without a match has a half of one, the next a quarter.
    smoothed = np.where(matches > 0, matches, np.ldexp(1.0, -np.cumsum(matches == 0, axis=1)))
    precisions = (100 * smoothed / np.maximum(totals, 1)).tolist()
    brevity = np.minimum(0.0, 1 - other / np.maximum(own, 1)).tolist()
    rows = zip(brevity, precisions, orders.tolist(), strict=True)
    # The exp and log of numpy may differ from these in the last digit.
    scores = [exp(less) * exp(sum(map(log, row[:n])) / (n or 1)) for less, row, n in rows]
    return np.where(matches.any(axis=1) & (effective_order | (orders == 4)), scores, 0.0)


def chrf(sums: Numbers | Whole) -> Numbers:
    """ChrF2 of rows of counts: n-grams of the translation, of the reference and of both, by order.

    Examples:
        >>> chrf(np.array([[4.0, 4, 3, 3, 3, 0, 0, 0, 0]])).tolist()
        [37.5]
    """
    own, other, both = np.moveaxis(sums.reshape(len(sums), sums.shape[1] // 3, 3), 2, 0)
    has_order = (own > 0) & (other > 0)
    shares = (np.where(has_order, both / np.maximum(each, 1), 0) for each in (own, other))
    sums_of_shares = (np.cumsum(each, axis=1)[:, -1] for each in shares)
    precision, recall = (ratio(each, has_order.sum(axis=1)) for each in sums_of_shares)
    values: Numbers = 100 * np.nan_to_num(ratio(5 * precision * recall, 4 * precision + recall))
    return values


def ter(sums: Numbers) -> Numbers:
    """TER of rows of counts: edits, and words of the reference.

    Examples:
        >>> ter(np.array([[1.0, 4], [1, 0], [0, 0]])).tolist()
        [25.0, 100.0, 0.0]
    """
    edits, words = sums.T
    values: Numbers = 100 * np.where(words > 0, ratio(edits, words), edits > 0)
    return values

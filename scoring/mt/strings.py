"""BLEU, chrF, chrF++ and TER as sacrebleu defines them, of many segments at once.

sacrebleu tokenizes each distinct word once, and searches the shifts of TER. Tokens are numbers
here: n-grams of all segments are counted by sorting these. The values follow from sums of counts by
the operations of sacrebleu, in its order, so that they are equal to the last digit.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, pairwise
from math import exp, log
from typing import Any, NamedTuple

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
STRING_MEASURES: dict[str, tuple[str, int]] = {
    "bleu": ("BLEU", 10),
    "chrf": ("chrF2", 18),
    "chrf_pp": ("chrF2++", 24),
    "ter": ("TER", 2),
}
#: Characters of the segments that are counted at a time.
BLOCK = 1 << 17
#: Bits of a number of n-grams and their segment.
BITS = 62
#: The beam of TER: distances are exact if their paths are this close to the diagonal.
BEAM = 25


def numbered(lists: Sequence[Sequence[str]]) -> tuple[list[str], Whole, Whole]:
    """The distinct items of lists, the number of each item, and the lengths of the lists.

    Examples:
        >>> items, numbers, lengths = numbered([["a", "b"], [], ["a"]])
        >>> items, numbers.tolist(), lengths.tolist()
        (['a', 'b'], [0, 1, 0], [2, 0, 1])
    """
    known: defaultdict[str, int] = defaultdict(count().__next__)
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    items = map(known.__getitem__, chain.from_iterable(lists))
    numbers = np.fromiter(items, np.int64, int(lengths.sum()))
    return list(known), numbers, lengths


class Tokens(NamedTuple):
    """The tokens of segments as numbers.

    Attributes:
        codes: the tokens of all texts one after another: of each segment its translation, then its
            references.
        lengths: tokens of each text.
        side: 0 for a translation, the number of the reference from 1 for others.
        segment: of each text.
    """

    codes: Whole
    lengths: Whole
    side: Whole
    segment: Whole

    def matches(self, orders: int, *, clipped: bool = False) -> Whole:
        """How many n-grams of the translations are in their references.

        N-grams up to the longest that 64 bits hold are sorted once; their beginnings are then in
        order, too. Each text ends with the number of its side, so that no n-gram that leaves a text
        is on both sides.

        Args:
            orders: the longest n-grams.
            clipped: whether an n-gram matches as often as in any of the references.

        Returns:
            Counts by segment, reference (one if clipped), and order.
        """
        size, sides = len(self.codes) + len(self.lengths), int(self.side.max()) + 1
        side, rows = (np.repeat(each, self.lengths + 1) for each in (self.side, self.segment))
        units = np.zeros(size + orders, np.int64)
        texts = np.repeat(np.arange(len(self.lengths)), self.lengths)
        units[np.arange(len(texts)) + texts] = self.codes + sides
        units[np.cumsum(self.lengths + 1) - 1] = self.side
        width, low = int(units.max()).bit_length(), (sides - 1).bit_length()
        found = np.zeros((rows[-1] + 1, 1 if clipped else sides - 1, orders), np.int64)
        grams, bits, order = rows, len(found).bit_length(), 0
        while order < orders:
            steps = min(orders - order, (BITS - low - bits) // width)
            if steps < 1:
                grams, bits = np.unique(grams, return_inverse=True)[1], size.bit_length()
                continue
            for ahead in range(order, order + steps):
                grams = grams << width | units[ahead : ahead + size]
            bits += width * steps
            keys = np.sort(grams << low | side)
            sums = [
                np.append(0, np.cumsum((keys & (1 << low) - 1) == each)) for each in range(sides)
            ]
            for shift in range(width * (steps - 1) + low, -1, -width):
                begins = np.flatnonzero(np.diff(keys >> shift, prepend=-1))
                own, *others = (np.diff(each[np.append(begins, size)]) for each in sums)
                matched = [np.minimum(own, other) for other in others]
                for at, counts in enumerate([np.maximum.reduce(matched)] if clipped else matched):
                    found[:, at, order] = np.bincount(rows[begins], counts, len(found))
                order += 1
        return found


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
        blocks = np.cumsum(lengths, dtype=np.int64) // BLOCK
        bounds = [*np.flatnonzero(np.diff(blocks, prepend=-1)).tolist(), len(lengths)]
        for begin, end in pairwise(bounds):
            parts = (self.translations[begin:end], self.references[begin:end])
            yield Segments(*parts, self.lowercase)

    def tokens(self, split: Callable[[str], Sequence[str]]) -> Tokens:
        """The tokens of all texts, by those of each distinct word with the spaces beside it."""
        words, numbers, lengths = self._words
        _, codes, sizes = numbered([split(word) for word in words])
        own = sizes[numbers]
        begins = (np.cumsum(sizes) - sizes)[numbers] - np.cumsum(own) + own
        codes = codes[np.arange(own.sum()) + np.repeat(begins, own)]
        texts = np.add.reduceat(own, np.cumsum(lengths) - lengths)
        segment = np.repeat(np.arange(len(self.numbers)), self.numbers + 1)
        side = np.arange(len(segment)) - (self.begins + np.arange(len(self.begins)))[segment]
        return Tokens(codes, texts, side, segment)

    def pairs(self, tokens: Tokens, orders: int) -> Whole:
        """The n-grams of translation, reference, and both, by reference and order."""
        is_other = tokens.side > 0
        side, segment = tokens.side[is_other], tokens.segment[is_other]
        lengths = (tokens.lengths[~is_other][segment], tokens.lengths[is_other])
        counts = [np.maximum(each[:, None] - np.arange(orders), 0) for each in lengths]
        return np.stack([*counts, tokens.matches(orders)[segment, side - 1]], axis=2)

    @cached_property
    def characters(self) -> Whole:
        """The pairs of up to six characters."""
        return self.pairs(self.tokens(lambda word: "".join(self.cased(word).split())), 6)

    def cased(self, word: str) -> str:
        """A word as measures see it that can ignore case."""
        return word.lower() if self.lowercase else word

    @cached_property
    def numbers(self) -> Whole:
        """How many references each segment has."""
        return np.fromiter(map(len, self.references), np.int64)

    @cached_property
    def begins(self) -> Whole:
        """The first reference of each segment among those of all."""
        return np.cumsum(self.numbers) - self.numbers

    @cached_property
    def _words(self) -> tuple[list[str], Whole, Whole]:
        pairs = zip(self.translations, self.references, strict=True)
        texts = chain.from_iterable((own, *others) for own, others in pairs)
        return numbered([text.replace(" ", " \n ").split("\n") for text in texts])


@dataclass(frozen=True)
class StringMeasure:
    """BLEU, chrF, chrF++ or TER.

    Attributes:
        name: one of `STRING_MEASURES`.
        options: the tokenizer of BLEU, and whether case is ignored.
    """

    name: str
    options: TranslationOptions

    @property
    def size(self) -> int:
        """How many counts a segment has."""
        return STRING_MEASURES[self.name][1]

    def counts(self, segments: Segments) -> Numbers:
        """The counts of segments, a row each.

        Raises:
            CannotCount: if sacrebleu is not installed.
        """
        count = {"bleu": self._bleu_counts, "ter": self._ter_counts}.get(self.name)
        return (count or self._chrf_counts)(segments).astype(np.float64)

    def _bleu_counts(self, segments: Segments) -> NDArray[Any]:
        split = self._corpus.tokenizer
        tokens = segments.tokens(lambda word: split(segments.cased(word)).split())
        first = np.flatnonzero(tokens.side == 0)
        length = tokens.lengths[first]
        # The reference whose length is closest, of two the shorter one.
        distance = np.abs(tokens.lengths - length[tokens.segment]) << 32 | tokens.lengths
        distance[first] = np.iinfo(np.int64).max
        closest = np.minimum.reduceat(distance, first) & (1 << 32) - 1
        total = np.maximum(length[:, None] - np.arange(4), 0)
        matches = tokens.matches(4, clipped=True)[:, 0]
        return np.column_stack([length, closest, matches, total])

    def _chrf_counts(self, segments: Segments) -> NDArray[Any]:
        split, counts = self._corpus._remove_punctuation, segments.characters
        if self.name == "chrf_pp":
            words = segments.tokens(lambda word: split(segments.cased(word)))
            counts = np.hstack([counts, segments.pairs(words, 2)])
        own, other, both = np.moveaxis(counts, 2, 0)
        # What no n-gram of the reference could match does not count.
        rows = np.stack([own * (other > 0), other, both], axis=2).reshape(-1, self.size)
        # The first of the references with the best value.
        segment = np.repeat(np.arange(len(segments.numbers)), segments.numbers)
        return rows[np.lexsort((-chrf(rows), segment))[segments.begins]]

    def _ter_counts(self, segments: Segments) -> NDArray[Any]:
        tokens = segments.tokens(lambda word: self._corpus.tokenizer(word).split())
        # Words as characters: strings are compared and shifted fastest.
        letters = tokens.codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        bounds = pairwise([0, *np.cumsum(tokens.lengths).tolist()])
        texts = [letters[begin:end] for begin, end in bounds]
        translations = [text for text, side in zip(texts, tokens.side, strict=True) if not side]
        pairs = [
            (translations[segment], text)
            for text, segment, side in zip(texts, tokens.segment, tokens.side, strict=True)
            if side
        ]
        own, other, both = segments.pairs(tokens, 1)[:, 0].T
        # Words that the other side lacks are edits wherever they are shifted to.
        least = np.maximum(own, other) - both
        edits = np.fromiter((Levenshtein.distance(*pair) for pair in pairs), np.int64)
        for at in np.flatnonzero((edits > least + 1) | ~in_beam(edits, own, other)):
            edits[at] = shifted_edits(*pairs[at], int(least[at]))
        lengths = np.add.reduceat(other, segments.begins) / segments.numbers
        return np.column_stack([np.minimum.reduceat(edits, segments.begins), lengths])

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
        return f"{STRING_MEASURES[self.name][0]}|{self._corpus.get_signature()}"

    def finish(self) -> None:
        """Nothing is kept."""

    @cached_property
    def _corpus(self) -> Any:
        """The metric of sacrebleu."""
        try:
            from sacrebleu.metrics.bleu import BLEU
            from sacrebleu.metrics.chrf import CHRF
            from sacrebleu.metrics.ter import TER
        except ImportError as reason:
            raise CannotCount(finding("MTS107").of("--metrics")) from reason
        lower, tokenize = self.options.lowercase, self.options.tokenize
        if self.name == "bleu":
            return BLEU(lower, force=True, tokenize=tokenize)
        words = {"chrf": 0, "chrf_pp": 2}
        return CHRF(lowercase=lower, word_order=words[self.name]) if self.name in words else TER()


def in_beam(edits: Any, own: Any, other: Any) -> Any:
    """Whether all shortest paths of edits are within the beam of sacrebleu, 25 words on each side.

    Args:
        edits: the distance of two texts, or many.
        own: words of the translation.
        other: words of the reference.
    """
    return (other < BEAM) | (edits + abs(own - other) < 2 * BEAM - 3)


def shifted_edits(translation: str, reference: str, least: int) -> int:
    """The edits of TER with shifts, which sacrebleu searches.

    It asks for the distance after each shift that it considers. Where that is not shorter, or is
    surely within the beam, the distance without a beam serves.

    Args:
        translation: a character per word.
        reference: the same.
        least: fewer edits than these are left after any shifts; one more ends the search.
    """
    from sacrebleu.metrics.lib_ter import _MAX_SHIFT_CANDIDATES, BeamEditDistance, _shift

    beam, words, shifts, checked = BeamEditDistance(reference), translation, 0, 0

    def distance(shifted: str) -> tuple[int, str]:
        if shifted == words:
            return edits, trace
        found = Levenshtein.distance(shifted, reference, score_cutoff=edits - 1)
        if found >= edits or in_beam(found, len(shifted), len(reference)):
            return found, ""
        slope, codes = len(reference) / len(shifted), Levenshtein.opcodes(shifted, reference)
        near = all(abs(code.dest_end - code.src_end * slope) < BEAM - 1 for code in codes)
        return (found, "") if near else beam(shifted)

    while True:
        edits, trace = beam(words)
        if edits <= least + 1:
            break
        gain, shifted, checked = _shift(words, reference, distance, checked)
        if checked >= _MAX_SHIFT_CANDIDATES or gain <= 0:
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
    has_order = np.logical_and.accumulate(totals > 0, axis=1)
    # The first order without a match has a half of one, the next a quarter.
    smoothed = np.where(matches > 0, matches, np.ldexp(1.0, -np.cumsum(matches == 0, axis=1)))
    precisions = np.divide(100 * smoothed, totals, out=np.zeros_like(totals), where=has_order)
    orders = has_order.sum(axis=1) if effective_order else np.full(len(sums), 4)
    lacking = 1 - np.divide(other, own, out=np.ones_like(own), where=own > 0)
    rows = zip(lacking.tolist(), precisions.tolist(), orders.tolist(), strict=True)
    # numpy's own exp and log may differ from these in the last digit.
    scores = [
        exp(min(0.0, brevity)) * exp(sum(map(_log, row[:order])) / (order or 1))
        for brevity, row, order in rows
    ]
    return np.where(matches.any(axis=1), scores, 0.0)


def _log(precision: float) -> float:
    return log(precision) if precision else -9999999999


def chrf(sums: Numbers | Whole) -> Numbers:
    """ChrF2 of rows of counts: n-grams of the translation, of the reference and of both, by order.

    Examples:
        >>> chrf(np.array([[4.0, 4, 3, 3, 3, 0, 0, 0, 0]])).tolist()
        [37.5]
    """
    none = np.zeros(len(sums))
    precision, recall, orders = none, none, none
    for at in range(0, sums.shape[1], 3):
        own, other, both = sums[:, at : at + 3].T
        has_order = (own > 0) & (other > 0)
        precision = precision + np.divide(both, own, out=none.copy(), where=has_order)
        recall = recall + np.divide(both, other, out=none.copy(), where=has_order)
        orders = orders + has_order
    precision, recall = ratio(precision, orders), ratio(recall, orders)
    return 100 * np.nan_to_num(ratio(5 * precision * recall, 4 * precision + recall))


def ter(sums: Numbers) -> Numbers:
    """TER of rows of counts: edits, and words of the reference.

    Examples:
        >>> ter(np.array([[1.0, 4], [1, 0], [0, 0]])).tolist()
        [25.0, 100.0, 0.0]
    """
    edits, words = sums.T
    return 100 * np.divide(edits, words, out=(edits > 0).astype(np.float64), where=words > 0)

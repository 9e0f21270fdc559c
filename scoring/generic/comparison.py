"""Which mentions of both sides correspond, and who goes with whom."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from hlteval.representation import Corpus, documents_of
from hlteval.representation.tag_schemes import Scheme
from hlteval.scoring.generic import semeval
from hlteval.scoring.generic.averages import LabelOptions
from hlteval.scoring.generic.spans import (
    Floats,
    Mask,
    Pairs,
    Sides,
    Units,
    Whole,
    all_equal,
    best,
    combine,
    equal_pairs,
    overlaps,
)
from hlteval.scoring.matching import first_free

#: A pair that is right in full, by credit: whole numbers, so that sums do not depend on order.
FULL: Mapping[str, int] = {"full": 1, "half": 2, "iou": 2**32}
#: Decides between pairings of the same credit: shares of the spans, in so many steps.
_STEPS = 255
#: What an equal span and an equal label are worth where what is left is paired, and the most that
#: shared characters are.
_SPAN, _LABEL, _LONG = 2**42, 2**24, 2**12 - 1
#: A share that is equal but for the last digits is enough.
_CLOSE = 1e-12
#: No span has so many characters.
_LONGEST = 2**30
#: How spans are compared that need not be equal, and the least share of each.
_SHARES: Mapping[str, float] = {"overlap": 0.0, "iou": 0.5, "contains": 0.0}
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class Options(LabelOptions):
    """When two mentions correspond, and what a pair counts.

    Attributes:
        span: how spans are compared.
        threshold: the least share of `overlap` or `iou`; one half for `iou` unless it is given.
        label: whether labels must be equal; with `ancestor`, that of the system may be above that
            of the reference.
        pairing: of what corresponds; `set` where that is equal, else optimal.
        credit: what a pair counts whose spans are not equal: 1, a half, or their `iou`.
        mode: of seqeval, which reads tags by the rules of conlleval or strictly by a scheme.
        scheme: of the tags, for its strict mode.
    """

    span: Literal["exact", "overlap", "iou", "contains", "tokens", "end", "none"] = "exact"
    threshold: float | None = None
    label: Literal["equal", "none", "ancestor"] = "equal"
    pairing: Literal["set", "optimal", "greedy-file-order", "greedy-score"] = "set"
    credit: Literal["full", "half", "iou"] = "full"
    mode: Literal["default", "strict"] = "default"
    scheme: Scheme | Literal["auto"] = "auto"


@dataclass(frozen=True)
class Comparison:
    """The mentions of a batch, and which of them correspond.

    Attributes:
        options: when they do.
        both: the mentions.
        reference: the corpus of the reference.
        system: that of the system, with the same numbers of documents.
    """

    options: Options
    both: Sides
    reference: Corpus
    system: Corpus

    @property
    def unit(self) -> int:
        """Count of a pair that is right in full."""
        return FULL[self.options.credit]

    @cached_property
    def documents(self) -> pl.DataFrame:
        """The number and the name of each document."""
        return documents_of(self.reference, self.system)

    @property
    def size(self) -> int:
        """How many numbers of documents there are."""
        return len(self.both.bases)

    @cached_property
    def right(self) -> Pairs:
        """The pairs that are right."""
        return self._right[0]

    @cached_property
    def credit(self) -> Whole:
        """Credit of each right pair, in units."""
        return self._right[1]

    @cached_property
    def _right(self) -> tuple[Pairs, Whole]:
        options, left, right = self.options, self.both.reference, self.both.system
        if options.span in _SHARES:
            return self._overlap_pairs()
        if options.span == "exact" and options.label == "equal":
            pairs = self._equal
        else:
            pairs = self._by_key(*(self._keys(units) for units in (left, right)))
        return pairs, np.full(len(pairs.left), self.unit)

    @cached_property
    def _equal(self) -> Pairs:
        """The pairs of equal spans with equal labels."""
        return equal_pairs(self.both.reference.key, self.both.system.key)

    def _keys(self, units: Units) -> Whole:
        """Numbers that are equal for spans that correspond."""
        match self.options.span:
            case "end":
                return units.end
            case "none":
                return units.document
            case "tokens":
                return self._word_limits(units)
        return units.span

    def _by_key(self, left: Whole, right: Whole) -> Pairs:
        """The pairs of equal keys; equal mentions are paired first, unless pairs are greedy."""
        both, options = self.both, self.options
        if options.label == "ancestor":
            pairs = all_equal(left, right)
            allowed = self.labels_agree(pairs)
            pairs = Pairs(pairs.left[allowed], pairs.right[allowed])
            same = both.reference.key[pairs.left] == both.system.key[pairs.right]
            chosen = self._choose(pairs, np.ones(len(same), np.int64), same.astype(np.float64))
            return Pairs(pairs.left[chosen], pairs.right[chosen])
        if options.label == "equal":
            keys = combine(np.r_[left, right], np.r_[both.reference.label, both.system.label])
            left, right = keys[: len(left)], keys[len(left) :]
        if options.pairing.startswith("greedy"):
            order = np.lexsort([np.arange(len(right)), -self._scores])
            pairs = equal_pairs(left, right[order])
            return Pairs(pairs.left, order[pairs.right])
        first = self._equal
        ours, theirs = others(first.left, len(left)), others(first.right, len(right))
        rest = equal_pairs(left[ours], right[theirs])
        return Pairs(np.r_[first.left, ours[rest.left]], np.r_[first.right, theirs[rest.right]])

    @property
    def _scores(self) -> Floats:
        """The score of each mention of the system, by which greedy pairs are ordered."""
        if self.options.pairing != "greedy-score":
            return np.zeros(len(self.both.system))
        scores = self.system.mentions["confidence"].fill_null(0.0).to_numpy()
        return scores[self.both.system.at]

    def _overlap_pairs(self) -> tuple[Pairs, Whole]:
        """The pairs that overlap enough, paired as the options say, with their credit."""
        left, right, options = self.both.reference, self.both.system, self.options
        pairs, shared = overlaps(left, right)
        ours, theirs = left.length[pairs.left], right.length[pairs.right]
        union = shared / (ours + theirs - shared)
        kept = self._enough(shared, ours, theirs, union) & self.labels_agree(pairs)
        pairs = Pairs(pairs.left[kept], pairs.right[kept])
        union, same = union[kept], left.span[pairs.left] == right.span[pairs.right]
        credit = np.full(len(union), self.unit)
        if options.credit == "half":
            credit = np.where(same, self.unit, 1)
        elif options.credit == "iou":
            credit = np.rint(union * self.unit).astype(np.int64)
        chosen = self._choose(pairs, credit, union)
        return Pairs(pairs.left[chosen], pairs.right[chosen]), credit[chosen]

    def _enough(self, shared: Whole, ours: Whole, theirs: Whole, union: Floats) -> Mask:
        """Whether pairs share enough."""
        options = self.options
        least = _SHARES[options.span] if options.threshold is None else options.threshold
        if options.span == "contains":
            return np.asarray((shared == ours) | (shared == theirs))
        share = union if options.span == "iou" else shared / ours
        return np.asarray(share >= least - _CLOSE)

    def _choose(self, pairs: Pairs, credit: Whole, union: Floats) -> Mask:
        """Which candidates are paired."""
        pairing = self.options.pairing
        if pairing.startswith("greedy"):
            nearest = union if pairing == "greedy-score" else np.zeros(len(union))
            scores = -self._scores[pairs.right]
            return first_free(*pairs, pairs.left, -nearest, pairs.right, scores)
        weights = credit
        if self.options.credit != "iou":
            weights = credit * 2**20 + (union * _STEPS).astype(np.int64)
        return best(pairs, weights)

    def _word_limits(self, units: Units) -> Whole:
        """The first and the last word that spans touch, as a number; the span without words."""
        texts = pl.concat(
            corpus.documents.select("row", "text") for corpus in (self.reference, self.system)
        )
        words = [
            (self.both.bases[row] + match.start(), self.both.bases[row] + match.end())
            for row, text in texts.drop_nulls().unique("row", keep="first").iter_rows()
            for match in _WORD.finditer(text)
        ]
        starts, ends = np.array(words, dtype=np.int64).reshape(-1, 2).T
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], ends[order]
        first = np.searchsorted(ends, units.start, "right")
        last = np.searchsorted(starts, units.end, "left") - 1
        touched = first <= last
        start, end = units.start.copy(), units.end.copy()
        start[touched], end[touched] = starts[first[touched]], ends[last[touched]]
        return start * _LONGEST + (end - start)

    def labels_agree(self, pairs: Pairs) -> Mask:
        """Whether the labels of pairs correspond."""
        ours, theirs = self.both.reference.label[pairs.left], self.both.system.label[pairs.right]
        if self.options.label == "none":
            return np.ones(len(ours), dtype=np.bool_)
        if self.options.label == "equal":
            return np.asarray(ours == theirs)
        labels = self.both.labels
        above = [set(self.options.ancestors(label)) for label in labels]
        allowed = np.array([[other in own for other in labels] for own in above], dtype=np.bool_)
        return np.asarray(allowed.reshape(len(labels), len(labels))[ours, theirs])

    def pair_rest(self, pairs: Pairs) -> Pairs:
        """Pairs of what no pair has: most equal spans, then labels, then shared characters."""
        left, right = self.both.reference, self.both.system
        ours, theirs = others(pairs.left, len(left)), others(pairs.right, len(right))
        found, shared = overlaps(left.take(ours), right.take(theirs))
        found = Pairs(ours[found.left], theirs[found.right])
        same = left.span[found.left] == right.span[found.right]
        if self.options.span == "overlap" and self.options.threshold:
            enough = shared / left.length[found.left] >= self.options.threshold - _CLOSE
            enough |= same
            found, shared = Pairs(found.left[enough], found.right[enough]), shared[enough]
            same = same[enough]
        weights = same * _SPAN + self.labels_agree(found) * _LABEL + np.minimum(shared, _LONG)
        chosen = best(found, weights)
        return Pairs(found.left[chosen], found.right[chosen])

    @cached_property
    def all_pairs(self) -> Pairs:
        """The pairs that are right, and then pairs of what is left."""
        more = self.pair_rest(self.right)
        return Pairs(np.r_[self.right.left, more.left], np.r_[self.right.right, more.right])

    @property
    def semeval(self) -> dict[str, Whole]:
        """The counts of `semeval` of each document in `documents`."""
        both, options = self.both, self.options
        pairs = self.all_pairs
        if options.span != "exact" or options.label != "equal":
            more = self.pair_rest(self._equal)
            left, right = (np.r_[a, b] for a, b in zip(self._equal, more, strict=True))
            pairs = Pairs(left, right)
        same_span = both.reference.span[pairs.left] == both.system.span[pairs.right]
        same_label = self.labels_agree(pairs)
        document = both.reference.document
        every = (both.reference.document, both.system.document)
        sizes = [np.bincount(documents, minlength=self.size) for documents in every]
        paired = np.bincount(document[pairs.left], minlength=self.size)
        rows, counts = self.documents["row"].to_numpy(), {}
        for measure in semeval.MEASURES:
            found = semeval.outcomes(measure, same_span=same_span, same_label=same_label)
            for at, outcome in enumerate(semeval.OUTCOMES[:3]):
                own = document[pairs.left[found == at]]
                counts[f"{measure}.{outcome}"] = np.bincount(own, minlength=self.size)[rows]
            counts[f"{measure}.missed"] = (sizes[0] - paired)[rows]
            counts[f"{measure}.spurious"] = (sizes[1] - paired)[rows]
        return counts


def others(chosen: Whole, size: int) -> Whole:
    """The numbers below a size that are not chosen."""
    free = np.ones(size, dtype=np.bool_)
    free[chosen] = False
    return np.flatnonzero(free)

"""The numbers of nervaluate 1.2: mentions of the system in the order of their file, greedily.

Each mention of the system takes a mention of the reference that is still free: by each measure the
first one that is right, or else the first that overlaps enough (by `ent_type`, of those with its
label the nearest). So the scores depend on the order of lines. Equal mentions count each; labels
that are not declared, where some are, are left out on both sides; gaps of spans are filled.

By label, the mentions of each label are compared alone: the counts of labels do not add up to those
of all labels. What is 0 / 0 is 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from hlteval.representation import Corpus, align
from hlteval.scoring.generic import semeval
from hlteval.scoring.generic.averages import RATES, LabelCounts
from hlteval.scoring.generic.comparison import Comparison
from hlteval.scoring.generic.mentions import Mentions
from hlteval.scoring.generic.span_alignment import alignment_of
from hlteval.scoring.generic.spans import Mask, Pairs, Sides, Whole, all_equal, overlaps, sides
from hlteval.scoring.matching import first_free
from hlteval.scoring.metric import Replicates, Tables
from hlteval.scoring.ratios import ratio

#: The least share of a span of the reference, in percent, that overlaps enough by default.
_PERCENT = 1.0


class _Candidates(NamedTuple):
    """Pairs that can be taken.

    Attributes:
        pairs: mentions that overlap, or have equal spans.
        enough: whether they overlap enough.
        same_span: whether their spans are equal.
        same_label: whether their labels are.
        distance: how far their starts and ends are apart, together.
    """

    pairs: Pairs
    enough: Mask
    same_span: Mask
    same_label: Mask
    distance: Whole

    def take(self, chosen: Mask) -> "_Candidates":
        """Some of the candidates."""
        pairs = Pairs(self.pairs.left[chosen], self.pairs.right[chosen])
        return _Candidates(
            pairs,
            self.enough[chosen],
            self.same_span[chosen],
            self.same_label[chosen],
            self.distance[chosen],
        )


@dataclass(frozen=True)
class OfficialNervaluate(Mentions):
    """How nervaluate counts."""

    def __post_init__(self) -> None:
        if not 1.0 <= self._percent <= 100.0:
            raise ValueError("threshold must be from 0.01 to 1 for nervaluate")

    @property
    def unit(self) -> int:
        """Pairs count as a whole by label."""
        return 1

    @property
    def _percent(self) -> float:
        """The least share of the reference in percent."""
        threshold = self.options.threshold
        return _PERCENT if threshold is None else 100 * threshold

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch of documents; the alignment is that of the profile plan."""
        reference, system = align(reference, system)
        both = self._of_declared(sides(reference, system, self.options, unique=False))
        comparison = Comparison(self.options, both, reference, system)
        candidates = self._candidates(both)
        size = max(len(both.labels), 1)
        ours, theirs = both.reference, both.system
        every = _count(candidates, ours.document, theirs.document, len(both.bases))
        of_label = _count(
            candidates.take(candidates.same_label),
            ours.document * size + ours.label,
            theirs.document * size + theirs.label,
            len(both.bases) * size,
        )
        rows = comparison.documents["row"].to_numpy()
        whole = {name: counts[rows] for name, counts in every.items()}
        filled = np.flatnonzero(of_label["strict.possible"] + of_label["strict.actual"])
        own = {name: counts[filled] for name, counts in of_label.items()}
        right = dict.fromkeys(("met", "found"), own["strict.correct"])
        sizes = {"expected": own["strict.possible"], "predicted": own["strict.actual"]}
        names = pl.Series(both.labels, dtype=pl.String).gather(filled % size)
        tables = [
            pl.DataFrame({"row": rows, "ignored": both.ignored[rows], **whole}),
            pl.DataFrame({"row": filled // size, "label": names, **sizes, **right, **own}),
        ]
        counts = self.counts_of(tables, comparison.documents)
        if not alignment:
            return counts, None
        shown = replace(comparison, both=self._of_declared(sides(reference, system, self.options)))
        return counts, alignment_of(shown)

    def _of_declared(self, both: Sides) -> Sides:
        """The mentions whose labels are declared; all if none is."""
        if not self.options.declared:
            return both
        listed = np.isin(both.labels, self.options.declared)
        ours, theirs = (units.take(listed[units.label]) for units in (both.reference, both.system))
        return replace(both, reference=ours, system=theirs)

    def _candidates(self, both: Sides) -> _Candidates:
        """The mentions that overlap, or have equal spans without a character."""
        ours, theirs = (replace(units, parts=None) for units in (both.reference, both.system))
        pairs, shared = overlaps(ours, theirs)
        empty = [np.flatnonzero(units.start >= units.end) for units in (ours, theirs)]
        same = all_equal(ours.span[empty[0]], theirs.span[empty[1]])
        left = np.r_[pairs.left, empty[0][same.left]]
        right = np.r_[pairs.right, empty[1][same.right]]
        shared = np.r_[shared, np.zeros(len(left) - len(shared), dtype=np.int64)]
        share = ratio(shared, ours.length[left]) * 100
        starts, ends = ours.start[left] - theirs.start[right], ours.end[left] - theirs.end[right]
        return _Candidates(
            Pairs(left, right),
            enough=share >= self._percent,
            same_span=(starts == 0) & (ends == 0),
            same_label=ours.label[left] == theirs.label[right],
            distance=abs(starts) + abs(ends),
        )

    def values(self, counted: LabelCounts, extras: Mapping[str, Whole]) -> Replicates:  # noqa: ARG002
        """The measures of SemEval; what is undefined is 0."""
        return _figures({name: extras[name] for name in semeval.ADDED})

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The measures of SemEval, and the table `semeval` with those of each label."""
        values, tables = super().score(total)
        labels = total.drop_nulls("label")
        figures = _figures({name: labels[name].to_numpy() for name in semeval.ADDED})
        rows = [
            pl.DataFrame(
                {
                    "label": labels["label"],
                    "measure": [measure] * labels.height,
                    **{name: figures[f"{measure}.{name}"] for name in semeval.FIGURES},
                }
            )
            for measure in semeval.MEASURES
        ]
        counts = pl.col(semeval.FIGURES[: -len(RATES)]).cast(pl.Int64)
        return values, {**tables, "semeval": pl.concat(rows).sort("label").with_columns(counts)}


def _figures(counts: Mapping[str, Whole]) -> Replicates:
    """The measures of SemEval; 0 where undefined."""
    return {name: np.nan_to_num(value) for name, value in semeval.figures(counts).items()}


def _count(candidates: _Candidates, ours: Whole, theirs: Whole, size: int) -> dict[str, Whole]:
    """The counts of all measures by group.

    Args:
        candidates: the pairs that can be taken.
        ours: the group of each mention of the reference.
        theirs: that of each mention of the system.
        size: how many groups there are.
    """
    possible, actual = (np.bincount(groups, minlength=size) for groups in (ours, theirs))
    counts = {}
    for measure in semeval.MEASURES:
        allowed = candidates.enough | (candidates.same_span & (measure in {"strict", "exact"}))
        some = candidates.take(allowed)
        outcome = semeval.outcomes(measure, same_span=some.same_span, same_label=some.same_label)
        near = np.where((outcome == 0) & (measure == "ent_type"), some.distance, 0)
        keys = (some.pairs.left, near, outcome != 0, some.pairs.right)
        taken = first_free(*some.pairs, *keys)
        groups, found = ours[some.pairs.left[taken]], outcome[taken]
        for at, name in enumerate(semeval.OUTCOMES[:3]):
            counts[f"{measure}.{name}"] = np.bincount(groups[found == at], minlength=size)
        paired = np.bincount(groups, minlength=size)
        counts[f"{measure}.missed"] = possible - paired
        counts[f"{measure}.spurious"] = actual - paired
    return {**counts, "strict.possible": possible, "strict.actual": actual}

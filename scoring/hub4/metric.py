"""HUB-4 templettes: points of content and extent, by the scoring procedure of version 0.3.

Normalisation, mapping, points and measures, in the specification's order, have modules of their
own: `normalizer` and `text_columns`, `templettes` and `mapping`, `fill_match` and `points`,
`measures`; this one combines them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar

import polars as pl

from hlteval.findings.counts import count_of
from hlteval.representation import Corpus
from hlteval.representation import align as numbered_alike
from hlteval.scoring.hub4.instance_sets import MODES, Options, by_document, by_overlap
from hlteval.scoring.hub4.mapping import POINTS, Instances, instance_mapping, overlapping_sets
from hlteval.scoring.hub4.measures import (
    COUNTS,
    MEASURES,
    measures,
    point_counts,
    tables,
    weighted_measures,
)
from hlteval.scoring.hub4.report import listings, mapping_rows
from hlteval.scoring.metric import TEXTS, Evidence, Metric, Replicates, Weights

#: Pairs of instance sets that are mapped at a time; more cost memory and save no time.
SETS = 2000
#: Fewest correct texts with a wrong extent that suggest another way to count.
_FEW = 3


@dataclass(frozen=True)
class TempletteMatch(Metric):
    """The measures of templettes; there is no public scorer and no profile but `plan`.

    Attributes:
        options: what the specification leaves to the scorer.

    Raises:
        ValueError: if the options need texts or a lexicon that they do not have.
    """

    document_column: ClassVar[str] = "drawn"

    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        _ = self.options.texts

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The points of a batch of documents by mode, document, type and slot, and the mapping.

        Args:
            reference: the annotated instances.
            system: the system's.
            alignment: whether the mapping is wanted.

        Returns:
            Counts, as `COUNTS`; and the mapping, as `MAPPING`, or None.

        Examples:
            >>> frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "templette"}
            >>> fill = {"row": 0, "document": 0, "origin": 0, "record": 2, "frame_row": 0,
            ...         "slot": "KIND", "slot_number": 1, "optional": False, "alternative": 1,
            ...         "position": 1, "kind": "text", "text": "rye",
            ...         "extents": [{"start": 4, "end": 7}]}
            >>> corpus = Corpus(documents=[{"row": 0, "name": "d"}], fills=[fill],
            ...                 frames=[{**frame, "frame": "BREAD-d-1", "label": "BREAD"}])
            >>> match = TempletteMatch()
            >>> match.score(match.statistics(corpus, corpus)[0])[0]["both.cor"]
            2.0
        """
        reference, system = numbered_alike(reference, system)
        # Mode by mode, and losses in the order in which types are mapped, whatever sets are mapped
        # together.
        modes = self.options.modes
        points, losses, rows = ({mode: list[pl.DataFrame]() for mode in modes} for _ in range(3))
        find_sets = by_overlap if self.options.unsegmented else by_document
        for sets in find_sets(reference, system, self.options).parts(SETS):
            possible = Instances(sets, sets.pairs, self.options)
            for mode in modes:
                mapping = instance_mapping(possible, mode)
                if not sets.settled:
                    chosen = overlapping_sets(sets, mapping.pairs)
                    mapping = instance_mapping(Instances(sets, chosen, self.options), mode)
                counts, lost = point_counts(mapping, sets, mode)
                points[mode].append(counts)
                losses[mode].append(lost)
                if alignment:
                    rows[mode].append(mapping_rows(mapping, sets, mode, reference, system))
        tables = []
        for mode in modes:
            lost = pl.concat(losses[mode]).sort("rank", maintain_order=True).drop("rank")
            tables += [*points[mode], lost]
        return pl.concat(tables), pl.concat(chain(*rows.values())) if alignment else None

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of several batches as one."""
        return pl.concat([pl.DataFrame(schema=dict(COUNTS)), *counts])

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, pl.DataFrame]]:
        """The metrics, and the tables `scorings`, `by_type`, `by_slot` and `by_document`."""
        metrics: dict[str, float | None] = {}
        for mode in MODES:
            if mode in self.options.modes:
                points = total.filter(pl.col("mode") == mode).select(pl.col(*POINTS).sum()).row(0)
                found = measures(dict(zip(POINTS, points, strict=True)), self.options.beta)
            else:
                found = dict.fromkeys(MEASURES)
            metrics |= {f"{mode}.{name}": value for name, value in found.items()}
        return metrics, tables(total, self.options.modes, self.options.beta)

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What the corpora and the points suggest, and what the greedy algorithm loses."""
        return (*self._suspicions(total), *self._greedy_losses(total))

    def _suspicions(self, total: pl.DataFrame) -> Iterator[str]:
        """That nothing had to be aligned, or that extents seem to be counted in another way."""
        if self.options.identical:
            yield "the two corpora are identical: texts are not aligned, and --glm is not applied"
        points = dict(total.group_by("mode").agg(pl.col("cor").sum()).iter_rows())
        right = points.get("content", 0)
        lost = right - points.get("extent", right)
        if self.options.corpus is None and lost >= max(_FEW, right // 3):
            yield (
                f"{lost} correct texts have a wrong extent: check the offsets with "
                "`hlteval validate hub4 --corpus`"
            )

    def _greedy_losses(self, total: pl.DataFrame) -> tuple[str, ...]:
        """How many points the greedy algorithm loses against the best mapping."""
        groups = total.filter(pl.col("slot").is_null())
        losses = groups.group_by("mode").agg(
            points=(pl.col("best") - pl.col("greedy")).sum(), n=pl.len()
        )
        lost = {mode: (points, n) for mode, points, n in losses.iter_rows()}
        return tuple(
            f"{mode}: the greedy mapping that the specification asks for has "
            f"{count_of(lost[mode][0], 'correct point')} less than the best mapping of instances, "
            f"in {count_of(lost[mode][1], 'group')} (table greedy_loss)"
            for mode in self.options.modes
            if mode in lost
        )

    def evidence(self, reference: Corpus, system: Corpus) -> Evidence:
        """The texts of a batch, from the corpora that are given; none without segments."""
        if self.options.unsegmented:
            return Evidence()
        ours, theirs = self.options.texts_by_document
        names = pl.concat([reference.documents["name"], system.documents["name"]]).unique().sort()
        other = {name: text.text for name, text in theirs.items() if text != ours.get(name)}
        rows = [(name, ours[name].text, other.get(name)) for name in names if name in ours]
        return Evidence(pl.DataFrame(rows, schema=dict(TEXTS), orient="row"))

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[dict[str, pl.DataFrame], dict[str, str]]:
        """The reference and the system side by side, for each mode, and the errors alone."""
        return {}, listings(aligned)

    @property
    def additive(self) -> bool:
        """All points add."""
        return True

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The metrics, for each way to weigh the documents."""
        modes, beta = self.options.modes, self.options.beta
        return weighted_measures(counts, modes, beta, documents, weights)

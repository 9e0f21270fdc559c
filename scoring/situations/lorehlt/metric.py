"""LoReHLT 2019 situation frames: nDCG, its variant with sentiments, and all diagnostic metrics.

Section 16.3 of the plan, step by step: situations by gravity (nDCG, precision at N), frames within
situations (mean average precision, macro-averaged recall), frames of documents (curves, F1), and
sentiments. The statistics are the frames themselves, since situations run through all documents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import polars as pl

from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.scoring.metric import IntervalMethod, Metric, Replicates, Tables, Weights
from hlteval.scoring.situations.lorehlt import tables
from hlteval.scoring.situations.lorehlt.frame_rows import (
    MENTION,
    conformed,
    frame_rows,
    total,
    unknown_annotators,
    unknown_documents,
)
from hlteval.scoring.situations.lorehlt.frame_scores import FAMILIES, ScoredFrames
from hlteval.scoring.situations.lorehlt.official_scores import OfficialScores
from hlteval.scoring.situations.lorehlt.ranking import RankingOptions

#: The scores of each profile.
SCORES: Mapping[str, type[ScoredFrames]] = {"plan": ScoredFrames, "official": OfficialScores}
Values = dict[str, float | None]


@dataclass(frozen=True)
class SituationRanking(Metric):
    """How situation frames are scored in a profile.

    Attributes:
        options: what was chosen.
        families: the metrics that are computed, by the first part of their names; all if empty.
    """

    document_column: ClassVar[str] = "docid"

    options: RankingOptions = field(default_factory=RankingOptions)
    families: tuple[str, ...] = ()
    _kept: dict[int, tuple[pl.DataFrame, ScoredFrames]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def statistics(
        self,
        reference: Corpus,
        system: Corpus,
        *,
        alignment: bool = True,  # noqa: ARG002
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The frames and sentiments of a batch of documents.

        Examples:
            >>> frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "situation"}
            >>> frame |= {"label": "food", "place_kb": "17", "urgent": "true", "confidence": 0.5}
            >>> corpus = Corpus(documents=[{"row": 0, "name": "d1"}], frames=[frame])
            >>> metric = SituationRanking()
            >>> rows, _ = metric.statistics(corpus, corpus)
            >>> metric.score(metric.total([rows]))[0]["ndcg.standard"]
            1.0
        """
        sides = ((reference, False), (system, True))
        rows = pl.concat([frame_rows(corpus, system=side) for corpus, side in sides])
        is_scored = self._scores.reading.scored_documents(reference, self.options)
        return rows.with_columns(scored=is_scored), None

    @property
    def _scores(self) -> type[ScoredFrames]:
        return SCORES[self.profile]

    def documents(self, counts: pl.DataFrame) -> list[str]:
        """The names of the documents that are scored, sorted."""
        return super().documents(counts.filter("scored", pl.col("part") != MENTION))

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The rows of all batches, prepared for the profile."""
        return self._scores.reading.prepare(total(counts), self.options)

    def judge(self, counts: Sequence[pl.DataFrame]) -> Sequence[Finding]:
        """Return what names the options give that the reference does not have."""
        rows = pl.concat([conformed(pl.DataFrame()), *counts]).filter(~pl.col("system"))
        return [*unknown_annotators(self.options, rows), *unknown_documents(self.options, rows)]

    def score(self, total: pl.DataFrame) -> tuple[Values, Tables]:
        """All values, and the tables that show why they are what they are."""
        scored = self.scored(total)
        values = {
            f"{family}.{ending}": None if value is None or math.isnan(value) else value
            for family in FAMILIES
            if self._has(family)
            for ending, value in scored.values(family)
        }
        if self.families:
            return values, {"scorings": tables.scorings(values)}
        return values, tables.tables(values, scored)

    def _has(self, family: str) -> bool:
        if self.options.no_sec and family.startswith(("ndcg_sec", "sec_")):
            return False
        return not self.families or family in self.families

    def scored(self, total: pl.DataFrame) -> ScoredFrames:
        """Both sides, and what was computed of them; kept for the latest rows."""
        if id(total) not in self._kept:
            self._kept.clear()
            sides = self._scores.reading(total, self.options)
            self._kept[id(total)] = (total, self._scores(sides))
        return self._kept[id(total)][1]

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What a reader of the values must know."""
        return tuple(self.scored(total).notes())

    def official_files(self, total: pl.DataFrame) -> dict[str, str]:
        """The files of the public scorer; none in the profile `plan`."""
        return self.scored(total).files()

    @property
    def additive(self) -> bool:
        """Whether all families are computed from counts that add."""
        return bool(self.families) and {*self.families} <= {*self._scores.additive}

    @property
    def interval_method(self) -> IntervalMethod:
        """The jackknife, also where counts add: few documents have most frames of a situation."""
        return "jackknife"

    def no_interval(self, name: str) -> str:
        """The top of a list changes too much without some documents to say anything."""
        return "the top of the list varies too much" if name.startswith("precision_at.") else ""

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The values of each replicate: by weighted sums over documents where counts add."""
        rows = self.total([counts])
        if not self.additive:
            return super().replicates(rows, documents, weights)
        return self.scored(rows).replicates(self.families, documents, weights)

    def decompose(self, names: Iterable[str] | None = None) -> tuple[SituationRanking, ...]:
        """The metrics that give the named values: those whose counts add, and all others.

        Raises:
            ValueError: for an unknown name.
        """
        wanted = []
        for name in FAMILIES if names is None else names:
            family = name.partition(".")[0]
            if family not in FAMILIES:
                choices = ", ".join(FAMILIES)
                raise ValueError(f"unknown metric {name}; the first part is one of {choices}")
            if self._has(family) and family not in wanted:
                wanted.append(family)
        adding = {*self._scores.additive}
        parts = [[f for f in wanted if (f in adding) is adds] for adds in (True, False)]
        return tuple(replace(self, families=tuple(part)) for part in parts if part)

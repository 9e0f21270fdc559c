"""What can be chosen about the scores of situation frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from hlteval.scoring.situations.lorehlt.ranking import OFFICIAL_GAINS, Discount, Gains


@dataclass(frozen=True)
class RankingOptions:
    """How situation frames are prepared, ranked and compared.

    Attributes:
        gravity: the gravity that precision at N, the tables and the official files show; nDCG is
            reported for both, as `ndcg` (boolean) and `ndcg_sec` (numeric).
        dcg: the discount; empty: `method1` in `plan`, `method0` in `official`.
        config: gains and thresholds of a configuration file of the public scorer.
        gains: of high, medium and low gravity. A situation without grave frames has a low gain by
            16.2 of the plan, but none in its worked example; a fourth number settles it.
        gravity_thresholds: the least number of grave frames of high and medium gravity.
        cutoff: frames of higher confidence are the submission; without it, all are.
        no_nil: leave out frames with NIL places on both sides.
        no_sec: compute nothing that needs sentiments.
        documents: the documents of the whole test set, if they are listed.
        scored: the documents that are scored; those of the reference if None.
        annotators: the annotator of the needs and issues of documents, as
            `annotators.CHOSEN`; those of a file as `given_names.GIVEN`.
        annotator_seed: of the draw of annotators elsewhere; apart from the seed of resampling, so
            that intervals can be drawn again for the same annotators.
        draws: how many other draws are scored, for their distribution.
        max_frames: how many frames of the submission are scored at most.
        system_edl: the mentions of the submission, `docid`, `start`, `end` and `entity`, instead of
            those that it holds itself.
        reference_edl: those of the reference.
        system_name: the name of the system, which the official files print in their first line.
    """

    gravity: Literal["boolean", "numeric"] = "boolean"
    dcg: Literal["", "method0", "method1"] = ""
    config: Gains | None = None
    gains: tuple[float, ...] = ()
    gravity_thresholds: tuple[float, ...] = ()
    cutoff: float | None = None
    no_nil: bool = False
    no_sec: bool = False
    documents: tuple[str, ...] | None = None
    scored: tuple[str, ...] | None = None
    annotators: pl.DataFrame | None = None
    annotator_seed: int | None = None
    draws: int = 0
    max_frames: int | None = None
    system_edl: pl.DataFrame | None = None
    reference_edl: pl.DataFrame | None = None
    system_name: str = "system"

    def discount(self, *, official: bool) -> Discount:
        """The discount of a profile."""
        return self.dcg or ("method0" if official else "method1")

    def gain_table(self, *, official: bool) -> Gains:
        """The gains of a profile, with what is chosen."""
        table = self.config or (OFFICIAL_GAINS if official else Gains())
        if self.gains:
            named = zip(("high", "medium", "low", "nothing"), self.gains, strict=False)
            table = table._replace(nothing=None)._replace(**dict(named))
        if self.gravity_thresholds:
            high, medium = self.gravity_thresholds
            table = table._replace(high_from=high, medium_from=medium)
        return table

    @property
    def official_threshold(self) -> float | None:
        """The confidence that frames must exceed to be read at all.

        The public scorer takes notice of it only with a list of scored documents, and of 0
        never.
        """
        return self.cutoff if self.scored is not None and self.cutoff else None

"""Both sides as the public scorer of LoReHLT 2019 compares them: what differs from `frame_sides`.

The annotators are drawn before anything is counted, and are in the rows (`official_draw`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import polars as pl

from hlteval.scoring.situations.lorehlt import official_sentiments
from hlteval.scoring.situations.lorehlt.frame_rows import FRAME, ISSUES, SENTIMENT, side
from hlteval.scoring.situations.lorehlt.frame_sides import Annotations, Sides
from hlteval.scoring.situations.lorehlt.knowledge_base import nil_places, resolved
from hlteval.scoring.situations.lorehlt.official_draw import (
    OFFICIAL_SEED,
    of_chosen,
    with_annotators,
)
from hlteval.scoring.situations.lorehlt.official_reading import read_reference, read_system


@dataclass(frozen=True)
class OfficialSides(Sides):
    """Both sides, whose equal frames all count."""

    official: ClassVar[bool] = True

    @cached_property
    def sentiments(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The sentiments of both sides as the public scorer joins them with frames."""
        places = nil_places(*self.mentions) if self.mentions is not None else None
        system = official_sentiments.with_system(self.system_felt, self.system, places)
        return official_sentiments.with_reference(self.felt, self.reference), system

    @cached_property
    def emotional(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The sentiments of both sides whose emotions make frames graver: all of the system."""
        return self.sentiments[0], self.system_felt

    @cached_property
    def last_frames(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The frames of both sides of which situations consist."""
        return self.reference, self.system

    @cached_property
    def above_cutoff(self) -> Sides:
        """These sides: the cut-off was applied to the submission, if at all."""
        return self


@dataclass(frozen=True)
class OfficialAnnotations(Annotations):
    """Both sides of all batches, as the public scorer reads them."""

    official: ClassVar[bool] = True
    default_seed: ClassVar[int] = OFFICIAL_SEED
    sides: ClassVar[type[Sides]] = OfficialSides

    @cached_property
    def reference(self) -> pl.DataFrame:
        """All frames of the reference, of all annotators."""
        return self.without_nil(read_reference(self.annotation))

    @cached_property
    def system(self) -> pl.DataFrame:
        """The frames of the system above the threshold, if there is one."""
        threshold = self.options.official_threshold
        frames = self.predicted
        return frames if threshold is None else frames.filter(pl.col("confidence") > threshold)

    @cached_property
    def predicted(self) -> pl.DataFrame:
        """The frames of the system of any confidence, which the curves are about."""
        return self.without_nil(read_system(self.submission))

    @cached_property
    def annotation(self) -> pl.DataFrame:
        """All frames of the reference, as they were annotated."""
        return side(self.scored_rows, FRAME, system=False)

    @cached_property
    def chosen(self) -> pl.DataFrame:
        """The annotator of each document that is drawn or given."""
        issue = pl.col("type").is_in(ISSUES)
        text = self.annotation.filter(pl.col("modality").fill_null("text") != "speech")
        return text.select("docid", "chosen", issue=issue).unique(maintain_order=True)

    @cached_property
    def single_annotation(self) -> pl.DataFrame:
        """The frames of the reference, of one annotator."""
        return of_chosen(self.reference)

    @cached_property
    def felt(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The sentiments of both sides."""
        reference, system = (side(self.scored_rows, SENTIMENT, system=own) for own in (False, True))
        return reference, system

    def redrawn(self, seed: int) -> Annotations:
        """Both sides with other annotators, where none are given."""
        options = replace(self.options, annotator_seed=seed)
        return replace(
            self, options=options, rows=with_annotators(self.rows, options.annotators, seed)
        )

    def with_meant_places(self, system: pl.DataFrame, reference: pl.DataFrame) -> pl.DataFrame:
        """The system's frames with the places that the public scorer takes theirs for."""
        return resolved(system, reference, official=True)

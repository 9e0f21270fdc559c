"""The frames and sentiments of both sides as they are compared, against one annotation or all.

Conventions:
    `Sides` holds frames as `gravity.judged` gives them. Frames of one side that are the same in the
    finest equivalence class count once, for each annotator. What the public scorer does instead is
    in `official_sides`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import polars as pl

from hlteval.scoring.ambiguous_places import resolved, with_entries
from hlteval.scoring.situations.lorehlt import sentiments as sec
from hlteval.scoring.situations.lorehlt.annotators import chosen_annotators, several, single
from hlteval.scoring.situations.lorehlt.equivalence import FINEST, key
from hlteval.scoring.situations.lorehlt.frame_rows import ANNOTATED, FRAME, MENTION, SENTIMENT, side
from hlteval.scoring.situations.lorehlt.gravity import judged
from hlteval.scoring.situations.lorehlt.knowledge_base import (
    MENTIONS,
    with_nil_resolved,
    without_nil,
)
from hlteval.scoring.situations.lorehlt.ranking_options import RankingOptions


@dataclass(frozen=True)
class Sides:
    """Both sides, with the places of the system as the reference has them.

    Attributes:
        reference: its frames.
        system: the system's frames.
        felt: the sentiments of the reference, by `docid` and `frame`.
        system_felt: those of the system.
        options: what was chosen.
        mentions: of system and reference, if there are such of both.
    """

    reference: pl.DataFrame
    system: pl.DataFrame
    felt: pl.DataFrame
    system_felt: pl.DataFrame
    options: RankingOptions
    mentions: tuple[pl.DataFrame, pl.DataFrame] | None

    official: ClassVar[bool] = False

    @cached_property
    def sentiments(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The sentiments of both sides with their targets and comparable sources."""
        reference = sec.about_frames(self.felt, self.reference)
        system = sec.about_frames(self.system_felt, self.system)
        return reference, sec.with_sources(system, reference, self.mentions)

    @cached_property
    def emotional(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The sentiments of both sides whose emotions make frames graver.

        Of a system, those of the same source and polarity as one of the reference about the same
        target (section 16.2.1).
        """
        reference, system = self.sentiments
        fields = [*sec.TARGET, *sec.CLASSES["polarity"]]
        return reference, system.join(reference, on=fields, how="semi")

    @cached_property
    def last_frames(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The frames of both sides of which situations consist: no frame twice."""
        fields = key(FINEST)
        once = self.reference.unique([*fields, "annotator"], keep="first", maintain_order=True)
        ranked = self.system.sort("confidence", descending=True, maintain_order=True)
        return once, ranked.unique(fields, keep="first", maintain_order=True)

    @cached_property
    def text_only(self) -> Sides:
        """The frames of documents of text."""
        text = pl.col("modality").fill_null("text") != "speech"
        if self.reference.select(text.all()).item() and self.system.select(text.all()).item():
            return self
        return replace(self, reference=self.reference.filter(text), system=self.system.filter(text))

    @cached_property
    def above_cutoff(self) -> Sides:
        """The frames of the system that its cut-off keeps (section 16.1: above this threshold)."""
        if self.options.cutoff is None:
            return self
        above = pl.col("confidence") > self.options.cutoff
        return replace(self, system=self.system.filter(above))


@dataclass(frozen=True)
class Annotations:
    """Both sides of all batches, and the annotation that is drawn.

    Attributes:
        rows: as `frame_rows.total` gives them.
        options: what was chosen.
    """

    rows: pl.DataFrame
    options: RankingOptions

    official: ClassVar[bool] = False
    default_seed: ClassVar[int] = 0
    sides: ClassVar[type[Sides]] = Sides

    @cached_property
    def scored_rows(self) -> pl.DataFrame:
        """The rows of documents that are scored."""
        return self.rows.filter("scored")

    @cached_property
    def unscored_frames(self) -> pl.DataFrame:
        """The frames of the system in documents of the test set that are not scored."""
        return side(self.rows.filter(~pl.col("scored")), FRAME, system=True)

    @cached_property
    def speech(self) -> pl.Series:
        """The names of the documents of speech."""
        speech = self.scored_rows.filter(~pl.col("system"), pl.col("modality") == "speech")
        return speech["docid"].unique()

    @cached_property
    def reference(self) -> pl.DataFrame:
        """All frames of the reference, of all annotators."""
        return self.without_nil(self.annotation)

    @cached_property
    def system(self) -> pl.DataFrame:
        """The frames of the system, as many as are scored."""
        return self.predicted

    @cached_property
    def predicted(self) -> pl.DataFrame:
        """The frames of the system of any confidence, which the curves are about."""
        frames = self.without_nil(judged(with_entries(self.submission)))
        return (
            frames if self.mentions is None else with_nil_resolved(frames, "place", *self.mentions)
        )

    @cached_property
    def submission(self) -> pl.DataFrame:
        """The frames of the system as it gives them, not more than are allowed."""
        frames = side(self.scored_rows, FRAME, system=True)
        speech = pl.col("docid").is_in(self.speech.implode())
        frames = frames.with_columns(
            pl.col("confidence").fill_null(1.0),
            modality=pl.when(speech).then(pl.lit("speech")).otherwise("modality"),
        )
        most = self.options.max_frames
        if most is not None and frames.height > most:
            order = pl.col("confidence").rank("ordinal", descending=True)
            frames = frames.filter(order <= most)
        return frames

    def without_nil(self, frames: pl.DataFrame) -> pl.DataFrame:
        """The frames, without NIL places if these are left out."""
        return without_nil(frames) if self.options.no_nil else frames

    @cached_property
    def cropped(self) -> int:
        """How many frames of the system are left out because there are too many."""
        most = self.options.max_frames
        own = side(self.scored_rows, FRAME, system=True).height
        return max(0, own - most) if most is not None else 0

    @cached_property
    def several(self) -> int:
        """How many documents have several annotators."""
        return several(self.annotation)

    @cached_property
    def annotation(self) -> pl.DataFrame:
        """All frames of the reference, as they were annotated."""
        return judged(with_entries(side(self.scored_rows, FRAME, system=False)))

    @cached_property
    def chosen(self) -> pl.DataFrame:
        """The annotator of each document that is drawn or given."""
        return chosen_annotators(self.annotation, self.options.annotators, self.seed)

    def redrawn(self, seed: int) -> Annotations:
        """The same with other annotators, where none are given."""
        other = replace(self, options=replace(self.options, annotator_seed=seed))
        for name in ("reference", "system", "speech", "mentions", "annotation"):
            other.__dict__[name] = getattr(self, name)  # what does not depend on the draw
        return other

    @cached_property
    def drawn(self) -> Sides:
        """Both sides, with one annotation of each document."""
        return self.against(self.single_annotation)

    @cached_property
    def single_annotation(self) -> pl.DataFrame:
        """The frames of the reference, of one annotator."""
        return single(self.reference, self.chosen)

    @cached_property
    def of_any_confidence(self) -> Sides:
        """The same with all frames of the system, which curves are about, as the scorer does."""
        return self.against(self.single_annotation, self.predicted)

    @cached_property
    def combined(self) -> Sides:
        """Both sides, with all annotations."""
        return self.against(self.reference) if self.several else self.drawn

    @cached_property
    def mentions(self) -> tuple[pl.DataFrame, pl.DataFrame] | None:
        """The mentions of system and reference, if there are such of both."""
        own, gold = self.system_mentions, self.options.reference_edl
        return None if gold is None or own.is_empty() else (own, gold)

    @cached_property
    def system_mentions(self) -> pl.DataFrame:
        """The mentions of the system: those of NIL entities, and one row per document with any."""
        given = self.options.system_edl
        own = side(self.rows, MENTION, system=True).select(*MENTIONS)
        return own if given is None else given

    def against(self, reference: pl.DataFrame, system: pl.DataFrame | None = None) -> Sides:
        """The system, or some frames of it, compared with some frames of the reference."""
        system = self.with_meant_places(self.system if system is None else system, reference)
        return self.sides(reference, system, *self.felt, self.options, self.mentions)

    def with_meant_places(self, system: pl.DataFrame, reference: pl.DataFrame) -> pl.DataFrame:
        """The system's frames with the places of the reference that they mean."""
        return resolved(system, reference, ["docid", "type"])

    @cached_property
    def felt(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The sentiments of both sides, which are annotated of text only."""
        text = ~pl.col("docid").is_in(self.speech.implode())
        reference, system = (
            side(self.scored_rows, SENTIMENT, system=own).filter(text) for own in (False, True)
        )
        return reference, system

    @cached_property
    def system_frames(self) -> int:
        """How many frames the submission has, whether or not they are scored."""
        return side(self.rows, FRAME, system=True).height

    @property
    def seed(self) -> int:
        """The seed of the draw."""
        given = self.options.annotator_seed
        return self.default_seed if given is None else given

    @cached_property
    def documents(self) -> int:
        """How many documents the reference has."""
        return self.scored_rows.filter(pl.col("part") == ANNOTATED)["docid"].n_unique()

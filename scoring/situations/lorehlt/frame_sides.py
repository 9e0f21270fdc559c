"""The frames and sentiments of both sides as they are compared, against one annotation or all.

Conventions:
    `Sides` holds frames as `gravity.judged` gives them. In the profile `plan`, frames of one side
    that are the same in the finest equivalence class count once, for each annotator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from hlteval.scoring.ambiguous_places import with_entries
from hlteval.scoring.situations.lorehlt import official_sentiments as official
from hlteval.scoring.situations.lorehlt import sentiments as sec
from hlteval.scoring.situations.lorehlt.annotators import chosen_annotators, several, single
from hlteval.scoring.situations.lorehlt.equivalence import FINEST, key
from hlteval.scoring.situations.lorehlt.frame_rows import (
    ANNOTATED,
    FRAME,
    ISSUES,
    MENTION,
    SENTIMENT,
    side,
)
from hlteval.scoring.situations.lorehlt.gravity import judged
from hlteval.scoring.situations.lorehlt.knowledge_base import (
    MENTIONS,
    nil_places,
    resolved,
    with_nil_resolved,
    without_nil,
)
from hlteval.scoring.situations.lorehlt.official_draw import (
    OFFICIAL_SEED,
    of_chosen,
    with_annotators,
)
from hlteval.scoring.situations.lorehlt.official_reading import read_reference, read_system
from hlteval.scoring.situations.lorehlt.ranking_options import RankingOptions


@dataclass(frozen=True)
class Sides:
    """Both sides, with the places of the system as the reference has them.

    Attributes:
        reference: its frames.
        system: the system's frames.
        felt: the sentiments of the reference, by `docid` and `frame`.
        system_felt: those of the system.
        official: whether the public scorer is followed.
        options: what was chosen.
        mentions: of system and reference, if there are such of both.
    """

    reference: pl.DataFrame
    system: pl.DataFrame
    felt: pl.DataFrame
    system_felt: pl.DataFrame
    official: bool
    options: RankingOptions
    mentions: tuple[pl.DataFrame, pl.DataFrame] | None

    @cached_property
    def targeted(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The sentiments of both sides with their targets and comparable sources (`plan`)."""
        reference = sec.about_frames(self.felt, self.reference)
        system = sec.about_frames(self.system_felt, self.system)
        return reference, sec.with_sources(system, reference, self.mentions)

    @cached_property
    def official_targeted(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The sentiments of both sides as the public scorer joins them with frames."""
        places = nil_places(*self.mentions) if self.mentions is not None else None
        system = official.with_system(self.system_felt, self.system, places)
        return official.with_reference(self.felt, self.reference), system

    @cached_property
    def emotional(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The sentiments of both sides whose emotions make frames graver.

        Of a system, those of the same source and polarity as one of the reference about the same
        target (section 16.2.1); in the public scorer, all.
        """
        if self.official:
            return self.official_targeted[0], self.system_felt
        reference, system = self.targeted
        fields = [*sec.TARGET, *sec.CLASSES["polarity"]]
        return reference, system.join(reference, on=fields, how="semi")

    @cached_property
    def last_frames(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The frames of both sides of which situations consist: no frame twice (`plan`)."""
        if self.official:
            return self.reference, self.system
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
        if self.official or self.options.cutoff is None:
            return self
        above = pl.col("confidence") > self.options.cutoff
        return replace(self, system=self.system.filter(above))


@dataclass(frozen=True)
class Annotations:
    """Both sides of all batches, and the annotation that is drawn.

    Attributes:
        rows: as `frame_rows.total` gives them.
        official: whether the public scorer is followed.
        options: what was chosen.
    """

    rows: pl.DataFrame
    official: bool
    options: RankingOptions

    @cached_property
    def _scored_rows(self) -> pl.DataFrame:
        """The rows of documents that are scored."""
        return self.rows.filter("scored")

    @cached_property
    def unscored_frames(self) -> pl.DataFrame:
        """The frames of the system in documents of the test set that are not scored."""
        return side(self.rows.filter(~pl.col("scored")), FRAME, system=True)

    @cached_property
    def speech(self) -> pl.Series:
        """The names of the documents of speech."""
        speech = self._scored_rows.filter(~pl.col("system"), pl.col("modality") == "speech")
        return speech["docid"].unique()

    @cached_property
    def reference(self) -> pl.DataFrame:
        """All frames of the reference, of all annotators."""
        read = read_reference(self.annotated) if self.official else self.annotated
        return self._without_nil(read)

    @cached_property
    def system(self) -> pl.DataFrame:
        """The frames of the system, as many as are scored."""
        frames = self.predicted
        threshold = self.options.threshold(official=self.official) if self.official else None
        return frames if threshold is None else frames.filter(pl.col("confidence") > threshold)

    @cached_property
    def predicted(self) -> pl.DataFrame:
        """The frames of the system of any confidence, which the curves are about."""
        frames = side(self._scored_rows, FRAME, system=True)
        speech = pl.col("docid").is_in(self.speech.implode())
        frames = frames.with_columns(
            pl.col("confidence").fill_null(1.0),
            modality=pl.when(speech).then(pl.lit("speech")).otherwise("modality"),
        )
        most = self.options.max_frames
        if most is not None and frames.height > most:
            order = pl.col("confidence").rank("ordinal", descending=True)
            frames = frames.filter(order <= most)
        if self.official:
            return self._without_nil(read_system(frames))
        frames = self._without_nil(judged(with_entries(frames)))
        return (
            frames if self.mentions is None else with_nil_resolved(frames, "place", *self.mentions)
        )

    def _without_nil(self, frames: pl.DataFrame) -> pl.DataFrame:
        return without_nil(frames) if self.options.no_nil else frames

    @cached_property
    def cropped(self) -> int:
        """How many frames of the system are left out because there are too many."""
        most = self.options.max_frames
        own = side(self._scored_rows, FRAME, system=True).height
        return max(0, own - most) if most is not None else 0

    @cached_property
    def several(self) -> int:
        """How many documents have several annotators."""
        return several(self.annotated)

    @cached_property
    def annotated(self) -> pl.DataFrame:
        """All frames of the reference, as they were annotated."""
        frames = side(self._scored_rows, FRAME, system=False)
        return frames if self.official else judged(with_entries(frames))

    @cached_property
    def chosen(self) -> pl.DataFrame:
        """The annotator of each document that is drawn or given."""
        if not self.official:
            return chosen_annotators(self.annotated, self.options.annotators, self.seed)
        issue = pl.col("type").is_in(ISSUES)
        text = self.annotated.filter(pl.col("modality").fill_null("text") != "speech")
        return text.select("docid", "chosen", issue=issue).unique(maintain_order=True)

    def redrawn(self, seed: int) -> Annotations:
        """The same with other annotators, where none are given."""
        options = replace(self.options, annotator_seed=seed)
        if self.official:
            rows = with_annotators(self.rows, options.annotators, seed)
            return replace(self, options=options, rows=rows)
        other = replace(self, options=options)
        for name in ("reference", "system", "speech", "mentions", "annotated"):
            other.__dict__[name] = getattr(self, name)  # what does not depend on the draw
        return other

    @cached_property
    def drawn(self) -> Sides:
        """Both sides, with one annotation of each document."""
        return self.against(self._single)

    @cached_property
    def _single(self) -> pl.DataFrame:
        """The frames of the reference, of one annotator."""
        if self.official:
            return of_chosen(self.reference)
        return single(self.reference, self.chosen)

    @cached_property
    def of_any_confidence(self) -> Sides:
        """The same with all frames of the system, which curves are about, as the scorer does."""
        return self.against(self._single, self.predicted)

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
        system = self.system if system is None else system
        system = resolved(system, reference, official=self.official)
        felt, own = (
            side(self._scored_rows, SENTIMENT, system=system_side) for system_side in (False, True)
        )
        if not self.official:  # sentiments are annotated of text only
            felt, own = (
                table.filter(~pl.col("docid").is_in(self.speech.implode())) for table in (felt, own)
            )
        return Sides(reference, system, felt, own, self.official, self.options, self.mentions)

    @cached_property
    def system_frames(self) -> int:
        """How many frames the submission has, whether or not they are scored."""
        return side(self.rows, FRAME, system=True).height

    @property
    def seed(self) -> int:
        """The seed of the draw."""
        default = OFFICIAL_SEED if self.official else 0
        given = self.options.annotator_seed
        return default if given is None else given

    @cached_property
    def documents(self) -> int:
        """How many documents the reference has."""
        return self._scored_rows.filter(pl.col("part") == ANNOTATED)["docid"].n_unique()

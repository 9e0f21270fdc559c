"""The frames and sentiments of both sides as they are compared, against one annotation or all.

Conventions:
    `Sides` holds frames as `gravity.judged` gives them. In the profile `plan`, frames of one side
    that are the same in the finest equivalence class count once, for each annotator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from hlteval.scoring.situations.lorehlt import official_sentiments as official
from hlteval.scoring.situations.lorehlt import sentiments as sec
from hlteval.scoring.situations.lorehlt.annotators import (
    OFFICIAL_SEED,
    chosen_annotators,
    several,
    single,
)
from hlteval.scoring.situations.lorehlt.equivalence import FINEST, key
from hlteval.scoring.situations.lorehlt.frame_rows import ANNOTATED, FRAME, MENTION, SENTIMENT, side
from hlteval.scoring.situations.lorehlt.gravity import judged
from hlteval.scoring.situations.lorehlt.knowledge_base import (
    MENTIONS,
    nil_places,
    resolved,
    with_entries,
    without_nil,
)
from hlteval.scoring.situations.lorehlt.ranking_options import RankingOptions

_SPEECH_NIL = "NIL"


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
    def speech(self) -> pl.Series:
        """The names of the documents of speech."""
        speech = self.rows.filter(~pl.col("system"), pl.col("modality") == "speech")
        return speech["docid"].unique()

    @cached_property
    def reference(self) -> pl.DataFrame:
        """All frames of the reference, of all annotators."""
        rows = side(self.rows, FRAME, system=False)
        if not self.official:
            return self._prepared(rows)
        frames = self._prepared(_numbered(rows))
        frames = frames.sort("issue", "docid", "frame", maintain_order=True)
        speech = pl.col("modality").fill_null("text") == "speech"
        # text has a place if it names an entity, whatever entry there is; speech has entries only
        nameless = (pl.col("entity").fill_null("none") == "none") & pl.col("urgency").is_null()
        no_entry = pl.col("place").is_null() | (pl.col("place") == _SPEECH_NIL)
        nowhere = pl.when(speech).then(no_entry).otherwise(nameless)
        return frames.filter(~nowhere.fill_null(value=False))

    @cached_property
    def system(self) -> pl.DataFrame:
        """The frames of the system, as many as are scored."""
        frames = side(self.rows, FRAME, system=True)
        speech = pl.col("docid").is_in(self.speech.implode())
        frames = frames.with_columns(
            pl.col("confidence").fill_null(1.0),
            modality=pl.when(speech).then(pl.lit("speech")).otherwise("modality"),
        )
        threshold = self.options.threshold(official=self.official) if self.official else None
        if threshold is not None:
            frames = frames.filter(pl.col("confidence") > threshold)
        most = self.options.max_frames
        if most is not None and frames.height > most:
            order = pl.col("confidence").rank("ordinal", descending=True)
            frames = frames.filter(order <= most)
        return self._prepared(frames)

    def _prepared(self, frames: pl.DataFrame) -> pl.DataFrame:
        frames = with_entries(frames) if not self.official else _as_written(frames)
        frames = judged(frames, official=self.official)
        return without_nil(frames) if self.options.no_nil else frames

    @cached_property
    def cropped(self) -> int:
        """How many frames of the system are left out because there are too many."""
        most = self.options.max_frames
        own = side(self.rows, FRAME, system=True).height
        return max(0, own - most) if most is not None else 0

    @cached_property
    def several(self) -> int:
        """How many documents have several annotators."""
        return several(self._annotated)

    @cached_property
    def _annotated(self) -> pl.DataFrame:
        """All frames of the reference, as they were annotated."""
        return judged(side(self.rows, FRAME, system=False), official=self.official)

    @cached_property
    def chosen(self) -> pl.DataFrame:
        """The annotator of each document that is drawn or given."""
        options = self.options
        return chosen_annotators(
            self._annotated, options.annotators, self.seed, official=self.official
        )

    def redrawn(self, seed: int) -> Annotations:
        """The same with other annotators, where none are given."""
        other = replace(self, options=replace(self.options, annotator_seed=seed))
        for name in ("reference", "system", "speech", "mentions", "_annotated"):
            other.__dict__[name] = getattr(self, name)  # what does not depend on the draw
        return other

    @cached_property
    def drawn(self) -> Sides:
        """Both sides, with one annotation of each document."""
        return self.against(single(self.reference, self.chosen))

    @cached_property
    def combined(self) -> Sides:
        """Both sides, with all annotations."""
        return self.against(self.reference) if self.several else self.drawn

    @cached_property
    def mentions(self) -> tuple[pl.DataFrame, pl.DataFrame] | None:
        """The mentions of system and reference, if there are such of both."""
        own, gold = self.options.system_edl, self.options.reference_edl
        if own is None:
            own = side(self.rows, MENTION, system=True).select(*MENTIONS)
        return None if gold is None or own.is_empty() else (own, gold)

    def against(self, reference: pl.DataFrame) -> Sides:
        """The system compared with some frames of the reference."""
        system = resolved(self.system, reference, official=self.official)
        felt, own = (
            side(self.rows, SENTIMENT, system=system_side) for system_side in (False, True)
        )
        if not self.official:  # sentiments are annotated of text only
            felt, own = (
                table.filter(~pl.col("docid").is_in(self.speech.implode())) for table in (felt, own)
            )
        return Sides(reference, system, felt, own, self.official, self.options, self.mentions)

    @cached_property
    def system_frames(self) -> int:
        """How many frames the submission has."""
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
        return self.rows.filter(pl.col("part") == ANNOTATED)["docid"].n_unique()


def _as_written(frames: pl.DataFrame) -> pl.DataFrame:
    """Frames whose places are null where nothing is written."""
    return frames.with_columns(place=pl.when(pl.col("place") != "").then("place"))


def _numbered(frames: pl.DataFrame) -> pl.DataFrame:
    """Frames of speech whose places are the places of nothing else if all of a file are numbers.

    The public scorer reads such a column as numbers; a number is not an identifier, and is sorted
    before all identifiers.
    """
    speech = (pl.col("modality") == "speech") & pl.col("file").is_not_null()
    numbers = pl.col("place").str.contains(r"^[0-9]+$").all().over("file")
    place = pl.when(speech & numbers).then(pl.format("#{}", "place"))
    return frames.with_columns(place=place.otherwise("place"))

"""The frames and sentiments of both sides as they are compared, against one annotation or all.

Conventions:
    `Sides` holds frames as `judged` gives them. Frames of one side that are the same in the
    finest equivalence class count once, for each annotator. What the public scorer does instead is
    in `official_sides`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring import ratios
from hlteval.scoring.similarity import resolve_places, with_entries
from hlteval.scoring.situations.lorehlt.frame_rows import (
    FRAME,
    ISSUES,
    MENTION,
    MENTIONS,
    SENTIMENT,
    is_scored,
    side,
    with_nil_resolved,
)
from hlteval.scoring.situations.lorehlt.ranking import (
    Discount,
    Gains,
    Ranking,
    RankingOptions,
    situations,
)

# Several annotators: which one is drawn for each document, and how often each frame was annotated.
#
# Section 16.2.1 scores against the annotation of one annotator, drawn at random and the same for
# all submissions; section 16.2 weighs frames by their occurrences in the annotations of all of
# them.


#: The annotator of the needs and of the issues of a document.
CHOSEN = {"docid": pl.String, "issue": pl.Boolean, "chosen": pl.String}


def chosen_annotators(frames: pl.DataFrame, given: pl.DataFrame | None, seed: int) -> pl.DataFrame:
    """The annotator whose frames count, for needs and issues of each document (`CHOSEN`).

    What is drawn for a document does not depend on others. Rows without an annotator, as in speech,
    are of all of them, and none is drawn for them.

    Args:
        frames: of the reference, with `docid`, `issue` and `annotator`.
        given: annotators that are given, as `CHOSEN`; others are drawn.
        seed: of the draw.

    Examples:
        >>> row = {"docid": "d", "issue": False, "annotator": "7"}
        >>> chosen_annotators(pl.DataFrame([row]), None, 0).rows()
        [('d', False, '7')]
    """
    fields = ["docid", "issue"]
    own = frames.select(*fields, pl.col("annotator").fill_null(""))
    names = own.group_by("docid").agg(pl.col("annotator").unique().sort())
    named = pl.col("annotator").list.filter(pl.element() != "")
    names = names.with_columns(pl.when(named.list.len() > 0).then(named).otherwise("annotator"))
    draws = [
        each[0] if len(each) == 1 else random.Random(f"{seed}:{docid}").choice(each)  # noqa: S311
        for docid, each in names.iter_rows()
    ]
    draw = names.select("docid", chosen=pl.Series(draws, dtype=pl.String))
    drawn = own.select(fields).unique().join(draw, on="docid").sort(fields)
    if given is None:
        return drawn
    both = drawn.join(given, on=fields, how="left", suffix="_given", maintain_order="left")
    return both.select(*fields, pl.coalesce("chosen_given", "chosen").alias("chosen"))


# The equivalence classes of situation frames: which fields make two frames the same.
#
# LoReHLT 2019, section 16.2.4. Frames of one class and key are one: of the system, the most
# confident of them counts; of the reference, they weigh as many rows as the combined reference has
# of them.


STATUS = "type,place,status"
#: The fields of a frame that each class compares, besides its document.
CLASSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "type": ("type",),
        "type,place": ("type", "place"),
        STATUS: ("type", "place", "status"),
        f"{STATUS},urgent": ("type", "place", "status", "urgent"),
        f"{STATUS},resolution": ("type", "place", "status", "unresolved"),
        f"{STATUS},urgent,resolution": ("type", "place", "status", "urgent", "unresolved"),
    }
)
FINEST = f"{STATUS},urgent,resolution"
#: The class that has only urgent and unresolved frames.
GRAVE = f"grave:{FINEST}"
#: The classes of situations, which have a place.
SITUATION_CLASSES = (*tuple(CLASSES)[1:], GRAVE)


def key(name: str) -> list[str]:
    """The columns that a class compares, with the document."""
    return ["docid", *CLASSES[name.removeprefix("grave:")]]


def of_class(frames: pl.DataFrame, name: str) -> pl.DataFrame:
    """The frames that a class is about: with a place if it compares places; only grave ones."""
    if name == GRAVE:
        frames = frames.filter(pl.col("urgent") & pl.col("unresolved"))
    return frames.filter(pl.col("place").is_not_null()) if "place" in key(name) else frames


def references(frames: pl.DataFrame, name: str) -> pl.DataFrame:
    """The different frames of a reference, with their occurrences as `weight` (section 16.2).

    Those are the rows of all annotators that are equal in the class. A row that an annotator
    repeats, equal in the finest class, is one.

    Examples:
        >>> row = {"docid": "d", "type": "food", "place": "1", "status": "current"}
        >>> row |= {"urgent": True, "unresolved": True, "annotator": "7"}
        >>> rows = [row, row, row | {"status": "past"}, row | {"annotator": "8"}]
        >>> references(pl.DataFrame(rows), "type,place")["weight"].to_list()
        [3]
    """
    rows = of_class(frames, name).unique([*key(FINEST), "annotator"])
    return rows.group_by(key(name)).agg(weight=pl.len().cast(pl.Int64))


def most_confident(frames: pl.DataFrame, name: str) -> pl.DataFrame:
    """The different frames of a system, with the greatest `confidence` of each."""
    return of_class(frames, name).group_by(key(name)).agg(pl.col("confidence").max())


def compared(reference: pl.DataFrame, system: pl.DataFrame, name: str) -> pl.DataFrame:
    """The different frames of both sides.

    Returns:
        The key of the class, `weight` (null for false positives) and `confidence` (null for missed
        frames).
    """
    fields = key(name)
    gold, own = references(reference, name), most_confident(system, name)
    return gold.join(own, on=fields, how="full", nulls_equal=True, coalesce=True)


# The gravity of situation frames: LoReHLT 2019, sections 16.2 to 16.2.2.
#
# A frame is grave if it is current, urgent and unresolved. With sentiments, fear and anger make a
# grave need graver, and make a current, urgent issue grave.
#
# Conventions:
#     Frames are rows as in `frame_rows`, of one side, prepared by `judged`: `status` in lower case,
#     and the flags `issue`, `current`, `urgent`, `unresolved`. Gravity is counted in whole `PARTS`
#     of a frame, so that sums are exact.


#: What a grave frame counts; each of fear and anger adds 1, which is 0.2 of a frame.
PARTS = 5

#: The least scope and severity of urgent frames, of 0 to 4.
_LARGE_GROUP, _INJURY = 2, 2
_LEVEL = r"^([0-4])(?:_.*)?$"
_SPEECH_STATUS = {"past only": "past"}


def judged(frames: pl.DataFrame) -> pl.DataFrame:
    """Frames of one side with the flags on which gravity depends (section 16.2.2).

    Issues are not annotated for resolution, so none is unresolved.

    Args:
        frames: of one side; those with an `urgency` of their own are taken at their word.

    Examples:
        >>> row = {"type": "food", "status": "current", "resolution": None, "urgency": None}
        >>> row |= {"modality": "text", "scope": "2_largegroup", "severity": "1_discomfort"}
        >>> judged(pl.DataFrame([row])).select("current", "urgent", "unresolved").row(0)
        (True, True, True)
    """
    frames = frames.cast({"urgency": pl.String, "resolution": pl.String, "status": pl.String})
    scope, severity = (
        pl.col(name).str.extract(_LEVEL).cast(pl.Int64).fill_null(0) >= least
        for name, least in (("scope", _LARGE_GROUP), ("severity", _INJURY))
    )
    urgent = pl.coalesce(pl.col("urgency").str.to_lowercase() == "true", scope | severity)
    sufficient = pl.col("resolution").str.to_lowercase() == "sufficient"
    return frames.with_columns(
        issue=pl.col("type").is_in(ISSUES),
        urgent=urgent.fill_null(value=False),
        status=pl.col("status").str.to_lowercase().replace(_SPEECH_STATUS),
    ).with_columns(
        current=(pl.col("status") == "current").fill_null(value=False),
        unresolved=~pl.col("issue") & ~sufficient.fill_null(value=False),
    )


#: The number of the emotions fear and anger that the sentiments about a frame have.
FEELINGS = pl.col("felt_fear").cast(pl.Int64) + pl.col("felt_anger").cast(pl.Int64)


#: Whether a frame is unresolved; one without a type may be an issue or not, and counts as such.
_UNRESOLVED = pl.col("unresolved").fill_null(value=True)


def boolean() -> pl.Expr:
    """The gravity of a frame without regard to sentiments, in parts of a frame (section 16.2)."""
    return (pl.col("current") & pl.col("urgent") & _UNRESOLVED).cast(pl.Int64) * PARTS


def numeric() -> pl.Expr:
    """The gravity of a frame with its emotions, in parts of a frame (section 16.2.1)."""
    issue = pl.when(FEELINGS > 0).then(PARTS - 1 + FEELINGS).otherwise(0)
    need = pl.when(_UNRESOLVED).then(PARTS + FEELINGS).otherwise(0)
    grave = pl.col("current") & pl.col("urgent")
    return pl.when(~grave).then(0).when("issue").then(issue).otherwise(need)


def with_emotions(frames: pl.DataFrame, sentiments: pl.DataFrame) -> pl.DataFrame:
    """Frames with the emotions of any of some sentiments, as `felt_fear` and `felt_anger`.

    Args:
        frames: of one side, with `docid` and `frame`.
        sentiments: of the same side, with those columns, `fear` and `anger`.
    """
    felt = sentiments.group_by("docid", "frame").agg(
        felt_fear=pl.col("fear").fill_null(value=False).any(),
        felt_anger=pl.col("anger").fill_null(value=False).any(),
    )
    joined = frames.join(felt, on=["docid", "frame"], how="left", maintain_order="left")
    return joined.with_columns(pl.col("felt_fear", "felt_anger").fill_null(value=False))


# Sentiments of situation frames: precision, recall and F1, averaged over frames.
#
# LoReHLT 2019, section 16.2.7. A sentiment is right if the reference has one of the same source and
# polarity, and of the same emotion where a class compares one, about the same target: the frame of
# that document, type and place. Each sentiment of the reference makes one of the system right.


#: The target of a sentiment.
TARGET = ["docid", "type", "place"]
#: What each class compares besides the target.
SENTIMENT_CLASSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "polarity": ("source", "positive"),
        "polarity,fear": ("source", "positive", "fear"),
        "polarity,anger": ("source", "positive", "anger"),
        "polarity,joy": ("source", "positive", "joy"),
    }
)
EMOTIONS = ("fear", "anger", "joy")


def about_frames(sentiments: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """The sentiments about some frames, with the target; null places are a target like others.

    Args:
        sentiments: with `docid` and `frame`.
        frames: of the same side.

    Returns:
        One row per sentiment: `TARGET`, `frame`, `source`, `positive`, and the emotions, which are
        false where they are not given.
    """
    targets = frames.select("frame", *TARGET).unique(["docid", "frame"], maintain_order=True)
    joined = sentiments.drop("type", "place", "entity").join(
        targets, on=["docid", "frame"], maintain_order="left"
    )
    signs = pl.when(pl.col("polarity").is_not_null()).then(pl.col("polarity") == "positive")
    return joined.with_columns(
        pl.col(EMOTIONS).fill_null(value=False),
        pl.col("place").fill_null(""),
        positive=signs.otherwise(pl.col("value") > 0),
    )


def with_sources(
    system: pl.DataFrame,
    reference: pl.DataFrame,
    mentions: tuple[pl.DataFrame, pl.DataFrame] | None,
) -> pl.DataFrame:
    """The system's sentiments, with the sources of the reference for NIL and ambiguous ones.

    Args:
        system: its sentiments, with their targets.
        reference: those of the reference.
        mentions: of system and reference, where both are given.
    """
    if mentions is not None:
        system = with_nil_resolved(system, "source", *mentions)
    ambiguous = reference.select("docid", "type", place="source")
    own = system.select("docid", "type", place="source")
    sources = resolve_places(own, ambiguous, ["docid", "type"])
    return system.with_columns(source=sources["place"])


def matches(reference: pl.DataFrame, system: pl.DataFrame, name: str) -> pl.DataFrame:
    """How many sentiments of each target are in the reference, in the system, and in both.

    Args:
        reference: its sentiments, with their targets.
        system: the system's, with sources as the reference has them.
        name: of the class.

    Returns:
        `TARGET`, `reference`, `system` and `right`.
    """
    fields = [*TARGET, *SENTIMENT_CLASSES[name]]
    gold, own = (
        table.group_by(fields).agg(pl.len().cast(pl.Int64).alias(side))
        for table, side in ((reference, "reference"), (system, "system"))
    )
    both = gold.join(own, on=fields, how="full", coalesce=True, nulls_equal=True)
    both = both.with_columns(pl.col("reference", "system").fill_null(0))
    # a missing source is not the same as another one
    right = pl.when(pl.col("source").is_not_null()).then(pl.min_horizontal("reference", "system"))
    sums = both.with_columns(right=right.fill_null(0)).group_by(TARGET)
    return sums.agg(pl.col("reference", "system", "right").sum()).sort(TARGET)


def rates(counts: pl.DataFrame) -> pl.DataFrame:
    """Precision, recall and F1 of each target; null where a side has no sentiments about it."""
    of_target = ratios.rates(pl.col("right"), pl.col("system"), pl.col("reference"))
    return counts.with_columns(**of_target._asdict())


def averages(counts: pl.DataFrame) -> dict[str, float | None]:
    """The averages over all frames that have them ("Frame Average").

    Examples:
        >>> row = {"right": 1, "system": 1, "reference": 2}
        >>> averages(pl.DataFrame([row]))["recall"]
        0.5
    """
    means = rates(counts).select(pl.col("precision", "recall", "f1").mean())
    return means.row(0, named=True)


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

    #: The gravity of a frame, and what it is counted in.
    gravity: ClassVar[Mapping[str, Callable[[], pl.Expr]]] = MappingProxyType(
        {"boolean": boolean, "numeric": numeric}
    )
    parts: ClassVar[int] = PARTS
    #: How situations are ranked, and by which gains and discount if no others are chosen.
    rank: ClassVar[type[Ranking]] = Ranking
    gains: ClassVar[Gains] = Gains()
    discount: ClassVar[Discount] = "method1"

    def ranking(self, kind: str) -> Ranking:
        """The situations of both sides, ranked by a kind of gravity (sections 16.2 to 16.2.3)."""
        frames = list(self.last_frames)
        if kind == "numeric":
            pairs = zip(frames, self.emotional, strict=True)
            frames = [with_emotions(table, sentiments) for table, sentiments in pairs]
        gravity = self.gravity[kind]()
        reference, system = (
            situations(table.with_columns(gravity=gravity), self.parts) for table in frames
        )
        gains = self.options.gain_table(self.gains)
        return self.rank.of(reference, system, gains, self.options.dcg or self.discount)

    @cached_property
    def sentiments(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The sentiments of both sides with their targets and comparable sources."""
        reference = about_frames(self.felt, self.reference)
        system = about_frames(self.system_felt, self.system)
        return reference, with_sources(system, reference, self.mentions)

    @cached_property
    def emotional(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The sentiments of both sides whose emotions make frames graver.

        Of a system, those of the same source and polarity as one of the reference about the same
        target (section 16.2.1).
        """
        reference, system = self.sentiments
        fields = [*TARGET, *SENTIMENT_CLASSES["polarity"]]
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

    default_seed: ClassVar[int] = 0
    sides: ClassVar[type[Sides]] = Sides

    @staticmethod
    def scored_documents(reference: Corpus, options: RankingOptions) -> pl.Expr:
        """Whether the documents of rows are scored, beside their reference."""
        return is_scored(reference.documents["name"], options)

    @classmethod
    def prepare(cls, rows: pl.DataFrame, options: RankingOptions) -> pl.DataFrame:  # noqa: ARG003
        """The rows of all batches with what must be decided before any of them is left out."""
        return rows

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
        """The frames, without NIL places if these are left out; those without a place stay."""
        nil = pl.col("place").str.to_lowercase().str.contains("nil", literal=True)
        return frames.filter(~nil.fill_null(value=False)) if self.options.no_nil else frames

    @cached_property
    def cropped(self) -> int:
        """How many frames of the system are left out because there are too many."""
        most = self.options.max_frames
        own = side(self.scored_rows, FRAME, system=True).height
        return max(0, own - most) if most is not None else 0

    @cached_property
    def several(self) -> int:
        """How many documents have several annotators."""
        names = self.annotation.group_by("docid").agg(pl.col("annotator").drop_nulls().n_unique())
        return names.filter(pl.col("annotator") > 1).height

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
        """The frames of the annotators that are drawn, and those without one, as in speech."""
        fields = ["docid", "issue"]
        frames = self.reference.drop("chosen", strict=False)
        joined = frames.join(self.chosen, on=fields, how="left", maintain_order="left")
        own = (pl.col("annotator") == pl.col("chosen")).fill_null(value=True)
        return joined.filter(own).drop("chosen")

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
        return resolve_places(system, reference, ["docid", "type"])

    @cached_property
    def felt(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The sentiments of both sides, which are annotated of text only."""
        text = ~pl.col("docid").is_in(self.speech.implode())
        reference, system = (
            side(self.scored_rows, SENTIMENT, system=own).filter(text) for own in (False, True)
        )
        return reference, system

    @property
    def seed(self) -> int:
        """The seed of the draw."""
        given = self.options.annotator_seed
        return self.default_seed if given is None else given

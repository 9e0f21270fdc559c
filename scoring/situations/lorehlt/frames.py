"""Situation frames and sentiments as LoReHLT 2019 compares them: classes, gravity, matches, curves.

Sections 16.2 to 16.2.7 of the plan, in this order: the annotator whose frames count, the flags and
the gravity of a frame, its equivalence classes, the frames and the sentiments that are right.

Conventions:
    Frames are rows as in `frame_rows`, of one side, with the flags of `with_flags`. Precision and
    recall are weighted by occurrences in the reference (section 16.2): a frame of the reference
    weighs as many rows as the combined reference has of it, a false positive 1.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from hlteval.scoring import ratios
from hlteval.scoring.ratios import Rates, Whole, plain, ratio
from hlteval.scoring.situations.lorehlt.frame_rows import ISSUES

Numbers = NDArray[np.float64]

# Several annotators: section 16.2.1 scores against the annotation of one of them, drawn at random
# and the same for all submissions.


#: The annotator of the needs and of the issues of a document.
CHOSEN = {"docid": pl.String, "issue": pl.Boolean, "chosen": pl.String}


def choose_annotators(frames: pl.DataFrame, given: pl.DataFrame | None, seed: int) -> pl.DataFrame:
    """Draw the annotator whose frames count, for needs and issues of each document (`CHOSEN`).

    A draw does not depend on other documents. Rows without an annotator, as in speech, are of all
    of them, and none is drawn for them.

    Args:
        frames: of the reference, with `docid`, `issue` and `annotator`.
        given: annotators that are given, as `CHOSEN`; others are drawn.
        seed: of the draw.

    Examples:
        >>> row = {"docid": "d", "issue": False, "annotator": "7"}
        >>> choose_annotators(pl.DataFrame([row]), None, 0).rows()
        [('d', False, '7')]
    """
    fields, annotator = ["docid", "issue"], pl.col("annotator")
    names = frames.group_by("docid").agg(annotator.filter(annotator != "").unique().sort())
    draws = [
        (docid, random.Random(f"{seed}:{docid}").choice(each or [""]))  # noqa: S311
        for docid, each in names.iter_rows()
    ]
    draw = pl.DataFrame(draws, {"docid": pl.String, "chosen": pl.String}, orient="row")
    drawn = frames.select(fields).unique().join(draw, on="docid").sort(fields)
    if given is None:
        return drawn
    both = drawn.join(given, on=fields, how="left", suffix="_given", maintain_order="left")
    return both.select(*fields, chosen=pl.coalesce("chosen_given", "chosen"))


# The gravity of situation frames: sections 16.2 to 16.2.2.


#: What a grave frame counts; each of fear and anger adds 1, which is 0.2 of a frame. Gravity is
#: counted in whole parts of a frame, so that sums are exact.
PARTS = 5
#: The gravity of grave needs and of current, urgent issues, in parts: with neither fear nor anger,
#: with one of them, with both.
GRAVITY: Mapping[str, Sequence[float]] = {"need": (5, 6, 7), "issue": (0, 5, 6)}
#: The least scope and severity of urgent frames, of 0 to 4: a large group, an injury.
_LEAST = 2
_LEVEL = r"^([0-4])(?:_.*)?$"
_SPEECH_STATUS = {"past only": "past"}


def with_flags(frames: pl.DataFrame) -> pl.DataFrame:
    """Add the flags on which gravity depends, and write `status` in lower case (section 16.2.2).

    Issues are not annotated for resolution, so none is unresolved.

    Args:
        frames: of one side; those with an `urgency` of their own are taken at their word.

    Examples:
        >>> row = {"type": "food", "status": "current", "resolution": None, "urgency": None}
        >>> row |= {"modality": "text", "scope": "2_largegroup", "severity": "1_discomfort"}
        >>> with_flags(pl.DataFrame([row])).select("current", "urgent", "unresolved").row(0)
        (True, True, True)
    """
    frames = frames.cast({"urgency": pl.String, "resolution": pl.String, "status": pl.String})
    levels = pl.col("scope", "severity").str.extract(_LEVEL).cast(pl.Int64).fill_null(0)
    grave = pl.any_horizontal(levels >= _LEAST)
    urgent = pl.coalesce(pl.col("urgency").str.to_lowercase() == "true", grave)
    sufficient = pl.col("resolution").str.to_lowercase() == "sufficient"
    return frames.with_columns(
        issue=pl.col("type").is_in(ISSUES),
        urgent=urgent.fill_null(value=False),
        status=pl.col("status").str.to_lowercase().replace(_SPEECH_STATUS),
    ).with_columns(
        current=(pl.col("status") == "current").fill_null(value=False),
        unresolved=~pl.col("issue") & ~sufficient.fill_null(value=False),
    )


def with_gravity(
    frames: pl.DataFrame, steps: Mapping[str, Sequence[float]], sentiments: pl.DataFrame | None
) -> pl.DataFrame:
    """Add the `gravity` of frames (sections 16.2 and 16.2.1).

    A frame is grave if it is current, urgent and unresolved. With sentiments, fear and anger make a
    grave need graver, and make a current, urgent issue grave. An unknown flag counts as true.

    Args:
        frames: of one side, with their flags, `docid` and `frame`.
        steps: the gravity of a need and of an issue by the number of these emotions.
        sentiments: of the same side, with `docid`, `frame`, `fear` and `anger`; None for the
            gravity without regard to sentiments.
    """
    grave = pl.col("current").fill_null(value=True) & pl.col("urgent")
    unresolved = pl.col("unresolved").fill_null(value=True)
    if sentiments is None:
        gravity = pl.when(grave & unresolved).then(steps["need"][0]).otherwise(0)
        return frames.with_columns(gravity=gravity)
    emotions = (pl.col(name).fill_null(value=False).any() for name in ("fear", "anger"))
    count = pl.sum_horizontal(emotion.cast(pl.Int64) for emotion in emotions)
    felt = sentiments.group_by("docid", "frame").agg(_felt=count)
    need, issue = (
        pl.col("_felt").fill_null(0).replace_strict(dict(enumerate(own)), return_dtype=pl.Float64)
        for own in (steps["need"], steps["issue"])
    )
    need = pl.when(unresolved).then(need).otherwise(0.0)
    gravity = pl.when(~grave).then(0.0).when("issue").then(issue).otherwise(need)
    joined = frames.join(felt, on=["docid", "frame"], how="left", maintain_order="left")
    return joined.with_columns(gravity=gravity).drop("_felt")


# The equivalence classes of situation frames, section 16.2.4: which fields make two frames the
# same. Frames of one class and key are one.


STATUS = "type,place,status"
FINEST = f"{STATUS},urgent,resolution"
#: The fields of a frame that each class compares, besides its document.
CLASSES: Mapping[str, tuple[str, ...]] = {
    name: tuple(name.replace("resolution", "unresolved").split(","))
    for name in ("type", "type,place", STATUS, f"{STATUS},urgent", f"{STATUS},resolution", FINEST)
}
#: The class that has only urgent and unresolved frames.
GRAVE = f"grave:{FINEST}"
#: The classes of situations, which have a place.
SITUATION_CLASSES = (*tuple(CLASSES)[1:], GRAVE)
SITUATION = ["type", "place"]
#: The fields of frames that are words, which are compared as numbers.
WORDS = cs.by_name("docid", *SITUATION, "status")


def key(name: str) -> list[str]:
    """The columns that a class compares, with the document."""
    return ["docid", *CLASSES[name.removeprefix("grave:")]]


def of_class(frames: pl.DataFrame, name: str) -> pl.DataFrame:
    """The frames that a class is about: with a place if it compares places; only grave ones."""
    if name == GRAVE:
        frames = frames.filter(pl.col("urgent") & pl.col("unresolved"))
    return frames.filter(pl.col("place").is_not_null()) if "place" in key(name) else frames


def compare(reference: pl.DataFrame, system: pl.DataFrame, name: str) -> pl.DataFrame:
    """Join the different frames of both sides in a class.

    A frame of the reference weighs the rows of all annotators that are equal in the class (section
    16.2); a row that an annotator repeats, equal in the finest class, is one. Of the system, the
    most confident frame counts.

    Returns:
        The key of the class, `weight` (null for false positives) and `confidence` (null for missed
        frames).

    Examples:
        >>> row = {"docid": "d", "type": "food", "place": "1", "status": "current"}
        >>> row |= {"urgent": True, "unresolved": True, "annotator": "7", "confidence": 0.5}
        >>> rows = pl.DataFrame([row, row, row | {"status": "past"}, row | {"annotator": "8"}])
        >>> compare(rows, rows, "type,place").rows()
        [('d', 'food', '1', 3, 0.5)]
    """
    fields, finest = key(name), key(FINEST)
    rows = of_class(reference.select(*finest, "annotator"), name).unique()
    weights = rows.group_by(fields).agg(weight=pl.len().cast(pl.Int64))
    own = of_class(system.select(*finest, "confidence"), name)
    best = own.group_by(fields).agg(pl.col("confidence").max())
    return weights.join(best, on=fields, how="full", nulls_equal=True, coalesce=True)


# The frames that are right: sections 16.2.4, 16.2.6, 16.2.7 and 16.3 (3 to 5).


@dataclass(frozen=True)
class Points:
    """Precision and recall swept over the confidences of many groups of frames at a time.

    There is a point per group and distinct confidence, by group and falling confidence: frames of
    equal confidence are taken together, so that nothing depends on their order.

    Attributes:
        group: the number of the group.
        confidence: the least of the frames that are taken.
        hits: the weight of the true positives among these.
        false: the number of false positives among these.
        relevant: by group, the weight of the reference.
    """

    group: Whole
    confidence: Numbers
    hits: Whole
    false: Whole
    relevant: Whole

    @classmethod
    def of(cls, frames: pl.DataFrame, relevant: Whole) -> Self:
        """The points of all groups.

        Args:
            frames: with `group`, `confidence` and `weight`, that in the reference, 0 for a false
                positive; in any order.
            relevant: by group, the weight of the reference.

        Examples:
            >>> rows = {"group": [0, 0, 0], "confidence": [0.9, 0.5, 0.4], "weight": [1, 0, 1]}
            >>> points = Points.of(pl.DataFrame(rows), np.array([4]))
            >>> points.precision.round(2).tolist(), points.recall.tolist()
            ([1.0, 0.5, 0.67], [0.25, 0.25, 0.5])
        """
        steps = (
            frames.group_by("group", "confidence")
            .agg(hits=pl.col("weight").sum(), false=(pl.col("weight") == 0).sum().cast(pl.Int64))
            .sort("group", "confidence", descending=[False, True])
            .with_columns(pl.col("hits", "false").cum_sum().over("group"))
        )
        group, confidence, hits, false = (steps[name].to_numpy() for name in steps.columns)
        return cls(group, confidence, hits, false, relevant)

    @property
    def precision(self) -> Numbers:
        """The weight of true positives among all that is taken."""
        return ratio(self.hits, self.hits + self.false)

    @property
    def recall(self) -> Numbers:
        """The weight of true positives among the reference."""
        return ratio(self.hits, self.relevant[self.group])

    def before(self, values: Numbers | Whole, first: Numbers | Literal[0] = 0) -> Numbers:
        """The values of the point before; of the first point of a group, `first`."""
        starts = np.append(True, self.group[1:] != self.group[:-1])[: len(self.group)]
        return np.where(starts, first, np.roll(values, 1)).astype(np.float64)

    def average_precision(self) -> Numbers:
        """By group, the precisions at true positives over the weight of the reference (16.2.4).

        Not-a-number for a group without a reference.
        """
        terms = (self.hits - self.before(self.hits)) * self.precision
        return ratio(np.bincount(self.group, terms, len(self.relevant)), self.relevant)

    def area(self) -> Numbers:
        """By group, the area below its curve, from recall 0 at the first precision (16.2.6).

        0 for a group without frames, not-a-number for one without a reference.
        """
        precision = self.precision
        steps = self.hits - self.before(self.hits)
        areas = steps * (precision + self.before(precision, precision)) / 2
        return ratio(np.bincount(self.group, areas, len(self.relevant)), self.relevant)


#: The columns of `FrameMatches.counts`.
COUNTS = ("right", "false", "expected")


@dataclass(frozen=True)
class FrameMatches:
    """The frames of one class on both sides.

    Attributes:
        rows: as `compare` gives them.
        cutoff: the confidence above which frames are predicted.
    """

    rows: pl.DataFrame
    cutoff: float | None

    @property
    def is_predicted(self) -> pl.Expr:
        """Whether a frame is in the system's output."""
        confidence = pl.col("confidence")
        some = confidence.is_not_null()
        return some if self.cutoff is None else some & (confidence > self.cutoff)

    def counts(self) -> pl.DataFrame:
        """By document: the weight of `right` frames and of `expected` ones, and the `false`."""
        weight = pl.col("weight").fill_null(0)
        return self.rows.group_by("docid").agg(
            right=weight.filter(self.is_predicted).sum(),
            false=(self.is_predicted & pl.col("weight").is_null()).sum().cast(pl.Int64),
            expected=weight.sum(),
        )

    @cached_property
    def rates(self) -> Mapping[str, float | None]:
        """Precision, recall and F1 by name; None where undefined (section 16.2.7)."""
        sums = self.counts().select(pl.col(COUNTS).sum()).row(0)
        rates = self.rates_of(*(np.array([count], dtype=np.int64) for count in sums))
        return {name: plain(values)[0] for name, values in rates._asdict().items()}

    def rates_of(self, right: Whole, false: Whole, expected: Whole) -> Rates[Numbers]:
        """Precision, recall and F1 of sums of `counts`."""
        return ratios.rates(right, right + false, expected)

    @cached_property
    def points(self) -> Points:
        """The points of the curve: all frames of the system, whatever their confidence."""
        relevant = np.array([self.rows["weight"].sum()], dtype=np.int64)
        return Points.of(self.frames().drop_nulls("confidence"), relevant)

    def frames(self) -> pl.DataFrame:
        """All frames as one group; missed ones have no confidence."""
        group = pl.lit(0, pl.Int64).alias("group")
        return self.rows.select(group, "confidence", pl.col("weight").fill_null(0))

    def area(self) -> float | None:
        """The area below the curve (section 16.2.6)."""
        return float(self.points.area()[0]) if self.points.relevant[0] else None

    def averages(self) -> pl.DataFrame:
        """Average precision and recall of each situation of the reference (section 16.2.4).

        Returns:
            `type`, `place`, `average_precision` and `recall`, sorted by type and place.
        """
        weights = self.rows.group_by(SITUATION).agg(relevant=pl.col("weight").sum())
        situations = weights.filter(pl.col("relevant") > 0).sort(SITUATION)
        groups = situations.select(*SITUATION, group=pl.int_range(pl.len(), dtype=pl.Int64))
        own = self.rows.filter(self.is_predicted).join(groups, on=SITUATION)
        own = own.with_columns(pl.col("weight").fill_null(0))
        relevant = situations["relevant"].to_numpy()
        hits = np.bincount(own["group"].to_numpy(), own["weight"].to_numpy(), len(relevant))
        average = Points.of(own, relevant).average_precision()
        return situations.select(
            *SITUATION,
            average_precision=pl.Series(average, dtype=pl.Float64),
            recall=pl.Series(hits / relevant, dtype=pl.Float64),
        )


def mean(values: pl.Series) -> float | None:
    """The mean over all situations; undefined without any."""
    return float(np.mean(values.to_numpy())) if len(values) else None


# Sentiments of situation frames, section 16.2.7. A sentiment is right if the reference has one of
# the same source and polarity, and of the same emotion where a class compares one, about the same
# target: the frame of that document, type and place. Each sentiment of the reference makes one of
# the system right.


EMOTIONS = ("fear", "anger", "joy")
#: The target of a sentiment.
TARGET = ["docid", "type", "place"]
#: The fields that each class compares besides the target.
SENTIMENT_CLASSES: Mapping[str, tuple[str, ...]] = {
    "polarity": ("source", "positive"),
    **{f"polarity,{emotion}": ("source", "positive", emotion) for emotion in EMOTIONS},
}


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
    own = sentiments.select("docid", "frame", "source", "polarity", "value", *EMOTIONS)
    own = own.cast({"docid": targets.schema["docid"]})
    joined = own.join(targets, on=["docid", "frame"], maintain_order="left")
    sign = pl.when(pl.col("polarity").is_not_null()).then(pl.col("polarity") == "positive")
    return joined.with_columns(
        pl.col(EMOTIONS).fill_null(value=False),
        pl.col("place").fill_null(""),
        positive=sign.otherwise(pl.col("value") > 0),
    ).drop("polarity", "value")


def match_sentiments(reference: pl.DataFrame, system: pl.DataFrame, name: str) -> pl.DataFrame:
    """Count the sentiments of each target in the reference, in the system, and in both.

    Args:
        reference: its sentiments, with their targets.
        system: the system's, with sources as the reference has them.
        name: of the class.

    Returns:
        `TARGET`, `reference`, `system` and `right`; `precision`, `recall` and `f1`, null where a
        side has no sentiments about the target.
    """
    fields = [*TARGET, *SENTIMENT_CLASSES[name]]
    count = pl.len().cast(pl.Int64)
    gold = reference.group_by(fields).agg(reference=count)
    own = system.group_by(fields).agg(system=count)
    both = gold.join(own, on=fields, how="full", coalesce=True, nulls_equal=True)
    both = both.with_columns(pl.col("reference", "system").fill_null(0))
    # a missing source is not the same as another one
    right = pl.when(pl.col("source").is_not_null()).then(pl.min_horizontal("reference", "system"))
    sums = both.with_columns(right=right.fill_null(0)).group_by(TARGET)
    counts = sums.agg(pl.col("reference", "system", "right").sum()).sort(TARGET)
    rates = ratios.rates(pl.col("right"), pl.col("system"), pl.col("reference"))
    return counts.with_columns(**rates._asdict())

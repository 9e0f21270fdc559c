"""Both sides as the public scorer of LoReHLT 2019 compares them: what differs from `frame_sides`.

The annotators are drawn before anything is counted, and are in the rows (`with_annotators`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring import ratios
from hlteval.scoring.ratios import harmonic
from hlteval.scoring.similarity import open_places, with_places
from hlteval.scoring.situations.lorehlt.frame_rows import (
    ANNOTATED,
    FRAME,
    ISSUES,
    NUMBER,
    SENTIMENT,
    is_nil,
    side,
)
from hlteval.scoring.situations.lorehlt.frame_sides import EMOTIONS, FEELINGS, Annotations, Sides
from hlteval.scoring.situations.lorehlt.official_ranking import OFFICIAL_GAINS, OfficialRanking
from hlteval.scoring.situations.lorehlt.ranking import Discount, Gains, Ranking, RankingOptions

# Frames as the public scorer reads them: which it drops, what is a number, and what is unknown.
#
# Conventions:
#     A flag or a status is null where the scorer has not-a-number, which a value that it does not
#     know becomes, `none` as well. It is equal to nothing, but counts as true in the gravity of a
#     frame. A column of a file in which nothing but numbers is written has numbers, which are equal
#     to no identifier: `#1` is the number 1. Both are decided for whole files: not for the
#     documents that are listed.


_SPEECH_NIL = "NIL"
_STATUS = {"current": True, "past": False, "future": False, "not_current": False}
_SPEECH_STATUS = {"Current": True, "Past Only": False, "Future": False, "not_current": False}
_RESOLUTION = {"insufficient": True, "sufficient": False}
#: The values that the scorer knows; the first one is spelt like this in the data.
_SPEECH_RESOLUTION = {"Insufficent": True, "Insufficient/Unknown": True, "Sufficient": False}
_SCOPES = ("1_smallgroup", "2_largegroup", "3_municipality", "4_region")
_SEVERITIES = ("1_discomfort", "2_injury", "3_possibledeath", "4_certaindeath")
#: The least scope and severity of an urgent frame, of 0 to 4.
_LEAST = 2
_LEVELS = (0.0, 1.0, 2.0, 3.0, 4.0)
_NUMBER = "^[0-9]+$"


def is_listed(scored: Collection[str] | None) -> pl.Expr:
    """Return whether a list of the scorer has the document of a row; without one, all are scored.

    A list of nothing but numbers has no other documents, and any other list no numbers.
    """
    if scored is None:
        return pl.lit(value=True)
    names = pl.Series([*scored], dtype=pl.String)
    numbers = pl.lit(bool(names.str.contains(_NUMBER).all()))
    return pl.col("docid").is_in(names.implode()) & (_numeric("name") == numbers)


def read_reference(frames: pl.DataFrame) -> pl.DataFrame:
    """The frames of the reference, but for those without a place."""
    frames = with_flags(_in_order(frames))
    speech = pl.col("modality").fill_null("text") == "speech"
    # text has a place if it names an entity, whatever entry there is; speech has entries only
    nameless = (pl.col("entity").fill_null("none") == "none") & pl.col("urgency").is_null()
    no_entry = pl.col("place").is_null() | (pl.col("place") == _SPEECH_NIL)
    nowhere = pl.when(speech).then(no_entry).otherwise(nameless)
    return frames.filter(~nowhere.fill_null(value=False))


def _in_order(frames: pl.DataFrame) -> pl.DataFrame:
    """The frames in the order of the scorer's table: needs, issues, speech; with numbers."""
    speech = pl.col("modality").fill_null("text") == "speech"
    issues = pl.col("file").str.extract("(needs|issues)/[^/]*$") == "issues"
    order = (speech, issues.fill_null(pl.col("type").is_in(ISSUES)), "file", "docid", "frame")
    document = (
        pl.when(_numeric("name")).then(pl.format(f"{NUMBER}{{}}", "docid")).otherwise("docid")
    )
    entry = pl.col("place").str.strip_chars_start("0")
    place = pl.when(_numeric("place_kb")).then(pl.format(f"{NUMBER}{{}}", entry)).otherwise("place")
    none = pl.when(_none("place_kb")).then(pl.lit("none"))
    return frames.sort(order, maintain_order=True).with_columns(
        docid=document, place=pl.coalesce(place, none)
    )


def with_flags(frames: pl.DataFrame) -> pl.DataFrame:
    """Frames of a side with the flags on which gravity depends, and null where no place is."""
    annotated = pl.col("urgency").is_null()
    speech = annotated & (pl.col("modality") == "speech").fill_null(value=False)
    urgent = (_level("scope", _SCOPES) >= _LEAST) & (_level("severity", _SEVERITIES) >= _LEAST)
    return frames.with_columns(
        place=pl.when(pl.col("place") != "").then("place"),
        issue=pl.col("type").is_in(ISSUES),
        urgent=pl.coalesce(pl.col("urgency") == "true", urgent).fill_null(value=False),
        unresolved=pl.when(speech)
        .then(_flag("resolution", _SPEECH_RESOLUTION))
        .otherwise(_flag("resolution", _RESOLUTION)),
        current=pl.when(speech)
        .then(_flag("status", _SPEECH_STATUS))
        .otherwise(_flag("status", _STATUS)),
        status=pl.when(~speech).then("status"),
    )


def _flag(column: str, known: Mapping[str, bool]) -> pl.Expr:
    """Whether a value is one that holds: null if it is unknown, False if there is none."""
    flag = pl.col(column).replace_strict(known, default=None, return_dtype=pl.Boolean)
    return (
        pl.when(pl.col(column).is_null() & ~_none(column)).then(pl.lit(value=False)).otherwise(flag)
    )


def _level(column: str, names: tuple[str, ...]) -> pl.Expr:
    """The scope or severity of a frame, 0 if unknown: names, or numbers in a column of them."""
    named = {name: level for level, name in enumerate(names, start=1)}
    number = pl.col(column).cast(pl.Float64, strict=False)
    level = pl.when(_numeric(column) & number.is_in(_LEVELS)).then(number.cast(pl.Int64))
    word = pl.col(column).replace_strict(named, default=0, return_dtype=pl.Int64)
    return pl.coalesce(level, word)


def _numeric(column: str) -> pl.Expr:
    """Whether a column of the file of a frame has nothing but numbers."""
    return pl.col("numbers").str.split(",").list.contains(column).fill_null(value=False)


def _none(column: str) -> pl.Expr:
    """Whether `none` is written in a column."""
    return pl.col("nones").str.split(",").list.contains(column).fill_null(value=False)


# The annotators that the public scorer draws: one for each file of needs or issues.
#
# It draws before it looks at the list of documents, so that a list changes no draw; nor does a
# sample of the documents, since what was drawn is in the rows.


#: Who is chosen where the scorer draws an empty name, which is equal to no name.
NOBODY = "\n"
#: The format that the scorer reads.
TABLES = "lorehlt-sf-reference"
#: The seed of the public scorer.
OFFICIAL_SEED = 1
_OF_REFERENCE = (pl.col("part") == FRAME) & ~pl.col("system")


def with_annotators(rows: pl.DataFrame, given: pl.DataFrame | None, seed: int) -> pl.DataFrame:
    """Rows with the annotator that is `chosen` for each frame of the reference.

    Args:
        rows: as `frame_rows.total` gives them.
        given: annotators that are given, as `frame_sides.CHOSEN`; others are drawn.
        seed: of the draw.
    """
    names = _named(rows)
    drawn = _drawn(names.filter(_OF_REFERENCE), seed)
    joined = names.drop("chosen").join(drawn, on="_table", how="left", maintain_order="left")
    if given is not None:
        own = given.rename({"chosen": "_given"})
        issue = pl.col("type").is_in(ISSUES)
        joined = joined.with_columns(issue=issue).join(
            own, on=["docid", "issue"], how="left", maintain_order="left"
        )
        named = pl.when(pl.col("_table") != "").then("_given")  # speech has no annotators
        joined = joined.with_columns(chosen=pl.coalesce(named, "chosen"))
    chosen = pl.when(_OF_REFERENCE).then("chosen")
    return joined.with_columns(chosen=chosen).select(rows.columns)


def of_chosen(frames: pl.DataFrame) -> pl.DataFrame:
    """The frames of the annotators that are chosen."""
    return frames.filter(pl.col("annotator") == pl.col("chosen"))


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with `_table`, `_issues` and annotators as the scorer distinguishes them.

    Numbers are equal if their values are. Speech, and what no table names an annotator for, is of
    one annotator without a name.
    """
    annotated = pl.when(_OF_REFERENCE & (pl.col("modality").fill_null("text") != "speech"))
    folder = pl.col("file").str.extract("(needs|issues)/[^/]*$") == "issues"
    issues = pl.coalesce(folder, pl.col("type").is_in(ISSUES))
    unknown = pl.format("{}\n{}", "docid", issues.cast(pl.String))
    rows = rows.with_columns(
        annotator=annotated.then("annotator"),
        _issues=issues,
        _table=annotated.then(pl.coalesce("file", unknown)).otherwise(pl.lit("")),
    )
    name = pl.col("annotator")
    numbers = name.str.contains(_NUMBER).all().over("_table") & name.str.contains(_NUMBER)
    number = name.str.strip_chars_start("0").replace("", "0")
    tables = ((rows["part"] == ANNOTATED) & (rows["file"] == TABLES)).any()
    unnamed = (pl.col("_table") == "") | pl.lit(not tables) & name.is_null().all().over("_table")
    return rows.with_columns(
        annotator=pl.when(unnamed).then(pl.lit("")).when(numbers).then(number).otherwise(name)
    )


def _drawn(frames: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The annotator of each table: those of needs in order, then those of issues."""
    by_record = frames.sort("_issues", "_table", "record", "frame", maintain_order=True)
    files = by_record.group_by("_issues", "_table", maintain_order=True).agg(
        pl.col("annotator").unique(maintain_order=True)
    )
    numbers = random.Random(seed)  # noqa: S311
    rows = [
        (table, names[0] if len(names) == 1 else numbers.choice(names))
        for _, table, names in files.iter_rows()
    ]
    schema = {"_table": pl.String, "chosen": pl.String}
    draws = pl.DataFrame(rows, schema=schema, orient="row").unique("_table", keep="first")
    return draws.with_columns(pl.col("chosen").fill_null(NOBODY))


# Sentiments as the public scorer of LoReHLT 2019 counts them.
#
# Any number of sentiments may be right by the same one of the reference, and all frames are pooled.
# What is found is counted in the system's sentiments, what is missed in those of the reference, so
# that recall can be above 1. Three numbers are computed: of polarities; of these, with less for a
# sentiment of another strength; and of emotions, of which each right value counts.


#: What frames have in common if they are the same, in the order in which the scorer sorts them.
KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "type,place": ("docid", "place", "type"),
        "type,place,status": ("docid", "place", "type", "status"),
    }
)
MEASURES = ("polarity", "sentiment", "emotion")
_CLOSE, _FAR = 0.5, 1.5
_FACTOR = 0.97
_EACH = len(EMOTIONS)


class Rates(NamedTuple):
    """Precision, recall and F1; not-a-number where the scorer prints that."""

    precision: float
    recall: float
    f1: float


def with_reference(sentiments: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """The sentiments about frames of the reference: of all annotators, by identifier of the frame.

    Args:
        sentiments: of the reference, in the order of files; those of one frame are put together.
        frames: of the reference; identifiers may be repeated.
    """
    targets = frames.select("docid", "frame_id", "place", "type", "status", _frame="frame")
    own = sentiments.with_row_index("_order")
    own = own.sort(pl.col("_order").first().over("docid", "frame_id"), maintain_order=True)
    own = own.select("docid", "frame_id", "polarity", "value", *EMOTIONS, source="entry")
    joined = own.join(targets, on=["docid", "frame_id"], maintain_order="left_right")
    return joined.rename({"_frame": "frame"}).with_columns(pl.col(EMOTIONS).fill_null(value=False))


def with_system(
    sentiments: pl.DataFrame, frames: pl.DataFrame, places: pl.DataFrame | None
) -> pl.DataFrame:
    """The sentiments of the system's frames.

    Args:
        sentiments: of the system.
        frames: its frames, in the order of the file.
        places: what NIL places are taken for, as `place` and `entity`.
    """
    targets = frames.select("docid", "frame", "type", "status", pl.col("place").fill_null(""))
    own = sentiments.select("docid", "frame", "source", "value", *EMOTIONS)
    joined = targets.join(own, on=["docid", "frame"], maintain_order="left_right")
    sign = pl.when(pl.col("value") > 0).then(pl.lit("positive")).otherwise(pl.lit("negative"))
    joined = joined.with_columns(polarity=sign, sorted_place="place")
    if places is not None:
        joined = joined.join(places, on="place", how="left", maintain_order="left")
        joined = joined.with_columns(place=pl.coalesce("entity", "place")).drop("entity")
    return joined


def sentiment_rates(reference: pl.DataFrame, system: pl.DataFrame, name: str) -> dict[str, Rates]:
    """The rates of each of `MEASURES`.

    Args:
        reference: as `with_reference` gives it.
        system: as `with_system` gives it.
        name: of the class, one of `KEYS`.
    """
    if reference.is_empty():
        return dict.fromkeys(MEASURES, Rates(math.nan, math.nan, math.nan))
    if system.is_empty():
        return dict.fromkeys(MEASURES, Rates(0, 0, 0))
    fields = [*KEYS[name], "polarity", "source"]
    order = ["sorted_place" if field == "place" else field for field in KEYS[name]]
    own = system.sort(order, maintain_order=True).with_row_index("item")
    first = reference.unique(fields, keep="first", maintain_order=True)
    pairs = own.join(first, on=fields, suffix="_gold").sort("item")
    missed = reference.join(own, on=fields, how="anti").height
    found = pairs.height
    # what is found counts less where the strength differs, added in order
    apart = (pairs["value"] - pairs["value_gold"]).abs().to_list()
    weights = sum(1.0 if far <= _CLOSE else _FACTOR if far <= _FAR else _FACTOR**2 for far in apart)
    equal = sum(int((pairs[emotion] == pairs[f"{emotion}_gold"]).sum()) for emotion in EMOTIONS)
    size = own.height
    return {
        "polarity": _rates(found, size, found + missed),
        "sentiment": _rates(weights, size, found + missed),
        "emotion": _rates(equal, _EACH * size, _EACH * reference.height),
    }


def _rates(right: float, predicted: int, expected: int) -> Rates:
    """The rates of pooled counts; F1 is computed from the other two."""
    precision, recall, _ = ratios.rates(np.array(right), np.array(predicted), np.array(expected))
    return Rates(float(precision), float(recall), float(harmonic(precision, recall)))


# Gravity, places, and both sides.


#: What it makes of a NIL place without a mention in the reference.
_NOWHERE = "None"


def _flag_holds(name: str) -> pl.Expr:
    """Whether a flag holds; what the scorer does not know does."""
    return pl.col(name).fill_null(value=True)


def boolean() -> pl.Expr:
    """The gravity of a frame without regard to sentiments; a system's issue can be grave."""
    grave = _flag_holds("current") & pl.col("urgent") & _flag_holds("unresolved")
    return grave.cast(pl.Int64)


def numeric() -> pl.Expr:
    """The gravity of a frame with its emotions, in floats: .2 is added once and again."""
    by_feelings = {"need": (1.0, 1.2, 1.0 + 0.2 + 0.2), "issue": (0.0, 1.0, 1.2)}
    need, issue = (
        FEELINGS.replace_strict(dict(enumerate(own)), return_dtype=pl.Float64)
        for own in by_feelings.values()
    )
    grave = _flag_holds("current") & pl.col("urgent")
    need = pl.when(_flag_holds("unresolved")).then(need).otherwise(0.0)
    return pl.when(~grave).then(0.0).when("issue").then(issue).otherwise(need)


def with_first_places(system: pl.DataFrame, reference: pl.DataFrame) -> pl.DataFrame:
    """The system's frames, with places of the reference for entries of ambiguous ones.

    It is the first ambiguous place of the document and type, whether the entry is among its own or
    those of another.
    """
    fields = ["docid", "type"]
    meant = open_places(reference, fields)
    meant = meant.with_columns(several=pl.col("several").first().over(fields))
    return with_places(system, meant, fields)


def nil_places(system: pl.DataFrame, reference: pl.DataFrame) -> pl.DataFrame:
    """The entities for NIL places: `place` and `entity`, that of the first mention of equal extent.

    Args:
        system: its mentions.
        reference: the mentions of the reference.
    """
    extent = ["docid", "start", "end"]
    nil = system.filter(is_nil("entity")).select(*extent, place="entity")
    gold = reference.unique(extent, keep="first", maintain_order=True)
    both = nil.join(gold, on=extent, how="left", maintain_order="left")
    first = both.group_by("place", maintain_order=True).agg(pl.col("entity").drop_nulls().first())
    return first.with_columns(pl.col("entity").fill_null(_NOWHERE))


@dataclass(frozen=True)
class OfficialSides(Sides):
    """Both sides, whose equal frames all count."""

    gravity: ClassVar[Mapping[str, Callable[[], pl.Expr]]] = MappingProxyType(
        {"boolean": boolean, "numeric": numeric}
    )
    parts: ClassVar[int] = 1
    rank: ClassVar[type[Ranking]] = OfficialRanking
    gains: ClassVar[Gains] = OFFICIAL_GAINS
    discount: ClassVar[Discount] = "method0"

    @cached_property
    def sentiments(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The sentiments of both sides as the public scorer joins them with frames."""
        places = nil_places(*self.mentions) if self.mentions is not None else None
        system = with_system(self.system_felt, self.system, places)
        return with_reference(self.felt, self.reference), system

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

    default_seed: ClassVar[int] = OFFICIAL_SEED
    sides: ClassVar[type[Sides]] = OfficialSides

    @staticmethod
    def scored_documents(reference: Corpus, options: RankingOptions) -> pl.Expr:  # noqa: ARG004
        """Whether the documents of rows are scored."""
        return is_listed(options.scored)

    @classmethod
    def prepare(cls, rows: pl.DataFrame, options: RankingOptions) -> pl.DataFrame:
        """The rows of all batches with the annotators that are drawn, once."""
        if not rows["chosen"].is_null().all():
            return rows
        return with_annotators(rows, options.annotators, cls(rows, options).seed)

    @cached_property
    def reference(self) -> pl.DataFrame:
        """All frames of the reference, of all annotators."""
        return self.without_nil(read_reference(self.annotation))

    @cached_property
    def system(self) -> pl.DataFrame:
        """The frames of the system above the threshold.

        There is one only with a list of scored documents, and 0 is none.
        """
        threshold = self.options.cutoff
        if self.options.scored is None or not threshold:
            return self.predicted
        return self.predicted.filter(pl.col("confidence") > threshold)

    @cached_property
    def predicted(self) -> pl.DataFrame:
        """The frames of the system of any confidence, which the curves are about."""
        return self.without_nil(with_flags(self.submission))

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
    def of_any_confidence(self) -> Sides:
        """Both sides with all frames of the system."""
        return self.against(self.single_annotation, self.predicted)

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
        return with_first_places(system, reference)

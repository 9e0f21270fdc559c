"""Frames, sentiments and situations as the public scorer of LoReHLT 2019 reads and counts them.

Conventions:
    A flag or a status is null where the scorer has not-a-number, which a value that it does not
    know becomes, `none` as well. It is equal to nothing, but counts as true in the gravity of a
    frame. A column of a file in which nothing but numbers is written has numbers, which are equal
    to no identifier: `#1` is the number 1. Both are decided for whole files: not for the documents
    that are listed. The annotators are drawn before anything is counted, and are in the rows.
"""

import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import polars as pl

from hlteval.representation import first_case
from hlteval.scoring import ratios
from hlteval.scoring.ratios import Rates, Whole, harmonic, ratio
from hlteval.scoring.similarity import open_places, with_places
from hlteval.scoring.situations.lorehlt import frames as sf
from hlteval.scoring.situations.lorehlt.frame_rows import (
    ANNOTATED,
    AS_TEXTS,
    FRAME,
    ISSUES,
    NUMBER,
    conform,
    is_nil,
)
from hlteval.scoring.situations.lorehlt.ranking import SITUATION, Gains, Ranking, TieBreak

_SPEECH_NIL = "NIL"
_STATUS = {"current": True, "past": False, "future": False, "not_current": False}
_SPEECH_STATUS = {"Current": True, "Past Only": False, "Future": False, "not_current": False}
_RESOLUTION = {"insufficient": True, "sufficient": False}
#: The values that the scorer knows; the first one is spelt like this in the data.
_SPEECH_RESOLUTION = {"Insufficent": True, "Insufficient/Unknown": True, "Sufficient": False}
#: The names of scopes and severities, from 1.
_SCALES: Mapping[str, Sequence[str]] = {
    "scope": ("1_smallgroup", "2_largegroup", "3_municipality", "4_region"),
    "severity": ("1_discomfort", "2_injury", "3_possibledeath", "4_certaindeath"),
}
#: The least scope and severity of an urgent frame, of 0 to 4.
_LEAST = 2
_NUMBER = "^[0-9]+$"
_IS_SPEECH = pl.col("modality").fill_null("text") == "speech"
#: Whether the file of a row is one of issues; null if it is neither of needs nor of issues.
_IN_ISSUES = pl.col("file").str.extract("(needs|issues)/[^/]*$") == "issues"


def is_listed(scored: Collection[str] | None) -> pl.Expr:
    """Return whether a list of the scorer has the document of a row; without one, all are scored.

    A list of nothing but numbers has no other documents, and any other list no numbers.
    """
    if scored is None:
        return pl.lit(value=True)
    names = pl.Series([*scored], dtype=pl.String)
    numbers = pl.lit(bool(names.str.contains(_NUMBER).all()))
    return pl.col("docid").is_in(names.implode()) & (_has("numbers", "name") == numbers)


def _has(column: str, name: str) -> pl.Expr:
    """Whether the columns that `numbers` or `nones` lists for a frame include one."""
    listed = pl.col(column).cast(pl.String).str.split(",")
    return listed.list.contains(name).fill_null(value=False)


def read_reference(frames: pl.DataFrame) -> pl.DataFrame:
    """The frames of the reference that have a place, in the order of the scorer's table.

    Needs come first, then issues and speech; what the scorer reads as a number is marked.
    """
    name, entry = pl.col("docid"), pl.col("place").str.strip_chars_start("0")
    document = pl.when(_has("numbers", "name")).then(pl.format(f"{NUMBER}{{}}", name))
    place = pl.when(_has("numbers", "place_kb")).then(pl.format(f"{NUMBER}{{}}", entry))
    none = pl.when(_has("nones", "place_kb")).then(pl.lit("none"))
    order = (_IS_SPEECH, _IN_ISSUES.fill_null(pl.col("type").is_in(ISSUES)))
    rows = with_flags(
        frames.sort(*order, "file", "docid", "frame", maintain_order=True).with_columns(
            docid=document.otherwise("docid"), place=pl.coalesce(place.otherwise("place"), none)
        )
    )
    # text has a place if it names an entity, whatever entry there is; speech has entries only
    nameless = (pl.col("entity").fill_null("none") == "none") & pl.col("urgency").is_null()
    no_entry = pl.col("place").is_null() | (pl.col("place") == _SPEECH_NIL)
    nowhere = pl.when(_IS_SPEECH).then(no_entry).otherwise(nameless)
    return rows.filter(~nowhere.fill_null(value=False))


def with_flags(frames: pl.DataFrame) -> pl.DataFrame:
    """Add the flags on which gravity depends to frames of a side; no place is null."""
    annotated = pl.col("urgency").is_null()
    speech = annotated & (pl.col("modality") == "speech").fill_null(value=False)
    urgent = pl.all_horizontal(_level(name) >= _LEAST for name in _SCALES)
    flags = {
        name: pl.when(speech).then(_flag(column, of_speech)).otherwise(_flag(column, of_text))
        for name, column, of_speech, of_text in (
            ("unresolved", "resolution", _SPEECH_RESOLUTION, _RESOLUTION),
            ("current", "status", _SPEECH_STATUS, _STATUS),
        )
    }
    return frames.with_columns(
        place=pl.when(pl.col("place") != "").then("place"),
        issue=pl.col("type").is_in(ISSUES),
        urgent=pl.coalesce(pl.col("urgency") == "true", urgent).fill_null(value=False),
        status=pl.when(~speech).then("status"),
        **flags,
    )


def _flag(column: str, known: Mapping[str, bool]) -> pl.Expr:
    """Whether a value is one that holds: null if it is unknown, False if there is none."""
    flag = pl.col(column).replace_strict(known, default=None, return_dtype=pl.Boolean)
    empty = pl.col(column).is_null() & ~_has("nones", column)
    return pl.when(empty).then(pl.lit(value=False)).otherwise(flag)


def _level(column: str) -> pl.Expr:
    """The scope or severity of a frame, 0 if unknown: names, or numbers in a column of them."""
    named = {name: level for level, name in enumerate(_SCALES[column], start=1)}
    number = pl.col(column).cast(pl.Float64, strict=False)
    is_level = _has("numbers", column) & number.is_in([0.0, *map(float, named.values())])
    word = pl.col(column).replace_strict(named, default=0, return_dtype=pl.Int64)
    return pl.coalesce(pl.when(is_level).then(number.cast(pl.Int64)), word)


def with_first_places(system: pl.DataFrame, reference: pl.DataFrame) -> pl.DataFrame:
    """The system's frames, with places of the reference for entries of ambiguous ones.

    It is the first ambiguous place of the document and type, whether the entry is among its own or
    those of another.
    """
    fields = ["docid", "type"]
    meant = open_places(reference, fields)
    meant = meant.with_columns(several=pl.col("several").first().over(fields))
    return with_places(system, meant, fields)


# The annotators that the public scorer draws: one for each file of needs or issues.
#
# It draws before it looks at the list of documents, so that a list changes no draw; nor does a
# sample of the documents, since what was drawn is in the rows.


#: The annotator where the scorer draws an empty name, which is equal to no name.
NOBODY = "\n"
#: The format that the scorer reads.
TABLES = "lorehlt-sf-reference"
_OF_REFERENCE = (pl.col("part") == FRAME) & ~pl.col("system")


def with_annotators(rows: pl.DataFrame, given: pl.DataFrame | None, seed: int) -> pl.DataFrame:
    """Write the annotator that is `chosen` for each frame of the reference into the rows.

    Numbers are equal if their values are. Speech, and a table that names no annotator, is of one
    annotator without a name.

    Args:
        rows: as `frame_rows.total` gives them.
        given: annotators that are given, as `frames.CHOSEN`; others are drawn.
        seed: of the draw.
    """
    has_tables = ((rows["part"] == ANNOTATED) & (rows["file"] == TABLES)).any()
    of_text = pl.when(_OF_REFERENCE & ~_IS_SPEECH)
    issue = pl.col("type").is_in(ISSUES)
    issues = pl.coalesce(_IN_ISSUES, issue)
    table = pl.coalesce("file", pl.format("{}\n{}", "docid", issues.cast(pl.String)))
    tables = rows.drop("chosen").with_columns(AS_TEXTS)
    tables = tables.with_columns(
        annotator=of_text.then("annotator"),
        _issues=issues,
        _table=of_text.then(table).otherwise(pl.lit("")),
    )
    name = pl.col("annotator")
    is_number = name.str.contains(_NUMBER)
    number = name.str.strip_chars_start("0").replace("", "0")
    is_nameless = pl.lit(not has_tables) & name.is_null().all().over("_table")
    is_of_numbers = is_number.all().over("_table") & is_number
    annotator = first_case(
        ((pl.col("_table") == "") | is_nameless, ""), (is_of_numbers, number), otherwise=name
    )
    tables = tables.with_columns(annotator=annotator)
    drawn = tables.join(_draw(tables, seed), on="_table", how="left", maintain_order="left")
    if given is not None:
        own, key = given.rename({"chosen": "_given"}), ["docid", "issue"]
        drawn = drawn.with_columns(issue=issue).join(own, key, "left", maintain_order="left")
        named = pl.when(pl.col("_table") != "").then("_given")  # speech has no annotators
        drawn = drawn.with_columns(chosen=pl.coalesce(named, "chosen"))
    chosen = pl.when(_OF_REFERENCE).then("chosen")
    return conform(drawn.with_columns(chosen=chosen))


def _draw(tables: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The annotator of each table: those of needs in order, then those of issues."""
    frames = tables.filter(_OF_REFERENCE)
    by_record = frames.sort("_issues", "_table", "record", "frame", maintain_order=True)
    files = by_record.group_by("_issues", "_table", maintain_order=True)
    annotators = files.agg(pl.col("annotator").unique(maintain_order=True))
    numbers = random.Random(seed)  # noqa: S311
    rows = [
        (table, names[0] if len(names) == 1 else numbers.choice(names))
        for _, table, names in annotators.iter_rows()
    ]
    schema = {"_table": pl.String, "chosen": pl.String}
    draws = pl.DataFrame(rows, schema=schema, orient="row").unique("_table", keep="first")
    return draws.with_columns(pl.col("chosen").fill_null(NOBODY))


def of_chosen(frames: pl.DataFrame) -> pl.DataFrame:
    """The frames of the annotators that are chosen."""
    return frames.filter(pl.col("annotator") == pl.col("chosen"))


# Frames and situations: its rates and average precisions are those of scikit-learn.


def official_rates(right: Whole, predicted: Whole, expected: Whole) -> Rates[sf.Numbers]:
    """Precision, recall and F1 of both; 0 where nothing can be divided.

    Examples:
        >>> [float(rate) for rate in official_rates(np.array(0), np.array(0), np.array(4))]
        [0.0, 0.0, 0.0]
    """
    precision, recall, _ = map(np.nan_to_num, ratios.rates(right, predicted, expected))
    return Rates(precision, recall, np.nan_to_num(harmonic(precision, recall)))


def average_precision(swept: sf.Points) -> sf.Numbers:
    """The average precision of each group, to the last digit.

    It is divided by the true positives that were found, not by the reference; 0 without any.
    """
    group, sums = swept.group, np.zeros(len(swept.relevant))
    hits = np.zeros(len(sums), dtype=np.int64)
    np.maximum.at(hits, group, swept.hits)
    recall = ratio(swept.hits, hits[group])
    terms = (recall - swept.before(recall)) * swept.precision
    # beyond full recall nothing is added, and what is added is summed from there upwards
    needed = (swept.before(swept.hits) < hits[group]) & (hits[group] > 0)
    terms, group = terms[needed][::-1], group[needed][::-1]
    if len(terms):
        starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        # sums of each group are rounded like `numpy.sum` of the group alone, which begins with 0: a
        # 0 before each group makes `reduceat` add like this
        padded = np.insert(terms, starts, 0.0)
        sums[group[starts]] = np.add.reduceat(padded, starts + np.arange(len(starts)))
    return sums


def official_averages(reference: pl.DataFrame, system: pl.DataFrame, name: str) -> pl.DataFrame:
    """Average precision and recall of each situation of the reference.

    Of a system, the first frame of each document counts; the frames of a reference count one by
    one, and two frames of a document are the same if their flags are: any two that are not current
    are equal.

    Args:
        reference: its frames, of one annotator.
        system: the system's, with places as the reference has them.
        name: of the class.
    """
    document, size = ["docid", *sf.SITUATION], len(sf.SITUATION) + 1
    flags = ["current" if field == "status" else field for field in sf.key(name)[size:]]
    gold, own = sf.of_class(reference, name), sf.of_class(system, name)
    situations = gold.select(sf.SITUATION).unique().sort(sf.SITUATION)
    groups = situations.with_columns(group=pl.int_range(pl.len(), dtype=pl.Int64))
    gold = gold.join(groups, on=sf.SITUATION, maintain_order="left")
    of_gold = pl.col(flags).name.prefix("gold_")
    beside = gold.select(*document, of_gold, annotated=pl.lit(value=True))
    first = own.unique(document, keep="first", maintain_order=True)
    both = first.join(groups, on=sf.SITUATION).join(beside, on=document, how="left")
    same = (pl.col(flag) == pl.col(f"gold_{flag}") for flag in flags)
    right = pl.all_horizontal("annotated", *same).fill_null(value=False)
    both = both.with_columns(weight=right.cast(pl.Int64))
    average = average_precision(sf.Points.of(both, np.zeros(groups.height, dtype=np.int64)))
    counts = np.bincount(gold["group"].to_numpy(), minlength=groups.height)
    hits = np.bincount(both["group"].to_numpy(), both["weight"].to_numpy(), groups.height)
    return situations.with_columns(
        average_precision=pl.Series(average, dtype=pl.Float64),
        recall=pl.Series(hits / counts, dtype=pl.Float64),
    )


@dataclass(frozen=True)
class OfficialMatches(sf.FrameMatches):
    """The frames of one class, each of which weighs 1.

    Attributes:
        unplaced: the number of frames of the reference that have a place but no entry for it, which
            count among what may be predicted.
    """

    unplaced: int

    @classmethod
    def of(
        cls, reference: pl.DataFrame, system: pl.DataFrame, name: str, cutoff: float | None
    ) -> Self:
        """Match the frames of both sides; one without a place is of a place that no other is of."""
        unplaced = 0
        if "place" in sf.key(name):
            nowhere = reference.filter(pl.col("place").is_null())
            unplaced = nowhere.select(sf.key(name)).n_unique() if nowhere.height else 0
        rows = sf.compare(reference, system.with_columns(pl.col("place").fill_null("")), name)
        weight = pl.when(pl.col("weight").is_not_null()).then(pl.lit(1, pl.Int64))
        # without a cut-off, frames above 0 are predicted
        return cls(rows.with_columns(weight=weight), 0.0 if cutoff is None else cutoff, unplaced)

    def rates_of(self, right: Whole, false: Whole, expected: Whole) -> Rates[sf.Numbers]:
        """Precision, recall and F1 of sums of `counts`."""
        return official_rates(right, right + false, expected)

    def frames(self) -> pl.DataFrame:
        """All frames; what the system does not have, it has with the confidence 0."""
        swept = super().frames().with_columns(pl.col("confidence").fill_null(0.0))
        more = {"group": 0, "confidence": 0.0, "weight": [0] * self.unplaced}
        return pl.concat([swept, pl.DataFrame(more, schema=swept.schema)])

    def area(self) -> float | None:
        """The average precision."""
        return float(average_precision(self.points)[0]) if self.points.relevant[0] else None


# Situations in the order of the scorer's sort.
#
# In standard nDCG, situations of equal gravity are in the order that the quicksort of NumPy 1.17
# gives them, the version at that time, which is not stable: medians of three, segments of up to 16
# sorted by insertion, and the smaller part of a segment first. Later versions on newer processors
# give another order.


#: The configuration that comes with the public scorer.
OFFICIAL_GAINS = Gains(10.0, 5.0, 1.0, None, 3.0, 2.0)
#: The last index of a segment that is sorted by insertion, counted from its first.
_SMALL = 15


def sort_falling(values: Sequence[float]) -> list[int]:
    """The indices of values from the greatest to the least, as the public scorer sorts them.

    It sorts the reversed values, and reverses what comes out.

    Examples:
        >>> sort_falling([1.0, 2.0, 1.0])
        [1, 0, 2]
    """
    rising, last = values[::-1], len(values) - 1
    order, waiting = list(range(len(values))), [(0, last)]
    while waiting:
        left, right = waiting.pop()
        while right - left > _SMALL:
            middle = _partition(rising, order, left, right)
            parts = (left, middle - 1), (middle + 1, right)
            if middle - left < right - middle:
                (left, right), larger = parts
            else:
                larger, (left, right) = parts
            waiting.append(larger)
        # by insertion, which keeps the order of equal values
        order[left : right + 1] = sorted(order[left : right + 1], key=rising.__getitem__)
    return [last - index for index in reversed(order)]


def _partition(values: Sequence[float], order: list[int], left: int, right: int) -> int:
    """Put what is less than a pivot before it, and what is greater after it; return its index."""
    middle = left + (right - left) // 2
    for lower, upper in ((left, middle), (middle, right), (left, middle)):
        if values[order[upper]] < values[order[lower]]:
            order[lower], order[upper] = order[upper], order[lower]
    pivot = values[order[middle]]
    low, high = left, right - 1
    order[middle], order[high] = order[high], order[middle]
    while True:
        low, high = low + 1, high - 1
        while values[order[low]] < pivot:
            low += 1
        while pivot < values[order[high]]:
            high -= 1
        if low >= high:
            break
        order[low], order[high] = order[high], order[low]
    order[low], order[right - 1] = order[right - 1], order[low]
    return low


class OfficialRanking(Ranking):
    """A ranking in which the situations that a system misses are listed, with a gravity of 0."""

    #: It looks for the gravest situations of the reference anywhere in the system's list.
    found_from: ClassVar[pl.Expr] = pl.col("gold")

    @staticmethod
    def with_gains(system: pl.DataFrame, reference: pl.DataFrame) -> pl.DataFrame:
        """The situations of the reference in its order, and then all others of the system."""
        gains = reference.select(*SITUATION, "gain")
        known = gains.join(system, on=SITUATION, how="left", maintain_order="left")
        false = system.join(reference, on=SITUATION, how="anti").sort(SITUATION)
        both = pl.concat([known, false], how="diagonal").with_columns(
            pl.col("gravity", "gain").fill_null(0.0), pl.col("frames").fill_null(0)
        )
        return both.with_columns(gain=pl.when(pl.col("frames") > 0).then("gain").otherwise(0.0))

    @cached_property
    def standard(self) -> pl.DataFrame:
        """The situations in the order of the scorer's sort."""
        return self.system[sort_falling(self.system["gravity"].to_list())]

    @staticmethod
    def sums(terms: sf.Numbers) -> sf.Numbers:
        """Sums of their own, not the one before plus a term: that decides the last digit."""
        return np.array([terms[:end].sum() for end in range(1, len(terms) + 1)], dtype=np.float64)

    def last(self, ties: TieBreak) -> float | None:
        """The nDCG at the last rank, 0 where the reference has no situation with a gain."""
        value = super().last(ties)
        return 0.0 if value is None and self.ranks else value

    @property
    def high(self) -> int:
        """The number of situations with the gain of a high gravity, which others may have too."""
        return int((self.reference["gain"] == self.gains.high).sum())


# Sentiments: any number of them may be right by the same one of the reference, and all frames are
# pooled. What is found is counted in the system's sentiments, what is missed in those of the
# reference, so that recall can be above 1. Three numbers are computed: of polarities; of these,
# with less for a sentiment of another strength; and of emotions, of which each right value counts.


#: The fields that frames have in common if they are the same, in the order in which they are
#: sorted.
KEYS: Mapping[str, tuple[str, ...]] = {
    "type,place": ("docid", "place", "type"),
    sf.STATUS: ("docid", "place", "type", "status"),
}
MEASURES = ("polarity", "sentiment", "emotion")
RATES = ("precision", "recall", "f1")
_FACTOR = 0.97
#: The weight of a right sentiment by the greatest difference of the values.
_STRENGTHS = ((0.5, 1.0), (1.5, _FACTOR))
#: What the scorer makes of a NIL place without a mention in the reference.
_NOWHERE = "None"


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


def reference_sentiments(sentiments: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """The sentiments about frames of the reference: of all annotators, by identifier of the frame.

    Args:
        sentiments: of the reference, in the order of files; those of one frame are put together.
        frames: of the reference; identifiers may be repeated.
    """
    targets = frames.select("docid", "frame_id", "place", "type", "status", "frame")
    own = sentiments.with_row_index("_order")
    own = own.sort(pl.col("_order").first().over("docid", "frame_id"), maintain_order=True)
    own = own.select("docid", "frame_id", "polarity", "value", *sf.EMOTIONS, source="entry")
    joined = own.join(targets, on=["docid", "frame_id"], maintain_order="left_right")
    return joined.with_columns(pl.col(sf.EMOTIONS).fill_null(value=False))


def system_sentiments(
    sentiments: pl.DataFrame, frames: pl.DataFrame, places: pl.DataFrame | None
) -> pl.DataFrame:
    """The sentiments of the system's frames.

    Args:
        sentiments: of the system.
        frames: its frames, in the order of the file.
        places: what NIL places are taken for, as `place` and `entity`.
    """
    targets = frames.select("docid", "frame", "type", "status", pl.col("place").fill_null(""))
    own = sentiments.select("docid", "frame", "source", "value", *sf.EMOTIONS)
    joined = targets.join(own, on=["docid", "frame"], maintain_order="left_right")
    sign = pl.when(pl.col("value") > 0).then(pl.lit("positive")).otherwise(pl.lit("negative"))
    joined = joined.with_columns(polarity=sign, sorted_place="place")
    if places is not None:
        joined = joined.join(places, on="place", how="left", maintain_order="left")
        joined = joined.with_columns(place=pl.coalesce("entity", "place")).drop("entity")
    return joined


def sentiment_rates(
    reference: pl.DataFrame, system: pl.DataFrame, name: str
) -> dict[str, dict[str, float]]:
    """The rates of each of `MEASURES`, not-a-number where the scorer prints that.

    Args:
        reference: as `reference_sentiments` gives it.
        system: as `system_sentiments` gives it.
        name: of the class, one of `KEYS`.
    """
    if reference.is_empty() or system.is_empty():
        value = math.nan if reference.is_empty() else 0
        return {measure: dict.fromkeys(RATES, value) for measure in MEASURES}
    fields = [*KEYS[name], "polarity", "source"]
    order = ["sorted_place" if field == "place" else field for field in KEYS[name]]
    own = system.sort(order, maintain_order=True).with_row_index("item")
    first = reference.unique(fields, keep="first", maintain_order=True)
    pairs = own.join(first, on=fields, suffix="_gold").sort("item")
    missed = reference.join(own, on=fields, how="anti").height
    # what is found counts less where the strength differs, added in order
    apart = (pairs["value"] - pairs["value_gold"]).abs().to_list()
    weights = sum(
        next((weight for most, weight in _STRENGTHS if far <= most), _FACTOR**2) for far in apart
    )
    equal = sum(int((pairs[emotion] == pairs[f"{emotion}_gold"]).sum()) for emotion in sf.EMOTIONS)
    size, each = own.height, len(sf.EMOTIONS)
    rates = {}
    for measure, *counts in (
        ("polarity", pairs.height, size, pairs.height + missed),
        ("sentiment", weights, size, pairs.height + missed),
        ("emotion", equal, each * size, each * reference.height),
    ):
        precision, recall, _ = ratios.rates(*map(np.array, counts))
        values = (precision, recall, harmonic(precision, recall))
        rates[measure] = dict(zip(RATES, map(float, values), strict=True))
    return rates

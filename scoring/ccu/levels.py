"""Diarization of valence and arousal: concordance and kappa over decision units (Appendix B).

Step by step: both sides as series of levels over decision units (`plan_units`), the points of
levels (`cells`) and the values. Of each document the sums are kept from which concordance (C.4.5)
and kappa of points (C.4.6) are computed: they add.

Conventions:
    Pieces are rows of `document`, `start`, `end` (half-open) and `level`, sorted; those of a
    document do not overlap. The level not-a-number is a no-score region. Sums are of levels taken
    from `CENTRE`, so that sums of squares lose no digits.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings.counts import count_of
from hlteval.representation import Corpus, align
from hlteval.representation.judgments import is_text
from hlteval.scoring.agreement.coefficients import concordance, kappas
from hlteval.scoring.confusions import count_labels
from hlteval.scoring.metric import SCORINGS, AdditiveMetric, Replicates, Sums, Tables, columns_of
from hlteval.scoring.ratios import Numbers, plain, ratio

# Levels over places of a stream: half-open stretches, and what both sides say of each of them.
#
# A level is constant between two breakpoints. Nothing here depends on how many seconds or
# characters lie between them.
#
# Conventions:
#     Pieces are rows of `document`, `start`, `end` (half-open) and `level`, sorted; those of a
#     document do not overlap. The level not-a-number is a no-score region.


PIECE = ("document", "start", "end")
NO_SCORE = math.nan
#: The level where a side has nothing at all, not even a no-score region; null in stretches.
ABSENT = math.inf


def next_piece(column: str) -> pl.Expr:
    """The value of a column in the next piece of the same document; null for the last one."""
    same = pl.col("document") == pl.col("document").shift(-1)
    return pl.when(same).then(pl.col(column).shift(-1))


def half_open(pieces: pl.DataFrame) -> pl.DataFrame:
    """Pieces as written with their ends after the last character; `text` says which are text.

    Bounds of text are inclusive, or shared by two neighbours (2.2.4 shows both): in a document that
    shares a bound, all are.

    Examples:
        >>> written = {"document": [0, 0, 1, 1], "start": [0, 10, 0, 10], "end": [9, 19, 10, 20]}
        >>> pieces = pl.DataFrame({**written, "text": [True] * 4})
        >>> half_open(pieces)["end"].to_list()
        [10, 20, 10, 20]
    """
    shares = (next_piece("start") == pl.col("end")).any().over("document")
    last = pl.col("text") & ~shares.fill_null(value=False)
    return pieces.with_columns(end=pl.col("end") + last.cast(pl.Int64))


def events(pieces: pl.DataFrame, side: str, after: float) -> pl.DataFrame:
    """The changes of the level of a side: rows of `document`, `at` and the side.

    Args:
        pieces: of the side.
        side: the name of the column of levels.
        after: the level where no piece is, up to the next one.
    """
    later = next_piece("start")
    ends = pieces.filter((later > pl.col("end")).fill_null(value=True))
    begins = pieces.select("document", pl.col("start").alias("at"), pl.col("level").alias(side))
    stops = ends.select("document", pl.col("end").alias("at"), pl.lit(after).alias(side))
    return pl.concat([begins, stops])


def stretches(changes: pl.DataFrame, until: pl.DataFrame) -> pl.DataFrame:
    """The stretches in which neither side changes its level.

    Args:
        changes: rows of `document`, `at`, `reference` and `system`, null where a side does not
            change; each document begins with a row at 0 in which neither is null.
        until: rows of `document` and `until`, the end of its last stretch.

    Returns:
        Rows of `document`, `start`, `end`, `reference` and `system`; null where a side is `ABSENT`.

    Examples:
        >>> rows = {"document": [0, 0], "at": [0, 4], "reference": [1.0, None]}
        >>> rows |= {"system": [2.0, 3.0]}
        >>> until = pl.DataFrame({"document": [0], "until": [10]})
        >>> stretches(pl.DataFrame(rows), until).rows()
        [(0, 0, 4, 1.0, 2.0), (0, 4, 10, 1.0, 3.0)]
    """
    ordered = changes.with_columns(pl.col("at").clip(0)).sort("document", "at", maintain_order=True)
    # The row at 0 of each document stops what would flow in from the one before.
    filled = ordered.with_columns(pl.col("reference", "system").forward_fill())
    ended = filled.with_columns(end=next_piece("at"))
    ended = ended.join(until, on="document", maintain_order="left")
    sides = [pl.when(pl.col(side) != ABSENT).then(side).alias(side) for side in SIDES]
    end = pl.min_horizontal("end", "until")  # the last stretch of a document has no next change
    cut = ended.select("document", pl.col("at").alias("start"), end.alias("end"), *sides)
    return cut.filter(pl.col("end") > pl.col("start"))


SIDES = ("reference", "system")


# What can be chosen where levels of valence and arousal are scored.


#: The options that are constants of Table 13; the public scorer has its own.
CONSTANTS = ("extend_reference", "extend_reference_text", "min_judgments", "window", "window_text")


@dataclass(frozen=True)
class LevelOptions:
    """How levels are scored.

    Attributes:
        extend_reference: shorter gaps of the reference have the level before them, in seconds.
        extend_reference_text: the same in characters.
        min_judgments: segments that fewer annotators judged are no-score regions.
        window: size of a decision unit of audio and video, in seconds.
        window_text: size of a decision unit of text, in characters.
        gaps: whether systems may leave gaps: short ones are closed, others are no-score regions.
        index: names of the documents that are scored; None for all with levels in the reference.
    """

    extend_reference: float = 1.0
    extend_reference_text: float = 10.0
    min_judgments: int = 2
    window: float = 2.0
    window_text: float = 1.0
    gaps: bool = False
    index: frozenset[str] | None = None

    @property
    def changed_constants(self) -> tuple[str, ...]:
        """The names of the constants that are not those of the plan.

        Examples:
            >>> LevelOptions(window=1.0).changed_constants
            ('window',)
        """
        plan = LevelOptions()
        return tuple(name for name in CONSTANTS if getattr(self, name) != getattr(plan, name))


# The reference of valence and arousal (Appendix D): averaged judgments, extended gaps.
#
# What fewer than two annotators rated is a no-score region; `noann` is not a rating.


#: Of gaps in seconds; more would be noise of the subtraction.
_DIGITS = 6
#: Documents that are divided into units at a time: each has hundreds.
_DOCUMENTS = 1000


def ratings(corpus: Corpus, kind: str, documents: pl.DataFrame) -> pl.DataFrame:
    """The ratings of some documents that have a place.

    Args:
        corpus: either side.
        kind: `valence` or `arousal`.
        documents: rows of `document` and `text`, whether it is text.
    """
    rows = corpus.ratings.filter(kind=kind).drop_nulls(["start", "end"])
    rows = rows.select("row", "record", *PIECE, "level", "annotator")
    return rows.join(documents.select("document", "text"), on="document", maintain_order="left")


def average_judgments(judgments: pl.DataFrame, least: int = 2) -> pl.DataFrame:
    """Judgment Averaging: one level per segment.

    Three judgments are averaged; so are two, if the third is missing or is `noann`, a judgment
    without a level. One judgment makes a no-score region.

    An annotator counts once, however often a record is repeated.

    Args:
        judgments: rows of `ratings`.
        least: how many annotators a level needs.

    Examples:
        >>> row = {"row": 0, "document": 0, "start": 0.0, "end": 10.0, "text": False}
        >>> rows = [row | {"annotator": a, "level": b} for a, b in {"x": 156, "y": 178}.items()]
        >>> average_judgments(pl.DataFrame(rows))["level"].to_list()
        [167.0]
        >>> average_judgments(pl.DataFrame(rows[:1]))["level"].to_list()
        [nan]
    """
    annotator = pl.coalesce("annotator", pl.format("{}", "row"))
    level = pl.col("level")
    own = judgments.group_by(*PIECE, "text", annotator.alias("annotator")).agg(level.mean())
    pieces = own.group_by(*PIECE, "text").agg(level.mean(), judges=level.count())
    rated = pl.col("judges") >= least
    scored = pieces.with_columns(level=pl.when(rated).then("level").otherwise(NO_SCORE))
    return scored.select(*PIECE, "text", "level").sort(PIECE)


def extend_pieces(
    pieces: pl.DataFrame, seconds: float = 1.0, characters: float = 10.0
) -> pl.DataFrame:
    """Pieces of which short gaps have the level of the piece before them.

    Args:
        pieces: half-open.
        seconds: shorter gaps of audio and video are short.
        characters: shorter gaps of text are short.

    Examples:
        >>> rows = {"document": [0, 0], "start": [15.0, 18.0], "end": [17.5, 27.5]}
        >>> extend_pieces(pl.DataFrame({**rows, "text": [False, False]}))["end"].to_list()
        [18.0, 27.5]
    """
    later = next_piece("start")
    shortest = pl.when("text").then(characters).otherwise(seconds)
    short = (later - pl.col("end")).round(_DIGITS) < shortest
    return pieces.with_columns(end=pl.when(short).then(later).otherwise("end"))


def reference_pieces(judgments: pl.DataFrame, options: LevelOptions) -> pl.DataFrame:
    """The levels of the reference, half-open; what is between them is a no-score region."""
    pieces = half_open(average_judgments(judgments, options.min_judgments))
    pieces = extend_pieces(pieces, options.extend_reference, options.extend_reference_text)
    return pieces.filter(pl.col("end") > pl.col("start"))


# The levels of a system (2.2.4, 2.3.4): homogeneous segments that cover the document.
#
# Where the system has no level though it must have one, it has that of a document that it could not
# process: 500 for valence, 1 for arousal.


#: The level of documents that the system could not process, by kind.
UNPROCESSED: Mapping[str, float] = MappingProxyType({"valence": 500.0, "arousal": 1.0})
#: Seconds: bounds that are nearer to each other are one.
CLOSE = 0.02


def processed_documents(system: Corpus) -> pl.Series:
    """The documents that the system could process, as rows of `documents`."""
    return system.documents.filter(pl.col("processed").fill_null(value=True))["row"]


def system_pieces(ratings: pl.DataFrame, *, gaps: bool) -> pl.DataFrame:
    """The levels of the system, half-open; with `gaps`, short ones are closed as in the reference.

    Args:
        ratings: rows of the system.
        gaps: whether the system may leave gaps.
    """
    written = ratings.drop_nulls("level").select(*PIECE, "text", "level").sort(PIECE)
    pieces = half_open(written)
    pieces = extend_pieces(pieces) if gaps else join_close(pieces)
    return pieces.filter(pl.col("end") > pl.col("start"))


def join_close(pieces: pl.DataFrame) -> pl.DataFrame:
    """Pieces of audio and video that begin where the one before ends, if that is close.

    Examples:
        >>> rows = {"document": [0, 0], "start": [0.0, 10.001], "end": [10.0, 20.0]}
        >>> join_close(pl.DataFrame({**rows, "text": [False, False]}))["start"].to_list()
        [0.0, 10.0]
    """
    same = pl.col("document") == pl.col("document").shift(1)
    before = pl.col("end").shift(1)
    near = same & ~pl.col("text") & ((before - pl.col("start")).abs() < CLOSE)
    return pieces.with_columns(start=pl.when(near).then(before).otherwise("start"))


def up_to_the_end(pieces: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """Pieces of which the last of a document ends with it, if it nearly does.

    Nearly is less than `CLOSE` seconds, or one character: lengths may count from 0 or from 1.

    Args:
        pieces: of the system, half-open.
        documents: rows of `document` and `length`.

    Examples:
        >>> pieces = {"document": [0], "start": [0.0], "end": [5.49], "text": [False]}
        >>> length = pl.DataFrame({"document": [0], "length": [5.5]})
        >>> up_to_the_end(pl.DataFrame(pieces), length)["end"].to_list()
        [5.5]
    """
    lengths = documents.select("document", _length="length")
    own = pieces.join(lengths, on="document", how="left", maintain_order="left")
    missing = pl.col("_length") - pl.col("end")
    near = (missing > 0) & pl.when("text").then(missing <= 1).otherwise(missing < CLOSE)
    last = next_piece("start").is_null()
    ends = own.with_columns(end=pl.when(last & near).then("_length").otherwise("end"))
    return ends.drop("_length")


# Decision units (Appendix B, step 1): characters of text, windows of audio and video.
#
# Units of equal levels are one row. A stretch in which no level changes has as many windows as lie
# inside it; only windows with a breakpoint inside are averaged.
#
# Conventions:
#     Rows of `document`, `start`, `end`, `units` (how many units lie between both), `reference` and
#     `system` (levels; not-a-number in a no-score region, null where the side has none), and
#     `reference_length` and `system_length` (how much of the units each side covers).


UNITS = ("document", "start", "end", "units", *SIDES, "reference_length", "system_length")


def characters(stretches: pl.DataFrame) -> pl.DataFrame:
    """The characters of stretches of text: a level is that of each of them."""
    length = pl.col("end") - pl.col("start")
    units = stretches.with_columns(units=length.cast(pl.Int64), **_lengths(length))
    return units.select(UNITS)


def windows(stretches: pl.DataFrame, size: float) -> pl.DataFrame:
    """The windows of stretches of audio and video; the last of a document may be shorter.

    AverageLevel(S, t1, t2) is the sum of Level(s) * TimeOverlap(s, t1, t2) over the segments,
    divided by the time that is covered. A window that touches a no-score region has no level.

    Args:
        stretches: of documents whose windows begin at 0.
        size: of a window, in the unit of the stretches.

    Examples:
        >>> row = {"document": 0, "reference": 1.0, "system": 5.0}
        >>> parts = [row | {"start": 0, "end": 5}, row | {"start": 5, "end": 7, "system": 8.0}]
        >>> windows(pl.DataFrame(parts), 2).select("start", "units", "system").rows()
        [(0.0, 2, 5.0), (4.0, 1, 6.5), (6.0, 1, 8.0)]
    """
    first, last = pl.col("_first"), pl.col("_last")
    own = stretches.with_columns(
        _first=(pl.col("start") / size).floor(), _last=(pl.col("end") / size).floor()
    )
    begins_inside = pl.col("start") > first * size
    whole = own.with_columns(_first=first + begins_inside.cast(pl.Int64)).filter(last > first)
    whole = whole.with_columns(
        start=first * size, end=last * size, units=(last - first).cast(pl.Int64)
    )
    whole = whole.with_columns(**_lengths(pl.col("end") - pl.col("start"))).select(UNITS)
    # The rest: the window in which a stretch begins, and the one in which it ends.
    next_end = pl.min_horizontal("end", (first + 1) * size)
    head = own.filter(begins_inside).with_columns(_window=first, end=next_end)
    tail = own.filter(pl.col("end") > last * size, ~(begins_inside & (first == last)))
    tail = tail.with_columns(_window=last, start=pl.max_horizontal("start", last * size))
    columns = ("document", "_window", "start", "end", *SIDES)
    parts = pl.concat([part.select(columns) for part in (head, tail)], how="vertical_relaxed")
    length = pl.col("end") - pl.col("start")
    parts = parts.with_columns(_length=length, **_lengths(length))
    # In order, so that sums do not depend on what else is in the batch; not one lazy query with
    # them, in which a sort before a sum is left out.
    ordered = parts.sort("document", "_window", "start")
    averaged = ordered.group_by("document", "_window", maintain_order=True).agg(
        pl.col("start").min(),
        pl.col("end").max(),
        *map(_average, SIDES),
        pl.col("reference_length", "system_length").sum(),
    )
    averaged = averaged.with_columns(units=pl.lit(1, pl.Int64)).select(UNITS)
    every = pl.concat([whole, averaged], how="vertical_relaxed")
    return every.sort("document", "start")


def _average(side: str) -> pl.Expr:
    """The level of a side over the parts of a window that it covers."""
    level = pl.col(side)
    total = (level * pl.col("_length")).sum() / pl.col(f"{side}_length").sum()
    # Of equal levels the mean is that level, whatever is rounded.
    same = (level.min() == level.max()) & total.is_not_nan()
    absent = level.null_count() == level.len()
    return pl.when(absent).then(None).when(same).then(level.min()).otherwise(total).alias(side)


def _lengths(length: pl.Expr) -> dict[str, pl.Expr]:
    """How much of some units each side covers."""
    return {
        f"{side}_length": pl.when(pl.col(side).is_not_null()).then(length).otherwise(0)
        for side in SIDES
    }


def known_documents(reference: Corpus, options: LevelOptions) -> pl.DataFrame:
    """The documents of the index, or without one all of the reference.

    Returns:
        Rows of `document`, `name`, `genre`, `text` and `length`.
    """
    rows = reference.documents
    if options.index is not None:
        names = pl.Series(sorted(options.index), dtype=pl.String)
        rows = rows.filter(pl.col("name").is_in(names.implode()))
    return rows.select("name", "length", document="row", genre="modality", text=is_text())


def plan_units(
    reference: Corpus, system: Corpus, documents: pl.DataFrame, kind: str, options: LevelOptions
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The decision units that are scored, and what is counted of documents beside them.

    Where the system may leave no gaps, it has the level of unprocessed documents in them.

    Args:
        reference: the reference.
        system: the system's levels, in the same numbering of documents.
        documents: those that are scored.
        kind: `valence` or `arousal`.
        options: what was chosen.

    Returns:
        Units, as `decision_units` has them, in which both sides have a level; and rows of
        `document` and `unprocessed`, 1 if the system has no level in it.
    """
    gold = reference_pieces(ratings(reference, kind, documents), options)
    own = ratings(system, kind, documents)
    own = own.filter(pl.col("document").is_in(processed_documents(system).implode()))
    # Offsets of text may begin at 1: an annotated character at the length is scored too.
    last = gold.group_by("document").agg(_last=pl.col("end").max())
    documents = documents.join(last, on="document", how="left", maintain_order="left")
    of_text = pl.max_horizontal("length", "_last")
    documents = documents.with_columns(length=pl.when("text").then(of_text).otherwise("length"))
    said = up_to_the_end(system_pieces(own, gaps=options.gaps), documents)
    # The last stretch of a document ends with its length, or else with its last level.
    ends = pl.concat([pieces.select("document", "end") for pieces in (gold, said)])
    ends = ends.group_by("document").agg(pl.col("end").max())
    until = documents.join(ends, on="document", how="left", maintain_order="left")
    until = until.select("document", until=pl.coalesce("length", "end").fill_null(0.0))

    missing = ~pl.col("document").is_in(said["document"].unique().implode())
    further = documents.select("document", unprocessed=missing.cast(pl.Int64))
    fill = NO_SCORE if options.gaps else UNPROCESSED[kind]
    first = pl.when(pl.col("unprocessed") == 1).then(UNPROCESSED[kind]).otherwise(fill)
    opening = further.select("document", at=0.0, reference=NO_SCORE, system=first)
    changes = [opening, events(gold, "reference", NO_SCORE), events(said, "system", fill)]
    parts = stretches(pl.concat(changes, how="diagonal"), until)
    texts = documents.filter("text")["document"]
    both = pl.col("reference").is_not_nan() & pl.col("system").is_not_nan()
    units = []
    for at in range(0, max(documents.height, 1), _DOCUMENTS):
        names = documents["document"].slice(at, _DOCUMENTS)
        some = parts.filter(pl.col("document").is_in(names.implode()))
        every = decision_units(some, texts, options.window, options.window_text)
        units.append(every.filter(both))
    return pl.concat(units, how="vertical_relaxed"), further


def decision_units(
    parts: pl.DataFrame, texts: pl.Series, window: float, of_text: float = 1.0
) -> pl.DataFrame:
    """The units of stretches: characters of texts, or windows of them; windows of audio and video.

    Args:
        parts: the stretches of documents.
        texts: which documents are texts.
        window: size of windows of audio and video.
        of_text: how many characters a unit of text has.
    """
    text = pl.col("document").is_in(texts.implode())
    written = parts.filter(text)
    each = [characters(written) if of_text == 1 else windows(written, of_text)]
    each.append(windows(parts.filter(~text), window))
    return pl.concat(each, how="vertical_relaxed")


def readable(units: pl.DataFrame) -> pl.DataFrame:
    """Units as people read them, with how far the levels of the system are from the reference.

    Examples:
        >>> readable(pl.DataFrame({"reference": [500.0], "system": [450.0]})).row(0)
        (500.0, 450.0, -50.0, 'lower')
    """
    difference = pl.col("system") - pl.col("reference")
    not_higher = pl.when(difference < 0).then(pl.lit("lower")).otherwise(pl.lit("equal"))
    outcome = pl.when(difference > 0).then(pl.lit("higher")).otherwise(not_higher)
    return units.with_columns(difference=difference, outcome=outcome)


# The sums of decision units, and the values.


#: The middle of the levels of the plan.
CENTRE = 500
#: The number of units, and sums of levels (x: reference, y: system), squares and products.
MOMENTS = ("units", "x", "y", "xx", "yy", "xy")
#: The least levels of the second and the third point of the scales of three points.
POINTS = (300, 700)
#: What the points are called.
POINT_NAMES: Mapping[str, Sequence[str]] = {
    "valence": ("negative", "neutral", "positive"),
    "arousal": ("low", "medium", "high"),
}
#: Units by the point of the reference and that of the system.
CELLS = tuple(f"cell_{row}{column}" for row in range(3) for column in range(3))


def moments(centre: float) -> list[pl.Expr]:
    """The sums of units of equal levels: `MOMENTS`, with levels taken from a centre."""
    units = pl.col("units")
    x, y = pl.col("reference") - centre, pl.col("system") - centre
    products = {"x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
    sums = [(units * product).sum().alias(name) for name, product in products.items()]
    return [units.sum(), *sums]


def _point(side: str) -> pl.Expr:
    return pl.sum_horizontal((pl.col(side) >= least).cast(pl.Int8) for least in POINTS)


def cells() -> list[pl.Expr]:
    """How many units are in each cell of the confusion matrix of points: `CELLS`.

    Negative, neutral and positive valence, or low, medium and high arousal: 1 to 299, 300 to 699
    and 700 to 1000. Averages between two points belong to the lower one.
    """
    row, column = map(_point, SIDES)
    cell = 3 * row + column
    return [pl.col("units").filter(cell == n).sum().alias(name) for n, name in enumerate(CELLS)]


Schema = Mapping[str, pl.DataType | type[pl.DataType]]

#: What is counted of a document in every profile.
SUMS: Schema = {
    **dict.fromkeys(("document", "genre"), pl.String),
    "units": pl.Int64,
    **dict.fromkeys(MOMENTS[1:], pl.Float64),
}
#: Units of equal levels: where they are, half-open, and how many.
ALIGNMENT: Schema = {
    **dict.fromkeys(("document", "genre"), pl.String),
    **dict.fromkeys(("start", "end"), pl.Float64),
    "units": pl.Int64,
    **dict.fromkeys(("reference", "system"), pl.Float64),
}
#: The kinds of data, each of which has values of its own.
GENRES = ("audio", "text", "video")
#: Documents that intervals of kappa need; docs/intervals.md has their coverage.
_MANY = 50


@dataclass(frozen=True)
class LevelDiarization(AdditiveMetric):
    """How levels are scored.

    Attributes:
        options: what was chosen.
        kind: `valence` or `arousal`.
    """

    schema: ClassVar[Schema] = {**SUMS, **dict.fromkeys(CELLS, pl.Int64), "unprocessed": pl.Int64}
    """What is counted of a document."""
    sums: ClassVar[tuple[str, ...]] = (*MOMENTS, *CELLS)
    """The columns from which values are computed."""
    note: ClassVar[str] = ""
    """What else is to be known of the level of documents without any."""

    options: LevelOptions = field(default_factory=LevelOptions)
    kind: str = "valence"

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The sums of each document, and the units that they are of.

        Examples:
            >>> documents = [{"row": 0, "name": "d1", "modality": "audio", "length": 6.0}]
            >>> row = {"document": 0, "origin": 0, "record": 1, "kind": "valence"}
            >>> levels = [row | {"start": 0.0, "end": 2.0, "level": 300.0}]
            >>> levels += [row | {"start": 2.0, "end": 6.0, "level": 800.0}]
            >>> said = [level | {"row": i} for i, level in enumerate(levels)]
            >>> judged = [level | {"annotator": a} for level in levels for a in "xy"]
            >>> gold = [judgment | {"row": i} for i, judgment in enumerate(judged)]
            >>> reference = Corpus(documents=documents, ratings=gold)
            >>> metric = LevelDiarization()
            >>> counts, _ = metric.statistics(reference, Corpus(documents=documents, ratings=said))
            >>> metric.score(metric.total([counts]))[0]["ccc"]
            1.0
        """
        reference, system = align(reference, system)
        rated = reference.ratings.filter(pl.col("kind") == self.kind)["document"].unique()
        documents = known_documents(reference, self.options)
        documents = documents.filter(pl.col("document").is_in(rated.implode()))
        units, further = self.decision_units(reference, system, documents)
        # In order, so that sums do not depend on what else is in the batch.
        ordered = units.sort("document", "start")
        summed = ordered.group_by("document", maintain_order=True).agg(self.unit_sums())
        counts = further.join(summed, on="document", how="left", maintain_order="left")
        counts = counts.with_columns(pl.col(self.sums).fill_null(0))  # of a document without units
        names = pl.concat([side.documents.select("row", "name") for side in (reference, system)])
        genres = reference.documents.select("row", genre="modality")
        named = names.unique().join(genres, on="row", how="left", maintain_order="left")
        named = named.rename({"row": "document"})

        def with_names(rows: pl.DataFrame, schema: Schema) -> pl.DataFrame:
            joined = rows.join(named, on="document", how="left", maintain_order="left")
            columns = (pl.col(name).cast(dtype) for name, dtype in schema.items())
            return joined.with_columns(document="name").select(columns)

        aligned = with_names(ordered, ALIGNMENT) if alignment else None
        return with_names(counts, self.schema), aligned

    def decision_units(
        self, reference: Corpus, system: Corpus, documents: pl.DataFrame
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The decision units that are scored, and what is counted of documents beside them."""
        return plan_units(reference, system, documents, self.kind, self.options)

    def unit_sums(self) -> list[pl.Expr]:
        """The sums of the units of a document: `sums`."""
        return [*moments(CENTRE), *cells()]

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The sums of the documents of all batches."""
        return pl.concat([pl.DataFrame(schema=dict(self.schema)), *counts])

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The values, and the table `scorings`."""
        parts = _with_genres(total)
        # Sums that do not depend on the order of the documents.
        sums = {
            name: np.array([math.fsum(rows[name].to_list()) for rows in parts.values()])
            for name in self.sums
        }
        metrics = {
            _name(value, genre): number
            for value, numbers in self.values(sums).items()
            for genre, number in zip(parts, plain(numbers), strict=True)
        }
        each = self.of_documents(total)
        defined = each[~np.isnan(each)].tolist()
        metrics["ccc_document_mean"] = math.fsum(defined) / len(defined) if defined else None
        rows = [
            ("Levels", genre or "all", measure, metrics.get(_name(measure, genre)))
            for genre in ("", *GENRES)
            for measure in ("ccc", "kappa", "ccc_document_mean")
        ]
        return metrics, {"scorings": pl.DataFrame(rows, schema=dict(SCORINGS), orient="row")}

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[Tables, dict[str, str]]:
        """The table `confusion` of the units by their points, such as `negative` and `neutral`."""
        names = POINT_NAMES[self.kind]
        points = [_point(side).replace_strict([*range(3)], names).alias(side) for side in SIDES]
        known = pl.all_horizontal(pl.col(side).is_not_nan() for side in SIDES)
        rows = aligned.drop_nulls(SIDES).filter(known).with_columns(points)
        return {"confusion": count_labels(rows, SIDES, "units")}, {}

    def values(self, sums: Mapping[str, Numbers]) -> dict[str, NDArray[np.float64]]:
        """Each value, of an element of the sums each."""
        pairs = np.stack([sums[name] for name in CELLS], axis=-1).astype(np.float64)
        agreement = kappas(pairs.reshape(*pairs.shape[:-1], 3, 3))
        return {"ccc": concordance(sums), "kappa": agreement}

    def of_documents(self, counts: pl.DataFrame) -> NDArray[np.float64]:
        """The concordance of each document by itself."""
        return concordance({name: counts[name].to_numpy() for name in MOMENTS})

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Say what a reader of the values must know."""
        missing = int(total["unprocessed"].sum())
        level = f"{UNPROCESSED[self.kind]:g}{self.note}"
        documents = count_of(missing, "document")
        text = f"{documents} without levels of the system: scored as level {level}"
        return (text,) if missing else ()

    def documents(self, counts: pl.DataFrame) -> list[str]:
        """The documents that have units."""
        return super().documents(counts.filter(pl.col("units") > 0))

    def fewest_documents(self, name: str) -> int:
        """Intervals of kappa need more documents than others (docs/intervals.md)."""
        return _MANY if name.startswith("kappa") else 0

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        """The sums of each document by genre, those that are undefined apart; and its concordance.

        What is undefined in a document is so in the replicates that have it.
        """
        found: dict[str, NDArray[Any]] = {}
        for genre, rows in _with_genres(counts).items():
            matrix = columns_of(rows, self.sums, documents).astype(np.float64)
            undefined = np.isnan(matrix)
            found[f"sums {genre}"] = np.where(undefined, 0.0, matrix)
            found[f"undefined {genre}"] = undefined.astype(np.int64)
            if not genre:
                each = self.of_documents(pl.DataFrame(matrix, schema=list(self.sums)))
        defined = ~np.isnan(each)
        found["concordance"] = np.where(defined, each, 0.0)
        found["defined"] = defined.astype(np.int64)
        return found

    def values_of(self, sums: Sums) -> Replicates:
        """The values of these sums."""
        found: Replicates = {}
        for genre in ("", *GENRES):
            matrix = np.where(sums[f"undefined {genre}"] > 0, np.nan, sums[f"sums {genre}"])
            values = self.values(dict(zip(self.sums, matrix.T, strict=True)))
            found |= {_name(value, genre): numbers for value, numbers in values.items()}
        found["ccc_document_mean"] = ratio(sums["concordance"], sums["defined"])
        return found


def _name(value: str, genre: str) -> str:
    return f"{value}.{genre}" if genre else value


def _with_genres(counts: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """All counts, and those of each kind of data."""
    return {"": counts, **{name: counts.filter(pl.col("genre") == name) for name in GENRES}}

"""Turns of speakers on one axis of time, and what is spoken at each moment on either side.

The documents of a batch follow each other on an axis of whole microseconds, with gaps between them,
so that all of them are swept at once. A speaker belongs to one document: equal names in two
documents are two speakers.

Stretches of time are two arrays, starts and ends, half-open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.representation import Corpus

Integers = NDArray[np.int64]
#: Starts and ends.
Stretches = tuple[Integers, Integers]
#: Units of time in a second.
UNIT = 1_000_000
_TIMES = ("start", "end")


@dataclass(frozen=True)
class Turns:
    """The turns of one side.

    Attributes:
        speaker: the number of the speaker of each turn.
        start: where it starts on the axis.
        end: where it ends.
    """

    speaker: Integers
    start: Integers
    end: Integers

    @property
    def stretches(self) -> Stretches:
        """The starts and ends of the turns."""
        return self.start, self.end

    def longer_than(self, length: int) -> Turns:
        """The turns that are longer."""
        kept = self.end - self.start > length
        return Turns(self.speaker[kept], self.start[kept], self.end[kept])

    def merge(self) -> Turns:
        """The turns of each speaker without overlaps: those that overlap or touch are one.

        Examples:
            >>> turns = Turns(*map(np.array, ([0, 1, 0], [0, 0, 5], [5, 9, 7])))
            >>> [values.tolist() for values in vars(turns.merge()).values()]
            [[0, 1], [0, 0], [7, 9]]
        """
        # one speaker after the other on an axis, with gaps
        size = 1 + int(self.speaker.max(initial=-1))
        least, most = _extents(size, self.speaker, self.start, self.end)
        bases = np.cumsum(most - least + 1) - (most - least + 1)
        shift = bases - least
        starts, ends = union(self.start + shift[self.speaker], self.end + shift[self.speaker])
        speaker = np.searchsorted(bases, starts, side="right") - 1
        return Turns(speaker, starts - shift[speaker], ends - shift[speaker])

    def cut(self, stretches: Stretches) -> Turns:
        """The parts of turns inside stretches that do not overlap.

        Examples:
            >>> turns = Turns(*map(np.array, ([0], [0], [9])))
            >>> parts = turns.cut((np.array([1, 8]), np.array([3, 20])))
            >>> parts.start.tolist(), parts.end.tolist()
            ([1, 8], [3, 9])
        """
        starts, ends = stretches
        first = np.searchsorted(ends, self.start, side="right")
        count = np.maximum(np.searchsorted(starts, self.end, side="left") - first, 0)
        turn = np.repeat(np.arange(len(count)), count)
        within = first[turn] + _ordinals(count)
        start = np.maximum(self.start[turn], starts[within])
        return Turns(self.speaker[turn], start, np.minimum(self.end[turn], ends[within]))


def _extents(size: int, owner: Integers, start: Integers, end: Integers) -> Stretches:
    """The first start and the last end of what each of some owners has; 0 where it has nothing."""
    least = np.full(size, np.iinfo(np.int64).max)
    most = np.full(size, np.iinfo(np.int64).min)
    np.minimum.at(least, owner, start)
    np.maximum.at(most, owner, end)
    empty = least > most
    least[empty], most[empty] = 0, 0
    return least, most


def _ordinals(counts: Integers) -> Integers:
    """The numbers from 0 up to each count, one after the other."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


@dataclass(frozen=True)
class Axis:
    """The documents of a batch on one axis.

    Attributes:
        documents: their names, in order.
        bases: where each begins on the axis.
        origins: the time in the document at that point, in units.
        speakers: the number of each speaker by document and name: `document`, `name`, `speaker`,
            numbered by document and then by name.
        sides: the turns of the reference and of the system.
        evaluated: the stretches that are evaluated, without overlaps.
    """

    documents: list[str]
    bases: Integers
    origins: Integers
    speakers: pl.DataFrame
    sides: tuple[Turns, Turns]
    evaluated: Stretches

    @cached_property
    def document_of(self) -> Integers:
        """The document of each speaker."""
        return self.speakers["document"].to_numpy()

    def documents_at(self, times: Integers) -> Integers:
        """The documents of points on the axis."""
        return np.searchsorted(self.bases, times, side="right") - 1

    def seconds(self, times: Integers) -> NDArray[np.float64]:
        """Points on the axis as seconds in their documents."""
        document = self.documents_at(times)
        return (times - self.bases[document] + self.origins[document]) / UNIT


def make_axis(
    reference: Corpus, system: Corpus, evaluated: pl.DataFrame | None, *, padding: int
) -> Axis:
    """The turns of two corpora on one axis.

    Args:
        reference: its instances are turns; those in no stretch of time are left out.
        system: the same documents, and possibly others.
        evaluated: `name` (of a document), `start` and `end` of stretches in seconds; where a
            document has none, what lies between its first and its last moment on either side, or
            its declared length, is evaluated.
        padding: units between documents, at least.
    """
    sides = []
    for corpus in (reference, system):
        names = corpus.documents.select("name", document="row")
        rows = corpus.instances.drop_nulls(_TIMES).select("document", "label", *_units())
        rows = rows.join(names, on="document", maintain_order="left")
        sides.append(rows.select("name", "label", *_TIMES).filter(pl.col("start") < pl.col("end")))
    both = pl.concat(sides)
    all_names = [corpus.documents["name"] for corpus in (reference, system)]
    documents = pl.concat(all_names).unique(maintain_order=True).to_list()
    stretches = _stretches((reference, system), both, evaluated)
    numbers = pl.DataFrame({"name": documents}, schema={"name": pl.String})
    numbers = numbers.with_columns(document=pl.int_range(pl.len(), dtype=pl.Int64))
    stretches, both = (
        rows.join(numbers, on="name", maintain_order="left").drop("name")
        for rows in (stretches, both)
    )
    everything = pl.concat([stretches, both.select("start", "end", "document")])
    columns = (everything[name].to_numpy() for name in ("document", *_TIMES))
    least, most = _extents(len(documents), *columns)
    bases = np.cumsum(np.r_[padding, most - least + 2 * padding])[: len(documents)]
    shift = bases - least
    speakers = both.select("document", "label").unique().sort("document", "label")
    speakers = speakers.with_columns(speaker=pl.int_range(pl.len(), dtype=pl.Int64))
    numbered = both.join(speakers, on=["document", "label"], how="left", maintain_order="left")
    moved = shift[numbered["document"].to_numpy()]
    start, end = (numbered[name].to_numpy() + moved for name in ("start", "end"))
    speaker, height = numbered["speaker"].to_numpy(), sides[0].height
    starts, ends = (
        stretches[name].to_numpy() + shift[stretches["document"].to_numpy()]
        for name in ("start", "end")
    )
    return Axis(
        documents,
        bases,
        least,
        speakers.rename({"label": "name"}),
        (
            Turns(speaker[:height], start[:height], end[:height]),
            Turns(speaker[height:], start[height:], end[height:]),
        ),
        union(starts, ends),
    )


def _units() -> Mapping[str, pl.Expr] | list[pl.Expr]:
    """Starts and ends in whole units."""
    return [(pl.col(name) * UNIT).round().cast(pl.Int64).alias(name) for name in _TIMES]


def _stretches(
    corpora: tuple[Corpus, Corpus], turns: pl.DataFrame, evaluated: pl.DataFrame | None
) -> pl.DataFrame:
    """The stretches that are evaluated: `name`, `start` and `end` in units."""
    lengths = pl.concat([corpus.documents.select("name", "length") for corpus in corpora])
    declared = lengths.drop_nulls().unique("name", keep="first", maintain_order=True)
    declared = declared.select("name", start=pl.lit(0.0), end=pl.col("length").cast(pl.Float64))
    extents = turns.group_by("name", maintain_order=True).agg(
        pl.col("start").min(), pl.col("end").max()
    )
    known = declared.select("name", *_units())
    if evaluated is not None:
        given = evaluated.select("name", *_units())
        known = pl.concat([given, known.join(given, on="name", how="anti", maintain_order="left")])
    return pl.concat([known, extents.join(known, on="name", how="anti", maintain_order="left")])


def union(starts: Integers, ends: Integers) -> Stretches:
    """Stretches without overlaps, in order; those that touch are one.

    Examples:
        >>> [side.tolist() for side in union(np.array([5, 0, 3]), np.array([9, 4, 4]))]
        [[0, 5], [4, 9]]
    """
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], ends[order]
    if not len(starts):
        return starts, ends
    reach = np.maximum.accumulate(ends)
    opens = np.flatnonzero(np.r_[True, starts[1:] > reach[:-1]])
    return starts[opens], reach[np.r_[opens[1:] - 1, len(ends) - 1]]


def depth_between(points: Integers, stretches: Stretches) -> Integers:
    """How many stretches cover what is between each point and the next.

    Args:
        points: in order; each start and end is one of them.
        stretches: any stretches.
    """
    starts, ends = (np.searchsorted(points, times) for times in stretches)
    counts = (np.bincount(places, minlength=len(points)) for places in (starts, ends))
    return np.cumsum(np.subtract(*counts))[:-1]


def boundaries(*times: Integers) -> Integers:
    """All points of time, each once, in order.

    Examples:
        >>> boundaries(np.array([3, 1]), np.array([3])).tolist()
        [1, 3]
    """
    ordered = np.sort(np.concatenate(times))  # faster than the hashes of numpy.unique
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]] if len(ordered) else ordered


def without(stretches: Stretches, removed: Stretches) -> Stretches:
    """The parts of stretches that are in no removed one.

    Examples:
        >>> kept = without((np.array([0]), np.array([9])), (np.array([2, 8]), np.array([4, 12])))
        >>> [side.tolist() for side in kept]
        [[0, 4], [2, 8]]
    """
    points = boundaries(*stretches, *removed)
    kept = np.flatnonzero(
        (depth_between(points, stretches) > 0) & (depth_between(points, removed) == 0)
    )
    return union(points[kept], points[kept + 1])


def overlaps(turns: Turns) -> Stretches:
    """The stretches in which several turns are at once."""
    points = boundaries(*turns.stretches)
    several = np.flatnonzero(depth_between(points, turns.stretches) > 1)
    return union(points[several], points[several + 1])


@dataclass(frozen=True)
class Moments:
    """The elementary stretches between all boundaries of both sides, and who speaks there.

    Attributes:
        axis: the documents.
        sides: the turns that are compared.
        merged: whether nobody has two turns at once.
    """

    axis: Axis
    sides: tuple[Turns, Turns]
    merged: bool = False

    @cached_property
    def points(self) -> Integers:
        """All boundaries, in order."""
        return boundaries(*(each for side in self.sides for each in side.stretches))

    @cached_property
    def lengths(self) -> Integers:
        """The length of each stretch, also of those where nobody speaks."""
        return np.diff(self.points)

    @cached_property
    def depths(self) -> tuple[Integers, Integers]:
        """How many turns of reference and system each stretch is in."""
        ours, theirs = (depth_between(self.points, side.stretches) for side in self.sides)
        return ours, theirs

    def by_document(self, values: Integers) -> Integers:
        """The sums of values of the stretches, times their lengths, by document."""
        sums: Integers = np.r_[0, np.cumsum(values * self.lengths)]
        first = np.searchsorted(self.points[:-1], self.axis.bases)
        return sums[np.r_[first[1:], len(sums) - 1]] - sums[first]

    @cached_property
    def speakers(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The speakers of each stretch by side: `stretch`, `speaker`, and `turns`, how many."""
        ours, theirs = (self._speakers(side) for side in self.sides)
        return ours, theirs

    def _speakers(self, turns: Turns) -> pl.DataFrame:
        first, last = (np.searchsorted(self.points, times) for times in turns.stretches)
        count = last - first
        turn = np.repeat(np.arange(len(count)), count)
        rows = pl.DataFrame(
            {"stretch": first[turn] + _ordinals(count), "speaker": turns.speaker[turn]}
        )
        if self.merged:
            return rows.with_columns(turns=pl.lit(1, pl.Int64))
        return rows.group_by("stretch", "speaker").agg(turns=pl.len().cast(pl.Int64))

    @cached_property
    def durations(self) -> tuple[Integers, Integers]:
        """How long each speaker of the axis speaks, on either side."""
        ours, theirs = (self._durations(rows) for rows in self.speakers)
        return ours, theirs

    def _durations(self, rows: pl.DataFrame) -> Integers:
        weights = self.lengths[rows["stretch"].to_numpy()]
        size = self.axis.speakers.height
        sums = np.bincount(rows["speaker"].to_numpy(), weights=weights, minlength=size)
        return np.rint(sums).astype(np.int64)

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """Pairs of speakers of both sides that speak at once.

        Returns:
            `reference`, `system` (speakers), `document`; and the time in units in which both speak
            (`shared`), times the number of turns of each (`weighted`), and times the smaller one of
            these (`common`). Sorted by the speakers.
        """
        ours, theirs = self.speakers
        ours = ours.rename({"speaker": "reference", "turns": "ours"})
        theirs = theirs.rename({"speaker": "system", "turns": "theirs"})
        both = ours.join(theirs, on="stretch")
        length, pair, many = pl.col("length"), pl.col("pair"), self.axis.speakers.height
        sums = (
            both.select(
                *("ours", "theirs"),
                pair=pl.col("reference") * many + pl.col("system"),  # a number is grouped faster
                length=pl.Series(self.lengths[both["stretch"].to_numpy()]),
            )
            .group_by("pair")
            .agg(
                shared=length.sum(),
                weighted=(length * pl.col("ours") * pl.col("theirs")).sum(),
                common=(length * pl.min_horizontal("ours", "theirs")).sum(),
            )
            .sort("pair")
            .select(
                (pair // many).alias("reference"),
                (pair % many).alias("system"),
                *("shared", "weighted", "common"),
            )
        )
        document = self.axis.document_of[sums["reference"].to_numpy()]
        return sums.with_columns(document=pl.Series(document))

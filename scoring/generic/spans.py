"""Spans of both sides as arrays: which are equal, which overlap, and who goes with whom.

Positions are those of all documents one after the other, so that spans of two documents never
touch. Everything is columns; only a greedy pairing looks at some candidates one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings import finding
from hlteval.representation import Corpus
from hlteval.scoring.generic.averages import LabelOptions
from hlteval.scoring.matching import assign
from hlteval.scoring.metric import CannotCount

Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Pairs(NamedTuple):
    """Pairs of units.

    Attributes:
        left: the index of the unit of the reference.
        right: that of the unit of the system.
    """

    left: Whole
    right: Whole


@dataclass(frozen=True)
class Units:
    """The labelled spans of a side.

    Attributes:
        document: the number of the document of each.
        start: where it starts, in the positions of all documents.
        end: where it ends.
        label: the number of its label.
        span: equal for equal spans, on both sides.
        key: equal for equal spans with equal labels, on both sides.
        at: the row of each in the table of mentions.
        parts: the fragments of all, if some have several: indices, starts and ends.
    """

    document: Whole
    start: Whole
    end: Whole
    label: Whole
    span: Whole
    key: Whole
    at: Whole
    parts: tuple[Whole, Whole, Whole] | None = None

    def __len__(self) -> int:
        return len(self.document)

    @property
    def length(self) -> Whole:
        """The number of characters of each, without gaps."""
        if self.parts is None:
            return self.end - self.start
        index, start, end = self.parts
        return np.bincount(index, weights=end - start, minlength=len(self)).astype(np.int64)

    @property
    def pieces(self) -> tuple[Whole, Whole, Whole]:
        """The fragments: the index of its unit, its start and its end."""
        return self.parts or (np.arange(len(self)), self.start, self.end)

    def take(self, chosen: Whole | Mask) -> Units:
        """Some of the units."""
        index = np.arange(len(self))[chosen]
        parts = None
        if self.parts is not None:
            new = np.full(len(self), -1)
            new[index] = np.arange(len(index))
            kept = new[self.parts[0]] >= 0
            parts = new[self.parts[0][kept]], self.parts[1][kept], self.parts[2][kept]
        return replace(self._columns(index), parts=parts)

    def _columns(self, index: Whole) -> Units:
        """Some of the units, all without gaps."""
        document, start, end, label, span, key, at = (
            column[index]
            for column in (
                *(self.document, self.start, self.end, self.label),
                *(self.span, self.key, self.at),
            )
        )
        return Units(document, start, end, label, span, key, at)


def join(first: Units, second: Units) -> Units:
    """The units of two sides, one after the other."""
    document, start, end, label, span, key, at = (
        np.concatenate(pair)
        for pair in zip(
            *(
                (
                    units.document,
                    units.start,
                    units.end,
                    units.label,
                    units.span,
                    units.key,
                    units.at,
                )
                for units in (first, second)
            ),
            strict=True,
        )
    )
    parts = None
    if first.parts is not None and second.parts is not None:
        index, starts, ends = (
            np.concatenate(p) for p in zip(first.parts, second.parts, strict=True)
        )
        index[len(first.parts[0]) :] += len(first)
        parts = index, starts, ends
    return Units(document, start, end, label, span, key, at, parts)


@dataclass(frozen=True)
class Sides:
    """The units of both sides.

    Attributes:
        reference: those of the reference.
        system: those of the system.
        labels: the labels by number.
        ignored: how many were left out, by the number of the document.
        bases: where the positions of each document begin.
    """

    reference: Units
    system: Units
    labels: tuple[str, ...]
    ignored: Whole
    bases: Whole


def sides(
    reference: Corpus,
    system: Corpus,
    options: LabelOptions,
    *,
    unique: bool = True,
    by_position: bool = False,
) -> Sides:
    """The mentions of two corpora with the same numbers of documents.

    Args:
        reference: the reference.
        system: the system.
        options: which labels are left out or renamed.
        unique: whether equal ones count once.
        by_position: whether they are in the order of their spans and labels, not of their files.
    """
    both = pl.concat(
        corpus.mentions.select(
            *("document", "start", "end", "fragments"),
            label=options.prepare(pl.col("label")),
            at=pl.int_range(pl.len(), dtype=pl.Int64),
            side=pl.lit(number),
        )
        for number, corpus in enumerate((reference, system))
    )
    numbers = pl.concat([each.documents["row"] for each in (reference, system)])
    size = 1 + int(numbers.to_numpy().max(initial=-1))
    gone = both["label"].is_null()
    ignored = np.bincount(both["document"].filter(gone).to_numpy(), minlength=size)
    both = both.filter(~gone) if gone.any() else both
    names = both["label"].unique().sort()
    label = both["label"].cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy()
    document, start, end = (both[name].to_numpy() for name in ("document", "start", "end"))
    longest = np.zeros(size, dtype=np.int64)
    np.maximum.at(longest, document, np.maximum(start, end) + 2)
    bases = np.cumsum(longest) - longest
    base = bases[document]
    start, end = start + base, end + base
    span = combine(start, end - start)
    fragments = both.select("fragments", base=base)
    if has_gaps := fragments["fragments"].null_count() < both.height:
        part = pl.element().struct
        gap = pl.format("{}:{}", part.field("start"), part.field("end"))
        lists = both["fragments"].rechunk()  # Polars formats no lists of several chunks
        texts = lists.list.eval(gap).list.join(" ").rank("dense")
        span = combine(span, texts.fill_null(0).cast(pl.Int64).to_numpy())
    key = combine(span, label)
    every = Units(document, start, end, label, span, key, both["at"].to_numpy())

    def of_side(number: int) -> Units:
        own = np.flatnonzero(both["side"].to_numpy() == number)
        if unique and not (np.diff(key[own]) > 0).all():
            own = own[pl.Series(key[own]).is_first_distinct().to_numpy()]
        if by_position and (np.diff(key[own]) < 0).any():
            own = own[np.argsort(key[own], kind="stable")]
        units = every.take(own)
        return replace(units, parts=_parts(units, fragments[own])) if has_gaps else units

    return Sides(of_side(0), of_side(1), tuple(names), ignored, bases)


def combine(first: Whole, second: Whole) -> Whole:
    """A number for each pair of numbers, equal where both are.

    Examples:
        >>> combine(np.array([3, 3, 4]), np.array([1, 2, 1])).tolist()
        [6, 7, 8]
    """
    if not len(first):
        return first
    second = second - second.min()
    many = int(second.max()) + 1
    if (int(first.max()) + 1) * many > _LARGE:
        first = pl.Series(first).rank("dense").cast(pl.Int64).to_numpy()
    return first * many + second


_LARGE = 2**62


def _parts(units: Units, fragments: pl.DataFrame) -> tuple[Whole, Whole, Whole]:
    """The fragments of units: the index of the unit, start and end."""
    whole = pl.DataFrame({"index": np.arange(len(units)), "start": units.start, "end": units.end})
    gaps = fragments["fragments"].is_not_null()
    parts = fragments.with_columns(index=whole["index"]).filter(gaps).explode("fragments")
    field, base = pl.col("fragments").struct.field, pl.col("base")
    parts = parts.select("index", start=field("start") + base, end=field("end") + base)
    every = pl.concat([whole.filter(~gaps), parts])
    index, start, end = (every[name].to_numpy() for name in ("index", "start", "end"))
    return index, start, end


def equal_pairs(left: Whole, right: Whole) -> Pairs:
    """Pairs of equal numbers: the first with the first, the second with the second.

    Examples:
        >>> pairs = equal_pairs(np.array([5, 7, 7]), np.array([7, 5, 9]))
        >>> pairs.left.tolist(), pairs.right.tolist()
        ([0, 1], [1, 0])
    """
    both = np.concatenate([left, right])
    order = np.argsort(both, kind="stable")  # linear where both sides are in order
    ordered, is_left = both[order], order < len(left)
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)])
    ours = np.add.reduceat(is_left, begins, dtype=np.int64) if len(begins) else begins
    sizes = np.diff(np.r_[begins, len(ordered)])
    ordinal = np.arange(len(ordered)) - np.repeat(begins + ours, sizes)
    place = np.flatnonzero(~is_left & (ordinal < np.repeat(ours, sizes)))
    first = order[np.repeat(begins, sizes)[place] + ordinal[place]]
    in_order = np.argsort(first)
    return Pairs(first[in_order], order[place][in_order] - len(left))


def all_equal(left: Whole, right: Whole) -> Pairs:
    """All pairs of equal numbers.

    Examples:
        >>> all_equal(np.array([7, 7]), np.array([7, 5])).left.tolist()
        [0, 1]
    """
    tables = [
        pl.DataFrame({"number": numbers, name: np.arange(len(numbers))})
        for name, numbers in (("left", left), ("right", right))
    ]
    joined = tables[0].join(tables[1], on="number", maintain_order="left")
    return Pairs(joined["left"].to_numpy(), joined["right"].to_numpy())


def overlaps(left: Units, right: Units) -> tuple[Pairs, Whole]:
    """All pairs of units that share a character, and how many they share.

    It takes time by the number of these pairs, however spans lie within each other.

    Raises:
        CannotCount: for more than `MOST_PAIRS`, which would not fit into memory.
    """
    ours, theirs = left.pieces, right.pieces
    count = count_overlaps(ours[1], ours[2], theirs[1], theirs[2])
    if count > MOST_PAIRS:
        raise CannotCount(finding("GEN409", count=count, limit=MOST_PAIRS))
    pairs = [
        _starts_within(ours[1:], theirs[1:], "left"),
        _starts_within(theirs[1:], ours[1:], "right")[::-1],
    ]
    first, second = (np.concatenate(each) for each in zip(*pairs, strict=True))
    shared = np.minimum(ours[2][first], theirs[2][second]) - np.maximum(
        ours[1][first], theirs[1][second]
    )
    some = shared > 0
    index = Pairs(ours[0][first[some]], theirs[0][second[some]])
    shared = shared[some]
    if left.parts is not None or right.parts is not None:
        table = pl.DataFrame({"left": index.left, "right": index.right, "shared": shared})
        table = table.group_by("left", "right").sum()
        index = Pairs(table["left"].to_numpy(), table["right"].to_numpy())
        shared = table["shared"].to_numpy()
    order = np.lexsort(index)
    return Pairs(index.left[order], index.right[order]), shared[order]


#: The most pairs of spans that are compared, some 6 GB.
MOST_PAIRS = 25_000_000


def count_overlaps(starts: Whole, ends: Whole, other_starts: Whole, other_ends: Whole) -> int:
    """The number of pairs of stretches that share a part.

    Examples:
        >>> count_overlaps(*map(np.array, ([0, 5], [4, 9], [3, 9], [6, 12])))
        2
    """
    after = np.searchsorted(np.sort(other_ends), starts, "right")
    return int((np.searchsorted(np.sort(other_starts), ends, "left") - after).sum())


def _starts_within(
    outer: tuple[Whole, Whole], inner: tuple[Whole, Whole], side: Literal["left", "right"]
) -> tuple[Whole, Whole]:
    """The pairs whose second starts within the first: at its start too, if `side` is left."""
    order = np.argsort(inner[0], kind="stable")
    starts = inner[0][order]
    begin = np.searchsorted(starts, outer[0], side)
    count = np.maximum(np.searchsorted(starts, outer[1], "left") - begin, 0)
    first = np.repeat(np.arange(len(outer[0])), count)
    place = np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)
    return first, order[np.repeat(begin, count) + place]


def best(candidates: Pairs, weights: Whole) -> Mask:
    """Which candidates the one-to-one pairing with the greatest total of weights has."""
    return assign(candidates.left, candidates.right, weights)

"""The mapping of template sets, in the order of the specification's section "Mapping".

Instance sets go together by document or, where the system's text is not segmented, greedily among
those that overlap. Within them instances of one type are mapped greedily by the F-measure of their
slots, slots by name, a system's fill-alternative to the reference's of best F-measure, and single
fills greedily. Points are those of single fills, and add up through the levels.

Of pairs that are equally good the order decides: an instance that the reference requires before one
that is optional, then the order of the reference, then that of the system. A pair without a correct
point has the F-measure 0 and is taken when nothing else is left, and all single fills of a kind are
paired until one side has none left: so only pairs that gain points are looked at (`candidates`).

Conventions:
    A "pair" is a reference instance beside a system's; one of the two is null where an instance
    is mapped to nothing. `at` is a slot of a pair and `which` an alternative of a slot of a pair,
    as numbers; the two sides number their slots alike. F-measures are quotients of small
    integers: equal ones are equal as floats, and different ones differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.hub4.candidates import LINK, MAPPED, Candidates, Instances, Mode, gain, spans
from hlteval.scoring.hub4.normalizer import TextNormalizer
from hlteval.scoring.hub4.templettes import Side, compared_side, numbered
from hlteval.scoring.hub4.text_columns import Scale, TextPair

MODES: tuple[Mode, ...] = ("content", "extent", "both")
POINTS = ("cor", "inc", "mis", "spu", "optional", "removed")
_TAKEN = {"type": pl.String, **MAPPED, "choice": pl.Float64}
_SCORED = {
    **dict.fromkeys(("set", "rank", "reference", "system", "cor"), pl.Int64),
    "type": pl.String,
    "is_optional": pl.Boolean,
    "f": pl.Float64,
}


def f_measure() -> pl.Expr:
    """The F-measure of beta 1 of the columns of points: 2 COR / (POS + ACT), and 0 for 0 / 0."""
    both = 2 * (pl.col("cor") + pl.col("inc")) + pl.col("mis") + pl.col("spu")
    return pl.when(both > 0).then(2 * pl.col("cor") / both).otherwise(0.0)


def greedy(rows: pl.DataFrame) -> pl.Series:
    """The "General Greedy Mapping Algorithm", over pairs that are sorted from best to worst.

    Args:
        rows: the columns of what pairs belong to, then the reference's object and the system's;
            rows that belong to the same are together.

    Returns:
        Whether each pair is chosen.

    Examples:
        >>> rows = pl.DataFrame({"set": [1, 1, 1], "r": [1, 1, 2], "s": [1, 2, 2]})
        >>> greedy(rows).to_list()
        [True, False, True]
    """
    *groups, reference, system = rows.columns
    number = pl.struct(groups).rle_id() if groups else pl.lit(0)
    chosen: list[bool] = []
    ours: set[int] = set()
    theirs: set[int] = set()
    current = None
    sorted_pairs = rows.with_columns(group=number).select("group", reference, system)
    for group, one, other in sorted_pairs.iter_rows():
        if group != current:
            ours, theirs, current = set(), set(), group
        free = one not in ours and other not in theirs
        chosen.append(free)
        if free:
            ours.add(one)
            theirs.add(other)
    return pl.Series("chosen", chosen, dtype=pl.Boolean)


# Mapping Instance Sets


@dataclass(frozen=True)
class InstanceSets:
    """Two sides, and which of their instance sets can be mapped.

    Attributes:
        reference: the reference.
        system: the system.
        pairs: `set`, `reference`, `system`: documents; one is null where a set is left over.
        settled: whether these are the mapping, and not only what overlaps.
        names: the name of each document of either side: `document`, `name`.
    """

    reference: Side
    system: Side
    pairs: pl.DataFrame
    settled: bool
    names: tuple[pl.DataFrame, pl.DataFrame]

    def parts(self, size: int) -> Iterator[InstanceSets]:
        """Some sets at a time, in order; all at once where it is not settled what is mapped."""
        if not self.settled or self.pairs.height <= size:
            yield self
            return
        for pairs in self.pairs.iter_slices(size):
            sides = self.reference.of(pairs["reference"]), self.system.of(pairs["system"])
            yield replace(self, reference=sides[0], system=sides[1], pairs=pairs)

    def named(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Pairs of sets with the names of their documents: `document`, `document_system`."""
        for side, names in zip(("reference", "system"), self.names, strict=True):
            pairs = pairs.join(names, left_on=side, right_on="document", how="left")
            pairs = pairs.rename({"name": "document" if side == "reference" else "document_system"})
        return pairs.select("set", "document", "document_system")

    def chosen(self, points: pl.DataFrame) -> pl.DataFrame:
        """The mapping of sets that overlap, greedily by the F-measure of the points of each.

        Args:
            points: `set` and the points of its instances, a row per pair of instances.
        """
        counted = ("cor", "inc", "mis", "spu")
        sums = points.group_by("set").agg(pl.col(*counted).sum())
        rows = self.pairs.join(sums, on="set", how="left")
        rows = rows.with_columns(pl.col(*counted).fill_null(0)).with_columns(f=f_measure())
        for side, name in ((self.reference, "reference"), (self.system, "system")):
            rows = rows.join(side.order, left_on=name, right_on="document", suffix="_system")
        rows = rows.sort("f", "order", "order_system", descending=[True, False, False])
        rows = rows.select("reference", "system")
        return _with_rest(rows.filter(greedy(rows)), self.reference, self.system)


def segmented(
    reference: Corpus,
    system: Corpus,
    normalizers: tuple[TextNormalizer, TextNormalizer],
    unscored: tuple[str, ...],
    texts: TextPair | None,
) -> InstanceSets:
    """The sets of two corpora whose documents are numbered alike, mapped by document.

    Args:
        reference: the reference.
        system: the system.
        normalizers: how the strings of the reference and the system are normalised.
        unscored: slots without points.
        texts: the texts of both sides, where extents are compared by their alignment.
    """
    names = _names(reference), _names(system)
    scales: tuple[dict[int, Scale] | None, dict[int, Scale] | None] = None, None
    if texts is not None:
        both = names[0].join(names[1], on="document", suffix="_system")
        pairs = texts.scales(both.select("name", "name_system").iter_rows())
        known = [(row, pair) for row, pair in zip(both["document"], pairs, strict=True) if pair]
        scales = {row: pair[0] for row, pair in known}, {row: pair[1] for row, pair in known}
    ours, theirs = numbered(
        compared_side(reference, normalizers[0], unscored, scales=scales[0]),
        compared_side(system, normalizers[1], unscored, first_only=True, scales=scales[1]),
    )
    same = theirs.order.select("document", system="document")
    mapped = ours.order.join(same, on="document").select("system", reference="document")
    return InstanceSets(ours, theirs, _with_rest(mapped, ours, theirs), True, names)


def unsegmented(
    reference: Corpus,
    system: Corpus,
    normalizers: tuple[TextNormalizer, TextNormalizer],
    unscored: tuple[str, ...],
    texts: TextPair,
    *,
    align: bool,
) -> InstanceSets:
    """The sets of a reference and of a system without documents, as far as they overlap.

    A set of the system reaches from the smallest to the largest offset of its text fills, one of
    the reference over its document, both counted from the beginning of the corpus.

    Args:
        reference: the reference.
        system: the system; its offsets count from the beginning of its text.
        normalizers: how the strings of the reference and the system are normalised.
        unscored: slots without points.
        texts: the texts of the reference; for `align`, of the system as well.
        align: whether offsets are compared by the alignment of the texts.
    """
    names = _names(reference), _names(system)
    placed = [
        (document, text.start, text.start + len(text.text))
        for document, name in names[0].iter_rows()
        if (text := texts.reference.get(name)) is not None
    ]
    scales: list[dict[int, Scale] | None] = [None, None]
    extents = np.array(placed, dtype=np.int64).reshape(-1, 3)
    if align and (whole := texts.whole()) is not None:
        rows = (side["document"].to_list() for side in names)
        scales = [dict.fromkeys(each, scale) for each, scale in zip(rows, whole, strict=True)]
        extents[:, 1], extents[:, 2] = whole[0].renumbered(extents[:, 1], extents[:, 2])
    starts = {document: start for document, start, _ in placed}
    ours, theirs = numbered(
        compared_side(reference, normalizers[0], unscored, offsets=starts, scales=scales[0]),
        compared_side(system, normalizers[1], unscored, first_only=True, scales=scales[1]),
    )
    # Ends that touch overlap. Documents may lie inside each other: of those before one, the end
    # that is farthest counts.
    extents = extents[np.argsort(extents[:, 1], kind="stable")]
    ends, sets = np.maximum.accumulate(extents[:, 2]), theirs.whole
    first = np.searchsorted(ends, sets["start"].to_numpy(), side="left")
    last = np.searchsorted(extents[:, 1], sets["end"].to_numpy(), side="right")
    number, place = spans(first, last)
    both = {"reference": extents[place, 0], "system": sets["document"].to_numpy()[number]}
    pairs = pl.DataFrame(both, {"reference": pl.Int64, "system": pl.Int64})
    pairs = pairs.join(ours.order.select(reference="document"), on="reference", how="semi")
    pairs = pairs.with_columns(set=pl.int_range(pl.len(), dtype=pl.Int64)).select(*MAPPED)
    return InstanceSets(ours, theirs, pairs, False, names)


def _names(corpus: Corpus) -> pl.DataFrame:
    return corpus.documents.select(document="row", name="name")


def _with_rest(both: pl.DataFrame, ours: Side, theirs: Side) -> pl.DataFrame:
    """Pairs of sets, then the sets of either side that are in none, numbered."""
    left = ours.order.select(reference="document").join(both, on="reference", how="anti")
    right = theirs.order.select(system="document").join(both, on="system", how="anti")
    rows = pl.concat([both, left, right], how="diagonal")
    return rows.with_columns(set=pl.int_range(pl.len(), dtype=pl.Int64)).select(*MAPPED)


# Mapping Instances


@dataclass(frozen=True)
class Mapping:
    """How a reference and a system are mapped in a mode.

    Attributes:
        sets: `set`, `reference`, `system`: documents; one is null where a set is left over.
        pairs: `pair`, `set`, `reference`, `system`, `type`, points, `f` and `choice`: every
            instance of either side but those that are removed.
        removed: `set`, `reference`: the optional instances that are mapped to nothing.
        evaluation: the points of the slots of `pairs`.
        fills: what was looked at.
        scored: the pairs with a correct point among which the greedy algorithm chose: `set`,
            `type`, `rank` (when the type was mapped), `reference`, `system`, `cor` and `f`.
    """

    sets: pl.DataFrame
    pairs: pl.DataFrame
    removed: pl.DataFrame
    evaluation: Evaluation
    fills: Candidates
    scored: pl.DataFrame


def instance_mapping(possible: Instances, mode: Mode) -> Mapping:
    """Map the instances of each set, one type after the other, by the greedy algorithm.

    Whether a pointer is correct depends on how what it points to is mapped: types that others point
    to come first, and slots that point to what is not mapped yet count only when all is mapped.
    """
    optional = possible.ours.filter("is_optional")
    optional = optional.join(possible.ranks, on=["set", "type"], how="left")
    optional = optional.select("set", "reference", rank=pl.col("rank").fill_null(-1))
    mapped, scored = pl.DataFrame(schema=_TAKEN), [pl.DataFrame(schema=_SCORED)]
    for rank in sorted(possible.ranks["rank"].unique()):
        before = optional.filter(pl.col("rank") < rank)
        removed = before.join(mapped, on=["set", "reference"], how="anti")
        # 1. All pairs with a correct point, with their F-measure.
        candidates = possible.gaining(rank, mapped, mode)
        points = evaluation(candidates, mapped, removed, mode)
        pairs = _with_points(candidates.pairs, points).filter(pl.col("cor") > 0)
        # 2. and 3. The best pair, then the best of those that are left, and so on.
        order = ["set", "type", "f", "is_optional", "reference", "system"]
        pairs = pairs.select(*_SCORED).sort(order, descending=[name == "f" for name in order])
        best = pairs.filter(greedy(pairs.select("set", "type", "reference", "system")))
        best = best.select("type", *MAPPED, choice="f")
        mapped = pl.concat([mapped, best, possible.left_over(rank, best)])
        scored.append(pairs)
    removed = optional.join(mapped, on=["set", "reference"], how="anti").select("set", "reference")
    final = possible.beside(mapped, removed)
    points = evaluation(final, mapped, removed, mode)
    pairs = _with_points(final.pairs, points)
    return Mapping(possible.sets, pairs, removed, points, final, pl.concat(scored))


def _with_points(pairs: pl.DataFrame, points: Evaluation) -> pl.DataFrame:
    """The pairs with the sums of the points of their slots, and their F-measure."""
    sums = points.slots.group_by("pair").agg(pl.col(*POINTS).sum())
    rows = pairs.join(sums, on="pair", how="left", maintain_order="left")
    return rows.with_columns(pl.col(*POINTS).fill_null(0)).with_columns(f=f_measure())


# Mapping Slots, Fill-Alternatives and Single Fills


class Evaluation(NamedTuple):
    """The points of pairs of instances.

    Attributes:
        slots: `pair`, `at`, `alternative` (of the reference; null where a side has none) and
            `POINTS`.
        links: the pairs of fills that gain points: `at`, `which`, `fill`, `fill_system`, `gain`.
        dropped: the pointers of the reference that are removed: `at`, `which`, `fill`, `target`.
    """

    slots: pl.DataFrame
    links: pl.DataFrame
    dropped: pl.DataFrame


def evaluation(
    candidates: Candidates, mapped: pl.DataFrame, removed: pl.DataFrame, mode: Mode
) -> Evaluation:
    """The points of pairs of instances, by what is decided about those they point to.

    Args:
        candidates: the pairs with their fills.
        mapped: `set`, `reference`, `system`: the instances that are mapped to each other.
        removed: `set`, `reference`: the optional instances that are mapped to nothing.
        mode: what single fills are compared by.
    """
    weight = 2 if mode == "both" else 1
    # Pointers to removed instances do not count; an alternative that has nothing else is none.
    gone = removed.select("set", target="reference")
    dropped = candidates.pointers.join(gone, on=["set", "target"], how="semi")
    counts = dropped.group_by("which").agg(gone=pl.len().cast(pl.Int64))
    alternatives = candidates.alternatives.join(counts, on="which", how="left")
    alternatives = alternatives.with_columns(pl.col("pointers") - pl.col("gone").fill_null(0))
    alternatives = alternatives.filter(pl.col("texts") + pl.col("pointers") > 0)
    links = _single_fills(candidates, mapped, dropped, mode)
    correct = links.group_by("which").agg(cor=pl.col("gain").sum())
    # Slots go together by name, and all fills of a kind are paired until one side has none left.
    both = alternatives.join(correct, on="which", how="left").join(
        candidates.answers.with_columns(answered=True),
        on=["pair", "at"],
        how="full",
        suffix="_system",
        coalesce=True,
    )
    counted = ("texts", "pointers", "texts_system", "pointers_system", "cor")
    both = both.with_columns(
        pl.col(*counted).fill_null(0), pl.col("slot_optional", "answered").fill_null(False)
    )
    texts = pl.min_horizontal("texts", "texts_system")
    pointers = pl.min_horizontal("pointers", "pointers_system")
    texts_left, pointers_left = weight * (pl.col("texts") - texts), pl.col("pointers") - pointers
    # Of an optional slot without an answer nothing is missing, of another no pointer.
    spared = pl.when(~pl.col("answered")).then(texts_left + pointers_left).otherwise(pointers_left)
    spared = pl.when("slot_optional").then(spared).otherwise(0)
    rows = both.select(
        *("pair", "at", "alternative", "cor", "answered"),
        inc=weight * texts + pointers - pl.col("cor"),
        mis=texts_left + pointers_left - spared,
        spu=weight * (pl.col("texts_system") - texts) + pl.col("pointers_system") - pointers,
        optional=spared,
    )
    lost = dropped.group_by("pair", "at").agg(removed=pl.col("target").n_unique())
    slots = _best_alternatives(rows).join(lost, on=["pair", "at"], how="full", coalesce=True)
    points = [pl.col(name).fill_null(0).cast(pl.Int64) for name in POINTS]
    slots = slots.select("pair", "at", "alternative", *points)
    return Evaluation(slots, links, dropped.select("at", "which", "fill", "target"))


def _best_alternatives(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each slot the alternative of best F-measure.

    Of equal ones the one with fewest possible points that still has as many as the system has
    actual ones, so of a slot without an answer the cheapest; otherwise the first.
    """
    several = rows["at"].is_duplicated()
    if not several.any():
        return rows
    silent = pl.when("answered").then(0).otherwise("optional")
    right = pl.col("cor") + pl.col("inc")
    equal = rows.filter(several).with_columns(
        f=f_measure(), pos=right + pl.col("mis") + silent, act=right + pl.col("spu")
    )
    equal = equal.filter(pl.col("f") == pl.col("f").max().over("at")).sort("at", "alternative")
    short = (pl.col("pos") < pl.col("act")).first().over("at")
    first = pl.col("alternative") == pl.col("alternative").first().over("at")
    equal = equal.filter(pl.when(short).then(first).otherwise(pl.col("pos") >= pl.col("act")))
    equal = equal.sort("at", "pos", "alternative").unique("at", keep="first")
    return pl.concat([rows.filter(~several), equal.select(rows.columns)])


def _single_fills(
    candidates: Candidates, mapped: pl.DataFrame, dropped: pl.DataFrame, mode: Mode
) -> pl.DataFrame:
    """The pairs of single fills that the greedy algorithm takes, as far as they gain points.

    A pair of texts has the points of its content and extent, a pair of pointers one if the
    instances that they refer to are mapped to each other.
    """
    points = gain(mode)
    texts = candidates.texts.select(*LINK, gain=points, good=points).filter(pl.col("gain") > 0)
    targets = mapped.select("set", target="reference", other="system")
    pointers = candidates.pointers.join(dropped, on=["which", "fill"], how="anti")
    pointers = pointers.join(targets, on=["set", "target"]).join(
        candidates.pointers_system.drop("pair"),
        left_on=["at", "other"],
        right_on=["at", "target"],
        suffix="_system",
    )
    # Whether a text gains 1 of 2 or 2 of 2 points, or a pointer 1 of 1, orders as F does.
    most = pl.lit(2 if mode == "both" else 1, pl.Int64)
    rows = pl.concat([texts, pointers.select(*LINK, gain=pl.lit(1, pl.Int64), good=most)])
    twice = rows.select(
        pl.struct("which", "fill").is_duplicated()
        | pl.struct("which", "fill_system").is_duplicated()
    ).to_series()
    order = ["which", "good", "position", "position_system"]
    contested = rows.filter(twice).sort(order, descending=[name == "good" for name in order])
    best = contested.filter(greedy(contested.select("which", "fill", "fill_system")))
    links = pl.concat([rows.filter(~twice), best])
    return links.select("at", "which", "fill", "fill_system", "gain")

"""The mapping of template sets: instance sets, and instances within them.

The specification's "Mapping Instance Sets" and "Mapping Instances": sets go together by document,
or, where the system's text is not segmented, greedily among those that overlap; instances of one
type are mapped greedily by the F-measure of their scored slots. Of pairs that are equally good the
order decides: an instance that the reference requires before one that is optional, then the order
of the reference, then that of the system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.hub4.fill_match import Candidates, Fills
from hlteval.scoring.hub4.normalizer import TextNormalizer
from hlteval.scoring.hub4.points import (
    Evaluation,
    GainingTexts,
    Known,
    Mode,
    evaluated,
    f_measure,
    gained,
    greedy,
    pointing,
)
from hlteval.scoring.hub4.templettes import Side, compared_side, numbered
from hlteval.scoring.hub4.text_columns import Scale, TextPair
from hlteval.scoring.matching import best_places

# The order in which types are mapped: those that others point to come first.
#
# Whether a pointer is correct depends on how the instances it leads to are mapped, so types are
# mapped from the bottom up. Types that point to each other in a circle are mapped together; the
# slots with such pointers are left out then, and count only when all is mapped.


_SOURCE, _TARGET = ["set", "type"], ["set", "target_type"]


def ranked(types: pl.DataFrame, pointing: pl.DataFrame, given: Sequence[str] = ()) -> pl.DataFrame:
    """When each type of each set is mapped.

    Args:
        types: `set`, `type`: the types that both sides have.
        pointing: `set`, `type`, `target_type`: which types point to which.
        given: an order to keep to; types that it does not name come before those it does.

    Returns:
        The types with `rank`, from 0.

    Examples:
        >>> types = pl.DataFrame({"set": [1, 1], "type": ["TEMPLATE", "BREAD"]})
        >>> pointing = pl.DataFrame({"set": 1, "type": "TEMPLATE", "target_type": "BREAD"})
        >>> ranked(types, pointing).sort("rank")["type"].to_list()
        ['BREAD', 'TEMPLATE']
    """
    if given:
        places = pl.DataFrame({"type": list(given), "rank": range(1, len(given) + 1)})
        places = places.with_columns(pl.col("type").cast(pl.String), pl.col("rank").cast(pl.Int64))
        ranks = types.join(places, on="type", how="left", maintain_order="left")
        return ranks.with_columns(pl.col("rank").fill_null(0))
    left = types
    edges = pointing.unique().join(types, on=_SOURCE, how="semi")
    edges = edges.join(types, left_on=_TARGET, right_on=_SOURCE, how="semi")
    done, rank = [types.clear().with_columns(rank=pl.lit(0, pl.Int64))], 0
    while not left.is_empty():
        ready = left.join(edges, on=_SOURCE, how="anti")
        if ready.is_empty():
            ready = _circles(left, edges)
        done.append(ready.with_columns(rank=pl.lit(rank, pl.Int64)))
        left = left.join(ready, on=_SOURCE, how="anti")
        edges = edges.join(ready, left_on=_TARGET, right_on=_SOURCE, how="anti")
        rank += 1
    return pl.concat(done)


def _circles(types: pl.DataFrame, edges: pl.DataFrame) -> pl.DataFrame:
    """The types that all types they lead to lead back to."""
    leading: dict[tuple[int, str], list[str]] = {}
    for number, source, target in edges.sort(edges.columns).iter_rows():
        leading.setdefault((number, source), []).append(target)
    reached = {
        (number, name): _reached(leading, number, name) for number, name in types.iter_rows()
    }
    bottom = [
        {"set": number, "type": name}
        for (number, name), names in reached.items()
        if all(name in reached[number, other] for other in names)
    ]
    return pl.DataFrame(bottom, schema=types.schema)


def _reached(leading: dict[tuple[int, str], list[str]], number: int, name: str) -> set[str]:
    seen: set[str] = set()
    left = [name]
    while left:
        for target in leading.get((number, left.pop()), ()):
            if target not in seen:
                seen.add(target)
                left.append(target)
    return seen


ZeroF = Literal["map", "skip-optional", "skip"]
#: The type of the instance that ties a set together; it is mapped whatever its F-measure is.
TEMPLATE = "TEMPLATE"
#: Pairs of instances among which those that gain points are looked for together.
BLOCK = 200_000
#: Pairs of instances whose correct texts are kept for the next mode.
KEPT = 10 * BLOCK
_MAPPED = {"set": pl.Int64, "reference": pl.Int64, "system": pl.Int64}
_TAKEN = {"type": pl.String, **_MAPPED, "choice": pl.Float64}
_SCORED = {
    "type": pl.String,
    **_MAPPED,
    "is_optional": pl.Boolean,
    "cor": pl.Int64,
    "f": pl.Float64,
}


@dataclass(frozen=True)
class Policy:
    """What the specification leaves open.

    Attributes:
        zero_f: whether pairs without a correct point are mapped: always (`map`, as the algorithm
            says), not if the reference's instance is optional, or never (`skip`).
        type_order: the types in the order in which they are mapped; by what points to what if
            empty.
        fillers: for noisy data, the words that are optional in a reference.
        top: the type of the instance that ties a set together.
    """

    zero_f: ZeroF = "map"
    type_order: tuple[str, ...] = ()
    fillers: tuple[str, ...] | None = None
    top: str = TEMPLATE


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
        groups: `set`, `type`, `rank`, `cor` and `best`: when the type was mapped, and the correct
            points of the instances mapped by the greedy algorithm, and of the mapping that has
            most.
    """

    sets: pl.DataFrame
    pairs: pl.DataFrame
    removed: pl.DataFrame
    evaluation: Evaluation
    fills: Candidates
    groups: pl.DataFrame


class Mapper:
    """The instances of two sides that could be mapped, their texts compared once for all modes.

    Args:
        reference: the reference.
        system: the system, its slots numbered as the reference's.
        sets: `set`, `reference`, `system`: the documents whose instances are mapped.
        policy: what the specification leaves open.
    """

    def __init__(self, reference: Side, system: Side, sets: pl.DataFrame, policy: Policy) -> None:
        self.reference, self.system, self.sets, self.policy = reference, system, sets, policy
        self._ours = self._members(reference, "reference")
        self._theirs = self._members(system, "system").drop("is_optional")
        self._fills = Fills(reference, system, policy.fillers)
        numbers = self._theirs.group_by("set", "type").agg(pairs=pl.len().cast(pl.Int64))
        both = self._ours.join(numbers, on=["set", "type"], maintain_order="left")
        self._pointing = self._pointers()
        types = both.select("set", "type").unique(maintain_order=True)
        self._ranks = ranked(types, self._pointing.drop("place"), policy.type_order)
        self._early = self._too_early()
        both = both.join(self._ranks, on=["set", "type"], maintain_order="left")
        self._both = both.with_columns(block=pl.col("pairs").cum_sum().over("rank") // BLOCK)
        self._texts = GainingTexts(self._fills, self._ours, self._theirs)
        self._kept: dict[tuple[int, int], pl.DataFrame] | None = None
        if int(self._both["pairs"].sum()) <= KEPT:
            self._kept = {}

    def _members(self, side: Side, name: str) -> pl.DataFrame:
        """The instances of the sets of a side."""
        sets = self.sets.select("set", document=name).drop_nulls("document")
        members = sets.join(side.instances, on="document", maintain_order="left_right")
        return members.select("set", "type", "is_optional", pl.col("instance").alias(name))

    def _pointers(self) -> pl.DataFrame:
        """Which types point to which in which slots, by set."""
        parts = []
        for side, name in ((self.reference, "reference"), (self.system, "system")):
            sets = self.sets.select("set", document=name).drop_nulls("document")
            keys = ["type", "place", "target_type"]
            named = side.fills.drop_nulls("target").unique(["document", *keys])
            parts.append(sets.join(named, on="document").select("set", *keys))
        return pl.concat(parts).unique()

    def mapped(self, mode: Mode) -> Mapping:
        """The mapping in a mode."""
        optional = self._ours.filter("is_optional").select("set", "type", "reference")
        optional = optional.join(self._ranks, on=["set", "type"], how="left")
        optional = optional.with_columns(pl.col("rank").fill_null(-1))
        decided, groups, chosen = pl.DataFrame(schema=_MAPPED), [], [pl.DataFrame(schema=_TAKEN)]
        for rank in self._order:
            known = Known(decided, _unmapped(optional.filter(pl.col("rank") < rank), decided))
            scored = pl.concat(self._scored(rank, known, mode))
            taken = self._taken(scored, rank)
            groups.append(_losses(scored, taken).with_columns(rank=pl.lit(rank, pl.Int64)))
            chosen.append(taken)
            decided = pl.concat([decided, taken.select(*_MAPPED)])
        known = Known(decided, _unmapped(optional, decided))
        final = self._final(pl.concat(chosen), known)
        evaluation = evaluated(final, known, mode)
        pairs = evaluation.pairs(final.pairs)
        return Mapping(self.sets, pairs, known.removed, evaluation, final, _joined(groups))

    @property
    def _order(self) -> list[int]:
        """The ranks in which types are mapped."""
        return sorted(self._ranks["rank"].unique())

    def _too_early(self) -> pl.DataFrame:
        """The slots that point to what is mapped at the same time or later, by set and type."""
        target = self._ranks.rename({"type": "target_type", "rank": "target_rank"})
        pointing = self._pointing.join(self._ranks, on=["set", "type"])
        pointing = pointing.join(target, on=["set", "target_type"])
        early = pointing.filter(pl.col("target_rank") >= pl.col("rank"))
        return early.select("set", "type", "place").unique()

    def _scored(self, rank: int, known: Known, mode: Mode) -> Iterator[pl.DataFrame]:
        """The pairs of a rank that gain points in a mode, some at a time: memory is limited."""
        yield pl.DataFrame(schema=_SCORED)
        for ours in self._both.filter(rank=rank).partition_by("block", maintain_order=True):
            given = self._gaining(ours, known, mode)
            if not given.pairs.is_empty():
                pairs = evaluated(given, known, mode).pairs(given.pairs)
                yield pairs.filter(pl.col("cor") > 0).select(*_SCORED)

    def _gaining(self, ours: pl.DataFrame, known: Known, mode: Mode) -> Candidates:
        """The pairs of some instances of the reference that gain points in a mode."""
        correct = self._correct(ours)
        texts = correct.filter(gained(mode) > 0)
        found = [texts, pointing(self._fills, ours, self._theirs, known)]
        both = pl.concat(rows.select(*_MAPPED) for rows in found).unique()
        optional = ours.select("set", "type", "reference", "is_optional")
        pairs = both.join(optional, on=["set", "reference"])
        pairs = pairs.with_columns(pair=pl.int_range(pl.len(), dtype=pl.Int64))
        given = self._fills.with_texts(pairs, texts)
        early = pairs.join(self._early, on=["set", "type"])
        return given if early.is_empty() else given.without(early.select(at=self._fills.at()))

    def _correct(self, ours: pl.DataFrame) -> pl.DataFrame:
        """The correct pairs of texts, found once, or where there are very many, in each mode."""
        if self._kept is None:
            return self._texts.correct(ours)
        key = ours.select("rank", "block").row(0)
        if key not in self._kept:
            self._kept[key] = self._texts.correct(ours)
        return self._kept[key]

    def _taken(self, scored: pl.DataFrame, rank: int) -> pl.DataFrame:
        """The pairs that the greedy algorithm takes."""
        order = ["set", "type", "f", "is_optional", "reference", "system"]
        better = scored.sort(order, descending=[name == "f" for name in order])
        better = better.filter(greedy(better.select("set", "type", "reference", "system")))
        taken = better.select("type", *_MAPPED, choice="f")
        return pl.concat([taken, self._left_over(rank, taken)])

    def _left_over(self, rank: int, taken: pl.DataFrame) -> pl.DataFrame:
        """The pairs without a correct point that the greedy algorithm takes after all others.

        Each instance that is left could be mapped to any other that is left, so that they are
        mapped in their order.
        """
        tied = pl.col("type") == self.policy.top
        ours = self._both.filter(rank=rank)
        if self.policy.zero_f == "skip":
            ours = ours.filter(tied)
        elif self.policy.zero_f == "skip-optional":
            ours = ours.filter(tied | ~pl.col("is_optional"))
        group = ["set", "type"]
        sides = []
        for side, rows, order in (
            ("reference", ours, ["is_optional", "reference"]),
            ("system", self._theirs, ["system"]),
        ):
            left = rows.select(*group, *order).join(taken, on=[*group, side], how="anti")
            left = left.sort(*group, *order)
            sides.append(left.with_columns(number=pl.int_range(pl.len()).over(group)))
        found = sides[0].join(sides[1], on=[*group, "number"])
        return found.select("type", *_MAPPED, choice=pl.lit(0.0))

    def _final(self, taken: pl.DataFrame, known: Known) -> Candidates:
        """The pairs that are mapped, and every other instance beside nothing."""
        missing, spurious = (
            members.join(taken.select("set", side), on=["set", side], how="anti")
            .select("set", "type", side)
            .sort("set", side)
            for members, side in ((self._ours, "reference"), (self._theirs, "system"))
        )
        missing = missing.join(known.removed, on=["set", "reference"], how="anti")
        alone = pl.concat([missing, spurious], how="diagonal")
        pairs = pl.concat([taken, alone], how="diagonal")
        return self._fills.beside(pairs.with_columns(pair=pl.int_range(pl.len(), dtype=pl.Int64)))


def _unmapped(optional: pl.DataFrame, decided: pl.DataFrame) -> pl.DataFrame:
    rows = optional.select("set", "reference")
    return rows.join(decided, on=["set", "reference"], how="anti", maintain_order="left")


def _losses(scored: pl.DataFrame, taken: pl.DataFrame) -> pl.DataFrame:
    """By set and type: the correct points of the pairs that were taken, and of the best mapping."""
    group = ["set", "type"]
    points = scored.select(*group, "reference", "system", "cor")
    greedily = points.join(taken, on=["set", "reference", "system"], how="semi")
    sums = greedily.group_by(group).agg(pl.col("cor").sum())
    # No mapping has more than the best of each row, or of each column.
    limits = [
        points.group_by(*group, side)
        .agg(pl.col("cor").max())
        .group_by(group)
        .agg(pl.col("cor").sum().alias(side))
        for side in ("reference", "system")
    ]
    limit = limits[0].join(limits[1], on=group).join(sums, on=group, how="left")
    limit = limit.with_columns(pl.col("cor").fill_null(0), pl.min_horizontal("reference", "system"))
    open_ = limit.filter(pl.col("reference") > pl.col("cor"))
    if open_.is_empty():
        return limit.select(*group, "cor", best="cor").sort(group)
    some = points.join(open_.select(group), on=group, how="semi")
    rows = limit.select(*group, "cor").join(_best(some), on=group, how="left")
    return rows.with_columns(best=pl.coalesce("best", "cor")).sort(group)


def _best(pairs: pl.DataFrame) -> pl.DataFrame:
    """By set and type, the most correct points that a one-to-one mapping can have."""
    group = ["set", "type"]
    numbered = pairs.sort(group).with_columns(
        pl.col(side).rank("dense").over(group).cast(pl.Int64) - 1
        for side in ("reference", "system")
    )
    groups = numbered.group_by(group, maintain_order=True).agg("reference", "system", "cor")
    tables = [_table(*row) for row in groups.drop(group).iter_rows()]
    compiled = sum(table.size * min(*table.shape) for table in tables) > _MOST_STEPS
    best = [_most(table, compiled=compiled) for table in tables]
    return groups.select(*group, best=pl.Series(best, dtype=pl.Int64))


#: The most steps of assignments that take less time than loading SciPy.
_MOST_STEPS = 300_000


def _table(rows: list[int], columns: list[int], points: list[int]) -> npt.NDArray[np.int64]:
    """The points of each row with each column."""
    table = np.zeros((max(rows) + 1, max(columns) + 1), dtype=np.int64)
    table[rows, columns] = points
    return table


def _most(table: npt.NDArray[np.int64], *, compiled: bool) -> int:
    """The most points of a one-to-one mapping of rows and columns."""
    places = best_places(table, compiled=compiled)
    return sum(int(table[place]) for place in places)


def _joined(groups: list[pl.DataFrame]) -> pl.DataFrame:
    empty = pl.DataFrame(
        schema={
            "set": pl.Int64,
            "type": pl.String,
            "cor": pl.Int64,
            "best": pl.Int64,
            "rank": pl.Int64,
        }
    )
    return pl.concat([empty, *groups])


# Instance sets: which of the reference's and the system's can be mapped to each other.
#
# With segmented texts, sets of the same document are mapped. Otherwise a set of the system reaches
# from the smallest to the largest offset of its text fills, one of the reference over its document,
# both counted from the beginning of the corpus, and only sets that overlap may be mapped.


SETS = {"set": pl.Int64, "reference": pl.Int64, "system": pl.Int64}


@dataclass(frozen=True)
class TemplateSetMapping:
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

    def parts(self, size: int) -> Iterator[TemplateSetMapping]:
        """Some sets at a time, in order; all at once where it is not settled what is mapped."""
        if not self.settled or self.pairs.height <= size:
            yield self
            return
        for pairs in self.pairs.iter_slices(size):
            sides = self.reference.of(pairs["reference"]), self.system.of(pairs["system"])
            yield replace(self, reference=sides[0], system=sides[1], pairs=pairs)

    def chosen(self, points: pl.DataFrame) -> pl.DataFrame:
        """The mapping of sets that overlap, greedily by the F-measure of the points of each.

        Args:
            points: `set` and the points of its instances, a row per pair of instances.
        """
        sums = points.group_by("set").agg(pl.col("cor", "inc", "mis", "spu").sum())
        rows = self.pairs.join(sums, on="set", how="left").with_columns(
            pl.col("cor", "inc", "mis", "spu").fill_null(0)
        )
        rows = rows.with_columns(f=f_measure()).join(
            _order(self.reference), left_on="reference", right_on="document"
        )
        rows = rows.join(_order(self.system), left_on="system", right_on="document")
        rows = rows.sort("f", "order", "order_right", descending=[True, False, False])
        kept = rows.filter(greedy(rows.select("reference", "system")))
        return _with_rest(kept.select("reference", "system"), self.reference, self.system)


def segmented(
    reference: Corpus,
    system: Corpus,
    normalizers: tuple[TextNormalizer, TextNormalizer],
    unscored: tuple[str, ...],
    texts: TextPair | None,
) -> TemplateSetMapping:
    """The sets of two corpora whose documents are numbered alike, mapped by document.

    Args:
        reference: the reference.
        system: the system.
        normalizers: how the strings of the reference and the system are normalised.
        unscored: slots without points.
        texts: the texts of both sides, where extents are compared by their alignment.
    """
    names = _names(reference), _names(system)
    scales = (None, None) if texts is None else _scales(texts, names)
    ours = compared_side(reference, normalizers[0], unscored, scales=scales[0])
    theirs = compared_side(system, normalizers[1], unscored, first_only=True, scales=scales[1])
    ours, theirs = numbered(ours, theirs)
    both = (
        _order(ours)
        .select(reference="document")
        .join(
            _order(theirs).select(system="document"),
            left_on="reference",
            right_on="system",
            coalesce=False,
        )
    )
    return TemplateSetMapping(ours, theirs, _with_rest(both, ours, theirs), True, names)


def _scales(
    texts: TextPair, names: tuple[pl.DataFrame, pl.DataFrame]
) -> tuple[dict[int, Scale], dict[int, Scale]]:
    """The scales of the documents of both sides, by number."""
    both = names[0].join(names[1], on="document", suffix="_system")
    pairs = texts.scales(both.select("name", "name_system").iter_rows())
    known = [
        (document, pair) for document, pair in zip(both["document"], pairs, strict=True) if pair
    ]
    reference, system = ({document: pair[side] for document, pair in known} for side in (0, 1))
    return reference, system


def unsegmented(
    reference: Corpus,
    system: Corpus,
    normalizers: tuple[TextNormalizer, TextNormalizer],
    unscored: tuple[str, ...],
    texts: TextPair,
    *,
    align: bool,
) -> TemplateSetMapping:
    """The sets of a reference and of a system without documents, as far as they overlap.

    Args:
        reference: the reference.
        system: the system; its offsets count from the beginning of its text.
        normalizers: how the strings of the reference and the system are normalised.
        unscored: slots without points.
        texts: the texts of the reference; for `align`, of the system as well.
        align: whether offsets are compared by the alignment of the texts.
    """
    names = _names(reference), _names(system)
    scales = texts.whole() if align else None
    placed = [
        (document, text.start, text.start + len(text.text))
        for document, name in names[0].iter_rows()
        if (text := texts.reference.get(name)) is not None
    ]
    starts = {document: start for document, start, _ in placed}
    every = [
        None if scales is None else dict.fromkeys(_documents(corpus), scale)
        for corpus, scale in zip((reference, system), scales or (None, None), strict=True)
    ]
    ours = compared_side(reference, normalizers[0], unscored, offsets=starts, scales=every[0])  # type: ignore[arg-type]
    theirs = compared_side(system, normalizers[1], unscored, first_only=True, scales=every[1])  # type: ignore[arg-type]
    ours, theirs = numbered(ours, theirs)
    extents = np.array(placed, dtype=np.int64).reshape(-1, 3)
    if scales is not None:
        extents[:, 1], extents[:, 2] = scales[0].renumbered(extents[:, 1], extents[:, 2])
    both = _overlapping(extents, theirs.whole)
    both = both.join(_order(ours).select(reference="document"), on="reference", how="semi")
    pairs = both.with_columns(set=pl.int_range(pl.len(), dtype=pl.Int64)).select(*SETS)
    return TemplateSetMapping(ours, theirs, pairs, False, names)


def _overlapping(documents: np.ndarray, sets: pl.DataFrame) -> pl.DataFrame:
    """Which documents and sets overlap; ends that touch do."""
    documents = documents[np.argsort(documents[:, 1], kind="stable")]
    starts, ends = documents[:, 1], np.maximum.accumulate(documents[:, 2])
    first = np.searchsorted(ends, sets["start"].to_numpy(), side="left")
    last = np.searchsorted(starts, sets["end"].to_numpy(), side="right")
    counts = np.maximum(last - first, 0)
    rows = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    places = first[rows] + within
    return pl.DataFrame(
        {"reference": documents[places, 0], "system": sets["document"].to_numpy()[rows]},
        schema={"reference": pl.Int64, "system": pl.Int64},
    )


def _with_rest(both: pl.DataFrame, ours: Side, theirs: Side) -> pl.DataFrame:
    """Pairs of sets, then the sets of either side that are in none, numbered."""
    left = _order(ours).select(reference="document").join(both, on="reference", how="anti")
    right = _order(theirs).select(system="document").join(both, on="system", how="anti")
    rows = pl.concat([both, left, right], how="diagonal")
    return rows.with_columns(set=pl.int_range(pl.len(), dtype=pl.Int64)).select(*SETS)


def _order(one: Side) -> pl.DataFrame:
    """The sets of a side in the order of their first instances."""
    firsts = one.instances.group_by("document").agg(order=pl.col("instance").min())
    return firsts.sort("order")


def _names(corpus: Corpus) -> pl.DataFrame:
    return corpus.documents.select(document="row", name="name")


def _documents(corpus: Corpus) -> list[int]:
    return corpus.documents["row"].to_list()

"""Candidates: the pairs of instances that can gain points, and what they are given points for.

`mapping` says how instances are mapped; here is what makes it fast. A pair of instances without a
correct point has the F-measure 0, and is mapped when nothing else is left. So only the others are
looked at, and they are found by joins, not by trying all pairs: texts that are correct by content
by what they say, those correct by extent by where they stand, and pointers by what is mapped to
what. Texts are compared once for all modes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from hlteval.scoring.hub4.fill_match import TESTS, by_content, by_extent, compared
from hlteval.scoring.hub4.templettes import Side
from hlteval.scoring.hub4.word_alignment import Integers

Mode = Literal["content", "extent", "both"]
ZeroF = Literal["map", "skip-optional", "skip"]
#: The type of the instance that ties a set together; it is mapped whatever its F-measure is.
TEMPLATE = "TEMPLATE"
MAPPED = {"set": pl.Int64, "reference": pl.Int64, "system": pl.Int64}
SLOT = ("set", "type", "place")
LINK = ("pair", "at", "which", "fill", "fill_system", "position", "position_system")
WORDED = ("content", "start", "end", "whole", "whole_start")
_SAME = ("fill", "fill_system")
_WORDING = ("same", "same_system")


def gain(mode: Mode) -> pl.Expr:
    """The correct points of a pair of text fills, of its columns `content` and `extent`."""
    content, extent = (pl.col(name).cast(pl.Int64) for name in ("content", "extent"))
    return {"content": content, "extent": extent, "both": content + extent}[mode]


@dataclass(frozen=True)
class Policy:
    """The choices that the specification leaves open.

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
class Candidates:
    """Pairs of instances with all that is looked at to give them points.

    Attributes:
        pairs: `pair`, `set`, `reference`, `system`, `type`.
        alternatives: of the reference: `pair`, `at`, `which`, `alternative`, `slot_optional`, and
            how many `texts` and `pointers` it has.
        answers: the slots of the system: `pair`, `at`, `texts`, `pointers`.
        texts: pairs of text fills of the same slot: `LINK`, and whether they are correct by
            `content` and by `extent`; with their tests where all are compared.
        pointers: the pointers of the reference: `pair`, `at`, `which`, `fill`, `position`, `set`,
            `target`.
        pointers_system: those of the system: `pair`, `at`, `fill`, `position`, `target`.
    """

    pairs: pl.DataFrame
    alternatives: pl.DataFrame
    answers: pl.DataFrame
    texts: pl.DataFrame
    pointers: pl.DataFrame
    pointers_system: pl.DataFrame


@dataclass(frozen=True)
class Instances:
    """The instances of two sides that could be mapped.

    Attributes:
        reference: the reference.
        system: the system, its slots numbered as the reference's.
        sets: `set`, `reference`, `system`: the documents whose instances are mapped.
        policy: what the specification leaves open.
    """

    reference: Side
    system: Side
    sets: pl.DataFrame
    policy: Policy

    @cached_property
    def ours(self) -> pl.DataFrame:
        """The instances of the reference: `set`, `type`, `is_optional`, `reference`."""
        return self._in_sets("reference", self.reference.instances).select(
            "set", "type", "is_optional", reference="instance"
        )

    @cached_property
    def theirs(self) -> pl.DataFrame:
        """The instances of the system: `set`, `type`, `system`."""
        members = self._in_sets("system", self.system.instances)
        return members.select("set", "type", system="instance")

    def _in_sets(self, side: str, rows: pl.DataFrame) -> pl.DataFrame:
        """What the documents of one side have, with the number of their set."""
        sets = self.sets.select("set", document=side).drop_nulls("document")
        return sets.join(rows, on="document", maintain_order="left_right")

    @cached_property
    def ranks(self) -> pl.DataFrame:
        """When each type that both sides of a set have is mapped: `set`, `type`, `rank`."""
        types = self.ours.join(self.theirs, on=["set", "type"], how="semi", maintain_order="left")
        types = types.select("set", "type").unique(maintain_order=True)
        return type_ranks(types, self._pointing, self.policy.type_order)

    @cached_property
    def _pointing(self) -> pl.DataFrame:
        """Which types point to which in which slots: `set`, `type`, `place`, `target_type`."""
        keys = ["type", "place", "target_type"]
        tables = []
        for name, side in (("reference", self.reference), ("system", self.system)):
            pointers = side.fills.drop_nulls("target").unique(["document", *keys])
            tables.append(self._in_sets(name, pointers).select("set", *keys))
        return pl.concat(tables).unique()

    @cached_property
    def _early(self) -> pl.DataFrame:
        """The slots that point to what is mapped at the same time or later."""
        targets = self.ranks.rename({"type": "target_type", "rank": "target_rank"})
        pointing = self._pointing.join(self.ranks, on=["set", "type"])
        pointing = pointing.join(targets, on=["set", "target_type"])
        return pointing.filter(pl.col("target_rank") >= pl.col("rank")).select(SLOT).unique()

    @cached_property
    def _ranked(self) -> pl.DataFrame:
        """The instances of the reference whose type the system has too, with their ranks."""
        return self.ours.join(self.ranks, on=["set", "type"], maintain_order="left")

    @cached_property
    def _texts(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The text fills of the reference and of the system."""
        return self._of_kind("text", *WORDED)

    @cached_property
    def _pointers(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The pointers of the reference and of the system."""
        return self._of_kind("pointer", "target")

    def _of_kind(self, kind: str, *columns: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        columns = ("instance", "place", "fill", "position", *columns)
        ours, theirs = (side.fills.filter(kind=kind) for side in (self.reference, self.system))
        return ours.select(*columns, "alternative"), theirs.select(columns)

    @cached_property
    def _counts(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The alternatives of the reference and the slots of the system, with their fills."""
        counts = {
            name: (pl.col("kind") == kind).sum().cast(pl.Int64)
            for name, kind in (("texts", "text"), ("pointers", "pointer"))
        }
        slots = ("instance", "place")
        alternatives = self.reference.fills.group_by(*slots, "alternative", maintain_order=True)
        answers = self.system.fills.group_by(*slots, maintain_order=True)
        optional = pl.col("slot_optional").first()
        return alternatives.agg(optional, **counts), answers.agg(**counts)

    def gaining(self, rank: int, mapped: pl.DataFrame, mode: Mode) -> Candidates:
        """The pairs of a rank that gain points in a mode, without slots that cannot be judged yet.

        Args:
            rank: of the types.
            mapped: `set`, `reference`, `system`: the instances of earlier types that are mapped.
            mode: what single fills are compared by.
        """
        ours = self._ranked.filter(rank=rank)
        texts = self._correct.filter(pl.col("rank") == rank, gain(mode) > 0)
        targets = mapped.select("set", target="reference", other="system")
        left = ours.join(self._pointers[0], left_on="reference", right_on="instance")
        left = left.join(targets, on=["set", "target"]).select(*SLOT, "reference", "other")
        right = self.theirs.join(self._pointers[1], left_on="system", right_on="instance")
        pointing = left.join(right.select(*SLOT, "system", other="target"), on=[*SLOT, "other"])
        both = pl.concat([texts.select(*MAPPED), pointing.select(*MAPPED)]).unique()
        pairs = _numbered(both.join(ours, on=["set", "reference"]))
        texts = texts.join(pairs.select(*MAPPED, "pair"), on=[*MAPPED]).with_columns(
            at=self._at, which=self._which
        )
        early = pairs.join(self._early, on=["set", "type"]).select(at=self._at)
        return self._candidates(pairs, texts.select(*LINK, "content", "extent"), early)

    def left_over(self, rank: int, taken: pl.DataFrame) -> pl.DataFrame:
        """The pairs of a rank without a correct point that are taken after all others.

        Each instance that is left could be mapped to any other that is left, so that they are
        mapped in their order.
        """
        ours, tied = self._ranked.filter(rank=rank), pl.col("type") == self.policy.top
        if self.policy.zero_f == "skip":
            ours = ours.filter(tied)
        elif self.policy.zero_f == "skip-optional":
            ours = ours.filter(tied | ~pl.col("is_optional"))
        group = ["set", "type"]
        left, right = (
            rows.select(*group, *order)
            .join(taken, on=[*group, order[-1]], how="anti")
            .sort(*group, *order)
            .with_columns(number=pl.int_range(pl.len()).over(group))
            for rows, order in ((ours, ["is_optional", "reference"]), (self.theirs, ["system"]))
        )
        both = left.join(right, on=[*group, "number"])
        return both.select("type", *MAPPED, choice=pl.lit(0.0))

    def beside(self, mapped: pl.DataFrame, removed: pl.DataFrame) -> Candidates:
        """The pairs that are mapped and every other instance beside nothing, all texts compared.

        Args:
            mapped: `type`, `set`, `reference`, `system`, `choice`.
            removed: `set`, `reference`: the instances of the reference that are in no pair.
        """
        missing = self.ours.join(mapped, on=["set", "reference"], how="anti").drop("is_optional")
        missing = missing.join(removed, on=["set", "reference"], how="anti")
        spurious = self.theirs.join(mapped, on=["set", "system"], how="anti")
        pairs = _numbered(pl.concat([mapped, missing, spurious], how="diagonal"))
        left = self._placed(pairs, "reference", self._texts[0])
        right = self._placed(pairs, "system", self._texts[1])
        right = right.select("at", "fill", "position", *WORDED)
        both = left.join(right, on="at", suffix="_system", maintain_order="left_right")
        texts = compared(both, self.reference.minimal, fillers=self.policy.fillers).select(
            *LINK, *TESTS, content=pl.all_horizontal(TESTS[:2]), extent=pl.all_horizontal(TESTS[2:])
        )
        return self._candidates(pairs, texts, texts.select("at").clear())

    def _candidates(
        self, pairs: pl.DataFrame, texts: pl.DataFrame, early: pl.DataFrame
    ) -> Candidates:
        """Pairs of instances with what is looked at, but some slots, given as `at`."""
        counts, pointers = (
            [self._placed(pairs, side, table) for side, table in zip(_SIDES, both, strict=True)]
            for both in (self._counts, self._pointers)
        )
        tables = (*counts, texts, *pointers)
        return Candidates(pairs, *(table.join(early, on="at", how="anti") for table in tables))

    def _placed(self, pairs: pl.DataFrame, side: str, table: pl.DataFrame) -> pl.DataFrame:
        """What the instances of one side of pairs have, with the numbers of slots."""
        members = pairs.select("pair", "set", instance=side).drop_nulls("instance")
        rows = members.join(table, on="instance", maintain_order="left_right")
        which = {"which": self._which} if "alternative" in table.columns else {}
        return rows.with_columns(at=self._at, **which).drop("instance", "place")

    @property
    def _at(self) -> pl.Expr:
        """The slot of a `pair` at a `place`."""
        return pl.col("pair") * self.reference.places + pl.col("place")

    @property
    def _which(self) -> pl.Expr:
        """The `alternative` of the slot of a `pair` at a `place`."""
        return self._at * self.reference.most + pl.col("alternative")

    @cached_property
    def _correct(self) -> pl.DataFrame:
        """The correct pairs of texts.

        They have `rank`, `set`, `reference`, `system`, `place`, `alternative`, `fill`,
        `fill_system`, `position`, `position_system`, and whether they are correct by `content` and
        `extent`.
        """
        minimal = self.reference.minimal.group_by("fill").agg(strings="content", bares="bare")
        alike = self._texts[0].join(minimal, on="fill", how="left")
        alike = alike.group_by("content", "strings", "bares").agg("fill")
        alike = alike.select("fill", same=pl.col("fill").list.min()).explode("fill")
        left = self._ranked.join(self._texts[0], left_on="reference", right_on="instance")
        texts = self._texts[1].with_columns(same=pl.col("fill").min().over("content", "whole"))
        right = self.theirs.join(texts, left_on="system", right_on="instance")
        groups = right.select(SLOT).unique().with_row_index("group")
        left = left.join(alike, on="fill").join(groups, on=SLOT)
        right = right.join(groups, on=SLOT).drop(SLOT)
        content, extent = self._by_content(left, right), self._by_extent(left, right)
        both = content.join(extent.select(*_SAME, extent=True), on=_SAME, how="left")
        both = both.with_columns(pl.col("extent").fill_null(False), content=pl.lit(True))
        rest = extent.join(content, on=_SAME, how="anti")
        rest = rest.with_columns(content=pl.lit(False), extent=pl.lit(True))
        return pl.concat([both, rest.select(both.columns)])

    def _by_content(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        """The pairs that are correct by content; what is worded alike is compared once."""
        right = right.rename({"same": "same_system"})
        slots = left.select("group", "same").unique()
        slots = slots.join(right.select("group", "same_system").unique(), on="group")
        ours = self._texts[0].select(same="fill", content="content")
        columns = {"content_system": "content", "whole_system": "whole"}
        theirs = self._texts[1].select(same_system="fill", **columns)
        tried = slots.select(_WORDING).unique().join(ours, on="same").join(theirs, on="same_system")
        tested = by_content(
            tried.with_columns(fill="same"), self.reference.minimal, fillers=self.policy.fillers
        )
        correct = tested.filter(pl.all_horizontal(TESTS[:2]))
        slots = slots.join(correct, on=_WORDING, how="semi")
        both = left.join(slots, on=["group", "same"])
        return _linked(both.join(right, on=["group", "same_system"], suffix="_system"))

    def _by_extent(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        """The pairs that are correct by extent; only what begins inside the other is tried."""
        left, right = (rows.drop_nulls(["start", "end"]) for rows in (left, right))
        right = right.sort("group", "start")
        offsets, places = np.unique(right["start"].to_numpy(), return_inverse=True)
        keys = right["group"].to_numpy().astype(np.int64) * (len(offsets) + 1) + places
        before = left["group"].to_numpy().astype(np.int64) * (len(offsets) + 1)
        begin = np.searchsorted(offsets, left["start"].to_numpy(), side="left")
        end = np.searchsorted(offsets, left["end"].to_numpy(), side="right")
        rows, others = spans(*(np.searchsorted(keys, before + place) for place in (begin, end)))
        left, right = left[rows], right[others].drop("group")
        names = {name: f"{name}_system" for name in right.columns if name in left.columns}
        both = pl.concat([left, right.rename(names)], how="horizontal")
        tested = by_extent(both, self.reference.minimal)
        return _linked(tested.filter(pl.all_horizontal(TESTS[2:])))


_SIDES = ("reference", "system")


def spans(first: Integers, last: Integers) -> tuple[Integers, Integers]:
    """The places of spans, each from a first to before a last one: the span's number, the place.

    Examples:
        >>> [values.tolist() for values in spans(np.array([0, 5, 2]), np.array([2, 4, 3]))]
        [[0, 0, 2], [0, 1, 2]]
    """
    counts = np.maximum(last - first, 0)
    numbers = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
    return numbers, first[numbers] + within


def _numbered(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.with_columns(pair=pl.int_range(pl.len(), dtype=pl.Int64))


def _linked(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.select("rank", *MAPPED, "place", "alternative", *_SAME, *LINK[-2:])


def type_ranks(
    types: pl.DataFrame, pointing: pl.DataFrame, type_order: Sequence[str] = ()
) -> pl.DataFrame:
    """When each type of each set is mapped: types that others point to come first.

    Types that point to each other in a circle are mapped together.

    Args:
        types: `set`, `type`: the types that both sides have.
        pointing: `set`, `type`, `target_type`: which types point to which.
        type_order: an order to keep to; types that it does not name come before those it does.

    Returns:
        The types with `rank`, from 0.

    Examples:
        >>> types = pl.DataFrame({"set": [1, 1], "type": ["TEMPLATE", "BREAD"]})
        >>> pointing = pl.DataFrame({"set": 1, "type": "TEMPLATE", "target_type": "BREAD"})
        >>> type_ranks(types, pointing).sort("rank")["type"].to_list()
        ['BREAD', 'TEMPLATE']
    """
    if type_order:
        places = {name: place for place, name in enumerate(type_order, start=1)}
        ranks_of_types = pl.col("type").replace_strict(places, default=0, return_dtype=pl.Int64)
        return types.with_columns(rank=ranks_of_types)
    targets: dict[tuple[int, str], set[str]] = {}
    for number, source, target in pointing.select("set", "type", "target_type").iter_rows():
        targets.setdefault((number, source), set()).add(target)
    ranks: list[tuple[int, str, int]] = []
    for number, names in types.group_by("set", maintain_order=True).agg("type").iter_rows():
        left, level = set(names), 0
        while left:
            reached = {name: targets.get((number, name), set()) & left for name in left}
            for middle in left:
                for name in left:
                    if middle in reached[name]:
                        reached[name] |= reached[middle]
            # All types that one of these leads to lead back to it.
            ready = {name for name in left if all(name in reached[to] for to in reached[name])}
            ranks += [(number, name, level) for name in names if name in ready]
            left -= ready
            level += 1
    return pl.DataFrame(ranks, {**types.schema, "rank": pl.Int64}, orient="row")

"""Points of templettes: what pairs of instances come to, from single fills up to slots.

The specification's "Mapping Slots", "Mapping Fill-Alternatives" and "Mapping Single Fills": slots
go together by name; of a reference's alternatives the one of best F-measure counts; single fills
of the same kind are paired greedily until none of one side are left. Hence how many are paired is
known beforehand, and only pairs that gain points have to be looked at.

Conventions:
    A "pair" is a reference instance beside a system's; one of the two is null where an instance
    is mapped to nothing. F-measures are quotients of small integers: equal ones are equal as
    floats, and different ones differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from hlteval.scoring.single_fills import compared
from hlteval.scoring.templettes import PLACE, Side

Mode = Literal["content", "extent", "both"]
MODES: tuple[Mode, ...] = ("content", "extent", "both")
POINTS = ("cor", "inc", "mis", "spu", "optional", "removed")
_SLOT = ("pair", *PLACE)
_ALTERNATIVE = (*_SLOT, "alternative")


def f_measure() -> pl.Expr:
    """The F-measure of beta 1 of the columns of points: 2 COR / (POS + ACT), and 0 for 0 / 0."""
    both = 2 * (pl.col("cor") + pl.col("inc")) + pl.col("mis") + pl.col("spu")
    return pl.when(both > 0).then(2 * pl.col("cor") / both).otherwise(0.0)


@dataclass(frozen=True)
class Candidates:
    """Pairs of instances with all that is looked at to give them points.

    Attributes:
        pairs: `pair`, `set`, `reference`, `system`, `type`.
        ours: the fills of the reference in each pair.
        theirs: those of the system.
        texts: pairs of text fills of the same slot, with their tests.
        pointers: pairs of pointers of the same slot.
    """

    pairs: pl.DataFrame
    ours: pl.DataFrame
    theirs: pl.DataFrame
    texts: pl.DataFrame
    pointers: pl.DataFrame

    def only(self, pairs: pl.DataFrame) -> Candidates:
        """What belongs to some of the pairs."""
        kept = pairs.select("pair")
        return Candidates(
            pairs,
            *(
                table.join(kept, on="pair", how="semi", maintain_order="left")
                for table in (self.ours, self.theirs, self.texts, self.pointers)
            ),
        )

    def without(self, slots: pl.DataFrame) -> Candidates:
        """What is left if some slots are not looked at: of `pair` and `slot`."""
        return Candidates(
            self.pairs,
            *(
                table.join(slots, on=["pair", "slot"], how="anti", maintain_order="left")
                for table in (self.ours, self.theirs, self.texts, self.pointers)
            ),
        )


def candidates(
    pairs: pl.DataFrame, reference: Side, system: Side, fillers: tuple[str, ...] | None
) -> Candidates:
    """The fills of pairs of instances, with every pair of text fills compared.

    Args:
        pairs: `pair`, `set`, `reference`, `system`, `type`.
        reference: the reference.
        system: the system.
        fillers: as for `compared`.
    """
    keep = ["fill", "instance", *PLACE, "slot_optional", "alternative", "position", "kind"]
    texts = ["content", "start", "end"]
    ours = _beside(pairs, "reference", reference.fills.select(*keep, "target", *texts))
    theirs = _beside(pairs, "system", system.fills.select(*keep, "target", *texts))
    both = ours.join(
        theirs.drop("set", "slot_optional", "alternative"),
        on=[*_SLOT, "kind"],
        suffix="_system",
        maintain_order="left_right",
    )
    said = compared(both.filter(pl.col("kind") == "text"), reference.minimal, fillers=fillers)
    named = both.filter(pl.col("kind") == "pointer")
    link = [*_ALTERNATIVE, "fill", "fill_system", "position", "position_system"]
    return Candidates(
        pairs,
        ours.drop(texts),
        theirs.drop(texts),
        said.select(*link, "inside", "holds", "enclosed", "overlaps"),
        named.select(*link, "set", "target", "target_system"),
    )


def _beside(pairs: pl.DataFrame, side: str, fills: pl.DataFrame) -> pl.DataFrame:
    some = pairs.select("pair", "set", instance=side).drop_nulls("instance")
    return some.join(fills, on="instance", maintain_order="left_right").drop("instance")


@dataclass(frozen=True)
class Known:
    """What has been decided so far.

    Attributes:
        mapped: `set`, `reference`, `system`: the instances that are mapped to each other.
        removed: `set`, `reference`: the optional instances that are mapped to nothing.
    """

    mapped: pl.DataFrame
    removed: pl.DataFrame


@dataclass(frozen=True)
class Evaluation:
    """The points of pairs of instances.

    Attributes:
        slots: `pair`, `slot`, `occurrence`, `alternative` (of the reference; null where a side
            has none) and `POINTS`.
        links: the pairs of fills that gain points: `pair`, `alternative`, `fill`, `fill_system`,
            `gain`.
        dropped: the pointers of the reference that are removed: `pair`, `fill`.
    """

    slots: pl.DataFrame
    links: pl.DataFrame
    dropped: pl.DataFrame

    def pairs(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The pairs with the sums of their points, and their F-measure."""
        sums = self.slots.group_by("pair").agg(pl.col(*POINTS).sum())
        rows = pairs.join(sums, on="pair", how="left", maintain_order="left")
        return rows.with_columns(pl.col(*POINTS).fill_null(0)).with_columns(f=f_measure())


def evaluated(given: Candidates, known: Known, mode: Mode) -> Evaluation:
    """The points of pairs of instances, given what is decided about those they point to."""
    gone = known.removed.select("set", target="reference")
    dropped = given.ours.join(gone, on=["set", "target"], how="semi", maintain_order="left")
    ours = given.ours
    if not dropped.is_empty():
        ours = ours.join(gone, on=["set", "target"], how="anti", maintain_order="left")
    weight = 2 if mode == "both" else 1
    alternatives = _counted(ours, _ALTERNATIVE, pl.col("slot_optional").first())
    answers = _counted(given.theirs, _SLOT)
    links = _linked(given, dropped, known, mode)
    slots = _slots(alternatives, answers, links, weight)
    counted = dropped.unique([*_SLOT, "target"]).group_by(_SLOT).agg(removed=pl.len())
    slots = slots.join(counted, on=list(_SLOT), how="full", coalesce=True)
    points = [pl.col(name).fill_null(0).cast(pl.Int64) for name in POINTS]
    return Evaluation(
        slots.select(*_SLOT, "alternative", *points), links, dropped.select("pair", "fill")
    )


def _counted(rows: pl.DataFrame, by: tuple[str, ...], *more: pl.Expr) -> pl.DataFrame:
    kind = pl.col("kind")
    return rows.group_by(by).agg(
        *more,
        texts=(kind == "text").sum().cast(pl.Int64),
        pointers=(kind == "pointer").sum().cast(pl.Int64),
    )


def _linked(given: Candidates, dropped: pl.DataFrame, known: Known, mode: Mode) -> pl.DataFrame:
    """The pairs of single fills that the greedy algorithm takes, as far as they gain points."""
    content = pl.all_horizontal("inside", "holds").cast(pl.Int64)
    extent = pl.all_horizontal("enclosed", "overlaps").cast(pl.Int64)
    gain = {"content": content, "extent": extent, "both": content + extent}[mode]
    right = given.pointers.join(
        known.mapped,
        left_on=["set", "target", "target_system"],
        right_on=["set", "reference", "system"],
        how="semi",
    )
    if not dropped.is_empty():
        right = right.join(dropped, on=["pair", "fill"], how="anti")
    best = 2 if mode == "both" else 1
    rows = pl.concat(
        [
            given.texts.select(*_LINK, gain=gain, f=gain / best).filter(pl.col("gain") > 0),
            right.select(*_LINK, gain=pl.lit(1, pl.Int64), f=pl.lit(1.0)),
        ]
    )
    alone = (pl.len().over("pair", "fill") == 1) & (
        pl.len().over("pair", "alternative", "fill_system") == 1
    )
    rows = rows.with_columns(alone=alone)
    order = ["pair", *PLACE, "alternative", "f", "position", "position_system"]
    falling = [name == "f" for name in order]
    contested = rows.filter(~pl.col("alone")).sort(order, descending=falling)
    kept = greedy(contested.select("pair", "alternative", "fill", "fill_system"))
    chosen = pl.concat([rows.filter("alone"), contested.filter(kept)])
    return chosen.select(*_ALTERNATIVE, "fill", "fill_system", "gain")


_LINK = (*_ALTERNATIVE, "fill", "fill_system", "position", "position_system")


def greedy(rows: pl.DataFrame) -> pl.Series:
    """The general greedy mapping algorithm, over pairs that are sorted from best to worst.

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
    chosen, ours, theirs, current = [], set(), set(), None
    for *group, reference, system in rows.iter_rows():
        if group != current:
            ours, theirs, current = set(), set(), group
        free = reference not in ours and system not in theirs
        chosen.append(free)
        if free:
            ours.add(reference)
            theirs.add(system)
    return pl.Series("chosen", chosen, dtype=pl.Boolean)


def _slots(
    alternatives: pl.DataFrame, answers: pl.DataFrame, links: pl.DataFrame, weight: int
) -> pl.DataFrame:
    """The points of every slot that either side has."""
    gained = links.group_by(_ALTERNATIVE).agg(cor=pl.col("gain").sum())
    both = alternatives.join(answers, on=list(_SLOT), suffix="_system")
    both = both.join(gained, on=list(_ALTERNATIVE), how="left")
    texts = pl.min_horizontal("texts", "texts_system")
    pointers = pl.min_horizontal("pointers", "pointers_system")
    cor, optional = pl.col("cor").fill_null(0), pl.col("slot_optional")
    silent = pl.col("pointers") - pointers
    answered = both.select(
        *_ALTERNATIVE,
        cor=cor,
        inc=weight * texts + pointers - cor,
        mis=weight * (pl.col("texts") - texts) + pl.when(optional).then(0).otherwise(silent),
        spu=weight * (pl.col("texts_system") - texts) + pl.col("pointers_system") - pointers,
        optional=pl.when(optional).then(silent).otherwise(0),
    )
    rest = alternatives.join(answers, on=list(_SLOT), how="anti")
    spurious = answers.join(alternatives, on=list(_SLOT), how="anti")
    return pl.concat(
        [_best(answered), _cheapest(rest, weight), _spurious(spurious, weight)], how="diagonal"
    )


def _best(alternatives: pl.DataFrame) -> pl.DataFrame:
    """Of each slot the alternative of best F-measure.

    Of equal ones the one with fewest possible points that still has as many as the system has
    actual ones; otherwise the first.
    """
    rows = alternatives.with_columns(f=f_measure())
    several = pl.len().over(_SLOT) > 1
    alone, rows = rows.filter(~several), rows.filter(several)
    rows = rows.filter(pl.col("f") == pl.col("f").max().over(_SLOT)).with_columns(
        pos=pl.col("cor") + pl.col("inc") + pl.col("mis"),
        act=pl.col("cor") + pl.col("inc") + pl.col("spu"),
    )
    rows = rows.sort(*_ALTERNATIVE)
    first = pl.col("alternative") == pl.col("alternative").first().over(_SLOT)
    short = (pl.col("pos") < pl.col("act")).first().over(_SLOT)
    rows = rows.filter(pl.when(short).then(first).otherwise(pl.col("pos") >= pl.col("act")))
    rows = rows.sort(*_SLOT, "pos", "alternative").unique(_SLOT, keep="first", maintain_order=True)
    return pl.concat([alone.drop("f"), rows.drop("f", "pos", "act")])


def _cheapest(alternatives: pl.DataFrame, weight: int) -> pl.DataFrame:
    """Slots to which the system is silent: the alternative with fewest points is missing."""
    cost = weight * pl.col("texts") + pl.col("pointers")
    rows = alternatives.with_columns(cost=cost).sort(*_SLOT, "cost", "alternative")
    rows = rows.unique(_SLOT, keep="first", maintain_order=True)
    optional = pl.col("slot_optional")
    return rows.select(
        *_ALTERNATIVE,
        mis=pl.when(optional).then(0).otherwise("cost"),
        optional=pl.when(optional).then("cost").otherwise(0),
    )


def _spurious(answers: pl.DataFrame, weight: int) -> pl.DataFrame:
    cost = weight * pl.col("texts") + pl.col("pointers")
    return answers.select(*_SLOT, spu=cost)

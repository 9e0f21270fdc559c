"""Candidates: the pairs of instances that could be mapped, with all their fills compared once.

Conventions:
    A "pair" is a reference instance beside a system's; one of the two is null where an instance
    is mapped to nothing. `at` is a slot of a pair and `which` an alternative of a slot of a pair,
    as numbers; the two sides number their slots alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from hlteval.scoring.hub4.fill_match import TESTS, compared
from hlteval.scoring.hub4.templettes import Side

LINK = ("pair", "at", "which", "fill", "fill_system", "position", "position_system")
_WORDED = ("content", "start", "end", "whole", "whole_start")


@dataclass(frozen=True)
class Candidates:
    """Pairs of instances with all that is looked at to give them points.

    Attributes:
        pairs: `pair`, `set`, `reference`, `system`, `type`.
        alternatives: of the reference: `pair`, `at`, `which`, `alternative`, `slot_optional`, and
            how many `texts` and `pointers` it has.
        answers: the slots of the system: `pair`, `at`, `texts`, `pointers`.
        texts: pairs of text fills of the same slot, with their tests.
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

    def gaining(self) -> Candidates:
        """The same without the pairs of text fills that gain no point in any mode."""
        content, extent = (pl.all_horizontal(tests) for tests in (TESTS[:2], TESTS[2:]))
        return replace(self, texts=self.texts.filter(content | extent))

    def without(self, slots: pl.DataFrame) -> Candidates:
        """What is left if some slots are not looked at, given as `at`."""
        tables = (
            table.join(slots, on="at", how="anti", maintain_order="left")
            for table in (
                self.alternatives,
                self.answers,
                self.texts,
                self.pointers,
                self.pointers_system,
            )
        )
        return Candidates(self.pairs, *tables)


def candidates(
    pairs: pl.DataFrame, reference: Side, system: Side, fillers: tuple[str, ...] | None
) -> Candidates:
    """The fills of pairs of instances, with every pair of text fills compared.

    Args:
        pairs: `pair`, `set`, `reference`, `system`, `type`.
        reference: the reference.
        system: the system, its slots numbered as the reference's.
        fillers: as for `compared`.
    """
    ours = _beside(pairs, "reference", reference)
    theirs = _beside(pairs, "system", system)
    alternatives = _counted(ours, "pair", "at", "which", "alternative", "slot_optional")
    answers = _counted(theirs, "pair", "at")
    tested = compared(_texts(ours, theirs), reference.minimal, fillers=fillers)
    pointer = pl.col("kind") == "pointer"
    named = ["pair", "at", "fill", "position", "target"]
    return Candidates(
        pairs,
        alternatives,
        answers,
        tested.select(*LINK, *TESTS),
        ours.filter(pointer).select(*named, "which", "set"),
        theirs.filter(pointer).select(named),
    )


def _beside(pairs: pl.DataFrame, name: str, side: Side) -> pl.DataFrame:
    """The fills of the instances of one side of pairs."""
    keep = ["fill", "slot_optional", "alternative", "position", "kind", "target"]
    some = pairs.select("pair", "set", instance=name).drop_nulls("instance")
    rows = some.join(side.fills, on="instance", maintain_order="left_right")
    at = pl.col("pair") * side.places + pl.col("place")
    # No slot has as many alternatives as there are fills.
    which = (pl.col("pair") * side.places + pl.col("place")) * side.most + pl.col("alternative")
    return rows.select("pair", "set", *keep, *_WORDED, at=at, which=which)


def _texts(ours: pl.DataFrame, theirs: pl.DataFrame) -> pl.DataFrame:
    """The text fills of the two sides, each with each of the same slot."""
    left, right = (side.filter(pl.col("kind") == "text") for side in (ours, theirs))
    right = right.select("at", "fill", "position", *_WORDED)
    return left.join(right, on="at", suffix="_system", maintain_order="left_right")


def _counted(rows: pl.DataFrame, *by: str) -> pl.DataFrame:
    """How many fills of each kind there are; `at` or `which` tells the rest of the keys."""
    kind = pl.col("kind")
    key = "which" if "which" in by else "at"
    return rows.group_by(key, maintain_order=True).agg(
        *(pl.col(name).first() for name in by if name != key),
        texts=(kind == "text").sum().cast(pl.Int64),
        pointers=(kind == "pointer").sum().cast(pl.Int64),
    )

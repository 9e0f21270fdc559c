"""Candidates: pairs of instances with their fills, to which points are given.

Conventions:
    A "pair" is a reference instance beside a system's; one of the two is null where an instance
    is mapped to nothing. `at` is a slot of a pair and `which` an alternative of a slot of a pair,
    as numbers; the two sides number their slots alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from hlteval.scoring.hub4.fill_match import TESTS, compared
from hlteval.scoring.hub4.templettes import Side

LINK = ("pair", "at", "which", "fill", "fill_system", "position", "position_system")
WORDED = ("content", "start", "end", "whole", "whole_start")
_COUNTS = ("texts", "pointers")


@dataclass(frozen=True)
class Candidates:
    """Pairs of instances with all that is looked at to give them points.

    Attributes:
        pairs: `pair`, `set`, `reference`, `system`, `type`.
        alternatives: of the reference: `pair`, `at`, `which`, `alternative`, `slot_optional`, and
            how many `texts` and `pointers` it has.
        answers: the slots of the system: `pair`, `at`, `texts`, `pointers`.
        texts: pairs of text fills of the same slot: `LINK`, and whether they are correct by
            `content` and by `extent`; with their tests where these were asked for.
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


class Fills:
    """The fills of two sides by instance, to be set beside each other in any pairs.

    Args:
        reference: the reference.
        system: the system, its slots numbered as the reference's.
        fillers: as for `compared`.
    """

    def __init__(self, reference: Side, system: Side, fillers: tuple[str, ...] | None) -> None:
        self.minimal, self.fillers = reference.minimal, fillers
        # No slot has as many alternatives as there are fills.
        self._places, self._most = reference.places, reference.most
        text, pointer = (pl.col("kind") == kind for kind in ("text", "pointer"))
        counts = [
            kind.sum().cast(pl.Int64).alias(name)
            for kind, name in zip((text, pointer), _COUNTS, strict=True)
        ]
        ours = reference.fills.group_by("instance", "place", "alternative", maintain_order=True)
        self.alternatives = ours.agg(pl.col("slot_optional").first(), *counts)
        theirs = system.fills.group_by("instance", "place", maintain_order=True)
        self.answers = theirs.agg(*counts)
        own, named = ["instance", "place", "fill", "position"], ["alternative"]
        self.texts, self.texts_system = (
            fills.filter(text).select(*own, *more, *WORDED)
            for fills, more in ((reference.fills, named), (system.fills, []))
        )
        self.pointers, self.pointers_system = (
            fills.filter(pointer).select(*own, *more, "target")
            for fills, more in ((reference.fills, named), (system.fills, []))
        )

    def at(self) -> pl.Expr:
        """The slot of a `pair` at a `place`."""
        return pl.col("pair") * self._places + pl.col("place")

    def which(self) -> pl.Expr:
        """The `alternative` of the slot of a `pair` at a `place`."""
        return self.at() * self._most + pl.col("alternative")

    def beside(self, pairs: pl.DataFrame) -> Candidates:
        """The fills of pairs of instances, with every pair of text fills compared.

        Args:
            pairs: `pair`, `set`, `reference`, `system`, `type`.
        """
        left = self._of(pairs, "reference", self.texts)
        right = self._of(pairs, "system", self.texts_system)
        right = right.select("at", "fill", "position", *WORDED)
        both = left.join(right, on="at", suffix="_system", maintain_order="left_right")
        texts = compared(
            both.collect(engine="in-memory"), self.minimal, fillers=self.fillers
        ).select(
            *LINK, *TESTS, content=pl.all_horizontal(TESTS[:2]), extent=pl.all_horizontal(TESTS[2:])
        )
        return self._with(pairs, texts)

    def with_texts(self, pairs: pl.DataFrame, correct: pl.DataFrame) -> Candidates:
        """The fills of pairs of instances whose texts were compared.

        Args:
            pairs: `pair`, `set`, `reference`, `system`, `type`.
            correct: the correct pairs of texts among their fills: `reference`, `system`, `place`,
                `alternative`, `LINK` but `pair`, `at` and `which`, `content`, `extent`.
        """
        known = pairs.select("reference", "system", "pair")
        rows = correct.join(known, on=["reference", "system"])
        rows = rows.with_columns(at=self.at(), which=self.which())
        return self._with(pairs, rows.select(*LINK, "content", "extent"))

    def _with(self, pairs: pl.DataFrame, texts: pl.DataFrame) -> Candidates:
        parts = (
            self._of(pairs, "reference", self.alternatives),
            self._of(pairs, "system", self.answers),
            self._of(pairs, "reference", self.pointers, "set"),
            self._of(pairs, "system", self.pointers_system),
        )
        alternatives, answers, *pointers = pl.collect_all(parts, engine="in-memory")
        return Candidates(pairs, alternatives, answers, texts, *pointers)

    def _of(self, pairs: pl.DataFrame, side: str, table: pl.DataFrame, *more: str) -> pl.LazyFrame:
        """What the instances of one side of pairs have."""
        some = pairs.lazy().select("pair", *more, instance=side).drop_nulls("instance")
        rows = some.join(table.lazy(), on="instance", maintain_order="left_right")
        numbers = {"at": self.at()}
        if "alternative" in table.columns:
            numbers["which"] = self.which()
        return rows.with_columns(**numbers).drop("instance", "place")

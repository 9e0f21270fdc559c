"""Errors of several systems side by side, item by item: what one has right and another wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import msgspec

from hlteval.scoring.metric import Evidence

if TYPE_CHECKING:
    import polars as pl

REFERENCE, EXTRA = "reference", "extra"


class ErrorCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many items two systems have right and wrong.

    Items are those of the reference, and `extra` ones of the systems; stretches of time count as
    seconds. What is not scored is not counted.

    Attributes:
        first: name of the first system.
        second: name of the second system.
        both_right: items that both have right.
        only_first: items that only the first has right.
        only_second: items that only the second has right.
        both_wrong: items that neither has right: missing, or wrong in any way.
        both_extra: items that both have, but not the reference.
        only_first_extra: items that only the first has.
        only_second_extra: items that only the second has.
        unpaired: items of the reference that are scored for one of them only.
    """

    first: str
    second: str
    both_right: float
    only_first: float
    only_second: float
    both_wrong: float
    both_extra: float
    only_first_extra: float
    only_second_extra: float
    unpaired: float


#: The numbers of `ErrorCounts`.
COUNTED = ErrorCounts.__struct_fields__[2:]


class ErrorAnalysis(msgspec.Struct, frozen=True, kw_only=True):
    """What became of each item of the reference, and of what is extra, in several systems.

    Attributes:
        systems: their names, best first.
        items: a row per item: `side`, `reference` or `extra`; `document`, `label`, `item`, its
            text; `weight`, 1 or its seconds; and for each system in turn `outcome N` and `kind N`,
            null where it has no such item.
        facets: columns of `items` between label and item, such as the layer or the criterion.
        counted: the value of each facet whose other values repeat the same items; only items with
            it are counted.
        rows: the alignment of each system by name, with `_item`, the row of `items`.
        evidence: the texts of documents and what items are about, by name of the system.
    """

    systems: tuple[str, ...]
    items: pl.DataFrame
    facets: tuple[str, ...] = ()
    counted: Mapping[str, str] = {}
    rows: Mapping[str, pl.DataFrame] = {}
    evidence: Mapping[str, Evidence] = {}

    def to_frame(self, first: str = "", second: str = "") -> pl.DataFrame:
        """The items, a row each: what they are, the outcome of each system, and the result.

        The result is, for two systems, `both right`, `only NAME right`, `both wrong`, `both extra`
        or `extra only in NAME`; for more, `all right`, `some right` and so on.

        Args:
            first: a system, to see it and the second one only.
            second: the other system.

        Raises:
            ValueError: for a name that no system has.
        """
        import polars as pl

        places = self._places(*filter(None, (first, second)))
        names = [self.systems[place] for place in places]
        frame = self.items.filter(pl.any_horizontal(_kind(place).is_not_null() for place in places))
        result = _result(places, names)
        outcomes = [
            pl.col(f"outcome {place}").alias(f"outcome of {self.systems[place]}")
            for place in places
        ]
        about = ["side", "document", "label", *self.facets, "item"]
        about += ["weight"] if self.items["weight"].dtype.is_float() else []
        return frame.select(*about, result.alias("result"), *outcomes)

    def _places(self, *names: str) -> list[int]:
        for name in names:
            if name not in self.systems:
                raise ValueError(f"unknown system {name}: use one of {', '.join(self.systems)}")
        return [self.systems.index(name) for name in names or self.systems]

    def counts(self, by: Literal["", "document", "label"] = "") -> pl.DataFrame:
        """How many items each pair of systems has right and wrong, a row each.

        Args:
            by: `document` or `label` for a row of each of them; columns are those of `ErrorCounts`.
        """
        import polars as pl

        items = self.items.filter(*(pl.col(name) == value for name, value in self.counted.items()))
        frames = []
        for first, second in combinations(range(len(self.systems)), 2):
            sums = dict(zip(COUNTED, _sums(first, second), strict=True))
            counts = items.group_by(by).agg(**sums).sort(by) if by else items.select(**sums)
            names = {"first": pl.lit(self.systems[first]), "second": pl.lit(self.systems[second])}
            frames.append(counts.select(**names, **{name: pl.col(name) for name in counts.columns}))
        return pl.concat(frames)

    @property
    def pairs(self) -> tuple[ErrorCounts, ...]:
        """The numbers of each pair of systems."""
        return tuple(ErrorCounts(**row) for row in self.counts().iter_rows(named=True))


def _kind(place: int) -> pl.Expr:
    import polars as pl

    return pl.col(f"kind {place}")


def _sums(first: int, second: int) -> Iterator[pl.Expr]:
    """The sums of weights that are `COUNTED`, of two systems by their places."""
    import polars as pl

    own, other = _kind(first), _kind(second)
    of_reference = pl.col("side") == REFERENCE
    both, either = own.is_not_null() & other.is_not_null(), own.is_not_null() | other.is_not_null()
    right, other_right = own == "correct", other == "correct"
    inside = of_reference & both
    conditions = [
        inside & right & other_right,
        inside & right & ~other_right,
        inside & ~right & other_right,
        inside & ~right & ~other_right,
        ~of_reference & both,
        ~of_reference & own.is_not_null() & ~both,
        ~of_reference & other.is_not_null() & ~both,
        of_reference & either & ~both,
    ]
    yield from (pl.col("weight").filter(condition).sum() for condition in conditions)


def _result(places: Sequence[int], names: Sequence[str]) -> pl.Expr:
    """The result of an item in some systems."""
    import polars as pl

    every, two = ("both" if len(places) == 2 else "all"), len(places) == 2
    right = pl.sum_horizontal((_kind(place) == "correct").fill_null(value=False) for place in places)
    present = pl.sum_horizontal(_kind(place).is_not_null() for place in places)
    only_right, only_extra = pl.lit("some right"), pl.lit("extra in some")
    if two:
        first = (_kind(places[0]) == "correct").fill_null(value=False)
        names_right = (pl.lit(f"only {name} right") for name in names)
        only_right = pl.when(first).then(next(names_right)).otherwise(next(names_right))
        names_extra = [pl.lit(f"extra only in {name}") for name in names]
        has_first = _kind(places[0]).is_not_null()
        only_extra = pl.when(has_first).then(names_extra[0]).otherwise(names_extra[1])
    whole = len(places)
    of_reference = (
        pl.when(right == whole).then(pl.lit(f"{every} right"))
        .when(right == 0).then(pl.lit(f"{every} wrong")).otherwise(only_right)
    )  # fmt: skip
    extra = pl.when(present == whole).then(pl.lit(f"{every} extra")).otherwise(only_extra)
    return pl.when(pl.col("side") == REFERENCE).then(of_reference).otherwise(extra)

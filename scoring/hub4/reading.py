"""The mapping as people read it: its fills, each with the instances that it belongs to."""

from __future__ import annotations

import polars as pl

#: The outcome of a fill by its points; the first that it has counts.
_OUTCOMES = {"inc": "incorrect", "mis": "missing", "spu": "spurious", "cor": "correct"}


def readable(mapping: pl.DataFrame) -> pl.DataFrame:
    """The fills of a mapping, with `instance` and `instance_system`, outcome and places.

    Args:
        mapping: as `MAPPING`, of any modes.

    Examples:
        >>> points = {"cor": 0, "inc": 0, "mis": 0, "spu": 0, "optional": 0, "removed": 0}
        >>> rows = [{"level": "instance", "reference": "BREAD-d-1", "system": "BREAD-d-2"} | points]
        >>> fill = {"level": "fill", "reference": '"rye" ##4#7#', "system": '"oat" ##4#7#'}
        >>> rows.append(fill | points | {"inc": 1})
        >>> shown = readable(pl.DataFrame(rows))
        >>> shown.select("instance", "outcome", "reference_end").rows()
        [('BREAD-d-1', 'incorrect', 7)]
    """
    instance = pl.col("level") == "instance"
    rows = mapping.with_columns(_instance=instance.cum_sum())
    names = rows.filter(instance).select(
        "_instance", instance="reference", instance_system="system"
    )
    rows = rows.filter(level="fill").join(names, on="_instance", how="left", maintain_order="left")
    return rows.with_columns(_outcome(), *map(_place, _PLACES))


def _outcome() -> pl.Expr:
    """What became of a fill; where it has no points, nothing counts."""
    points = (pl.when(pl.col(name) > 0).then(pl.lit(said)) for name, said in _OUTCOMES.items())
    removed = pl.when(pl.col("removed") > 0).then(pl.lit("not scored"))
    return pl.coalesce(removed, *points, pl.lit("not scored")).alias("outcome")


_PLACES = tuple(
    (side, at, name) for side in ("reference", "system") for at, name in ((1, "start"), (2, "end"))
)


def _place(place: tuple[str, int, str]) -> pl.Expr:
    """The start or the end of the extent of the maximal string, as written."""
    side, at, name = place
    extent = pl.col(side).str.extract(r"##(\d+)#(\d+)#[\d#]*$", at)
    return extent.cast(pl.Int64, strict=False).alias(f"{side}_{name}")

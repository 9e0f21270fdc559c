"""The listing: a reference and a system side by side, for people."""

from __future__ import annotations

import polars as pl

from hlteval.scoring.hub4.points import POINTS


def listings(mapping: pl.DataFrame) -> dict[str, str]:
    """The listings of each mode, by file name: all of it, and only what has errors."""
    modes = mapping["mode"].unique(maintain_order=True)
    kinds = {"side-by-side": False, "errors": True}
    return {
        f"mapping.{mode}.{kind}.txt": listing(mapping.filter(pl.col("mode") == mode), errors=errors)
        for mode in modes
        for kind, errors in kinds.items()
    }


def listing(mapping: pl.DataFrame, *, errors: bool = False) -> str:
    """The mapping for people: what the reference says on the left, the system on the right.

    Args:
        mapping: as `MAPPING`, of one mode.
        errors: whether to leave out what has no incorrect, missing or spurious point.
    """
    if mapping.is_empty():
        return ""
    shown = mapping.filter(~pl.col("level").is_in(["alternative", "slot"]))
    if errors:
        shown = shown.filter(pl.col("inc") + pl.col("mis") + pl.col("spu") > 0)
    shown = shown.with_columns(_said(name) for name in ("reference", "system"))
    points = (pl.when(pl.col(name) != 0).then(_counted(name)) for name in POINTS)
    points_text = pl.concat_str(points, separator=" ", ignore_nulls=True)
    sides = pl.format(
        "{} | {}  [{}] {}", "reference", "system", points_text, pl.col("why").fill_null("")
    )
    fill, begin = pl.col("level") == "fill", pl.col("level") == "set"
    indent = pl.when(begin).then(pl.lit("\n")).otherwise(pl.lit("  "))
    of_fill = pl.format("    {}: {}", "slot", sides)
    line = pl.when(fill).then(of_fill).otherwise(pl.concat_str(indent, sides))
    what = "Errors" if errors else "Templettes"
    head = f"{what} side by side, points by {mapping['mode'][0]}: reference | system"
    return "\n".join([head, *shown.select(line=line)["line"]]) + "\n"


def _said(name: str) -> pl.Expr:
    """What a side says, `-` for nothing."""
    filled = pl.when(pl.col(name) == "").then(pl.lit("-")).otherwise(pl.col(name).fill_null("-"))
    return filled.alias(name)


def _counted(name: str) -> pl.Expr:
    return pl.format(f"{{}} {name.upper()}", name)

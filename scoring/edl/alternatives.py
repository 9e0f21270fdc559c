"""Alternatives of the reference: where it allows several entities, the one that suits the system.

Of the candidates of a mention, the first is selected that the system gives

1. to a mention of the same span,
2. to any mention of the document,
3. to any mention at all;

and where it gives none of them, the first of all.
"""

from __future__ import annotations

import polars as pl


def chosen(table: pl.DataFrame, how: str, *, official: bool) -> pl.DataFrame:
    """The annotations with one candidate each.

    Args:
        table: annotations of both sides with all of their candidates.
        how: `eid`, or `fields` where the type must be the same as well.
        official: whether the first step is left out: the public scorer looks for the span where it
            has put down the annotation, and never finds it.

    Returns:
        The annotations, every one with `rank` 1.
    """
    first = table.filter(pl.col("rank") == 1)
    system = first.filter("system")
    ours = table.filter(~pl.col("system"))
    several = ours.filter(pl.len().over("row") > 1)
    ranked = _levels(several, system, ["eid", "type"] if how == "fields" else ["eid"], official)
    best = ranked.sort("row", "level", "rank").unique("row", keep="first", maintain_order=True)
    single = first.filter(~pl.col("system")).join(best, on="row", how="anti", maintain_order="left")
    selected = best.select(table.columns).with_columns(rank=pl.lit(1, pl.Int64))
    reference = pl.concat([single, selected]).sort("row")
    return pl.concat([reference, system])


def _levels(
    candidates: pl.DataFrame, system: pl.DataFrame, key: list[str], official: bool
) -> pl.DataFrame:
    """Candidates with the step that finds them; the last step finds the first candidate only."""
    steps = [["docid", "start", "end"], ["docid"], []]
    level = pl.when(pl.col("rank") == 1).then(len(steps)).otherwise(len(steps) + 1)
    for number, where in reversed(list(enumerate(steps))):
        if official and number == 0:
            continue
        given = (
            system.select(*where, *key).unique().with_columns(pl.lit(number).alias(f"at{number}"))
        )
        candidates = candidates.join(
            given, on=[*where, *key], how="left", nulls_equal=True, maintain_order="left"
        )
        level = pl.coalesce(f"at{number}", level)
    return candidates.with_columns(level=level)

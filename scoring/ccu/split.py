"""One system instance for several references: an option of the public scorer.

An instance that overlaps several references of its class is divided between them, in the middle of
the gap that lies between each two of them.
"""

from __future__ import annotations

import polars as pl

from hlteval.scoring.ccu.spans import overlapping


def divided(system: pl.DataFrame, references: pl.DataFrame) -> pl.DataFrame:
    """System instances, those that overlap several references divided; all half-open.

    Args:
        system: instances, with `class`, `text`, and `from` and `to`, places as written.
        references: instances, with `class`.

    Examples:
        >>> same = {"document": "d", "class": "102", "text": False}
        >>> own = pl.DataFrame([{**same, "start": 0.0, "end": 9.0, "from": 0.0, "to": 9.0}])
        >>> others = pl.DataFrame([{**same, "start": s, "end": s + 2} for s in (0.0, 6.0)])
        >>> divided(own, others).select("start", "end").rows()
        [(0.0, 4.0), (4.0, 9.0)]
    """
    rows, matches, _ = overlapping(system, references, ("document", "class"))
    places = references.select(begin="start", until="end")[matches]
    pairs = places.with_columns(_row=pl.Series(rows, dtype=pl.Int64)).sort("_row", "begin", "until")
    several = pairs.filter(pl.len().over("_row") > 1)
    after = (pl.col("until") + pl.col("begin").shift(-1).over("_row")) / 2
    cuts = several.with_columns(cut=after)
    numbered = system.with_row_index("_row").with_columns(pl.col("_row").cast(pl.Int64))
    found = cuts.join(numbered, on="_row", maintain_order="left")
    # of text, the character in the middle still belongs to the first
    cut = pl.when("text").then(pl.col("cut").floor()).otherwise("cut")
    found = found.with_columns(cut=cut)
    start = pl.col("cut").shift().over("_row").fill_null(pl.col("start"))
    found = found.with_columns(start=start, end=pl.col("cut").fill_null(pl.col("end")))
    step = pl.col("text").cast(pl.Float64)
    placed = pl.col("start").alias("from"), (pl.col("end") - step).alias("to")
    pieces = found.with_columns(placed).select("_row", *system.columns)
    rest = numbered.join(several, on="_row", how="anti").select("_row", *system.columns)
    return pl.concat([rest, pieces]).sort("_row", maintain_order=True).drop("_row")

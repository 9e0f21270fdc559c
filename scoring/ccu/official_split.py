"""One system instance for several references, as the public scorer divides it (`ManyRef`).

An instance is divided between all references of its class that it overlaps, in the middle of the
gap between each two that follow each other. One that overlaps none is compared with the first
no-score region of its document, wherever that is; without any region the scorer crashes.
"""

from __future__ import annotations

import polars as pl

from hlteval.scoring.ccu.spans import overlapping

_KEY = ("class", "document")


def pieces(system: pl.DataFrame, others: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """The pieces of system instances, each with its reference, and whether the scorer crashes.

    Args:
        system: instances, half-open, with `class`, `text`, `truncated` and `_system`.
        others: what they are compared with, as from `best_reference.places`.

    Returns:
        `_system`, `_reference`, `_place`, and the half-open `start` and `end` of each piece; what
        is not scored is left out.
    """
    references = others.drop_nulls("_reference")
    rows, matches, _ = overlapping(system, references, _KEY)
    own = system.select("_system", "text", "start", "end")[rows]
    right = references.select("_reference", "_place", begin="start", until="end")[matches]
    pairs = pl.concat([own, right], how="horizontal").sort("_system", "_place")
    step = pl.col("text").cast(pl.Float64)
    # between the last character of one reference and the first of the next
    cut = (pl.col("until") - step + pl.col("begin").shift(-1).over("_system")) / 2
    cut = pl.when("text").then(cut.floor() + 1).otherwise(cut)
    divided = pairs.with_columns(_cut=cut).with_columns(
        start=pl.col("_cut").shift().over("_system").fill_null(pl.col("start")),
        end=pl.col("_cut").fill_null(pl.col("end")),
    )
    alone = system.join(pairs, on="_system", how="anti")
    regions = others.filter(pl.col("_reference").is_null())
    first = regions.unique(_KEY, keep="first", maintain_order=True)
    placed = alone.join(
        first.select(*_KEY, "_place", begin="start", until="end"), on=_KEY, how="left"
    )
    crashes = placed.filter(pl.col("_place").is_null()).join(references, on=_KEY, how="semi")
    overlaps = pl.min_horizontal("end", "until") > pl.max_horizontal("start", "begin")
    # of one that was cut, nothing is left; one in a document without anything is a false alarm
    scored = pl.col("_place").is_null() | ~(overlaps | pl.col("truncated"))
    kept = placed.filter(scored).with_columns(_reference=pl.lit(None, dtype=pl.Int64))
    columns = ("_system", "_reference", "_place", "start", "end")
    found = pl.concat([divided.select(columns), kept.select(columns)])
    return found.sort("_system", "_place"), not crashes.is_empty()

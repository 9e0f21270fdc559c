"""Places and sources as knowledge base entries: ambiguous ones, and those that are not in it (NIL).

A reference may give several entries for one place, `12|34`: a system may have any of them. NIL
identifiers are a system's own; its mentions and those of the reference, which both come as tables
of entity discovery and linking, show which of them are the same.

Conventions:
    Tables of mentions have the columns `docid`, `start`, `end` (half-open) and `entity`.
"""

from __future__ import annotations

import polars as pl

MENTIONS = {"docid": pl.String, "start": pl.Int64, "end": pl.Int64, "entity": pl.String}
"""The columns of a table of mentions."""
NOWHERE = "None"
"""What the public scorer makes of a NIL place without a mention in the reference."""


def with_entries(frames: pl.DataFrame) -> pl.DataFrame:
    """Frames whose places are null where they have none; alternatives are in order."""
    place = pl.col("place").str.strip_chars()
    sorted_entries = place.str.split("|").list.sort().list.join("|")
    several = pl.when(place.str.contains("|", literal=True)).then(sorted_entries).otherwise(place)
    return frames.with_columns(place=pl.when(place != "").then(several))


def without_nil(frames: pl.DataFrame) -> pl.DataFrame:
    """The frames whose places are not NIL; those without a place stay."""
    nil = pl.col("place").str.to_lowercase().str.contains("nil", literal=True)
    return frames.filter(~nil.fill_null(value=False))


def resolved(system: pl.DataFrame, reference: pl.DataFrame, *, official: bool) -> pl.DataFrame:
    """The system's frames, with the places of the reference for entries that are among these.

    A place is that of a reference frame of the same document and type that has it among others,
    unless there is one that has it alone. The public scorer takes the first ambiguous place of the
    document and type, whether the entry is among its own or those of another.

    Examples:
        >>> columns = ["docid", "type", "place"]
        >>> gold = pl.DataFrame([("d", "food", "1|2")], schema=columns, orient="row")
        >>> frames = pl.DataFrame([("d", "food", "2")], schema=columns, orient="row")
        >>> resolved(frames, gold, official=False)["place"].to_list()
        ['1|2']
    """
    key = ["docid", "type"]
    ambiguous = reference.filter(pl.col("place").str.contains("|", literal=True)).select(
        *key, several="place", place=pl.col("place").str.split("|")
    )
    ambiguous = ambiguous.with_columns(first=pl.col("several").first().over(key)).explode("place")
    if official:
        meant = ambiguous.with_columns(several="first")
    else:
        meant = ambiguous.join(reference, on=[*key, "place"], how="anti", nulls_equal=False)
    meant = meant.unique([*key, "place"], keep="first", maintain_order=True).drop("first")
    joined = system.join(meant, on=[*key, "place"], how="left", maintain_order="left")
    return joined.with_columns(place=pl.coalesce("several", "place")).drop("several")


def nil_sources(
    sources: pl.DataFrame, system: pl.DataFrame, reference: pl.DataFrame
) -> pl.DataFrame:
    """The entities of the reference that a system means by NIL identifiers.

    In each document, it is the entity whose mentions overlap most with those of the identifier.

    Args:
        sources: `docid` and `source`, as the system has them.
        system: its mentions.
        reference: the mentions of the reference.

    Returns:
        `docid`, `source` and `entity`; nothing for sources without an overlapping mention.

    Examples:
        >>> table = pl.DataFrame([("d", 0, 5, "NIL7")], schema=MENTIONS, orient="row")
        >>> gold = table.with_columns(entity=pl.lit("NIL1"))
        >>> nil_sources(table.select("docid", source="entity"), table, gold).rows()
        [('d', 'NIL7', 'NIL1')]
    """
    nil = sources.filter(is_nil("source")).select("docid", "source").unique()
    own = nil.join(system, left_on=["docid", "source"], right_on=["docid", "entity"])
    both = own.join(reference, on="docid", suffix="_gold")
    common = pl.min_horizontal("end", "end_gold") - pl.max_horizontal("start", "start_gold")
    both = both.with_columns(common=common).filter(pl.col("common") > 0)
    sums = both.group_by("docid", "source", "entity").agg(pl.col("common").sum())
    best = sums.sort("docid", "source", "common", "entity", descending=[False, False, True, False])
    return best.unique(["docid", "source"], keep="first", maintain_order=True).drop("common")


def is_nil(column: str) -> pl.Expr:
    """Whether identifiers are NIL."""
    return pl.col(column).str.starts_with("NIL")


def nil_places(system: pl.DataFrame, reference: pl.DataFrame) -> pl.DataFrame:
    """What the public scorer takes NIL places for: the entity of the first mention of equal extent.

    Returns:
        `place` and `entity`, which is `NOWHERE` where no mention has the extent.
    """
    extent = ["docid", "start", "end"]
    nil = system.filter(is_nil("entity")).select(*extent, place="entity")
    gold = reference.unique(extent, keep="first", maintain_order=True)
    found = nil.join(gold, on=extent, how="left", maintain_order="left")
    first = found.group_by("place", maintain_order=True).agg(pl.col("entity").drop_nulls().first())
    return first.with_columns(pl.col("entity").fill_null(NOWHERE))

"""Places and sources as knowledge base entries: ambiguous ones, and those that are not in it (NIL).

A reference may give several entries for one place (`scoring.ambiguous_places`). NIL identifiers are
a system's own; its mentions and those of the reference, which both come as tables
of entity discovery and linking, show which of them are the same.

Conventions:
    Tables of mentions have the columns `docid`, `start`, `end` (half-open) and `entity`.
"""

from __future__ import annotations

import polars as pl

from hlteval.scoring import ambiguous_places

#: The columns of a table of mentions.
MENTIONS = {"docid": pl.String, "start": pl.Int64, "end": pl.Int64, "entity": pl.String}
#: What the public scorer makes of a NIL place without a mention in the reference.
NOWHERE = "None"


def without_nil(frames: pl.DataFrame) -> pl.DataFrame:
    """The frames whose places are not NIL; those without a place stay."""
    nil = pl.col("place").str.to_lowercase().str.contains("nil", literal=True)
    return frames.filter(~nil.fill_null(value=False))


#: What precedes a NIL identifier of the system that no mention of the reference explains.
UNRESOLVED = "system:"


def resolved(system: pl.DataFrame, reference: pl.DataFrame, *, official: bool) -> pl.DataFrame:
    """The system's frames, with the places of the reference for entries that are among these.

    The public scorer takes the first ambiguous place of the document and type, whether the entry is
    among its own or those of another.

    Examples:
        >>> columns = ["docid", "type", "place"]
        >>> gold = pl.DataFrame([("d", "food", "1|2")], schema=columns, orient="row")
        >>> frames = pl.DataFrame([("d", "food", "2")], schema=columns, orient="row")
        >>> resolved(frames, gold, official=False)["place"].to_list()
        ['1|2']
    """
    key = ["docid", "type"]
    if not official:
        return ambiguous_places.resolved(system, reference, key)
    first = pl.col("several").first().over(key)
    meant = ambiguous_places.open_places(reference, key).with_columns(several=first)
    return ambiguous_places.with_places(system, meant, key)


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


def with_nil_resolved(
    table: pl.DataFrame, column: str, system: pl.DataFrame, reference: pl.DataFrame
) -> pl.DataFrame:
    """A table of the system with what its NIL identifiers mean in the reference.

    Those without an overlapping mention are the system's own: they are equal to nothing, whatever
    their names are.

    Args:
        table: of the system, with `docid`.
        column: the column of the identifiers.
        system: its mentions.
        reference: the mentions of the reference.

    Examples:
        >>> own = pl.DataFrame([("d", 0, 5, "NIL7")], schema=MENTIONS, orient="row")
        >>> gold = own.with_columns(entity=pl.lit("NIL1"))
        >>> table = pl.DataFrame({"docid": ["d", "d", "d"], "place": ["NIL7", "NIL1", "12"]})
        >>> with_nil_resolved(table, "place", own, gold)["place"].to_list()
        ['NIL1', 'system:NIL1', '12']
    """
    meant = nil_sources(table.select("docid", source=column), system, reference)
    meant = meant.rename({"source": column, "entity": "_meant"})
    joined = table.join(meant, on=["docid", column], how="left", maintain_order="left")
    own = pl.coalesce("_meant", pl.format("{}{}", pl.lit(UNRESOLVED), column))
    return joined.with_columns(
        pl.when(is_nil(column)).then(own).otherwise(column).alias(column)
    ).drop("_meant")


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

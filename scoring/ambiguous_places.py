"""Places that a reference leaves open: when the place of a situation frame is right.

A reference may give several knowledge base entries for one place, `12|34`: a system may have any of
them, in any order. Situation frames and the translations that justify them are judged by this rule.

Conventions:
    Tables have the columns of `key` and `place`, which is null where a frame has no place.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

SEPARATOR = "|"


def with_entries(frames: pl.DataFrame) -> pl.DataFrame:
    """Frames whose places are null where they have none; alternatives are in order.

    Examples:
        >>> with_entries(pl.DataFrame({"place": ["34|12", " 5", ""]}))["place"].to_list()
        ['12|34', '5', None]
    """
    place = pl.col("place").str.strip_chars()
    sorted_entries = place.str.split(SEPARATOR).list.sort().list.join(SEPARATOR)
    several = pl.when(place.str.contains(SEPARATOR, literal=True)).then(sorted_entries)
    return frames.with_columns(place=pl.when(place != "").then(several.otherwise(place)))


def open_places(reference: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """The places of a reference with several entries: `several`, and a row per entry, `place`."""
    ambiguous = reference.filter(pl.col("place").str.contains(SEPARATOR, literal=True))
    return ambiguous.select(
        *key, several="place", place=pl.col("place").str.split(SEPARATOR)
    ).explode("place")


def with_places(system: pl.DataFrame, meant: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """The system's frames with the place that each entry means (`several`), where there is one."""
    once = meant.unique([*key, "place"], keep="first", maintain_order=True)
    joined = system.join(once, on=[*key, "place"], how="left", maintain_order="left")
    return joined.with_columns(place=pl.coalesce("several", "place")).drop("several")


def resolved(system: pl.DataFrame, reference: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """The system's frames, with the places of the reference for entries that are among these.

    A place is that of a reference frame with the same key that has it among others, unless there is
    one that has it alone.

    Args:
        system: its frames.
        reference: those of the reference.
        key: the columns of the document and the type.

    Examples:
        >>> gold = pl.DataFrame({"docid": ["d"], "type": ["food"], "place": ["1|2"]})
        >>> frames = pl.DataFrame({"docid": ["d"], "type": ["food"], "place": ["2"]})
        >>> resolved(frames, gold, ["docid", "type"])["place"].to_list()
        ['1|2']
    """
    meant = open_places(reference, key)
    meant = meant.join(reference, on=[*key, "place"], how="anti", nulls_equal=False)
    return with_places(system, meant, key)

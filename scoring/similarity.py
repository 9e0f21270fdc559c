"""How alike two names are: the edit distance with substitutions counted as two edits."""

from collections.abc import Sequence

import polars as pl

#: A similarity of 1: the least common multiple of 1 to 30, so that names of up to 30 characters
#: together have exact similarities, and all others are off by less than a millionth of a millionth.
UNIT = 2_329_089_562_800


def similarity(one: str, other: str) -> int:
    """The similarity of two names in units of 1/`UNIT`: (lengths - edits) / lengths.

    Insertions and deletions cost 1, substitutions 2; characters are code points. Two empty names
    are the same.

    Examples:
        >>> similarity("江苏", "江苏省") / UNIT
        0.8
    """
    return int(similarities(pl.Series([one]), pl.Series([other]))[0])


def similarities(ours: pl.Series, theirs: pl.Series, *, exact: bool = False) -> pl.Series:
    """The similarities of pairs of names, each different pair worked out once.

    Args:
        ours: the names of one side.
        theirs: those of the other, pair by pair.
        exact: whether only equal names are alike at all.

    Returns:
        Integers in units of 1/`UNIT`.
    """
    pairs = pl.DataFrame({"ours": ours.cast(pl.String), "theirs": theirs.cast(pl.String)})
    if exact:
        equal = pl.when(pl.col("ours") == pl.col("theirs")).then(pl.lit(UNIT, pl.Int64))
        return pairs.select(weight=equal.otherwise(0)).to_series()
    distinct = pairs.unique(maintain_order=True)
    lengths = pl.col("ours").str.len_chars() + pl.col("theirs").str.len_chars()
    length = lengths.cast(pl.Int64)
    alike = length - _edits(distinct)
    rounded = (alike * UNIT + length // 2) // length.clip(1)
    weight = pl.when(length == 0).then(pl.lit(UNIT, pl.Int64)).otherwise(rounded)
    known = distinct.with_columns(weight=weight)
    joined = pairs.join(known, on=["ours", "theirs"], how="left", maintain_order="left")
    return joined["weight"]


def _edits(pairs: pl.DataFrame) -> pl.Series:
    """The number of insertions and deletions that make one name of a pair into the other."""
    import numpy as np
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cpdist

    if pairs.is_empty():
        return pl.Series("edits", [], pl.Int64)
    found = cpdist(
        pairs["ours"].to_list(), pairs["theirs"].to_list(), scorer=Indel.distance, dtype=np.int64
    )
    return pl.Series("edits", found, pl.Int64)


# Places that a reference leaves open: when the place of a situation frame is right.
#
# A reference may give several knowledge base entries for one place, `12|34`: a system may have any
# of them, in any order. Situation frames and the translations that justify them are judged by this
# rule.
#
# Conventions:
#     Tables have the columns of `key` and `place`, which is null where a frame has no place.


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


def resolve_places(
    system: pl.DataFrame, reference: pl.DataFrame, key: Sequence[str]
) -> pl.DataFrame:
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
        >>> resolve_places(frames, gold, ["docid", "type"])["place"].to_list()
        ['1|2']
    """
    meant = open_places(reference, key)
    meant = meant.join(reference, on=[*key, "place"], how="anti", nulls_equal=False)
    return with_places(system, meant, key)

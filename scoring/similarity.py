"""How alike two names are: the edit distance with substitutions counted as two edits."""

from __future__ import annotations

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
    weighed = distinct.with_columns(
        length=lengths.cast(pl.Int64), edits=_edits(distinct)
    ).with_columns(weight=_weight())
    joined = pairs.join(weighed, on=["ours", "theirs"], how="left", maintain_order="left")
    return joined["weight"]


def _weight() -> pl.Expr:
    length, alike = pl.col("length"), pl.col("length") - pl.col("edits")
    rounded = (alike * UNIT + length // 2) // length.clip(1)
    return pl.when(length == 0).then(pl.lit(UNIT, pl.Int64)).otherwise(rounded)


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

"""Near misses: places that an option or a dictionary would make equal."""

from __future__ import annotations

from collections.abc import Mapping
from unicodedata import normalize

import polars as pl

#: A row per two names: how alike they are, how many frames have them, how many true positives equal
#: names would add at most (`gain`), and what would make them equal.
NEAR_MISSES: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "system_place": pl.String,
    "reference_place": pl.String,
    "similarity": pl.Float64,
    "frames": pl.Int64,
    "gain": pl.Float64,
    "fix": pl.String,
}

#: Least similarity of two names that a dictionary may be meant to join.
_LEAST = 0.5


def near_misses(aligned: pl.DataFrame) -> pl.DataFrame:
    """The places of the system that are nearly those of the reference, the largest gain first.

    These are paired frames whose places are similar but not equal, and the only frame missed and
    the only false positive of a type in a segment. The first two columns are a line of
    `--place-dictionary`.

    Args:
        aligned: the table `alignment`.

    Returns:
        A table with the columns `NEAR_MISSES`.
    """
    localized = aligned.filter(pl.col("layer") == "Type+Place")
    paired = localized.filter(pl.col("outcome") == "matched", pl.col("similarity") < 1)
    places = ["system_place", "reference_place"]
    key = ["document", "type"]
    sides = (("missed", "reference_place"), ("false positive", "system_place"))
    missed, wrong = (
        localized.filter(pl.col("outcome") == outcome, pl.len().over(*key, "outcome") == 1).select(
            *key, place
        )
        for outcome, place in sides
    )
    alone = wrong.join(missed, on=key).with_columns(similarity=pl.lit(0.0))
    both = pl.concat([part.select(*places, "similarity") for part in (paired, alone)])
    rows = both.group_by(places).agg(
        similarity=pl.col("similarity").max(),
        frames=pl.len().cast(pl.Int64),
        gain=(1 - pl.col("similarity")).sum(),
    )
    fixes = [_fix(*names) for names in rows.select(*places, "similarity").iter_rows()]
    found = rows.with_columns(fix=pl.Series(fixes, dtype=pl.String)).drop_nulls("fix")
    ordered = found.sort("gain", *places, descending=[True, False, False])
    return ordered.select(pl.col(name).cast(dtype) for name, dtype in NEAR_MISSES.items())


def _fix(system: str, reference: str, similarity: float) -> str | None:
    """What would make two names equal; None if they are too different.

    Examples:
        >>> _fix("Osh\u0301", "Os\u0068\u0301", 1.0), _fix("OSH", "Osh", 0.3), _fix("x", "y", 0.0)
        ('--normalize NFC', 'capitals: --place-dictionary', None)
    """
    for form in ("NFC", "NFKC"):
        if normalize(form, system) == normalize(form, reference):
            return f"--normalize {form}"
    if " ".join(system.split()) == " ".join(reference.split()):
        return "spaces: --place-dictionary"
    if system.casefold() == reference.casefold():
        return "capitals: --place-dictionary"
    return "--place-dictionary" if similarity >= _LEAST else None

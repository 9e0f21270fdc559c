"""Texts of segments: which rows of `translations` a file holds, and what it cannot represent."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from hlteval.representation import Corpus

SOURCE, REFERENCE, SYSTEM = "source", "reference", "system"
ROLES = (SOURCE, REFERENCE, SYSTEM)
UNKNOWN = "und"
"""The language that is written where none is known."""
PLURALS: Mapping[str, str] = {
    SOURCE: "source texts",
    REFERENCE: "reference translations",
    SYSTEM: "translations of systems",
}
"""What the texts of each role are called where they are lost."""


def of_role(corpus: Corpus, role: str) -> pl.DataFrame:
    """The texts of a role, of its first set in each document.

    Args:
        corpus: the corpus.
        role: `source`, `reference` or `system`.

    Examples:
        >>> row = {"document": 0, "origin": 0, "record": 1, "segment": "s", "role": "system"}
        >>> texts = [{**row, "row": n, "set": f"S{n}", "text": "a"} for n in range(2)]
        >>> of_role(Corpus(translations=texts), "system")["set"].to_list()
        ['S0']
    """
    rows = corpus.translations.filter(pl.col("role") == role)
    first = pl.col("set").first().over("document")
    return rows.filter(pl.col("set").eq_missing(first))


def other_texts(corpus: Corpus, kept: pl.DataFrame) -> Mapping[str, int]:
    """The counts of the texts that are not written, by their role, as losses."""
    lost = corpus.translations.join(kept, on="row", how="anti")
    counts = dict(lost.group_by("role").len().iter_rows())
    return {PLURALS[role]: counts[role] for role in ROLES if role in counts}

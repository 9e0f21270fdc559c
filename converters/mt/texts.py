"""Texts of segments: which rows of `translations` a file holds, and what it cannot represent."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from hlteval.representation import Corpus

SOURCE, REFERENCE, SYSTEM = "source", "reference", "system"
ROLES = (SOURCE, REFERENCE, SYSTEM)
#: The language that is written where none is known.
UNKNOWN = "und"
#: What the texts of each role are called where they are lost.
PLURALS: Mapping[str, str] = {
    SOURCE: "source texts",
    REFERENCE: "reference translations",
    SYSTEM: "translations of systems",
}


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


def with_sources(corpus: Corpus) -> Corpus:
    """The corpus with the segments of its documents as sources of their translations.

    Texts and translations are often in different files. Documents without translations, and those
    whose sources are there, stay as they are.

    Examples:
        >>> row = {"row": 0, "document": 0, "origin": 0, "record": 1}
        >>> given = Corpus(
        ...     documents=[{"row": 0, "name": "d1", "language": "epo"}],
        ...     segments=[{**row, "name": "s", "start": 0, "end": 5, "text": "Akvo."}],
        ...     translations=[{**row, "segment": "s", "role": "system", "text": "Water."}],
        ... )
        >>> with_sources(given).translations.select("role", "language", "text").rows()
        [('system', None, 'Water.'), ('source', 'epo', 'Akvo.')]
    """
    rows, segments = corpus.translations, corpus.segments.drop_nulls(["name", "text"])
    if rows.is_empty() or segments.is_empty():
        return corpus
    wanted = rows.filter((pl.col("role") != SOURCE).all().over("document")).select("document")
    segments = segments.join(wanted.unique(), on="document", how="semi", maintain_order="left")
    languages = corpus.documents.select("language", document="row")
    segments = segments.join(languages, on="document", how="left", maintain_order="left")
    first = rows.select(pl.col("row").max() + 1).item()
    sources = segments.select(
        pl.int_range(first, first + pl.len(), dtype=pl.Int64).alias("row"),
        *("document", "origin", "record"),
        pl.col("name").alias("segment"),
        pl.lit(SOURCE).alias("role"),
        pl.lit(None, pl.String).alias("set"),
        "language",
        pl.lit(None, pl.String).alias("part"),
        "text",
    )
    return corpus.replace(translations=pl.concat([rows, sources.select(rows.columns)]))

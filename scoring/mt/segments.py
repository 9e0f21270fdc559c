"""Segments of the reference with their translations: what is scored, and what is not."""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.mt.options import TranslationOptions
from hlteval.scoring.mt.placeholders import protected

_KEY = ("document", "segment")


def paired(reference: Corpus, system: Corpus, options: TranslationOptions) -> pl.DataFrame:
    """A row per segment of the reference, in the order of the reference.

    White space is normalised: each run of it is a space, with none at the ends.

    Args:
        reference: one or several translations of each segment, by `set`.
        system: the translations of a system; of several of a segment the first counts.
        options: the subset that is scored, and whether URLs are protected.

    Returns:
        `document` (its name), `order` (0-based), `segment`, `source` (null where neither side has
        it), `references` (texts that are not empty), `translation`, `present` (whether the system
        has the segment), `more` (its further translations), and `scored`.
    """
    gold, own = _texts(reference, "reference"), _texts(system, "system")
    if options.protect_urls:
        gold, own = (each.with_columns(text=_protected(each["text"])) for each in (gold, own))
    references = gold.group_by(*_KEY, maintain_order=True).agg(
        references=pl.col("text").filter(pl.col("text") != "")
    )
    translations = own.group_by(*_KEY, maintain_order=True).agg(
        translation=pl.col("text").first(), more=pl.len().cast(pl.Int64) - 1
    )
    sources = pl.concat([_role(each, "source") for each in (reference, system)])
    sources = sources.unique([*_KEY], keep="first").select(*_KEY, source="text")
    rows = references.join(translations, on=_KEY, how="left", maintain_order="left")
    rows = rows.join(sources, on=_KEY, how="left", maintain_order="left")
    return rows.select(
        "document",
        pl.int_range(pl.len(), dtype=pl.Int64).over("document").alias("order"),
        "segment",
        "source",
        "references",
        pl.col("translation").fill_null(""),
        pl.col("translation").is_not_null().alias("present"),
        pl.col("more").fill_null(0),
        pl.Series("scored", _wanted(rows, options), dtype=pl.Boolean)
        & (pl.col("references").list.len() > 0),
    )


def _wanted(rows: pl.DataFrame, options: TranslationOptions) -> list[bool]:
    """Whether each segment is in the subset."""
    only = options.only
    return [only is None or pair in only for pair in rows.select(_KEY).iter_rows()]


def _texts(corpus: Corpus, role: str) -> pl.DataFrame:
    """The translations of a side; a form without roles has those of a system on both."""
    own = _role(corpus, role)
    return own if own.height or role == "system" else _role(corpus, "system")


def _role(corpus: Corpus, role: str) -> pl.DataFrame:
    names = corpus.documents.select(row="row", name="name")
    rows = corpus.translations.select("document", "segment", "role", "text")
    rows = rows.filter(pl.col("role") == role).rename({"document": "row"})
    named = rows.join(names, on="row", how="left", maintain_order="left")
    texts = pl.Series("text", [" ".join(text.split()) for text in named["text"]], dtype=pl.String)
    return named.select(document="name", segment="segment").with_columns(texts)


def _protected(texts: pl.Series) -> pl.Series:
    return pl.Series("text", map(protected, texts), dtype=pl.String)


def readable(rows: pl.DataFrame) -> pl.DataFrame:
    """Segments as people read them, with what became of each.

    Examples:
        >>> row = {"references": ["Osh."], "translation": "Osh.", "present": True, "scored": True}
        >>> readable(pl.DataFrame([row]))["outcome"].to_list()
        ['identical']
    """
    outcome = (
        pl.when(~pl.col("scored"))
        .then(pl.lit("not scored"))
        .when(~pl.col("present"))
        .then(pl.lit("missing"))
        .when(pl.col("references").list.contains(pl.col("translation")))
        .then(pl.lit("identical"))
        .otherwise(pl.lit("different"))
    )
    return rows.with_columns(outcome=outcome)

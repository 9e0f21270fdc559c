"""Both sides of a batch as discrete series of levels (Appendix B, step 1), by the plan."""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu.level_options import LevelOptions
from hlteval.scoring.ccu.level_reference import ratings, reference_pieces
from hlteval.scoring.ccu.level_spans import NO_SCORE, events, stretches
from hlteval.scoring.ccu.level_system import (
    UNPROCESSED,
    processed,
    system_pieces,
    uncovered,
    up_to_the_end,
)
from hlteval.scoring.ccu.level_units import characters, windows


def scored_documents(reference: Corpus, kind: str, options: LevelOptions) -> pl.DataFrame:
    """The documents that are scored: rows of `document`, `name`, `genre`, `text` and `length`.

    Those of the index, or without one all of the reference, of which the reference has levels.
    """
    rated = reference.ratings.filter(pl.col("kind") == kind)["document"].unique()
    rows = known_documents(reference, options)
    return rows.filter(pl.col("document").is_in(rated.implode()))


def known_documents(reference: Corpus, options: LevelOptions) -> pl.DataFrame:
    """The documents of the index, or without one all of the reference; as `scored_documents`."""
    rows = reference.documents
    if options.index is not None:
        names = pl.Series(sorted(options.index), dtype=pl.String)
        rows = rows.filter(pl.col("name").is_in(names.implode()))
    text = (pl.col("modality") == "text").fill_null(value=False)
    return rows.select("name", "length", document="row", genre="modality", text=text)


def plan_units(
    reference: Corpus, system: Corpus, documents: pl.DataFrame, kind: str, options: LevelOptions
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The decision units that are scored, and what is counted of documents beside them.

    Args:
        reference: the reference.
        system: the system's levels, in the same numbering of documents.
        documents: those that are scored.
        kind: `valence` or `arousal`.
        options: what was chosen.

    Returns:
        Units, as `level_units` has them, in which both sides have a level; and rows of `document`
        and `unprocessed`, 1 if the system has no level in it.
    """
    gaps = options.gaps
    gold = reference_pieces(ratings(reference, kind, documents), options)
    own = ratings(system, kind, documents)
    own = own.filter(pl.col("document").is_in(processed(system).implode()))
    documents = _with_ends(documents, gold)
    said = up_to_the_end(system_pieces(own, gaps=gaps), documents)
    missing = ~pl.col("document").is_in(said["document"].unique().implode())
    further = documents.select("document", unprocessed=missing.cast(pl.Int64))
    fill = uncovered(kind, gaps=gaps)
    first = pl.when(pl.col("unprocessed") == 1).then(UNPROCESSED[kind]).otherwise(fill)
    opening = further.select(
        "document", at=pl.lit(0.0), reference=pl.lit(NO_SCORE), system=first
    )  # fmt: skip
    changes = [opening, events(gold, "reference", NO_SCORE), events(said, "system", fill)]
    parts = stretches(pl.concat(changes, how="diagonal"), _until(documents, gold, said))
    units = decision_units(
        parts, documents.filter("text")["document"], options.window, options.window_text
    )
    both = pl.col("reference").is_not_nan() & pl.col("system").is_not_nan()
    return units.filter(both), further


def decision_units(
    parts: pl.DataFrame, texts: pl.Series, window: float, of_text: float = 1.0
) -> pl.DataFrame:
    """The units of stretches: characters of texts, or windows of them; windows of audio and video.

    Args:
        parts: the stretches of documents.
        texts: which documents are texts.
        window: size of windows of audio and video.
        of_text: how many characters a unit of text has.
    """
    text = pl.col("document").is_in(texts.implode())
    written = parts.filter(text)
    each = [characters(written) if of_text == 1 else windows(written, of_text)]
    each.append(windows(parts.filter(~text), window))
    return pl.concat(each, how="vertical_relaxed")


def _with_ends(documents: pl.DataFrame, gold: pl.DataFrame) -> pl.DataFrame:
    """Documents with their `length`: of a text, up to its last annotated character.

    Offsets of text may begin at 1: an annotated character at the length is scored too.
    """
    ends = gold.group_by("document").agg(_last=pl.col("end").max())
    rows = documents.join(ends, on="document", how="left", maintain_order="left")
    of_text = pl.max_horizontal("length", "_last")
    return rows.with_columns(length=pl.when("text").then(of_text).otherwise("length")).drop("_last")


def _until(documents: pl.DataFrame, gold: pl.DataFrame, said: pl.DataFrame) -> pl.DataFrame:
    """Where the last stretch of each document ends: its length, or else the last level."""
    last = pl.concat([gold.select("document", "end"), said.select("document", "end")])
    ends = last.group_by("document").agg(pl.col("end").max())
    rows = documents.join(ends, on="document", how="left", maintain_order="left")
    return rows.select("document", until=pl.coalesce("length", "end").fill_null(0.0))


def readable(units: pl.DataFrame) -> pl.DataFrame:
    """Units as people read them, with how far the levels of the system are from the reference.

    Examples:
        >>> readable(pl.DataFrame({"reference": [500.0], "system": [450.0]})).row(0)
        (500.0, 450.0, -50.0, 'lower')
    """
    difference = pl.col("system") - pl.col("reference")
    outcome = (
        pl.when(difference > 0)
        .then(pl.lit("higher"))
        .when(difference < 0)
        .then(pl.lit("lower"))
        .otherwise(pl.lit("equal"))
    )
    return units.with_columns(difference=difference, outcome=outcome)

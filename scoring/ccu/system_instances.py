"""The instances of a system: placed, filtered and merged."""

from __future__ import annotations

import math

import polars as pl

from hlteval.representation import Corpus
from hlteval.representation.corpus import of_documents
from hlteval.representation.judgments import is_text, joined_statuses
from hlteval.scoring.ccu.detection_options import DetectionOptions, LlrFilter

_KEPT = ("document", "genre", "text", "label", "status", "start", "end", "llr")


def documents(reference: Corpus) -> pl.DataFrame:
    """The documents of a reference by name: `key`, `genre`, `text` and `length`."""
    return reference.documents.select(
        document="name", key="row", genre="modality", text=is_text(), length="length"
    )


def selected(sides: tuple[Corpus, Corpus], names: frozenset[str] | None) -> tuple[Corpus, Corpus]:
    """The documents of both sides that are scored: those of an index, or all if it is None."""
    if names is None:
        return sides
    chosen = pl.Series(sorted(names), dtype=pl.String)
    return of_documents(sides[0], chosen), of_documents(sides[1], chosen)


def system_instances(
    reference: Corpus, system: Corpus, kind: str, options: DetectionOptions
) -> pl.DataFrame:
    """What a system found in the documents of a reference, places as written.

    What it says of documents that it could not process does not count.

    Args:
        reference: knows which documents are text, and where segments are.
        system: the submission.
        kind: `norm` or `emotion`.
        options: what was chosen.
    """
    done = system.documents.filter(pl.col("processed").fill_null(value=True))
    names = done.select(document="row", name="name")
    own = system.instances.filter(pl.col("kind") == kind)
    own = own.select("document", "label", "status", "start", "end", "llr", "region")
    rows = own.join(names, on="document", maintain_order="left")
    rows = rows.drop("document").rename({"name": "document"})
    if options.submission_form != "regular":
        rows = _placed(rows, reference, options.submission_form)
    rows = rows.join(documents(reference), on="document", maintain_order="left")
    return rows.with_columns(pl.col("llr").fill_nan(None)).select(_KEPT)


def ranked(rows: pl.DataFrame) -> pl.DataFrame:
    """Instances with a score each: what has none comes last."""
    return rows.with_columns(pl.col("llr").fill_null(-math.inf))


def placed(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The instances that have a place, and those that have none and cannot be scored."""
    known = pl.col("start").is_not_null() & pl.col("end").is_not_null()
    return rows.filter(known), rows.filter(~known)


def _placed(rows: pl.DataFrame, reference: Corpus, form: str) -> pl.DataFrame:
    """Instances with the places of the segments that they name; in `open` with no others."""
    names = reference.documents.select(key="row", document="name")
    segments = reference.regions.select("region", begin="start", until="end", key="document")
    segments = (
        segments.join(names, on="key").drop("key").unique(["document", "region"], keep="first")
    )
    named = rows.join(segments, on=["document", "region"], how="left", maintain_order="left")
    if form == "open":
        return named.with_columns(start="begin", end="until")
    return named.with_columns(start=pl.coalesce("start", "begin"), end=pl.coalesce("end", "until"))


def filtered(rows: pl.DataFrame, chosen: LlrFilter | None, when: str) -> pl.DataFrame:
    """Rows whose score is not too low, if a filter is chosen for this step."""
    if chosen is None or chosen.when != when:
        return rows
    return rows.filter((pl.col("llr") >= chosen.least).fill_null(value=True))


def merged(rows: pl.DataFrame, options: DetectionOptions) -> pl.DataFrame:
    """Instances of one class that are close to each other become one.

    The plan merges none: options give the largest gap.
    """
    if options.merge_system is None and options.merge_system_text is None:
        return rows
    key = ["document", "label", *(["status"] if options.merge_system_by != "class" else [])]
    ordered = rows.sort(*key, "start", "end")
    before = pl.col("end").cum_max().shift().over(key)
    gap = (pl.col("start") - before - pl.col("text").cast(pl.Float64)).round(9)
    most = pl.when("text").then(options.merge_system_text).otherwise(options.merge_system)
    begins = before.is_null() | most.is_null() | (gap >= most.cast(pl.Float64))
    numbered = ordered.with_columns(number=begins.cum_sum())
    score = pl.col("llr").max() if options.merge_system_llr == "max_llr" else pl.col("llr").min()
    one = numbered.group_by("number", maintain_order=True).agg(
        pl.col("document", "genre", "text", "label").first(),
        pl.col("start").min(),
        pl.col("end").max(),
        score,
    )
    found = one.join(joined_statuses(numbered), on="number", how="left", maintain_order="left")
    return found.select(rows.columns)

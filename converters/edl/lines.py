"""Writing entity mentions as a table: what a line can represent, and the lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import polars as pl

from hlteval.converters.edl.missing import count_missing, filled, largest_number
from hlteval.converters.edl.records import TABLE
from hlteval.converters.toolkit.confidences import to_text
from hlteval.representation import Corpus

_LARGEST = 10**15 - 1
_BREAKS = r"[\t\n\r\x00]"
_TEXTS = ("mention", "label", "text", "entity", "mention_type", "annotator", "confidence_text")
#: What would be read as offsets in the name of a document, or as no document at all.
_AS_OFFSETS = r"^\s*:|:\s?\d+\s?[-\x{2013}]\s?\d+"


def write(
    corpora: Iterable[Corpus],
    path: Path,
    header: Literal["no", "yes"] = "no",
    number: Literal["no", "yes"] = "no",
    run: str = "",
) -> None:
    """Write the mentions of all documents, in their order."""
    table = replace(TABLE, header="required" if header == "yes" else "none")
    table.write(_tables(corpora, run, numbered=number == "yes"), path)


def _tables(corpora: Iterable[Corpus], run: str, *, numbered: bool) -> Iterator[pl.DataFrame]:
    """The cells of the lines, with the names of the columns of the table."""
    first = 1
    for corpus in corpora:
        mentions = filled(corpus, run, first, numbered=numbered)
        first = max(first, largest_number(mentions) + 1)
        yield _cells(corpus.replace(mentions=mentions))


def _has(column: str, pattern: str) -> pl.Expr:
    return pl.col(column).str.contains(pattern).fill_null(value=False)


def _writable() -> pl.Expr:
    """Which mentions, joined with the names of their documents, a line can represent."""
    broken = pl.any_horizontal(_has(column, _BREAKS) for column in (*_TEXTS, "name"))
    return (
        ~broken
        & ~_has("name", _AS_OFFSETS)
        & (pl.col("name").str.strip_chars() != "")
        & ~_has("entity", r"\|")
        & ~_has("annotator", r"^\x{FEFF}")  # it would be taken for a byte order mark
        & (pl.col("confidence_text") != "").fill_null(value=True)
        & pl.col("fragments").is_null()
        & pl.col("start").is_between(0, _LARGEST)
        & pl.col("end").is_between(1, _LARGEST)
    )


def _writable_candidates() -> pl.Expr:
    """Which links a line can represent."""
    return pl.col("entity").is_not_null() & ~_has("entity", rf"{_BREAKS}|\|")


def _named(corpus: Corpus) -> pl.DataFrame:
    """The mentions with the names of their documents."""
    names = corpus.documents.select("name", document="row")
    return corpus.mentions.join(names, on="document", maintain_order="left")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """What no line can represent of the tables."""
    mentions = _named(corpus)
    silent = corpus.documents.join(corpus.mentions, left_on="row", right_on="document", how="anti")
    return {
        "mentions that do not fit a line": mentions.filter(~_writable()).height,
        "candidates that do not fit a line": corpus.links.filter(~_writable_candidates()).height,
        "documents without mentions": silent.height,
        "unknown confidences, written as 1.0": mentions.filter(
            _writable(), pl.col("confidence").is_null(), pl.col("confidence_text").is_null()
        ).height,
        **count_missing(corpus, mentions.filter(_writable())),
    }


def _cells(corpus: Corpus) -> pl.DataFrame:
    links = corpus.links.filter(_writable_candidates()).sort("mention_row", "rank")
    others = links.group_by("mention_row", maintain_order=True).agg(others="entity")
    rows = _named(corpus).filter(_writable())
    rows = rows.join(
        others, left_on="row", right_on="mention_row", how="left", maintain_order="left"
    )
    entities = pl.col("entity").fill_null("")
    several = pl.concat_list(entities, "others").list.join("|")
    return rows.select(
        "mention",
        "text",
        pl.col("annotator").alias("run"),
        pl.format("{}:{}-{}", "name", "start", pl.col("end") - 1).alias("extent"),
        pl.when(pl.col("others").is_null()).then(entities).otherwise(several).alias("entity"),
        pl.col("label").alias("type"),
        pl.col("mention_type").alias("mention type"),
        to_text(rows),
    )

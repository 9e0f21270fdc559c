"""The rows of a submission of CCU as tables of the representation."""

from __future__ import annotations

import polars as pl

from hlteval.converters.ccu.reading import PLACE, Tables
from hlteval.converters.ccu.submission_tables import (
    AD,
    CD,
    ED,
    INDEX,
    INDEX_FILE,
    ND,
    ND_OPEN,
    NDMAP,
    VD,
    kinds,
)
from hlteval.representation import Corpus

_KEY = ("document", "origin", "record")
_ROW = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")
#: What a line of each table should be.
_ITEMS = {
    **dict.fromkeys((ND, ND_OPEN, ED), "instance"),
    **dict.fromkeys((VD, AD), "rating"),
    CD: "change",
    NDMAP: "mapping",
    INDEX: "document",
}


def corpus_of(tables: Tables, listed: pl.DataFrame, files: pl.DataFrame) -> Corpus:
    """The corpus of the files of a submission.

    Args:
        tables: the files.
        listed: the rows of the index.
        files: of each file its `origin`, and its `file_id` by the index or else by its name.
    """
    rows = {task: tables.take_rows(kind) for task, kind in kinds().items() if task != INDEX}
    listed, files = _in_capitals(tables, listed, files, rows)
    documents = _documents(listed, files, rows)
    numbers = documents.select("processed", document="row", file_id="name")
    keyed = {
        task: _keyed(tables, own, files, numbers) for task, own in rows.items() if task != NDMAP
    }
    return Corpus(
        sources=tables.files.sources,
        documents=documents,
        instances=_instances(keyed),
        ratings=_ratings(keyed),
        changes=keyed[CD].select(_ROW, *_KEY, "at", "llr", "direction", "strength"),
        mappings=rows[NDMAP].select(_ROW, *_KEY[1:], "label", "target", "submission"),
        attributes=_attributes(listed, numbers),
        rejected_records=tables.rejected(
            {kinds()[task].name: item for task, item in _ITEMS.items()}
        ),
    )


def _in_capitals(
    tables: Tables, listed: pl.DataFrame, files: pl.DataFrame, rows: dict[str, pl.DataFrame]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The index and the files, with documents in capitals if all rows of their files have them so.

    The index is wrong then, not each row.
    """
    of_rows = [own.select("origin", right="file_id") for task, own in rows.items() if task != NDMAP]
    one = pl.concat(of_rows).unique().filter(pl.len().over("origin") == 1)
    pairs = files.filter("listed").join(one, on="origin").select("file_id", "right")
    wrong = pairs.filter(
        pl.col("file_id") != pl.col("right"),
        pl.col("file_id").str.to_uppercase() == pl.col("right"),
        ~pl.col("right").is_in(listed["file_id"].to_list()),
    )
    found = listed.join(wrong, on="file_id", maintain_order="left")
    tables.problems("CCS133", found.select(*PLACE, "file_id", "right"), "file_id")
    right = pl.col("file_id").replace(wrong["file_id"], wrong["right"])
    return listed.with_columns(right), files.with_columns(right)


def _documents(
    listed: pl.DataFrame, files: pl.DataFrame, rows: dict[str, pl.DataFrame]
) -> pl.DataFrame:
    """The documents of the index; without one, those of the rows and of files without rows."""
    if listed.height:
        own = files.select("file_id", file="origin")
        joined = listed.join(own, on="file_id", how="left", maintain_order="left")
        said = pl.col("is_processed").str.to_lowercase()
        processed = pl.when(said.is_in(["true", "false"])).then(said == "true").alias("processed")
        return joined.select(
            _ROW,
            pl.coalesce("file", "origin").alias("origin"),
            pl.col("file_id").alias("name"),
            processed,
            "message",
        )
    named = [own.select("origin", "file_id") for task, own in rows.items() if task != NDMAP]
    found = pl.concat(named)
    silent = files.join(found, on="origin", how="anti").select("origin", "file_id")
    names = pl.concat([found, silent]).sort("origin", maintain_order=True)
    unique = names.unique("file_id", keep="first", maintain_order=True)
    null = [pl.lit(None, pl.Boolean).alias("processed"), pl.lit(None, pl.String).alias("message")]
    return unique.select(_ROW, "origin", *null, name="file_id")


def _keyed(
    tables: Tables, rows: pl.DataFrame, files: pl.DataFrame, numbers: pl.DataFrame
) -> pl.DataFrame:
    """Rows with their documents; those of other documents than that of their file are rejected."""
    if rows.is_empty():
        return rows.with_columns(document=pl.lit(None, pl.Int64))
    own = files.filter("listed").select("origin", expected="file_id")
    placed = rows.join(own, on="origin", how="left", maintain_order="left")
    placed = placed.join(numbers, on="file_id", how="left", maintain_order="left")
    other = placed.filter(pl.col("file_id") != pl.col("expected"))
    tables.problems("CCS126", other.select(*PLACE, "file_id", "expected"), "file_id")
    tables.reject("CCS126", other)
    fitting = placed.filter(~(pl.col("file_id") != pl.col("expected")).fill_null(value=False))
    silent = fitting.filter(~pl.col("processed").fill_null(value=True))
    count = pl.len().over("origin").alias("count")
    shown = silent.select(*PLACE, "file_id", count).unique(
        "origin", keep="first", maintain_order=True
    )
    tables.problems("CCS127", shown)
    tables.reject("CCS127", silent)
    return fitting.filter(pl.col("processed").fill_null(value=True))


def _instances(keyed: dict[str, pl.DataFrame]) -> pl.DataFrame:
    nothing = pl.lit(None, pl.Float64)
    norms = keyed[ND].with_columns(kind=pl.lit("norm"), region=pl.lit(None, pl.String))
    of_regions = keyed[ND_OPEN].with_columns(kind=pl.lit("norm"), start=nothing, end=nothing)
    emotions = keyed[ED].with_columns(
        kind=pl.lit("emotion"), region=pl.lit(None, pl.String), status=pl.lit(None, pl.String)
    )
    columns = (*_KEY, "kind", "label", "start", "end", "status", "llr", "region")
    return pl.concat([
        rows.select(
            pl.col(*columns[:5]), pl.col("start", "end"), "status",
            pl.col("llr"), "region",
        )
        for rows in (norms, of_regions, emotions)
    ]).select(_ROW, pl.all())  # fmt: skip


def _ratings(keyed: dict[str, pl.DataFrame]) -> pl.DataFrame:
    both = [
        keyed[task].select(*_KEY, pl.col("level", "start", "end"), kind=pl.lit(kind))
        for task, kind in ((VD, "valence"), (AD, "arousal"))
    ]
    return pl.concat(both).select(_ROW, pl.all())


def _attributes(listed: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """The path of each document in the index."""
    rows = listed.join(numbers, on="file_id", how="inner", maintain_order="left")
    return rows.select(
        _ROW, *_KEY, element=pl.lit("index"), name=pl.lit(INDEX_FILE),
        value=pl.col("path").fill_null(""),
    )  # fmt: skip

"""The annotators that the public scorer draws: one for each file of needs or issues.

It draws before it looks at the list of documents, so that a list changes no draw; nor does a sample
of the documents, since what was drawn is in the rows.
"""

from __future__ import annotations

import random

import polars as pl

from hlteval.scoring.situations.lorehlt.frame_rows import ANNOTATED, FRAME, ISSUES

#: Who is chosen where the scorer draws an empty name, which is equal to no name.
NOBODY = "\n"
#: The format that the scorer reads.
TABLES = "lorehlt-sf-reference"
#: The seed of the public scorer.
OFFICIAL_SEED = 1
_OF_REFERENCE = (pl.col("part") == FRAME) & ~pl.col("system")
_NUMBER = "^[0-9]+$"


def with_annotators(rows: pl.DataFrame, given: pl.DataFrame | None, seed: int) -> pl.DataFrame:
    """Rows with the annotator that is `chosen` for each frame of the reference.

    Args:
        rows: as `frame_rows.total` gives them.
        given: annotators that are given, as `annotators.CHOSEN`; others are drawn.
        seed: of the draw.
    """
    names = _named(rows)
    drawn = _drawn(names.filter(_OF_REFERENCE), seed)
    joined = names.drop("chosen").join(drawn, on="_table", how="left", maintain_order="left")
    if given is not None:
        own = given.rename({"chosen": "_given"})
        issue = pl.col("type").is_in(ISSUES)
        joined = joined.with_columns(issue=issue).join(
            own, on=["docid", "issue"], how="left", maintain_order="left"
        )
        named = pl.when(pl.col("_table") != "").then("_given")  # speech has no annotators
        joined = joined.with_columns(chosen=pl.coalesce(named, "chosen"))
    chosen = pl.when(_OF_REFERENCE).then("chosen")
    return joined.with_columns(chosen=chosen).select(rows.columns)


def of_chosen(frames: pl.DataFrame) -> pl.DataFrame:
    """The frames of the annotators that are chosen."""
    return frames.filter(pl.col("annotator") == pl.col("chosen"))


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with `_table`, `_issues` and annotators as the scorer distinguishes them.

    Numbers are equal if their values are. Speech, and what no table names an annotator for, is of
    one annotator without a name.
    """
    annotated = pl.when(_OF_REFERENCE & (pl.col("modality").fill_null("text") != "speech"))
    folder = pl.col("file").str.extract("(needs|issues)/[^/]*$") == "issues"
    issues = pl.coalesce(folder, pl.col("type").is_in(ISSUES))
    unknown = pl.format("{}\n{}", "docid", issues.cast(pl.String))
    rows = rows.with_columns(
        annotator=annotated.then("annotator"),
        _issues=issues,
        _table=annotated.then(pl.coalesce("file", unknown)).otherwise(pl.lit("")),
    )
    name = pl.col("annotator")
    numbers = name.str.contains(_NUMBER).all().over("_table") & name.str.contains(_NUMBER)
    number = name.str.strip_chars_start("0").replace("", "0")
    tables = ((rows["part"] == ANNOTATED) & (rows["file"] == TABLES)).any()
    unnamed = (pl.col("_table") == "") | pl.lit(not tables) & name.is_null().all().over("_table")
    return rows.with_columns(
        annotator=pl.when(unnamed).then(pl.lit("")).when(numbers).then(number).otherwise(name)
    )


def _drawn(frames: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The annotator of each table: those of needs in order, then those of issues."""
    by_record = frames.sort("_issues", "_table", "record", "frame", maintain_order=True)
    files = by_record.group_by("_issues", "_table", maintain_order=True).agg(
        pl.col("annotator").unique(maintain_order=True)
    )
    numbers = random.Random(seed)  # noqa: S311
    rows = [
        (table, _name(names[0] if len(names) == 1 else numbers.choice(names)))
        for _, table, names in files.iter_rows()
    ]
    schema = {"_table": pl.String, "chosen": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row").unique("_table", keep="first")


def _name(drawn: str | None) -> str:
    return NOBODY if drawn is None else drawn

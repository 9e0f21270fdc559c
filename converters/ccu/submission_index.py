"""The index of a submission of CCU: its documents, their files, and what is wrong with both."""

from __future__ import annotations

import polars as pl

from hlteval.converters.ccu.reading import PLACE, Tables
from hlteval.converters.ccu.submission_files import Layout
from hlteval.converters.ccu.submission_tables import INDEX, kinds
from hlteval.findings.suggest import hints


def read_index(tables: Tables, layout: Layout) -> pl.DataFrame:
    """The rows of the index, each with the `member` that its path names, null if there is none.

    Args:
        tables: to which its file is added.
        layout: the files of the submission.
    """
    kind = kinds()[INDEX]
    for other in layout.others:
        tables.named("CCS120", other.display, other=layout.index.name if layout.index else "")
    if layout.index is not None:
        tables.read(layout.index, kind)
    rows = tables.take_rows(kind)
    first = pl.col("record").first().over("file_id")
    again = rows.with_columns(first=first).filter(pl.col("record") != pl.col("first"))
    tables.problems("CCS122", again.select(*PLACE, "file_id", "first"), "file_id")
    tables.reject("CCS122", again)
    kept = rows.unique("file_id", keep="first", maintain_order=True)
    return _with_members(tables, layout, kept)


def _with_members(tables: Tables, layout: Layout, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of the index with the files that they name; each file belongs to one document."""
    tables.problems("CCS130", rows.filter(pl.col("path").is_null()).select(*PLACE, "file_id"))
    names = set(layout.files)
    paths = rows["path"].to_list()
    found = [layout.resolve(path) if path else "" for path in paths]
    resolved = rows.with_columns(member=pl.Series(found, dtype=pl.String))
    wrong = resolved.filter(pl.col("member").is_null()).select(*PLACE, "file_id", "path")
    tables.problems("CCS124", wrong, "path")
    missing = resolved.filter(~pl.col("member").is_in(list(names)), pl.col("member") != "")
    unnamed = {member.name for member in layout.tables}
    free = sorted(map(layout.inside, unnamed - set(found)))
    meant = hints(missing["path"], free, "add the file")
    meant |= {
        path: f"write {layout.inside(sheet)} as tab-separated text, as {path}"
        for path, member in missing.select("path", "member").iter_rows()
        if (sheet := layout.with_other_suffix(member))
    }
    hinted = missing.with_columns(
        hint=pl.Series([*map(meant.get, missing["path"])], dtype=pl.String)
    )
    if not layout.single:
        tables.problems("CCS123", hinted.select(*PLACE, "file_id", "path", "hint"), "path")
    tables.problems("CCS132", _above(layout, resolved, names), "path")
    there = pl.when(pl.col("member").is_in(list(names))).then(pl.col("member"))
    placed = resolved.with_columns(member=there)
    other = pl.col("file_id").first().over("member").alias("other")
    shared = placed.with_columns(other).filter(
        pl.col("member").is_not_null(), pl.col("other") != pl.col("file_id")
    )
    tables.problems("CCS131", shared.select(*PLACE, "path", "other"), "path")
    first = pl.col("file_id") == pl.col("file_id").first().over("member")
    return placed.with_columns(member=pl.when(first).then(pl.col("member")))


def _above(layout: Layout, rows: pl.DataFrame, names: set[str]) -> pl.DataFrame:
    """The rows whose paths begin above the folder of the index."""
    read = rows.filter(pl.col("member").is_in(list(names)))
    inside = [layout.inside(member) for member in read["member"]]
    named = read.with_columns(inside=pl.Series(inside, dtype=pl.String))
    above = pl.col("path").str.replace(r"^(?:\./)+", "") != pl.col("inside")
    return named.filter(above).select(*PLACE, "path", "inside")

"""The rows of LoReHLT annotation as tables of the representation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from hlteval.converters.situations.lorehlt.reference_tables import (
    EMOTIONS,
    ISSUES,
    MENTIONS,
    NEEDS,
    NONE,
    OUT_OF_DOMAIN,
    SENTIMENTS,
    SPEECH,
    Files,
)
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.representation import TABLES, Corpus

TEXT, AUDIO = "text", "speech"
#: The columns without a place in the representation, by kind; they become attributes.
EXTRAS = {
    NEEDS: ("proxy_status", "urgency_status", "reported_by", "resolved_by", "description"),
    ISSUES: ("proxy_status", "urgency_status", "description"),
    MENTIONS: ("mention_status",),
}
_FRAME = (
    *("document", "origin", "record", "frame", "kind", "label", "place", "place_kb", "status"),
    *("scope", "severity", "resolution", "annotator"),
)
_SENTIMENT = (
    *("document", "origin", "record", "frame_row", "target", "holder", "holder_kb", "value"),
    *("polarity", "fear", "anger", "joy", "annotator"),
)
NUMBERS, LACKS = "numbers", "lacks"
#: The attributes of files and records that say how the software of the scorer reads them.
READ_BY_SCORER = (NUMBERS, LACKS, NONE)
_RECORD = ("document", "origin", "record")
_ATTRIBUTE = (*_RECORD, "element", "name", "value")
_MENTION = ("document", "origin", "record", "mention", "label", "start", "end", "text", "entity")
#: Cells without a value: `none`, an empty one, and what the software of the scorer skips.
_MISSING = (
    *(NONE, "", "NA", "N/A", "n/a", "nan", "NaN", "NULL", "null", "None", "#N/A", "<NA>", "-nan"),
    *("#N/A N/A", "#NA", "-NaN", "1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
)
#: Cells that are values for the software of the scorer.
_NONES = (NONE, "None", "<NA>")
_NUMBER = r"^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$"
_DEGREES = ("scope", "severity")
#: The columns whose numbers the software of the scorer does not compare with text, by kind.
_NUMERIC = {NEEDS: _DEGREES, ISSUES: _DEGREES, SPEECH: (*_DEGREES, "name", "entry")}
_VALUED = ("place", "place_kb", "status", "scope", "severity", "resolution")


def corpus_of(files: Files) -> Corpus:
    """The corpus of some files."""
    rows = {kind: _rows(files, kind) for kind in (NEEDS, ISSUES, SPEECH, SENTIMENTS, MENTIONS)}
    documents = _documents(files, rows)
    numbers = documents.select("name", document="row")
    keyed = {
        kind: table.join(numbers, on="name", how="left", maintain_order="left")
        for kind, table in rows.items()
    }
    frames = _frames(keyed)
    rejected: list[dict[str, object]] = []
    for group in files.groups.values():
        rejected += group.rejected(len(rejected))
    return Corpus(
        sources=files.sources,
        documents=documents,
        frames=frames,
        sentiments=_sentiments(keyed[SENTIMENTS], frames),
        mentions=_mentions(keyed[MENTIONS]),
        attributes=_numbered(
            [
                _attributes(keyed),
                _columns_of_numbers(keyed),
                _nones(keyed),
                _lacking(files, documents),
            ]
        ),
        rejected_records=rejected,
    )


def _rows(files: Files, kind: str) -> pl.DataFrame:
    """The rows of all tables of a kind, with the columns that any of them has as text."""
    tables = [group.rows.drop("line") for group in files.of_kind(kind)]
    known = [table.select(pl.exclude("^\t.*$")) for table in tables]
    empty = pl.DataFrame(schema={"name": pl.String, "origin": pl.Int64, "record": pl.Int64})
    return files.named(pl.concat([empty, *known], how="diagonal"))


def _documents(files: Files, rows: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The documents, sorted by name: those of rows, and those of files without rows."""
    placed = [
        table.select("name", "origin", modality=pl.lit(AUDIO if kind == SPEECH else TEXT))
        for kind, table in rows.items()
    ]
    silent = [
        (name, origin, AUDIO if kind == SPEECH else TEXT)
        for origin, kind, name in files.header_only
    ]
    schema = {"name": pl.String, "origin": pl.Int64, "modality": pl.String}
    alone = pl.DataFrame(silent, schema=schema, orient="row")
    named = pl.concat([*placed, alone]).unique("name", keep="first", maintain_order=True)
    return named.sort("name").with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))


def _valued(column: str) -> pl.Expr:
    """A cell, null if it says that there is no value."""
    return pl.when(~pl.col(column).is_in(_MISSING)).then(pl.col(column))


def _with(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Rows with columns that are null where no table has them."""
    missing = [pl.lit(None, pl.String).alias(name) for name in columns if name not in rows.columns]
    return rows.with_columns(missing)


def _frames(keyed: dict[str, pl.DataFrame]) -> pl.DataFrame:
    tables = [
        rows.with_columns(*map(_valued, _VALUED), kind=pl.lit(SITUATION)).select(_FRAME)
        for rows in _situations(keyed)
    ]
    frames = pl.concat(tables)
    return frames.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))


def _situations(keyed: dict[str, pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The rows of needs, issues and speech that are situations, with the columns of frames."""
    for kind in (NEEDS, ISSUES, SPEECH):
        rows = keyed[kind].rename({"entry": "place_kb"}, strict=False)
        rows = _with(rows, ("frame", "label", "annotator", *_VALUED))
        yield rows.filter(pl.col("label") != OUT_OF_DOMAIN)


def _sentiments(rows: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """The sentiments, each with the row of the frame that it targets.

    Where annotators gave a frame under one identifier, it is that of the same annotator, or else
    the first of the document.
    """
    rows = _with(rows, ("value", "polarity", "emotions", "holder", "target", "entry", "annotator"))
    rows = rows.with_columns(holder_kb=_valued("entry"), value=pl.col("value").cast(pl.Float64))
    rows = rows.with_columns(_valued("polarity"), _valued("holder"), _valued("target"))
    own = frames.select("document", "annotator", own="row", target="frame")
    own = own.unique(["document", "annotator", "target"], keep="first", maintain_order=True)
    first = own.unique(["document", "target"], keep="first", maintain_order=True)
    first = first.select("document", "target", first="own")
    rows = rows.join(
        own, on=["document", "annotator", "target"], how="left", maintain_order="left",
        nulls_equal=True,
    )  # fmt: skip
    rows = rows.join(first, on=["document", "target"], how="left", maintain_order="left")
    felt = pl.col("emotions").fill_null("").str.replace_all(" ", "").str.split(",")
    emotions = {
        name: felt.list.contains(emotion)
        for name, emotion in zip(("fear", "anger", "joy"), EMOTIONS, strict=True)
    }
    table = rows.with_columns(frame_row=pl.coalesce("own", "first"), **emotions)
    return table.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *_SENTIMENT)


def _mentions(rows: pl.DataFrame) -> pl.DataFrame:
    rows = _with(rows, ("mention", "label", "text", "entity", "start", "last"))
    offsets = rows.with_columns(
        start=pl.col("start").cast(pl.Int64), end=pl.col("last").cast(pl.Int64) + 1
    )
    named = offsets.with_columns(
        mention=pl.col("mention").fill_null(""), label=pl.col("label").fill_null("")
    )
    fragments = TABLES["mentions"].schema["fragments"]
    table = named.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *_MENTION)
    return table.with_columns(fragments=pl.lit(None, dtype=fragments))


def _attributes(keyed: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The cells without a place in the representation: an attribute of the record for each."""
    tables = []
    for kind, columns in EXTRAS.items():
        rows = keyed[kind]
        known = [name for name in columns if name in rows.columns]
        cells = rows.select(*_RECORD, *known).unpivot(known, index=_RECORD, variable_name="name")
        element = "mention" if kind == MENTIONS else "frame"
        tables.append(
            cells.with_columns(pl.col("value").cast(pl.String), element=pl.lit(element))
            .drop_nulls("value")
            .select(*_ATTRIBUTE)
        )
    return pl.concat(tables).sort(*_RECORD, maintain_order=True)


def _columns_of_numbers(keyed: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The columns of files in which nothing but numbers is written, rows out of domain included."""
    tables = []
    for kind, columns in _NUMERIC.items():
        rows = _with(keyed[kind], columns)
        cells = {name: pl.col(name).fill_null("") for name in columns}
        known = {name: cell.str.contains(_NUMBER) for name, cell in cells.items()}
        unwritten = {
            name: cell.is_in(_MISSING) & ~cell.is_in(_NONES) for name, cell in cells.items()
        }
        listed = []
        for name in columns:
            only = (known[name] | unwritten[name]).all() & known[name].any()
            title = "place_kb" if name == "entry" else name
            listed.append(pl.when(only.over("origin")).then(pl.lit(title)))
        value = pl.concat_str(listed, separator=",", ignore_nulls=True)
        tables.append(rows.select(document="document", origin="origin", value=value).unique())
    found = pl.concat(tables).filter(pl.col("value") != "").sort("origin", "document")
    return _of_files(found, NUMBERS)


def _nones(keyed: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The columns of each situation in which `none` is written where a value is expected."""
    written = [
        pl.when(pl.col(name).is_in(_NONES)).then(pl.lit(name))
        for name in ("status", "resolution", "place_kb")
    ]
    value = pl.concat_str(written, separator=",", ignore_nulls=True)
    rows = pl.concat([rows.select(*_RECORD, value=value) for rows in _situations(keyed)])
    named = rows.with_columns(element=pl.lit("frame"), name=pl.lit(NONE))
    return named.filter(pl.col("value") != "").select(*_ATTRIBUTE)


def _lacking(files: Files, documents: pl.DataFrame) -> pl.DataFrame:
    """Which files of needs and issues have no rows, or no column of annotators."""
    kinds = (NEEDS, ISSUES)
    rows = [(name, origin, "rows") for origin, kind, name in files.header_only if kind in kinds]
    schema = {"name": pl.String, "origin": pl.Int64, "value": pl.String}
    empty = pl.DataFrame(rows, schema=schema, orient="row")
    groups = (group for kind in kinds for group in files.of_kind(kind))
    unnamed = [
        files.named(group.rows).select("name", "origin", value=pl.lit("user_id")).unique()
        for group in groups
        if "annotator" not in group.rows.columns
    ]
    found = pl.concat([empty, *unnamed]).join(
        documents.select("name", document="row"), on="name", maintain_order="left"
    )
    return _of_files(found.sort("origin", "document"), LACKS)


def _of_files(values: pl.DataFrame, name: str) -> pl.DataFrame:
    """Attributes of the files of documents."""
    record = pl.lit(0, pl.Int64)
    named = values.with_columns(record=record, element=pl.lit("file"), name=pl.lit(name))
    return named.select(*_ATTRIBUTE)


def _numbered(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    joined = pl.concat(tables)
    return joined.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), pl.all())

"""The rows of a reference of CCU as tables of the representation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import polars as pl

from hlteval.converters.ccu.tables import (
    PLACE,
    READ_PLACE,
    Kind,
    Tables,
    describe_number,
    describe_word,
    identifier,
    words,
)
from hlteval.representation import Corpus
from hlteval.syntax.tsv import Column

# The tables of a reference of CCU.


SEGMENTS, FILE_INFO = "docs/segments.tab", "docs/file_info.tab"
VERSIONS, NORM_INFO = "docs/versions_per_file.tab", "docs/norm_info.tab"
NORMS, EMOTIONS = "data/norms.tab", "data/emotions.tab"
LEVELS, CHANGES = "data/valence_arousal.tab", "data/changepoint.tab"
INDEX = "index_files/*.index.tab"
SYSTEM_INPUT = "system_input.index.tab"
#: Cells of a reference that is not finished, and of what has no value.
TO_DO, NOT_APPLICABLE = "EMPTY_TBD", "EMPTY_NA"
NONE, NO_ANNOTATION = "none", "noann"
#: The columns of numbers.
NUMBERS = ("start", "end", "length", "timestamp", "valence", "arousal")
NO_VALUE = (NONE, NO_ANNOTATION, NOT_APPLICABLE)


def _reference_tables_valued(name: str, heading: str, pattern: str, *others: str) -> Column:
    """A column of numbers, or words in their place; references of LDC have spaces beside them."""
    whole = f" *(?:{'|'.join([pattern, *others, TO_DO])}) *"
    return Column(name, pattern=whole, code="CCR107", heading=heading, describe=describe_number)


def _several() -> Column:
    return Column(
        "multi_speaker",
        pattern="|".join(["(?i:true|false)", *NO_VALUE, TO_DO]),
        code="CCR110",
        nullable=True,
        tolerated=True,
        describe=describe_word,
    )


def _lists() -> Mapping[str, tuple[Column, ...]]:
    """The columns of the tables of docs."""
    name = identifier("CCR", "file_id")
    return {
        SEGMENTS: (
            *(name, identifier("CCR", "segment_id")),
            *(
                _reference_tables_valued("start", "start", PLACE),
                _reference_tables_valued("end", "end", PLACE),
            ),
        ),
        FILE_INFO: (
            identifier("CCR", "file_id", "file_uid"),
            words("CCR", "lang_id_manual", optional=True),
            words("CCR", "type"),
            _reference_tables_valued("length", "length", PLACE, ""),
        ),
        VERSIONS: (name,),
        NORM_INFO: (
            *(identifier("CCR", "norm"), words("CCR", "current_type")),
            words("CCR", "hidden_for", optional=True),
            words("CCR", "definition_file", optional=True),
        ),
        INDEX: (name,),
    }


def _data() -> Mapping[str, tuple[Column, ...]]:
    """The columns of the tables of data."""
    user, name = words("CCR", "user_id"), identifier("CCR", "file_id")
    judged = (user, name, identifier("CCR", "segment_id"))
    return {
        NORMS: (*judged, identifier("CCR", "norm"), words("CCR", "status")),
        EMOTIONS: (*judged, identifier("CCR", "emotion"), _several()),
        LEVELS: (
            *judged,
            _reference_tables_valued("valence", "valence_continuous", "[0-9]{1,15}", NO_ANNOTATION),
            words("CCR", "valence_binned"),
            _reference_tables_valued("arousal", "arousal_continuous", "[0-9]{1,15}", NO_ANNOTATION),
            words("CCR", "arousal_binned"),
        ),
        CHANGES: (
            *(user, name, _reference_tables_valued("timestamp", "timestamp", PLACE, *NO_VALUE)),
            words("CCR", "direction_impact", optional=True),
            *(words("CCR", "strength_impact"), words("CCR", "evidence")),
        ),
    }


@cache
def kinds() -> Mapping[str, Kind]:
    """The tables of a reference by the ends of their paths."""
    found = {path: Kind(path, columns, "CCR") for path, columns in {**_lists(), **_data()}.items()}
    older = (("impact_scalar", "strength_impact"), ("comment", "evidence"))
    return found | {
        FILE_INFO: Kind(FILE_INFO, found[FILE_INFO].columns, "CCR", others=True, short="file_uid"),
        VERSIONS: Kind(VERSIONS, found[VERSIONS].columns, "CCR", others=True),
        INDEX: Kind(INDEX, found[INDEX].columns, "CCR", others=True),
        CHANGES: Kind(CHANGES, found[CHANGES].columns, "CCR", also=older),
    }


_KEY = ("document", "origin", "record")
_ROW = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")
#: What a line of each table should be.
REJECTED = {
    **dict.fromkeys((NORMS, EMOTIONS), "instance"),
    SEGMENTS: "region",
    LEVELS: "rating",
    CHANGES: "change",
    NORM_INFO: "entity",
    **dict.fromkeys((FILE_INFO, VERSIONS, INDEX), "document"),
}


def corpus_of(tables: Tables) -> Corpus:
    """The corpus of the files of a reference."""
    read = {name: _bare(tables, tables.take_rows(kind)) for name, kind in kinds().items()}
    for name in (NORMS, EMOTIONS, LEVELS, CHANGES):
        read[name] = _finished(tables, read[name])
    documents = _documents(tables, read)
    own = read[FILE_INFO].join(documents, left_on="file_id", right_on="name", how="semi")
    read[FILE_INFO] = own.sort("line")  # it lists files of other references too
    for name, rows in read.items():
        read[name] = _unique(tables, rows, _UNIQUE.get(name, ()))
    numbers = documents.select("row", file_id="name").rename({"row": "document"})
    keyed = {
        name: rows.join(numbers, on="file_id", how="left", maintain_order="left")
        for name, rows in read.items()
        if "file_id" in rows.columns
    }
    unlisted = keyed[INDEX].filter(pl.col("document").is_null())
    tables.problems("CCR124", unlisted.select(*READ_PLACE, "file_id"), "file_id")
    segments, norm_info = read[SEGMENTS], read[NORM_INFO]
    read.clear()  # tables of millions of rows are kept once
    places = {
        name: _placed(tables, keyed.pop(name), segments) for name in (NORMS, EMOTIONS, LEVELS)
    }
    ratings = _ratings(places.pop(LEVELS))
    return Corpus(
        sources=tables.files.sources,
        documents=documents,
        regions=_regions(keyed[SEGMENTS]),
        instances=_instances(tables, places),
        ratings=ratings,
        changes=_changes(keyed[CHANGES]),
        attributes=_attributes(tables, keyed),
        entities=_entities(norm_info),
        rejected_records=tables.rejected(REJECTED),
    )


#: The columns that identify a row.
_UNIQUE = {
    SEGMENTS: ("file_id", "segment_id"),
    FILE_INFO: ("file_id",),
    VERSIONS: ("file_id",),
    NORM_INFO: ("norm",),
    INDEX: ("origin", "file_id"),
}


def _bare(tables: Tables, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with numbers that have no spaces beside them."""
    names = [name for name in NUMBERS if name in rows.columns]
    bare = [pl.col(name).str.strip_chars(" ").replace("", None) for name in names]
    for name in names:
        spaced = rows.filter(pl.col(name).str.contains("^ | $"))
        tables.problems("CCR111", spaced.select(*READ_PLACE, given=name), name)
    return rows.with_columns(bare)


def _finished(tables: Tables, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows without those that annotators have not finished."""
    texts = [name for name, dtype in rows.schema.items() if dtype == pl.String]
    to_do = pl.any_horizontal(pl.col(texts) == TO_DO).fill_null(value=False)
    left = rows.filter(to_do)
    tables.problems("CCR122", left.head(1).select(*READ_PLACE, pl.lit(left.height).alias("count")))
    return rows.filter(~to_do)


def _unique(tables: Tables, rows: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """The rows without those that repeat an earlier one, or contradict it.

    Args:
        tables: for findings.
        rows: of a table.
        keys: the columns that identify a row, if any do.
    """
    cells = [name for name in rows.columns if name not in {"record", "line", "group"}]
    kept = rows.unique(cells, keep="first", maintain_order=True)
    if kept.height < rows.height:
        again = rows.join(kept, on=["group", "line"], how="anti", maintain_order="left")
        one = kept.select(*cells, first="record")
        found = again.join(one, on=cells, how="left", nulls_equal=True, maintain_order="left")
        count = pl.len().over("origin").alias("count")
        shown = found.select(*READ_PLACE, "first", count).unique("origin", maintain_order=True)
        tables.problems("CCR123", shown.sort("line"))
    if not keys:
        return kept
    place = pl.col("record").first().over(keys)
    marked = kept.with_columns(first=place)
    other = marked.filter(pl.col("line") != pl.col("line").first().over(keys))
    tables.problems("CCR126", other.select(*READ_PLACE, "first", name=keys[-1]), keys[-1])
    return kept.join(other, on=["group", "line"], how="anti", maintain_order="left")


def _documents(tables: Tables, read: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The documents: those of the first index of system input, then those of any other row."""
    sources = tables.files.sources.select("member", origin="row")
    index = read[INDEX].join(sources, on="origin", how="left", maintain_order="left")
    inputs = index.filter(pl.col("member").str.ends_with(SYSTEM_INPUT))
    inputs = inputs.filter(pl.col("member") == pl.col("member").min())
    named = [inputs, *(read[name] for name in (SEGMENTS, NORMS, EMOTIONS, LEVELS, CHANGES))]
    names = pl.concat([rows.select("origin", name="file_id") for rows in named])
    unique = names.unique("name", keep="first", maintain_order=True)
    info = (
        read[FILE_INFO]
        .unique("file_id", keep="first", maintain_order=True)
        .select("length", name="file_id", modality="type", language="lang_id_manual")
    )
    joined = unique.join(info, on="name", how="left", maintain_order="left")
    length = pl.col("length").cast(pl.Float64)
    return joined.select(_ROW, "origin", "name", "modality", "language", length)


def _regions(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(_ROW, *_KEY, pl.col("start", "end").cast(pl.Float64), region="segment_id")


def _placed(tables: Tables, rows: pl.DataFrame, segments: pl.DataFrame) -> pl.DataFrame:
    """Rows with the start and the end of their segments."""
    known = segments.select("file_id", "segment_id", pl.col("start", "end").cast(pl.Float64))
    known = known.with_columns(found=True)
    keys = ["file_id", "segment_id"]
    placed = rows.join(known, on=keys, how="left", maintain_order="left")
    unknown = placed.filter(pl.col("found").is_null()).select(*READ_PLACE, "segment_id", "file_id")
    tables.problems("CCR121", unknown, "segment_id")
    return placed


_INSTANCE = (*_KEY, *("kind", "label", "start", "end", "status", "region", "several", "annotator"))


def _instances(tables: Tables, places: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The norms, then the emotions: one row for each emotion of a list."""
    norms = places[NORMS].with_columns(
        kind=pl.lit("norm"),
        label="norm",
        status=_valued("status"),
        several=pl.lit(None, pl.Boolean),
    )
    labels = pl.col("emotion").str.split(",")
    emotions = places[EMOTIONS].with_columns(
        kind=pl.lit("emotion"),
        label=labels,
        status=pl.lit(None, pl.String),
        several=pl.when(pl.col("multi_speaker").str.contains("(?i)^(?:true|false)$")).then(
            pl.col("multi_speaker").str.to_lowercase() == "true"
        ),
    )
    emotions = emotions.explode("label").with_columns(pl.col("label").str.strip_chars(" "))
    empty = emotions.filter(pl.col("label") == "")
    tables.problems("CCR125", empty.select(*READ_PLACE, "emotion"), "emotion")
    emotions = emotions.filter(pl.col("label") != "")
    renamed = [
        rows.rename({"segment_id": "region", "user_id": "annotator"}).select(_INSTANCE)
        for rows in (norms, emotions)
    ]
    return pl.concat(renamed).select(_ROW, pl.all())


def _valued(column: str) -> pl.Expr:
    """A cell, null if it says that there is no value."""
    return pl.when(pl.col(column) != NOT_APPLICABLE).then(pl.col(column)).alias(column)


def _ratings(rows: pl.DataFrame) -> pl.DataFrame:
    """Two ratings of each row, of valence and of arousal."""
    both = [
        rows.select(
            *_KEY, "start", "end", kind=pl.lit(kind), region="segment_id",
            annotator="user_id", bin=f"{kind}_binned",
            level=pl.col(kind).cast(pl.Float64, strict=False),
        )
        for kind in ("valence", "arousal")
    ]  # fmt: skip
    at = pl.int_range(2 * rows.height, eager=True)
    joined = pl.concat(both)[at // 2 + (at % 2) * rows.height]  # one of each in turn
    return joined.select(_ROW, pl.all())


def _changes(rows: pl.DataFrame) -> pl.DataFrame:
    at = pl.when(~pl.col("timestamp").is_in(NO_VALUE)).then(pl.col("timestamp"))
    return rows.select(
        _ROW, *_KEY, at=at.cast(pl.Float64), direction="direction_impact",
        strength="strength_impact", evidence="evidence", annotator="user_id",
    )  # fmt: skip


def _attributes(tables: Tables, keyed: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """What only a reference says of a document: its counts, its files, and its indices."""
    sources = tables.files.sources.select("member", origin="row")
    index = keyed[INDEX].join(sources, on="origin", how="left", maintain_order="left")
    cells = [name for name in index.columns if name.startswith("+")]
    value = pl.concat_str([pl.col(cells)], separator="\t") if cells else pl.lit("")
    listed = index.select(
        *_KEY, element=pl.lit("index"), value=value.fill_null(""),
        name=pl.col("member").str.replace("^.*/", ""),
    ).select(*_KEY, "element", "name", "value")  # fmt: skip
    others = [_cells(keyed[FILE_INFO], "file_info"), _cells(keyed[VERSIONS], "versions_per_file")]
    joined = pl.concat([listed, *others]).filter(pl.col("document").is_not_null())
    return joined.select(_ROW, pl.all())


def _cells(rows: pl.DataFrame, element: str) -> pl.DataFrame:
    """The cells of columns that have no place of their own, each as an attribute."""
    names = [name for name in rows.columns if name.startswith("+")]
    cells = rows.unpivot(names, index=[*_KEY], variable_name="name")
    cells = cells.drop_nulls("value").sort("origin", "record", maintain_order=True)
    own = pl.col("name").str.strip_prefix("+"), pl.col("value").cast(pl.String)
    return cells.select(*_KEY, pl.lit(element).alias("element"), *own)


def _entities(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(
        _ROW, entity="norm", label="current_type", source="hidden_for", name="definition_file"
    )

"""The tables of a batch of LTF files: keyed by file and element, then as a corpus.

Both readers, in bulk and element by element, give the former; this module makes a corpus of them,
with the text of every document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from hlteval.representation import TABLES, Corpus

#: Most code points of a document outside of segments; more are a mistake or an attack.
FILLED = 100_000

_PLACE = ("row", "document", "origin", "record")
#: The columns of each table that LTF fills.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "segments": (*_PLACE, "name", "start", "end", "text", "part"),
    "tokens": (*_PLACE, "segment_row", "name", "start", "end", "text", "pos", "morph"),
    "attributes": (*_PLACE, "element", "name", "value"),
    "rejected_records": (
        *_PLACE,
        *("code", "kind", "id", "label", "text", "column", "end_column", "expected"),
    ),
    "documents": ("row", "origin", "name", "text", "language"),
}

_KEY = {"origin": pl.Int64, "record": pl.Int64, "holder": pl.Int64}
#: The columns of each table before it has keys: the file, the ordinal of the element and of the
#: document that holds it (`holder`); for a token also of its segment.
SCHEMAS: Mapping[str, Mapping[str, pl.DataType | type[pl.DataType]]] = {
    name: {
        **_KEY,
        **({"segment": pl.Int64} if name == "tokens" else {}),
        **{
            column: TABLES[name].schema[column]
            for column in COLUMNS[name]
            if column not in (*_PLACE, "segment_row")
        },
    }
    for name in ("segments", "tokens", "attributes", "rejected_records")
} | {"documents": {**_KEY, "name": pl.String}}

LANGUAGE, LENGTH, MD5 = "lang", "raw_text_char_length", "raw_text_md5"


class Tables(NamedTuple):
    """The tables of files, with the columns of `SCHEMAS`."""

    documents: pl.DataFrame
    segments: pl.DataFrame
    tokens: pl.DataFrame
    attributes: pl.DataFrame
    rejected_records: pl.DataFrame

    @classmethod
    def of(cls, **rows: Sequence[tuple[object, ...]]) -> Tables:
        """Tables of rows, with the columns in the order of `SCHEMAS`; other tables are empty."""
        return cls(*(_frame(rows.get(name, ()), name) for name in cls._fields))

    @classmethod
    def concat(cls, parts: Sequence[Tables]) -> Tables:
        """The tables of several parts, in the order of their files."""
        if len(parts) == 1:
            return parts[0]
        tables = (pl.concat(tables) for tables in zip(*parts, strict=True))
        return cls(*(table.sort("origin", "record", maintain_order=True) for table in tables))


def _frame(rows: Sequence[tuple[object, ...]], name: str) -> pl.DataFrame:
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMAS[name])
    return pl.DataFrame(
        [
            pl.Series(column, values, dtype=dtype)
            for (column, dtype), values in zip(SCHEMAS[name].items(), columns, strict=True)
        ]
    )


def corpus(sources: pl.DataFrame, tables: Tables) -> Corpus:
    """The corpus of a batch, whose documents have different names."""
    named = tables.documents
    keys = named.select("origin", holder="record", document=pl.int_range(pl.len(), dtype=pl.Int64))
    segments = _keyed(tables.segments, keys)
    rows = segments.select("origin", segment="record", segment_row="row")
    tokens = _keyed(tables.tokens, keys).join(
        rows, on=["origin", "segment"], how="left", maintain_order="left"
    )
    attributes = _keyed(tables.attributes, keys)
    rejected = _keyed(tables.rejected_records, keys)
    documents = keys.select("origin", "document", row="document", name=named["name"])
    documents = documents.join(_described(attributes), on="document", how="left")
    documents = _with_texts(documents, segments, rejected).sort("row")
    found = {
        "documents": documents,
        "segments": segments,
        "tokens": tokens,
        "attributes": attributes,
        "rejected_records": rejected,
    }
    return Corpus(
        sources=sources,
        **{
            name: table.select(c for c in COLUMNS[name] if c in table.columns)
            for name, table in found.items()
        },
    )


def _keyed(table: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    """The rows of the documents that are kept, with their keys."""
    found = table.join(keys, on=["origin", "holder"], how="inner", maintain_order="left")
    return found.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))


def _described(attributes: pl.DataFrame) -> pl.DataFrame:
    """The language and the declared length of each document; its own language before its file's."""
    named = attributes.filter(pl.col("element").is_in(["DOC", "LCTL_TEXT"]))
    of_file = pl.col("element") == "LCTL_TEXT"
    own, other = (
        pl.col("value").filter((pl.col("name") == LANGUAGE) & element).first()
        for element in (~of_file, of_file)
    )
    length = pl.col("value").filter(pl.col("name") == LENGTH)
    return named.group_by("document").agg(
        language=pl.coalesce(own, other), declared=length.first().str.to_integer(strict=False)
    )


def _with_texts(
    documents: pl.DataFrame, segments: pl.DataFrame, rejected: pl.DataFrame
) -> pl.DataFrame:
    """The documents with their texts where these can be rebuilt."""
    whole = documents.join(rejected.select("document"), on="document", how="anti")
    built = rebuilt(whole.select("document", "declared"), segments)
    return documents.join(built.select("document", "text"), on="document", how="left")


def rebuilt(documents: pl.DataFrame, segments: pl.DataFrame) -> pl.DataFrame:
    r"""The texts of documents, rebuilt from their segments with line feeds between.

    The rule of the format: line feeds fill the text up to the start of each segment, and after the
    last one up to the declared length.

    Args:
        documents: `document` and `declared`, its length in code points or null.
        segments: `document`, `start`, `end` and `text`, in the order of the file.

    Returns:
        `document`, `text` and `length`, the code points up to the end of the last segment. There is
        no text where a segment has none, or where more than `FILLED` line feeds would be needed.

    Examples:
        >>> segments = pl.DataFrame({"document": [0, 0], "start": [1, 5], "end": [3, 6],
        ...                          "text": ["ab", "c"]})
        >>> rebuilt(pl.DataFrame({"document": [0], "declared": [8]}), segments)["text"].to_list()
        ['\nab\n\nc\n\n']
    """
    before = pl.col("end").shift(1, fill_value=0).over("document")
    gap = (pl.col("start") - before).clip(lower_bound=0)
    pieces = segments.select("document", "text", gap=gap)
    some = pieces.group_by("document", maintain_order=True).agg(
        # each is cut back, so that no sum of them runs over the end of the integers
        filled=pl.col("gap").clip(upper_bound=FILLED + 1).sum(),
        complete=pl.col("text").is_not_null().all(),
    )
    some = some.filter(pl.col("complete") & (pl.col("filled") <= FILLED))
    pieces = pieces.join(some.select("document"), on="document", how="semi", maintain_order="left")
    texts = pieces.with_columns(text=pl.lit(_feeds(pieces["gap"])) + pl.col("text"))
    found = texts.group_by("document", maintain_order=True).agg(pl.col("text").str.join(""))
    found = documents.join(found, on="document", how="inner", maintain_order="left")
    found = found.with_columns(length=pl.col("text").str.len_chars().cast(pl.Int64))
    tail = (pl.col("declared").fill_null(0) - pl.col("length")).clip(lower_bound=0)
    found = found.with_columns(tail=tail).filter(pl.col("tail") <= FILLED)
    return found.select("document", "length", text=pl.col("text") + pl.lit(_feeds(found["tail"])))


def unlike(corpus: Corpus) -> pl.DataFrame:
    """The documents whose text cannot be rebuilt from their segments: `document`, `text`.

    Examples:
        >>> place = {"document": 0, "origin": 0, "record": 1}
        >>> halves = [{**place, "row": 0, "start": 0, "end": 1, "text": "a"},
        ...           {**place, "row": 1, "start": 2, "end": 3, "text": "b"}]
        >>> documents = [{"row": 0, "name": "d", "text": "a b"}]
        >>> unlike(Corpus(documents=documents, segments=halves)).height
        1
    """
    texts = corpus.documents.drop_nulls("text").select(document="row", text="text")
    texts = texts.join(corpus.segments.select("document"), on="document", how="semi")
    wanted = texts.select("document", declared=pl.col("text").str.len_chars().cast(pl.Int64))
    built = rebuilt(wanted, corpus.segments).select("document", "text")
    return texts.join(built, on=["document", "text"], how="anti")


def _feeds(counts: pl.Series) -> pl.Series:
    """Strings of as many line feeds."""
    different: list[int] = counts.unique().to_list()
    if not different:
        return counts.cast(pl.String)
    feeds = {count: "\n" * count for count in different}
    return counts.replace_strict(feeds, return_dtype=pl.String)

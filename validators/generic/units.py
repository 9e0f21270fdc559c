"""Rules of declared tasks about documents and units: their texts, and what is there twice."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from hlteval.converters.toolkit.quotes import are_quoted
from hlteval.findings.suggest import did_you_mean
from hlteval.representation import row_hash
from hlteval.validators.generic.labels import records
from hlteval.validators.generic.schema import Allowed
from hlteval.validators.names import mismatch
from hlteval.validators.rule import (
    RuleContext,
    about_file,
    about_submission,
    at,
    normalized_spaces,
    only_if,
)

#: Spans whose text is elsewhere, and the share of them, from which the unit is another one.
_FEWEST, _MOST = 3, 0.5
#: The columns of units that are equal, by table.
_KEYS: Mapping[str, Sequence[str]] = {
    "mentions": ("document", "label", "start", "end", "fragments", "entity"),
    "instances": ("document", "label", "start", "end"),
    "frames": ("document", "label", "trigger", "arguments"),
}


# Documents that only one side has.


def extra_document(context: RuleContext) -> pl.LazyFrame:
    """A document that the reference lacks."""
    schema: Allowed = context.schema
    others = context.against.documents["name"]
    own = context.own or context.system.documents["name"].equals(others)
    rows = only_if(not own, context.table("documents", "row", "origin", "name"))
    extra = rows.filter(~pl.col("name").is_in(others.implode())).collect()
    names, known = extra["name"].to_list(), others.to_list() if extra.height else []
    hint = mismatch(known, names) if names and known and len(names) == len(rows.collect()) else ""
    meant = [hint or did_you_mean(name, known, _EXTRA[schema.documents]) for name in names]
    hinted = extra.with_columns(hint=pl.Series(meant, dtype=pl.String))
    return about_file(hinted.lazy().rename({"name": "document"}))


_EXTRA: Mapping[str, str] = {
    "both": "remove it, or use --lenient: its units then count as wrong",
    "reference": "nothing needs to be done: only documents of the reference count",
}


# Units that are there twice.


def duplicate(context: RuleContext) -> pl.LazyFrame:
    """A unit that is equal to an earlier one of its document."""
    schema: Allowed = context.schema
    key = list(_KEYS.get(schema.table, ()))
    if not key:
        return at(context.records("mentions").head(0).with_columns(first="record"), "")
    if schema.table == "frames":
        arguments = context.all_arguments.sort("frame_row", "role", "target")
        pairs = pl.format("{}:{}", "role", "target").str.join(" ")
        filled = arguments.group_by(row="frame_row").agg(arguments=pairs)
        rows = context.records("frames", "label", "trigger")
        rows = rows.join(filled, on="row", how="left", maintain_order="left")
    else:
        rows = records(context, *key[1:]).filter(row_hash(*key[:4]).is_duplicated())
    first = pl.col("record").first().over(key)
    again = ~pl.struct(key).is_first_distinct()
    return at(rows.with_columns(first=first, again=again).filter("again"), "")


def two_entities(context: RuleContext) -> pl.LazyFrame:
    """A mention of a span that an earlier mention has in another entity."""
    schema: Allowed = context.schema
    key = ["document", "start", "end"]
    rows = context.records("mentions", "start", "end", "entity").drop_nulls("entity")
    rows = only_if(schema.unit == "coreference", rows)
    first = {name: pl.col(name).first().over(key) for name in ("entity", "record")}
    rows = rows.with_columns(other=first["entity"], first=first["record"])
    return at(rows.filter(pl.col("entity") != pl.col("other")), "entity")


# Spans beside the texts of their documents.


class _Unit(NamedTuple):
    """Unit of offsets: how the setting of formats calls it, and its encoding with its width."""

    setting: str
    encoding: str
    width: int


_UNITS = (_Unit("utf-16", "utf-16-le", 2), _Unit("bytes", "utf-8", 1))


class Misfits(NamedTuple):
    """Spans that have another text than they say, and the unit of offsets that explains them.

    Attributes:
        rows: these spans, with the text that is there as `actual`.
        checked: how many spans have a text.
        unit: the setting that explains most of them; empty if none does.
        explained: how many it explains.
    """

    rows: pl.DataFrame
    checked: int
    unit: str = ""
    explained: int = 0


def misfits(context: RuleContext) -> Misfits:
    """The spans whose text is not at their offsets, white space apart."""
    texts = dict(context.against.documents.select("row", "text").drop_nulls().iter_rows())
    spans = context.records("mentions", "start", "end", "text", "fragments")
    whole = spans.filter(
        pl.col("fragments").is_null(), pl.col("document").is_in(list(texts))
    ).drop_nulls("text")
    every = whole.collect()
    rows = every.filter(~are_quoted(context.against.documents, every))
    columns = rows.select("document", "start", "end").iter_rows()
    actual = [texts[document][max(start, 0) : max(end, 0)] for document, start, end in columns]
    rows = rows.with_columns(actual=pl.Series(actual, dtype=pl.String))
    wrong = rows.filter(normalized_spaces("text") != normalized_spaces("actual"))
    if wrong.height < _FEWEST:
        return Misfits(wrong, every.height)
    for unit in _UNITS:
        encoded = {row: texts[row].encode(unit.encoding) for row in wrong["document"].unique()}
        fitting = sum(
            encoded[document][unit.width * start : unit.width * end].decode(
                unit.encoding, "replace"
            )
            == text
            for document, start, end, text in wrong.select(
                "document", "start", "end", "text"
            ).iter_rows()
        )
        if fitting >= _MOST * wrong.height:
            return Misfits(wrong, every.height, unit.setting, fitting)
    return Misfits(wrong, every.height)


def other_unit(context: RuleContext) -> pl.LazyFrame:
    """A submission whose offsets fit if they are counted in another unit."""
    found = context.once(misfits)
    unit = {"utf-16": "UTF-16 code units", "bytes": "bytes of UTF-8"}.get(found.unit, "")
    row = {"count": found.explained, "all": found.rows.height, "unit": unit, "set": found.unit}
    return about_submission(only_if(bool(found.unit), pl.LazyFrame([row])))


def other_text(context: RuleContext) -> pl.LazyFrame:
    """A span whose text is not that of the document at its offsets."""
    found = context.once(misfits)
    rows = found.rows.lazy().filter(pl.col("start") < pl.col("end"))
    shown = {name: pl.col(name).str.head(40) for name in ("text", "actual")}
    return at(only_if(not found.unit, rows).with_columns(**shown), "text")


def outside_text(context: RuleContext) -> pl.LazyFrame:
    """A span that is empty, reversed, or ends after the end of its document."""
    texts = context.against.documents.lazy().drop_nulls("text")
    lengths = texts.select(document="row", length=pl.col("text").str.len_chars())
    spans = context.records("mentions", "start", "end").join(
        lengths, on="document", maintain_order="left"
    )
    wrong = (pl.col("end") > pl.col("length")) | (pl.col("end") <= pl.col("start"))
    return at(spans.filter(wrong), "fragments")


# Turns beside the evaluated stretches.


def outside_stretches(context: RuleContext) -> pl.LazyFrame:
    """A turn that no evaluated stretch of its document overlaps."""
    schema: Allowed = context.schema
    evaluated = context.lists.get("evaluated")
    turns = context.table("instances", "row", "document", "origin", "record", "start", "end")
    turns = turns.join(context.names, on="document", maintain_order="left")
    turns = turns.with_columns(id=pl.lit(None, pl.String))
    if evaluated is None or schema.unit != "segments":
        return at(turns.head(0), "")
    names = evaluated.documents.select("name", document="row").lazy()
    parts = evaluated.regions.lazy().select("document", begin="start", finish="end")
    parts = parts.join(names, on="document").drop("document")
    inside = turns.join(parts, on="name").filter(
        pl.col("start") < pl.col("finish"), pl.col("begin") < pl.col("end")
    )
    return at(turns.join(inside, on="row", how="anti", maintain_order="left"), "start")

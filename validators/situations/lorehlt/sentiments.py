"""Rules of LoReHLT situation frames about sentiments (LSF401 to 405, LSF509 to 512)."""

from __future__ import annotations

import polars as pl

from hlteval.findings.suggest import did_you_mean
from hlteval.representation import row_hash
from hlteval.validators.rule import RuleContext, about_submission, at, first_of, only_if
from hlteval.validators.situations.lorehlt.frames import (
    EDL,
    ENTRY,
    KB,
    NIL,
    entities,
    sentiments,
    shown,
    source_field,
)

HOLDERS = ("author", "other")
_VOCABULARY = "write author, other, or an entity of the EDL output: digits, or NIL and digits"
_STEPS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)


def _sourced(context: RuleContext) -> pl.LazyFrame:
    rows = context.cached(sentiments).filter(pl.col("holder_kb").is_not_null())
    bare = pl.col("holder_kb") == ""
    return rows.with_columns(
        given=pl.when(bare).then(pl.lit("nothing")).otherwise(shown("holder_kb"))
    )


def _matches(pattern: str) -> pl.Expr:
    return pl.col("holder_kb").str.contains(pattern)


def unknown_source(context: RuleContext) -> pl.LazyFrame:
    """A source that is neither an entity nor author nor other, once for each source."""
    known = _matches(ENTRY) | _matches(NIL) | pl.col("holder_kb").is_in(HOLDERS)
    found = first_of(_sourced(context).filter(~known), "holder_kb").collect()
    hints = {name: did_you_mean(name, HOLDERS, _VOCABULARY) for name in found["holder_kb"].unique()}
    hint = pl.col("holder_kb").replace_strict(hints, default="", return_dtype=pl.String)
    return at(found.lazy().with_columns(hint=hint), source_field())


def _mentioned(context: RuleContext) -> pl.LazyFrame | None:
    """The entities of the EDL output by the name of their document; None if there is no output."""
    corpus = context.system if context.system.mentions.height else context.lists.get(EDL)
    if corpus is None:
        return None
    names = corpus.documents.lazy().select("name", document="row")
    mentions = corpus.mentions.lazy().select("document", "row", holder_kb="entity")
    others = corpus.links.lazy().select("document", "mention_row", holder_kb="entity")
    every = pl.concat([mentions, others.rename({"mention_row": "row"})])
    named = every.join(names, on="document", maintain_order="left")
    return named.select("name", "holder_kb").unique()


def absent_source(context: RuleContext) -> pl.LazyFrame:
    """A NIL source that the EDL output does not have in its document, once for each of these."""
    rows = _sourced(context).filter(_matches(NIL))
    known = _mentioned(context)
    if known is None:
        return at(rows.head(0), "").with_columns(document="name", elsewhere="id")
    strange = rows.join(known, on=["name", "holder_kb"], how="anti", maintain_order="left")
    first = first_of(strange, "name", "holder_kb")
    some = known.select("holder_kb", elsewhere=pl.lit(value=True)).unique()
    joined = first.join(some, on="holder_kb", how="left", maintain_order="left")
    hint = (
        pl.when(pl.col("elsewhere"))
        .then(pl.lit("it is in other documents only; add its mention in this one"))
        .otherwise(pl.lit("add its mentions to the EDL output, or correct the identifier"))
    )
    return at(joined.with_columns(hint=hint, document=shown("name")), source_field())


def unchecked_sources(context: RuleContext) -> pl.LazyFrame:
    """NIL sources without an EDL output to look them up in."""
    rows = _sourced(context).filter(_matches(NIL))
    summed = rows.select(count=pl.len(), given=pl.col("given").first())
    found = summed.filter(pl.col("count") > 0)
    return about_submission(only_if(_mentioned(context) is None, found))


def duplicate_entry(context: RuleContext) -> pl.LazyFrame:
    """An entry of a frame that is equal to an earlier one."""
    key = ["frame_row", "holder_kb", "value", "fear", "anger", "joy"]
    rows = context.cached(sentiments).filter(pl.col("item").is_not_null())
    alike = rows.filter(row_hash(*key).is_duplicated())
    again = alike.with_columns(first=pl.col("item").first().over(key)).filter(
        ~pl.struct(key).is_first_distinct()
    )
    return at(again, pl.format("SEC.{}", pl.col("item") - 1))


def source_not_in_kb(context: RuleContext) -> pl.LazyFrame:
    """A source in digits that the knowledge base does not have, once for each source."""
    rows = only_if(KB in context.lists, _sourced(context)).filter(_matches(ENTRY))
    known = entities(context).select(holder_kb="entity").unique()
    strange = rows.join(known, on="holder_kb", how="anti", maintain_order="left")
    return at(first_of(strange, "holder_kb"), source_field())


def _of_tables(context: RuleContext) -> pl.LazyFrame:
    """The sentiments of annotation, which have no position in a frame."""
    return context.cached(sentiments).filter(pl.col("item").is_null())


def unknown_target(context: RuleContext) -> pl.LazyFrame:
    """A sentiment about a frame that its document does not have."""
    rows = _of_tables(context).filter(pl.col("frame_row").is_null())
    given = pl.col("target").fill_null("nothing")
    return at(rows.with_columns(given=given, document=shown("name")), "target")


def other_polarity(context: RuleContext) -> pl.LazyFrame:
    """A polarity that contradicts the sign of its sentiment."""
    sign = pl.when(pl.col("value") < 0).then(pl.lit("negative")).otherwise(pl.lit("positive"))
    rows = _of_tables(context).filter(
        pl.col("polarity").is_in(["negative", "positive"]),
        pl.col("value") != 0,
        pl.col("polarity") != sign,
    )
    return at(rows.with_columns(given="polarity"), "polarity")


def odd_value(context: RuleContext) -> pl.LazyFrame:
    """A sentiment that no system can give, once for each value."""
    strange = ~pl.col("value").abs().is_in(_STEPS)
    rows = _of_tables(context).filter(pl.col("value").is_not_null() & strange)
    return at(first_of(rows, "value").with_columns(given="value"), "sentiment_value")


def repeated_frame(context: RuleContext) -> pl.LazyFrame:
    """A frame that an annotator gives twice in a document."""
    rows = context.records("frames", "frame", "annotator").filter(pl.col("frame").is_not_null())
    key = ["document", "frame", "annotator"]
    alike = rows.filter(row_hash(*key).is_duplicated())
    again = alike.with_columns(first=pl.col("record").first().over(key)).filter(
        ~pl.struct(key).is_first_distinct()
    )
    return at(again, "frame")

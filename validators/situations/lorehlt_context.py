"""Tables of LoReHLT situation frames that several rules use."""

from __future__ import annotations

import polars as pl

from hlteval.validators.rule import RuleContext, only_if

#: The options that name lists of documents: the whole test set, and those that are scored.
DOCUMENTS, SCORED = "documents", "scored"
#: The options that name a knowledge base and a table of entity mentions.
KB, EDL = "kb", "system_edl"
#: Identifiers of entities: in the knowledge base, and outside of it.
ENTRY, NIL = "^[0-9]+$", "^NIL[0-9]+$"
SHOWN = 60


def frames(context: RuleContext) -> pl.LazyFrame:
    """The frames with the names of their documents as `name`."""
    columns = ("label", "place_kb", "status", "confidence", "justification")
    rows = context.records("frames", *columns)
    return rows.join(context.names, on="document", how="left", maintain_order="left")


def sentiments(context: RuleContext) -> pl.LazyFrame:
    """The sentiments with the names of their documents, and `id` of their frames."""
    columns = ("frame_row", "target", "item", "holder_kb", "value", "polarity", "fear", "anger")
    place = ("row", "document", "origin", "record")
    rows = context.table("sentiments", *place, *columns, "joy", "annotator")
    named = rows.join(context.names, on="document", how="left", maintain_order="left")
    return named.with_columns(id=pl.col("target"))


def source_field() -> pl.Expr:
    """The field of the source of a sentiment, in its frame or in its row."""
    return _field("Source", "kb_id")


def _field(name: str, column: str) -> pl.Expr:
    item = pl.format(f"SEC.{{}}.{name}", pl.col("item") - 1)
    return pl.when(pl.col("item").is_not_null()).then(item).otherwise(pl.lit(column))


def place_field() -> pl.Expr:
    """The field of the place of a frame: its name in JSON; tables locate their own column."""
    return pl.lit("Place_KB_ID")


def text_documents(context: RuleContext) -> pl.LazyFrame:
    """The documents that come as texts with segments, by `document`."""
    segments = context.against.segments.lazy().select("document").unique()
    return only_if(not context.own, segments)


def listed(context: RuleContext) -> pl.LazyFrame:
    """The names of the documents of both lists, each once; none if there is no list."""
    lists = (context.lists[name] for name in (DOCUMENTS, SCORED) if name in context.lists)
    names = [corpus.documents.lazy().select("name") for corpus in lists]
    every = pl.concat([context.system.documents.lazy().select("name").head(0), *names])
    return every.unique(maintain_order=True)


def known_documents(context: RuleContext) -> pl.LazyFrame:
    """The names of all documents that there are: those listed, and those checked against."""
    own = context.against.documents.lazy().select("name")
    return pl.concat([listed(context), only_if(not context.own, own)]).unique(maintain_order=True)


def has_documents(context: RuleContext) -> bool:
    """Whether there is a list of documents, or something to check against."""
    return DOCUMENTS in context.lists or not context.own


def shown(column: str) -> pl.Expr:
    """A value as quoted in a message: a long one is cut, one with spaces around it is in quotes."""
    text = pl.col(column)
    cut = pl.concat_str(text.str.slice(0, SHOWN), pl.lit("…"))
    short = pl.when(text.str.len_chars() > SHOWN).then(cut).otherwise(text)
    spaced = text.str.strip_chars() != text
    return pl.when(spaced).then(pl.format('"{}"', short)).otherwise(short)


def entities(context: RuleContext) -> pl.LazyFrame:
    """The entities of the knowledge base; none if there is none."""
    base = context.lists.get(KB, context.against).entities.lazy().select("entity")
    return only_if(KB in context.lists, base)

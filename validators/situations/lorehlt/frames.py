"""Rules of LoReHLT situation frames about places and pairs of frames (LSF304 to 307, 310)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from hlteval.findings.suggest import closest_files
from hlteval.representation import row_hash
from hlteval.validators.rule import RuleContext, about_submission, at, first_of, only_if

# Tables of LoReHLT situation frames that several rules use.


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


def _placed(context: RuleContext) -> pl.LazyFrame:
    rows = context.cached(frames).filter(pl.col("place_kb").is_not_null())
    return rows.with_columns(given=shown("place_kb"))


def not_in_kb(context: RuleContext) -> pl.LazyFrame:
    """A place that the knowledge base does not have, once for each place."""
    rows = only_if(KB in context.lists, _placed(context)).filter(
        pl.col("place_kb").str.contains(ENTRY)
    )
    known = entities(context).select(place_kb="entity").unique()
    strange = rows.join(known, on="place_kb", how="anti", maintain_order="left")
    return at(first_of(strange, "place_kb"), place_field())


def nil_place(context: RuleContext) -> pl.LazyFrame:
    """A place outside the knowledge base, once for each place."""
    rows = _placed(context).filter(pl.col("place_kb").str.contains(NIL))
    return at(first_of(rows, "place_kb"), place_field())


def place_form(context: RuleContext) -> pl.LazyFrame:
    """A place that is not an identifier of an entity, once for each place."""
    form = pl.col("place_kb").str
    rows = _placed(context).filter(~form.contains(ENTRY) & ~form.contains(NIL))
    return at(first_of(rows, "place_kb"), place_field())


def duplicate_frame(context: RuleContext) -> pl.LazyFrame:
    """A frame with the document, type and place of an earlier one."""
    key = ["document", "label", "place_kb"]
    rows = context.cached(frames)
    alike = rows.filter(row_hash(*key).is_duplicated()).with_columns(
        pl.col("place_kb").fill_null("\x1f")
    )
    ordered = alike.with_columns(
        first=pl.col("record").first().over(key), ordinal=pl.int_range(pl.len()).over(key)
    )
    return at(ordered.filter(pl.col("ordinal") > 0), "")


def no_cutoff(context: RuleContext) -> pl.LazyFrame:
    """A submission without a cut-off confidence."""
    rows = context.cached(frames).select(count=pl.len())
    some = rows.filter(pl.col("count") > 0)
    return about_submission(only_if(not context.schema.cutoff, some))


# Rules of LoReHLT situation frames about documents and segments (LSF301 to 303, 308, 309).


_REMOVE = "remove its frames; they count as false positives"


def _strange(context: RuleContext) -> pl.LazyFrame:
    """The first frame of each document that is neither listed nor checked against."""
    rows = only_if(has_documents(context), context.cached(frames))
    strange = rows.join(known_documents(context), on="name", how="anti", maintain_order="left")
    return first_of(strange, "name")


def _only_texts(context: RuleContext) -> bool:
    """Whether nothing but texts is known: documents of speech may be missing."""
    against = context.against
    has_texts = not context.own and against.segments.height > 0 and against.frames.height == 0
    return has_texts and DOCUMENTS not in context.lists


def _meant(context: RuleContext, strange: Sequence[str]) -> Mapping[str, str]:
    """The known documents that unknown names mean: one of speech may be similar to one of text."""
    names = known_documents(context).collect()["name"].to_list()
    return closest_files(strange, names, distance=0 if _only_texts(context) else 1)


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """A document that is not in the test set, once for each document."""
    found = _strange(context).collect()
    meant = _meant(context, found["name"].to_list())
    hints = {name: f"did you mean {other}?" for name, other in meant.items()}
    hint = pl.col("name").replace_strict(hints, default=None, return_dtype=pl.String)
    # A name that no text is like may be one of speech.
    kept = found.lazy().with_columns(hint=hint)
    certain = kept.filter(pl.col("hint").is_not_null() | pl.lit(not _only_texts(context)))
    filled = certain.with_columns(pl.col("hint").fill_null(_REMOVE), document=shown("name"))
    return at(filled, "DocumentID")


def no_text(context: RuleContext) -> pl.LazyFrame:
    """A document without a text, where only texts are known, once for each document."""
    found = only_if(_only_texts(context), _strange(context)).collect()
    meant = _meant(context, found["name"].to_list())
    rows = found.lazy().filter(~pl.col("name").is_in(list(meant)))
    return at(rows.with_columns(document=shown("name")), "DocumentID")


def silent_documents(context: RuleContext) -> pl.LazyFrame:
    """Documents of the test set without frames."""
    names = known_documents(context)
    framed = context.cached(frames).select("name").unique()
    silent = names.join(framed, on="name", how="anti", maintain_order="left").sort("name")
    known = names.collect().height
    summed = silent.select(count=pl.len(), document=pl.col("name").first(), known=pl.lit(known))
    some = summed.filter(pl.col("count") > 0)
    return about_submission(only_if(has_documents(context), some))


def _has_none(context: RuleContext) -> bool:
    """Whether the submission has no frames, readable or not."""
    return context.system.frames.is_empty() and context.system.rejected_records.is_empty()


def no_frames(context: RuleContext) -> pl.LazyFrame:
    """A submission without frames, where no list says which documents there are."""
    unlisted = _has_none(context) and DOCUMENTS not in context.lists
    return about_submission(only_if(unlisted, pl.LazyFrame({"count": [0]})))


def nothing_listed(context: RuleContext) -> pl.LazyFrame:
    """A submission without frames for the documents of a list."""
    names = only_if(_has_none(context) and DOCUMENTS in context.lists, listed(context))
    return about_submission(names.select(count=pl.len()).filter(pl.col("count") > 0))


def unknown_segment(context: RuleContext) -> pl.LazyFrame:
    """A justification that is not a segment of its text."""
    rows = context.cached(frames).filter(pl.col("justification").is_not_null())
    of_texts = rows.join(text_documents(context), on="document", how="semi", maintain_order="left")
    segments = context.against.segments.lazy().select("document", justification="name")
    strange = of_texts.join(
        segments.unique(), on=["document", "justification"], how="anti", maintain_order="left"
    )
    named = strange.with_columns(given=shown("justification"), document=shown("name"))
    return at(named, "Justification_ID")


def no_justification(context: RuleContext) -> pl.LazyFrame:
    """The first frame of a text without a justification, with their count."""
    rows = context.cached(frames).filter(pl.col("justification").is_null())
    of_texts = rows.join(text_documents(context), on="document", how="semi", maintain_order="left")
    counted = of_texts.with_columns(count=pl.len()).head(1)
    return at(counted, "")

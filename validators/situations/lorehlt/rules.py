"""The rules of LoReHLT situation frames, by code.

The readers report what breaks the schema of a frame or of a table; these rules check what a schema
cannot.
"""

from collections.abc import Mapping

import polars as pl

from hlteval.findings.suggest import closest_files, did_you_mean
from hlteval.representation import first_case
from hlteval.validators.rule import Rule, RuleContext, about_submission, at, first_of, only_if
from hlteval.validators.situations.rules import REMOVE, repeats

#: The options that name lists of documents: the whole test set, and those that are scored.
DOCUMENTS, SCORED = "documents", "scored"
#: The options that name a knowledge base and a table of entity mentions.
KB, EDL = "kb", "system_edl"
#: Identifiers of entities: in the knowledge base, and outside of it.
ENTRY, NIL = "^[0-9]+$", "^NIL[0-9]+$"
HOLDERS = ("author", "other")
_VOCABULARY = "write author, other, or an entity of the EDL output: digits, or NIL and digits"
_STEPS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
#: Characters of a value that a message quotes.
SHOWN = 60


def has_cutoff(options: Mapping[str, str], reference: bool = False) -> bool:
    """Whether a submission has a cut-off confidence by its options; a reference needs none.

    Examples:
        >>> has_cutoff({"cutoff": "0.3"})
        True
    """
    return reference or "cutoff" in options


# Tables of LoReHLT situation frames that several rules use.


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


def known_documents(context: RuleContext, *, listed_only: bool = False) -> pl.LazyFrame:
    """The names of all documents that there are: those listed, and those checked against."""
    own = only_if(not context.own and not listed_only, context.against.documents.lazy())
    lists = (context.lists[name] for name in (DOCUMENTS, SCORED) if name in context.lists)
    names = [*(corpus.documents.lazy() for corpus in lists), own]
    return pl.concat([rows.select("name") for rows in names]).unique(maintain_order=True)


def has_documents(context: RuleContext) -> bool:
    """Whether there is a list of documents, or something to check against."""
    return DOCUMENTS in context.lists or not context.own


def of_texts(context: RuleContext, justified: pl.Expr) -> pl.LazyFrame:
    """The frames of documents that come as texts with segments."""
    segments = context.against.segments.lazy().select("document").unique()
    texts = only_if(not context.own, segments)
    rows = context.cached(frames).filter(justified)
    return rows.join(texts, on="document", how="semi", maintain_order="left")


def quote(column: str) -> pl.Expr:
    """A value as quoted in a message: a long one is cut, one with spaces around it is in quotes."""
    text = pl.col(column)
    cut = pl.format("{}…", text.str.slice(0, SHOWN))
    short = pl.when(text.str.len_chars() > SHOWN).then(cut).otherwise(text)
    spaced = text.str.strip_chars() != text
    return pl.when(spaced).then(pl.format('"{}"', short)).otherwise(short)


# Rules about documents and segments (LSF301 to 303, 308, 309, 311, 312).


def _strange(context: RuleContext) -> tuple[pl.DataFrame, Mapping[str, str], bool]:
    """The first frame of each document that is neither listed nor checked against.

    Returns:
        The frames; the known documents that their names mean; and whether nothing but texts is
        known: a document of speech may be missing then, and be similar to one of text.
    """
    known, against = known_documents(context), context.against
    texts = not context.own and against.segments.height > 0 and against.frames.height == 0
    only_texts = texts and DOCUMENTS not in context.lists
    rows = only_if(has_documents(context), context.cached(frames))
    strange = rows.join(known, on="name", how="anti", maintain_order="left")
    first = first_of(strange, "name").with_columns(document=quote("name")).collect()
    names = known.collect()["name"].to_list()
    meant = closest_files(first["name"].to_list(), names, distance=0 if only_texts else 1)
    return first, meant, only_texts


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """A document that is not in the test set, once for each document."""
    rows, meant, only_texts = context.once(_strange)
    hints = {name: f"did you mean {other}?" for name, other in meant.items()}
    # A name that no text is like may be one of speech.
    default = None if only_texts else REMOVE
    hint = pl.col("name").replace_strict(hints, default=default, return_dtype=pl.String)
    return at(rows.lazy().with_columns(hint=hint).drop_nulls("hint"), "DocumentID")


def no_text(context: RuleContext) -> pl.LazyFrame:
    """A document without a text, where only texts are known, once for each document."""
    rows, meant, only_texts = context.once(_strange)
    strange = rows.lazy().filter(~pl.col("name").is_in([*meant]))
    return at(only_if(only_texts, strange), "DocumentID")


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
    is_listed = _has_none(context) and DOCUMENTS in context.lists
    names = only_if(is_listed, known_documents(context, listed_only=True))
    return about_submission(names.select(count=pl.len()).filter(pl.col("count") > 0))


def unknown_segment(context: RuleContext) -> pl.LazyFrame:
    """A justification that is not a segment of its text."""
    rows = of_texts(context, pl.col("justification").is_not_null())
    segments = context.against.segments.lazy().select("document", justification="name").unique()
    fields = ["document", "justification"]
    strange = rows.join(segments, on=fields, how="anti", maintain_order="left")
    named = strange.with_columns(given=quote("justification"), document=quote("name"))
    return at(named, "Justification_ID")


def no_justification(context: RuleContext) -> pl.LazyFrame:
    """The first frame of a text without a justification, with their count."""
    rows = of_texts(context, pl.col("justification").is_null())
    return at(rows.with_columns(count=pl.len()).head(1), "")


# Rules about places and pairs of frames (LSF304 to 307, 310).


def _places(context: RuleContext) -> pl.LazyFrame:
    """The frames with a place, which a message quotes as `given`."""
    rows = context.cached(frames).filter(pl.col("place_kb").is_not_null())
    return rows.with_columns(given=quote("place_kb"))


def _not_in_kb(context: RuleContext, rows: pl.LazyFrame, column: str) -> pl.LazyFrame:
    """The first row of each entry in digits that the knowledge base does not have."""
    base = context.lists.get(KB, context.against).entities.lazy()
    known = base.select(pl.col("entity").unique().alias(column))
    entries = only_if(KB in context.lists, rows).filter(pl.col(column).str.contains(ENTRY))
    return first_of(entries.join(known, on=column, how="anti", maintain_order="left"), column)


def not_in_kb(context: RuleContext) -> pl.LazyFrame:
    """A place that the knowledge base does not have, once for each place."""
    return at(_not_in_kb(context, _places(context), "place_kb"), "Place_KB_ID")


def nil_place(context: RuleContext) -> pl.LazyFrame:
    """A place outside the knowledge base, once for each place."""
    rows = _places(context).filter(pl.col("place_kb").str.contains(NIL))
    return at(first_of(rows, "place_kb"), "Place_KB_ID")


def place_form(context: RuleContext) -> pl.LazyFrame:
    """A place that is not an identifier of an entity, once for each place."""
    rows = _places(context).filter(~pl.col("place_kb").str.contains(f"{ENTRY}|{NIL}"))
    return at(first_of(rows, "place_kb"), "Place_KB_ID")


def duplicate_frame(context: RuleContext) -> pl.LazyFrame:
    """A frame with the document, type and place of an earlier one."""
    return at(repeats(context.cached(frames), ["document", "label", "place_kb"]), "")


def no_cutoff(context: RuleContext) -> pl.LazyFrame:
    """A submission without a cut-off confidence."""
    rows = context.cached(frames).select(count=pl.len())
    some = rows.filter(pl.col("count") > 0)
    return about_submission(only_if(not context.schema, some))


def repeated_frame(context: RuleContext) -> pl.LazyFrame:
    """A frame that an annotator gives twice in a document."""
    rows = context.records("frames", "frame", "annotator").filter(pl.col("frame").is_not_null())
    return at(repeats(rows, ["document", "frame", "annotator"]), "frame")


# Rules about sentiments (LSF401 to 405, LSF509, 511, 512).


def _sources(context: RuleContext, of_form: pl.Expr | bool = True) -> pl.LazyFrame:
    """The sentiments with a source of some form, which a message quotes as `given`."""
    source = pl.col("holder_kb")
    rows = context.cached(sentiments).filter(source.is_not_null(), of_form)
    bare = pl.when(source == "").then(pl.lit("nothing"))
    return rows.with_columns(given=bare.otherwise(quote("holder_kb")))


def _at_source(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Rows at the source of a sentiment, in its frame or in its row."""
    return at(rows, pl.format("SEC.{}.Source", pl.col("item") - 1).fill_null("kb_id"))


def unknown_source(context: RuleContext) -> pl.LazyFrame:
    """A source that is neither an entity nor author nor other, once for each source."""
    source = pl.col("holder_kb")
    known = source.str.contains(f"{ENTRY}|{NIL}") | source.is_in(HOLDERS)
    first = first_of(_sources(context, ~known), "holder_kb").collect()
    hints = {name: did_you_mean(name, HOLDERS, _VOCABULARY) for name in first["holder_kb"].unique()}
    hint = source.replace_strict(hints, default="", return_dtype=pl.String)
    return _at_source(first.lazy().with_columns(hint=hint))


def _mentioned_entities(context: RuleContext) -> pl.LazyFrame | None:
    """The entities of the EDL output by the name of their document; None if there is no output."""
    corpus = context.system if context.system.mentions.height else context.lists.get(EDL)
    if corpus is None:
        return None
    names = corpus.documents.lazy().select("name", document="row")
    tables = (corpus.mentions.lazy(), corpus.links.lazy())
    every = pl.concat([table.select("document", holder_kb="entity") for table in tables])
    named = every.join(names, on="document", maintain_order="left")
    return named.select("name", "holder_kb").unique()


def absent_source(context: RuleContext) -> pl.LazyFrame:
    """A NIL source that the EDL output does not have in its document, once for each of these."""
    rows = _sources(context, pl.col("holder_kb").str.contains(NIL))
    known = _mentioned_entities(context)
    if known is None:
        return at(rows.head(0), "").with_columns(document="name", elsewhere="id")
    strange = rows.join(known, on=["name", "holder_kb"], how="anti", maintain_order="left")
    first = first_of(strange, "name", "holder_kb")
    some = known.select("holder_kb", elsewhere=pl.lit(value=True)).unique()
    joined = first.join(some, on="holder_kb", how="left", maintain_order="left")
    hint = first_case(
        (pl.col("elsewhere"), "it is in other documents only; add its mention in this one"),
        otherwise="add its mentions to the EDL output, or correct the identifier",
    )
    return _at_source(joined.with_columns(hint=hint, document=quote("name")))


def unchecked_sources(context: RuleContext) -> pl.LazyFrame:
    """NIL sources without an EDL output to look them up in."""
    rows = _sources(context, pl.col("holder_kb").str.contains(NIL))
    summed = rows.select(count=pl.len(), given=pl.col("given").first())
    some = summed.filter(pl.col("count") > 0)
    return about_submission(only_if(_mentioned_entities(context) is None, some))


def source_not_in_kb(context: RuleContext) -> pl.LazyFrame:
    """A source in digits that the knowledge base does not have, once for each source."""
    return _at_source(_not_in_kb(context, _sources(context), "holder_kb"))


def duplicate_entry(context: RuleContext) -> pl.LazyFrame:
    """An entry of a frame that is equal to an earlier one."""
    rows = context.cached(sentiments).filter(pl.col("item").is_not_null())
    again = repeats(rows, ["frame_row", "holder_kb", "value", "fear", "anger", "joy"], "item")
    return at(again, pl.format("SEC.{}", pl.col("item") - 1))


def _of_tables(context: RuleContext, *filters: pl.Expr) -> pl.LazyFrame:
    """The sentiments of annotation, which have no position in a frame."""
    return context.cached(sentiments).filter(pl.col("item").is_null(), *filters)


def unknown_target(context: RuleContext) -> pl.LazyFrame:
    """A sentiment about a frame that its document does not have."""
    rows = _of_tables(context, pl.col("frame_row").is_null())
    given = pl.col("target").fill_null("nothing")
    return at(rows.with_columns(given=given, document=quote("name")), "target")


def other_polarity(context: RuleContext) -> pl.LazyFrame:
    """A polarity that contradicts the sign of its sentiment."""
    value, polarity = pl.col("value"), pl.col("polarity")
    sign = first_case((value < 0, "negative"), otherwise="positive")
    known = polarity.is_in(["negative", "positive"])
    rows = _of_tables(context, known, value != 0, polarity != sign)
    return at(rows.with_columns(given="polarity"), "polarity")


def odd_value(context: RuleContext) -> pl.LazyFrame:
    """A sentiment that no system can give, once for each value."""
    value = pl.col("value")
    rows = _of_tables(context, value.is_not_null(), ~value.abs().is_in(_STEPS))
    return at(first_of(rows, "value").with_columns(given="value"), "sentiment_value")


RULES = (
    Rule("LSF301", "frames", unknown_document, submission_only=True),
    Rule("LSF302", "frames", no_text, submission_only=True),
    Rule("LSF303", "frames", silent_documents, submission_only=True, finds_missing=True),
    Rule("LSF304", "frames", not_in_kb, submission_only=True),
    Rule("LSF305", "frames", nil_place, submission_only=True),
    Rule("LSF306", "frames", place_form, submission_only=True),
    Rule("LSF307", "frames", duplicate_frame, submission_only=True),
    Rule("LSF308", "frames", unknown_segment, submission_only=True),
    Rule("LSF309", "frames", no_justification, submission_only=True),
    Rule("LSF310", "frames", no_cutoff, submission_only=True),
    Rule("LSF311", "frames", no_frames, submission_only=True, finds_missing=True),
    Rule("LSF312", "frames", nothing_listed, submission_only=True, finds_missing=True),
    Rule("LSF401", "sentiments", unknown_source, submission_only=True),
    Rule("LSF402", "sentiments", absent_source, submission_only=True),
    Rule("LSF403", "sentiments", unchecked_sources, submission_only=True),
    Rule("LSF404", "sentiments", duplicate_entry, submission_only=True),
    Rule("LSF405", "sentiments", source_not_in_kb, submission_only=True),
    Rule("LSF509", "sentiments", unknown_target, "sentiments.target"),
    Rule("LSF510", "frames", repeated_frame, "frames.annotator"),
    Rule("LSF511", "sentiments", other_polarity, "sentiments.polarity"),
    Rule("LSF512", "sentiments", odd_value, "sentiments.polarity"),
)

"""The rules of LTF and of LAF, by code; here those of names and identifiers, and of annotations.

No schema can check what they check. Each token is reported for one problem only; what explains a
whole document (another way to count) or a whole segment (it was moved) is reported once, and no
longer for its parts.
"""

from collections.abc import Sequence
from functools import partial

import polars as pl

from hlteval.representation import row_hash
from hlteval.validators.ltf import texts
from hlteval.validators.ltf.causes import text_convention
from hlteval.validators.rule import Rule, RuleContext, about_file, at, first_of, only_if

#: A valid XML name, very nearly.
_NAME = r"^[\p{L}_:][\p{L}\p{M}\p{N}._:·-]*$"
_SUFFIX = ".ltf.xml"
_LAF_SUFFIX = ".laf.xml"
#: The types of names.
_TYPES = ("GPE", "LOC", "ORG", "PER")


# Names of documents (LTF201, LTF208, LAF201).


def _with_files(context: RuleContext, documents: pl.LazyFrame, suffix: str) -> pl.LazyFrame:
    """Documents with the names that their text may have.

    Args:
        context: what rules check.
        documents: with the columns `origin` and `name`.
        suffix: of the files.

    Returns:
        The documents with the name of their `file`, this without the suffix as `stem`, and whether
        there is a text of the name of the document (`known`) and of the file (`named`).
    """
    names = only_if(not context.own, context.against.documents.lazy().select("name"))
    known = names.collect()["name"].implode()
    file = pl.col("member").str.split("/").list.last()
    files = context.table("sources", "row", "member").select(origin="row", file=file)
    rows = documents.join(files, on="origin", maintain_order="left")
    rows = rows.with_columns(stem=pl.col("file").str.strip_suffix(suffix))
    return rows.with_columns(known=pl.col("name").is_in(known), named=pl.col("stem").is_in(known))


def other_file_name(context: RuleContext) -> pl.LazyFrame:
    """A document in a file of another name, unless that is the name of its text: LTF208."""
    single = context.cached(texts.all_documents).filter(pl.len().over("origin") == 1)
    rows = _with_files(context, single, _SUFFIX)
    wrong = (pl.col("file") != pl.col("name") + _SUFFIX) & (pl.col("file") != "<stdin>")
    rows = rows.filter(wrong & (pl.col("known") | ~pl.col("named")))
    right = pl.format(f"rename the file to {{}}{_SUFFIX}", "name")
    certain = pl.col("known") & ~pl.col("named")
    either = pl.concat_str(right, pl.lit(", or correct the id"))
    return at(rows.with_columns(hint=pl.when(certain).then(right).otherwise(either)), "id")


def _unknown(context: RuleContext, documents: pl.LazyFrame, suffix: str) -> pl.LazyFrame:
    """The documents without a text to be checked against."""
    rows = _with_files(context, documents, suffix).filter(~pl.col("known"))
    right = pl.format("write {}, the name of this file and of a text", "stem")
    other = pl.lit("check the id of DOC, and that --against contains the text")
    hint = pl.when("named").then(right).otherwise(other)
    return only_if(not context.own, rows.with_columns(hint=hint))


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """A document of LTF without a text to be checked against."""
    return at(_unknown(context, context.cached(texts.all_documents), _SUFFIX), "id")


def unknown_annotated_document(context: RuleContext) -> pl.LazyFrame:
    """A document of LAF that is not among the texts."""
    documents = context.table("documents", "origin", "name")
    return about_file(_unknown(context, documents, _LAF_SUFFIX))


# Identifiers of documents, segments and tokens (LTF202 to LTF207).


def _identifiers(context: RuleContext) -> pl.LazyFrame:
    """Every identifier with its element, in the order of the files."""
    columns = ("origin", "record", "document", "id", "element")
    attributes = context.table("attributes", "document", "element", "name")
    named = attributes.filter(element="DOC", name="id")
    documents = context.cached(texts.all_documents).with_columns(document="row")
    documents = documents.join(named, on="document", how="semi")
    is_segment = pl.col("kind") == "segment"
    of_kind = pl.when(is_segment).then(pl.lit("SEG")).otherwise(pl.lit("TOKEN"))
    tables = (
        documents.with_columns(element=pl.lit("DOC")),
        context.records("segments").with_columns(element=pl.lit("SEG")),
        context.records("tokens").with_columns(element=pl.lit("TOKEN")),
        context.records("rejected_records", "kind").with_columns(element=of_kind),
    )
    every = pl.concat(rows.select(columns) for rows in tables).drop_nulls("id")
    repeated = row_hash("origin", "id").is_duplicated()
    return every.with_columns(is_repeated=repeated, is_name=pl.col("id").str.contains(_NAME))


def repeated_identifier(context: RuleContext) -> pl.LazyFrame:
    """An identifier of an earlier element of the file."""
    alike = context.cached(_identifiers).filter("is_repeated").sort("origin", "record")
    key = ["origin", "id"]
    alike = alike.with_columns(other=pl.col("element").first().over(key))
    return at(alike.filter(~pl.struct(key).is_first_distinct()), "id")


def no_name(context: RuleContext, elements: Sequence[str]) -> pl.LazyFrame:
    """An identifier of some elements that is not a valid XML name."""
    wrong = ~pl.col("is_name") & pl.col("element").is_in(elements)
    return at(context.cached(_identifiers).filter(wrong), "id")


def _other_numbers(context: RuleContext, rows: pl.LazyFrame, expected: pl.Expr) -> pl.LazyFrame:
    """The first identifier of each document that is not as expected and has no other problem."""
    rejected = context.table("rejected_records", "document")
    odd = rows.with_columns(expected=expected).filter(pl.col("id") != pl.col("expected"))
    odd = odd.join(rejected, on="document", how="anti", maintain_order="left")
    reported = context.cached(_identifiers).filter(pl.col("is_repeated") | ~pl.col("is_name"))
    odd = odd.join(reported, on=["origin", "record"], how="anti", maintain_order="left")
    return at(first_of(odd, "document"), "id")


def segment_number(context: RuleContext) -> pl.LazyFrame:
    """Segments that are not numbered from segment-0."""
    expected = pl.format("segment-{}", pl.int_range(pl.len()).over("document"))
    return _other_numbers(context, context.cached(texts.all_segments), expected)


def token_number(context: RuleContext) -> pl.LazyFrame:
    """Tokens that are not numbered by their segment and from 0."""
    ordinal = pl.int_range(pl.len()).over("document").cast(pl.String)
    named = pl.col("id").str.extract("^segment-([0-9]+)$").fill_null(ordinal)
    numbers = context.cached(texts.all_segments).select(segment_row="row", segment_number=named)
    tokens = context.cached(texts.all_tokens).join(numbers, on="segment_row", maintain_order="left")
    number = pl.int_range(pl.len()).over("segment_row")
    return _other_numbers(context, tokens, pl.format("token-{}-{}", "segment_number", number))


def unknown_token(context: RuleContext) -> pl.LazyFrame:
    """A first or last token of a segment that is not in the file."""
    named = context.table("attributes", "origin", "record", "element", "name", "value")
    named = named.filter(pl.col("name").is_in(["start_token", "end_token"]), element="SEG")
    known = context.cached(_identifiers).filter(element="TOKEN").select("origin", value="id")
    unknown = named.join(known, on=["origin", "value"], how="anti", maintain_order="left")
    segments = context.records("segments").select("origin", "record", "id")
    unknown = unknown.join(segments, on=["origin", "record"], how="left", maintain_order="left")
    return unknown.with_columns(field="name")


# Annotations beside the texts of their documents (LAF202 to LAF207).


def _annotations(context: RuleContext) -> pl.LazyFrame:
    """The annotations beside the texts of their documents, each with its problem."""
    documents = context.against.documents.lazy().select("name", content="text")
    mentions = context.records("mentions", "start", "end", "text")
    mentions = mentions.join(context.names, on="document", maintain_order="left")
    mentions = mentions.join(documents, on="name", how="left", maintain_order="left")
    width, length = (pl.col("end") - pl.col("start")).clip(0), pl.col("content").str.len_chars()
    actual = pl.col("content").str.slice(pl.col("start"), width)
    mentions = mentions.with_columns(actual=actual, last=pl.col("end") - 1)
    # Annotators see line breaks as spaces.
    actual, text = (pl.col(name).str.replace_all(r"[\r\n]", " ") for name in ("actual", "text"))
    return mentions.with_columns(
        problem=texts.first_problem(
            LAF202=pl.col("end") <= pl.col("start"), LAF203=pl.col("end") > length,
            LAF204=actual != text,
        )
    )  # fmt: skip


def _annotation_conventions(context: RuleContext) -> pl.LazyFrame:
    """The documents whose annotations all fit in other units: the columns of `CONVENTION`."""
    mentions = context.cached(_annotations)
    wrong = mentions.filter(pl.col("problem").is_in(["LAF203", "LAF204"])).select("document")
    some = mentions.join(wrong.unique(), on="document", how="semi", maintain_order="left")
    contents = dict(some.select("document", "content").unique().collect().iter_rows())
    spans = texts.spans_by("document", some.with_columns(pl.col("text").fill_null("")))
    known = {key: text_convention(contents[key], own) for key, own in spans.items()}
    rows = [(document, *units) for document, units in known.items() if units]
    return pl.LazyFrame(rows, texts.CONVENTION, orient="row")


def other_units(context: RuleContext) -> pl.LazyFrame:
    """A document of LAF whose offsets count other units than code points."""
    known = context.cached(_annotation_conventions)
    documents = context.table("documents", "row", "origin").rename({"row": "document"})
    return about_file(documents.join(known, on="document", maintain_order="left"))


def annotation_problem(context: RuleContext, code: str, field: str) -> pl.LazyFrame:
    """The annotations with a problem that other units do not explain."""
    known = context.cached(_annotation_conventions)
    rows = context.cached(_annotations).filter(problem=code)
    rows = rows.with_columns(length=pl.col("content").str.len_chars())
    return at(rows.join(known, on="document", how="anti", maintain_order="left"), field)


def other_text(context: RuleContext) -> pl.LazyFrame:
    """An annotation whose text differs from the document at its offsets."""
    return texts.with_nearest(annotation_problem(context, "LAF204", "text"), "content")


def repeated_annotation(context: RuleContext) -> pl.LazyFrame:
    """An identifier of an earlier annotation of the document."""
    named = context.records("mentions").filter(pl.col("id") != "")
    return at(named.filter(~pl.struct("document", "id").is_first_distinct()), "id")


def unknown_type(context: RuleContext) -> pl.LazyFrame:
    """A type that is none of those of names, once for each."""
    rows = context.records("mentions", "label").filter(~pl.col("label").is_in(_TYPES))
    name = pl.col("label").str.strip_chars().str.to_uppercase()
    meant = pl.when(name.is_in(_TYPES)).then(pl.format("did you mean {}?", name))
    hint = meant.otherwise(pl.lit(f"use {', '.join(_TYPES[:-1])} or {_TYPES[-1]}"))
    return at(first_of(rows, "label").with_columns(hint=hint, given="label"), "type")


def _offsets(code: str, field: str, *tables: texts.Records) -> Rule:
    """The rule of a problem of segments, of tokens or of both."""
    runs_on = "segments" if texts.all_segments in tables else "tokens"
    return Rule(code, runs_on, partial(texts.offset_problem, code=code, field=field, tables=tables))


_OF_TEXTS = ("LTF502", "LTF503", "LTF504")
RULES = (
    Rule("LTF201", "documents", other_file_name, submission_only=True),
    Rule("LTF202", "documents", repeated_identifier),
    Rule("LTF203", "documents", partial(no_name, elements=("DOC",))),
    Rule("LTF204", "documents", partial(no_name, elements=("SEG", "TOKEN"))),
    Rule("LTF205", "segments", segment_number),
    Rule("LTF206", "tokens", token_number),
    Rule("LTF207", "attributes", unknown_token),
    Rule("LTF208", "documents", unknown_document, submission_only=True),
    _offsets("LTF301", "end_char", texts.all_segments, texts.all_tokens),
    _offsets("LTF302", "end_char", texts.all_segments),
    Rule("LTF303", "segments", texts.segment_overlap),
    Rule("LTF304", "segments", texts.adjacent_segments),
    Rule("LTF305", "segments", texts.no_text),
    Rule("LTF306", "tokens", texts.moved_segment),
    Rule("LTF307", "segments", texts.other_raw_text),
    _offsets("LTF401", "start_char", texts.all_tokens),
    _offsets("LTF402", "start_char", texts.all_tokens),
    _offsets("LTF403", "end_char", texts.all_tokens),
    Rule("LTF404", "tokens", texts.token_text),
    Rule("LTF405", "segments", texts.uncovered_text),
    Rule("LTF406", "tokens", texts.blank_in_token),
    Rule("LTF407", "tokens", texts.unknown_class),
    Rule("LTF501", "documents", texts.other_convention),
    *(Rule(code, "documents", partial(texts.text_rule, code=code)) for code in _OF_TEXTS),
    Rule("LTF505", "documents", texts.far_apart),
)

LAF_RULES = (
    Rule("LAF201", "documents", unknown_annotated_document),
    Rule("LAF202", "mentions", partial(annotation_problem, code="LAF202", field="end_char")),
    Rule("LAF203", "mentions", partial(annotation_problem, code="LAF203", field="end_char")),
    Rule("LAF204", "mentions", other_text),
    Rule("LAF205", "mentions", repeated_annotation),
    Rule("LAF206", "mentions", other_units),
    Rule("LAF207", "mentions", unknown_type),
)

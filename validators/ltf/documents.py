"""Rules of LTF about documents: their text, length and digest (LTF501 to LTF505)."""

from __future__ import annotations

import polars as pl

from hlteval.converters.ltf.tables import FILLED, LENGTH, MD5
from hlteval.representation import row_hash
from hlteval.validators.ltf.tables import (
    all_conventions,
    all_documents,
    all_moved,
    all_segments,
    all_tokens,
    text_problem,
)
from hlteval.validators.rule import RuleContext, at, first_of, only_if

_VALUES = ("what", "fix", "given", "length", "more", "digest", "hint")

_FIELDS = {"LTF501": "id", "LTF504": MD5}


def _rebuilt_or_raw(context: RuleContext) -> pl.LazyFrame:
    """The documents with the raw text if there is one, else as it was rebuilt."""
    documents = context.cached(all_documents)
    if not context.own:
        raw = context.against.documents.lazy().select("row", raw="text")
        documents = documents.join(raw, on="row", how="left", maintain_order="left")
        documents = documents.with_columns(text=pl.coalesce("raw", "text"))
    return documents.drop_nulls("text")


def _problems(context: RuleContext) -> pl.LazyFrame:
    """The problems of documents as a whole: place, `code` and the values of its message."""
    segments = context.cached(all_segments)
    moved = segments.join(context.cached(all_moved), on="row", how="semi")
    wrong = segments.drop_nulls("problem")
    unfit = pl.concat([moved.select("document"), wrong.select("document")]).unique()
    documents = _rebuilt_or_raw(context)
    documents = documents.join(unfit, left_on="row", right_on="document", how="anti")
    ends = segments.group_by(row="document", maintain_order=True).agg("end")
    documents = documents.join(
        context.cached(all_conventions).select(row="document"), on="row", how="anti"
    ).join(ends, on="row", how="left")
    columns = ("origin", "record", "id", "text", "end", "length", "md5")
    rows = []
    for origin, record, name, text, stops, length, md5 in (
        documents.sort("row").select(columns).collect().iter_rows()
    ):
        found = text_problem(text, stops or [], length, md5)
        if found:
            values = [str(found.values.get(key, "")) for key in _VALUES]
            field = _FIELDS.get(found.code, LENGTH)
            rows.append((origin, record, field, name, found.code, *values))
    place = {"origin": pl.Int64, "record": pl.Int64, "field": pl.String, "id": pl.String}
    return pl.LazyFrame(
        rows, {**place, **dict.fromkeys(("code", *_VALUES), pl.String)}, orient="row"
    )


def _with_problem(context: RuleContext, code: str) -> pl.LazyFrame:
    return context.cached(_problems).filter(pl.col("code") == code)


def other_convention(context: RuleContext) -> pl.LazyFrame:
    """A document whose offsets count other units than code points."""
    documents = context.cached(all_documents).with_columns(document=pl.col("row"))
    found = documents.join(context.cached(all_conventions), on="document", maintain_order="left")
    columns = ["origin", "record", "field", "id", "what", "fix"]
    return pl.concat(
        [at(found, "id").select(columns), _with_problem(context, "LTF501").select(columns)]
    )


def bad_length(context: RuleContext) -> pl.LazyFrame:
    """A declared length that is not a number."""
    return _with_problem(context, "LTF502")


def too_long(context: RuleContext) -> pl.LazyFrame:
    """A document that is longer than its declared length."""
    return _with_problem(context, "LTF503")


def other_digest(context: RuleContext) -> pl.LazyFrame:
    """A document whose digest is not the declared one."""
    return _with_problem(context, "LTF504")


def far_apart(context: RuleContext) -> pl.LazyFrame:
    """A document most of which would be line feeds."""
    texts = (
        context.cached(all_segments)
        .group_by(row="document")
        .agg(complete=pl.col("text").is_not_null().all())
    )
    rejected = context.table("rejected_records", "document").select(row="document")
    documents = context.cached(all_documents).filter(pl.col("text").is_null())
    documents = documents.join(rejected, on="row", how="anti", maintain_order="left")
    documents = documents.join(texts, on="row", how="left", maintain_order="left")
    found = documents.filter(pl.col("complete").fill_null(value=False))
    return at(found.with_columns(limit=pl.lit(FILLED)), "id")


# Rules of LTF about identifiers: of documents, segments and tokens (LTF201 to LTF207).


#: A valid XML name, very nearly.
_NAME = r"^[\p{L}_:][\p{L}\p{M}\p{N}._:·-]*$"
SUFFIX = ".ltf.xml"


def with_files(context: RuleContext, documents: pl.LazyFrame, suffix: str) -> pl.LazyFrame:
    """Documents with the names that their text may have.

    Args:
        context: what rules check.
        documents: with the columns `origin` and `name`.
        suffix: of the files.

    Returns:
        The documents with the name of their `file`, this without the suffix as `stem`, and whether
        there is a text of the name of the document (`known`) and of the file (`named`).
    """
    files = context.table("sources", "row", "member")
    files = files.select(origin="row", file=pl.col("member").str.split("/").list.last())
    files = files.with_columns(stem=pl.col("file").str.strip_suffix(suffix))
    texts = only_if(not context.own, context.against.documents.lazy().select("name").unique())
    for column, key in (("known", "name"), ("named", "stem")):
        mark = texts.select(pl.col("name").alias(key), pl.lit(value=True).alias(column))
        rows = files if key == "stem" else documents
        rows = rows.join(mark, on=key, how="left", maintain_order="left")
        rows = rows.with_columns(pl.col(column).fill_null(value=False))
        files, documents = (rows, documents) if key == "stem" else (files, rows)
    return documents.join(files, on="origin", maintain_order="left")


def id_hint(otherwise: str) -> pl.Expr:
    """How to correct the id of a document without a text; of documents `with_files`."""
    right = pl.format("write {}, the name of this file and of a text", "stem")
    return pl.when("named").then(right).otherwise(pl.lit(otherwise))


def other_file_name(context: RuleContext) -> pl.LazyFrame:
    """A document in a file of another name, unless that is the name of its text: LTF208."""
    single = context.cached(all_documents).filter(pl.len().over("origin") == 1)
    rows = with_files(context, single, SUFFIX)
    wrong = (pl.col("file") != pl.col("name") + SUFFIX) & (pl.col("file") != "<stdin>")
    rows = rows.filter(wrong & (pl.col("known") | ~pl.col("named")))
    right = pl.format(f"rename the file to {{}}{SUFFIX}", "name")
    certain = pl.col("known") & ~pl.col("named")
    hint = (
        pl.when(certain).then(right).otherwise(pl.concat_str(right, pl.lit(", or correct the id")))
    )
    return at(rows.with_columns(hint=hint), "id")


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """A document without a text to be checked against."""
    rows = with_files(context, context.cached(all_documents), SUFFIX)
    rows = only_if(not context.own, rows.filter(~pl.col("known")))
    hint = id_hint("check the id of DOC, and that --against contains the text")
    return at(rows.with_columns(hint=hint), "id")


def _identifiers(context: RuleContext) -> pl.LazyFrame:
    """Every identifier with its element, in the order of the files."""
    columns = ("origin", "record", "document", "id", "element")
    documents = context.cached(all_documents).with_columns(document="row", element=pl.lit("DOC"))
    rejected = context.records("rejected_records", "kind").with_columns(
        element=pl.when(pl.col("kind") == "segment").then(pl.lit("SEG")).otherwise(pl.lit("TOKEN"))
    )
    attributes = context.table("attributes", "document", "element", "name")
    named = attributes.filter(pl.col("element") == "DOC", pl.col("name") == "id")
    documents = documents.join(named, on="document", how="semi")
    segments = context.records("segments").with_columns(element=pl.lit("SEG"))
    tokens = context.records("tokens").with_columns(element=pl.lit("TOKEN"))
    tables = (documents, segments, tokens, rejected)
    every = pl.concat(rows.select(columns) for rows in tables).drop_nulls("id")
    return every.with_columns(row_hash("origin", "id"), is_name=pl.col("id").str.contains(_NAME))


def repeated_identifier(context: RuleContext) -> pl.LazyFrame:
    """An identifier of an earlier element of the file."""
    alike = context.cached(_identifiers).filter(pl.col("hashed").is_duplicated())
    alike = alike.sort("origin", "record")
    key = ["origin", "id"]
    found = alike.with_columns(
        other=pl.col("element").first().over(key), ordinal=pl.int_range(pl.len()).over(key)
    )
    return at(found.filter(pl.col("ordinal") > 0), "id")


def document_name(context: RuleContext) -> pl.LazyFrame:
    """A document identifier that is not a valid XML name."""
    wrong = ~pl.col("is_name") & (pl.col("element") == "DOC")
    return at(context.cached(_identifiers).filter(wrong), "id")


def element_name(context: RuleContext) -> pl.LazyFrame:
    """An identifier of a segment or token that is not a valid XML name."""
    wrong = ~pl.col("is_name") & (pl.col("element") != "DOC")
    return at(context.cached(_identifiers).filter(wrong), "id")


def _numbered(context: RuleContext, rows: pl.LazyFrame, expected: pl.Expr) -> pl.LazyFrame:
    """The first identifier of each document that is not as expected and has no other problem."""
    rejected = context.table("rejected_records", "document")
    odd = rows.with_columns(expected=expected).filter(pl.col("id") != pl.col("expected"))
    odd = odd.join(rejected, on="document", how="anti", maintain_order="left")
    found = odd.collect(engine="in-memory")
    identifiers = only_if(not found.is_empty(), context.cached(_identifiers))
    reported = identifiers.filter(pl.col("hashed").is_duplicated() | ~pl.col("is_name"))
    odd = found.lazy().join(reported, on=["origin", "record"], how="anti", maintain_order="left")
    return at(first_of(odd, "document"), "id")


def segment_number(context: RuleContext) -> pl.LazyFrame:
    """Segments that are not numbered from segment-0."""
    number = pl.int_range(pl.len()).over("document")
    return _numbered(context, context.cached(all_segments), pl.format("segment-{}", number))


def token_number(context: RuleContext) -> pl.LazyFrame:
    """Tokens that are not numbered by their segment and from 0."""
    ordinal = pl.int_range(pl.len()).over("document").cast(pl.String)
    own = pl.col("id").str.extract("^segment-([0-9]+)$").fill_null(ordinal)
    numbers = context.cached(all_segments).select(segment_row="row", own=own)
    tokens = context.cached(all_tokens).join(numbers, on="segment_row", maintain_order="left")
    number = pl.int_range(pl.len()).over("segment_row")
    return _numbered(context, tokens, pl.format("token-{}-{}", "own", number))


def unknown_token(context: RuleContext) -> pl.LazyFrame:
    """A first or last token of a segment that is not in the file."""
    names = pl.col("name").is_in(["start_token", "end_token"])
    columns = ("origin", "record", "element", "name", "value")
    named = context.table("attributes", *columns).filter((pl.col("element") == "SEG") & names)
    known = context.cached(_identifiers).filter(element="TOKEN").select("origin", value="id")
    found = named.join(known, on=["origin", "value"], how="anti", maintain_order="left")
    segments = context.records("segments").select("origin", "record", "id")
    found = found.join(segments, on=["origin", "record"], how="left", maintain_order="left")
    return found.with_columns(field="name")

"""Rules of LTF about identifiers: of documents, segments and tokens."""

from __future__ import annotations

import polars as pl

from hlteval.validators.ltf.spans import all_documents, all_segments, all_tokens, at, told_once
from hlteval.validators.rule import Rule, RuleContext

_NAME = r"^[\p{L}_:][\p{L}\p{M}\p{N}._:·-]*$"
"""What XML takes for a name, very nearly."""


def other_file_name(case: RuleContext) -> pl.LazyFrame:
    """A document in a file of another name."""
    files = case.table("sources").select(
        origin="row", file=pl.col("member").str.split("/").list.last()
    )
    single = case.cached(all_documents).filter(pl.len().over("origin") == 1)
    named = single.join(files, on="origin", maintain_order="left")
    wrong = (pl.col("file") != pl.col("name") + ".ltf.xml") & (pl.col("file") != "<stdin>")
    return at(named.filter(wrong), "id")


def _identifiers(case: RuleContext) -> pl.LazyFrame:
    """Every identifier with its element, in the order of the files."""
    columns = ("origin", "record", "document", "id", "element")
    documents = case.cached(all_documents).with_columns(document="row", element=pl.lit("DOC"))
    refused = case.table("rejected_records").with_columns(
        element=pl.when(pl.col("kind") == "segment").then(pl.lit("SEG")).otherwise(pl.lit("TOKEN"))
    )
    named = case.table("attributes").filter((pl.col("element") == "DOC") & (pl.col("name") == "id"))
    documents = documents.join(named.select("document"), on="document", how="semi")
    rest = [
        case.table(name).with_columns(id="name", element=pl.lit(element))
        for name, element in (("segments", "SEG"), ("tokens", "TOKEN"))
    ]
    every = pl.concat([one.select(columns) for one in (documents, *rest, refused)])
    every = every.drop_nulls("id")
    number = (pl.col("origin").hash(1) + pl.col("id").hash(2)).hash()
    return every.with_columns(is_name=pl.col("id").str.contains(_NAME), number=number)


def repeated_identifier(case: RuleContext) -> pl.LazyFrame:
    """An identifier that another element of the file has."""
    alike = case.cached(_identifiers).filter(pl.col("number").is_duplicated())
    alike = alike.sort("origin", "record")
    key = ["origin", "id"]
    found = alike.with_columns(
        other=pl.col("element").first().over(key), ordinal=pl.int_range(pl.len()).over(key)
    )
    return at(found.filter(pl.col("ordinal") > 0), "id")


def document_name(case: RuleContext) -> pl.LazyFrame:
    """A document identifier that XML does not take for a name."""
    wrong = ~pl.col("is_name") & (pl.col("element") == "DOC")
    return at(case.cached(_identifiers).filter(wrong), "id")


def element_name(case: RuleContext) -> pl.LazyFrame:
    """An identifier of a segment or token that XML does not take for a name."""
    wrong = ~pl.col("is_name") & (pl.col("element") != "DOC")
    return at(case.cached(_identifiers).filter(wrong), "id")


def _numbered(case: RuleContext, rows: pl.LazyFrame, expected: pl.Expr) -> pl.LazyFrame:
    """The first identifier of each document that is not as expected, and names something."""
    refused = case.table("rejected_records").select("document").unique()
    odd = rows.with_columns(expected=expected).filter(pl.col("id") != pl.col("expected"))
    odd = odd.join(refused, on="document", how="anti", maintain_order="left")
    told = case.cached(_identifiers)
    told = told.filter(pl.col("number").is_duplicated() | ~pl.col("is_name"))
    odd = odd.join(told, on=["origin", "record"], how="anti", maintain_order="left")
    return at(told_once(odd), "id")


def segment_number(case: RuleContext) -> pl.LazyFrame:
    """Segments that are not numbered from segment-0."""
    number = pl.int_range(pl.len()).over("document")
    return _numbered(case, case.cached(all_segments), pl.format("segment-{}", number))


def token_number(case: RuleContext) -> pl.LazyFrame:
    """Tokens that are not numbered by their segment and from 0."""
    ordinals = case.cached(all_segments).select(
        segment_row="row", ordinal=pl.int_range(pl.len()).over("document").cast(pl.String)
    )
    tokens = case.cached(all_tokens).join(ordinals, on="segment_row", maintain_order="left")
    own = pl.col("segment").str.extract("^segment-([0-9]+)$").fill_null(pl.col("ordinal"))
    number = pl.int_range(pl.len()).over("segment_row")
    return _numbered(case, tokens, pl.format("token-{}-{}", own, number))


def unknown_token(case: RuleContext) -> pl.LazyFrame:
    """A segment that names a first or last token which is not in the file."""
    names = pl.col("name").is_in(["start_token", "end_token"])
    named = case.table("attributes").filter((pl.col("element") == "SEG") & names)
    known = case.cached(_identifiers).filter(element="TOKEN").select("origin", value="id")
    found = named.join(known, on=["origin", "value"], how="anti", maintain_order="left")
    segments = case.table("segments").select("origin", "record", id="name")
    found = found.join(segments, on=["origin", "record"], how="left", maintain_order="left")
    return found.with_columns(field="name")


RULES = (
    Rule("LTF201", "documents", other_file_name),
    Rule("LTF202", "documents", repeated_identifier),
    Rule("LTF203", "documents", document_name),
    Rule("LTF204", "documents", element_name),
    Rule("LTF205", "segments", segment_number),
    Rule("LTF206", "tokens", token_number),
    Rule("LTF207", "attributes", unknown_token),
)

"""Rules of BioNLP-ST standoff, whatever the task: spans, identifiers, equivalences."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hlteval.representation import hashed
from hlteval.validators.rule import Rule, RuleContext

_ITEM = ["document", "target"]


def _at(field: str | pl.Expr) -> pl.Expr:
    return (pl.lit(field) if isinstance(field, str) else field).alias("field")


def _spans(case: RuleContext) -> pl.LazyFrame:
    """The text spans of the submission, with the names of their documents."""
    named = case.table("mentions").join(
        case.names, on="document", how="left", maintain_order="left"
    )
    return named.rename({"mention": "id"})


def _fragments(case: RuleContext) -> pl.LazyFrame:
    """Each fragment of a discontinuous span, with start and end of the one before it."""
    broken = _spans(case).filter(pl.col("fragments").is_not_null()).explode("fragments")
    start = pl.col("fragments").struct.field("start")
    end = pl.col("fragments").struct.field("end")
    before = {"before": start.shift(1).over("row"), "reached": end.shift(1).over("row")}
    return broken.with_columns(start=start, end=end, **before).drop("fragments")


def _parts(case: RuleContext) -> pl.LazyFrame:
    """The fragments of every span, a whole one being its own only fragment."""
    whole = _spans(case).filter(pl.col("fragments").is_null()).drop("fragments")
    return pl.concat([whole, _fragments(case).drop("before", "reached")])


def _spans_at_fault(parts: pl.LazyFrame) -> pl.LazyFrame:
    return parts.unique("row", keep="first", maintain_order=True).with_columns(_at("fragments"))


def fragments_unordered(case: RuleContext) -> pl.LazyFrame:
    """A fragment that begins before the one listed before it."""
    return _spans_at_fault(_fragments(case).filter(pl.col("start") < pl.col("before")))


def fragments_overlap(case: RuleContext) -> pl.LazyFrame:
    """A fragment that begins inside the one listed before it."""
    inside = (pl.col("start") >= pl.col("before")) & (pl.col("start") < pl.col("reached"))
    return _spans_at_fault(_fragments(case).filter(inside))


def span_reversed(case: RuleContext) -> pl.LazyFrame:
    """A span, or a fragment of one, that ends before it starts."""
    return _spans_at_fault(_parts(case).filter(pl.col("end") < pl.col("start")))


def span_empty(case: RuleContext) -> pl.LazyFrame:
    """A span, or a fragment of one, that ends where it starts."""
    return _spans_at_fault(_parts(case).filter(pl.col("end") == pl.col("start")))


def _texts(case: RuleContext) -> pl.LazyFrame:
    texts = case.against.documents.lazy().select(document="row", whole="text").drop_nulls()
    return texts.with_columns(length=pl.col("whole").str.len_chars())


def beyond_text(case: RuleContext) -> pl.LazyFrame:
    """A span that ends behind the end of the document's text."""
    found = _spans(case).join(_texts(case), on="document").filter(pl.col("end") > pl.col("length"))
    return found.drop("whole").with_columns(_at("fragments"), document="name")


def text_differs(case: RuleContext) -> pl.LazyFrame:
    """A span whose repeated text is not what the document has there, blanks apart."""
    legal = (pl.col("start") < pl.col("end")) & (pl.col("end") <= pl.col("length"))
    length = (pl.col("end") - pl.col("start")).clip(0)
    actual = pl.col("whole").str.slice(pl.col("start"), length)
    parts = _parts(case).join(_texts(case), on="document", maintain_order="left").filter(legal)
    spans = parts.group_by("row", maintain_order=True).agg(
        pl.exclude("actual").first(), actual=actual.str.join(" ")
    )
    differing = spans.filter(pl.col("actual") != pl.col("text"))
    differing = differing.filter(_words("actual") != _words("text"))
    hint = pl.struct("whole", "text", "start").map_elements(_hint, return_dtype=pl.String)
    shown = {"document": pl.col("name"), "hint": hint, "actual": pl.col("actual").str.head(40)}
    return differing.with_columns(_at("text"), **shown).drop("whole")


def _words(column: str) -> pl.Expr:
    return pl.col(column).str.replace_all(r"\s+", " ").str.strip_chars()


def _hint(span: dict[str, object]) -> str:
    """Where the repeated text does occur, nearest to where it was said to be."""
    text, start = str(span["text"]), int(str(span["start"]))
    places = list(_occurrences(str(span["whole"]), text))
    if not places:
        return f"correct the text; {text[:40]!r} does not occur in the document"
    nearest = min(places, key=lambda at: abs(at - start))
    return f"use offsets {nearest} {nearest + len(text)}, where the document has {text[:40]!r}"


def _occurrences(whole: str, text: str) -> Iterator[int]:
    at = whole.find(text)
    while at >= 0:
        yield at
        at = whole.find(text, at + 1)


def _identified(case: RuleContext) -> pl.LazyFrame:
    """Every record that has an identifier."""
    kinds = ("mention", "frame", "modifier")
    place = ("document", "origin", "record")
    return pl.concat(case.table(f"{kind}s").select(*place, id=kind) for kind in kinds)


def duplicate_identifier(case: RuleContext) -> pl.LazyFrame:
    """An identifier that an earlier record of the document, or a given one, has already."""
    key = ["document", "id"]
    listed = _identified(case)
    given = case.given.select("document", id="mention").join(listed, on=key, how="semi")
    given = given.unique().with_columns(given=pl.lit(True))
    repeated = listed.filter(hashed(*key).is_duplicated())
    some = pl.concat([repeated, listed.join(given, on=key, how="semi")]).unique()
    some = some.join(given, on=key, how="left").sort("document", "origin", "record")
    some = some.with_columns(
        first=pl.col("record").first().over(key), ordinal=pl.int_range(pl.len()).over(key)
    )
    where = pl.when("given").then(pl.lit("in the .a1")).otherwise(pl.format("in line {}", "first"))
    found = some.filter(pl.col("given") | (pl.col("ordinal") > 0))
    return found.with_columns(_at("id"), where=where)


def _references(case: RuleContext) -> pl.LazyFrame:
    """Every reference that may lead nowhere, with the field that holds it."""
    place = ["document", "origin", "record"]
    position = pl.int_range(1, pl.len() + 1).over("document", "group")
    arguments = case.all_arguments.filter(pl.col("filler").is_null())
    triggers = case.table("frames").filter(pl.col("trigger").is_not_null())
    modifiers, groups = case.table("modifiers"), case.table("groups")
    return pl.concat(
        [
            arguments.select(
                *place, pl.format("target {}", "position").alias("field"), "target", id="frame"
            ),
            triggers.select(*place, field=pl.lit("trigger"), target="trigger", id="frame"),
            modifiers.select(*place, field=pl.lit("target"), target="target", id="modifier"),
            groups.select(
                *place, field=pl.format("member {}", position), target="member", id=pl.lit("*")
            ),
        ]
    )


def unresolved(case: RuleContext) -> pl.LazyFrame:
    """A reference to an identifier that the document does not have.

    Of a document that is unknown, nothing is asked.
    """
    documents = case.against.documents.lazy().select(document="row")
    asked = _references(case).join(documents, on="document", how="semi")
    modifiers = case.table("modifiers").select("document", target="modifier")
    known = pl.concat([case.items.select(_ITEM), modifiers]).join(asked, on=_ITEM, how="semi")
    found = asked.join(known, on=_ITEM, how="anti", maintain_order="left")
    refused = case.table("rejected_records").select("document", target="id", dropped=pl.lit(True))
    found = found.join(refused.drop_nulls().unique(), on=_ITEM, how="left")
    reason = pl.when("dropped").then(pl.lit("; the line that defines it could not be read"))
    found = found.join(case.names, on="document", how="left")
    return found.with_columns(suggestion=reason.otherwise(pl.lit("")), document="name")


def forward_modifier(case: RuleContext) -> pl.LazyFrame:
    """A modifier that stands before the event it modifies."""
    frames = case.table("frames").unique(["document", "frame"], keep="first", maintain_order=True)
    defined = frames.select("document", "origin", target="frame", defined="record")
    modifiers = case.table("modifiers").rename({"modifier": "id"})
    found = modifiers.join(defined, on=["document", "origin", "target"], maintain_order="left")
    return found.filter(pl.col("record") < pl.col("defined")).with_columns(_at("target"))


def equivalence_overlaps(case: RuleContext) -> pl.LazyFrame:
    """A member of an equivalence that an earlier one has too."""
    position = pl.int_range(1, pl.len() + 1).over("document", "group")
    groups = case.table("groups").with_columns(position=position, id=pl.lit("*"))
    found = groups.filter(pl.col("group") != pl.col("group").first().over("document", "member"))
    return found.with_columns(_at(pl.format("member {}", "position")))


def equivalence_empty(case: RuleContext) -> pl.LazyFrame:
    """An equivalence of a single member."""
    groups = case.table("groups").filter(pl.len().over("document", "group") == 1)
    return groups.with_columns(_at("member 1"), id=pl.lit("*"))


RULES = (
    Rule("STD201", "mentions", fragments_unordered),
    Rule("STD202", "mentions", beyond_text),
    Rule("STD203", "mentions", fragments_overlap),
    Rule("STD204", "mentions", span_reversed),
    Rule("STD205", "mentions", span_empty),
    Rule("STD206", "mentions", text_differs),
    Rule("STD301", "sources", duplicate_identifier),
    Rule("STD302", "sources", unresolved),
    Rule("STD303", "modifiers", forward_modifier),
    Rule("STD304", "groups", equivalence_overlaps),
    Rule("STD305", "groups", equivalence_empty),
)

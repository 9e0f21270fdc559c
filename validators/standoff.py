"""Rules of BioNLP-ST standoff, whatever the task: spans, identifiers, equivalences."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hlteval.representation import ordinals
from hlteval.validators.rule import Case, Rule


def _at(field: str | pl.Expr) -> pl.Expr:
    return (pl.lit(field) if isinstance(field, str) else field).alias("field")


def _spans(case: Case) -> pl.DataFrame:
    """The text spans of the submission, with what findings about them say."""
    return case.system.mentions.join(case.names, on="document", how="left").rename(
        {"mention": "id", "name": "document_name"}
    )


def _fragments(case: Case) -> pl.DataFrame:
    """Each fragment of a discontinuous span, with the end of the one before it."""
    broken = _spans(case).filter(pl.col("fragments").is_not_null()).explode("fragments")
    start = pl.col("fragments").struct.field("start")
    end = pl.col("fragments").struct.field("end")
    return broken.with_columns(
        start=start, end=end, before=start.shift(1).over("row"), reached=end.shift(1).over("row")
    )


def fragments_unordered(case: Case) -> pl.DataFrame:
    """A fragment that begins before the one listed before it."""
    found = _fragments(case).filter(pl.col("start") < pl.col("before"))
    return found.unique("row", maintain_order=True).with_columns(_at("fragments"))


def fragments_overlap(case: Case) -> pl.DataFrame:
    """A fragment that begins inside the one listed before it."""
    inside = (pl.col("start") >= pl.col("before")) & (pl.col("start") < pl.col("reached"))
    return _fragments(case).filter(inside).unique("row", maintain_order=True).with_columns(_at("fragments"))


def beyond_text(case: Case) -> pl.DataFrame:
    """A span that ends behind the end of the document's text."""
    texts = case.against.documents.select(document="row", length=pl.col("text").str.len_chars())
    found = _spans(case).join(texts, on="document").filter(pl.col("end") > pl.col("length"))
    return found.with_columns(_at("fragments"), document=pl.col("document_name"))


def _single(case: Case) -> pl.DataFrame:
    """The parts of every span, whole ones being their own only part."""
    spans = _spans(case)
    whole = spans.filter(pl.col("fragments").is_null()).drop("fragments")
    return pl.concat([whole, _fragments(case).select(whole.columns)])


def span_reversed(case: Case) -> pl.DataFrame:
    """A span, or a part of one, that ends before it starts."""
    found = _single(case).filter(pl.col("end") < pl.col("start"))
    return found.unique("row", maintain_order=True).with_columns(_at("fragments"))


def span_empty(case: Case) -> pl.DataFrame:
    """A span, or a part of one, that ends where it starts."""
    found = _single(case).filter(pl.col("end") == pl.col("start"))
    return found.unique("row", maintain_order=True).with_columns(_at("fragments"))


def text_differs(case: Case) -> pl.DataFrame:
    """A span whose repeated text is not what the document has there, blanks apart."""
    texts = case.against.documents.select(document="row", whole="text").drop_nulls()
    spans = _spans(case).drop_nulls("text").join(texts, on="document")
    covered = _covered(spans.filter(pl.col("fragments").is_null()).drop("fragments"))
    parts = _covered(_fragments(case).drop_nulls("text").join(texts, on="document").select(covered.columns[:-1]))
    joined = parts.group_by("row", maintain_order=True).agg(pl.exclude("actual").first(), pl.col("actual").str.join(" "))
    both = pl.concat([covered, joined.select(covered.columns)])
    differing = both.filter(pl.col("actual") != pl.col("text"))
    differing = differing.filter(_words("actual") != _words("text"))
    return differing.with_columns(
        _at("text"),
        document=pl.col("document_name"),
        hint=pl.Series([_hint(*row) for row in differing.select("whole", "text", "start").iter_rows()], dtype=pl.String),
        actual=pl.col("actual").str.head(40),
    )


def _covered(spans: pl.DataFrame) -> pl.DataFrame:
    """Legal spans with the text that the document has there."""
    legal = (pl.col("start") < pl.col("end")) & (pl.col("end") <= pl.col("whole").str.len_chars())
    actual = pl.col("whole").str.slice(pl.col("start"), pl.col("end") - pl.col("start"))
    return spans.filter(legal).with_columns(actual=actual)


def _words(column: str) -> pl.Expr:
    return pl.col(column).str.replace_all(r"\s+", " ").str.strip_chars()


def _hint(whole: str, text: str, start: int) -> str:
    """Where the repeated text does occur, nearest to where it was said to be."""
    places = [match for match in _occurrences(whole, text)]
    if not places:
        return f"the document has {text[:40]!r} nowhere"
    nearest = min(places, key=lambda at: abs(at - start))
    return f"the document has {text[:40]!r} at {nearest} {nearest + len(text)}"


def _occurrences(whole: str, text: str) -> Iterator[int]:
    at = whole.find(text)
    while at >= 0:
        yield at
        at = whole.find(text, at + 1)


def _identified(case: Case) -> pl.DataFrame:
    """Every record that has an identifier, in the order of the files."""
    kinds = ("mention", "frame", "modifier")
    listed = [
        getattr(case.system, f"{kind}s").select("document", "origin", "record", id=kind) for kind in kinds
    ]
    return pl.concat(listed).sort("document", "origin", "record")


def duplicate_identifier(case: Case) -> pl.DataFrame:
    """An identifier that an earlier record of the document, or a given one, has already."""
    listed = _identified(case)
    given = case.against.mentions.select("document", id="mention")
    if case.against is case.system:
        given = given.clear()
    repeated = listed.filter(pl.struct("document", "id").is_duplicated())
    # Items hold each identifier once: where none was left out, none is taken.
    of_items = case.system.mentions.height + case.system.frames.height + given.height
    if repeated.is_empty() and case.items.height == of_items:
        given = given.clear()
    taken = given.unique().with_columns(given=pl.lit(True))
    some = pl.concat([repeated, listed.join(taken, on=["document", "id"], how="semi")]).unique()
    some = some.join(taken, on=["document", "id"], how="left").sort("document", "origin", "record")
    first = pl.col("record").first().over("document", "id")
    found = some.with_columns(first=first, ordinal=ordinals(some, ["document", "id"]))
    found = found.filter(pl.col("given") | (pl.col("ordinal") > 0))
    where = pl.when("given").then(pl.lit("in the .a1")).otherwise(pl.format("in line {}", "first"))
    return found.with_columns(_at("id"), where=where)


def _references(case: Case) -> pl.DataFrame:
    """Every reference that may lead nowhere, with the field that holds it."""
    place = ["document", "origin", "record"]
    system = case.system
    triggers = system.frames.filter(pl.col("trigger").is_not_null())
    position = pl.int_range(1, pl.len() + 1).over("document", "group")
    return pl.concat(
        [
            case.all_arguments.filter(pl.col("filler").is_null()).select(*place, pl.format("target {}", "position").alias("field"), "target", id="frame"),
            triggers.select(*place, field=pl.lit("trigger"), target="trigger", id="frame"),
            system.modifiers.select(*place, field=pl.lit("target"), target="target", id="modifier"),
            system.groups.select(*place, field=pl.format("member {}", position), target="member", id=pl.lit("*")),
        ]
    )


def unresolved(case: Case) -> pl.DataFrame:
    """A reference to an identifier that the document does not have; of an unknown one, none is asked."""
    documents = case.against.documents["row"].implode()
    asked = _references(case).filter(pl.col("document").is_in(documents))
    wanted = asked.select("document", "target").unique()
    modifiers = case.system.modifiers.select("document", target="modifier")
    known = [table.join(wanted, on=["document", "target"], how="semi") for table in (case.items, modifiers)]
    known = pl.concat([table.select("document", "target") for table in known])
    found = asked.join(known, on=["document", "target"], how="anti", maintain_order="left")
    dropped = case.system.refused.select("document", target="id").drop_nulls().unique()
    found = found.join(dropped.with_columns(dropped=pl.lit(True)), on=["document", "target"], how="left")
    reason = pl.when("dropped").then(pl.lit("; the line that defines it could not be read"))
    found = found.join(case.names, on="document", how="left")
    return found.with_columns(suggestion=reason.otherwise(pl.lit("")), document=pl.col("name"))


def forward_modifier(case: Case) -> pl.DataFrame:
    """A modifier that stands before the event it modifies."""
    frames = case.system.frames.unique(["document", "frame"], keep="first", maintain_order=True)
    frames = frames.select("document", "origin", target="frame", defined="record")
    modifiers = case.system.modifiers.rename({"modifier": "id"})
    found = modifiers.join(frames, on=["document", "origin", "target"])
    return found.filter(pl.col("record") < pl.col("defined")).with_columns(_at("target"))


def equivalence_overlaps(case: Case) -> pl.DataFrame:
    """A member of an equivalence that an earlier one has too."""
    position = pl.int_range(1, pl.len() + 1).over("document", "group")
    groups = case.system.groups.with_columns(position=position, id=pl.lit("*"))
    first = pl.col("group").first().over("document", "member")
    found = groups.filter(pl.col("group") != first)
    return found.with_columns(_at(pl.format("member {}", "position")))


def equivalence_empty(case: Case) -> pl.DataFrame:
    """An equivalence of a single member."""
    groups = case.system.groups.with_columns(id=pl.lit("*"), members=pl.len().over("document", "group"))
    return groups.filter(pl.col("members") == 1).with_columns(_at("member 1"))


RULES = (
    Rule("STD201", fragments_unordered),
    Rule("STD202", beyond_text),
    Rule("STD203", fragments_overlap),
    Rule("STD204", span_reversed),
    Rule("STD205", span_empty),
    Rule("STD206", text_differs),
    Rule("STD301", duplicate_identifier),
    Rule("STD302", unresolved),
    Rule("STD303", forward_modifier),
    Rule("STD304", equivalence_overlaps),
    Rule("STD305", equivalence_empty),
)

"""Rules of standoff about text spans, identifiers and equivalences (STD201 to STD305)."""

from functools import partial

import polars as pl

from hlteval.converters.toolkit.quotes import normalized_spaces
from hlteval.representation import row_hash
from hlteval.validators.rule import Rule, RuleContext, at, only_if

_PLACE = ("document", "origin", "record", "id")
_PUNCTUATION = ".,;:()[]\"'"
#: Spans, or fragments of them, with offsets that are wrong by themselves or after the one before.
UNORDERED = pl.col("start") < pl.col("before")
OVERLAPPING = (pl.col("start") >= pl.col("before")) & (pl.col("start") < pl.col("reached"))
REVERSED = pl.col("end") < pl.col("start")
EMPTY = pl.col("end") == pl.col("start")


def _with_names(rows: pl.LazyFrame, context: RuleContext) -> pl.LazyFrame:
    """Rows with the name of their document in place of its key."""
    named = rows.join(context.names, on="document", how="left", maintain_order="left")
    return named.with_columns(document="name").drop("name")


# Text spans: offsets and text.


def _parts(context: RuleContext) -> pl.LazyFrame:
    """The fragments of every span, with start (`before`) and end (`reached`) of the previous one.

    A continuous span is its own only fragment; these come first.
    """
    spans = context.records("mentions", "start", "end", "text", "fragments")
    is_broken, none = pl.col("fragments").is_not_null(), pl.lit(None, pl.Int64)
    continuous = spans.filter(~is_broken).drop("fragments")
    fragments = spans.filter(is_broken).explode("fragments")
    start, end = (pl.col("fragments").struct.field(name) for name in ("start", "end"))
    before = {"before": start.shift(1).over("row"), "reached": end.shift(1).over("row")}
    fragments = fragments.with_columns(start=start, end=end, **before).drop("fragments")
    return pl.concat([continuous.with_columns(before=none, reached=none), fragments])


def _wrong_parts(context: RuleContext) -> pl.LazyFrame:
    return _parts(context).filter(UNORDERED | OVERLAPPING | REVERSED | EMPTY)


def wrong_offsets(context: RuleContext, *, problem: pl.Expr) -> pl.LazyFrame:
    """A span with a problem, or whose fragment has one; each span once."""
    parts = context.cached(_wrong_parts).filter(problem)
    return at(parts.unique("row", keep="first", maintain_order=True), "fragments")


def _lengths(context: RuleContext) -> pl.LazyFrame:
    """The number of code points of each text."""
    texts = context.against.documents.lazy().drop_nulls("text")
    return texts.select(document="row", length=pl.col("text").str.len_chars())


def beyond_text(context: RuleContext) -> pl.LazyFrame:
    """A span that ends after the end of the document's text."""
    spans = context.records("mentions", "start", "end", "text")
    beyond = spans.join(_lengths(context), on="document").filter(pl.col("end") > pl.col("length"))
    return at(_with_names(beyond, context), "fragments")


def text_differs(context: RuleContext) -> pl.LazyFrame:
    """A span whose text is not that of the document at its offsets, apart from white space."""
    texts = dict(context.against.documents.select("row", "text").drop_nulls().iter_rows())
    differing = [
        row
        for row, document, start, end, text, broken in _suspects(context).iter_rows()
        if broken or texts[document][start:end].replace("\n", " ") != text.replace("\n", " ")
    ]
    if not differing:
        return context.records("mentions").head(0)
    rows = pl.Series("row", differing, dtype=pl.Int64)
    parts = _parts(context).filter(pl.col("row").is_in(rows.implode()))
    parts = parts.join(_lengths(context), on="document", maintain_order="left")
    legal = (pl.col("start") < pl.col("end")) & (pl.col("end") <= pl.col("length"))
    read = parts.filter(legal).collect()
    places = read.select("document", "start", "end").iter_rows()
    actual = [texts[document][start:end] for document, start, end in places]
    spans = read.with_columns(actual=pl.Series(actual, dtype=pl.String))
    whole = pl.col("actual").str.join(" ")
    spans = spans.group_by("row", maintain_order=True).agg(pl.exclude("actual").first(), whole)
    given, there = map(normalized_spaces, ("text", "actual"))
    spans = spans.filter(given != there)
    hints = []
    for document, text, start in spans.select("document", "text", "start").iter_rows():
        content, quoted = texts[document], repr(text[:40])
        around = (content.rfind(text, 0, start + len(text)), content.find(text, start + 1))
        near = [(abs(place - start), place) for place in around if place >= 0]
        if near:
            _, first = min(near)
            hint = f"use offsets {first} {first + len(text)}, where the document has {quoted}"
        else:
            hint = f"correct the text; {quoted} does not occur in the document"
        hints.append(hint)
    hinted = pl.Series(hints, dtype=pl.String)
    spans = spans.with_columns(hint=hinted, actual=pl.col("actual").str.head(40))
    return at(_with_names(spans.lazy(), context), "text")


def _suspects(context: RuleContext) -> pl.DataFrame:
    """The spans that do not have their text between start and end, or may not have it.

    A broken span may not: its text leaves out what lies between its fragments. Where all
    characters are ASCII, code points are bytes, which Polars finds without counting.
    """
    texts = context.against.documents.lazy().drop_nulls("text")
    ascii_only = pl.col("text").str.len_chars() == pl.col("text").str.len_bytes()
    texts = texts.select(document="row", content=pl.col("text").cast(pl.Binary), plain=ascii_only)
    columns = ("row", "document", "start", "end", "text", "fragments")
    spans = context.table("mentions", *columns).drop_nulls("text")
    spans = spans.with_columns(fragments=pl.col("fragments").is_not_null())
    length = (pl.col("end") - pl.col("start")).clip(0)
    there = pl.col("content").bin.slice(pl.col("start").clip(0), length)
    same = pl.col("plain") & (pl.col("start") >= 0) & (there == pl.col("text").cast(pl.Binary))
    suspects = spans.join(texts, on="document", maintain_order="left")
    suspects = suspects.filter(pl.col("fragments") | ~same)
    return suspects.drop("content", "plain").collect()


# Identifiers, and references to them.


def duplicate_identifier(context: RuleContext) -> pl.LazyFrame:
    """An identifier of an earlier record of the document, or of a given entity.

    Text spans that repeat given ones, with their types and offsets, are reported once per file.
    """
    tables = [context.records(name).select(_PLACE) for name in ("mentions", "frames", "modifiers")]
    records = pl.concat(tables)
    if not context.has_repeated_identifiers:
        return records.head(0)
    key = ["document", "id"]
    given = context.reference_mentions.rename({"mention": "id"}).join(records, on=key, how="semi")
    given = given.unique().with_columns(given=pl.lit(value=True))
    repeated = records.filter(row_hash(*key).is_duplicated())
    some = pl.concat([repeated, records.join(given, on=key, how="semi")]).unique()
    some = some.join(given, on=key, how="left").sort("document", "origin", "record")
    first, ordinal = pl.col("record").first().over(key), pl.int_range(pl.len()).over(key)
    some = some.with_columns(first=first, ordinal=ordinal)
    some = some.filter(pl.col("given") | (pl.col("ordinal") > 0))
    same = ["document", "label", "start", "end", "id"]
    originals = context.against.mentions.lazy().select(*same[:-1], id="mention")
    mentions = context.records("mentions", "label", "start", "end")
    copies = only_if(not context.own, mentions.join(originals, on=same, how="semi"))
    copies = copies.select("origin", "record", copy=pl.lit(value=True))
    some = some.join(copies, on=["origin", "record"], how="left", maintain_order="left")
    count = pl.col("copy").count().over("document", "origin")
    nth = pl.when("copy").then(pl.col("copy").cum_count().over("document", "origin"))
    more = pl.format("in the .a1, as are {} more text spans of this file", count - 1)
    where = pl.when("given").then(pl.lit("in the .a1")).otherwise(pl.format("in line {}", "first"))
    unique = pl.lit("give each annotation of a document a unique identifier")
    remove = pl.lit("remove the lines of the .a1 file from this file")
    hinted = some.with_columns(
        where=pl.when(pl.col("copy") & (count > 1)).then(more).otherwise(where),
        hint=pl.when("copy").then(remove).otherwise(unique),
        nth=nth,
    )
    return at(hinted.filter(pl.col("nth").fill_null(1) == 1), "id")


def dangling_reference(context: RuleContext) -> pl.LazyFrame:
    """A reference to an identifier that the document does not have.

    References in unknown documents are not checked. An identifier that is known without its
    punctuation is suggested.
    """
    arguments = context.all_arguments.filter(pl.col("filler").is_null()).rename({"frame": "id"})
    triggers = context.records("frames", "trigger").drop_nulls("trigger")
    tables = [
        at(arguments, pl.format("target {}", "position")),
        at(triggers, "trigger").rename({"trigger": "target"}),
        at(context.records("modifiers", "target"), "target"),
        _members(context).rename({"member": "target"}),
    ]
    references = pl.concat(rows.select(*_PLACE, "field", "target") for rows in tables)
    documents = context.against.documents.lazy().select(document="row")
    some = references.join(documents, on="document", how="semi").collect()
    key = ["document", "target"]
    items = only_if(some.height > 0, context.items).select(*key, known=pl.lit(value=True))
    dangling = some.lazy().join(items, on=key, how="anti", maintain_order="left")
    bare = dangling.with_columns(bare=pl.col("target").str.strip_chars(_PUNCTUATION))
    plain = items.rename({"target": "bare"})
    near = bare.join(plain, on=["document", "bare"], how="left", maintain_order="left")
    suggestion = pl.when("known").then(pl.format("; did you mean {}?", "bare"))
    hinted = near.with_columns(suggestion=suggestion.otherwise(pl.lit("")))
    return _with_names(hinted, context)


def forward_modifier(context: RuleContext) -> pl.LazyFrame:
    """A modifier before the event that it modifies."""
    frames = context.table("frames", "document", "origin", "record", "frame")
    frames = frames.unique(["document", "frame"], keep="first", maintain_order=True)
    defined = frames.rename({"frame": "target", "record": "defined"})
    modifiers = context.records("modifiers", "target")
    joined = modifiers.join(defined, on=["document", "origin", "target"], maintain_order="left")
    return at(joined.filter(pl.col("record") < pl.col("defined")), "target")


# What a submission has beside what is given.


def added_mention(context: RuleContext) -> pl.LazyFrame:
    """A text span in a submission to a task that gives all of them."""
    given = context.reference_mentions.rename({"mention": "id"})
    mentions = context.records("mentions")
    added = mentions.join(given, on=["document", "id"], how="anti", maintain_order="left")
    return at(only_if(not context.own, added), "")


def answers(context: RuleContext) -> pl.LazyFrame:
    """The .a2 files of a submission: `origin`, and the number and `name` of its `document`."""
    name = pl.col("member").str.extract(r"([^/]*)\.a2$")
    files = context.table("sources", "row", "member").select(origin="row", name=name)
    documents = context.against.documents.lazy().select("name", document="row")
    return files.join(documents, on="name", maintain_order="left")


# Equivalences.


def _members(context: RuleContext) -> pl.LazyFrame:
    """The members of equivalences, each at its `position`."""
    columns = ("row", "document", "origin", "record", "group", "member")
    position = pl.int_range(1, pl.len() + 1).over("document", "group")
    groups = context.table("groups", *columns).with_columns(position=position, id=pl.lit("*"))
    return at(groups, pl.format("member {}", "position"))


def equivalence_overlaps(context: RuleContext) -> pl.LazyFrame:
    """A member of an equivalence that is a member of an earlier one too."""
    first = pl.col("group").first().over("document", "member")
    return _members(context).filter(pl.col("group") != first)


def equivalence_empty(context: RuleContext) -> pl.LazyFrame:
    """An equivalence of a single member."""
    return _members(context).filter(pl.len().over("document", "group") == 1)


RULES = (
    Rule("STD201", "mentions", partial(wrong_offsets, problem=UNORDERED)),
    Rule("STD202", "mentions", beyond_text),
    Rule("STD203", "mentions", partial(wrong_offsets, problem=OVERLAPPING)),
    Rule("STD204", "mentions", partial(wrong_offsets, problem=REVERSED)),
    Rule("STD205", "mentions", partial(wrong_offsets, problem=EMPTY)),
    Rule("STD206", "mentions", text_differs),
    Rule("STD301", "sources", duplicate_identifier),
    Rule("STD302", "sources", dangling_reference),
    Rule("STD303", "modifiers", forward_modifier),
    Rule("STD304", "groups", equivalence_overlaps),
    Rule("STD305", "groups", equivalence_empty),
)

"""Tables of HUB-4 templettes that several rules use, and what texts look like."""

import polars as pl

from hlteval.converters.hub4.lines import WITHOUT_COLON
from hlteval.validators.rule import RECORD, RuleContext, at, only_if


def corpus_texts(context: RuleContext) -> pl.LazyFrame:
    """The documents of the corpus that have texts, as `content`, and where these begin.

    The corpus of a system is the one that it processed, if that is given. `document` is null for
    documents of which nothing is in the template set.
    """
    option = _option(context)
    if not option:
        documents = context.against.documents.lazy().filter(pl.col("text").is_not_null())
        return documents.select("name", content="text", begins="start", document="row")
    named = context.lists[option].documents.lazy()
    named = named.select("name", content="text", begins="start")
    if context.schema.unsegmented:  # the system names documents of its own
        return named.with_columns(document=pl.lit(None, pl.Int64))
    return named.join(context.names, on="name", how="left", maintain_order="left")


def _option(context: RuleContext) -> str:
    """The option whose file is the corpus of the template set; empty if none is."""
    names = ("hyp_corpus", "corpus") if context.schema.system else ("corpus",)
    return next((name for name in names if name in context.lists), "")


def corpus_option(context: RuleContext) -> str:
    """The option of the corpus of the template set, as messages name it."""
    return f"--{_option(context).replace('_', '-')}" if _option(context) else "the corpus"


def allowed_names(context: RuleContext) -> list[tuple[str, str]]:
    """The types of the file of --slots with a slot, or with no slot (empty) as they are written."""
    if "slots" not in context.lists:
        return []
    lines = (name.rpartition(".") for name in context.lists["slots"].documents["name"])
    return [(kind, slot) if kind else (slot, "") for kind, _, slot in lines]


def frames(context: RuleContext) -> pl.LazyFrame:
    """The instances with the names of their documents, at their pointers."""
    rows = context.records("frames", "frame", "label")
    named = rows.join(context.names, on="document", maintain_order="left")
    return at(named, "pointer").sort("record")


def _all_fills(context: RuleContext) -> pl.LazyFrame:
    instances = context.table("frames", "row", "frame", "label").rename({"row": "frame_row"})
    columns = ("frame_row", "slot", "slot_number", "optional", "alternative", "position")
    content = ("kind", "target", "text", "quoted", "extents", "brackets")
    rows = context.table("fills", *RECORD, *columns, *content)
    rows = rows.join(instances, on="frame_row", maintain_order="left")
    named = rows.join(context.names, on="document", maintain_order="left")
    full = pl.concat_str("label", pl.lit("."), "slot")
    frame, number = pl.col("frame_row"), pl.col("slot_number")
    begins = (frame != frame.shift()) | (number != number.shift())
    marked = named.with_columns(
        id=pl.col("frame"), full=full, field=pl.lit("fill"), begins=begins.fill_null(value=True)
    )
    first = pl.when("begins").then("kind").forward_fill()
    return marked.with_columns(first_kind=first)


def fills(context: RuleContext) -> pl.LazyFrame:
    """The fills in order, with `label`, `frame` and document `name` of their instances.

    `full` is TYPE.SLOT; `begins` is whether a fill is the first of its slot, `first_kind` the kind
    of that one.
    """
    return context.cached(_all_fills)


def texts(context: RuleContext) -> pl.LazyFrame:
    """The fills that are texts."""
    return fills(context).filter(pl.col("kind") == "text")


def after_first(rows: pl.LazyFrame, *key: str) -> pl.LazyFrame:
    """The rows after the `first` record with the same key."""
    first = pl.col("record").first().over(key)
    return rows.with_columns(first=first).filter(pl.col("record") != first)


def unknown_sets(context: RuleContext) -> pl.LazyFrame:
    """The documents of instance sets that are not in the corpus."""
    documents = corpus_texts(context).select("document")
    sets = context.table("frames", "document").unique()
    strange = sets.join(documents, on="document", how="anti")
    nothing = context.schema.unsegmented or documents.head(1).collect().is_empty()
    return only_if(not nothing, strange)


def unknown_names(context: RuleContext) -> list[str]:
    """The documents of instance sets that are not in the corpus, by name."""
    rows = context.names.join(context.cached(unknown_sets), on="document", how="semi")
    return rows.select("name").collect()["name"].to_list()


def _headless(context: RuleContext) -> pl.LazyFrame:
    rows = fills(context).sort("origin", "record")
    place = ["origin", "frame_row"]
    follows = pl.col("begins").shift(-1).over(place)
    alone = (pl.col("kind") == "pointer") & ~pl.col("begins") & follows
    defined = frames(context).select(target="frame")
    return rows.filter(alone).join(defined, on="target", how="anti", maintain_order="left")


def headless_pointers(context: RuleContext) -> pl.LazyFrame:
    """The pointers alone in their line, before a slot, whose instance has no header.

    They are likely headers without `:=`, so that the slots after them belong to another instance.
    """
    return context.cached(_headless)


def among(slots: tuple[str, ...]) -> pl.Expr:
    """Whether a slot is among some, written as SLOT or TYPE.SLOT."""
    return pl.col("slot").is_in(slots) | pl.col("full").is_in(slots)


def like_slot() -> pl.Expr:
    """Whether a text without quotes looks like a slot whose name has spaces."""
    looks = pl.col("text").str.contains("^[A-Za-z][A-Za-z0-9_-]*(?: [A-Za-z0-9_-]+){1,2} ?:")
    bare = pl.col("quoted").eq(other=False) & looks & (pl.col("position") > 1)
    return bare.fill_null(value=False)


def without_colon() -> pl.Expr:
    """The name of a slot that has no colon: its line is a fill of the slot before it."""
    bare = ~pl.col("begins") & ~pl.col("quoted")
    return pl.when(bare).then(pl.col("text").str.extract(WITHOUT_COLON + "$", 1))


def has_two_fills() -> pl.Expr:
    """Whether a text in quotes holds extents, as with two fills in one line."""
    has_extents = pl.col("text").str.contains("##[0-9]+#[0-9]+#")
    return (pl.col("quoted") & has_extents).fill_null(value=False)


def is_number() -> pl.Expr:
    """Whether the name of a slot is a number, with which a text without quotes may begin."""
    return pl.col("slot").str.contains("^[0-9]+$")


def pointers(context: RuleContext) -> pl.LazyFrame:
    """The pointers with the document of their instance as `leads_to`; null if there is none."""
    instances = context.table("frames", "frame", "document")
    instances = instances.unique("frame", keep="first", maintain_order=True)
    instances = instances.rename({"frame": "target", "document": "leads_to"})
    rows = fills(context).filter(pl.col("kind") == "pointer")
    return rows.join(instances, on="target", how="left", maintain_order="left")


def orphans(context: RuleContext) -> pl.LazyFrame:
    """The instances that no pointer leads to, in sets whose top instance can be read."""
    targets = pointers(context).select(frame="target")
    others = frames(context).filter(pl.col("label") != context.schema.top)
    tops = frames(context).filter(pl.col("label") == context.schema.top).select("document")
    alone = others.join(targets, on="frame", how="anti", maintain_order="left")
    once = alone.unique("frame", keep="first", maintain_order=True)
    return once.join(tops, on="document", how="semi", maintain_order="left")

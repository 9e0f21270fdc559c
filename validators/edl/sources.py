"""Rules of entity discovery and linking: mentions beside texts, lists and the knowledge base."""

from __future__ import annotations

import polars as pl

from hlteval.validators.edl.mention_texts import CONVENTIONS, compared, counted_otherwise, nearest
from hlteval.validators.edl.table import about_the_whole, at, matches, mentions, shown
from hlteval.validators.rule import Rule, RuleContext
from hlteval.validators.suggest import near

DOCUMENTS, KB = "documents", "kb"
"""The options that name a list of documents, and a knowledge base."""

PLAUSIBLE = {
    "GEO": ("a GeoNames entry", ("GPE", "LOC")),
    "WLL": ("a person on the World Leaders list", ("PER",)),
    "APB": ("an organisation from the World Factbook", ("ORG",)),
    "AUG": ("a person or organisation added by hand", ("PER", "ORG")),
}
"""The lists of the knowledge base: what an entry is, and the types that it can have."""


def _nothing(case: RuleContext) -> pl.LazyFrame:
    """No mention, in the shape of the mentions."""
    return case.cached(mentions).head(0)


def unknown_document(case: RuleContext) -> pl.LazyFrame:
    """A document that is not among those given; each is told once."""
    known = case.against.documents.lazy().select("name")
    rows = _nothing(case) if case.own else case.cached(mentions)
    strange = rows.join(known, on="name", how="anti", maintain_order="left")
    strange = strange.filter(matches("name", "document"))  # of others, the reader tells
    told = strange.group_by("name", maintain_order=True).agg(
        pl.col("origin", "record", "id").first(), count=pl.len()
    )
    names = told.select("name").collect().to_series().to_list()
    meant = near(names, case.against.documents["name"].to_list()) if names else {}
    hints = {name: f"did you mean {other}?" for name, other in meant.items()}
    hint = pl.col("name").replace_strict(
        hints, default="remove these mentions; they count as false positives", return_dtype=pl.String
    )
    return at(told.with_columns(document=shown("name"), hint=hint), "document")


def _compared(case: RuleContext) -> pl.LazyFrame:
    """The mentions in documents whose text is given, and whether that is what they say."""
    documents = case.against.documents
    rows = _nothing(case) if case.own else case.cached(mentions)
    # what ends before it starts has no text
    proper = rows.filter(pl.col("start") < pl.col("end"))
    return compared(proper.collect(), documents).lazy()


def _misfits(case: RuleContext) -> pl.LazyFrame:
    """The mentions that do not fit, but for those that fit if all are counted otherwise."""
    rows = case.cached(_compared).collect()
    told = counted_otherwise(rows, case.against.documents)
    return (told[1] if told else rows.filter(~pl.col("fits"))).lazy()


def outside_text(case: RuleContext) -> pl.LazyFrame:
    """A mention that ends behind its document."""
    found = case.cached(_misfits).filter(pl.col("end") > pl.col("length")).collect()
    hinted = found.with_columns(
        nearest(found, case.against.documents),
        document=shown("name"),
        last=pl.col("end") - 1,
        largest=pl.col("length") - 1,
    )
    return at(hinted.lazy(), "offsets")


def other_text(case: RuleContext) -> pl.LazyFrame:
    """A mention whose string is not what the text has there."""
    said = pl.col("given").str.strip_chars() != ""  # a missing string is told by another rule
    found = case.cached(_misfits).filter(said, pl.col("end") <= pl.col("length")).collect()
    hinted = found.with_columns(
        nearest(found, case.against.documents),
        given=shown("given"),
        found=shown("found"),
    )
    return at(hinted.lazy(), "offsets")


def counted(case: RuleContext) -> pl.LazyFrame:
    """A submission all of whose offsets fit if they are counted in another way."""
    rows = case.cached(_compared).collect()
    told = counted_otherwise(rows, case.against.documents)
    how, hint = CONVENTIONS[told[0]] if told else ("", "")
    misfits = rows.filter(~pl.col("fits"))
    count = misfits.height - (told[1].height if told else 0)
    summed = rows.head(1 if told else 0).with_columns(
        count=pl.lit(count), all=pl.lit(misfits.height), how=pl.lit(how), hint=pl.lit(hint)
    )
    return about_the_whole(summed.lazy())


def _linked(case: RuleContext) -> pl.LazyFrame:
    """The mentions that are linked to a number, where there is a knowledge base."""
    rows = case.cached(mentions) if KB in case.lists else _nothing(case)
    return rows.filter(pl.col("entity").str.contains("^[0-9]+$"))


def _entities(case: RuleContext) -> pl.LazyFrame:
    """The knowledge base; an empty one where there is none."""
    base = case.lists.get(KB)
    return (case.against.entities.clear() if base is None else base.entities).lazy()


def not_in_kb(case: RuleContext) -> pl.LazyFrame:
    """An entity that the knowledge base has not got; each is told once."""
    strange = _linked(case).join(_entities(case), on="entity", how="anti", maintain_order="left")
    told = strange.group_by("entity", maintain_order=True).agg(
        pl.col("origin", "record", "id").first(), count=pl.len()
    )
    return at(told.with_columns(given=shown("entity")), "entity")


def implausible_link(case: RuleContext) -> pl.LazyFrame:
    """A mention whose type its entity cannot have; each pair of both is told once."""
    allowed = {source: list(types) for source, (_, types) in PLAUSIBLE.items()}
    kinds = {source: kind for source, (kind, _) in PLAUSIBLE.items()}
    source = pl.col("source").str.strip_chars().str.to_uppercase()
    entities = _entities(case).filter(source.is_in(list(PLAUSIBLE)))
    known = entities.select(
        "entity",
        source=source.replace_strict(kinds, default=None, return_dtype=pl.String),
        types=source.replace_strict(allowed, default=None, return_dtype=pl.List(pl.String)),
    )
    sourced = (
        known.explode("types")
        .group_by("entity", maintain_order=True)
        .agg(pl.col("source").first(), "types")
    )
    pairs = _linked(case).unique(("entity", "label"), keep="first", maintain_order=True)
    typed = pairs.filter(pl.col("label").is_in(["GPE", "LOC", "ORG", "PER"]))
    joined = typed.join(sourced, on="entity", maintain_order="left")
    wrong = joined.filter(~pl.col("types").list.contains(pl.col("label")))
    return at(wrong.with_columns(given=shown("entity"), type="label"), "entity")


def _listed(case: RuleContext) -> pl.LazyFrame:
    """The names of the listed documents; none where there is no list."""
    listed = case.lists.get(DOCUMENTS)
    return (case.system.documents.clear() if listed is None else listed.documents).lazy()


def _placed(case: RuleContext) -> pl.LazyFrame:
    """The mentions by document, where there is a list: how many, and whether they are listed."""
    rows = case.cached(mentions) if DOCUMENTS in case.lists else _nothing(case)
    placed = rows.group_by("name", maintain_order=True).agg(mentions=pl.len())
    listed = _listed(case).select("name", listed=pl.lit(value=True))
    joined = placed.join(listed, on="name", how="left", maintain_order="left")
    return joined.with_columns(pl.col("listed").fill_null(value=False))


def unlisted(case: RuleContext) -> pl.LazyFrame:
    """Documents with mentions that are not listed, where others are."""
    placed = case.cached(_placed)
    outside = placed.filter(~pl.col("listed"), pl.col("listed").any())
    summed = outside.select(
        count=pl.col("mentions").sum(), documents=pl.len(), document=pl.col("name").first()
    )
    return about_the_whole(summed.filter(pl.col("documents") > 0))


def nothing_listed(case: RuleContext) -> pl.LazyFrame:
    """No document with mentions is listed."""
    names = _listed(case).select("name").collect().to_series()
    example = names[0] if names.len() else "nothing"
    summed = case.cached(_placed).select(
        document=pl.col("name").first(),
        inside=pl.col("listed").any(),
        listed=pl.lit(names.len()),
        example=pl.lit(example),
    )
    return about_the_whole(summed.filter(~pl.col("inside"), pl.col("document").is_not_null()))


def silent_documents(case: RuleContext) -> pl.LazyFrame:
    """Listed documents without mentions, where others have some."""
    names = _listed(case).select("name")
    silent = names.join(case.cached(_placed), on="name", how="anti", maintain_order="left")
    count = names.collect().height
    summed = silent.select(count=pl.len(), document=pl.col("name").first())
    told = summed.with_columns(listed=pl.lit(count))
    return about_the_whole(told.filter(pl.col("count") > 0, pl.col("count") < pl.col("listed")))


RULES = (
    Rule("EDL501", "mentions", unknown_document),
    Rule("EDL502", "mentions", outside_text),
    Rule("EDL503", "mentions", other_text),
    Rule("EDL504", "mentions", not_in_kb),
    Rule("EDL505", "mentions", implausible_link),
    Rule("EDL506", "mentions", unlisted),
    Rule("EDL507", "mentions", nothing_listed),
    Rule("EDL508", "mentions", silent_documents),
    Rule("EDL509", "mentions", counted),
)

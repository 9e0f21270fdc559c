"""Rules of EDL about unknown and unlisted documents (EDL501, EDL506 to EDL508)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from hlteval.findings import Finding
from hlteval.findings.suggest import closest_files
from hlteval.validators.edl.fields import first, matches, mentions, shown
from hlteval.validators.names import unknown_names
from hlteval.validators.rule import RuleContext, about_submission, at, only_if

#: The option that names a list of documents.
DOCUMENTS = "documents"


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """A document that the reference does not have, once for each document."""
    known = context.against.documents.lazy().select("name")
    rows = only_if(not context.own, context.cached(mentions))
    strange = rows.join(known, on="name", how="anti", maintain_order="left")
    strange = strange.filter(matches("name", "document"))  # the reader reports others
    found = first(strange, "name").collect()
    names = context.against.documents["name"].to_list()
    meant = closest_files(found["name"].to_list(), names)
    hints = {name: f"did you mean {other}?" for name, other in meant.items()}
    hint = pl.col("name").replace_strict(
        hints,
        default="remove these mentions; they count as false positives",
        return_dtype=pl.String,
    )
    return at(found.lazy().with_columns(document=shown("name"), hint=hint), "document")


def _listed(context: RuleContext) -> pl.LazyFrame:
    """The documents of the list; none if there is no list."""
    documents = context.lists.get(DOCUMENTS, context.system).documents.lazy().select("name")
    return only_if(DOCUMENTS in context.lists, documents)


def _by_document(context: RuleContext) -> pl.LazyFrame:
    """The documents with mentions: the number of these, and whether the document is listed."""
    rows = only_if(DOCUMENTS in context.lists, context.cached(mentions))
    placed = rows.group_by("name", maintain_order=True).agg(mentions=pl.len())
    listed = _listed(context).with_columns(listed=pl.lit(value=True))
    joined = placed.join(listed, on="name", how="left", maintain_order="left")
    return joined.with_columns(pl.col("listed").fill_null(value=False))


def unlisted(context: RuleContext) -> pl.LazyFrame:
    """Documents with mentions that are not listed, if others are."""
    placed = context.cached(_by_document)
    outside = placed.filter(~pl.col("listed"), pl.col("listed").any())
    summed = outside.select(
        count=pl.col("mentions").sum(), documents=pl.len(), document=pl.col("name").first()
    )
    return about_submission(summed.filter(pl.col("documents") > 0))


def nothing_listed(context: RuleContext) -> pl.LazyFrame:
    """No document with mentions is listed."""
    names = _listed(context).collect().to_series()
    example = names[0] if names.len() else "nothing"
    summed = context.cached(_by_document).select(
        document=pl.col("name").first(),
        inside=pl.col("listed").any(),
        listed=pl.lit(names.len()),
        example=pl.lit(example),
    )
    return about_submission(summed.filter(~pl.col("inside"), pl.col("document").is_not_null()))


def silent_documents(context: RuleContext) -> pl.LazyFrame:
    """Listed documents without mentions, if others have some."""
    names = _listed(context)
    silent = names.join(context.cached(_by_document), on="name", how="anti", maintain_order="left")
    count = names.collect().height
    summed = silent.select(count=pl.len(), document=pl.col("name").first())
    found = summed.with_columns(listed=pl.lit(count))
    return about_submission(found.filter(pl.col("count") > 0, pl.col("count") < pl.col("listed")))


def excluded_documents(
    context: RuleContext, options: Mapping[str, str], values: Mapping[str, Any]
) -> Iterator[Finding]:
    """The documents of --exclude that neither side, nor the list of --documents, has."""
    if "exclude" in values:
        corpora = (context.system, context.against, *context.lists.values())
        known = {name for corpus in corpora for name in corpus.documents["name"]}
        given = values["exclude"]["docid"]
        yield from unknown_names("exclude", "document", given, known, options["exclude"])


# Rules of EDL about links to the knowledge base (EDL504, EDL505).


#: The option that names a knowledge base.
KB = "kb"

#: The lists of the knowledge base: the kind of its entries, and the types that these can have.
PLAUSIBLE = {
    "GEO": ("a GeoNames entry", ("GPE", "LOC")),
    "WLL": ("a person on the World Leaders list", ("PER",)),
    "APB": ("an organisation from the World Factbook", ("ORG",)),
    "AUG": ("a person or organisation added by hand", ("PER", "ORG")),
}


def _linked(context: RuleContext) -> pl.LazyFrame:
    """The mentions with a link to the knowledge base, if there is one."""
    rows = only_if(KB in context.lists, context.cached(mentions))
    return rows.filter(pl.col("entity").str.contains("^[0-9]+$"))


def _entities(context: RuleContext) -> pl.LazyFrame:
    """The knowledge base; an empty one if there is none."""
    base = context.lists.get(KB, context.against).entities.lazy().select("entity", "source")
    return only_if(KB in context.lists, base)


def not_in_kb(context: RuleContext) -> pl.LazyFrame:
    """An entity that the knowledge base does not have, once for each entity."""
    strange = _linked(context).join(
        _entities(context), on="entity", how="anti", maintain_order="left"
    )
    return at(first(strange, "entity").with_columns(given=shown("entity")), "entity")


def implausible_link(context: RuleContext) -> pl.LazyFrame:
    """A mention whose type its entity cannot have, once for each pair of them."""
    allowed = {source: list(types) for source, (_, types) in PLAUSIBLE.items()}
    kinds = {source: kind for source, (kind, _) in PLAUSIBLE.items()}
    source = pl.col("source").str.strip_chars().str.to_uppercase()
    entities = _entities(context).filter(source.is_in(list(PLAUSIBLE)))
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
    pairs = _linked(context).unique(("entity", "label"), keep="first", maintain_order=True)
    typed = pairs.filter(pl.col("label").is_in(["GPE", "LOC", "ORG", "PER"]))
    joined = typed.join(sourced, on="entity", maintain_order="left")
    wrong = joined.filter(~pl.col("types").list.contains(pl.col("label")))
    return at(wrong.with_columns(given=shown("entity"), type="label"), "entity")

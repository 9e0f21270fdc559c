"""Rules of EDL about links to the knowledge base (EDL504, EDL505)."""

from __future__ import annotations

import polars as pl

from hlteval.validators.edl.tables import first, mentions, shown
from hlteval.validators.rule import RuleContext, at, only_if

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

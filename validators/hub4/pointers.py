"""Rules of HUB-4 about pointers (HUB206 to HUB208)."""

from __future__ import annotations

import polars as pl

from hlteval.findings.suggest import closest
from hlteval.validators.hub4.tables import (
    pointers,
    undefined,
    unknown_names,
    unknown_sets,
    unreferred,
)
from hlteval.validators.rule import RuleContext

#: Pointers to nothing for which a similar instance is searched.
_HINTED = 1000

_EXACT = "point to an instance of this file, spelled exactly as in its header"


def dangling_pointer(context: RuleContext) -> pl.LazyFrame:
    """A pointer to a missing instance, with the one that is meant if that is clear."""
    meant = pl.col("meant")
    similar = pl.format("did you mean <{}>?", meant)
    hint = pl.when(meant.is_null()).then(pl.lit(_EXACT)).otherwise(similar)
    return context.cached(_dangling).with_columns(hint=hint)


def meant_instances(context: RuleContext) -> pl.LazyFrame:
    """The instances, as `frame`, that pointers to missing ones likely mean."""
    return context.cached(_dangling).select(frame="meant").drop_nulls()


def _dangling(context: RuleContext) -> pl.LazyFrame:
    """The pointers to missing instances, with the similar one that no pointer leads to, `meant`.

    Each instance is meant by one pointer at most.
    """
    found = _to_nothing(context).collect()
    alone: dict[int, list[str]] = {}
    if found.height:
        for document, frame in unreferred(context).select("document", "frame").collect().rows():
            alone.setdefault(document, []).append(frame)
    meant: list[str | None] = []
    for document, target in found.head(_HINTED).select("document", "target").rows():
        left = alone.get(document, [])
        similar = closest(target, left) if left else None
        meant.append(similar)
        if similar is not None:
            left.remove(similar)
    meant += [None] * (found.height - len(meant))
    return found.lazy().with_columns(pl.Series("meant", meant, pl.String))


def _to_nothing(context: RuleContext) -> pl.LazyFrame:
    """The pointers to missing instances, but not to those whose header may be unreadable."""
    unread = context.system.rejected_records.filter(pl.col("code") == "HUB102")
    types = unread["text"].str.extract("^<? *([A-Za-z0-9_]+)", 1).drop_nulls().to_list()
    kind = pl.col("target").str.extract("^([A-Za-z0-9_]+)", 1)
    found = pointers(context).filter(pl.col("leads_to").is_null() & ~kind.is_in(types))
    headers = undefined(context).select("target")
    found = found.join(headers, on="target", how="anti", maintain_order="left")
    return found.filter(~_of_unknown_document(context))


def _of_unknown_document(context: RuleContext) -> pl.Expr:
    """Whether only the case of the document tells a pointer from one that is not in the corpus."""
    names = [name.casefold() for name in unknown_names(context)]
    document = pl.col("target").str.to_lowercase().str.extract("^[^-]+-(.*)-[0-9]+$", 1)
    return document.is_in(names).fill_null(value=False)


def pointer_elsewhere(context: RuleContext) -> pl.LazyFrame:
    """A pointer into the set of another document."""
    strange = unknown_sets(context).select(leads_to="document")
    elsewhere = pointers(context).filter(pl.col("leads_to") != pl.col("document"))
    elsewhere = elsewhere.join(strange, on="leads_to", how="anti", maintain_order="left")
    own = strange.rename({"leads_to": "document"})
    return elsewhere.join(own, on="document", how="anti", maintain_order="left")


def pointer_twice(context: RuleContext) -> pl.LazyFrame:
    """A pointer that is twice in one alternative."""
    key = ["frame_row", "slot_number", "alternative", "target"]
    headers = undefined(context).select("record")
    rows = pointers(context).join(headers, on="record", how="anti", maintain_order="left")
    again = rows.filter(pl.struct(key).is_duplicated())
    first = pl.col("record").first().over(key)
    return again.with_columns(first=first).filter(pl.col("record") != first)

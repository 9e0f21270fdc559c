"""Rules of LoReHLT situation frames about places and pairs of frames (LSF304 to 307, 310)."""

from __future__ import annotations

import polars as pl

from hlteval.representation import row_hash
from hlteval.validators.rule import RuleContext, about_submission, at, first_of, only_if
from hlteval.validators.situations.lorehlt_context import (
    ENTRY,
    KB,
    NIL,
    entities,
    frames,
    place_field,
    shown,
)


def _placed(context: RuleContext) -> pl.LazyFrame:
    rows = context.cached(frames).filter(pl.col("place_kb").is_not_null())
    return rows.with_columns(given=shown("place_kb"))


def not_in_kb(context: RuleContext) -> pl.LazyFrame:
    """A place that the knowledge base does not have, once for each place."""
    rows = only_if(KB in context.lists, _placed(context)).filter(
        pl.col("place_kb").str.contains(ENTRY)
    )
    known = entities(context).select(place_kb="entity").unique()
    strange = rows.join(known, on="place_kb", how="anti", maintain_order="left")
    return at(first_of(strange, "place_kb"), place_field())


def nil_place(context: RuleContext) -> pl.LazyFrame:
    """A place outside the knowledge base, once for each place."""
    rows = _placed(context).filter(pl.col("place_kb").str.contains(NIL))
    return at(first_of(rows, "place_kb"), place_field())


def place_form(context: RuleContext) -> pl.LazyFrame:
    """A place that is not an identifier of an entity, once for each place."""
    form = pl.col("place_kb").str
    rows = _placed(context).filter(~form.contains(ENTRY) & ~form.contains(NIL))
    return at(first_of(rows, "place_kb"), place_field())


def duplicate_frame(context: RuleContext) -> pl.LazyFrame:
    """A frame with the document, type and place of an earlier one."""
    key = ["document", "label", "place_kb"]
    rows = context.cached(frames)
    alike = rows.filter(row_hash(*key).is_duplicated()).with_columns(
        pl.col("place_kb").fill_null("\x1f")
    )
    ordered = alike.with_columns(
        first=pl.col("record").first().over(key), ordinal=pl.int_range(pl.len()).over(key)
    )
    return at(ordered.filter(pl.col("ordinal") > 0), "")


def no_cutoff(context: RuleContext) -> pl.LazyFrame:
    """A submission without a cut-off confidence."""
    rows = context.cached(frames).select(count=pl.len())
    some = rows.filter(pl.col("count") > 0)
    return about_submission(only_if(not context.schema.cutoff, some))

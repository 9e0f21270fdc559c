"""Rules of declared tasks about what fills the arguments of relations and events."""

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from hlteval.representation import FACT, ROLES
from hlteval.validators.generic.schema import Allowed
from hlteval.validators.rule import RECORD, RuleContext, at, only_if

#: A relation has so many arguments at least.
_ENDS = 2
#: What the arguments of each kind of relations are, in words.
_FILLERS: Mapping[str, str] = {"relation": "mentions", FACT: "entities"}


def may_lack_fillers(context: RuleContext) -> bool:
    """Whether an argument or a trigger of a batch may lead nowhere, where frames are scored."""
    schema: Allowed = context.schema
    if schema.table != "frames":
        return False
    triggers = context.system.frames["trigger"].null_count() < context.system.frames.height
    return triggers or context.all_arguments.select("filler").collect()["filler"].has_nulls()


def no_filler(context: RuleContext) -> pl.LazyFrame:
    """An argument or a trigger that is nothing in its document; those of facts are entities."""
    key, place = ["document", "target"], [*RECORD, "id", "target", "label", "field"]
    facts = context.table("frames", "row", "kind").filter(kind=FACT).select(frame_row="row")
    arguments = context.all_arguments.filter(pl.col("filler").is_null()).rename({"frame": "id"})
    arguments = arguments.join(facts, on="frame_row", how="anti", maintain_order="left")
    triggers = context.records("frames", "label", "trigger").drop_nulls("trigger")
    triggers = triggers.rename({"trigger": "target"})
    triggers = triggers.join(context.items, on=key, how="anti", maintain_order="left")
    found = (at(arguments, pl.format("target {}", "position")), at(triggers, "trigger"))
    return pl.concat(rows.select(place) for rows in found)


def _relations(context: RuleContext) -> pl.LazyFrame:
    """The relations of a batch with the `count` of their arguments, where relations are scored."""
    counts = context.table("arguments", "frame_row").group_by(row="frame_row").agg(count=pl.len())
    rows = only_if(context.schema.unit == "relations", context.records("frames", "label", "kind"))
    counted = rows.filter(pl.col("kind").is_in(list(_FILLERS))).join(counts, on="row", how="left")
    return counted.with_columns(pl.col("count").fill_null(0)).sort("row")


def may_be_few(context: RuleContext) -> bool:
    """Whether a frame of a batch has fewer arguments than two."""
    rows = context.system.arguments["frame_row"].to_numpy()
    frames = context.system.frames["row"].to_numpy()
    counts = np.bincount(rows, minlength=int(frames.max(initial=0)) + 1)
    return bool((counts[frames] < _ENDS).any())


def too_few(context: RuleContext) -> pl.LazyFrame:
    """A relation with fewer arguments than two."""
    return at(_relations(context).filter(pl.col("count") < _ENDS), "")


def kinds_of_sides(context: RuleContext) -> Iterator[str]:
    """The kinds of relations that a batch has, after the side that has them."""
    scored = context.schema.unit == "relations" and not context.own
    for side in ("against", "system") if scored else ():
        kinds = getattr(context, side).frames["kind"].unique()
        yield from (f"{side} {kind}" for kind in kinds if kind in _FILLERS)


def roles_of_sides(context: RuleContext) -> Iterator[str]:
    """The roles of relations that a batch has, after the side that has them."""
    for side, roles in zip(("against", "system"), context.once(_roles), strict=True):
        yield from (f"{side} {role}" for role in roles)


def _roles(context: RuleContext) -> tuple[set[str], ...]:
    """The roles of relations of the reference and of the submission, where relations are scored."""
    found = []
    scored = context.schema.unit == "relations" and not context.own
    for side in (context.against, context.system):
        rows, counts = side.arguments, side.frames["kind"].is_in(list(_FILLERS))
        if not counts.all():
            own = side.frames.filter(counts)
            rows = rows.join(own, left_on="frame_row", right_on="row", how="semi")
        found.append({ROLES.get(role, role) for role in rows["role"].unique() if scored})
    return tuple(found)


def may_differ_in_roles(context: RuleContext) -> bool:
    """Whether both sides of a batch have no role in common."""
    ours, theirs = context.once(_roles)
    return ours.isdisjoint(theirs)


def first_role(context: RuleContext) -> pl.LazyFrame:
    """The first argument of the relations of a batch."""
    relations = _relations(context).select("id", "label", frame_row="row")
    rows = context.table("arguments", *RECORD, "frame_row", "position", "role")
    rows = rows.join(relations, on="frame_row", maintain_order="left").head(1)
    return at(rows, pl.format("role {}", "position"))


def conclude_roles(rows: pl.DataFrame, shown: frozenset[str], _: Allowed) -> pl.DataFrame:
    """The first of these arguments, where no role is one of both sides."""
    ours, theirs = (
        {each.removeprefix(side) for each in shown if each.startswith(side)}
        for side in ("against ", "system ")
    )
    return rows.head(int(bool(ours and theirs) and ours.isdisjoint(theirs)))


def other_fillers(context: RuleContext) -> pl.LazyFrame:
    """A relation of a batch, whose arguments are all mentions or all entities."""
    scored = only_if(context.schema.unit == "relations", context.records("frames", "kind"))
    own = pl.col("kind").replace(_FILLERS)
    wanted = pl.when(pl.col("kind") == FACT).then(pl.lit("mentions")).otherwise(pl.lit("entities"))
    rows = scored.filter(pl.col("kind").is_in(list(_FILLERS)))
    return at(rows.with_columns(own=own, wanted=wanted), "").head(1)


def conclude_fillers(rows: pl.DataFrame, shown: frozenset[str], _: Allowed) -> pl.DataFrame:
    """The first of these relations, where no relation of the reference is of its kind."""
    ours, theirs = (
        [kind for kind in _FILLERS if f"{side} {kind}" in shown] for side in ("against", "system")
    )
    return rows.head(int(len(ours) == len(theirs) == 1 and ours != theirs))

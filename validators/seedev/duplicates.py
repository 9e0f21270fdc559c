"""Rules of SeeDev about events and equivalences that repeat others.

SEE301 and SEE302 are about events, STD304 and STD305 about equivalences.
"""

from __future__ import annotations

import polars as pl

from hlteval.representation import row_hash
from hlteval.validators.rule import RuleContext, at
from hlteval.validators.seedev.tables import contents, members


def _alike(context: RuleContext) -> pl.LazyFrame:
    """The events with the content of another one, apart from the order of commutative arguments.

    `content` is that of each event, role by role; `unordered` is equal for all that are alike.
    """
    schema = context.schema
    both = [event.label for event in schema.events.values() if event.commutative]
    free = pl.col("label").is_in(both) & ~pl.col("role").is_in(schema.conditions)
    role = pl.when(free).then(pl.lit("*")).otherwise("role")
    # Few are alike: sums of hashes find them, their content decides.
    frames = context.cached(contents)
    frames = frames.filter(row_hash("document", "label", "content").is_duplicated())
    frames = frames.drop("content", "roles")
    own = context.arguments.join(frames.select(frame_row="row"), on="frame_row", how="semi")
    written = own.group_by(row="frame_row").agg(
        content=pl.concat_str("role", "target", separator=":").sort().str.join(" "),
        unordered=pl.concat_str(role, "target", separator=":").sort().str.join(" "),
    )
    modifiers = context.table("modifiers", "document", "label", "target").unique()
    grouped = modifiers.group_by("document", id="target")
    modified = grouped.agg(modified=pl.col("label").sort().str.join(" "))
    frames = frames.join(written, on="row", how="left", maintain_order="left")
    frames = frames.join(modified, on=["document", "id"], how="left", maintain_order="left")
    return frames.with_columns(pl.col("modified").fill_null(""))


def are_alike(context: RuleContext) -> bool:
    """Whether any two events may be alike."""
    return not context.cached(_alike).collect().is_empty()


def _repeats(alike: pl.LazyFrame, content: str) -> pl.LazyFrame:
    key = ["document", "label", content, "modified"]
    first, ordinal = pl.col("id").first().over(key), pl.int_range(pl.len()).over(key)
    repeats = alike.with_columns(first=first, ordinal=ordinal).filter(pl.col("ordinal") > 0)
    return at(repeats, "")


def duplicate_event(context: RuleContext) -> pl.LazyFrame:
    """An event with the content of an earlier one."""
    return _repeats(context.cached(_alike), "content")


def mirrored_event(context: RuleContext) -> pl.LazyFrame:
    """A commutative event with the content of an earlier one, its arguments swapped."""
    alike = context.cached(_alike)
    same = _repeats(alike, "content").select("row")
    return _repeats(alike, "unordered").join(same, on="row", how="anti", maintain_order="left")


def equivalence_overlaps(context: RuleContext) -> pl.LazyFrame:
    """A member of an equivalence that is a member of an earlier one too."""
    first = pl.col("group").first().over("document", "member")
    return members(context).filter(pl.col("group") != first)


def equivalence_empty(context: RuleContext) -> pl.LazyFrame:
    """An equivalence of a single member."""
    return members(context).filter(pl.len().over("document", "group") == 1)

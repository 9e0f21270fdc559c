"""Rules over the mapping of hidden norms (CCU711 to CCU718)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from hlteval.findings.suggest import hints
from hlteval.validators.ccu.context import shown
from hlteval.validators.ccu.submission_id import malformed, parse, strange
from hlteval.validators.rule import RuleContext, at, first_of, only_if

#: The options that name the submission of ND and the list of hidden norms.
NORMS, HIDDEN = "norms", "hidden"
_MAPPED = "ND"


def mappings(context: RuleContext) -> pl.LazyFrame:
    """The rows of the mapping; `id` is the norm of the system."""
    rows = context.table("mappings", "row", "origin", "record", "label", "target", "submission")
    return rows.with_columns(id=pl.col("label"))


def _hinted(rows: pl.LazyFrame, column: str, hint: Callable[[str], str]) -> pl.LazyFrame:
    """Rows with a hint for each value of a column; those without one are left out."""
    found = rows.collect()
    by_value = {value: hint(value) for value in found[column].unique().drop_nulls()}
    text = pl.col(column).replace_strict(by_value, default="", return_dtype=pl.String)
    return found.lazy().with_columns(hint=text).filter(pl.col("hint") != "")


def _suggested(
    rows: pl.LazyFrame, column: str, known: Sequence[str], otherwise: str
) -> pl.LazyFrame:
    """Rows with the known name that each unknown one of a column may mean."""
    found = rows.collect()
    by_name = hints(found[column].drop_nulls(), known, otherwise)
    text = pl.col(column).replace_strict(by_name, default=otherwise, return_dtype=pl.String)
    return at(found.lazy().with_columns(hint=text, given=shown(column)), column)


def absent_norm(context: RuleContext) -> pl.LazyFrame:
    """A norm of the system that its submission does not have, once for each norm."""
    instances = context.lists.get(NORMS, context.system).instances
    labels = instances["label"].unique().sort()
    rows = context.cached(mappings).filter(~pl.col("label").is_in(labels.to_list()))
    strangers = only_if(NORMS in context.lists, first_of(rows, "label"))
    return _suggested(strangers, "label", labels.to_list(), "remove the row, or correct it")


def _hidden(context: RuleContext) -> list[str] | None:
    """The hidden norms, if they are known."""
    if HIDDEN in context.lists:
        return context.lists[HIDDEN].documents["name"].to_list()
    entities = context.against.entities
    if context.own or entities.is_empty():
        return None
    return entities.filter(pl.col("label") == HIDDEN)["entity"].to_list()


def unknown_norm(context: RuleContext) -> pl.LazyFrame:
    """A norm that is not a hidden one, once for each norm."""
    hidden = _hidden(context)
    rows = context.cached(mappings).filter(~pl.col("target").is_in(hidden or []))
    some = ", ".join((hidden or [])[:8])
    strangers = only_if(hidden is not None, first_of(rows, "target"))
    return _suggested(strangers, "target", hidden or [], f"use a hidden norm: {some}")


def duplicate(context: RuleContext) -> pl.LazyFrame:
    """A pair of norms that an earlier row has."""
    key = ["label", "target", "submission"]
    rows = context.cached(mappings).with_columns(first=pl.col("record").first().over(key))
    again = rows.filter(~pl.struct(key).is_first_distinct())
    return at(again.with_columns(given=shown("label"), target=shown("target")), "")


def _submissions(context: RuleContext) -> pl.LazyFrame:
    """The first row of each identifier of a submission."""
    rows = context.cached(mappings).with_columns(pl.col("submission").fill_null(""))
    return first_of(rows, "submission").with_columns(given=shown("submission"))


def several_submissions(context: RuleContext) -> pl.LazyFrame:
    """An identifier of a submission that is not the first; malformed ones are reported alone."""
    rows = context.cached(_submissions).collect()
    formed = [not malformed(written) for written in rows["submission"]]
    named = rows.filter(pl.Series(formed, dtype=pl.Boolean)).lazy()
    others = named.with_columns(one=pl.col("given").first()).slice(1)
    return at(others, "submission")


def malformed_submission(context: RuleContext) -> pl.LazyFrame:
    """An identifier of a submission that does not have the form of the plan."""
    return at(_hinted(context.cached(_submissions), "submission", malformed), "submission")


def strange_submission(context: RuleContext) -> pl.LazyFrame:
    """An identifier of a submission with a team or dataset that the plan does not list."""

    def parts(written: str) -> str:
        parsed = parse(written)
        return strange(parsed) if parsed and not malformed(written) else ""

    rows = _hinted(context.cached(_submissions), "submission", parts)
    return at(rows.rename({"hint": "parts"}), "submission")


def other_task(context: RuleContext) -> pl.LazyFrame:
    """An identifier of a submission to another task than norm discovery."""

    def task(written: str) -> str:
        parsed = parse(written)
        named = parsed.task if parsed and not malformed(written) else _MAPPED
        return "" if named == _MAPPED else named

    rows = _hinted(context.cached(_submissions), "submission", task)
    return at(rows.rename({"hint": "task"}), "submission")

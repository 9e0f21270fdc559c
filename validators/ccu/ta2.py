"""Rules of CCU TA2: conditions, questions, speakers and answers of the questionnaire (CCA2xx)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from hlteval.findings.suggest import did_you_mean
from hlteval.representation.questionnaire import (
    ANSWERS,
    CONDITIONS,
    IDEAL,
    QUESTIONS,
    SCORED,
    SPEAKERS,
    with_usual_names,
)
from hlteval.validators.rule import Rule, RuleContext, at, first_of

#: What has one response.
_ANSWER = ("document", "speaker", "question")
#: Characters of a cell that a message quotes.
_LISTED = 40
_NUMBER = r"^\s*[0-9]+\s*$"


class Scale(NamedTuple):
    """What answers may be.

    Attributes:
        top: the number that means `IDEAL`; 0 if answers are words.
    """

    top: int = 0


def scale(options: Mapping[str, str], reference: bool) -> Scale:  # noqa: ARG001 - of all tasks
    """The scale that the option --scale names."""
    return Scale(int(options.get("scale") or 0))


def _responses(context: RuleContext) -> pl.LazyFrame:
    """The responses with the names of their interactions, and null for what is unknown."""
    rows = context.table(
        "responses",
        *("document", "origin", "record", "condition", "speaker", "question", "response"),
    )
    named = rows.join(context.names, on="document", how="left", maintain_order="left")
    known = with_usual_names(named.select("condition", "response"), context.schema.top)
    known = known.rename({"condition": "_condition", "response": "_response"})
    texts = (pl.col(name).str.head(_LISTED) for name in ("condition", "response", "name"))
    joined = pl.concat([named, known], how="horizontal")
    return joined.with_columns(*texts, id=pl.lit(None, pl.String))


def _hinted(rows: pl.LazyFrame, column: str, names: tuple[str, ...], other: str) -> pl.LazyFrame:
    """Rows with a hint for an unknown name, the first of each name with its `count`."""
    found = first_of(rows, column).collect()
    hints = [did_you_mean(name, names, other) for name in found[column]]
    return at(found.lazy().with_columns(pl.Series("hint", hints, pl.String)), column)


def unknown_condition(context: RuleContext) -> pl.LazyFrame:
    """A condition that the plan does not have, once for each."""
    rows = context.cached(_responses).filter(pl.col("_condition").is_null())
    return _hinted(rows, "condition", CONDITIONS, f"use {', '.join(CONDITIONS)}")


def unknown_question(context: RuleContext) -> pl.LazyFrame:
    """A question that the questionnaire does not have, once for each."""
    rows = context.cached(_responses).filter(~pl.col("question").is_in([*QUESTIONS]))
    return at(first_of(rows, "question"), "question")


def unused_question(context: RuleContext) -> pl.LazyFrame:
    """The first response to a question that is not scored, with the count of all."""
    others = sorted({*QUESTIONS} - {*SCORED})
    rows = context.cached(_responses).filter(pl.col("question").is_in(others))
    counted = rows.with_columns(count=pl.len())
    return at(counted.head(1), "question")


def duplicate_answer(context: RuleContext) -> pl.LazyFrame:
    """A response of a speaker to a question that has an earlier one."""
    rows = context.cached(_responses).with_columns(
        first=pl.col("record").first().over(_ANSWER), ordinal=pl.int_range(pl.len()).over(_ANSWER)
    )
    return at(rows.filter(pl.col("ordinal") > 0), "question")


def missing_questions(context: RuleContext) -> pl.LazyFrame:
    """The first response of a speaker who did not answer all questions that are scored."""
    speaker = ("document", "speaker")
    rows = context.cached(_responses)
    answered = rows.group_by(speaker).agg(pl.col("question").unique())
    lacking = answered.select(
        *speaker,
        missing=pl.lit([*SCORED], pl.List(pl.Int64))
        .list.set_difference("question")
        .list.sort()
        .cast(pl.List(pl.String))
        .list.join(", "),
    ).filter(pl.col("missing") != "")
    first = rows.unique(speaker, keep="first", maintain_order=True)
    return at(first.join(lacking, on=speaker, maintain_order="left"), "speaker")


def speakers(context: RuleContext) -> pl.LazyFrame:
    """The first response of an interaction that other than two speakers answered about."""
    rows = context.cached(_responses)
    count = pl.col("speaker").n_unique().over("document")
    others = rows.with_columns(count=count).filter(pl.col("count") != SPEAKERS)
    return at(others.unique("document", keep="first", maintain_order=True), "name")


def unknown_answer(context: RuleContext) -> pl.LazyFrame:
    """An answer that is not one of the scale, once for each; numbers need the option --scale."""
    rows = context.cached(_responses).filter(
        pl.col("_response").is_null(), ~pl.col("response").str.contains(_NUMBER)
    )
    return _hinted(rows, "response", ANSWERS, f"use the words of a scale up to {IDEAL}")


def number(context: RuleContext) -> pl.LazyFrame:
    """A number that the scale does not have, once for each."""
    rows = context.cached(_responses).filter(
        pl.col("_response").is_null(), pl.col("response").str.contains(_NUMBER)
    )
    top = context.schema.top
    hint = "pass --scale N, the number N that means Completely Agree"
    hint = f"use a number from 1 to {top}, or another --scale" if top else hint
    return at(first_of(rows, "response").with_columns(hint=pl.lit(hint)), "response")


def several_conditions(context: RuleContext) -> pl.LazyFrame:
    """The first response of an interaction in another condition than its first one."""
    rows = context.cached(_responses).with_columns(
        first=pl.col("condition").first().over("document"),
        _first=pl.col("_condition").first().over("document"),
    )
    others = rows.filter(pl.col("_condition") != pl.col("_first"))
    return at(others.unique("document", keep="first", maintain_order=True), "condition")


RULES = (
    Rule("CCA201", "responses", unknown_condition),
    Rule("CCA202", "responses", unknown_question),
    Rule("CCA203", "responses", unused_question),
    Rule("CCA204", "responses", duplicate_answer),
    Rule("CCA205", "responses", missing_questions),
    Rule("CCA206", "responses", speakers),
    Rule("CCA207", "responses", unknown_answer),
    Rule("CCA208", "responses", number),
    Rule("CCA209", "responses", several_conditions),
)

"""Rules of CCU TA2: conditions, questions, speakers and answers of the questionnaire (CCA2xx)."""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from hlteval.representation.judgments import (
    ANSWERS,
    CONDITIONS,
    IDEAL,
    QUESTIONS,
    SCORED,
    SPEAKERS,
    with_usual_names,
)
from hlteval.validators.ccu.streams import check, report, rules, with_meant
from hlteval.validators.rule import RuleContext, first_of

#: What has one response.
_ANSWER = ("document", "speaker", "question")
#: Characters of a cell that a message quotes.
_LISTED = 40


class Scale(NamedTuple):
    """The scale of answers.

    Attributes:
        top: the number that means `IDEAL`; 0 if answers are words.
    """

    top: int = 0


def scale(options: Mapping[str, str], reference: bool) -> Scale:  # noqa: ARG001 - of all tasks
    """The scale that the option --scale names."""
    return Scale(int(options.get("scale") or 0))


def responses(context: RuleContext) -> pl.LazyFrame:
    """The responses with the names of their interactions, and null for what is unknown.

    `again` is whether an earlier response, in line `first`, answers the same question.
    """
    columns = ("document", "origin", "record", "condition", "speaker", "question", "response")
    rows = context.table("responses", *columns)
    named = rows.join(context.names, on="document", how="left", maintain_order="left")
    known = with_usual_names(named.select("condition", "response"), context.schema.top)
    known = known.rename({"condition": "_condition", "response": "_response"})
    texts = (pl.col(name).str.head(_LISTED) for name in ("condition", "response", "name"))
    return pl.concat([named, known], how="horizontal").with_columns(
        *texts,
        id=pl.lit(None, pl.String),
        first=pl.col("record").first().over(_ANSWER),
        again=~pl.struct(_ANSWER).is_first_distinct(),
    )


def unknown_condition(context: RuleContext) -> pl.LazyFrame:
    """A condition that the plan does not have, once for each."""
    rows = first_of(context.cached(responses).filter(pl.col("_condition").is_null()), "condition")
    hinted = with_meant(rows, "condition", CONDITIONS, f"use {', '.join(CONDITIONS)}")
    return report(hinted, "condition")


def missing_questions(context: RuleContext) -> pl.LazyFrame:
    """The first response of a speaker who did not answer all questions that are scored."""
    speaker = ("document", "speaker")
    rows = context.cached(responses)
    missing = pl.lit([*SCORED], pl.List(pl.Int64)).list.set_difference("question").list.sort()
    listed = missing.cast(pl.List(pl.String)).list.join(", ")
    answered = rows.group_by(speaker).agg(pl.col("question").unique())
    lacking = answered.select(*speaker, missing=listed).filter(pl.col("missing") != "")
    first = rows.unique(speaker, keep="first", maintain_order=True)
    return report(first.join(lacking, on=speaker, maintain_order="left"), "speaker")


def speakers(context: RuleContext) -> pl.LazyFrame:
    """The first response of an interaction that other than two speakers answered about."""
    count = pl.col("speaker").n_unique().over("document")
    others = context.cached(responses).with_columns(count=count).filter(count != SPEAKERS)
    return report(others.unique("document", keep="first", maintain_order=True), "name")


def unknown_answer(context: RuleContext) -> pl.LazyFrame:
    """An answer that is not one of the scale, once for each; numbers need the option --scale."""
    rows = first_of(context.cached(responses).filter(_IS_UNKNOWN, ~_IS_NUMBER), "response")
    hinted = with_meant(rows, "response", ANSWERS, f"use the words of a scale up to {IDEAL}")
    return report(hinted, "response")


def unknown_number(context: RuleContext) -> pl.LazyFrame:
    """A number that the scale does not have, once for each."""
    rows = first_of(context.cached(responses).filter(_IS_UNKNOWN, _IS_NUMBER), "response")
    top = context.schema.top
    hint = "pass --scale N, the number N that means Completely Agree"
    hint = f"use a number from 1 to {top}, or another --scale" if top else hint
    return report(rows, "response", hint=pl.lit(hint))


def several_conditions(context: RuleContext) -> pl.LazyFrame:
    """The first response of an interaction in another condition than its first one."""
    first = pl.col("condition", "_condition").first().over("document")
    rows = context.cached(responses).with_columns(first.name.prefix("first_"))
    others = rows.filter(pl.col("_condition") != pl.col("first__condition"))
    once = others.unique("document", keep="first", maintain_order=True)
    return report(once, "condition", first="first_condition")


_IS_UNKNOWN = pl.col("_response").is_null()
_IS_NUMBER = pl.col("response").str.contains(r"^\s*[0-9]+\s*$")
_QUESTION = pl.col("question")
_UNSCORED = sorted({*QUESTIONS} - {*SCORED})
RULES = rules(
    "responses",
    CCA201=unknown_condition,
    CCA202=check(responses, ~_QUESTION.is_in([*QUESTIONS]), "question", first=["question"]),
    CCA203=check(responses, _QUESTION.is_in(_UNSCORED), "question", first=["id"]),
    CCA204=check(responses, pl.col("again"), "question"),
    CCA205=missing_questions,
    CCA206=speakers,
    CCA207=unknown_answer,
    CCA208=unknown_number,
    CCA209=several_conditions,
)

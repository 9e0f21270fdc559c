"""The questionnaire of CCU TA2 (plan, 2.6.2): its conditions, questions and answers.

Both speakers answer it after each interaction. Case and repeated spaces do not matter in the names
of conditions and answers. Validators and scoring read answers alike, and may not import each other.
"""

from __future__ import annotations

import polars as pl

#: The test conditions (Table 12).
CONDITIONS = ("Ceiling", "Operation 1", "Operation 2", "Baseline")
#: The questions.
QUESTIONS = range(1, 12)
#: The questions that approximate task success.
SCORED = (*range(1, 6), *range(8, 12))
#: How many speakers answer after each interaction.
SPEAKERS = 2
#: The answer to each question after a perfect scenario.
IDEAL = "Completely Agree"
#: The answers in words, from the least agreement to the most; questionnaires use some of them.
ANSWERS = (
    *("Completely Disagree", "Mostly Disagree", "Disagree", "Somewhat Disagree"),
    *("Neither Agree nor Disagree", "Neutral"),
    *("Somewhat Agree", "Agree", "Mostly Agree", IDEAL),
)


def with_usual_names(responses: pl.LazyFrame, scale: int = 0) -> pl.LazyFrame:
    """Responses whose condition and answer have their usual names, null where they are unknown.

    Args:
        responses: with the columns `condition` and `response`.
        scale: the number that means `IDEAL`, of answers that are numbers from 1; 0 if numbers mean
            nothing.

    Examples:
        >>> rows = pl.LazyFrame({"condition": ["baseline"] * 2, "response": ["5", "neutral "]})
        >>> with_usual_names(rows, 5).collect().rows()
        [('Baseline', 'Completely Agree'), ('Baseline', 'Neutral')]
        >>> with_usual_names(rows).collect()["response"].to_list()
        [None, 'Neutral']
    """
    numbers = {str(number): f"{number} of {scale}" for number in range(1, scale)}
    answers = {**_by_key(ANSWERS), **numbers, **({str(scale): IDEAL} if scale else {})}
    return responses.with_columns(
        _usual_name("condition", _by_key(CONDITIONS)), _usual_name("response", answers)
    )


def _by_key(names: tuple[str, ...]) -> dict[str, str]:
    return {name.lower(): name for name in names}


def _usual_name(column: str, names: dict[str, str]) -> pl.Expr:
    """The usual name of what a column has, null where it has another."""
    written = pl.col(column).str.strip_chars().str.replace_all(r"\s+", " ").str.to_lowercase()
    return written.replace_strict(names, default=None, return_dtype=pl.String).alias(column)

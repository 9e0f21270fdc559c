"""CCU TA2: how often speakers fully agree, per condition of their interaction (plan, 2.6.2).

1. Of the answers to questions 1 to 5 and 8 to 11 after each interaction, those that are the ideal
   answer "Completely Agree" are counted.
2. The speakers are one rater; the other rater is the perfect scenario, whose answer is always the
   ideal one. Observed agreement is the share of ideal answers, and Cohen's kappa is C.4.6.
3. The conditions are compared with the Baseline, which has no assistant.

Against a rater with a single answer, the agreement due to chance is the observed agreement: kappa
is 0, or undefined where all answers are ideal. The agreement distinguishes conditions.

Conventions:
    Counts are a row per interaction and condition; they add. Answers to other questions, in unknown
    conditions, or that no scale has, are not counted, and of several answers of a speaker to one
    question only the first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.representation.judgments import CONDITIONS, IDEAL, SCORED, with_usual_names
from hlteval.scoring.agreement.coefficients import kappas
from hlteval.scoring.metric import SCORINGS, AdditiveMetric, Replicates, Sums, Tables, columns_of
from hlteval.scoring.ratios import Numbers, Whole, plain, ratio

BASELINE = "baseline"
#: The names of the conditions in those of metrics.
MEASURES: Mapping[str, str] = {name.lower().replace(" ", "_"): name for name in CONDITIONS}
_COUNTED = ("ideal", "responses")
_COLUMNS = [f"{measure}.{count}" for measure in MEASURES for count in _COUNTED]
#: Interactions that intervals of agreement need; docs/intervals.md has their coverage.
_MANY = 30
_VALUES = {"agreement": "Agreement", "kappa": "Kappa", "responses": "Responses"}


@dataclass(frozen=True)
class Options:
    """The meaning of answers.

    Attributes:
        scale: the number that means "Completely Agree"; 0 if answers are words.
    """

    scale: int = 0


@dataclass(frozen=True)
class TaskSuccess(AdditiveMetric):
    """Agreement of the answers of speakers with those after a perfect scenario."""

    options: Options = field(default_factory=Options)

    def statistics(
        self,
        reference: Corpus,  # noqa: ARG002 - the perfect scenario is the same for all
        system: Corpus,
        *,
        alignment: bool = True,
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch: `document` and, of each condition, `ideal` and `responses`."""
        responses = scored_responses(system, self.options.scale)
        which = {}
        for measure, condition in MEASURES.items():
            which[f"{measure}.responses"] = pl.col("condition") == condition
            which[f"{measure}.ideal"] = which[f"{measure}.responses"] & _IS_IDEAL
        named = responses.group_by("document", maintain_order=True).agg(
            which[column].sum().cast(pl.Int64).alias(column) for column in _COLUMNS
        )
        return named, responses.select(*_ALIGNED, ideal=_IS_IDEAL) if alignment else None

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of all interactions: one row."""
        empty = pl.DataFrame(schema=dict.fromkeys(_COLUMNS, pl.Int64))
        return pl.concat([empty, *(batch.select(_COLUMNS) for batch in counts)]).sum()

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The values of each condition, and of the differences from the Baseline."""
        found = values({name: total[name].to_numpy() for name in _COLUMNS})
        metrics = {name: plain(value)[0] for name, value in found.items()}
        rows = [
            ("Task success", condition, heading, metrics[f"{measure}.{value}"])
            for measure, condition in MEASURES.items()
            for value, heading in _VALUES.items()
        ]
        return metrics, {"scorings": pl.DataFrame(rows, schema=dict(SCORINGS), orient="row")}

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Why kappa is what it is."""
        if not total.select(f"{measure}.responses" for measure in MEASURES).sum_horizontal()[0]:
            return ()
        return (
            "kappa against a constant ideal answer is 0, or undefined where all answers are ideal;"
            " compare the agreement",
        )

    def fewest_documents(self, name: str) -> int:
        """Intervals of agreement need more interactions than others (docs/intervals.md)."""
        return 0 if name.endswith(".responses") else _MANY

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        """The counts of each interaction."""
        return {"": columns_of(counts, _COLUMNS, documents)}

    def values_of(self, sums: Sums) -> Replicates:
        """The values of sums of these counts."""
        found = values(dict(zip(_COLUMNS, sums[""].T, strict=True)))
        return {name: value.astype(np.float64) for name, value in found.items()}


def scored_responses(corpus: Corpus, scale: int) -> pl.DataFrame:
    """The responses that are scored; `document` is the name of their interaction.

    Args:
        corpus: with the responses.
        scale: the number that means "Completely Agree", see `Options`.
    """
    names = corpus.documents.lazy().select("name", document="row")
    given = corpus.responses.lazy().select(_ALIGNED)
    responses = with_usual_names(given, scale).join(names, on="document", maintain_order="left")
    known = responses.with_columns(document="name").drop_nulls(["condition", "response"])
    of_plan = known.filter(pl.col("question").is_in(SCORED))
    key = ("document", "speaker", "question")
    return of_plan.unique(key, keep="first", maintain_order=True).collect()


def values(counts: Mapping[str, Whole]) -> dict[str, Numbers]:
    """The values by metric, of a total or replicate each; not-a-number where undefined.

    Args:
        counts: `<condition>.ideal` and `<condition>.responses`, arrays of one length.
    """
    found: dict[str, Numbers] = {}
    for measure in MEASURES:
        ideal, responses = (counts[f"{measure}.{count}"] for count in _COUNTED)
        # The speakers (rows) and the perfect scenario (columns), which has one class only.
        pairs = np.zeros((*np.shape(ideal), 2, 2), dtype=np.int64)
        pairs[..., 0, 0], pairs[..., 1, 0] = ideal, responses - ideal
        found[f"{measure}.kappa"] = kappas(pairs)
        found[f"{measure}.agreement"] = ratio(ideal, responses)
        found[f"{measure}.responses"] = responses
    for measure in MEASURES:
        if measure != BASELINE:
            for value in ("agreement", "kappa"):
                difference = found[f"{measure}.{value}"] - found[f"{BASELINE}.{value}"]
                found[f"{measure}.{value}_over_baseline"] = difference
    return found


_IS_IDEAL = pl.col("response") == IDEAL
#: The columns of the table `alignment`.
_ALIGNED = ("document", "condition", "speaker", "question", "response")


def readable(answers: pl.DataFrame) -> pl.DataFrame:
    """Answers as people read them, beside the ideal one.

    Examples:
        >>> rows = pl.DataFrame({"response": ["Neutral"], "ideal": [False]})
        >>> readable(rows).select("expected", "outcome").row(0)
        ('Completely Agree', 'another answer')
    """
    outcome = pl.when("ideal").then(pl.lit("ideal")).otherwise(pl.lit("another answer"))
    return answers.with_columns(expected=pl.lit(IDEAL), outcome=outcome)

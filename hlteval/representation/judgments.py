"""Judgments of annotators about segments, made into the instances that are scored.

Appendix D of the CCU Phase 1 plan, for norms and emotions: segments on which annotators agree are
merged to instances, and what nobody annotated is not scored. Scoring needs this, and so do the
converters that write a reference as it is scored. Neither may import the other, so it is here, and
knows only tables. So is the questionnaire of TA2 (plan, 2.6.2), which both speakers answer after
each interaction; case and repeated spaces do not matter in the names of conditions and answers.

Conventions:
    Places are as written: of text, `end` is the last character. Judgments have the columns of
    `JUDGED`; a segment is a document with a start and an end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from hlteval.representation.corpus import Corpus
from hlteval.representation.keys import first_case

#: Labels of segments without a norm or emotion, and of those that were not annotated.
NONE, UNANNOTATED = "none", "noann"
SEGMENT = ("document", "start", "end")
#: The columns of judgments; `document` is its row, `text` whether it is text.
JUDGED = ("document", "text", "annotator", "label", "status", "start", "end")


@dataclass(frozen=True)
class Constants:
    """Constants of instances, in Table 13 of the plan.

    Attributes:
        seconds: segments of audio and video less than this apart are merged; None to merge none.
        characters: the same for text.
        by_status: whether only instances of equal status are merged.
        votes: how many annotators must agree on an emotion.
        conflicts_unscored: whether a segment with several statuses of one norm, by one annotator,
            counts as not annotated.
    """

    seconds: float | None = 1.0
    characters: float | None = 10.0
    by_status: bool = False
    votes: int = 2
    conflicts_unscored: bool = False


class ScoredReference(NamedTuple):
    """A reference as it is scored.

    Attributes:
        instances: `document`, `text`, `label`, `status`, `start`, `end`.
        annotated: the segments that were annotated: `document`, `text`, `start`, `end`.
    """

    instances: pl.DataFrame
    annotated: pl.DataFrame


def scored_reference(
    corpus: Corpus, kind: str, constants: Constants | None = None
) -> ScoredReference:
    """The instances of a reference, and where it is annotated.

    Args:
        corpus: a reference.
        kind: `norm`, annotated once, or `emotion`, annotated several times.
        constants: of Table 13.

    Examples:
        >>> segment = {"document": 0, "origin": 0, "kind": "norm", "label": "101"}
        >>> first = segment | {"row": 0, "record": 1, "start": 0, "end": 10}
        >>> second = segment | {"row": 1, "record": 2, "start": 10.2, "end": 15}
        >>> documents = [{"row": 0, "name": "d1", "modality": "audio"}]
        >>> corpus = Corpus(documents=documents, instances=[first, second])
        >>> scored_reference(corpus, "norm").instances.select("label", "start", "end").rows()
        [('101', 0.0, 15.0)]
    """
    chosen = constants or Constants()
    decisions = decisions_of(corpus, kind, chosen)
    annotated = decisions.filter(pl.col("label") != UNANNOTATED)
    places = annotated.select("document", "text", "start", "end").unique(maintain_order=True)
    return ScoredReference(merge_instances(decisions, chosen), places)


def decisions_of(corpus: Corpus, kind: str, constants: Constants) -> pl.DataFrame:
    """Decide what segments have: `JUDGED` without the annotator; `none` or `noann` if nothing."""
    rows = judgments(corpus, kind)
    if kind == "emotion":
        return by_majority(rows, constants.votes)
    return single(rows, conflicts_unscored=constants.conflicts_unscored)


def judgments(corpus: Corpus, kind: str) -> pl.DataFrame:
    """The judgments of a kind, as `JUDGED`; those whose segment is unknown have no place."""
    documents = corpus.documents.select(document="row", text=is_text())
    rows = corpus.instances.filter(pl.col("kind") == kind).drop_nulls(["start", "end"])
    rows = rows.select(name for name in JUDGED if name != "text")
    return rows.join(documents, on="document", maintain_order="left").select(JUDGED)


def is_text() -> pl.Expr:
    """Whether places in a document are characters."""
    return (pl.col("modality") == "text").fill_null(value=False)


def single(given: pl.DataFrame, *, conflicts_unscored: bool = False) -> pl.DataFrame:
    """Judgments that need no collapsing: each norm of a segment, or that it is not annotated.

    A segment that anyone annotated is annotated.
    """
    if conflicts_unscored:
        given = without_conflicts(given, SEGMENT)
    silent = pl.col("label") == UNANNOTATED
    kept = given.filter(~silent | silent.all().over(SEGMENT))
    return kept.drop("annotator").unique(maintain_order=True)


def without_conflicts(given: pl.DataFrame, group: Sequence[str]) -> pl.DataFrame:
    """Judgments, not annotated in groups in which an annotator gives a norm several statuses.

    Args:
        given: judgments of norms.
        group: the columns of a group.
    """
    # In two steps: a window inside of another one takes quadratic time.
    several = pl.col("status").n_unique().over(*SEGMENT, "annotator", "label") > 1
    conflict = pl.col("several").any().over(group)
    label = pl.when(conflict).then(pl.lit(UNANNOTATED)).otherwise("label")
    marked = given.with_columns(several=several)
    return marked.with_columns(label=label, status=pl.when(~conflict).then("status")).drop(
        "several"
    )


def by_majority(given: pl.DataFrame, votes: int) -> pl.DataFrame:
    """Judgment Collapsing by Majority Voting: the emotions on which enough annotators agree.

    With fewer annotators a segment is not annotated; where they agree on nothing, it is `none`.
    Whoever says `noann` has not judged.

    Args:
        given: judgments, as `JUDGED`.
        votes: how many must agree.
    """
    is_judged, annotators = pl.col("label") != UNANNOTATED, pl.col("annotator")
    judged = given.with_columns(judges=annotators.filter(is_judged).n_unique().over(SEGMENT))
    key = ["document", "text", "start", "end", "label", "judges"]
    counted = judged.group_by(key, maintain_order=True).agg(votes=annotators.n_unique())
    agreed = (pl.col("votes") >= votes) & is_judged
    return decide(counted, agreed, votes, [name for name in JUDGED if name != "annotator"])


def decide(
    counted: pl.DataFrame, agreed: pl.Expr, votes: int, columns: Sequence[str]
) -> pl.DataFrame:
    """Some columns of the labels on which enough agree; `noann` or `none` of other segments.

    Args:
        counted: labels of segments, with `judges`, how many annotators judged the segment.
        agreed: whether enough have a label.
        votes: how many must agree.
        columns: of the result.
    """
    is_agreed = agreed.any().over(SEGMENT)
    cases = (pl.col("judges") < votes, pl.lit(UNANNOTATED)), (~is_agreed, pl.lit(NONE))
    label = first_case(*cases, otherwise=pl.when(agreed).then("label"))
    decided = counted.with_columns(label=label, status=pl.lit(None, pl.String))
    return decided.drop_nulls("label").select(columns).unique(maintain_order=True)


def merge_instances(decisions: pl.DataFrame, constants: Constants) -> pl.DataFrame:
    """Instance Merging: adjacent segments of one class become one instance.

    They are adjacent if the gap, from the end of one to the start of the next, is less than a
    constant. A segment that is not annotated breaks continuity.

    Args:
        decisions: what is in each segment, as from `decisions_of`.
        constants: of Table 13.
    """
    key = ["document", "label", *["status"] * constants.by_status]
    rows = decisions.filter(~pl.col("label").is_in([NONE, UNANNOTATED])).sort(*key, "start", "end")
    begins = begins_instance(key, constants.seconds, constants.characters)
    rows = rows.with_columns(begins=begins, before=_end_before(key))
    # What is not annotated lies between if the last of it that starts before the row ends after
    # what was before.
    rows = with_reach(rows, decisions.filter(pl.col("label") == UNANNOTATED), exact=False)
    broken = (pl.col("until") > pl.col("before")) & (pl.col("start") > pl.col("before"))
    begins = pl.col("begins") | broken.fill_null(value=False)
    numbered = rows.with_columns(number=begins.cum_sum())
    instances = merge_numbered(numbered, ["document", "text", "label"])
    return instances.select("document", "text", "label", "status", "start", "end")


def merge_numbered(numbered: pl.DataFrame, shared: Sequence[str], *more: pl.Expr) -> pl.DataFrame:
    """One row for the rows with one `number`, from the first start to the last end.

    Args:
        numbered: instances.
        shared: the columns that these rows have in common.
        *more: further aggregations.
    """
    rows = numbered.group_by("number", maintain_order=True).agg(
        pl.col(shared).first(), pl.col("start").min(), pl.col("end").max(), *more
    )
    return with_statuses(rows, numbered)


def begins_instance(key: Sequence[str], seconds: float | None, characters: float | None) -> pl.Expr:
    """Whether a row is the first of an instance: no less than a gap after the rows before it.

    Args:
        key: what the rows of an instance have in common; rows are sorted by it, and by place.
        seconds: the least gap of audio and video between two instances; None to merge none.
        characters: the same of text.
    """
    before = _end_before(key)
    # of text, the end is inside; and 0.3 - 0.2 is not quite 0.1
    gap = (pl.col("start") - before - pl.col("text").cast(pl.Float64)).round(9)
    most = pl.when("text").then(characters).otherwise(seconds).cast(pl.Float64)
    return before.is_null() | most.is_null() | (gap >= most)


def _end_before(key: Sequence[str]) -> pl.Expr:
    """The last end of the rows before, of those with the same key."""
    return pl.col("end").cum_max().shift().over(key)


def with_statuses(
    instances: pl.DataFrame, numbered: pl.DataFrame, separator: str = ","
) -> pl.DataFrame:
    """Instances with the different statuses of their rows, sorted and joined by commas.

    Args:
        instances: of one `number` each.
        numbered: their rows.
        separator: of several statuses of a row.

    Examples:
        >>> rows = pl.DataFrame({"number": [1, 1, 2], "status": ["violate", "adhere", None]})
        >>> with_statuses(pl.DataFrame({"number": [1, 2]}), rows).rows()
        [(1, 'adhere,violate'), (2, None)]
    """
    each = numbered.select("number", pl.col("status").str.split(separator)).drop_nulls()
    every = each.explode("status").unique().sort("number", "status")
    joined = every.group_by("number").agg(pl.col("status").str.join(","))
    return instances.join(joined, on="number", how="left", maintain_order="left")


def with_reach(rows: pl.DataFrame, regions: pl.DataFrame, *, exact: bool = True) -> pl.DataFrame:
    """Rows with `until`: the last end of the regions that start before each; null without any.

    Args:
        rows: with `document` and `start`.
        regions: with `document`, `start` and `end`.
        exact: whether regions count that start where the row does.
    """
    ordered = regions.select("document", begin="start", until="end").sort(
        "document", "begin", "until"
    )
    reach = pl.col("until").cum_max().over("document")
    return last_before(rows, ordered.with_columns(reach), "start", exact=exact)


def last_before(
    rows: pl.DataFrame, others: pl.DataFrame, column: str, *, exact: bool = True
) -> pl.DataFrame:
    """Rows, each with the last of the others in its document that has a `begin` before a column.

    Args:
        rows: with `document`.
        others: the same.
        column: of places.
        exact: whether a `begin` at the place itself counts.
    """
    ordered = rows.with_row_index("_order").sort(column)
    begins = others.sort("begin", maintain_order=True)
    joined = ordered.join_asof(
        begins,
        left_on=column,
        right_on="begin",
        by="document",
        allow_exact_matches=exact,
        check_sortedness=False,
    )
    return joined.sort("_order").drop("_order")


# The questionnaire of TA2: conditions, questions and answers.

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

"""SeeDev: pairs of reference and predicted events, and the measures over them.

The evaluation as the task describes it: (1) pair reference and predicted annotations so that the
sum of their similarities is greatest, (2) filter the pairs, (3) compute measures. What a task and a
profile compare is declared as an `EventMatch`; hlteval/tasks/seedev_metrics.py holds the four.

Conventions:
    Similarities are integers in units of 1/`UNIT`, so that sums are exact and do not depend on the
    order of documents or on batches. Counts are a row per document, evaluation and scoring; they
    add.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from hlteval.representation import Corpus, align, ordinals
from hlteval.scoring.alignment import aligned
from hlteval.scoring.events import Sameness, Side, keys, others, side
from hlteval.scoring.matching import Pair, greedy, optimal
from hlteval.scoring.sentences import inside

UNIT = 55440
"""A similarity of 1. Twice the least common multiple of 1 to 12: with six optional roles on either
side, 1 - errors / N and its half are whole numbers of these units."""

COUNTS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "document": pl.String,
    "evaluation": pl.String,
    "scoring": pl.String,
    "references": pl.Int64,
    "predictions": pl.Int64,
    "pairs": pl.Int64,
    "matched": pl.Int64,
}
"""What is counted: annotations of either side, pairs, and their summed similarities in units."""


@dataclass(frozen=True, slots=True)
class Only:
    """A filter on what events are about: the fillers of `roles` must all be of the types `of`."""

    roles: tuple[str, ...]
    of: tuple[str, ...]


@dataclass(frozen=True)
class Evaluation:
    """One pairing of all events, and the subsets of its pairs that are scored.

    Attributes:
        name: of the evaluation, as the official software prints it.
        overall: name of the scoring over all pairs; empty if there is none.
        listed: the names of all scorings, in the order in which they are printed.
        scorings: the scoring that counts the events of a type, by type; a pair counts where either
            of its events does.
        merged: types that are taken as one, with its name.
        agents: of merged types, the roles that are compared as agent and as target; an event
            without its agent role is never paired.
        commutative: the types whose arguments may change places.
        inside_sentences: whether events across sentences are left out.
        only: what the events that count are about.
    """

    name: str
    overall: str
    listed: tuple[str, ...]
    scorings: Mapping[str, str]
    merged: Mapping[str, str] = field(default_factory=dict)
    agents: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    commutative: frozenset[str] = frozenset()
    inside_sentences: bool = False
    only: Only | None = None


@dataclass(frozen=True)
class EventMatch:
    """How the events of a task are compared in a profile.

    Attributes:
        evaluations: the first is the main one, which the alignment shows.
        sameness: when two fillers are the same.
        conditions: the optional roles.
        negation: whether being negated on one side only halves the similarity.
        mandatory: `compared` where the fillers of mandatory roles must be the same; else their
            roles by type, as mandatory and alternative ones: all of the former and one of the
            latter must be present on both sides, whatever fills them.
        pairing: `optimal`, or `greedy` as the official software.
        others_count: whether predicted annotations that are no events count as predictions.
        unknown_documents: whether predictions for documents without reference count.
        measures: the names of the measures in the table `scorings`, in order.
        whole_mismatches: whether SER takes only the whole part of the mismatches.
        undefined: metrics that the profile does not give.
    """

    evaluations: tuple[Evaluation, ...]
    sameness: Sameness
    conditions: tuple[str, ...] = ()
    negation: bool = False
    mandatory: Literal["compared"] | Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = (
        "compared"
    )
    pairing: Literal["optimal", "greedy"] = "optimal"
    others_count: bool = False
    unknown_documents: bool = True
    measures: tuple[str, ...] = ()
    whole_mismatches: bool = False
    undefined: frozenset[str] = frozenset()

    def statistics(self, reference: Corpus, system: Corpus) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The counts of a batch of documents, and the alignment of the main evaluation.

        Args:
            reference: the reference; its mentions are the given ones, its segments the sentences.
            system: the predictions for the same documents.

        Returns:
            Counts, as `COUNTS`; and the alignment, a row per pair or unpaired annotation.
        """
        reference, system = align(reference, system)
        if not self.unknown_documents:
            system = _restricted(system, reference)
        mandatory = frozenset(self.evaluations[0].commutative)
        sides = (
            side(reference, reference, "reference", self.sameness, self.conditions, mandatory),
            side(system, reference, "system", self.sameness, self.conditions, mandatory),
        )
        extra = others(system, reference) if self.others_count else None
        names = (
            pl.concat([reference.documents, system.documents])
            .select(document="row", name="name")
            .unique()
        )
        counts, alignment = [], pl.DataFrame()
        for number, evaluation in enumerate(self.evaluations):
            pairs = self._pairs(evaluation, sides, reference, extra)
            counts.append(_count(evaluation, pairs))
            if number == 0:
                alignment = aligned(pairs, sides, self.conditions, names, UNIT)
        named = (
            pl.concat(counts)
            .join(names, on="document")
            .drop("document")
            .rename({"name": "document"})
        )
        return named.select(COUNTS.keys()), alignment

    def _pairs(
        self,
        evaluation: Evaluation,
        sides: tuple[Side, Side],
        reference: Corpus,
        extra: pl.DataFrame | None,
    ) -> pl.DataFrame:
        """The pairing: a row per pair or unpaired annotation, with what each side counts as."""
        if evaluation.inside_sentences:
            sides = (inside(sides[0], reference), inside(sides[1], reference))
        left, right = (_classed(one, evaluation) for one in sides)
        chosen = self._best(sides, evaluation) if self.conditions else _equal(sides, evaluation)
        if extra is not None:
            extra = extra.with_columns(scoring=_scoring(evaluation))
        return _listed(left, right, chosen, extra)

    def _best(self, sides: tuple[Side, Side], evaluation: Evaluation) -> pl.DataFrame:
        """Pairs by similarity: all candidates, then the pairing among them."""
        cores = [self._cores(one, evaluation) for one in sides]
        candidates = cores[0].join(
            cores[1], on=["document", "core"], suffix="_system", maintain_order="left"
        )
        candidates = candidates.select("row", "row_system").unique(maintain_order=True)
        weighed = self._weighed(candidates, sides)
        pair = optimal if self.pairing == "optimal" else greedy
        chosen = pair([Pair(*row) for row in weighed.iter_rows()])
        schema = {"row": pl.Int64, "row_system": pl.Int64, "weight": pl.Int64}
        return pl.DataFrame(chosen, schema=schema, orient="row")

    def _cores(self, one: Side, evaluation: Evaluation) -> pl.DataFrame:
        """What two events must share to be similar at all: `document`, `row`, `core`."""
        documents = one.events.select("document", "row")
        core = one.arguments.filter(~pl.col("role").is_in(self.conditions))
        if self.mandatory == "compared":
            return documents.join(
                keys(core, evaluation.commutative), on="row", maintain_order="left"
            )
        roles = core.group_by(row="frame_row", label="label").agg(pl.col("role")).sort("row")
        rows = [
            (row, f"{label} {alternative}")
            for row, label, given in roles.iter_rows()
            for alternative in _alternatives(self.mandatory.get(label), set(given))
        ]
        shapes = pl.DataFrame(rows, schema={"row": pl.Int64, "core": pl.String}, orient="row")
        return documents.join(shapes, on="row", maintain_order="left")

    def _weighed(self, candidates: pl.DataFrame, sides: tuple[Side, Side]) -> pl.DataFrame:
        """Sp = SNeg · SOpt of candidate pairs, whose mandatory arguments agree: in units, above 0."""
        left, right = (_conditioned(one, self.conditions) for one in sides)
        both = candidates.join(left, on="row", maintain_order="left")
        both = both.join(
            right, left_on="row_system", right_on="row", suffix="_system", maintain_order="left"
        )
        errors = pl.sum_horizontal(_errors(role) for role in self.conditions)
        things = [f"{role}_thing{suffix}" for role in self.conditions for suffix in ("", "_system")]
        union = pl.concat_list(things).list.drop_nulls().list.n_unique().cast(pl.Int64)
        halved = (pl.col("negated") != pl.col("negated_system")) & self.negation
        both = both.with_columns(errors=errors.cast(pl.Int64), union=union)
        optional = (
            pl.when(pl.col("union") == 0)
            .then(UNIT)
            .otherwise((pl.col("union") - pl.col("errors")) * UNIT // pl.col("union").clip(1))
        )
        weight = pl.when(halved).then(optional // 2).otherwise(optional)
        return both.select("row", "row_system", weight=weight.cast(pl.Int64)).filter(
            pl.col("weight") > 0
        )

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of all documents, a row per scoring in the order in which they are printed."""
        named = pl.concat([pl.DataFrame(schema=dict(COUNTS)), *counts])
        added = named.group_by("evaluation", "scoring").agg(pl.exclude("document").sum())
        listed = [
            (evaluation.name, scoring)
            for evaluation in self.evaluations
            for scoring in ([evaluation.overall] if evaluation.overall else [])
            + list(evaluation.listed)
        ]
        rows = pl.DataFrame(
            listed, schema=dict.fromkeys(("evaluation", "scoring"), pl.String), orient="row"
        )
        joined = rows.join(added, on=["evaluation", "scoring"], how="left", maintain_order="left")
        return joined.with_columns(pl.exclude("evaluation", "scoring").fill_null(0))

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], list[dict[str, object]]]:
        """Measures from total counts: the metrics of the main scoring, and the table `scorings`."""
        every = [(row, self._measures(row)) for row in total.iter_rows(named=True)]
        table = [
            {
                "evaluation": row["evaluation"],
                "scoring": row["scoring"],
                "measure": measure,
                "value": values[measure],
            }
            for row, values in every
            for measure in self.measures
        ]
        main = every[0][1]
        metrics = {
            name: None if name in self.undefined else main[_METRICS[name]] for name in _METRICS
        }
        return metrics, table

    def _measures(self, counts: Mapping[str, int]) -> dict[str, float | None]:
        """Every measure of one scoring; null where it is undefined."""
        matches = counts["matched"] / UNIT
        mismatches = counts["pairs"] - matches
        insertions = counts["predictions"] - counts["pairs"]
        deletions = counts["references"] - counts["pairs"]
        recall = _ratio(matches, counts["references"])
        precision = _ratio(matches, counts["predictions"])
        # In integers, so that a sum that is whole stays whole.
        missed = counts["pairs"] * UNIT - counts["matched"]
        counted = missed // UNIT if self.whole_mismatches else missed / UNIT
        return {
            "F1": _f1(recall, precision),
            "Recall": recall,
            "Precision": precision,
            "Predictions": counts["predictions"],
            "References": counts["references"],
            "False Negatives": deletions,
            "False Positives": insertions,
            "Matches": matches,
            "SER": _ratio(counted + insertions + deletions, counts["references"]),
            "Mismatches": mismatches,
            "Insertions": insertions,
            "Deletions": deletions,
        }


_METRICS: Mapping[str, str] = {
    "f1": "F1",
    "recall": "Recall",
    "precision": "Precision",
    "ser": "SER",
    "matches": "Matches",
    "substitutions": "Mismatches",
    "insertions": "Insertions",
    "deletions": "Deletions",
    "references": "References",
    "predictions": "Predictions",
}


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _f1(recall: float | None, precision: float | None) -> float | None:
    """The harmonic mean; undefined where either is, or both are 0."""
    if recall is None or precision is None or recall + precision == 0:
        return None
    return 2 * recall * precision / (recall + precision)


def _restricted(system: Corpus, reference: Corpus) -> Corpus:
    """The predictions for documents that the reference has."""
    known = reference.documents["row"].implode()
    kept = {
        name: rows.filter(pl.col("document").is_in(known))
        for name, rows in system.tables()
        if "document" in rows.columns
    }
    return system.replace(documents=system.documents.filter(pl.col("row").is_in(known)), **kept)


def _alternatives(
    roles: tuple[tuple[str, ...], tuple[str, ...]] | None, given: set[str]
) -> Iterable[str]:
    """The shapes under which an event may be paired: one for each alternative role that it has."""
    if roles is None or not given.issuperset(roles[0]):
        return ()
    return tuple(role for role in roles[1] if role in given) if roles[1] else ("",)


def _conditioned(one: Side, conditions: tuple[str, ...]) -> pl.DataFrame:
    """Each event with, for every optional role, the key and the object of what fills it."""
    columns = []
    for role in conditions:
        filled = one.arguments.filter(pl.col("role") == role)
        columns.append(filled.select(row="frame_row", **{role: "key", f"{role}_thing": "thing"}))
    events = one.events.select("row", "negated")
    for column in columns:
        events = events.join(column, on="row", how="left", maintain_order="left")
    return events


def _errors(role: str) -> pl.Expr:
    """The errors in one optional role: missing 1, extra 1, wrong 2."""
    ours, theirs = pl.col(role), pl.col(f"{role}_system")
    one_sided = ours.is_null() != theirs.is_null()
    wrong = (ours != theirs).fill_null(False)
    return one_sided.cast(pl.Int64) + 2 * wrong.cast(pl.Int64)


def _equal(sides: tuple[Side, Side], evaluation: Evaluation) -> pl.DataFrame:
    """Pairs where similarity is 0 or 1: equal keys, first with first, second with second."""
    left, right = (_ranked(one, evaluation) for one in sides)
    joined = left.join(
        right, on=["document", "core", "rank"], suffix="_system", maintain_order="left"
    )
    return joined.select("row", "row_system", weight=pl.lit(UNIT, pl.Int64))


def _ranked(one: Side, evaluation: Evaluation) -> pl.DataFrame:
    """The key of each event, and its ordinal among those of the same key in the document."""
    arguments = one.arguments
    if evaluation.merged:
        label = pl.col("label").replace(dict(evaluation.merged))
        arguments = arguments.with_columns(label=label, role=_compared_role(evaluation))
    core = keys(arguments, evaluation.commutative)
    if evaluation.agents:
        core = core.join(
            _without_agent(one, evaluation), on="row", how="anti", maintain_order="left"
        )
    core = core.join(one.events.select("row", "document"), on="row", maintain_order="left")
    return core.with_columns(rank=ordinals(core, ["document", "core"]))


def _compared_role(evaluation: Evaluation) -> pl.Expr:
    renamed = {
        f"{label} {role}": name
        for label, roles in evaluation.agents.items()
        for role, name in zip(roles, ("Agent", "Target"), strict=True)
    }
    if not renamed:
        return pl.col("role")
    named = pl.concat_str("label", "role", separator=" ")
    return named.replace_strict(renamed, default=pl.col("role"), return_dtype=pl.String)


def _without_agent(one: Side, evaluation: Evaluation) -> pl.DataFrame:
    agents = {label: roles[0] for label, roles in evaluation.agents.items()}
    events = one.events.filter(pl.col("label").is_in(agents.keys()))
    agent = pl.col("label").replace_strict(agents, default=None, return_dtype=pl.String)
    present = one.arguments.filter(pl.col("role") == agent).select(row="frame_row")
    return events.select("row").join(present, on="row", how="anti")


def _scoring(evaluation: Evaluation) -> pl.Expr:
    scorings = dict(evaluation.scorings)
    return pl.col("label").replace_strict(scorings, default=None, return_dtype=pl.String)


def _classed(one: Side, evaluation: Evaluation) -> pl.DataFrame:
    """Each event with the scoring that counts it; null where none does."""
    events = one.events.select("document", "row", "label", scoring=_scoring(evaluation))
    if evaluation.only is None:
        return events
    about = pl.col("role").is_in(evaluation.only.roles)
    strange = one.arguments.filter(
        about & ~pl.col("filler_label").is_in(evaluation.only.of).fill_null(False)
    )
    counted = ~pl.col("row").is_in(strange["frame_row"].implode())
    return events.with_columns(scoring=pl.when(counted).then("scoring"))


def _listed(
    left: pl.DataFrame, right: pl.DataFrame, chosen: pl.DataFrame, extra: pl.DataFrame | None
) -> pl.DataFrame:
    """Pairs, then what is left of the reference, then what is left of the system."""
    ours = left.join(chosen, on="row", how="left", maintain_order="left")
    theirs = right.rename({"row": "row_system"})
    if extra is not None:
        theirs = pl.concat([theirs, extra], how="diagonal_relaxed")
    joined = ours.join(
        theirs, on=["document", "row_system"], how="full", coalesce=True, suffix="_system"
    )
    return joined.sort("document", "row", "row_system", nulls_last=True)


def _count(evaluation: Evaluation, pairs: pl.DataFrame) -> pl.DataFrame:
    """The counts of an evaluation's scorings by document."""
    first = pairs.with_columns(scoring=pl.coalesce("scoring", "scoring_system"))
    both = pairs.filter(pl.col("scoring") != pl.col("scoring_system"))
    classed = pl.concat([first, both.with_columns(scoring="scoring_system")]).drop_nulls("scoring")
    if evaluation.overall:
        classed = pl.concat([classed, pairs.with_columns(scoring=pl.lit(evaluation.overall))])
    paired = pl.col("weight").is_not_null()
    return classed.group_by("document", "scoring").agg(
        evaluation=pl.lit(evaluation.name),
        references=pl.col("label").count().cast(pl.Int64),
        predictions=pl.col("label_system").count().cast(pl.Int64),
        pairs=paired.sum().cast(pl.Int64),
        matched=pl.col("weight").sum(),
    )

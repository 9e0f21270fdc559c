"""SeeDev: the measures over pairs of reference and predicted events.

The evaluation as the task describes it: (1) pair reference and predicted annotations so that the
sum of their similarities is greatest, (2) filter the pairs, (3) compute measures. What a task and a
profile compare is declared as an `EventMatch`; hlteval/tasks/seedev.py has all four.

Conventions:
    Similarities are integers in units of 1/`UNIT`, so that sums are exact and do not depend on the
    order of documents or on batches. Counts are a row per document, evaluation and scoring; they
    add.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from hlteval.representation import TABLES, Corpus, align
from hlteval.scoring.metric import DOCUMENTS, Evidence, Metric, Replicates, Weights, scorings, texts
from hlteval.scoring.ratios import Numbers, Whole, harmonic, plain, rates, ratio
from hlteval.scoring.resampling import weighted
from hlteval.scoring.seedev.alignment import aligned, marks
from hlteval.scoring.seedev.event_pairs import UNIT, Comparison, Evaluation, pairs
from hlteval.scoring.seedev.events import Side, inside, others, side

#: What is counted: annotations of either side, pairs, and their summed similarities in units.
COUNTS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "document": pl.String,
    "evaluation": pl.String,
    "scoring": pl.String,
    "references": pl.Int64,
    "predictions": pl.Int64,
    "pairs": pl.Int64,
    "matched": pl.Int64,
}


@dataclass(frozen=True)
class Options:
    """What is evaluated beside the main scoring.

    Attributes:
        sentences: whether there are sentences, for the evaluation inside sentences.
    """

    sentences: bool = False


@dataclass(frozen=True, kw_only=True)
class EventMatch(Metric):
    """How the events of a task are compared in a profile.

    Two tasks share this metric. What they compare follows from the vocabulary and the schema of
    SeeDev, which scoring does not know: hlteval/tasks/seedev.py makes it of the options.

    Attributes:
        evaluations: the first is the main one, which the alignment shows.
        comparison: when two events are similar, and how much.
        others_count: whether annotations that are not events count, too.
        unknown_documents: whether predictions for documents without reference count.
        measures: the names of the measures in the table `scorings`, in order.
        whole_mismatches: whether SER takes only the whole part of the mismatches.
        triggers_in_types: whether the trigger of an event is taken as part of its type.
        f1_of_rates: whether F1 is computed from recall and precision, and is undefined where both
            are 0.
        undefined: metrics that the profile does not give.
        draws_pairs: whether the bootstrap draws pairs (and unpaired events) of the main scoring, as
            the official software does, and not documents.
    """

    evaluations: tuple[Evaluation, ...]
    comparison: Comparison
    others_count: bool = False
    unknown_documents: bool = True
    measures: tuple[str, ...] = ()
    whole_mismatches: bool = False
    triggers_in_types: bool = False
    f1_of_rates: bool = False
    undefined: frozenset[str] = frozenset()
    draws_pairs: bool = False

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch of documents, and the alignment of the main evaluation.

        Args:
            reference: the reference; its mentions are the given ones, its segments the sentences.
            system: the predictions for the same documents.
            alignment: whether the alignment is wanted.

        Returns:
            Counts, as `COUNTS`; and the alignment, a row per pair or unpaired annotation.
        """
        reference, system = align(reference, system)
        if not self.unknown_documents:
            system = _restricted(system, reference)
        if self.triggers_in_types:
            reference, system = _with_triggers(reference), _with_triggers(system)
        sides = (
            self._side(reference, reference, "reference"),
            self._side(system, reference, "system"),
        )
        extra = tuple(others(one, reference) for one in (reference, system) if self.others_count)
        tables = [self._paired(e, sides, reference, extra) for e in self.evaluations]
        counts = pl.concat(
            _count(evaluation, table, similarities=self.draws_pairs)
            for evaluation, table in zip(self.evaluations, tables, strict=True)
        )
        names = pl.concat([reference.documents, system.documents])
        names = names.select(document="row", name="name").unique()
        named = counts.lazy().join(names.lazy(), on="document").drop("document")
        columns = [*COUNTS, *(["similarities"] if self.draws_pairs else [])]
        result = named.rename({"name": "document"}).select(columns).collect()
        if not alignment:
            return result, None
        return result, aligned(tables[0], sides, self.comparison.conditions, names, UNIT)

    def evidence(self, reference: Corpus, system: Corpus) -> Evidence:
        """The texts of a batch, and the arguments of the events of both sides."""
        return Evidence(texts(reference, system), marks(*align(reference, system)))

    def _side(self, corpus: Corpus, given: Corpus, name: str) -> Side:
        compared = self.comparison
        commutative = self.evaluations[0].commutative
        return side(corpus, given, name, compared.sameness, compared.conditions, commutative)

    def _paired(
        self,
        evaluation: Evaluation,
        sides: tuple[Side, Side],
        reference: Corpus,
        extra: tuple[pl.DataFrame, ...],
    ) -> pl.DataFrame:
        """A row per pair or unpaired annotation, with the scoring that counts each side."""
        if evaluation.inside_sentences:
            sides = (inside(sides[0], reference), inside(sides[1], reference))
        if not evaluation.overall:
            sides = (_of_types(sides[0], evaluation), _of_types(sides[1], evaluation))
        chosen = pairs(sides, evaluation, self.comparison).lazy()
        left, right = (_classed(side, evaluation) for side in sides)
        if extra:
            scored = (rows.lazy().with_columns(scoring=_scoring(evaluation)) for rows in extra)
            left, right = (
                pl.concat([events, rows], how="diagonal")
                for events, rows in zip((left, right), scored, strict=True)
            )
        names = ("row", "label", "scoring", *(["other"] if extra else []))
        right = right.rename({name: f"{name}_system" for name in names})
        paired = left.join(chosen, on="row", how="left", maintain_order="left")
        paired = paired.join(
            right.drop("document"), on="row_system", how="left", maintain_order="left"
        )
        unpaired = right.join(chosen, on="row_system", how="anti", maintain_order="left")
        return pl.concat([paired, unpaired], how="diagonal").collect()

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of all documents, a row per scoring in the order in which they are printed."""
        named = pl.concat(
            [pl.DataFrame(schema=dict(COUNTS)), *(batch.select(COUNTS.keys()) for batch in counts)]
        )
        added = named.group_by("evaluation", "scoring").agg(pl.exclude("document").sum())
        order = [
            (evaluation.name, scoring)
            for evaluation in self.evaluations
            for scoring in evaluation.names
            if scoring
        ]
        rows = pl.DataFrame(
            order, schema=dict.fromkeys(("evaluation", "scoring"), pl.String), orient="row"
        )
        joined = rows.join(added, on=["evaluation", "scoring"], how="left", maintain_order="left")
        return joined.with_columns(pl.exclude("evaluation", "scoring").fill_null(0))

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, pl.DataFrame]]:
        """The metrics of the main scoring, and the table `scorings` of all evaluations."""
        every = {name: plain(values) for name, values in self._measures(_columns(total)).items()}
        named = zip(total["evaluation"], total["scoring"], strict=True)
        table = scorings(
            {
                "evaluation": evaluation,
                "scoring": scoring,
                "measure": measure,
                "value": every[measure][at],
            }
            for at, (evaluation, scoring) in enumerate(named)
            for measure in self.measures
        )
        metrics = {
            name: None if name in self.undefined else every[measure][0]
            for name, measure in _METRICS.items()
        }
        return metrics, {"scorings": table}

    def _measures(self, counts: Mapping[str, Whole]) -> dict[str, Numbers]:
        """Every measure, of a scoring or replicate each; not-a-number where it is undefined."""
        references, predictions, pairs = (counts[name] for name in _ADDED[:3])
        matches = counts["matched"] / UNIT
        insertions = predictions - pairs
        deletions = references - pairs
        precision, recall, f1 = rates(matches, predictions, references)
        # In integers, so that a sum that is whole stays whole.
        missed = pairs * UNIT - counts["matched"]
        substitutions = missed // UNIT if self.whole_mismatches else missed / UNIT
        if self.f1_of_rates:
            f1 = harmonic(precision, recall)
        return {
            "F1": f1,
            "Recall": recall,
            "Precision": precision,
            "Predictions": predictions,
            "References": references,
            "False Negatives": deletions,
            "False Positives": insertions,
            "Matches": matches,
            "SER": ratio(substitutions + insertions + deletions, references),
            "Mismatches": pairs - matches,
            "Insertions": insertions,
            "Deletions": deletions,
        }

    @property
    def additive(self) -> bool:
        """All counts add."""
        return True

    @property
    def resampling_units(self) -> str:
        """Documents, or the pairs that the official software draws."""
        return "pairs" if self.draws_pairs else DOCUMENTS

    def units(self, counts: pl.DataFrame) -> pl.DataFrame:
        """The pairs of the main scoring by similarity, and what is unpaired on either side."""
        own = self._of_main_scoring(counts)
        similarities = own.select(matched=pl.col("similarities").explode()).drop_nulls()
        paired = similarities.group_by("matched").agg(times=pl.len().cast(pl.Int64)).sort("matched")
        pairs = int(own["pairs"].sum())
        rows = [
            ("deletion", 1, 0, 0, 0, int(own["references"].sum()) - pairs),
            ("insertion", 0, 1, 0, 0, int(own["predictions"].sum()) - pairs),
            *((f"pair {similarity}", 1, 1, 1, similarity, n) for similarity, n in paired.rows()),
        ]
        schema = {"document": pl.String, **dict.fromkeys((*_ADDED, "times"), pl.Int64)}
        main = own.select("evaluation", "scoring").head(1)
        return pl.DataFrame(rows, schema=schema, orient="row").join(main, how="cross")

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The metrics of the main scoring, for each way to weigh the documents."""
        own = self._of_main_scoring(counts)
        every = self._measures(weighted(own, _ADDED, documents, weights))
        return {
            name: every[measure].astype(np.float64)
            for name, measure in _METRICS.items()
            if name not in self.undefined
        }

    def _of_main_scoring(self, counts: pl.DataFrame) -> pl.DataFrame:
        main = self.total([]).row(0, named=True)
        return counts.filter(evaluation=main["evaluation"], scoring=main["scoring"])


_ADDED = ("references", "predictions", "pairs", "matched")


def _columns(total: pl.DataFrame) -> dict[str, Whole]:
    return {name: total[name].to_numpy() for name in _ADDED}


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


def _restricted(system: Corpus, reference: Corpus) -> Corpus:
    """The predictions for documents that the reference has."""
    known = reference.documents["row"].implode()
    if system.documents["row"].is_in(known).all():
        return system
    kept = {
        name: rows.filter(pl.col("document").is_in(known))
        for name, rows in system.tables()
        if ("document", "documents") in TABLES[name].references
    }
    return system.replace(documents=system.documents.filter(pl.col("row").is_in(known)), **kept)


def _with_triggers(corpus: Corpus) -> Corpus:
    """A corpus whose events have their triggers in their types."""
    if corpus.frames["trigger"].null_count() == corpus.frames.height:
        return corpus
    label = pl.concat_str("label", "trigger", separator=":", ignore_nulls=True)
    return corpus.replace(frames=corpus.frames.with_columns(label=label))


def _of_types(one: Side, evaluation: Evaluation) -> Side:
    """The events that an evaluation counts, or pairs with these."""
    merged = evaluation.merged
    types = {*evaluation.scorings, *merged, *merged.values()}
    events = one.events.filter(pl.col("label").is_in(types))
    return Side(events, one.arguments.filter(pl.col("label").is_in(types)))


def _scoring(evaluation: Evaluation) -> pl.Expr:
    """The scoring that counts events of a type, by its number among `names`."""
    numbers = {label: evaluation.names.index(name) for label, name in evaluation.scorings.items()}
    return pl.col("label").replace_strict(numbers, default=None, return_dtype=pl.Int64)


def _classed(one: Side, evaluation: Evaluation) -> pl.LazyFrame:
    """Each event with the scoring that counts it; null where none does."""
    events = one.events.lazy().select("document", "row", "label", scoring=_scoring(evaluation))
    if evaluation.only is None:
        return events
    about = pl.col("role").is_in(evaluation.only.roles)
    strange = ~pl.col("filler_label").is_in(evaluation.only.of).fill_null(False)
    others = (
        one.arguments.lazy().filter(about & strange).select(row="frame_row", strange=pl.lit(True))
    )
    marked = events.join(others.unique(), on="row", how="left", maintain_order="left")
    kept = pl.when(pl.col("strange").is_null()).then("scoring")
    return marked.with_columns(scoring=kept).drop("strange")


def _count(evaluation: Evaluation, table: pl.DataFrame, *, similarities: bool) -> pl.DataFrame:
    """The counts of an evaluation's scorings by document, and optional similarities of pairs."""
    weight = pl.col("weight")
    rows = table.lazy().select(
        "document",
        "scoring",
        "scoring_system",
        *(pl.col(name).is_not_null().cast(pl.Int64) for name in ("label", "label_system")),
        pairs=weight.is_not_null().cast(pl.Int64),
        weight=weight,
    )
    first = rows.with_columns(scoring=pl.coalesce("scoring", "scoring_system"))
    both = rows.filter(pl.col("scoring") != pl.col("scoring_system"))
    parts = [first.drop_nulls("scoring"), both.with_columns(scoring="scoring_system")]
    if evaluation.overall:
        parts.append(rows.with_columns(scoring=pl.lit(0, pl.Int64)))
    many, number = len(evaluation.names), pl.col("number")
    numbered = pl.concat(parts).with_columns(number=pl.col("document") * many + pl.col("scoring"))
    counts = numbered.group_by("number").agg(
        references=pl.col("label").sum(),
        predictions=pl.col("label_system").sum(),
        pairs=pl.col("pairs").sum(),
        matched=weight.sum(),
        **({"similarities": weight.drop_nulls()} if similarities else {}),
    )
    return counts.select(
        pl.exclude("number"),
        document=number // many,
        evaluation=pl.lit(evaluation.name),
        scoring=(number % many).replace_strict(
            range(many), evaluation.names, return_dtype=pl.String
        ),
    ).collect()

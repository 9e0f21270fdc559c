"""Pairings as the evaluations of BioNLP-ST score them: pairs by similarity, and what is in none.

An evaluation pairs the annotations of a reference with those of a system, one to one; its scorings
select pairs and print measures of these. What a pair lacks to full similarity is a substitution, an
annotation without a partner an insertion or a deletion.

Conventions:
    Counts are by document, evaluation and scoring, a row for each or for each pair; they add.
    Similarities are in units of 1/`unit`.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.representation import Corpus, documents_of, first_case, of_documents
from hlteval.scoring.confusions import Labels, count_labels
from hlteval.scoring.metric import AdditiveMetric, Replicates, Sums, Tables, columns_of, scorings
from hlteval.scoring.ratios import Numbers, Rates, harmonic, plain, rates, ratio

#: What adds up: annotations of either side, pairs, their similarities, and what these lack to 1.
ADDED = ("references", "predictions", "pairs", "matched", "missed")
#: The place of a scoring.
PLACE = ("evaluation", "scoring")
#: The sums of equal parts may lack the last digits.
_CLOSE = 1e-12
#: The measures that are metrics, by the names of these.
METRICS: Mapping[str, str] = {
    **{name.lower(): name for name in ("F1", "Recall", "Precision", "SER", "Matches")},
    "substitutions": "Mismatches",
    **{name.lower(): name for name in ("Insertions", "Deletions", "References", "Predictions")},
}


#: The columns of alignments with the labels of both sides.
LABELS: Labels = ("reference_type", "predicted_type")


@dataclass(frozen=True, kw_only=True)
class PairingMetric(AdditiveMetric):
    """Measures of the scorings of one-to-one pairings.

    Attributes:
        metrics: the measures that are metrics, by the names of these.
    """

    metrics: Mapping[str, str] = field(default_factory=lambda: METRICS)

    #: The columns of the counts.
    counts: ClassVar[Mapping[str, Any]] = {}
    #: A similarity of 1 in counts.
    unit: ClassVar[int] = 1

    @property
    @abstractmethod
    def layout(self) -> Sequence[tuple[str, str, Sequence[str]]]:
        """The scorings in order: evaluation, scoring, and measures; the first is the main one."""

    @abstractmethod
    def add(self, counts: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
        """The sums of counts as `ADDED`, a row per combination of the columns `by`."""

    def prepare(self, reference: Corpus, system: Corpus) -> tuple[Corpus, Corpus]:
        """Return what is compared of two corpora with the same documents."""
        return reference, system

    @abstractmethod
    def beside(self, aligned: pl.DataFrame) -> pl.DataFrame:
        """The labels of an alignment, those of unpaired annotations beside each other if alike."""

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[Tables, dict[str, str]]:
        """The table `confusion`."""
        return {"confusion": count_labels(self.beside(aligned), LABELS)}, {}

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of all documents, a row per scoring in the order in which they are printed."""
        batches = (batch.select(self.counts.keys()) for batch in counts)
        named = pl.concat([pl.DataFrame(schema=dict(self.counts)), *batches])
        places = [place[:2] for place in self.layout]
        rows = pl.DataFrame(places, schema=dict.fromkeys(PLACE, pl.String), orient="row")
        joined = rows.join(self.add(named, PLACE), on=PLACE, how="left", maintain_order="left")
        return joined.with_columns(pl.col(ADDED).fill_null(0))

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The metrics of the main scoring, and the table `scorings` of all evaluations."""
        every = self.values(*(total[name].to_numpy() for name in ADDED))
        values = {name: plain(each) for name, each in every.items()}
        table = scorings(
            {**dict(zip(PLACE, place, strict=True)), "measure": name, "value": values[name][at]}
            for at, (*place, measures) in enumerate(self.layout)
            for name in measures
        )
        metrics = {
            name: values[measure][0] if self.is_defined(name) else None
            for name, measure in self.metrics.items()
        }
        return metrics, {"scorings": table}

    def is_defined(self, name: str) -> bool:  # noqa: ARG002
        """Whether a metric has a value."""
        return True

    def rates(
        self, matches: Numbers, predictions: Numbers, references: Numbers
    ) -> Rates[NDArray[np.float64]]:
        """Precision, recall and F1."""
        return rates(matches, predictions, references)

    def substitutions(self, missed: Numbers) -> Numbers:
        """The substitutions, from what the pairs lack to full similarity."""
        return missed

    def mismatches(self, pairs: Numbers, matches: Numbers, missed: Numbers) -> Numbers:  # noqa: ARG002
        """The substitutions as they are shown."""
        return missed

    def values(
        self,
        references: Numbers,
        predictions: Numbers,
        pairs: Numbers,
        matched: Numbers,
        missed: Numbers,
    ) -> dict[str, Numbers]:
        """Every measure, of a scoring or replicate each; not-a-number where it is undefined."""
        matches, lack = matched / self.unit, missed / self.unit
        insertions, deletions = predictions - pairs, references - pairs
        precision, recall, f1 = self.rates(matches, predictions, references)
        ser = ratio(self.substitutions(lack) + insertions + deletions, references)
        return {
            "F1": f1,
            "Recall": recall,
            "Precision": precision,
            "SER": ser,
            "ISER": 1 / (ser + 1),
            "Predictions": predictions,
            "References": references,
            "False Negatives": deletions,
            "False Positives": insertions,
            "Matches": matches,
            "Mismatches": self.mismatches(pairs, matches, lack),
            "Insertions": insertions,
            "Deletions": deletions,
        }

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        """The counts of the main scoring by document."""
        main = self.add(self.main_scoring(counts), ["document"])
        return {"": columns_of(main, ADDED, documents)}

    def values_of(self, sums: Sums) -> Replicates:
        """The metrics of the main scoring."""
        values = self.values(*sums[""].T)
        return {
            name: values[measure].astype(np.float64)
            for name, measure in self.metrics.items()
            if self.is_defined(name)
        }

    def main_scoring(self, counts: pl.DataFrame) -> pl.DataFrame:
        """The counts of the first scoring of the first evaluation."""
        evaluation, scoring, _ = self.layout[0]
        return counts.filter(evaluation=evaluation, scoring=scoring)


class OfficialPairing(PairingMetric):
    """Measures as the official software computes them."""

    def prepare(self, reference: Corpus, system: Corpus) -> tuple[Corpus, Corpus]:
        """Documents without reference are ignored."""
        known = reference.documents["name"]
        if not system.documents["name"].is_in(known.implode()).all():
            system = of_documents(system, known)
        return reference, system

    def rates(
        self, matches: Numbers, predictions: Numbers, references: Numbers
    ) -> Rates[NDArray[np.float64]]:
        """F1 is computed from precision and recall, and undefined where both are 0."""
        precision, recall, _ = super().rates(matches, predictions, references)
        return Rates(precision, recall, harmonic(precision, recall))

    def substitutions(self, missed: Numbers) -> Numbers:
        """The sum is truncated to an integer; one that is not a number is 0."""
        return np.trunc(np.nan_to_num(missed))

    def values(self, *added: Numbers) -> dict[str, Numbers]:
        """The inverse of an infinite slot error rate is 0."""
        values = super().values(*added)
        infinite = (values["References"] == 0) & (values["Insertions"] > 0)
        return {**values, "ISER": np.where(infinite, 0.0, values["ISER"])}


def with_names(rows: pl.DataFrame, reference: Corpus, system: Corpus) -> pl.DataFrame:
    """Rows with the names of their documents in place of the numbers.

    Args:
        rows: with the column `document`.
        reference: the reference.
        system: the system, with the same numbers of documents.
    """
    names = documents_of(reference, system).select(document="row", _name="name")
    named = rows.join(names, on="document", maintain_order="left")
    return named.with_columns(document="_name").drop("_name")


def of_system(rows: pl.DataFrame) -> pl.DataFrame:
    """Annotations of a system, whose columns, but for `document`, end in `_system`."""
    return rows.rename(lambda name: name if name == "document" else f"{name}_system")


def side_by_side(ours: pl.DataFrame, theirs: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """A row per pair, or per annotation that has no partner.

    Args:
        ours: annotations of the reference: `document`, `row`, and others.
        theirs: those of the system; their columns, but for `document`, then end in `_system`.
        pairs: `row` and `row_system`, and others.
    """
    theirs = of_system(theirs)
    paired = ours.join(pairs, on="row", how="left", maintain_order="left")
    partners = theirs.drop("document")
    paired = paired.join(partners, on="row_system", how="left", maintain_order="left")
    unpaired = theirs.join(pairs, on="row_system", how="anti", maintain_order="left")
    return pl.concat([paired, unpaired], how="diagonal")


def of_distinct(
    rows: pl.DataFrame, columns: Sequence[str], value: Callable[..., float]
) -> pl.Series:
    """A value of each row, computed once for equal ones; null where a column is null.

    Args:
        rows: any.
        columns: their values, in this order, are what a value is computed of.
        value: computes it.

    Examples:
        >>> rows = pl.DataFrame({"a": [2, 2, None], "b": [3, 3, 1]})
        >>> of_distinct(rows, ("a", "b"), pow).to_list()
        [8.0, 8.0, None]
    """
    distinct = rows.select(columns).drop_nulls().unique(maintain_order=True)
    values = pl.Series([value(*each) for each in distinct.iter_rows()], dtype=pl.Float64)
    named = distinct.with_columns(values.alias("_value"))
    return rows.select(columns).join(named, on=columns, how="left", maintain_order="left")["_value"]


def with_outcomes(rows: pl.DataFrame) -> pl.DataFrame:
    """An alignment with the outcome of each row; a similarity that is undefined is 0.

    Examples:
        >>> rows = {"reference": ["E1", None], "predicted": ["E2", "E3"], "similarity": [0.5, 0.0]}
        >>> with_outcomes(pl.DataFrame(rows))["outcome"].to_list()
        ['partly correct', 'extra']
    """
    similarity = pl.col("similarity").fill_nan(0.0).fill_null(0.0)
    whole = similarity > 1 - _CLOSE
    rows = rows.with_columns(similarity=pl.when(whole).then(1.0).otherwise(similarity))
    outcome = first_case(
        (pl.col("reference").is_null(), "extra"),
        (pl.col("predicted").is_null(), "missing"),
        (pl.col("similarity") < 1, "partly correct"),
        otherwise="correct",
    )
    return rows.with_columns(outcome=outcome)


def across_sentences(places: pl.DataFrame, sentences: pl.DataFrame) -> pl.Series:
    """The rows whose places lie in more than one sentence.

    A place that no sentence holds completely counts as being in none.

    Args:
        places: `document`, `start`, `end`, and the `row` that they belong to.
        sentences: the segments of the reference.
    """
    limits = sentences.select("document", "start", sentence="row", until="end")
    places, limits = (rows.sort("document", "start") for rows in (places, limits))
    placed = places.join_asof(limits, on="start", by="document", check_sortedness=False)
    within = placed.filter(pl.col("end") <= pl.col("until"))
    counts = within.group_by("row").agg(pl.col("sentence").n_unique())
    return counts.filter(pl.col("sentence") > 1)["row"]

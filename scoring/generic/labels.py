"""Labels of documents: one each, several, or scores of labels.

A document has a set of labels on either side; scores below the threshold are no labels. Precision,
recall and F1 count pairs of documents and labels. Accuracy is the share of documents of the
reference with equal sets; the average `samples` is the mean over documents of the rates of their
sets. Where each document has one label, there are also, with the units G and P of a label, the
right documents c and all documents s:

    kappa = (c/s - e) / (1 - e)         with e = sum of G P / s^2
    mcc = (c s - sum of G P) / sqrt((s^2 - sum of G^2) (s^2 - sum of P^2))

Conventions:
    A document that the system lacks has no label there: it is wrong. Counts are a row per document
    and label, and one per document; they add. Rates of single documents are whole numbers of
    `SHARE`s.

References:
    Cohen 1960 (kappa); Gorodkin 2004 (MCC of several classes).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.representation import Corpus, align, documents_of, first_case
from hlteval.scoring.generic.averages import (
    COUNTED,
    RATES,
    Average,
    Floats,
    LabelCounts,
    LabelMetric,
    LabelOptions,
    mean,
)
from hlteval.scoring.generic.label_scores import SCORES, ranking_table
from hlteval.scoring.generic.spans import Whole
from hlteval.scoring.metric import Metric, Replicates, Sums, Tables, scorings
from hlteval.scoring.ratios import ratio

#: A rate of 1 of a document.
SHARE = 2**32
#: The least score of a label that is predicted.
THRESHOLD = 0.5
#: Between the labels of a document.
SEPARATOR = "; "
#: The kind of instances that are labels.
KIND = "label"


@dataclass(frozen=True, kw_only=True)
class Options(LabelOptions):
    """Labels, and which scores are labels.

    Attributes:
        threshold: the least score of a label that a side has.
        kind: whether labels are names or numbers (`hlteval.scoring.generic.numbers`).
        range: the least and the greatest number; empty if any is allowed.
    """

    average: tuple[Average, ...] = ("micro", "macro", "weighted", "samples")
    threshold: float | None = None
    kind: Literal["names", "numbers"] = "names"
    range: tuple[float, ...] = ()

    def without_low_scores(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of labels that are predicted: without a score (`llr`), or with a high one.

        Examples:
            >>> rows = pl.DataFrame({"label": ["a", "b", "c"], "llr": [0.4, 0.5, None]})
            >>> Options().without_low_scores(rows)["label"].to_list()
            ['b', 'c']
        """
        if rows["llr"].null_count() == rows.height:
            return rows
        least = THRESHOLD if self.threshold is None else self.threshold
        return rows.filter(pl.col("llr").is_null() | (pl.col("llr") >= least))


@dataclass(frozen=True)
class Sets:
    """The labels of documents on both sides, as numbers.

    Attributes:
        names: the labels.
        documents: the number and the name of each document.
        reference: for each label of a document in the reference, the number of the document times
            the number of labels, plus that of the label; in order.
        system: the same of the system.
        known: the numbers of the documents of the reference.
        ignored: how many labels were left out, by the number of the document.
    """

    names: tuple[str, ...]
    documents: pl.DataFrame
    reference: Whole
    system: Whole
    known: Whole
    ignored: Whole

    @property
    def size(self) -> int:
        """How many numbers of documents there are."""
        return len(self.ignored)

    @property
    def width(self) -> int:
        """How many labels there are, or 1."""
        return max(len(self.names), 1)

    def sizes(self, common: Whole, listed: NDArray[np.bool_] | None = None) -> list[Whole]:
        """How many labels each document has in the reference, the system and both.

        Args:
            common: the labels that are on both sides.
            listed: the only labels that count.
        """
        sides = [self.reference, self.system, common]
        if listed is not None:
            sides = [keys[listed[keys % self.width]] for keys in sides]
        return [np.bincount(keys // self.width, minlength=self.size) for keys in sides]


@dataclass(frozen=True)
class Labels(LabelMetric):
    """How labels of documents are scored.

    Attributes:
        options: the labels and averages.
    """

    options: Options = field(default_factory=Options)

    extras: ClassVar = (
        *("ignored", "documents", "equal", "several"),
        *(f"samples.{rate}" for rate in RATES),
        *(f"defined.{rate}" for rate in RATES),
    )
    flags: ClassVar = frozenset((*COUNTED, "documents", "equal", "several")).union(
        f"defined.{rate}" for rate in RATES
    )
    items: ClassVar = "label"

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch of documents, and the alignment of their labels.

        Examples:
            >>> place = {"document": 0, "origin": 0, "record": 1, "kind": "label"}
            >>> documents = [{"row": 0, "name": "d"}]
            >>> corpus = Corpus(documents=documents, instances=[{"row": 0, **place, "label": "a"}])
            >>> metric = Labels()
            >>> metric.score(metric.total([metric.statistics(corpus, corpus)[0]]))[0]["accuracy"]
            1.0
        """
        reference, system = align(reference, system)
        sets = self._sets(reference, system)
        counts = pl.concat([self._count(sets), self._scores(sets, system)], how="diagonal")
        return counts, _align(sets) if alignment else None

    def _scores(self, sets: Sets, system: Corpus) -> pl.DataFrame:
        """The scores of the system, and the labels of the reference, as `SCORES`."""
        scored = system.instances.filter(kind=KIND).drop_nulls("llr")
        if scored.is_empty():
            return pl.DataFrame(schema=SCORES)
        names = pl.Series(sets.names, dtype=pl.String)
        own = {
            "document": sets.reference // sets.width,
            "label": names.gather(sets.reference % sets.width),
        }
        labels = pl.DataFrame(own).with_columns(is_label=True)
        label = self.options.prepare(pl.col("label"))
        rows = scored.select("document", label, score="llr").drop_nulls("label")
        rows = rows.unique(["document", "label"], keep="first", maintain_order=True)
        both = rows.join(labels, on=["document", "label"], how="full", coalesce=True)
        documents = sets.documents.select(document="row", name="name")
        named = both.join(documents, on="document").with_columns(document="name")
        return named.select("document", "label", "score", pl.col("is_label").fill_null(value=False))

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of all documents, and the scores as they are."""
        batches = [*counts]
        added = super().total(map(_without_scores, batches))
        return pl.concat([added, *_scores_of(batches)], how="diagonal")

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The averages and rankings, and the tables `scorings` and `labels`."""
        values, tables = super().score(_without_scores(total))
        also = self.options.also or RANKINGS
        if wanted := [name for name in RANKINGS if name in also]:
            ranked = rankings(total)
            values |= {name: _mean(ranked[name]) for name in wanted}
        return values, tables

    def decompose(self, names: Iterable[str] | None = None) -> tuple[Metric, ...]:
        """The averages, whose counts add, and the rankings, which need all documents at once."""
        wanted = {*RANKINGS, "accuracy"} if names is None else {*names}
        rest = (self,) if wanted - {*RANKINGS} else ()
        return (*rest, Rankings(self.profile, self)) if wanted & {*RANKINGS} else rest

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        """The counts of documents, without scores."""
        return super().document_sums(_without_scores(counts), documents)

    def _sets(self, reference: Corpus, system: Corpus) -> Sets:
        """The labels of both sides."""
        sides = [
            corpus.instances.filter(kind=KIND).select(
                "document", "llr", label=self.options.prepare(pl.col("label")), side=pl.lit(number)
            )
            for number, corpus in enumerate((reference, system))
        ]
        both, documents = pl.concat(sides), documents_of(reference, system)
        size = 1 + (documents["row"][-1] if documents.height else -1)
        both = self.options.without_low_scores(both)
        gone = both["label"].is_null()
        ignored = np.bincount(both["document"].filter(gone).to_numpy(), minlength=size)
        if gone.any():
            both = both.filter(~gone)
        names = both["label"].unique().sort()
        label = both["label"].cast(pl.Enum(names)).to_physical().cast(pl.Int64)
        key = (both["document"] * max(len(names), 1) + label).to_numpy()
        if size * len(names) < 2**31:  # smaller numbers are sorted twice as fast
            key = key.astype(np.int32)
        keys = [np.sort(own) for own in np.split(key, [np.count_nonzero(both["side"] == 0)])]
        keys = [own[np.r_[True, own[1:] != own[:-1]][: len(own)]].astype(np.int64) for own in keys]
        known = reference.documents["row"].to_numpy()
        return Sets(tuple(names), documents, keys[0], keys[1], known, ignored)

    def _count(self, sets: Sets) -> pl.DataFrame:
        """A row per document and label, and one per document without a label."""
        width = sets.width
        both = np.r_[sets.reference, sets.system]
        order = np.argsort(both, kind="stable")  # linear where both sides are in order
        both, ours = both[order], order < len(sets.reference)
        begins = np.r_[True, both[1:] != both[:-1], True][: len(both) + 1]  # and past the end
        first = begins[:-1]  # of the same label on both sides, that of the reference
        every, expected, right = both[first], ours[first], ~begins[1:][first]
        counts = {"expected": expected, "predicted": ~expected | right}
        common = every[right]
        labels = pl.Series(sets.names, dtype=pl.String).gather(every % width)
        of_label = pl.DataFrame({"row": every // width, "label": labels, **counts})
        of_label = of_label.with_columns(met=right, found=right)
        rows = sets.documents["row"].to_numpy()
        sizes = sets.sizes(common)
        known = np.zeros(sets.size, dtype=np.bool_)
        known[sets.known] = True
        equal = (sizes[0] == sizes[2]) & (sizes[1] == sizes[2])
        extras = {
            "ignored": sets.ignored,
            "documents": known,
            "equal": known & equal,
            "several": known & ((sizes[0] != 1) | (sizes[1] > 1)),
        }
        listed = self.options.average_labels
        gold, own, same = sets.sizes(common, np.isin(sets.names, listed)) if listed else sizes
        shares = ((same, own), (same, gold), (2 * same, gold + own))
        for rate, (part, whole) in zip(RATES, shares, strict=True):
            extras[f"samples.{rate}"] = np.rint(np.nan_to_num(ratio(part, whole)) * SHARE) * known
            extras[f"defined.{rate}"] = known & (whole > 0)
        if len(rows) < sets.size:  # some numbers are those of no document
            extras = {name: own[rows] for name, own in extras.items()}
        of_document = pl.DataFrame({"row": rows, **extras})
        return self.counts_of([of_label, of_document], sets.documents)

    def values(self, counted: LabelCounts, extras: Mapping[str, Whole]) -> Replicates:
        """The averages, accuracy, and what is only known of single labels."""
        documents = extras["documents"].astype(np.float64)
        found = self.averages(counted)
        if "samples" in self.options.average:
            found |= self._samples(extras)
        found["accuracy"] = ratio(extras["equal"], documents)
        recall = counted.rates(self.options.undefined).recall
        found["balanced_accuracy"] = mean(recall, (counted.counts[:, :, 0] > 0).astype(np.float64))
        kappa, correlation = self.agreement(counted, extras)
        single = extras["several"] == 0
        found["kappa"] = np.where(single, kappa, np.nan)
        found["mcc"] = np.where(single, correlation, np.nan)
        return found

    def _samples(self, extras: Mapping[str, Whole]) -> Replicates:
        """The means over documents of the rates of their sets."""
        found = {}
        for rate in RATES:
            total, defined = extras[f"samples.{rate}"] / SHARE, extras[f"defined.{rate}"]
            if self.options.undefined != "none":
                total = total + float(self.options.undefined) * (extras["documents"] - defined)
                defined = extras["documents"]
            found[f"samples.{rate}"] = ratio(total, defined)
        return found

    def agreement(self, counted: LabelCounts, extras: Mapping[str, Whole]) -> tuple[Floats, Floats]:
        """Kappa and the correlation coefficient; without a label of the system, it has another."""
        size, right = extras["documents"].astype(np.float64), extras["equal"].astype(np.float64)
        expected, predicted = counted.counts[:, :, 0], counted.counts[:, :, 1]
        missing = size - predicted.sum(1)
        chance = (expected * predicted).sum(1)
        kappa = ratio(right * size - chance, size**2 - chance)
        squares = (size**2 - (expected**2).sum(1)) * (size**2 - (predicted**2).sum(1) - missing**2)
        return kappa, ratio(right * size - chance, np.sqrt(np.maximum(squares, 0)))


def _scores_of(batches: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """The rows of `SCORES` in the counts of batches.

    Where any batch has scores, those without have the labels of their reference, as they would have
    in one batch with the others.
    """
    rows = [batch.select(SCORES.keys()).drop_nulls("is_label") for batch in batches]
    if any(scored.height for scored in rows):
        lacking = {"score": pl.lit(None, pl.Float64), "is_label": pl.lit(value=True)}
        rows = [
            scored
            if scored.height
            else batch.filter(pl.col("expected") > 0).select("document", "label", **lacking)
            for scored, batch in zip(rows, batches, strict=True)
        ]
    return [pl.DataFrame(schema=SCORES), *rows]


def _without_scores(counts: pl.DataFrame) -> pl.DataFrame:
    """The counts that add, as they are where there are no others."""
    if counts["is_label"].null_count() == counts.height:
        return counts
    return counts.filter(pl.col("is_label").is_null())


#: The values that need all documents at once.
RANKINGS = ("auc", "ap")


def rankings(total: pl.DataFrame) -> pl.DataFrame:
    """The rankings of each label, of the total of `Labels`."""
    return ranking_table(total.drop_nulls("is_label"), int(total["documents"].sum()))


def _mean(values: pl.Series) -> float | None:
    """The mean of what is defined."""
    found = values.drop_nulls().mean()
    return found if isinstance(found, float) else None


@dataclass(frozen=True)
class PartOfLabels(Metric):
    """The values of a metric of labels that need all documents at once.

    Attributes:
        labels: the metric that counts.
    """

    labels: Metric = field(default_factory=Labels)

    @abstractmethod
    def values(self, total: pl.DataFrame) -> dict[str, float | None]:
        """The values by name."""

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of the metric."""
        return self.labels.statistics(reference, system, alignment=alignment)

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The values, and the table `scorings`."""
        values = self.values(total)
        return values, {"scorings": single_values(values)}


@dataclass(frozen=True)
class Rankings(PartOfLabels):
    """The values of `Labels` that do not add."""

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The scores, and how many documents there are."""
        batches = [*counts]
        documents = sum(int(batch["documents"].sum()) for batch in batches)
        size = pl.DataFrame({"documents": [documents]}, schema={"documents": pl.Int64})
        return pl.concat([size, *_scores_of(batches)], how="diagonal")

    def values(self, total: pl.DataFrame) -> dict[str, float | None]:
        """The rankings."""
        ranked = rankings(total)
        return {name: _mean(ranked[name]) for name in RANKINGS}


def single_values(values: Mapping[str, float | None]) -> pl.DataFrame:
    """The table `scorings` of values that are the only one of their scoring."""
    return scorings(
        {"evaluation": "all", "scoring": name, "measure": "value", "value": value}
        for name, value in values.items()
    )


def _align(sets: Sets) -> pl.DataFrame:
    """A row per document: the labels of either side, null for none, and the outcome."""
    rows = sets.documents
    names = pl.Series(sets.names, dtype=pl.String)
    for title, keys in (("reference", sets.reference), ("system", sets.system)):
        own = pl.DataFrame(
            {"row": keys // sets.width, f"{title}_label": names.gather(keys % sets.width)}
        )
        if own["row"].is_duplicated().any():
            own = own.group_by("row").agg(pl.col(f"{title}_label").str.join(SEPARATOR))
        rows = rows.join(own, on="row", how="left", maintain_order="left")
    outcome = first_case(
        (pl.col("reference_label").eq_missing(pl.col("system_label")), "correct"),
        (pl.col("system_label").is_null(), "missing"),
        (pl.col("reference_label").is_null(), "extra"),
        otherwise="wrong label",
    )
    return rows.select("reference_label", "system_label", document="name", outcome=outcome).select(
        "document", pl.exclude("document")
    )

"""Labels that are numbers: correlation and errors, as of sentence similarity (STS-B of GLUE).

With the numbers x of the reference and y of the system, over the documents that have both:

    pearson = sum of (x - mean x) (y - mean y) / sqrt(sum of (x - mean x)^2 sum of (y - mean y)^2)
    spearman = pearson of the ranks; equal numbers share the mean of their ranks
    mse = mean of (x - y)^2        mae = mean of |x - y|

Conventions:
    Correlation is undefined for fewer than two documents, and where all numbers of a side are
    equal. A label that is no number, or beyond `LARGEST`, is none: rules report it. Of several
    numbers of a document the first counts. The sums of replicates are of numbers less the middle of
    the declared range, so that their squares keep their digits.

References:
    scipy.stats.pearsonr and spearmanr; Dolan and Cer 2017 (STS-B).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from hlteval.findings.counts import count_of
from hlteval.representation import LARGEST, Corpus, align, documents_of, first_case, to_number
from hlteval.scoring.generic.averages import Floats
from hlteval.scoring.generic.labels import KIND, Labels, Options, PartOfLabels, single_values
from hlteval.scoring.metric import (
    AdditiveMetric,
    Metric,
    Replicates,
    Sums,
    Tables,
    Weights,
    columns_of,
)
from hlteval.scoring.ratios import plain, ratio

#: The values whose counts add, and the one that needs all documents at once.
ADDED, RANKED = ("pearson", "mse", "mae"), "spearman"
MEASURES = ("pearson", RANKED, "mse", "mae")
#: The counts: a row per document; null where a side has no number.
_NUMBERS = {"document": pl.String, "reference": pl.Float64, "system": pl.Float64}
#: What adds up over documents: their number, numbers, products, and errors.
_SUMS = ("n", "x", "y", "xx", "yy", "xy", "square", "absolute")
#: Share of a sum of squares below which its variance is rounding.
_ROUNDING = 1e-12


def find_numbers(labels: pl.Series) -> list[float]:
    """The numbers of labels; none if some label is no number, or all are whole, as classes are.

    Examples:
        >>> [find_numbers(pl.Series(labels)) for labels in (["1", "2.5"], ["1", "2"])]
        [[1.0, 2.5], []]
    """
    numbers = labels.drop_nulls().to_frame("label").select(to_number(pl.col("label"))).to_series()
    are_numbers = not numbers.null_count() and not (numbers == numbers.floor()).all()
    return numbers.to_list() if are_numbers else []


def correlation(x: Floats, y: Floats, weights: Floats | Weights) -> float:
    """The correlation of numbers that occur so often; not-a-number where it is undefined.

    Examples:
        >>> round(correlation(np.array([1.0, 2, 3]), np.array([1.0, 2, 1]), np.ones(3)), 12)
        0.0
        >>> correlation(np.array([1.0, 2]), np.array([0.1, 0.1]), np.ones(2))
        nan
    """
    own = weights > 0
    if not own.any() or np.ptp(x[own]) == 0 or np.ptp(y[own]) == 0:
        return np.nan  # a mean of equal numbers may differ from them in the last digit
    # the scale of numbers does not matter, and squares of small ones could be 0
    x, y = ((side - np.average(side, weights=weights)) / np.ptp(side[own]) for side in (x, y))
    product = (weights * x * y).sum() / np.sqrt((weights * x * x).sum() * (weights * y * y).sum())
    return float(np.clip(product, -1, 1))


def average_ranks(numbers: Floats, weights: Floats | Weights) -> Floats:
    """The ranks of numbers that occur so often, from 1: the mean rank where they are equal.

    Examples:
        >>> average_ranks(np.array([5.0, 1.0, 5.0, 9.0]), np.array([1, 1, 2, 0])).tolist()
        [3.0, 1.0, 3.0, 4.5]
    """
    _, place = np.unique(numbers, return_inverse=True)
    size = np.bincount(place, weights)
    return (np.cumsum(size) - size + (size + 1) / 2)[place]


def _pairs(counts: pl.DataFrame) -> tuple[Floats, Floats]:
    """The numbers of the reference and the system, of documents that have both."""
    both = counts.drop_nulls()
    return both["reference"].to_numpy(), both["system"].to_numpy()


@dataclass(frozen=True)
class Numbers(AdditiveMetric):
    """How labels are scored that are numbers.

    Attributes:
        options: labels to leave out or to map, the range, and the wanted measures (`also`).
    """

    options: Options = field(default_factory=Options)

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The numbers of a batch of documents, and the labels of both sides beside each other.

        Examples:
            >>> place = {"origin": 0, "record": 1, "kind": "label"}
            >>> documents = [{"row": n, "name": f"d{n}"} for n in range(3)]
            >>> rows = [
            ...     {"row": n, "document": n, **place, "label": number}
            ...     for n, number in enumerate(["0", "2.5", "5.0"])
            ... ]
            >>> corpus = Corpus(documents=documents, instances=rows)
            >>> metric = Numbers()
            >>> metric.score(metric.total([metric.statistics(corpus, corpus)[0]]))[0]
            {'pearson': 1.0, 'spearman': 1.0, 'mse': 0.0, 'mae': 0.0}
        """
        reference, system = align(reference, system)
        rows = documents_of(reference, system)
        for side, corpus in (("reference", reference), ("system", system)):
            label = self.options.prepare(pl.col("label"))
            own = corpus.instances.filter(kind=KIND).select(row="document", label=label)
            own = own.select("row", "label", number=to_number(pl.col("label")))
            first = own.drop_nulls("number").unique("row", keep="first", maintain_order=True)
            first = first.rename({"number": side, "label": f"{side}_label"})
            rows = rows.join(first, on="row", how="left", maintain_order="left")
        counts = rows.select("reference", "system", document="name").select(_NUMBERS.keys())
        outcome = first_case(
            (pl.col("reference").eq_missing(pl.col("system")), "correct"),
            (pl.col("system").is_null(), "missing"),
            (pl.col("reference").is_null(), "extra"),
            otherwise="wrong label",
        )
        columns = ("reference_label", "system_label")
        aligned = rows.select(pl.col("name").alias("document"), *columns, outcome=outcome)
        return counts, aligned if alignment else None

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The numbers of all documents, in the order of their names."""
        batches = (batch.select(_NUMBERS.keys()) for batch in counts)
        return pl.concat([pl.DataFrame(schema=_NUMBERS), *batches]).sort("document")

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The values, and the table `scorings`."""
        x, y = _pairs(total)
        alike, error = np.ones(len(x)), x - y
        found = {
            "pearson": correlation(x, y, alike),
            RANKED: correlation(average_ranks(x, alike), average_ranks(y, alike), alike),
            "mse": float((error**2).mean()) if len(x) else np.nan,
            "mae": float(np.abs(error).mean()) if len(x) else np.nan,
        }
        values = {name: plain(np.array([found[name]]))[0] for name in self.measures}
        return values, {"scorings": single_values(values)}

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that the options ask for."""
        also = self.options.also
        return tuple(name for name in MEASURES if not also or name in also)

    def decompose(self, names: Iterable[str] | None = None) -> tuple[Metric, ...]:
        """The values of sums, and the correlation of ranks, which needs all documents at once."""
        wanted = {*self.measures} if names is None else {*names}
        rest = (self,) if wanted - {RANKED} else ()
        return (*rest, RankCorrelation(self.profile, self)) if RANKED in wanted else rest

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        """Sums of the numbers of documents, less the middle of the range."""
        middle = sum(self.options.range) / 2
        middle = middle if abs(middle) <= LARGEST else 0.0
        x, y = (pl.col(side) - middle for side in ("reference", "system"))
        error = pl.col("reference") - pl.col("system")
        products = {"xx": x * x, "yy": y * y, "xy": x * y, "square": error**2}
        sums = {"n": pl.lit(1.0), "x": x, "y": y, **products, "absolute": error.abs()}
        return {"": columns_of(counts.drop_nulls().select("document", **sums), _SUMS, documents)}

    def values_of(self, sums: Sums) -> Replicates:
        """The values of rows of sums."""
        n, x, y, xx, yy, xy, square, absolute = sums[""].T
        variances = [
            np.where(n * own - s**2 > _ROUNDING * n * own, n * own - s**2, 0)
            for s, own in ((x, xx), (y, yy))
        ]
        root = np.sqrt(variances[0]) * np.sqrt(variances[1])
        values = {
            "pearson": np.clip(ratio(n * xy - x * y, root), -1, 1),
            "mse": ratio(square, n),
            "mae": ratio(absolute, n),
        }
        return {name: values[name] for name in self.measures if name != RANKED}

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Notes on documents that are left out, and on numbers that are all equal."""
        notes = []
        sides = {"reference": "system", "system": "reference"}
        for side, other in sides.items():
            missing = total.filter(pl.col(side).is_null(), pl.col(other).is_not_null()).height
            if missing:
                documents = count_of(missing, "document")
                notes.append(f"{documents} without a number of the {side} left out")
        for side, numbers in zip(sides, _pairs(total), strict=True):
            if len(numbers) > 1 and np.ptp(numbers) == 0:
                notes.append(f"correlation is undefined: all numbers of the {side} are equal")
        return tuple(notes)


@dataclass(frozen=True)
class RankCorrelation(PartOfLabels):
    """The value of `Numbers` that does not add."""

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The numbers of all documents, in the order of their names."""
        return self.labels.total(counts)

    def values(self, total: pl.DataFrame) -> dict[str, float | None]:
        """The correlation of ranks."""
        return {RANKED: self.labels.score(total)[0].get(RANKED)}

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The value of each replicate, whose ranks are its own."""
        pairs = counts.drop_nulls()
        at = {document: place for place, document in enumerate(documents)}
        pairs = pairs.filter(pl.col("document").is_in([*at]))
        own = weights[:, [at[document] for document in pairs["document"]]]
        x, y = _pairs(pairs)
        values = [correlation(average_ranks(x, row), average_ranks(y, row), row) for row in own]
        return {RANKED: np.array(values, dtype=np.float64)}


def label_metric(profile: str, options: Options) -> Metric:
    """The metric of labels: of names, or of numbers."""
    return Numbers(profile, options) if options.kind == "numbers" else Labels(profile, options)

"""Diarization of valence and arousal: concordance and kappa over decision units.

Appendix B, step by step: both sides as series of levels over decision units (`level_series`), the
points of levels and the values (`concordance`, `kappa`). Of each document the sums are kept from
which concordance (C.4.5) and kappa of points (C.4.6) are computed: they add.

Conventions:
    Levels are taken from `CENTRE`, so that sums of squares lose no digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings.counts import count_of
from hlteval.representation import Corpus, align
from hlteval.scoring.agreement.coefficients import concordance, kappas
from hlteval.scoring.ccu.level_series import UNPROCESSED, LevelOptions, plan_units, scored_documents
from hlteval.scoring.metric import Metric, Replicates, Tables, Weights, scorings
from hlteval.scoring.ratios import Numbers, plain, ratio

#: The middle of the levels of the plan.
CENTRE = 500
#: The number of units, and sums of levels (x: reference, y: system), squares and products.
MOMENTS = ("units", "x", "y", "xx", "yy", "xy")
#: The least levels of the second and the third point of the scales of three points.
POINTS = (300, 700)
#: Units by the point of the reference and that of the system.
CELLS = tuple(f"cell_{row}{column}" for row in range(3) for column in range(3))


def moments(centre: float) -> list[pl.Expr]:
    """The sums of units of equal levels: `MOMENTS`, with levels taken from a centre."""
    units = pl.col("units")
    x, y = pl.col("reference") - centre, pl.col("system") - centre
    products = {"x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
    sums = [(units * product).sum().alias(name) for name, product in products.items()]
    return [units.sum(), *sums]


def cells() -> list[pl.Expr]:
    """How many units are in each cell of the confusion matrix of points: `CELLS`.

    Negative, neutral and positive valence, or low, medium and high arousal: 1 to 299, 300 to 699
    and 700 to 1000. Averages between two points belong to the lower one.
    """
    row, column = (
        pl.sum_horizontal((pl.col(side) >= least).cast(pl.Int8) for least in POINTS)
        for side in ("reference", "system")
    )
    cell = 3 * row + column
    return [pl.col("units").filter(cell == n).sum().alias(name) for n, name in enumerate(CELLS)]


Schema = Mapping[str, pl.DataType | type[pl.DataType]]

#: What is counted of a document in every profile.
SUMS: Schema = {
    **dict.fromkeys(("document", "genre"), pl.String),
    "units": pl.Int64,
    **dict.fromkeys(MOMENTS[1:], pl.Float64),
}
#: Units of equal levels: where they are, half-open, and how many.
ALIGNMENT: Schema = {
    **dict.fromkeys(("document", "genre"), pl.String),
    **dict.fromkeys(("start", "end"), pl.Float64),
    "units": pl.Int64,
    **dict.fromkeys(("reference", "system"), pl.Float64),
}
#: The kinds of data, each of which has values of its own.
GENRES = ("audio", "text", "video")
#: Documents that intervals of kappa need; docs/intervals.md has their coverage.
_MANY = 50


@dataclass(frozen=True)
class LevelDiarization(Metric):
    """How levels are scored.

    Attributes:
        options: what was chosen.
        kind: `valence` or `arousal`.
    """

    schema: ClassVar[Schema] = {**SUMS, **dict.fromkeys(CELLS, pl.Int64), "unprocessed": pl.Int64}
    """What is counted of a document."""
    sums: ClassVar[tuple[str, ...]] = (*MOMENTS, *CELLS)
    """The columns from which values are computed."""
    note: ClassVar[str] = ""
    """What else is to be known of the level of documents without any."""

    options: LevelOptions = field(default_factory=LevelOptions)
    kind: str = "valence"

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The sums of each document, and the units that they are of.

        Examples:
            >>> documents = [{"row": 0, "name": "d1", "modality": "audio", "length": 6.0}]
            >>> row = {"document": 0, "origin": 0, "record": 1, "kind": "valence"}
            >>> levels = [row | {"start": 0.0, "end": 2.0, "level": 300.0}]
            >>> levels += [row | {"start": 2.0, "end": 6.0, "level": 800.0}]
            >>> said = [level | {"row": i} for i, level in enumerate(levels)]
            >>> judged = [level | {"annotator": a} for level in levels for a in "xy"]
            >>> gold = [judgment | {"row": i} for i, judgment in enumerate(judged)]
            >>> reference = Corpus(documents=documents, ratings=gold)
            >>> metric = LevelDiarization()
            >>> counts, _ = metric.statistics(reference, Corpus(documents=documents, ratings=said))
            >>> metric.score(metric.total([counts]))[0]["ccc"]
            1.0
        """
        reference, system = align(reference, system)
        documents = scored_documents(reference, self.kind, self.options)
        units, further = self.decision_units(reference, system, documents)
        # In order, so that sums do not depend on what else is in the batch.
        ordered = units.sort("document", "start")
        summed = ordered.group_by("document", maintain_order=True).agg(self.unit_sums())
        counts = further.join(summed, on="document", how="left", maintain_order="left")
        counts = counts.with_columns(pl.col(self.sums).fill_null(0))  # of a document without units
        names = pl.concat([side.documents.select("row", "name") for side in (reference, system)])
        genres = reference.documents.select("row", genre="modality")
        named = names.unique().join(genres, on="row", how="left", maintain_order="left")
        counted, aligned = (
            rows.join(named, left_on="document", right_on="row", how="left", maintain_order="left")
            .with_columns(document="name")
            .select(pl.col(name).cast(dtype) for name, dtype in schema.items())
            for rows, schema in ((counts, self.schema), (ordered, ALIGNMENT))
        )
        return counted, aligned if alignment else None

    def decision_units(
        self, reference: Corpus, system: Corpus, documents: pl.DataFrame
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The decision units that are scored, and what is counted of documents beside them."""
        return plan_units(reference, system, documents, self.kind, self.options)

    def unit_sums(self) -> list[pl.Expr]:
        """The sums of the units of a document: `sums`."""
        return [*moments(CENTRE), *cells()]

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The sums of the documents of all batches."""
        return pl.concat([pl.DataFrame(schema=dict(self.schema)), *counts])

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The values, and the table `scorings`."""
        parts = _with_genres(total)
        # Sums that do not depend on the order of the documents.
        sums = {
            name: np.array([math.fsum(rows[name].to_list()) for rows in parts.values()])
            for name in self.sums
        }
        metrics = {
            _name(value, genre): number
            for value, numbers in self.values(sums).items()
            for genre, number in zip(parts, plain(numbers), strict=True)
        }
        each = self.of_documents(total)
        defined = each[~np.isnan(each)].tolist()
        metrics["ccc_document_mean"] = math.fsum(defined) / len(defined) if defined else None
        return metrics, {"scorings": scorings(_scorings(metrics))}

    def values(self, sums: Mapping[str, Numbers]) -> dict[str, NDArray[np.float64]]:
        """Each value, of an element of the sums each."""
        pairs = np.stack([sums[name] for name in CELLS], axis=-1).astype(np.float64)
        agreement = kappas(pairs.reshape(*pairs.shape[:-1], 3, 3))
        return {"ccc": concordance(sums), "kappa": agreement}

    def of_documents(self, counts: pl.DataFrame) -> NDArray[np.float64]:
        """The concordance of each document by itself."""
        return concordance({name: counts[name].to_numpy() for name in MOMENTS})

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What a reader of the values must know."""
        missing = int(total["unprocessed"].sum())
        level = f"{UNPROCESSED[self.kind]:g}{self.note}"
        documents = count_of(missing, "document")
        text = f"{documents} without levels of the system: scored as level {level}"
        return (text,) if missing else ()

    @property
    def additive(self) -> bool:
        """Sums of documents add."""
        return True

    def documents(self, counts: pl.DataFrame) -> list[str]:
        """The documents that have units."""
        return super().documents(counts.filter(pl.col("units") > 0))

    def fewest_documents(self, name: str) -> int:
        """Intervals of kappa need more documents than others (docs/intervals.md)."""
        return _MANY if name.startswith("kappa") else 0

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The values of each replicate, from weighted sums over documents.

        What is undefined in a document is so in the replicates that have it.
        """
        replicates: Replicates = {}
        named = pl.DataFrame({"document": documents}, schema={"document": pl.String})
        for genre, rows in _with_genres(counts).items():
            placed = named.join(rows, on="document", how="left", maintain_order="left")
            placed = placed.select(pl.col(self.sums).fill_null(0))
            if not genre:
                each = self.of_documents(placed)
            matrix = placed.to_numpy().astype(np.float64)
            undefined = np.isnan(matrix)
            sums = weights @ np.where(undefined, 0.0, matrix)
            sums[weights @ undefined.astype(np.int64) > 0] = np.nan
            values = self.values(dict(zip(self.sums, sums.T, strict=True)))
            replicates |= {_name(value, genre): numbers for value, numbers in values.items()}
        defined = ~np.isnan(each)
        total = weights @ np.where(defined, each, 0.0)
        replicates["ccc_document_mean"] = ratio(total, weights @ defined.astype(np.int64))
        return replicates


def _name(value: str, genre: str) -> str:
    return f"{value}.{genre}" if genre else value


def _scorings(metrics: Mapping[str, float | None]) -> Iterator[dict[str, object]]:
    """The rows of the table `scorings`: all data, then each kind."""
    for genre in ("", *GENRES):
        for measure in ("ccc", "kappa", "ccc_document_mean"):
            row = {"evaluation": "Levels", "scoring": genre or "all", "measure": measure}
            yield {**row, "value": metrics.get(_name(measure, genre))}


def _with_genres(counts: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """All counts, and those of each kind of data."""
    return {"": counts, **{name: counts.filter(pl.col("genre") == name) for name in GENRES}}

"""Diarization of valence and arousal: concordance and kappa over decision units.

Appendix B, step by step: both sides as series of levels over decision units (`level_series`), the
points of levels and the values (`concordance`, `kappa`). Of each document sums are kept, which add.
The profile `official` differs in the units (`official_levels`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings.counts import count_of
from hlteval.representation import Corpus, align
from hlteval.scoring.agreement.coefficients import concordance, kappas
from hlteval.scoring.ccu import official_levels
from hlteval.scoring.ccu.level_series import UNPROCESSED, LevelOptions, plan_units, scored_documents
from hlteval.scoring.ccu.official_levels import FURTHER, crashes, official_units
from hlteval.scoring.metric import Metric, Replicates, Tables, Weights, scorings
from hlteval.scoring.ratios import Numbers, plain, ratio

# The sums from which concordance (C.4.5) and kappa of points (C.4.6) of levels are computed.
#
# Conventions:
#     Levels are taken from `CENTRE`, so that sums of squares lose no digits. Sums of documents add.


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
    cell = 3 * _point("reference") + _point("system")
    return [
        pl.col("units").filter(cell == number).sum().alias(name)
        for number, name in enumerate(CELLS)
    ]


def _point(side: str) -> pl.Expr:
    return sum((pl.col(side) >= least).cast(pl.Int8) for least in POINTS)  # type: ignore[return-value]


Schema = Mapping[str, pl.DataType | type[pl.DataType]]

_MOMENTS: Schema = {
    "document": pl.String,
    "genre": pl.String,
    "units": pl.Int64,
    **dict.fromkeys(MOMENTS[1:], pl.Float64),
}
#: What is counted of a document in `plan`.
PLAN: Schema = {**_MOMENTS, **dict.fromkeys(CELLS, pl.Int64), "unprocessed": pl.Int64}
#: What is counted of a document in `official`.
OFFICIAL: Schema = {**_MOMENTS, **FURTHER}
#: Units of equal levels: where they are, half-open, and how many.
ALIGNMENT: Schema = {
    "document": pl.String,
    "genre": pl.String,
    "start": pl.Float64,
    "end": pl.Float64,
    "units": pl.Int64,
    "reference": pl.Float64,
    "system": pl.Float64,
}
#: The kinds of data, each of which has values of its own.
GENRES = ("audio", "text", "video")


@dataclass(frozen=True)
class LevelDiarization(Metric):
    """How levels are scored in a profile.

    The profile `official` follows the public scorer: levels are normalized by annotator and by
    submission, moments are those of a population, windows count where both sides have the same.

    Attributes:
        options: what was chosen.
        kind: `valence` or `arousal`.
    """

    options: LevelOptions = field(default_factory=LevelOptions)
    kind: str = "valence"

    def __post_init__(self) -> None:
        """Hold that `official` has the constants of the public scorer.

        Raises:
            ValueError: if others were chosen.
        """
        if self.official and (changed := self.options.changed):
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in changed)
            raise ValueError(f"the official scorer has no {flags}; use --profile plan")

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
        count = official_units if self.official else plan_units
        units, further = count(reference, system, documents, self.kind, self.options)
        sums = moments(0) if self.official else [*moments(CENTRE), *cells()]
        # In order, so that sums do not depend on what else is in the batch.
        ordered = units.sort("document", "start")
        summed = ordered.group_by("document", maintain_order=True).agg(sums)
        counts = further.join(summed, on="document", how="left", maintain_order="left")
        names = _names(reference, system)
        counted = _named(counts, names, self._schema)
        return counted, _named(ordered, names, ALIGNMENT) if alignment else None

    @property
    def _schema(self) -> Schema:
        return OFFICIAL if self.official else PLAN

    @property
    def _sums(self) -> tuple[str, ...]:
        """The columns from which values are computed."""
        return MOMENTS if self.official else (*MOMENTS, *CELLS)

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The sums of the documents of all batches."""
        return pl.concat([pl.DataFrame(schema=dict(self._schema)), *counts])

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The values, and the table `scorings`."""
        parts = {"": total, **_genres(total)}
        sums = {
            name: np.array([_sum(rows[name]) for rows in parts.values()]) for name in self._sums
        }
        metrics = {
            _name(value, genre): number
            for value, found in self._values(sums).items()
            for genre, number in zip(parts, plain(found), strict=True)
        }
        metrics["ccc_document_mean"] = None if self.official else self._document_mean(total)
        if self._crashes(total):
            metrics = dict.fromkeys(metrics)
        return metrics, {"scorings": scorings(_scored(metrics))}

    def _values(self, sums: Mapping[str, Numbers]) -> dict[str, NDArray[np.float64]]:
        """Each value, of an element of the sums each."""
        agreement = concordance(sums, population=self.official)
        if self.official:  # the public scorer has no kappa
            return {"ccc": agreement, "kappa": np.full_like(agreement, np.nan)}
        pairs = np.stack([sums[name] for name in CELLS], axis=-1).astype(np.float64)
        return {"ccc": agreement, "kappa": kappas(pairs.reshape(*pairs.shape[:-1], 3, 3))}

    def _document_mean(self, total: pl.DataFrame) -> float | None:
        """The mean of the concordances of documents that have one."""
        each = self._of_documents(total)
        defined = each[~np.isnan(each)].tolist()
        return math.fsum(defined) / len(defined) if defined else None

    def _of_documents(self, counts: pl.DataFrame) -> NDArray[np.float64]:
        """The concordance of each document by itself."""
        return concordance({name: counts[name].to_numpy() for name in MOMENTS})

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What a reader of the values must know."""
        if self._crashes(total):
            return (_CRASHES,)
        missing = int(total["unprocessed"].sum())
        level = f"{UNPROCESSED[self.kind]:g}"
        if self.official:
            level += ", which is not normalized as other levels are"
        documents = count_of(missing, "document")
        text = f"{documents} without levels of the system: scored as level {level}"
        return (text,) if missing else ()

    def official_files(self, total: pl.DataFrame) -> dict[str, str]:
        """The files of sums that the public scorer writes; none in the profile `plan`."""
        if not self.official or self._crashes(total):
            return {}
        return official_levels.aggregated(total, self.score(total)[0], self.kind)

    def error_analysis(
        self, aligned: pl.DataFrame, total: pl.DataFrame
    ) -> tuple[Tables, dict[str, str]]:
        """In `official`, the file of all units that the public scorer writes."""
        if not self.official or self._crashes(total):
            return {}, {}
        return {}, {"segment_diarization.tab": official_levels.units(aligned, self.kind)}

    def _crashes(self, total: pl.DataFrame) -> bool:
        return self.official and crashes(total)

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
        """The values of each replicate, from weighted sums over documents."""
        found: Replicates = {}
        for genre, rows in {"": counts, **_genres(counts)}.items():
            values = self._values(_weighted(rows, self._sums, documents, weights))
            found |= {_name(value, genre): numbers for value, numbers in values.items()}
        each = self._of_documents(_placed(counts, documents, MOMENTS))
        defined = ~np.isnan(each) & (not self.official)
        total = weights @ np.where(defined, each, 0.0)
        found["ccc_document_mean"] = ratio(total, weights @ defined.astype(np.int64))
        return found


#: Documents that intervals of kappa need; docs/intervals.md has their coverage.
_MANY = 50
_CRASHES = (
    "no official score: the public scorer crashes on a submission without levels, where a level "
    "ends in a window after all levels that follow it, and where a data type of the reference has "
    "no segment that is scored"
)


def valence(profile: str, options: LevelOptions) -> LevelDiarization:
    """The metric of valence diarization."""
    return LevelDiarization(profile, options, "valence")


def arousal(profile: str, options: LevelOptions) -> LevelDiarization:
    """The metric of arousal diarization."""
    return LevelDiarization(profile, options, "arousal")


def _name(value: str, genre: str) -> str:
    return f"{value}.{genre}" if genre else value


def _scored(metrics: Mapping[str, float | None]) -> Iterator[dict[str, object]]:
    """The rows of the table `scorings`: all data, then each kind."""
    for genre in ("", *GENRES):
        for measure in ("ccc", "kappa", "ccc_document_mean"):
            row = {"evaluation": "Levels", "scoring": genre or "all", "measure": measure}
            yield {**row, "value": metrics.get(_name(measure, genre))}


def _genres(counts: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The counts of each kind of data."""
    return {name: counts.filter(pl.col("genre") == name) for name in GENRES}


def _sum(values: pl.Series) -> float:
    """A sum that does not depend on the order of the documents."""
    return math.fsum(values.to_list())


def _placed(counts: pl.DataFrame, documents: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """The counts of documents in their order; 0 where nothing was counted."""
    named = pl.DataFrame({"document": documents}, schema={"document": pl.String})
    rows = named.join(counts, on="document", how="left", maintain_order="left")
    return rows.select(pl.col(columns).fill_null(0))


def _weighted(
    counts: pl.DataFrame, columns: Sequence[str], documents: Sequence[str], weights: Weights
) -> dict[str, Numbers]:
    """The sums of each replicate; what is undefined in a document is so in those that have it."""
    matrix = _placed(counts, documents, columns).to_numpy().astype(np.float64)
    undefined = np.isnan(matrix)
    sums = weights @ np.where(undefined, 0.0, matrix)
    sums[weights @ undefined.astype(np.int64) > 0] = np.nan
    return dict(zip(columns, sums.T, strict=True))


def _names(reference: Corpus, system: Corpus) -> pl.DataFrame:
    """The names of all documents, and the kinds of data of those of the reference."""
    genres = reference.documents.select("row", genre="modality")
    names = pl.concat([each.documents.select("row", "name") for each in (reference, system)])
    return names.unique().join(genres, on="row", how="left", maintain_order="left")


def _named(rows: pl.DataFrame, names: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Rows with the names and kinds of data of their documents, as a schema has them."""
    known = names.select("genre", document="row", _name="name")
    own = rows.join(known, on="document", how="left", maintain_order="left")
    own = own.drop("document").rename({"_name": "document"})
    # A document without units has no sums.
    filled = [pl.col(name).fill_null(0) for name in MOMENTS + CELLS if name in own.columns]
    return own.with_columns(filled).select(
        pl.col(name).cast(dtype) for name, dtype in schema.items()
    )

"""Entity discovery and linking: all measures of LoReHLT 2019, section 17.3, and of neleval.

Annotations of both sides are pooled over all batches, since clusters run through all documents; a
measure is a filter, a key and an aggregate over them, and its counts lead to precision, recall and
F-score:

    P = ptp / (ptp + fp),  R = rtp / (rtp + fn),  F = 2PR / (P + R)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.representation import Corpus, align
from hlteval.scoring.edl import errors, files
from hlteval.scoring.edl.alternatives import chosen
from hlteval.scoring.edl.annotations import ANNOTATIONS, annotated, coded, outside
from hlteval.scoring.edl.counts import COUNTS, Counting
from hlteval.scoring.edl.measures import (
    DEFAULT,
    FIGURES,
    GROUPINGS,
    Measure,
    WrongMeasure,
    measures,
)
from hlteval.scoring.edl.measures import measure as parse
from hlteval.scoring.ratios import Numbers, ratio
from hlteval.scoring.resampling import Replicates, Scorer, Weights, weighted

AVERAGES = ("<micro>", "<macro>")
RESULTS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {"measure": pl.String, "by": pl.String, "group": pl.String}
    | {"asked": pl.Boolean, "fractional": pl.Boolean}
    | dict.fromkeys(FIGURES, pl.Float64)
)
"""A measure and a group a row: its figures, whether it was asked for, whether it counts fractions;
 or, where `by` is `note`, something to be told."""

PRIMARY = "strong_typed_all_match"


@dataclass(frozen=True)
class LinkMatch:
    """The metric of a profile.

    Attributes:
        profile: `plan` or `official`.
        wanted: the measures.
        by: what they are counted by as well, one of `GROUPINGS`, or empty.
        with_mention_type: whether a type is `PER/NAM` and not `PER`.
        alternatives: what an alternative of the reference has in common with the system's candidate
            for it to be selected: `eid`, or `fields` for its type as well; empty: the first stands.
        weights: what a pair of types (reference, system) counts, where types are compared.
        excluded: zones as `docid`, `start`, `last`; what begins or ends in one is left out.
        ranked: whether the measure that ranks is worked out where it is not wanted.
    """

    unit: ClassVar[str] = "docid"
    """The column of the counts that names documents."""

    profile: str
    wanted: tuple[Measure, ...] = field(default_factory=lambda: measures(DEFAULT))
    by: str = ""
    with_mention_type: bool = False
    alternatives: str = ""
    weights: Mapping[tuple[str, str], float] = field(default_factory=dict)
    excluded: pl.DataFrame | None = None
    ranked: bool = True
    _kept: dict[int, tuple[pl.DataFrame, pl.DataFrame]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def official(self) -> bool:
        """Whether the numbers are those of the public scorer."""
        return self.profile == "official"

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The annotations of a batch of documents, and what became of each mention.

        Examples:
            >>> mention = {"row": 0, "document": 0, "origin": 0, "record": 1, "mention": "m"}
            >>> mention |= {"label": "PER", "start": 0, "end": 5, "entity": "NIL1"}
            >>> corpus = Corpus(documents=[{"row": 0, "name": "d"}], mentions=[mention])
            >>> metric = LinkMatch("plan", measures(["strong_typed_all_match"]))
            >>> total = metric.total([metric.statistics(corpus, corpus)[0]])
            >>> metric.score(total)[0]["strong_typed_all_match.fscore"]
            1.0
        """
        reference, system = align(reference, system)
        sides = [
            annotated(
                corpus,
                system=side,
                with_mention_type=self.with_mention_type,
                joined=self.official and not self.alternatives,
                split=bool(self.alternatives) and not side,
            )
            for side, corpus in ((False, reference), (True, system))
        ]
        table = pl.concat(sides)
        if self.excluded is not None:
            table = outside(table, self.excluded)
        return table, errors.alignment(table, reference, system) if alignment else None

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The annotations of several batches as one table (`ANNOTATIONS`)."""
        return pl.concat([pl.DataFrame(schema=dict(ANNOTATIONS)), *_numbered(counts)])

    def results(self, total: pl.DataFrame) -> pl.DataFrame:
        """The figures of all measures over annotations (`RESULTS`), worked out once."""
        if id(total) not in self._kept:
            # the annotations are kept as well, so that no others can take their id
            self._kept[id(total)] = (total, self._measured(total))
        return self._kept[id(total)][1]

    def _selected(self, total: pl.DataFrame) -> pl.DataFrame:
        """The annotations with one candidate each."""
        if self.alternatives:
            total = chosen(total, self.alternatives, official=self.official)
        return total.filter(pl.col("rank") == 1)

    def counting(self, total: pl.DataFrame) -> Counting:
        """The annotations as what is counted."""
        whole = coded(self._selected(total), official=self.official)
        return Counting(whole, self.weights, official=self.official)

    def parts(self, names: Iterable[str] | None = None) -> tuple[Scorer, ...]:
        """The metric as several: those measures whose counts add up, and all others.

        Args:
            names: of the values that are wanted, such as `muc.fscore`; all if not given.

        Raises:
            WrongMeasure: for a name that is none.
        """
        if names is None and self.by:
            return (self,)  # averages over groups are among its values
        wanted = self.wanted if names is None else tuple(map(_measure_of, names))
        parts = [
            replace(self, wanted=some, by="", ranked=False, _kept={})
            for additive in (True, False)
            if (some := tuple(one for one in wanted if one.additive == additive))
        ]
        return tuple(SummedMatch(one) if one.wanted[0].additive else one for one in parts)

    def _measured(self, total: pl.DataFrame) -> pl.DataFrame:
        counting = self.counting(total)
        parts = [pl.DataFrame(schema=dict(RESULTS))]
        parts += [self._figures(counting, one, asked=True) for one in self.wanted]
        if self.ranked and PRIMARY not in {one.name for one in self.wanted}:
            parts.append(self._figures(counting, parse(PRIMARY), asked=False))
        notes = [{"measure": note, "by": "note"} for note in counting.notes()]
        return pl.concat([*parts, pl.DataFrame(notes, schema=dict(RESULTS))])

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, pl.DataFrame]]:
        """The figures by name, the table `scorings`, and by group the table `groups`."""
        results = self.results(total)
        averaged = pl.col("group").is_in(AVERAGES)
        rows = results.filter((pl.col("by") == "") | (pl.col("by") != "note") & averaged)
        metrics = {
            f"{row['measure']}.{name}": row[name]
            for row in rows.iter_rows(named=True)
            for name in FIGURES
        }
        tables = {"scorings": _long(rows)}
        if self.by:
            grouped = results.filter(
                pl.col("by") == self.by, ~averaged.fill_null(value=False), "asked"
            )
            tables["groups"] = grouped.drop("asked", "fractional")
        return metrics, tables

    def analysis(
        self, aligned: pl.DataFrame, total: pl.DataFrame
    ) -> tuple[dict[str, pl.DataFrame], dict[str, str]]:
        """Tables and files of what went wrong.

        Returns:
            The tables `errors` (how many mentions by document and type) and `clusters`; and a
            listing for people.
        """
        whole = coded(self._selected(total), official=False)
        rows = whole.rows.select("system", item="span", cluster="eid", group=pl.lit(0, pl.Int64))
        clusters = errors.clusters(rows, whole.names["eid"])
        tables = {"errors": errors.by_document(aligned), "clusters": clusters}
        return tables, {"errors.txt": errors.listing(aligned, clusters)}

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What a reader of the numbers must know."""
        return tuple(self.results(total).filter(pl.col("by") == "note")["measure"])

    def files(self, total: pl.DataFrame) -> dict[str, str]:
        """The public scorer's table and JSON; none in the profile `plan`."""
        if not self.official:
            return {}
        rows = self.results(total).filter(pl.col("by") == self.by, "asked").to_dicts()
        return {"evaluation.tab": files.table(rows), "evaluation.json": files.as_json(rows)}

    def _figures(self, counting: Counting, measure: Measure, *, asked: bool) -> pl.DataFrame:
        """The figures of a measure over all, and by group where that is wanted."""
        parts = []
        if measure.by:
            averages = self._averages(counting.counts(measure, measure.by), measure, measure.by)
            named = averages.filter(pl.col("measure") == measure.name)
            parts.append(named.with_columns(pl.lit("").alias("by")))
        else:
            parts.append(self._rated(counting.counts(measure, ""), measure, ""))
        if self.by and not measure.by:
            counts = counting.counts(measure, self.by)
            said = [f"{GROUPINGS[self.by]}={json.dumps(group)}" for group in counts["group"]]
            names = pl.Series([f"{measure.name};{one}" for one in said], dtype=pl.String)
            parts.append(self._rated(counts, measure, self.by).with_columns(measure=names))
            parts.append(self._averages(counts, measure, self.by))
        fractional = measure.fractional or (bool(self.weights) and measure.aggregate == "sets")
        # an average of nothing is a whole 0, as the public scorer has it
        sums = pl.lit(fractional) & pl.col("fractional") | (pl.col("group") == "<macro>")
        return pl.concat(parts).with_columns(asked=pl.lit(asked), fractional=sums)

    def _averages(self, counts: pl.DataFrame, measure: Measure, by: str) -> pl.DataFrame:
        """The sum of counts by group with its figures, and the mean of the groups' figures."""
        said = f"{measure.name.partition(';docid=<')[0].partition(';type=<')[0]};{GROUPINGS[by]}"
        summed = counts.select(pl.lit("<micro>").alias("group"), pl.col(*COUNTS).sum())
        if measure.aggregate == "blanc":  # a mean has no counts to be summed
            nothing = pl.lit(None, pl.Float64)
            summed = summed.with_columns(nothing.alias(name) for name in FIGURES)
        micro = self._rated(summed, measure, by).with_columns(
            measure=pl.lit(f"{said}=<micro>"), fractional=pl.lit(not counts.is_empty())
        )
        macro = self._rated(counts, measure, by).select(
            pl.lit(f"{said}=<macro>").alias("measure"),
            *(pl.lit(by).alias("by"), pl.lit("<macro>").alias("group")),
            *(pl.lit(value=True).alias(name) for name in ("asked", "fractional")),
            pl.col(*FIGURES).mean(),
        )
        return pl.concat([micro, macro])

    def _rated(self, counts: pl.DataFrame, measure: Measure, by: str) -> pl.DataFrame:
        """Counts with precision, recall and F-score."""
        if measure.aggregate == "blanc":
            rated = counts
        else:
            rated = counts.with_columns(
                precision=self._ratio(pl.col("ptp"), pl.col("ptp") + pl.col("fp")),
                recall=self._ratio(pl.col("rtp"), pl.col("rtp") + pl.col("fn")),
            ).with_columns(fscore=self._harmonic())
        rated = rated.with_columns(
            measure=pl.lit(measure.name),
            by=pl.lit(by),
            asked=pl.lit(value=True),
            fractional=pl.lit(value=True),
        )
        return rated.select(list(RESULTS))

    def _harmonic(self) -> pl.Expr:
        """The harmonic mean of precision and recall."""
        precision, recall = pl.col("precision"), pl.col("recall")
        return self._ratio(2 * precision * recall, precision + recall)

    def _ratio(self, part: pl.Expr, whole: pl.Expr) -> pl.Expr:
        """A ratio; undefined where it is 0/0, and a 0 in the public scorer."""
        undefined = pl.lit(0.0 if self.official else None, dtype=pl.Float64)
        return pl.when(whole == 0).then(undefined).otherwise(part / whole)


@dataclass(frozen=True)
class SummedMatch:
    """Measures whose counts add up: those of many replicates are weighted sums over documents."""

    unit: ClassVar[str] = LinkMatch.unit

    match: LinkMatch

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The annotations of several batches as one table (`ANNOTATIONS`)."""
        return self.match.total(counts)

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, pl.DataFrame]]:
        """The figures by name, and the table `scorings`."""
        return self.match.score(total)

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The figures, for each way to weigh the documents."""
        counting = self.match.counting(self.match.total([counts]))
        found: Replicates = {}
        for measure in self.match.wanted:
            each = counting.documents(measure).rename({"group": "document"})
            figures = self._figures(weighted(each, COUNTS, documents, weights))
            found |= {f"{measure.name}.{name}": figures[name] for name in FIGURES}
        return found

    def _figures(self, counts: Mapping[str, Numbers]) -> dict[str, NDArray[np.float64]]:
        """Counts with precision, recall and F-score; see `LinkMatch`."""
        ptp, fp, rtp, fn = (counts[name].astype(np.float64) for name in COUNTS)
        precision, recall = self._ratio(ptp, ptp + fp), self._ratio(rtp, rtp + fn)
        fscore = self._ratio(2 * precision * recall, precision + recall)
        rates = {"precision": precision, "recall": recall, "fscore": fscore}
        return {**rates, "ptp": ptp, "fp": fp, "rtp": rtp, "fn": fn}

    def _ratio(self, part: Numbers, whole: Numbers) -> NDArray[np.float64]:
        """Ratios; undefined where they are 0/0, and 0 in the public scorer."""
        found = ratio(part, whole)
        return np.where(whole == 0, 0.0, found) if self.match.official else found


def _measure_of(name: str) -> Measure:
    """The measure that gives a value."""
    said, _, figure = name.rpartition(".")
    if figure not in FIGURES:
        figures = ", ".join(FIGURES)
        raise WrongMeasure(f"add a point and one of {figures}, as in {name}.fscore")
    return parse(said)


def _long(rows: pl.DataFrame) -> pl.DataFrame:
    """The table `scorings`: a figure a row."""
    kept = rows.select("measure", *FIGURES)
    long = kept.with_row_index("place").unpivot(
        FIGURES, index=["place", "measure"], variable_name="figure"
    )
    order = pl.col("figure").replace_strict({name: at for at, name in enumerate(FIGURES)})
    return long.sort("place", order).select(
        pl.lit("Measures").alias("evaluation"),
        pl.col("measure").alias("scoring"),
        pl.col("figure").alias("measure"),
        "value",
    )


def _numbered(counts: Iterable[pl.DataFrame]) -> Iterable[pl.DataFrame]:
    """The annotations of batches, the rows of one numbered behind those of the one before."""
    offset = 0
    for table in counts:
        yield table.with_columns(pl.col("row") + offset)
        largest = table["row"].max()
        offset += largest + 1 if isinstance(largest, int) else 0

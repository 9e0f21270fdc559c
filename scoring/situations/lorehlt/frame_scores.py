"""The values of all metrics of situation frames, each family computed when it is asked for.

A metric is named by its family and by what it is of: `ndcg.standard`, `map.type,place`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType

import numpy as np
import polars as pl

from hlteval.scoring.metric import Replicates, Weights
from hlteval.scoring.ratios import ratio
from hlteval.scoring.resampling import weighted
from hlteval.scoring.situations.lorehlt import frame_sides, official_sides
from hlteval.scoring.situations.lorehlt import frame_sides as sec
from hlteval.scoring.situations.lorehlt.frame_matches import (
    COUNTS,
    FrameMatches,
    averages,
    frame_matches,
    mean,
    official_averages,
)
from hlteval.scoring.situations.lorehlt.frame_sides import Annotations, Sides
from hlteval.scoring.situations.lorehlt.official_stops import Stops, stops
from hlteval.scoring.situations.lorehlt.ranking import TIE_BREAKS, Ranking, ranking, situations

Values = Iterator[tuple[str, float | None]]
#: The N of precision at N among the metrics; the table `precision_at` has every N.
NUMBERS = (1, 2, 3, 5, 10, 20, 50, 100)
LEVELS = ("high", "medium")
_RATES = ("precision", "recall", "f1")


@dataclass(frozen=True, eq=False)
class ScoredFrames:
    """Both sides of a submission, and what is computed of them, each once.

    Attributes:
        annotations: both sides.
    """

    annotations: Annotations

    @property
    def official(self) -> bool:
        """Whether the public scorer is followed."""
        return self.annotations.official

    @cached_property
    def _rankings(self) -> dict[tuple[str, str], Ranking]:
        return {}

    def ranking(self, kind: str, of: str = "drawn") -> Ranking:
        """The situations ranked by a kind of gravity.

        Args:
            kind: `boolean` or `numeric`.
            of: `drawn` for one annotation of each document, `combined` for all, `text` for that of
                text only.
        """
        if (kind, of) not in self._rankings:
            self._rankings[kind, of] = self._ranked(kind, of)
        return self._rankings[kind, of]

    def _ranked(self, kind: str, of: str) -> Ranking:
        both = self.annotations.combined if of == "combined" else self.annotations.drawn
        both = both.text_only if of == "text" else both
        if of != "drawn" and both is self.annotations.drawn:
            return self.ranking(kind)
        return ranked(both.above_cutoff, kind)

    @property
    def shown_kind(self) -> str:
        """The kind of gravity that precision at N, tables and official files show."""
        return self.annotations.options.gravity

    @property
    def shown(self) -> Ranking:
        """The ranking by that gravity."""
        return self.ranking(self.shown_kind)

    @cached_property
    def averages(self) -> dict[str, pl.DataFrame]:
        """Average precision and recall of each situation, by class."""
        names = frame_sides.SITUATION_CLASSES
        if self.official:
            both = self.annotations.drawn
            return {name: official_averages(both.reference, both.system, name) for name in names}
        return {name: averages(self._matches(name).above_cutoff()) for name in names}

    def _matches(self, name: str) -> FrameMatches:
        """The frames of a class, which are compared once."""
        if name not in self._compared:
            annotations = self.annotations
            both = annotations.of_any_confidence if self.official else annotations.combined
            self._compared[name] = frame_matches(
                both.reference,
                both.system,
                name,
                cutoff=annotations.options.cutoff,
                official=self.official,
            )
        return self._compared[name]

    @cached_property
    def _compared(self) -> dict[str, FrameMatches]:
        return {}

    @cached_property
    def matches(self) -> dict[str, FrameMatches]:
        """The frames that are right, by class."""
        return {name: self._matches(name) for name in frame_sides.CLASSES}

    @cached_property
    def curves(self) -> dict[str, FrameMatches]:
        """The frames of which curves are drawn, by class: in `plan`, grave frames too (16.2.6)."""
        grave = {} if self.official else {frame_sides.GRAVE: self._matches(frame_sides.GRAVE)}
        return self.matches | grave

    @cached_property
    def sentiments(self) -> dict[str, pl.DataFrame]:
        """The sentiments of each target that are right, by class (`plan`)."""
        reference, system = self.annotations.drawn.above_cutoff.sentiments
        return {name: sec.matched(reference, system, name) for name in sec.SENTIMENT_CLASSES}

    @cached_property
    def sentiment_rates(self) -> dict[str, dict[str, float | None]]:
        """The averages over all frames that have sentiments, by class (`plan`)."""
        return {name: sec.averaged(counts) for name, counts in self.sentiments.items()}

    @cached_property
    def official_sentiments(self) -> dict[str, dict[str, official_sides.Rates]]:
        """The public scorer's rates, by class of frames and then by measure."""
        reference, system = self.annotations.drawn.sentiments
        return {
            name: official_sides.counted(reference, system, name) for name in official_sides.KEYS
        }

    @cached_property
    def stops(self) -> Stops:
        """Where the public scorer stops; nowhere in `plan`."""
        return stops(self.annotations) if self.official else Stops()

    @cached_property
    def stopped(self) -> bool:
        """Whether the public scorer stops before it ranks anything."""
        return bool(self.stops.everything)


def ranked(both: Sides, kind: str) -> Ranking:
    """The situations of both sides, ranked by a kind of gravity."""
    exact = not both.official
    frames = list(both.last_frames)
    if kind == "numeric":
        pairs = zip(frames, both.emotional, strict=True)
        frames = [frame_sides.with_emotions(table, felt) for table, felt in pairs]
    measure = frame_sides.numeric if kind == "numeric" else frame_sides.boolean
    parts = frame_sides.PARTS if exact else 1
    reference, system = (
        situations(table.with_columns(gravity=measure(official=both.official)), parts)
        for table in frames
    )
    options = both.options
    return ranking(
        reference,
        system,
        options.gain_table(official=both.official),
        discount=options.discount(official=both.official),
        official=both.official,
    )


def _ndcg(scored: ScoredFrames, kind: str, of: str) -> Values:
    stopped = scored.stopped or (kind == "numeric" and bool(scored.stops.numeric))
    for ties in TIE_BREAKS:
        yield ties, None if stopped else scored.ranking(kind, of).last(ties)


def _precision_at(scored: ScoredFrames) -> Values:
    if scored.stopped or (scored.shown_kind == "numeric" and scored.stops.numeric):
        yield from dict.fromkeys((*map(str, NUMBERS), *LEVELS)).items()
        return
    table = scored.shown
    gains = scored.annotations.options.gain_table(official=scored.official)
    high = table.high(gains)
    medium = int((table.reference["gravity"] >= gains.medium_from).sum())
    # the public scorer goes no further than the situations of high gravity
    most = high if scored.official else table.reference.height
    precisions = table.precisions(most).tolist() if most else []
    for number in NUMBERS:
        yield str(number), precisions[number - 1] if number <= most else None
    for level, size in zip(LEVELS, (high, medium), strict=True):
        yield level, precisions[size - 1] if 0 < size <= most else None


def _situation_average(scored: ScoredFrames, column: str) -> Values:
    for name in frame_sides.SITUATION_CLASSES:
        yield name, None if scored.stopped else mean(scored.averages[name][column])


def _area(scored: ScoredFrames) -> Values:
    curves = {} if scored.stopped else scored.curves
    for name in (*frame_sides.CLASSES, frame_sides.GRAVE):
        yield name, curves[name].area() if name in curves else None


def _frame_rate(scored: ScoredFrames, rate: str) -> Values:
    for name, matches in _matches(scored):
        yield name, matches.rates[rate] if matches else None


def _matches(scored: ScoredFrames) -> Iterator[tuple[str, FrameMatches | None]]:
    for name in frame_sides.CLASSES:
        yield name, None if scored.stopped else scored.matches[name]


def _sentiment_rate(scored: ScoredFrames, rate: str) -> Values:
    """The sentiments of a profile; the classes of the other one are undefined."""
    for name in sec.SENTIMENT_CLASSES:
        yield name, None if scored.official else scored.sentiment_rates[name][rate]
    uncounted = not scored.official or bool(scored.stops.sentiments)
    for name in official_sides.KEYS:
        for measure in official_sides.MEASURES:
            rates = None if uncounted else scored.official_sentiments[name][measure]
            yield f"{measure}:{name}", getattr(rates, rate) if rates else None


#: The families of metrics, in order; each gives the endings of its names with their values.
FAMILIES: Mapping[str, Callable[[ScoredFrames], Values]] = MappingProxyType(
    {
        "ndcg": partial(_ndcg, kind="boolean", of="drawn"),
        "ndcg_sec": partial(_ndcg, kind="numeric", of="drawn"),
        "ndcg_text": partial(_ndcg, kind="boolean", of="text"),
        "ndcg_sec_text": partial(_ndcg, kind="numeric", of="text"),
        "ndcg_combined": partial(_ndcg, kind="boolean", of="combined"),
        "precision_at": _precision_at,
        "map": partial(_situation_average, column="average_precision"),
        "mar": partial(_situation_average, column="recall"),
        "auc": _area,
        **{f"frame_{rate}": partial(_frame_rate, rate=rate) for rate in ("f1", *_RATES[:2])},
        **{f"sec_{rate}": partial(_sentiment_rate, rate=rate) for rate in ("f1", *_RATES[:2])},
    }
)


# The metrics of situation frames whose counts add over documents, for many resamples at once.
#
# Frames of documents are right or wrong by themselves, and so are the sentiments of frames; so
# their rates in a resample follow from weighted sums. Situations run through all documents, and
# have none.


RATES = ("precision", "recall", "f1")
FRAMES = tuple(f"frame_{rate}" for rate in RATES)
SENTIMENTS = tuple(f"sec_{rate}" for rate in RATES)


def additive_families(*, official: bool) -> tuple[str, ...]:
    """The families whose counts add; the public scorer pools sentiments in its own way."""
    return FRAMES if official else (*FRAMES, *SENTIMENTS)


def replicates(
    scored: ScoredFrames, families: Sequence[str], documents: Sequence[str], weights: Weights
) -> Replicates:
    """The values of some additive families in each replicate.

    Args:
        scored: both sides.
        families: of the metrics.
        documents: the names of the columns of `weights`.
        weights: a row per replicate, a column per document.
    """
    found: Replicates = {}
    if not {*FRAMES}.isdisjoint(families):
        found |= dict(_frames(scored, documents, weights))
    if not {*SENTIMENTS}.isdisjoint(families):
        found |= dict(_sentiments(scored, documents, weights))
    return {name: values for name, values in found.items() if name.partition(".")[0] in families}


def _frames(
    scored: ScoredFrames, documents: Sequence[str], weights: Weights
) -> Iterator[tuple[str, np.ndarray]]:
    for name, matches in scored.matches.items():
        counts = (
            matches.counts().rename({"docid": "document"}).cast(dict.fromkeys(COUNTS, pl.Int64))
        )
        sums = weighted(counts, COUNTS, documents, weights)
        rates = matches.rated(*(sums[column] for column in COUNTS))
        for rate, own in rates._asdict().items():
            yield f"frame_{rate}.{name}", np.full_like(own, np.nan) if scored.stopped else own


def _sentiments(
    scored: ScoredFrames, documents: Sequence[str], weights: Weights
) -> Iterator[tuple[str, np.ndarray]]:
    for name, counts in scored.sentiments.items():
        sums = (
            sec.rates(counts)
            .group_by(document="docid")
            .agg(
                *(pl.col(rate).sum().alias(f"{rate}_sum") for rate in RATES),
                *(pl.col(rate).count().cast(pl.Float64).alias(f"{rate}_frames") for rate in RATES),
            )
        )
        columns = [column for column in sums.columns if column != "document"]
        totals = weighted(sums, columns, documents, weights)
        for rate in RATES:
            yield f"sec_{rate}.{name}", ratio(totals[f"{rate}_sum"], totals[f"{rate}_frames"])


# The distribution of scores over random draws of annotators (section 16.2.1, last paragraph).


#: The families that one annotator of each document decides; the others have all annotators.
_DRAWN = ("ndcg", "ndcg_sec", "ndcg_text", "ndcg_sec_text", "precision_at", *SENTIMENTS)
_OFFICIAL = (*_DRAWN, "map", "mar", "auc", *FRAMES)
_TAIL = 0.025
DRAWS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "draw": pl.Int64,
    "metric": pl.String,
    "value": pl.Float64,
}


def draws(scored: ScoredFrames) -> pl.DataFrame:
    """The values of each draw (`DRAWS`); documents with one annotator are the same in all."""
    annotations = scored.annotations
    families = _OFFICIAL if scored.official else _DRAWN
    rows = []
    for number in range(1, annotations.options.draws + 1):
        own = ScoredFrames(annotations.redrawn(annotations.seed + number))
        rows += [
            (number, f"{family}.{ending}", value)
            for family in families
            if not (annotations.options.no_sec and family.startswith(("ndcg_sec", "sec_")))
            for ending, value in FAMILIES[family](own)
        ]
    return pl.DataFrame(rows, schema=dict(DRAWS), orient="row").fill_nan(None)


def distribution(table: pl.DataFrame) -> pl.DataFrame:
    """The mean, the standard deviation, and the middle 95 % of the draws, by metric.

    Examples:
        >>> table = pl.DataFrame([(1, "m", 0.0), (2, "m", 1.0)], schema=DRAWS, orient="row")
        >>> distribution(table).select("metric", "mean").row(0)
        ('m', 0.5)
    """
    value = pl.col("value")
    return table.group_by("metric", maintain_order=True).agg(
        draws=value.count().cast(pl.Int64),
        mean=value.mean(),
        deviation=value.std(),
        low=value.quantile(_TAIL, "linear"),
        high=value.quantile(1 - _TAIL, "linear"),
    )

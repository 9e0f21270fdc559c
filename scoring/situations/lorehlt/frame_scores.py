"""The values of all metrics of situation frames, each family computed when it is asked for.

A metric is named by its family and by what it is of: `ndcg.standard`, `map.type,place`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar

import polars as pl

from hlteval.findings.counts import count_of
from hlteval.scoring.metric import Replicates, Weights
from hlteval.scoring.ratios import ratio
from hlteval.scoring.resampling import weighted
from hlteval.scoring.situations.lorehlt import frame_sides as sec
from hlteval.scoring.situations.lorehlt.frame_matches import COUNTS, FrameMatches, averages, mean
from hlteval.scoring.situations.lorehlt.frame_rows import is_nil
from hlteval.scoring.situations.lorehlt.frame_sides import (
    CLASSES,
    GRAVE,
    SITUATION_CLASSES,
    STATUS,
    Annotations,
    compared,
)
from hlteval.scoring.situations.lorehlt.ranking import TIE_BREAKS, Ranking

#: The N of precision at N among the metrics; the table `precision_at` has every N.
NUMBERS = (1, 2, 3, 5, 10, 20, 50, 100)
RATES = ("precision", "recall", "f1")
FRAMES = tuple(f"frame_{rate}" for rate in RATES)
SENTIMENTS = tuple(f"sec_{rate}" for rate in RATES)
_POOLED = tuple(
    f"{measure}:{name}"
    for name in ("type,place", STATUS)
    for measure in ("polarity", "sentiment", "emotion")
)

#: The gravity of each nDCG, and what it is of (section 16.3).
RANKINGS = {
    "ndcg": ("boolean", "drawn"),
    "ndcg_sec": ("numeric", "drawn"),
    "ndcg_text": ("boolean", "text"),
    "ndcg_sec_text": ("numeric", "text"),
    "ndcg_combined": ("boolean", "combined"),
}
#: The columns of `averages` whose means over all situations are metrics.
AVERAGES = {"map": "average_precision", "mar": "recall"}
#: The families of metrics, in order, with the endings of their names.
FAMILIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(RANKINGS, TIE_BREAKS),
        "precision_at": (*map(str, NUMBERS), "high", "medium"),
        **dict.fromkeys(AVERAGES, SITUATION_CLASSES),
        "auc": (*CLASSES, GRAVE),
        **dict.fromkeys(("frame_f1", *FRAMES[:2]), tuple(CLASSES)),
        **dict.fromkeys(("sec_f1", *SENTIMENTS[:2]), (*sec.SENTIMENT_CLASSES, *_POOLED)),
    }
)


@dataclass(frozen=True, eq=False)
class ScoredFrames:
    """Both sides of a submission, and what is computed of them, each once.

    Attributes:
        annotations: both sides.
    """

    annotations: Annotations

    #: How both sides are read.
    reading: ClassVar[type[Annotations]] = Annotations
    #: The families whose counts add over documents, so that they are resampled as sums: frames of
    #: documents and sentiments of frames are right by themselves. Situations run through documents.
    additive: ClassVar[tuple[str, ...]] = (*FRAMES, *SENTIMENTS)
    #: The families that one annotator of each document decides; the others have all annotators.
    drawn: ClassVar[tuple[str, ...]] = (
        *("ndcg", "ndcg_sec", "ndcg_text", "ndcg_sec_text", "precision_at"),
        *SENTIMENTS,
    )
    #: Whether there is nothing to rank or to compare but sentiments.
    is_stopped: ClassVar[bool] = False

    def values(self, family: str) -> Iterator[tuple[str, float | None]]:
        """The values of a family by the endings of their names."""
        for ending in FAMILIES[family]:
            yield ending, self.value(family, ending)

    def value(self, family: str, ending: str) -> float | None:
        """The value of a metric, by section 16.3 of the plan; None where undefined."""
        if family in RANKINGS:
            return self.ranking(*RANKINGS[family]).last(ending)  # type: ignore[arg-type]
        if family == "precision_at":
            return self.precision_at(ending)
        if family in AVERAGES:
            return mean(self.averages[ending][AVERAGES[family]])
        if family == "auc":
            return self.matches[ending].area() if ending in self.matches else None
        kind, _, rate = family.partition("_")
        rates = self.matches[ending].rates if kind == "frame" else self.sentiment_rates.get(ending)
        return rates[rate] if rates else None

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
        drawn = self.annotations.drawn
        both = self.annotations.combined if of == "combined" else drawn
        both = both.text_only if of == "text" else both
        if of != "drawn" and both is drawn:
            return self.ranking(kind)
        if (kind, of) not in self._rankings:
            self._rankings[kind, of] = both.above_cutoff.ranking(kind)
        return self._rankings[kind, of]

    @property
    def shown(self) -> Ranking:
        """The ranking by the gravity that precision at N, tables and official files show."""
        return self.ranking(self.annotations.options.gravity)

    def precision_at(self, ending: str) -> float | None:
        """Precision at a number, or at the number of situations of a gravity (section 16.2.5)."""
        number = int(ending) if ending.isdecimal() else getattr(self.shown, ending)
        return float(self.shown.precisions[number - 1]) if 0 < number <= self.ranks else None

    @property
    def ranks(self) -> int:
        """The greatest N for which there is a precision."""
        return self.shown.reference.height

    @cached_property
    def averages(self) -> dict[str, pl.DataFrame]:
        """Average precision and recall of each situation, by class (section 16.2.4)."""
        return {name: averages(self.matches[name]) for name in SITUATION_CLASSES}

    @cached_property
    def matches(self) -> Mapping[str, FrameMatches]:
        """The frames that are right, by class, in all annotations (sections 16.2.6 and 16.2.7)."""
        both, cutoff = self.annotations.combined, self.annotations.options.cutoff
        return {
            name: FrameMatches(compared(both.reference, both.system, name), cutoff)
            for name in (*CLASSES, GRAVE)
        }

    @cached_property
    def sentiments(self) -> dict[str, pl.DataFrame]:
        """The sentiments of each target that are right, by class (section 16.2.7)."""
        reference, system = self.annotations.drawn.above_cutoff.sentiments
        return {name: sec.matches(reference, system, name) for name in sec.SENTIMENT_CLASSES}

    @cached_property
    def sentiment_rates(self) -> Mapping[str, Mapping[str, float | None]]:
        """The rates of sentiments, by class: averages over all frames that have sentiments."""
        return {name: sec.averages(counts) for name, counts in self.sentiments.items()}

    def replicates(
        self, families: Sequence[str], documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The values of some additive families in each replicate, from weighted sums of counts.

        Args:
            families: of the metrics.
            documents: the names of the columns of `weights`.
            weights: a row per replicate, a column per document.
        """
        values: Replicates = {}
        for name in CLASSES if {*FRAMES} & {*families} else ():
            matches = self.matches[name]
            counts = matches.counts().rename({"docid": "document"})
            counts = counts.cast(dict.fromkeys(COUNTS, pl.Int64))
            sums = weighted(counts, COUNTS, documents, weights)
            rates = matches.rates_of(*(sums[column] for column in COUNTS))
            values |= {f"frame_{rate}.{name}": own for rate, own in rates._asdict().items()}
        for name, counts in self.sentiments.items() if {*SENTIMENTS} & {*families} else ():
            of_targets = sec.rates(counts).group_by(document="docid")
            added = of_targets.agg(
                *(pl.col(rate).sum().alias(f"{rate}_sum") for rate in RATES),
                *(pl.col(rate).count().cast(pl.Float64).alias(f"{rate}_frames") for rate in RATES),
            )
            totals = weighted(added, added.columns[1:], documents, weights)
            for rate in RATES:
                share = ratio(totals[f"{rate}_sum"], totals[f"{rate}_frames"])
                values[f"sec_{rate}.{name}"] = share
        return {name: own for name, own in values.items() if name.partition(".")[0] in families}

    def notes(self) -> Iterator[str]:
        """What a reader of the values must know, in order."""
        yield from self.notes_of_frames()
        if self.annotations.mentions is None:
            yield from self._notes_of_names()

    def notes_of_frames(self) -> Iterator[str]:
        """The frames that are not scored, how they would be, and the annotators that are drawn."""
        annotations = self.annotations
        frames, options = annotations.unscored_frames, annotations.options
        if frames.height:
            documents = frames["docid"].n_unique()
            were = "was" if frames.height == 1 else "were"
            note = (
                f"{count_of(frames.height, 'frame')} of {count_of(documents, 'document')} {were} "
                "not scored"
            )
            if options.scored is None:
                yield f"{note}; list documents that were annotated and are empty with --scored"
            else:
                yield f"{note}: --scored does not list {'it' if documents == 1 else 'them'}"
        if annotations.cropped:
            yield (
                f"only the {options.max_frames:,} most confident frames of the submission are "
                f"scored; {annotations.cropped:,} are left out"
            )
        if number := annotations.several:
            several = "1 document has" if number == 1 else f"{number:,} documents have"
            how = f"drawn with seed {annotations.seed}" if options.annotators is None else "given"
            yield f"{several} several annotators; one of each is {how}: see the table annotators"

    def _notes_of_names(self) -> Iterator[str]:
        """The NIL identifiers of the system that nothing resolves, and what would resolve them."""
        annotations = self.annotations
        tables = {"source": annotations.drawn.system_felt, "place": annotations.system}
        if annotations.options.no_sec:
            del tables["source"]
        numbers = {
            column: table.filter(is_nil(column))[column].n_unique()
            for column, table in tables.items()
        }
        names = [count_of(number, f"NIL {column}") for column, number in numbers.items() if number]
        if names:
            lacking = {
                "--system-edl": annotations.system_mentions,
                "--reference-edl": annotations.options.reference_edl,
            }
            flags = [flag for flag, table in lacking.items() if table is None or table.is_empty()]
            were = "was" if sum(numbers.values()) == 1 else "were"
            resolve = "resolves" if len(flags) == 1 else "resolve"
            yield (
                f"{' and '.join(names)} of the submission {were} compared by name; "
                f"{' and '.join(flags)} {resolve} {'it' if were == 'was' else 'them'}"
            )

    def files(self) -> dict[str, str]:
        """The files that the software of a profile writes."""
        return {}


# The distribution of scores over random draws of annotators (section 16.2.1, last paragraph).


_TAIL = 0.025
DRAWS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "draw": pl.Int64,
    "metric": pl.String,
    "value": pl.Float64,
}


def draws(scored: ScoredFrames) -> pl.DataFrame:
    """The values of each draw (`DRAWS`); documents with one annotator are the same in all."""
    annotations = scored.annotations
    rows = []
    for number in range(1, annotations.options.draws + 1):
        other = type(scored)(annotations.redrawn(annotations.seed + number))
        rows += [
            (number, f"{family}.{ending}", value)
            for family in scored.drawn
            if not (annotations.options.no_sec and family.startswith(("ndcg_sec", "sec_")))
            for ending, value in other.values(family)
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

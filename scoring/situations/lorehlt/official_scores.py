"""The scores of LoReHLT 2019 as the public scorer has them, and the files that it writes.

The files have its names and its spelling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import polars as pl

from hlteval.scoring.metric import Replicates, Weights
from hlteval.scoring.situations.lorehlt.frame_matches import FrameMatches, mean
from hlteval.scoring.situations.lorehlt.frame_scores import FRAMES, RATES, ScoredFrames
from hlteval.scoring.situations.lorehlt.frame_sides import (
    CLASSES,
    GRAVE,
    SITUATION_CLASSES,
    STATUS,
    Annotations,
)
from hlteval.scoring.situations.lorehlt.official_matches import OfficialMatches, official_averages
from hlteval.scoring.situations.lorehlt.official_sides import (
    KEYS,
    MEASURES,
    OfficialAnnotations,
    Rates,
    sentiment_rates,
)
from hlteval.scoring.situations.lorehlt.official_stops import Stops, stops
from hlteval.scoring.situations.lorehlt.ranking import TIE_BREAKS, TieBreak

#: What is missing where the scorer stops, by the fields of `Stops`.
_MISSING = {
    "reading": "no official score",
    "ranking": "no official scores but those of sentiments",
    "numeric": "no official ndcg_sec",
    "sentiments": "no official scores of sentiments",
}
#: Its sort is stable up to this number of situations.
_STABLE = 16
_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "type": "Type",
        "type,place": "TypePlace",
        STATUS: "TypePlaceStatus",
        f"{STATUS},urgent": "TypePlaceStatusUrgency",
        f"{STATUS},resolution": "TypePlaceStatusResolution",
        f"{STATUS},urgent,resolution": "TypePlaceStatusUrgencyResolution",
    }
)
_SITUATIONS: Mapping[str, str] = MappingProxyType(
    {
        "type,place": "EqClass_Type+Place",
        STATUS: "EqClass_Type+Place+Status",
        f"{STATUS},urgent": "EqClass_Type+Place+Status+Urgency",
        f"{STATUS},resolution": "EqClass_Type+Place+Status+Resolution",
        f"{STATUS},urgent,resolution": "EqClass_Type+Place+Status+Urgency+Resolution",
        GRAVE: "GRAVE_EqClass_Type+Place+Status+Urgency+Resolution",
    }
)
_MISSPELT: Mapping[str, str] = MappingProxyType(
    {"TypePlaceStatusUrgency": "TypeTypePlaceStatusUrgency"}
)
#: The classes whose files have no underscore at the beginning.
_PLAIN = ("Type", "TypePlace", "TypePlaceStatus")


@dataclass(frozen=True, eq=False)
class OfficialScores(ScoredFrames):
    """The values of the public scorer, and the files that it writes."""

    reading: ClassVar[type[Annotations]] = OfficialAnnotations
    #: Sentiments are pooled.
    additive: ClassVar[tuple[str, ...]] = FRAMES
    #: All frames are compared with one annotation.
    drawn: ClassVar[tuple[str, ...]] = (*ScoredFrames.drawn, "map", "mar", "auc", *FRAMES)

    @cached_property
    def stops(self) -> Stops:
        """Where the scorer stops."""
        return stops(self.annotations)

    @property
    def is_stopped(self) -> bool:  # type: ignore[override]
        """Whether it stops before it ranks anything."""
        return bool(self.stops.reading or self.stops.ranking)

    @property
    def _lacks_shown(self) -> bool:
        """Whether it stops before it has ranked situations by the gravity that it shows."""
        numeric = self.annotations.options.gravity == "numeric"
        return self.is_stopped or (numeric and bool(self.stops.numeric))

    def value(self, family: str, ending: str) -> float | None:
        """The value of a metric; None where the scorer stops before it computes it."""
        if family.startswith("sec_"):
            lacks = bool(self.stops.sentiments)
        elif family.startswith("ndcg_sec"):
            lacks = self.is_stopped or bool(self.stops.numeric)
        elif family == "precision_at":
            lacks = self._lacks_shown
        else:
            lacks = self.is_stopped
        return None if lacks else super().value(family, ending)

    @property
    def ranks(self) -> int:
        """It goes no further than the situations of high gravity."""
        return self.shown.high

    @cached_property
    def averages(self) -> dict[str, pl.DataFrame]:
        """Average precision and recall of each situation, by class."""
        both = self.annotations.drawn
        return {
            name: official_averages(both.reference, both.system, name) for name in SITUATION_CLASSES
        }

    @cached_property
    def matches(self) -> Mapping[str, FrameMatches]:
        """The frames that are right, by class, in the annotation that is drawn."""
        both = self.annotations.of_any_confidence  # type: ignore[attr-defined]
        cutoff = self.annotations.options.cutoff
        return {
            name: OfficialMatches.of(both.reference, both.system, name, cutoff) for name in CLASSES
        }

    @cached_property
    def sentiments(self) -> dict[str, pl.DataFrame]:
        """Nothing: sentiments are not counted by target."""
        return {}

    @cached_property
    def sentiment_rates(self) -> Mapping[str, Mapping[str, float | None]]:
        """The rates of sentiments, by measure and class of frames."""
        return {
            f"{measure}:{name}": rates._asdict()
            for name, measures in self.pooled_sentiments.items()
            for measure, rates in measures.items()
        }

    @cached_property
    def pooled_sentiments(self) -> dict[str, dict[str, Rates]]:
        """The rates of sentiments, by class of frames and then by measure."""
        reference, system = self.annotations.drawn.sentiments
        return {name: sentiment_rates(reference, system, name) for name in KEYS}

    def replicates(
        self, families: Sequence[str], documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The values in each replicate; not-a-number where the scorer stops."""
        values = super().replicates(families, documents, weights)
        if self.is_stopped:
            return {name: np.full_like(own, np.nan) for name, own in values.items()}
        return values

    def notes(self) -> Iterator[str]:
        """Where the scorer stops, which frames it scores, and what its order depends on."""
        for name, reason in self.stops._asdict().items():
            skips = name in {"numeric", "sentiments"} and self.annotations.options.no_sec
            if reason and not skips:
                yield f"{_MISSING[name]}: the public scorer stops with an error, because {reason}"
            if name == "reading" and reason:
                break
        yield from self.notes_of_frames()
        if self.is_stopped:
            return
        ties = self.shown.system.filter(pl.len().over("gravity") > 1)
        if self.shown.system.height > _STABLE and ties["gain"].n_unique() > 1:
            yield (
                f"{ties.height:,} situations share their gravity with others: the order of the "
                "public scorer, and with it ndcg.standard, is that of NumPy 1.17, and another one "
                "with newer versions; vindictive and forgiving do not depend on it"
            )

    def files(self) -> dict[str, str]:
        """The files by name: those that the scorer writes before it stops.

        Numbers are written as Python shows them. Curves are in none; the scorer draws them.
        """
        counts = not self.annotations.options.no_sec
        numeric = self.annotations.options.gravity == "numeric"
        stop = self.stops
        if stop.reading or (counts and stop.sentiments) or (numeric and stop.numeric):
            return {}
        files = {"_diagnostic_SEC_scores.txt": _sentiments(self)} if counts else {}
        if stop.ranking:
            return files
        files |= {f"{ties}_nDCG_Scores.txt": _ndcg(self, ties) for ties in TIE_BREAKS}
        files |= {"DiagnosticScores.txt": _diagnostics(self), "precisionN.txt": _precisions(self)}
        for name, title in _CLASSES.items():
            begin = "" if title in _PLAIN else "_"
            files[f"{begin}F1_{title}.txt"] = _frames(self, name, title)
        return files


def _head(scored: ScoredFrames, title: str) -> str:
    return f"SF {title} Scores for Sysyem: {scored.annotations.options.system_name}\n"


def _ndcg(scored: ScoredFrames, ties: TieBreak) -> str:
    values = enumerate(scored.shown.ndcg(ties).tolist(), start=1)
    rows = [f"{rank}\t{value}\n" for rank, value in values]
    return "".join([_head(scored, "nDCG"), "k\tnDCG\n", *rows])


def _diagnostics(scored: ScoredFrames) -> str:
    lines = [_head(scored, "Diagnostic")]
    for name, table in scored.averages.items():
        for ending, column in (("MAP", "average_precision"), ("MAR", "recall")):
            value = mean(table[column])
            lines.append(f"{_SITUATIONS[name]}_{ending}: {'nan' if value is None else value}\n")
    return "".join(lines)


def _precisions(scored: ScoredFrames) -> str:
    values = scored.shown.precisions[: scored.ranks].tolist()
    rows = [f"{number}\t{value}\n" for number, value in enumerate(values, start=1)]
    nothing = ["NOTE: No high gravity situations were found\n"]
    return "".join([_head(scored, "Precision at N"), *(rows or nothing)])


def _sentiments(scored: OfficialScores) -> str:
    titles = [f"{rate.title()}{measure.title()}" for measure in MEASURES for rate in RATES]
    rows = [["EqClass", *titles]]
    for name, measures in scored.pooled_sentiments.items():
        values = [str(value) for measure in MEASURES for value in measures[measure]]
        rows.append([_SITUATIONS[name], *values])
    return "".join("\t".join(row) + "\n" for row in rows)


def _frames(scored: ScoredFrames, name: str, title: str) -> str:
    rates = scored.matches[name].rates
    return (
        f"F1_{_MISSPELT.get(title, title)}:\t{rates['f1']}\n"
        f"Precision_{title}:\t{rates['precision']}\n"
        f"Recall_{title}:\t{rates['recall']}\n"
    )

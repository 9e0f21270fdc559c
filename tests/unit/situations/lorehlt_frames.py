"""Small references and submissions of LoReHLT situation frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.situations.lorehlt.metric import SituationRanking
from hlteval.scoring.situations.lorehlt.ranking import RankingOptions

Rows = Iterable[Mapping[str, Any]]


def corpus(frames: Rows, sentiments: Rows = (), documents: Mapping[str, str] | None = None):
    """A corpus of frames with `doc`, and of sentiments with `doc` and the number of their frame."""
    frames, sentiments = list(frames), list(sentiments)
    names = dict.fromkeys([*(documents or {}), *(row["doc"] for row in frames)])
    numbers = {name: row for row, name in enumerate(names)}
    kinds = documents or {}
    return Corpus(
        documents=[
            {"row": row, "name": name, "modality": kinds.get(name, "text")}
            for name, row in numbers.items()
        ],
        frames=[
            _row(number, row, numbers) | {"kind": "situation"} for number, row in enumerate(frames)
        ],
        sentiments=[_row(number, row, numbers) for number, row in enumerate(sentiments)],
    )


def _row(number: int, row: Mapping[str, Any], documents: Mapping[str, int]) -> dict[str, Any]:
    own = {name: value for name, value in row.items() if name != "doc"}
    place = {"row": number, "document": documents[row["doc"]], "origin": 0, "record": number + 1}
    return place | own


def gold(doc: str, label: str = "food", place: str | None = "1", **more: Any) -> dict[str, Any]:
    """A grave frame of the reference."""
    row = {"doc": doc, "label": label, "place_kb": place, "place": "Ent-1" if place else None}
    row |= {"status": "current", "scope": "2_largegroup", "severity": "2_injury"}
    row |= {"resolution": "insufficient", "frame": f"Frame-{doc}-{label}-{place}"}
    if label in {"terrorism", "regimechange", "crimeviolence"}:
        row["resolution"] = None
    return row | more


def said(doc: str, label: str = "food", place: str | None = "1", **more: Any) -> dict[str, Any]:
    """A grave frame of the system."""
    row = {"doc": doc, "label": label, "place_kb": place, "status": "current", "urgent": "true"}
    row |= {"resolution": "insufficient", "confidence": 0.9}
    if label in {"terrorism", "regimechange", "crimeviolence"}:
        row["resolution"] = None
    return row | more


def scored(reference, system, profile: str = "plan", **options: Any):
    """The values, the tables, the metric and its total."""
    metric = SituationRanking(profile, RankingOptions(**options))
    total = metric.total([metric.statistics(reference, system)[0]])
    return metric, total


def values(reference, system, profile: str = "plan", **options: Any) -> dict[str, float | None]:
    """The values."""
    metric, total = scored(reference, system, profile, **options)
    return metric.score(total)[0]


def tables(reference, system, profile: str = "plan", **options: Any) -> dict[str, pl.DataFrame]:
    """The tables."""
    metric, total = scored(reference, system, profile, **options)
    return metric.score(total)[1]

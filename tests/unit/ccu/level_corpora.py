"""Small references and submissions of valence and arousal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hlteval.representation import Corpus
from hlteval.scoring.ccu.levels import LevelOptions
from hlteval.scoring.ccu.official_levels import level_diarization

Documents = Mapping[str, tuple[str, float | None]]
"""Modality and length by name."""


def gold(
    documents: Documents,
    segments: Iterable[tuple[str, float, float, Iterable[float | None]]],
    kind: str = "valence",
) -> Corpus:
    """A reference: segments with the judgments of the annotators a, b, c."""
    rows = [
        (name, start, end, level, annotator, f"{name}_{start}")
        for name, start, end, levels in segments
        for annotator, level in zip("abc", levels, strict=False)
    ]
    return Corpus(documents=_documents(documents), ratings=_ratings(documents, rows, kind))


def said(
    documents: Documents,
    levels: Iterable[tuple[str, float, float, float]],
    kind: str = "valence",
    unprocessed: Iterable[str] = (),
) -> Corpus:
    """A submission."""
    rows = [(*row, None, None) for row in levels]
    skipped = set(unprocessed)
    listed = [
        {"row": row, "name": name, "processed": name not in skipped}
        for row, name in enumerate(documents)
    ]
    return Corpus(documents=listed, ratings=_ratings(documents, rows, kind))


def _documents(documents: Documents) -> list[dict[str, Any]]:
    return [
        {"row": row, "name": name, "modality": modality, "length": length}
        for row, (name, (modality, length)) in enumerate(documents.items())
    ]


def _ratings(documents: Documents, rows: Iterable[tuple[Any, ...]], kind: str) -> list[Any]:
    numbers = {name: row for row, name in enumerate(documents)}
    return [
        {"row": row, "document": numbers[name], "origin": 0, "record": row + 1, "kind": kind}
        | {"start": float(start), "end": float(end), "annotator": annotator, "region": region}
        | {"level": None if level is None else float(level)}
        for row, (name, start, end, level, annotator, region) in enumerate(rows)
    ]


def scored(reference: Corpus, system: Corpus, profile: str = "plan", **options: Any):
    """The values, and the units."""
    kind = options.pop("kind", "valence")
    metric = level_diarization(profile, LevelOptions(**options), kind)
    counts, units = metric.statistics(reference, system)
    return metric.score(metric.total([counts]))[0], units

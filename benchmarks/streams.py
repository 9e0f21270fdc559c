"""Annotated streams of CCU: audio, video and text with norms, emotions, levels and change points.

Segments follow each other with a gap now and then. Levels wander from segment to segment; three
annotators judge them, each with some noise, and agree on most emotions.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

MODALITIES = ("text", "audio", "video")
NORMS = tuple(f"{number}" for number in range(101, 113))
EMOTIONS = ("joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation")
ANNOTATORS = ("1001", "1002", "1003")
Span = tuple[float, float]
Row = tuple[Any, ...]


class Stream(NamedTuple):
    """A document and its annotation.

    Attributes:
        name: of the document.
        modality: `text`, `audio` or `video`.
        length: in characters or seconds.
        segments: their bounds; those of text are inclusive.
        norms: a segment, a norm and a status per row.
        emotions: an annotator, a segment and emotions per row.
        levels: an annotator, a segment, valence and arousal per row; 0 for none.
        changes: points, and the strength of their impact.
    """

    name: str
    modality: str
    length: float
    segments: list[Span]
    norms: list[Row]
    emotions: list[Row]
    levels: list[Row]
    changes: list[Row]


def streams(number: int, segments: int, truth: np.random.Generator) -> Iterator[Stream]:
    """So many documents with about so many segments each."""
    for at in range(number):
        modality = MODALITIES[at % 3]
        most = int(truth.integers(max(1, segments // 2), 3 * segments // 2 + 1))
        spans, length = _segments(most, truth, text=modality == "text")
        wander = truth.normal(0, 110, (2, most)).cumsum(axis=1)
        levels = np.abs((500 + wander) % 2000 - 1000).clip(1, 999)
        judged = (levels[:, np.newaxis] + truth.normal(0, 50, (2, 3, most))).clip(1, 1000)
        rated = truth.random(most) > 0.05
        yield Stream(
            f"M{at:08}",
            modality,
            length,
            spans,
            list(_norms(most, truth)),
            list(_emotions(most, truth)),
            [
                (annotator, segment, *(judged[:, who, segment].astype(int) * rated[segment]))
                for segment in range(most)
                for who, annotator in enumerate(ANNOTATORS)
            ],
            [(round(float(place), 2), int(truth.integers(1, 5)))
             for place in truth.uniform(spans[0][0], spans[-1][1], 1 + most // 12)],
        )  # fmt: skip


def _segments(most: int, truth: np.random.Generator, *, text: bool) -> tuple[list[Span], float]:
    gaps = np.where(truth.random(most) < 0.1, truth.choice([0.5, 3.2, 40], most), 0)
    if text:
        lengths = truth.integers(60, 181, most) - 1
        starts = (lengths + 1 + gaps.astype(int)).cumsum() - lengths - 1
        spans = [
            (int(start), int(start + size)) for start, size in zip(starts, lengths, strict=True)
        ]
        return spans, spans[-1][1] + 1
    starts = (15 + gaps).cumsum() - 15 - gaps[0]
    return [(round(start, 3), round(start + 15, 3)) for start in starts.tolist()], round(
        float(starts[-1]) + 15.0 + round(float(truth.uniform(0, 60)), 3), 3
    )


def _norms(most: int, truth: np.random.Generator) -> Iterator[Row]:
    shares = 1 / np.arange(1, len(NORMS) + 1)
    chosen = truth.choice(NORMS, most, p=shares / shares.sum())
    kinds = truth.random((2, most))
    for segment, (norm, kind, status) in enumerate(zip(chosen, *kinds, strict=True)):
        if kind < 0.06:
            yield segment, "noann", "noann"
        elif kind < 0.5:
            yield segment, "none", "EMPTY_NA"
        else:
            yield segment, str(norm), "violate" if status < 0.25 else "adhere"


def _emotions(most: int, truth: np.random.Generator) -> Iterator[Row]:
    chosen, agree = truth.integers(0, 2 * len(EMOTIONS), most), truth.random((most, 3))
    for segment in range(most):
        for who, annotator in enumerate(ANNOTATORS):
            own = chosen[segment] if agree[segment, who] < 0.8 else 3 * who
            yield annotator, segment, EMOTIONS[own] if own < len(EMOTIONS) else "none"


def instances(
    stream: Stream, labels: list[str], possible: tuple[str, ...], errors: np.random.Generator
) -> Iterator[Row]:
    """What a system finds: most labels of a reference, others now and then; label, span, llr."""
    spans = stream.segments
    shifts, sure = errors.normal(0, 1, (len(spans), 2)).tolist(), errors.normal(0, 1, len(spans))
    for at, ((start, end), label) in enumerate(zip(spans, labels, strict=True)):
        right = label in possible and sure[at] > -0.8
        if not right and sure[at] > 0.3:
            continue
        low, high = max(0, start + shifts[at][0]), min(end + shifts[at][1], stream.length - 1)
        if isinstance(start, int):
            low, high = int(low), int(high)
        name = label if right else str(errors.choice(possible))
        yield name, round(low, 2), round(high, 2), round(float(sure[at]) + 2 * right, 4)


def partition(stream: Stream, errors: np.random.Generator) -> list[Span]:
    """The segments of a system: they cover the document, with bounds of its own."""
    text = stream.modality == "text"
    most = len(stream.segments)
    cuts = np.unique(errors.uniform(1, stream.length - 1, most).round(0 if text else 1)).tolist()
    bounds = [0, *cuts, stream.length]
    if text:
        return [(int(a), int(b) - 1) for a, b in pairwise(bounds)]
    return [(a, b) for a, b in pairwise(bounds) if b > a]


def found(task: str, stream: Stream, errors: np.random.Generator) -> Iterator[Row]:
    """The rows of a system in a document, as the columns of a submission have them after its name.

    Args:
        task: `nd`, `ed`, `vd`, `ad` or `cd`.
        stream: the document.
        errors: the random numbers.
    """
    if task == "nd":
        labels = {at: label for at, label, _ in stream.norms}
        own = [labels[at] for at in range(len(stream.segments))]
        for label, start, end, llr in instances(stream, own, NORMS, errors):
            yield label, start, end, "adhere", llr
    elif task == "ed":
        yield from instances(stream, [row[2] for row in stream.emotions[::3]], EMOTIONS, errors)
    elif task == "cd":
        yield from _points(stream, errors)
    else:
        yield from _levels(stream, 2 if task == "vd" else 3, errors)


def _points(stream: Stream, errors: np.random.Generator) -> Iterator[Row]:
    """Most change points, some of them too far away, and others that are none."""
    near = [(at + float(errors.normal(0, 9)), impact, 1.0) for at, impact in stream.changes]
    found = [point for point in near if errors.random() < 0.8]
    others = errors.uniform(0, stream.length, errors.poisson(1 + len(near) / 3)).tolist()
    for at, impact, sure in [*found, *((at, 2, 0.0) for at in others)]:
        llr = round(float(errors.normal(0, 1)) + sure, 4)
        point = min(max(0.0, at), stream.length)
        yield int(point) if stream.modality == "text" else round(point, 2), llr, "negative", impact


def _levels(stream: Stream, column: int, errors: np.random.Generator) -> Iterator[Row]:
    judged = np.array([row[column] for row in stream.levels[::3]])
    own = partition(stream, errors)
    starts = np.array([start for start, _ in own])
    at = np.searchsorted([start for start, _ in stream.segments], starts, side="right") - 1
    noise = errors.normal(0, errors.uniform(40, 200), len(own))
    levels = (judged[at.clip(0)] + noise).clip(1, 1000).astype(int)
    for (start, end), level in zip(own, levels.tolist(), strict=True):
        yield start, end, level


def judgments(task: str, stream: Stream) -> Iterator[dict[str, Any]]:
    """The annotation of a document, as rows of the representation."""
    spans = [{"start": float(start), "end": float(end)} for start, end in stream.segments]
    if task == "nd":
        for at, label, status in stream.norms:
            yield spans[at] | {"kind": "norm", "label": label, "status": status, "annotator": "1"}
    elif task == "ed":
        for who, at, label in stream.emotions:
            yield spans[at] | {"kind": "emotion", "label": label, "annotator": who}
    elif task == "cd":
        for at, impact in stream.changes:
            yield {"at": at, "direction": "negative", "strength": str(impact), "annotator": "1"}
    else:
        kind, column = ("valence", 2) if task == "vd" else ("arousal", 3)
        for row in stream.levels:
            level = float(row[column]) or None
            yield spans[row[1]] | {"kind": kind, "level": level, "annotator": row[0]}


def regions(stream: Stream) -> Iterator[dict[str, Any]]:
    """The segments of a document, as rows of the representation."""
    for at, (start, end) in enumerate(stream.segments):
        yield {"region": f"{stream.name}_{at:04}", "start": float(start), "end": float(end)}


def answers(task: str, stream: Stream, errors: np.random.Generator) -> Iterator[dict[str, Any]]:
    """What a system finds in a document, as rows of the representation."""
    for row in found(task, stream, errors):
        if task == "nd":
            yield {"kind": "norm", **_instance(*row[:3], row[4]), "status": row[3]}
        elif task == "ed":
            yield {"kind": "emotion", **_instance(*row)}
        elif task == "cd":
            yield {"at": float(row[0]), "llr": row[1], "direction": row[2], "strength": str(row[3])}
        else:
            kind = "valence" if task == "vd" else "arousal"
            place = {"start": float(row[0]), "end": float(row[1])}
            yield {"kind": kind, "level": float(row[2]), **place}


def _instance(label: str, start: float, end: float, llr: float) -> dict[str, Any]:
    return {"label": label, "start": float(start), "end": float(end), "llr": llr}

"""Levels by their breakpoints are those of each character and each window by itself."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.representation import of_documents
from hlteval.scoring.ccu.levels import LevelOptions
from hlteval.scoring.ccu.official_levels import level_diarization
from tests.effort import tries
from tests.unit.ccu.level_corpora import gold, said, scored

TICK = 0.25
"""Places of audio are multiples of it, so that it is a unit of which windows have eight."""
LEVEL = st.integers(1, 1000) | st.sampled_from([299, 300, 699, 700])


@st.composite
def bounds(draw, most: int) -> list[int]:
    return sorted(draw(st.sets(st.integers(0, most), min_size=2, max_size=7)))


@st.composite
def documents(draw):
    """A modality, a length in ticks, segments with judgments, and levels of the system."""
    modality = draw(st.sampled_from(["text", "audio"]))
    length = draw(st.integers(1, 90))
    judgments = st.lists(LEVEL | st.none(), min_size=1, max_size=3)
    judged = [
        (start, end, draw(judgments))
        for start, end in pairwise(draw(bounds(length)) if length > 1 else [0, length])
        if draw(st.integers(0, 4))
    ]
    inside = sorted(draw(st.sets(st.integers(1, max(1, length - 1)), max_size=6)))
    cuts = sorted({0, *inside, length})
    levels = [(start, end, draw(LEVEL)) for start, end in pairwise(cuts)]
    return modality, length, judged, levels if draw(st.integers(0, 5)) else []


def written(modality: str, start: int, end: int, shift: int = 0) -> tuple[float, float]:
    """Places as in a file: inclusive characters, or seconds."""
    if modality == "text":
        return start + shift, end + shift - 1
    return (start + shift) * TICK, (end + shift) * TICK


def corpora(drawn, shift: int = 0):
    named = {f"d{number}": document for number, document in enumerate(drawn)}
    scale = {"text": 1, "audio": TICK}
    lengths = {n: (d[0], (d[1] + shift) * scale[d[0]]) for n, d in named.items()}
    judged = [
        (name, *written(modality, start, end, shift), levels)
        for name, (modality, _, segments, _) in named.items()
        for start, end, levels in segments
    ]
    before = [(n, *written(d[0], 0, shift), 77) for n, d in named.items() if shift and d[3]]
    own = before + [
        (name, *written(modality, start, end, shift), level)
        for name, (modality, _, _, levels) in named.items()
        for start, end, level in levels
    ]
    return gold(lengths, judged), said(lengths, own)


def series(document) -> tuple[list[float], list[float]]:
    """Both levels of each unit of a document, tick by tick."""
    modality, length, judged, levels = document
    reference = np.full(length, np.nan)
    gap = 10 if modality == "text" else 1 / TICK
    for number, (start, end, judgments) in enumerate(judged):
        later = judged[number + 1][0] if number + 1 < len(judged) else None
        stop = later if later is not None and later - end < gap else end
        given_levels = [level for level in judgments if level is not None]
        if len(given_levels) > 1:
            reference[start:stop] = np.mean(given_levels)
    system = np.full(length, 500.0)
    for start, end, level in levels:
        system[start:end] = level
    size = 1 if modality == "text" else int(2 / TICK)
    found: tuple[list[float], list[float]] = [], []
    for begin in range(0, length, size):
        sides = [side[begin : begin + size].mean() for side in (reference, system)]
        if not np.isnan(sides[0]):
            for values, value in zip(found, sides, strict=True):
                values.append(value)
    return found


def concordance(x: list[float], y: list[float]) -> float | None:
    if len(x) < 2:
        return None
    covariance = np.cov(x, y)
    whole = np.trace(covariance) + (np.mean(x) - np.mean(y)) ** 2
    return 2 * covariance[0, 1] / whole if whole > 1e-9 else None


def kappa(x: list[float], y: list[float]) -> float | None:
    points = [[int(v >= 300) + int(v >= 700) for v in values] for values in (x, y)]
    if not x or len({*points[0], *points[1]}) == 1:
        return None
    observed = np.mean([a == b for a, b in zip(*points, strict=True)])
    chance = sum(np.mean([a == p for a in points[0]]) * np.mean([b == p for b in points[1]])
                 for p in range(3))  # fmt: skip
    return (observed - chance) / (1 - chance)


def close(value: float | None):
    return value if value is None else pytest.approx(value, abs=1e-9)


@settings(max_examples=tries(25))
@given(st.lists(documents(), min_size=1, max_size=4))
def test_values_are_those_of_the_definition_unit_by_unit(drawn):
    values, units = scored(*corpora(drawn))
    each = [series(document) for document in drawn]
    x, y = ([value for pair in each for value in pair[side]] for side in (0, 1))
    assert units["units"].sum() == len(x)
    assert values["ccc"] == close(concordance(x, y))
    assert values["kappa"] == close(kappa(x, y))
    means = [value for pair in each if (value := concordance(*pair)) is not None]
    assert values["ccc_document_mean"] == close(np.mean(means) if means else None)
    for genre in ("text", "audio"):
        own = [pair for pair, document in zip(each, drawn, strict=True) if document[0] == genre]
        x, y = ([value for pair in own for value in pair[side]] for side in (0, 1))
        assert values[f"ccc.{genre}"] == close(concordance(x, y))


@settings(max_examples=tries(12))
@given(st.lists(documents(), min_size=1, max_size=3), st.integers(1, 20))
def test_a_shift_of_whole_windows_shifts_nothing(drawn, windows):
    values, units = scored(*corpora(drawn))
    shifted, moved = scored(*corpora(drawn, shift=int(2 / TICK) * windows))
    assert moved["units"].sum() == units["units"].sum()
    assert shifted == {name: close(value) for name, value in values.items()}


@settings(max_examples=tries(12))
@given(st.lists(documents(), min_size=1, max_size=9), st.sampled_from([1, 7]))
def test_batches_add_up(drawn, size):
    reference, system = corpora(drawn)
    names = reference.documents["name"]
    metric = level_diarization("plan", LevelOptions())
    counts = [
        metric.statistics(*(of_documents(side, names[start : start + size])
                            for side in (reference, system)))[0]
        for start in range(0, len(names), size)
    ]  # fmt: skip
    assert metric.score(metric.total(counts))[0] == scored(reference, system)[0]
    reverse = metric.total(counts).sort("document", descending=True)
    assert metric.score(reverse)[0] == scored(reference, system)[0]


@settings(max_examples=tries(12))
@given(st.lists(documents(), min_size=1, max_size=4))
def test_official_levels_do_not_depend_on_the_scale(drawn):
    """Levels are normalized: twice the level is the same, but for unprocessed documents."""
    drawn = [document for document in drawn if document[3]]
    reference, system = corpora(drawn)
    double = [
        side.replace(ratings=side.ratings.with_columns(pl.col("level") * 2 + 3))
        for side in (reference, system)
    ]
    values = scored(reference, system, "official")[0]
    assert scored(*double, "official")[0] == {name: close(v) for name, v in values.items()}

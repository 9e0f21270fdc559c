"""pyannote.metrics beside ours, on random turns; skipped where it is not installed."""

from __future__ import annotations

import warnings

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.representation import Corpus
from hlteval.scoring.generic.official_pyannote import OfficialSpeakerTurns
from hlteval.scoring.generic.segments import Options
from tests.effort import tries

core = pytest.importorskip("pyannote.core")
diarization = pytest.importorskip("pyannote.metrics.diarization")
detection = pytest.importorskip("pyannote.metrics.detection")
identification = pytest.importorskip("pyannote.metrics.identification")

#: Thousandths of a second: half of the times are whole, so that boundaries and totals are equal.
TIMES = st.integers(0, 20_000) | st.integers(0, 20).map(lambda second: second * 1000)
TURNS = st.lists(
    st.tuples(TIMES, st.integers(0, 6_000) | st.integers(0, 5).map(lambda s: s * 1000)).flatmap(
        lambda turn: st.sampled_from("ABC").map(lambda name: (*turn, name))
    ),
    max_size=8,
)
UEM = st.none() | st.lists(st.tuples(TIMES, st.integers(1, 15_000)), min_size=1, max_size=3)
FILES = st.lists(st.tuples(TURNS, TURNS, UEM), min_size=1, max_size=3)
PARTS = {
    "total": "der.total",
    "missed detection": "der.miss",
    "false alarm": "der.false_alarm",
    "confusion": "der.confusion",
}


def annotation(turns):
    found = core.Annotation()
    for number, (start, length, name) in enumerate(turns):
        found[core.Segment(start / 1000, (start + length) / 1000), number] = name
    return found


def corpus(files):
    rows = [
        {"row": 0, "document": document, "origin": 0, "record": 1, "kind": "norm", "label": name}
        | {"start": start / 1000, "end": (start + length) / 1000}
        for document, turns in enumerate(files)
        for start, length, name in turns
    ]
    rows = [{**row, "row": at} for at, row in enumerate(rows)]
    documents = [{"row": at, "name": f"f{at}"} for at in range(len(files))]
    return Corpus(documents=documents, instances=rows)


def ours(files, options):
    stretches = [
        (f"f{at}", start / 1000, (start + length) / 1000)
        for at, (_, _, uem) in enumerate(files)
        for start, length in uem or ()
    ]
    evaluated = pl.DataFrame(stretches, ["name", "start", "end"], orient="row")
    options = Options(**options, evaluated=evaluated if stretches else None)
    metric = OfficialSpeakerTurns("official", options)
    sides = (corpus([file[side] for file in files]) for side in (0, 1))
    counts, _ = metric.statistics(*sides)
    return metric.score(metric.total([counts]))[0]


def theirs(files, metric):
    for turns, found, uem in files:
        timeline = None
        if uem is not None:
            bounds = (core.Segment(at / 1000, (at + length) / 1000) for at, length in uem)
            timeline = core.Timeline(list(bounds))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            metric(annotation(turns), annotation(found), uem=timeline)
    return metric


@pytest.mark.parametrize("collar", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("skip_overlap", [False, True])
@settings(max_examples=tries(100), deadline=None)
@given(FILES)
def test_error_rates_are_those_of_pyannote(collar, skip_overlap, files):
    settings = {"collar": collar, "skip_overlap": skip_overlap}
    for peer, options in (
        (diarization.DiarizationErrorRate, {}),
        (identification.IdentificationErrorRate, {"label": "equal"}),
    ):
        metric = theirs(files, peer(**settings))
        found = ours(files, {**options, **settings})
        expected = {name: metric[part] for part, name in PARTS.items()} | {"der": abs(metric)}
        assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-6)


@settings(max_examples=tries(400), deadline=None)
@given(FILES)
def test_purity_coverage_and_detection_are_those_of_pyannote(files):
    found = ours(files, {})
    expected = {
        "purity": diarization.DiarizationPurity(),
        "coverage": diarization.DiarizationCoverage(),
        "detection_error": detection.DetectionErrorRate(),
        "detection.precision": detection.DetectionPrecision(),
        "detection.recall": detection.DetectionRecall(),
        "jer": diarization.JaccardErrorRate(),
    }
    values = {name: abs(theirs(files, metric)) for name, metric in expected.items()}
    assert {name: found[name] for name in values} == pytest.approx(values, abs=1e-6)

"""Detection of norms, emotions and change points: what holds for all references and submissions."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hlteval.representation import Corpus
from hlteval.representation.corpus import of_documents
from hlteval.representation.judgments import Constants, merge_instances, scored_reference
from hlteval.scoring import instance_detection as alignment
from hlteval.scoring.ccu.changes import change_detection
from hlteval.scoring.ccu.detections import DetectionOptions
from hlteval.scoring.ccu.official_files import instance_detection
from hlteval.scoring.ccu.spans import criterion, within
from hlteval.scoring.instance_detection import average_precision, overlap_pairs, points
from tests.effort import tries

FEW = settings(max_examples=tries(30), deadline=None)
FEWER = settings(max_examples=tries(8), deadline=None)
DOCUMENTS = (("d1", "audio"), ("d2", "text"), ("d3", "video"))
STEP = 0.5
"""All places are multiples of it, so that sums of them are exact."""


@st.composite
def spans(draw, most=8):
    found = []
    for _ in range(draw(st.integers(0, most))):
        start = draw(st.integers(0, 40))
        found.append((start, start + draw(st.integers(1, 15))))
    return found


@st.composite
def corpora(draw):
    """A reference and a system over the same documents."""
    labels = st.sampled_from(["101", "102"])
    reference, system, points, changes = [], [], [], []
    for document in range(len(DOCUMENTS)):
        place = 0
        for number in range(draw(st.integers(0, 6))):
            place += draw(st.sampled_from([0, 0, 1, 6]))
            end = place + draw(st.integers(2, 8))
            judged = draw(st.sampled_from(["101", "102", "none", "noann"]))
            reference.append((document, number, judged, place, end, None))
            place = end + 1
        for start, end in draw(spans(6)):
            system.append((document, 0, draw(labels), start, end, draw(st.integers(-4, 4)) / 4))
        points += [(document, at, None) for at in draw(st.lists(st.integers(0, 40), max_size=4))]
        changes += [
            (document, at, draw(st.integers(-4, 4)) / 4)
            for at in draw(st.lists(st.integers(0, 40), max_size=5))
        ]
    return of_rows(reference, points), of_rows(system, changes)


def of_rows(rows, points, shift=0.0):
    shared = {"origin": 0, "kind": "norm"}
    instances = [
        {
            **shared,
            "row": row,
            "document": document,
            "record": row,
            "label": label,
            "start": start * STEP * (2 if document == 1 else 1) + shift,
            "end": end * STEP * (2 if document == 1 else 1) + shift,
            "llr": llr,
            "region": f"{document}-{number}",
        }
        for row, (document, number, label, start, end, llr) in enumerate(rows)
    ]
    regions = [
        {
            "row": row["row"],
            "origin": 0,
            **{name: row[name] for name in ("document", "record", "region", "start", "end")},
        }
        for row in instances
    ]
    changes = [
        {"row": row, "document": document, "origin": 0, "record": row, "at": at + shift, "llr": llr}
        for row, (document, at, llr) in enumerate(points)
    ]
    documents = [
        {"row": row, "name": name, "modality": kind, "length": 100.0 + shift}
        for row, (name, kind) in enumerate(DOCUMENTS)
    ]
    return Corpus(documents=documents, instances=instances, regions=regions, changes=changes)


def moved(corpus, shift):
    return corpus.replace(
        instances=corpus.instances.with_columns(pl.col("start", "end") + shift),
        regions=corpus.regions.with_columns(pl.col("start", "end") + shift),
        changes=corpus.changes.with_columns(pl.col("at") + shift),
    )


def scored(metric, reference, system):
    return metric.score(metric.total([metric.statistics(reference, system)[0]]))[0]


METRICS = [
    *(instance_detection(profile=profile) for profile in ("plan", "official")),
    *(change_detection(profile=profile) for profile in ("plan", "official")),
]
NAMES = [f"{type(metric).__name__}-{metric.profile}" for metric in METRICS]


def literal(pairs):
    """The pseudo-code of Appendix A, over (score, starts, system, reference)."""
    rest = sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2], pair[3], pair[4]))
    correct = []
    while rest:
        top = rest.pop(0)
        correct.append(top[3:])
        rest = [pair for pair in rest if pair[3] != top[3] and pair[4] != top[4]]
    return sorted(correct)


@FEW
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), unique=True), st.data())
def test_the_alignment_is_that_of_the_pseudo_code(pairs, data):
    numbers = st.lists(st.integers(0, 2), min_size=6, max_size=6)
    scores, starts, others = (np.array(data.draw(numbers), dtype=float) for _ in range(3))
    own = np.array([one for one, _ in pairs], dtype=np.int64)
    expected = np.array([other for _, other in pairs], dtype=np.int64)
    correct = alignment.greedy(own, expected, scores[own], starts[own], others[expected])
    found = sorted(zip(own[correct].tolist(), expected[correct].tolist(), strict=True))
    rows = [(scores[one], starts[one], others[other], one, other) for one, other in pairs]
    assert found == literal(rows)


@FEW
@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=12),
    st.integers(0, 4),
)
def test_average_precision_is_the_integral(given_rows, missed):
    relevant = sum(hit for _, hit in given_rows) + missed
    assume(relevant)
    rows = pl.DataFrame(given_rows, {"llr": pl.Float64, "hit": pl.Boolean}, orient="row")
    rows = rows.with_columns(pl.lit("a").alias("class"))
    counts = pl.DataFrame({"class": ["a"], "relevant": [relevant]})
    curve = points(rows, counts, ["class"])
    (row,) = average_precision(curve, ["class"]).to_dicts()
    steps, best = [], []
    for score in sorted({score for score, _ in given_rows}, reverse=True):
        taken = [hit for other, hit in given_rows if other >= score]
        steps.append((sum(taken) / relevant, sum(taken) / len(taken)))
    before = 0.0
    area = 0.0
    for number, (recall, precision) in enumerate(steps):
        area += precision * (recall - before)
        best.append((recall - before) * max(p for _, p in steps[number:]))
        before = recall
    assert row["ap"] == pytest.approx(area)
    assert row["ap_interpolated"] == pytest.approx(sum(best))
    assert 0 <= row["ap"] <= row["ap_interpolated"] + 1e-12 <= 1 + 1e-9


@FEW
@given(spans(), spans())
def test_pairs_of_spans_are_all_that_overlap(left, right):
    def frame(rows):
        given_rows = [("d" if start % 2 else "e", float(start), float(end)) for start, end in rows]
        return pl.DataFrame(
            given_rows,
            {"document": pl.String, "start": pl.Float64, "end": pl.Float64},
            orient="row",
        )

    one, other = frame(left), frame(right)
    rows, matches, common = overlap_pairs(one, other, ["document"])
    expected = [
        (i, j, min(a[1], b[1]) - max(a[0], b[0]))
        for i, a in enumerate(left)
        for j, b in enumerate(right)
        if a[0] % 2 == b[0] % 2 and min(a[1], b[1]) > max(a[0], b[0])
    ]
    assert list(zip(rows.tolist(), matches.tolist(), common.tolist(), strict=True)) == expected
    rows, matches = within(
        one.with_columns(at="start"), other.with_columns(at="start"), ["document"], 3
    )
    near = [
        (i, j)
        for i, a in enumerate(left)
        for j, b in enumerate(right)
        if a[0] % 2 == b[0] % 2 and abs(a[0] - b[0]) <= 3
    ]
    assert list(zip(rows.tolist(), matches.tolist(), strict=True)) == near


@FEW
@given(spans(), st.booleans())
def test_merging_is_idempotent(rows, text):
    decisions = pl.DataFrame(
        [(0, text, "101", None, float(start), float(end)) for start, end in rows],
        {
            "document": pl.Int64,
            "text": pl.Boolean,
            "label": pl.String,
            "status": pl.String,
            "start": pl.Float64,
            "end": pl.Float64,
        },
        orient="row",
    )
    once = merge_instances(decisions, Constants(characters=3))
    assert merge_instances(once, Constants(characters=3)).equals(once)


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@FEWER
@given(pair=corpora(), names=st.permutations([name for name, _ in DOCUMENTS]))
def test_values_do_not_depend_on_batches(metric, pair, names):
    whole = scored(metric, *pair)
    parts = [
        metric.statistics(*(of_documents(side, pl.Series([name])) for side in pair))[0]
        for name in names
    ]
    assert metric.score(metric.total(parts))[0] == pytest.approx(whole, nan_ok=True)
    for name, value in whole.items():
        if name.startswith(("map", "ap", "cd.ap")) and value is not None:
            assert -1e-9 <= value <= 1 + 1e-9


@pytest.mark.parametrize("metric", METRICS[::2], ids=NAMES[::2])
@FEWER
@given(pair=corpora(), shift=st.sampled_from([0.5, 64.0]))
def test_a_shift_of_all_places_changes_nothing(metric, pair, shift):
    reference, system = pair
    values = scored(metric, reference, system)
    assert scored(metric, moved(reference, shift), moved(system, shift)) == values


@FEWER
@given(pair=corpora())
def test_a_reference_finds_all_of_itself(pair):
    reference, _ = pair
    own = (
        scored_reference(reference, "norm")
        .instances.drop("text")
        .with_columns(row=pl.int_range(pl.len()), record=pl.int_range(1, pl.len() + 1))
        .with_columns(origin=pl.lit(0, pl.Int64), kind=pl.lit("norm"), llr=pl.lit(1.0))
    )
    options = DetectionOptions(overlap=(criterion("0.2"), criterion("1")))
    values = scored(
        instance_detection(options=options), reference, reference.replace(instances=own)
    )
    exact = values.get("map@1")
    assert exact is None or math.isclose(exact, 1.0)


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@settings(max_examples=2, deadline=None)
@given(pair=corpora())
def test_replicates_of_all_documents_are_the_values(metric, pair):
    reference, system = pair
    counts = metric.statistics(reference, system)[0]
    weights = np.ones((2, len(DOCUMENTS)), dtype=np.int64)
    names = metric.documents(counts)
    drawn = metric.replicates(counts, names, weights)
    assume(not metric.crash(metric.total([counts])))  # which gives no value, so no interval
    for name, value in metric.score(metric.total([counts]))[0].items():
        assert drawn[name][0] == pytest.approx(math.nan if value is None else value, nan_ok=True)

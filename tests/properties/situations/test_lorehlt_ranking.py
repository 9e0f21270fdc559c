"""LoReHLT situation frames: every metric of `plan` against the plainest way to compute it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import product

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.representation import of_documents
from hlteval.scoring.situations.lorehlt.frames import CLASSES
from hlteval.scoring.situations.lorehlt.metric import SituationRanking
from hlteval.scoring.situations.lorehlt.plan import NUMBERS
from hlteval.scoring.situations.lorehlt.ranking import RankingOptions
from tests.effort import tries
from tests.unit.situations.lorehlt_frames import corpus

ISSUES = {"terrorism"}
DOCUMENTS = st.sampled_from(["d1", "d2", "d3"])
PLACES = st.sampled_from(["1", "2", "NIL3", None])
STATUS = st.sampled_from(["current", "past"])
FRAME = {
    "doc": DOCUMENTS,
    "label": st.sampled_from(["food", "water", "terrorism"]),
    "place_kb": PLACES,
    "status": STATUS,
    "resolution": st.sampled_from(["insufficient", "sufficient"]),
}
GOLD = st.fixed_dictionaries(
    {
        **FRAME,
        "scope": st.sampled_from(["1_smallgroup", "3_municipality"]),
        "severity": st.sampled_from(["1_discomfort", "2_injury"]),
        "annotator": st.sampled_from(["7", "8"]),
    }
)
OWN = st.fixed_dictionaries(
    {
        **FRAME,
        "urgent": st.sampled_from(["true", "false"]),
        "confidence": st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    }
)
FELT = st.fixed_dictionaries(
    {
        "at": st.integers(0, 20),
        "holder_kb": st.sampled_from(["author", "other", "9"]),
        "value": st.sampled_from([-1.0, 2.0]),
        "fear": st.booleans(),
        "anger": st.booleans(),
        "joy": st.booleans(),
    }
)
MANY = {"max_size": 8}
SETTINGS = settings(max_examples=tries(12), deadline=None)
OPTIONS = RankingOptions(gains=(5.0, 3.0, 1.0), gravity_thresholds=(2.0, 1.0))


def sides(gold, own, felt, own_felt):
    reference = [row | {"frame": f"F{number}"} for number, row in enumerate(gold)]
    return corpus(reference, about(reference, felt)), corpus(own, about(own, own_felt))


def about(frames, felt):
    return [
        {name: value for name, value in row.items() if name != "at"}
        | {"doc": frames[row["at"] % len(frames)]["doc"], "frame_row": row["at"] % len(frames)}
        for row in felt
        if frames
    ]


def values(reference, system, *families, profile="plan"):
    metric = SituationRanking(profile, OPTIONS, families)
    total = metric.total([metric.statistics(reference, system)[0]])
    return metric, total, metric.score(total)[0]


def flags(row):
    need = row["label"] not in ISSUES
    urgent = row.get("urgent") == "true" or (
        "urgent" not in row and (row["scope"] > "2" or row["severity"] > "2")
    )
    return need, row["status"] == "current", urgent, need and row["resolution"] == "insufficient"


def key(row, name):
    _, _, urgent, unresolved = flags(row)
    fields = {
        "type": row["label"],
        "place": row["place_kb"],
        "status": row["status"],
        "urgent": urgent,
        "unresolved": unresolved,
    }
    return row["doc"], *(fields[field] for field in CLASSES[name])


def once(rows, name, score=lambda row: 0):
    """The rows of each key, only the one of the greatest score, the first of several."""
    found = {}
    for number, row in sorted(enumerate(rows), key=lambda item: -score(item[1])):
        found.setdefault(key(row, name), (number, row))
    return list(found.values())


FINEST = list(CLASSES)[-1]


def drawn(reference, gold):
    """The frames of the annotators that were drawn."""
    metric = SituationRanking()
    total = metric.total([metric.statistics(reference, corpus([]))[0]])
    chosen = metric.scores(total).choice
    names = {(row[0], row[1]): row[2] for row in chosen.rows()}
    return [
        (number, row)
        for number, row in enumerate(gold)
        if names[row["doc"], row["label"] in ISSUES] == row["annotator"]
    ]


def gravity(row, felt, numeric):
    need, current, urgent, unresolved = flags(row)
    fear, anger = any(sec["fear"] for sec in felt), any(sec["anger"] for sec in felt)
    if not numeric:
        return 5 * (need and current and urgent and unresolved)
    if need:
        return (5 + fear + anger) * (current and urgent and unresolved)
    return (4 + fear + anger) * (current and urgent and (fear or anger))


def situations(items, felt, numeric):
    found = defaultdict(list)
    for number, row in items:
        if row["place_kb"] is not None:
            grave = gravity(row, felt.get(number, []), numeric) / 5
            found[row["place_kb"], row["label"]].append(grave)
    return {name: (sum(graves), len(graves)) for name, graves in found.items()}


def by_frame(felt, frames):
    found = defaultdict(list)
    for row in felt:
        if frames:
            found[row["at"] % len(frames)].append(row)
    return found


def target(row):
    return row["doc"], row["label"], row["place_kb"]


def right_felt(gold_items, gold_felt, own, own_felt):
    """The system's sentiments of a source and polarity that the reference has of that target."""
    known = {
        (*target(row), sec["holder_kb"], sec["value"] > 0)
        for number, row in gold_items
        for sec in gold_felt.get(number, [])
    }
    return {
        number: [
            sec
            for sec in secs
            if (*target(own[number]), sec["holder_kb"], sec["value"] > 0) in known
        ]
        for number, secs in own_felt.items()
    }  # fmt: skip


def gain(grave):
    return 5 if grave >= 2 else 3 if grave >= 1 else 1


def dcg(gains):
    return sum(own / math.log2(rank + 1) for rank, own in enumerate(gains, start=1))


def rankings(reference, system, ties):
    gains = {name: gain(grave) for name, (grave, _) in reference.items()}

    def order(name):
        grave, frames = system[name]
        own = gains.get(name, 0)
        middle = {"standard": -frames, "vindictive": own, "forgiving": -own}[ties]
        return -grave, middle, name

    ideal = sorted(gains.values(), reverse=True)
    return [gains.get(name, 0) for name in sorted(system, key=order)], ideal


@SETTINGS
@given(
    st.lists(GOLD, **MANY), st.lists(OWN, **MANY), st.lists(FELT, **MANY), st.lists(FELT, **MANY)
)
def test_ndcg_and_precision(gold, own, felt, own_felt):
    reference, system = sides(gold, own, felt, own_felt)
    _, _, found = values(reference, system, "ndcg", "ndcg_sec", "precision_at")
    items = drawn(reference, gold)
    last = once([row for _, row in items], FINEST)
    last = [items[at] for at, _ in last]
    mine = once(own, FINEST, lambda row: row["confidence"])
    gold_felt = by_frame(felt, gold)
    emotions = right_felt(items, gold_felt, own, by_frame(own_felt, own))
    for family, numeric in (("ndcg", False), ("ndcg_sec", True)):
        left = situations(last, gold_felt, numeric)
        right = situations(mine, emotions, numeric)
        for ties in ("standard", "vindictive", "forgiving"):
            gains, ideal = rankings(left, right, ties)
            expected = dcg(gains) / dcg(ideal) if ideal else None
            assert found[f"{family}.{ties}"] == pytest.approx(expected)
            assert expected is None or 0 <= expected <= 1 + 1e-12
    left, right = situations(last, {}, False), situations(mine, {}, False)
    tops = [
        sorted(table, key=lambda name, table=table: (-table[name][0], -table[name][1], name))
        for table in (left, right)
    ]
    for number in range(1, len(left) + 1):
        if number in NUMBERS:
            both = set(tops[0][:number]) & set(tops[1][:number])
            assert found[f"precision_at.{number}"] == pytest.approx(len(both) / number)


def weights(gold, name):
    """How many rows of all annotators each frame of a class has; what one repeats is one row."""
    rows = defaultdict(set)
    for row in gold:
        if name == "type" or row["place_kb"] is not None:
            rows[key(row, name)].add((row["annotator"], *key(row, FINEST)))
    return {own: len(each) for own, each in rows.items()}


def confident(own, name):
    found = {}
    for row in own:
        if name == "type" or row["place_kb"] is not None:
            found[key(row, name)] = max(row["confidence"], found.get(key(row, name), 0.0))
    return found


def swept(relevant, found):
    """Confidence, weight of true positives and number of false ones from there upwards."""
    for level in sorted(set(found.values()), reverse=True):
        taken = [own for own, confidence in found.items() if confidence >= level]
        yield sum(relevant.get(own, 0) for own in taken), sum(own not in relevant for own in taken)


def share(part, whole):
    return part / whole if whole else None


@SETTINGS
@given(st.lists(GOLD, **MANY), st.lists(OWN, **MANY), st.sampled_from(list(CLASSES)))
def test_frames(gold, own, name):
    reference, system = sides(gold, own, [], [])
    _, _, found = values(reference, system, "auc", "frame_f1", "frame_precision", "frame_recall")
    relevant, taken = weights(gold, name), confident(own, name)
    right = sum(relevant[item] for item in taken if item in relevant)
    false = sum(item not in relevant for item in taken)
    expected = sum(relevant.values())
    assert found[f"frame_precision.{name}"] == share(right, right + false)
    assert found[f"frame_recall.{name}"] == share(right, expected)
    assert found[f"frame_f1.{name}"] == share(2 * right, right + false + expected)
    area, before = 0.0, (0.0, None)
    for hits, wrong in swept(relevant, taken):
        precision = hits / (hits + wrong)
        recall = share(hits, expected) or 0.0
        last = precision if before[1] is None else before[1]
        area += (recall - before[0]) * (precision + last) / 2
        before = recall, precision
    assert found[f"auc.{name}"] == (pytest.approx(area) if expected else None)


@SETTINGS
@given(st.lists(GOLD, **MANY), st.lists(OWN, **MANY), st.sampled_from(list(CLASSES)[1:]))
def test_averages(gold, own, name):
    reference, system = sides(gold, own, [], [])
    _, _, found = values(reference, system, "map", "mar")
    relevant, taken = weights(gold, name), confident(own, name)
    precisions, recalls = [], []
    for situation in {item[1:3] for item in relevant}:
        inside = {item: weight for item, weight in relevant.items() if item[1:3] == situation}
        frames = {item: level for item, level in taken.items() if item[1:3] == situation}
        total, before, average = sum(inside.values()), 0, 0.0
        for hits, wrong in swept(inside, frames):
            average += (hits - before) * hits / (hits + wrong) / total
            before = hits
        precisions.append(average)
        recalls.append(before / total)
    size = len(precisions)
    assert found[f"map.{name}"] == (pytest.approx(sum(precisions) / size) if size else None)
    assert found[f"mar.{name}"] == (pytest.approx(sum(recalls) / size) if size else None)


EMOTIONS = {"polarity": (), "polarity,fear": ("fear",), "polarity,anger": ("anger",)}


@SETTINGS
@given(
    st.lists(GOLD, min_size=1, max_size=5),
    st.lists(OWN, min_size=1, max_size=5),
    st.lists(FELT, **MANY),
    st.lists(FELT, **MANY),
)
def test_sentiments(gold, own, felt, own_felt):
    reference, system = sides(gold, own, felt, own_felt)
    _, _, found = values(reference, system, "sec_f1", "sec_precision", "sec_recall")
    items = dict(drawn(reference, gold))
    for name, emotions in EMOTIONS.items():
        tables = []
        for rows, secs in (
            (items, by_frame(felt, gold)),
            (dict(enumerate(own)), by_frame(own_felt, own)),
        ):
            counts = defaultdict(Counter)
            for number, row in rows.items():
                for sec in secs.get(number, []):
                    what = sec["holder_kb"], sec["value"] > 0, *(sec[name] for name in emotions)
                    counts[target(row)][what] += 1
            tables.append(counts)
        left, right = tables
        rates = {"precision": [], "recall": [], "f1": []}
        for about_what in {*left, *right}:
            both = (left[about_what] & right[about_what]).total()
            sizes = left[about_what].total(), right[about_what].total()
            rates["f1"].append(2 * both / sum(sizes))
            for rate, size in zip(("recall", "precision"), sizes, strict=True):
                if size:
                    rates[rate].append(both / size)
        for rate, each in rates.items():
            mean = pytest.approx(sum(each) / len(each)) if each else None
            assert found[f"sec_{rate}.{name}"] == mean
            assert not each or found[f"sec_{rate}.{name}"] <= 1 + 1e-12


@SETTINGS
@given(
    st.lists(GOLD, **MANY),
    st.lists(OWN, **MANY),
    st.lists(FELT, **MANY),
    st.sampled_from(["plan", "official"]),
    st.randoms(use_true_random=False),
)
def test_nothing_depends_on_batches_or_on_the_order_of_documents(gold, own, felt, profile, random):
    reference, system = sides(gold, own, felt, felt)
    families = ("ndcg", "ndcg_sec", "map", "frame_f1", "sec_f1")
    metric, _, found = values(reference, system, *families, profile=profile)
    names = ["d1", "d2", "d3"]
    random.shuffle(names)
    batches = [
        metric.statistics(*(of_documents(side, pl.Series([name])) for side in (reference, system)))[
            0
        ]
        for name in names
    ]
    assert metric.score(metric.total(batches))[0] == found


@SETTINGS
@given(
    st.lists(GOLD, **MANY),
    st.lists(OWN, min_size=1, **MANY),
    OWN,
    st.sampled_from(["plan", "official"]),
)
def test_a_false_situation_never_raises_ndcg(gold, own, more, profile):
    reference, system = sides(gold, own, [], [])
    _, _, before = values(reference, system, "ndcg", profile=profile)
    larger = corpus([*own, more | {"place_kb": "666"}])
    _, _, after = values(reference, larger, "ndcg", profile=profile)
    for ties in ("standard", "vindictive", "forgiving"):
        name = f"ndcg.{ties}"
        assert before[name] is None or after[name] <= before[name] + 1e-12


@SETTINGS
@given(st.lists(GOLD, min_size=1, max_size=8), st.lists(FELT, **MANY))
def test_a_reference_given_back_is_perfect(gold, felt):
    gold = [row | {"annotator": "7", "place": "Ent-1"} for row in gold]
    reference, _ = sides(gold, [], felt, [])
    own = [
        {name: value for name, value in row.items() if name not in {"scope", "severity"}}
        | {"urgent": str(flags(row)[2]).lower(), "confidence": 1.0}
        for row in gold
    ]
    system = corpus(own, about(own, felt))
    _, _, found = values(reference, system)
    assert {value for value in found.values() if value is not None} <= {1.0}


@pytest.mark.parametrize("profile", ["plan", "official"])
@pytest.mark.parametrize(("left", "right"), list(product([True, False], repeat=2)))
def test_empty_sides(profile, left, right):
    frame = {"doc": "d1", "label": "food", "place_kb": "1", "status": "current", "place": "e"}
    reference = corpus([frame | {"scope": "4", "severity": "4"}] * left)
    system = corpus([frame | {"urgent": "true", "confidence": 0.5}] * right)
    metric, total, found = values(reference, system, profile=profile)
    assert metric.notes(total) is not None
    if profile == "plan" and left:
        assert found["ndcg.standard"] == float(right)

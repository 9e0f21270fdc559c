"""Every measure of the tasks of CCU on one example each, with the computation."""

from __future__ import annotations

from statistics import mean

import polars as pl
import pytest

from hlteval import score
from hlteval.representation.judgments import IDEAL, SCORED
from hlteval.scoring.ccu.changes import change_detection
from tests.unit.ccu.level_corpora import gold, said, scored
from tests.unit.ccu.test_detection import corpus, of, values
from tests.unit.ccu.test_ta2 import text

AUDIO, TEXT, VIDEO = 0, 1, 2
"""The numbers of the documents of `corpus`, by modality."""

REFERENCE = [
    (AUDIO, "101", 0, 10, None),
    (AUDIO, "101", 20, 40, None),
    (AUDIO, "none", 45, 60, None),
    (AUDIO, "102", 60, 80, None),
    (TEXT, "102", 0, 9, None),
    (VIDEO, "103", 0, 100, None),
    (AUDIO, "104", 85, 95, None),
]
SYSTEM = [
    (AUDIO, "101", 50, 55, 4.0),  # false
    (AUDIO, "101", 0, 10, 3.0),  # right: the whole
    (AUDIO, "101", 22, 32, 1.0),  # right: IoU 10 / 20; with a collar of 15 the whole
    (AUDIO, "102", 55, 80, 1.0),  # right: IoU 20 / 25; the whole, and 5 beside it, of 20
    (AUDIO, "102", 0, 5, 0.1),  # false
    (VIDEO, "103", 30, 60, 1.0),  # right: IoU 30 / 100; with two collars 60 / 100
    (AUDIO, "A1", 85, 95, 0.5),  # right: A1 is 104
]
MAPPING = [("101", "101"), ("102", "102"), ("103", "103"), ("A1", "104")]
KNOWN = [("101", "known"), ("102", "known"), ("103", "known"), ("104", "hidden")]


def harmonic(one, other):
    return 2 * one * other / (one + other)


# 101: false, right, right: precision 0 1/2 2/3 at recall 0 1/2 1. 102: right, false; one of two.
CLASSES = {
    "ap": (1 / 2 * 1 / 2 + 1 / 2 * 2 / 3, 1 / 2, 1, 1),
    "ap_interpolated": (2 / 3, 1 / 2, 1, 1),
    "precision": (2 / 3, 1 / 2, 1, 1),
    "recall": (1, 1 / 2, 1, 1),
    "f1": (4 / 5, 1 / 2, 1, 1),  # 2 · 2 / (2 · 2 + 1) and 2 / (2 + 1 + 1)
    # sTP / (sTP + sFP) = 2 / (2 + 1) and 1 / (1 + 1 + 1/4) and .6 / .6
    "scaled_precision": (2 / 3, 1 / 2.25, 1, 1),
    "scaled_recall": (1, 1 / 2, 0.6, 1),
    "scaled_f1": (harmonic(2 / 3, 1), harmonic(1 / 2.25, 1 / 2), harmonic(1, 0.6), 1),
}
DETECTION = {
    f"{name}.{label}": value
    for name, own in CLASSES.items()
    for label, value in zip(("101", "102", "103", "104"), own, strict=True)
}
DETECTION |= {f"mean_{name}": mean(own) for name, own in CLASSES.items() if name[:2] != "ap"}
DETECTION |= {
    "classes": 4,
    "map": mean(CLASSES["ap"]),
    "map_interpolated": mean(CLASSES["ap_interpolated"]),
    "map.known": mean(CLASSES["ap"][:3]),
    "map.hidden": 1,
    "map.audio": mean((CLASSES["ap"][0], 1, 1)),  # 102 has one reference, found first; 104
    "map.text": 0,
    "map.video": 1,
    # five are right and two false, of six
    "micro_precision": 5 / 7,
    "micro_recall": 5 / 6,
    "micro_f1": 2 * 5 / (2 * 5 + 2 + 1),
    # sTP 2 + 1 + .6 + 1, sFP 1 + 1.25
    "micro_scaled_precision": 4.6 / (4.6 + 2.25),
    "micro_scaled_recall": 4.6 / 6,
    "micro_scaled_f1": harmonic(4.6 / 6.85, 4.6 / 6),
}


def test_every_measure_of_norms_and_emotions_by_hand():
    mapping = pl.DataFrame(MAPPING, ["sys_norm", "ref_norm"], orient="row")
    found = values(corpus(REFERENCE, disclosed=KNOWN), corpus(SYSTEM), mapping=mapping)
    assert found == pytest.approx(DETECTION, abs=1e-12)


AREA = 1 / 2 * 1 / 2 + 1 / 2 * 2 / 3
CHANGES = {
    "cd.ap": mean((AREA, 1)),
    "cd.ap.audio": AREA,
    "cd.ap_interpolated.audio": 2 / 3,
    "cd.ap.text": 1,
    "cd.ap_interpolated.text": 1,
    "cd.precision.audio": 2 / 3,
    "cd.recall.audio": 1,
    "cd.f1.audio": 4 / 5,
    "cd.precision.text": 1 / 2,
    "cd.recall.text": 1,
    "cd.f1.text": 2 / 3,
}
CHANGE_MEASURES = ("ap", "ap_interpolated", "precision", "recall", "f1")
CHANGES |= dict.fromkeys(f"cd.{name}.video" for name in CHANGE_MEASURES)
# once more under the names of what is the default: 10 s and 100 characters
CHANGES |= {
    f"cd.{name}.{genre}@{delta}": CHANGES[f"cd.{name}.{genre}"]
    for name in CHANGE_MEASURES
    for genre, delta in (("audio", 10), ("text", 100))
}


def test_every_measure_of_changes_by_hand():
    reference = corpus(
        changes=[(AUDIO, 10, None), (AUDIO, 90, None), (TEXT, 10, None)],
        regions=[(AUDIO, 0, 100), (TEXT, 0, 99)],
    )
    system = corpus(
        changes=[
            *((AUDIO, 50, 3.0), (AUDIO, 15, 2.0), (AUDIO, 85, 1.0)),  # false, right, right
            *((TEXT, 20, 2.0), (TEXT, 90, 1.0)),  # right, and no other is left
        ]
    )
    assert of(reference, system, change_detection())[0] == pytest.approx(CHANGES, abs=1e-12)


def test_the_rows_of_detections_and_changes_by_hand():
    """A false alarm has nothing right and is false as a whole; changes are some seconds apart."""
    table = of(corpus(REFERENCE), corpus(SYSTEM[:2]))[1]["detections"]
    rows = table.filter(pl.col("class") == "101").select("outcome", "tp_share", "fp_share")
    assert sorted(rows.rows(), key=str) == [("CD", 1, 0), ("FA", 0, 1), ("MD", None, None)]
    regions = [(AUDIO, 0, 100)]
    reference = corpus(changes=[(AUDIO, 10, None)], regions=regions)
    changes = of(reference, corpus(changes=[(AUDIO, 15, 1.0)]), change_detection())[1]["detections"]
    assert changes["distance"].to_list() == [5]


# By modality: the levels of reference and system in each window of 2 s, or of each character.
LEVELS = {
    "audio": ((150, 150, 850, 850), (200, 400, 800, 800)),
    "text": ((150, 150, 500, 500), (100, 100, 100, 900)),
    "video": ((700, 900), (300, 900)),
}
# The three points of these: below 300, below 700, and above.
POINTS = {
    "audio": ((1, 1, 3, 3), (1, 2, 3, 3)),
    "text": ((1, 1, 2, 2), (1, 1, 1, 3)),
    "video": ((3, 3), (2, 3)),
}


def concordance(x, y):
    """2 s_xy / ((mean x - mean y)² + s_x² + s_y²), with n - 1."""
    centre_x, centre_y, freedom = mean(x), mean(y), len(x) - 1
    covariance = sum((a - centre_x) * (b - centre_y) for a, b in zip(x, y, strict=True)) / freedom
    variances = sum(
        sum((value - centre) ** 2 for value in own) / freedom
        for own, centre in ((x, centre_x), (y, centre_y))
    )
    return 2 * covariance / ((centre_x - centre_y) ** 2 + variances)


def kappa(x, y):
    """(p_o - p_e) / (1 - p_e)."""
    size = len(x)
    observed = sum(a == b for a, b in zip(x, y, strict=True)) / size
    chance = sum(x.count(point) * y.count(point) for point in (1, 2, 3)) / size**2
    return (observed - chance) / (1 - chance)


COEFFICIENTS = {name: concordance(*LEVELS[name]) for name in LEVELS}
LEVEL_VALUES = {
    "ccc": concordance(*(sum(series, ()) for series in zip(*LEVELS.values(), strict=True))),
    "ccc_document_mean": mean(COEFFICIENTS.values()),
    "kappa": kappa(*(sum(series, ()) for series in zip(*POINTS.values(), strict=True))),
    **{f"ccc.{name}": value for name, value in COEFFICIENTS.items()},
    **{f"kappa.{name}": kappa(*POINTS[name]) for name in POINTS},
}


@pytest.mark.parametrize("kind", ["valence", "arousal"])
def test_every_measure_of_levels_by_hand(kind):
    documents = {"a": ("audio", 8.0), "t": ("text", 4.0), "v": ("video", 4.0)}
    reference = [
        *(("a", 0, 4, (100, 200)), ("a", 4, 8, (800, 900, 850))),
        *(("t", 1, 2, (100, 200)), ("t", 3, 4, (500, 500))),
        *(("v", 0, 2, (650, 750)), ("v", 2, 4, (900, 900))),
    ]
    system = [
        *(("a", 0, 2, 200), ("a", 2, 4, 400), ("a", 4, 8, 800)),
        *(("t", 1, 3, 100), ("t", 4, 4, 900)),
        *(("v", 0, 2, 300), ("v", 2, 4, 900)),
    ]
    found, _ = scored(gold(documents, reference, kind), said(documents, system, kind), kind=kind)
    assert found == pytest.approx(LEVEL_VALUES, abs=1e-12)


IDEAL_ANSWERS = {"Ceiling": 9, "Operation 1": 6, "Operation 2": 4, "Baseline": 3}
"""How many of the nine scored answers of each speaker are ideal."""
QUESTIONNAIRE = {}
for condition, ideal in IDEAL_ANSWERS.items():
    name = condition.lower().replace(" ", "_")
    # All answers after a perfect scenario are the same: what is observed is what chance gives.
    chance = None if ideal == 9 else 0
    QUESTIONNAIRE |= {f"{name}.agreement": ideal / 9, f"{name}.kappa": chance}
    QUESTIONNAIRE |= {f"{name}.responses": 18}
    if condition != "Baseline":
        QUESTIONNAIRE[f"{name}.agreement_over_baseline"] = ideal / 9 - 3 / 9
        QUESTIONNAIRE[f"{name}.kappa_over_baseline"] = chance


def test_every_measure_of_the_questionnaire_by_hand():
    rows = [
        (condition, f"I{condition}", speaker, question, IDEAL if at < number else "Neutral")
        for condition, number in IDEAL_ANSWERS.items()
        for speaker in "ab"
        for at, question in enumerate(SCORED)
    ]
    found = score("ccu-ta2", None, text(*rows)).metrics
    assert found == pytest.approx(QUESTIONNAIRE, abs=1e-12)


EXAMPLES = {
    **dict.fromkeys(("ccu-nd", "ccu-ed"), DETECTION),
    **dict.fromkeys(("ccu-vd", "ccu-ad"), LEVEL_VALUES),
    "ccu-cd": CHANGES,
    "ccu-ta2": QUESTIONNAIRE,
}

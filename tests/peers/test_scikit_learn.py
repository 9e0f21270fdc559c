"""scikit-learn beside ours, on random labels: one, several, and scores."""

from __future__ import annotations

import warnings
from math import nan

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hlteval.representation import Corpus
from hlteval.scoring.generic.averages import RATES
from hlteval.scoring.generic.labels import Options
from hlteval.scoring.generic.official_scikit_learn import OfficialLabels
from tests.effort import tries

metrics = pytest.importorskip("sklearn.metrics")
preprocessing = pytest.importorskip("sklearn.preprocessing")
LABELS = ["a", "B", "10", "2", "é"]
ZERO = {0: 0, 1: 1, "none": nan}
NAMES = {"precision": "precision", "recall": "recall", "f1": "f1-score"}


def corpus(sets, scores=()):
    rows = []
    for number, labels in enumerate(sets):
        own = scores[number] if len(scores) else dict.fromkeys(labels)
        for label, score in own.items():
            place = {"row": len(rows), "document": number, "origin": 0, "record": number + 1}
            rows.append({**place, "kind": "label", "label": label, "llr": score})
    names = [{"row": number, "name": f"d{number:02}"} for number in range(len(sets))]
    return Corpus(documents=names, instances=rows)


def scored(gold, predicted, undefined, scores=()):
    averages = ("micro", "macro", "weighted", "samples")
    options = Options(average=averages, macro_over="seen", undefined=undefined)
    metric = OfficialLabels("official", options)
    counts, _ = metric.statistics(corpus(gold), corpus(predicted, scores))
    values, tables = metric.score(metric.total([counts]))
    rows = {row["label"]: row for row in tables["labels"].to_dicts()}
    return {name: nan if v is None else v for name, v in values.items()}, rows


def hold(report, values, labels):
    for title, row in report.items():
        if title == "accuracy":
            assert values["micro.f1"] == pytest.approx(row, abs=1e-9)
            continue
        average = title.removesuffix(" avg")
        own = labels.get(title) or {rate: values[f"{average}.{rate}"] for rate in RATES}
        found = {rate: nan if own[rate] is None else own[rate] for rate in RATES}
        wanted = {rate: row[name] for rate, name in NAMES.items()}
        assert found == pytest.approx(wanted, abs=1e-9, nan_ok=True), title


ONE = st.sampled_from(LABELS)
SETS = st.sets(st.sampled_from(LABELS), max_size=3)


@given(
    pairs=st.lists(st.tuples(ONE, ONE), min_size=1, max_size=12), undefined=st.sampled_from([*ZERO])
)
@settings(max_examples=tries(1000), deadline=None)
def test_single_labels(pairs, undefined):
    gold, predicted = map(list, zip(*pairs, strict=True))
    values, labels = scored([{g} for g in gold], [{p} for p in predicted], undefined)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zero = ZERO[undefined]
        report = metrics.classification_report(
            gold, predicted, output_dict=True, zero_division=zero
        )
        others = {
            "accuracy": metrics.accuracy_score(gold, predicted),
            "kappa": metrics.cohen_kappa_score(gold, predicted),
            "mcc": metrics.matthews_corrcoef(gold, predicted),
            "balanced_accuracy": metrics.balanced_accuracy_score(gold, predicted),
        }
    hold(report, values, labels)
    found = {name: values[name] for name in others}
    assert found == pytest.approx(others, abs=1e-9, nan_ok=True)


@given(
    pairs=st.lists(st.tuples(SETS, SETS), min_size=1, max_size=10),
    undefined=st.sampled_from([*ZERO]),
)
@settings(max_examples=tries(1000), deadline=None)
def test_several_labels(pairs, undefined):
    gold, predicted = map(list, zip(*pairs, strict=True))
    seen = sorted(set().union(*gold, *predicted))
    assume(len(seen) > 1)  # the tool takes one column for single labels
    values, labels = scored(gold, predicted, undefined)
    binarizer = preprocessing.MultiLabelBinarizer(classes=seen)
    rows = [binarizer.fit_transform(sets) for sets in (gold, predicted)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zero = ZERO[undefined]
        report = metrics.classification_report(
            *rows, output_dict=True, zero_division=zero, target_names=seen
        )
        accuracy = metrics.accuracy_score(*rows)
    hold(report, values, labels)
    assert values["accuracy"] == pytest.approx(accuracy)


@given(
    rows=st.lists(
        st.tuples(st.booleans(), st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9])),
        min_size=2,
        max_size=15,
    )
)
@settings(max_examples=tries(1000), deadline=None)
def test_rankings(rows):
    truth = np.array([label for label, _ in rows])
    scores = np.array([score for _, score in rows])
    gold = [{"x"} if label else set() for label in truth]
    values, _ = scored(gold, gold, 0, [{"x": float(score)} for score in scores])
    if truth.all() or not truth.any():
        assert np.isnan(values["auc"])
        return
    assert values["auc"] == pytest.approx(metrics.roc_auc_score(truth, scores))
    assert values["ap"] == pytest.approx(metrics.average_precision_score(truth, scores))

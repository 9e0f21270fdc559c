"""Every measure of mentions, relations, events and labels, computed by hand."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

from hlteval.representation import Corpus
from hlteval.scoring.generic.events import Events
from hlteval.scoring.generic.labels import Labels, Options
from hlteval.scoring.generic.mentions import Mentions
from hlteval.scoring.generic.mentions import Options as MentionOptions
from hlteval.scoring.generic.numbers import Numbers
from hlteval.scoring.generic.official_seqeval import OfficialSeqeval
from hlteval.scoring.generic.relations import Relations
from hlteval.scoring.metric import Metric
from hlteval.tasks.generic.declaration import NUMBERS
from tests.unit.generic.test_spans_and_frames import (
    GOLD,
    KNOWS,
    MENTIONS,
    SYSTEM,
    WORKS,
    corpus,
    document_labels,
)

Values = dict[str, float | None]


def rates(name: str, precision: float, recall: float, f1: float) -> Values:
    return {f"{name}.precision": precision, f"{name}.recall": recall, f"{name}.f1": f1}


def semeval(name: str, *counts: int) -> Values:
    """The figures of correct, incorrect, partial, missed and spurious pairs."""
    titles = ("correct", "incorrect", "partial", "missed", "spurious")
    correct, incorrect, partial, missed, spurious = counts
    possible, actual = (
        correct + incorrect + partial + missed,
        correct + incorrect + partial + spurious,
    )
    right = correct + partial / 2
    found: Values = {f"{name}.{title}": n for title, n in zip(titles, counts, strict=True)}
    found |= {f"{name}.possible": possible, f"{name}.actual": actual}
    return found | rates(name, right / actual, right / possible, 2 * right / (actual + possible))


EXAMPLES: dict[str, Values] = {
    # Per: 2 of the reference, 3 of the system, 1 right; Org: 1 and 1, 0 right
    "mentions": {
        **rates("micro", 1 / 4, 1 / 3, 2 / 7),
        **rates("macro", (1 / 3 + 0) / 2, (1 / 2 + 0) / 2, (2 / 5 + 0) / 2),
        **rates("weighted", 2 / 3 * 1 / 3, 2 / 3 * 1 / 2, 2 / 3 * 2 / 5),
        "token_accuracy": 3 / 4,
        # one equal, one of another label, one of another boundary, one without a partner
        **semeval("strict", 1, 2, 0, 0, 1),
        **semeval("exact", 2, 1, 0, 0, 1),
        **semeval("partial", 2, 0, 1, 0, 1),
        **semeval("ent_type", 2, 1, 0, 0, 1),
    },
    # Works is right; Knows is called Owns, so its precision is undefined
    "relations": {
        **rates("micro", 1 / 2, 1 / 2, 1 / 2),
        **rates("macro", 1, 1 / 2, 1 / 2),
        **rates("weighted", 1, 1 / 2, 1 / 2),
        **rates("entities", 1, 1, 1),
    },
    # an argument of the first event is missing, which is one of the second
    "events": {
        **rates("micro", 0, 0, 0),
        **rates("macro", 0, 0, 0),
        **rates("weighted", 0, 0, 0),
        **rates("trigger_identification", 1, 1, 1),
        **rates("trigger_classification", 1, 1, 1),
        **rates("argument_identification", 1, 3 / 4, 6 / 7),
        **rates("argument_classification", 1, 3 / 4, 6 / 7),
    },
    # a: 2 of the reference, 1 of the system, 1 right; b: 2 and 2, 1 right; one has none
    "labels": {
        **rates("micro", 2 / 3, 2 / 4, 4 / 7),
        **rates("macro", 3 / 4, 1 / 2, (2 / 3 + 1 / 2) / 2),
        **rates("weighted", 3 / 4, 1 / 2, (2 / 3 + 1 / 2) / 2),
        **rates("samples", 2 / 3, 2 / 4, 2 / 4),
        "accuracy": 2 / 4,
        "balanced_accuracy": 1 / 2,
        "kappa": (2 / 4 - 6 / 16) / (1 - 6 / 16),
        "mcc": (2 * 4 - 6) / sqrt((16 - 8) * (16 - 5 - 1)),
        "auc": 1 / 2,  # above and below the only document without the label
        "ap": (1 / 1 + 2 / 3) / 2,
        # 0 2 4 4 and 1 1 2 4, whose means are 5/2 and 2; their ranks 1 2 3.5 3.5 and 1.5 1.5 3 4
        "pearson": (5 / 2 + 1 / 2 + 0 + 3) / sqrt(11 * 6),
        "spearman": (3 / 2 + 1 / 2 + 1 / 2 + 3 / 2) / (9 / 2),
        "mse": (1 + 1 + 4 + 0) / 4,
        "mae": (1 + 1 + 2 + 0) / 4,
    },
}


def values(metric: Metric, reference: Corpus, system: Corpus) -> Values:
    counts, _ = metric.statistics(reference, system, alignment=False)
    return metric.score(metric.total([counts]))[0]


def hold(task: str, found: Values, *others: str) -> None:
    """Hold that the values of an example are found, but for some."""
    expected = {name: value for name, value in EXAMPLES[task].items() if name not in others}
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def tags(*written: str) -> Corpus:
    place = {"document": 0, "origin": 0, "record": 1, "text": "x"}
    rows = [
        {**place, "row": n, "start": n, "end": n + 1, "tag": tag} for n, tag in enumerate(written)
    ]
    return Corpus(documents=[{"row": 0, "name": "d"}], tokens=rows)


def test_mentions() -> None:
    hold("mentions", values(Mentions(), corpus(GOLD), corpus(SYSTEM)), "token_accuracy")
    found = values(Mentions(), tags("O", "B-X", "I-X", "O"), tags("O", "B-X", "B-X", "O"))
    assert found["token_accuracy"] == EXAMPLES["mentions"]["token_accuracy"]


@pytest.mark.parametrize(
    ("gold", "system", "f1"),
    [
        (("B-X", "I-X", "O", "B-Y"), ("I-X", "I-X", "O", "B-Y"), 2 / 3),  # IOB2
        (("I-X", "E-X", "O", "E-Y"), ("I-X", "E-X", "O", "I-Y"), 2 / 3),  # IOE2
        (("S-X", "S-X"), ("S-X", "O"), 2 / 3),  # IOBES
        (("B-X", "L-X", "O", "U-Y"), ("B-X", "L-X", "O", "L-Y"), 2 / 3),  # BILOU
        (("I-X", "O"), ("I-X", "O"), None),  # IOB1 is not found
        (("B-X", "O"), ("S-X", "O"), None),  # no tag of IOB2
    ],
)
def test_strict_seqeval_finds_a_scheme_by_prefixes(gold: Any, system: Any, f1: float) -> None:
    metric = OfficialSeqeval("official", MentionOptions(mode="strict", undefined=0))
    counts, _ = metric.statistics(tags(*gold), tags(*system))
    total = metric.total([counts])
    assert metric.score(total)[0]["micro.f1"] == pytest.approx(f1)
    assert [note for note in metric.notes(total) if "refuses" in note] != [] or f1 is not None


def test_relations() -> None:
    other = ("R2", "Owns", "", KNOWS[3])
    sides = corpus(MENTIONS, [WORKS, KNOWS]), corpus(MENTIONS, [WORKS, other])
    hold("relations", values(Relations(), *sides))


def test_events() -> None:
    mentions = [("Per", 0, 7), ("Org", 11, 20), ("Per", 25, 28), ("Meet", 21, 24), ("Like", 8, 10)]
    meet = ("E1", "Meet", "T4", {"Who": "T1", "Who2": "T3"})
    like = ("E2", "Like", "T5", {"Who": "T1", "What": "E1"})
    less = ("E1", "Meet", "T4", {"Who": "T1"})
    hold("events", values(Events(), corpus(mentions, [meet, like]), corpus(mentions, [less, like])))


def test_labels() -> None:
    gold, system = document_labels("a", "a", "b", "b"), document_labels("a", "b", "b", "")
    hold("labels", values(Labels(), gold, system), "auc", "ap", *NUMBERS)
    gold = document_labels("a", "", "a")
    scores = [(0, 0.9), (1, 0.8), (2, 0.7)]
    place = {"origin": 0, "record": 1, "kind": "label", "label": "a"}
    rows = [{"row": n, "document": n, **place, "llr": score} for n, score in scores]
    found = values(Labels("plan", Options()), gold, gold.replace(instances=rows))
    for name in ("auc", "ap"):
        assert found[name] == pytest.approx(EXAMPLES["labels"][name])


def test_labels_that_are_numbers() -> None:
    sides = document_labels("0", "2.0", "4", "4"), document_labels("1", "1", "2", "4.00")
    found = values(Numbers("plan", Options(kind="numbers")), *sides)
    assert found == pytest.approx({name: EXAMPLES["labels"][name] for name in NUMBERS})

"""Mentions, relations, events and labels: values by hand, options, and brute force."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.representation import Corpus
from hlteval.scoring.generic.averages import LabelOptions
from hlteval.scoring.generic.events import Events
from hlteval.scoring.generic.labels import Labels
from hlteval.scoring.generic.labels import Options as LabelsOptions
from hlteval.scoring.generic.mentions import Mentions, Options
from hlteval.scoring.generic.relations import Options as RelationOptions
from hlteval.scoring.generic.relations import Relations
from hlteval.scoring.metric import Metric
from tests.effort import tries
from tests.runs import validate

TEXT = "Ann Lee of Acme Corp met Bob."
#: Label, start and end; gaps as further pairs.
Span = tuple[Any, ...]


def corpus(
    spans: list[Span], frames: Sequence[tuple[str, str, str, dict[str, str]]] = ()
) -> Corpus:
    """A document with mentions T1, T2, … and frames: identifier, label, trigger, fillers."""
    place = {"document": 0, "origin": 0}
    mentions = []
    for at, (label, start, end, *rest) in enumerate(spans):
        parts = [{"start": a, "end": b} for a, b in [(start, end), *rest]] if rest else None
        end = rest[-1][1] if rest else end  # noqa: PLW2901 - of the whole span
        row = {**place, "row": at, "record": at + 1, "mention": f"T{at + 1}", "label": label}
        mentions.append({**row, "start": start, "end": end, "fragments": parts, "text": None})
    rows, arguments = [], []
    for at, (name, label, trigger, fillers) in enumerate(frames):
        kind = "event" if name.startswith("E") else "relation"
        row = {**place, "row": at, "record": at + 9, "frame": name, "kind": kind, "label": label}
        rows.append({**row, "trigger": trigger or None})
        for position, (role, target) in enumerate(fillers.items(), start=1):
            own = {"row": len(arguments), "record": at + 9, "frame_row": at, "position": position}
            arguments.append({**place, **own, "role": role, "target": target})
    documents = [{"row": 0, "name": "d", "text": TEXT}]
    return Corpus(documents=documents, mentions=mentions, frames=rows, arguments=arguments)


def scored(metric: Metric, reference: Corpus, system: Corpus) -> tuple[dict[str, Any], list[str]]:
    counts, aligned = metric.statistics(reference, system)
    assert aligned is not None
    return metric.score(metric.total([counts]))[0], aligned["outcome"].to_list()


GOLD = [("Per", 0, 7), ("Org", 11, 20), ("Per", 25, 28)]
SYSTEM = [("Per", 0, 3), ("Per", 11, 20), ("Per", 25, 28), ("Org", 21, 24)]


def test_mentions_by_hand() -> None:
    values, outcomes = scored(Mentions(), corpus(GOLD), corpus(SYSTEM))
    assert outcomes == ["wrong boundary", "wrong label", "extra", "correct"]
    # one of three found, one of four right
    assert values["micro.recall"] == pytest.approx(1 / 3)
    assert values["micro.precision"] == 1 / 4
    assert values["micro.f1"] == pytest.approx(2 / 7)
    # labels of the reference: Per 1 of 2 found and 1 of 3 right, Org 0 of 1 and 0 of 1
    assert values["macro.recall"] == 1 / 4
    assert values["macro.precision"] == pytest.approx(1 / 6)
    assert values["weighted.recall"] == pytest.approx(1 / 3)
    counts = {
        "strict": (1, 2, 0, 0, 1),
        "exact": (2, 1, 0, 0, 1),
        "partial": (2, 0, 1, 0, 1),
        "ent_type": (2, 1, 0, 0, 1),
    }
    names = ("correct", "incorrect", "partial", "missed", "spurious")
    for measure, wanted in counts.items():
        assert tuple(values[f"{measure}.{name}"] for name in names) == wanted
    assert values["partial.f1"] == pytest.approx(2 * 2.5 / 7)
    assert values["token_accuracy"] is None


@pytest.mark.parametrize(
    ("options", "right"),
    [
        ({}, 1),
        ({"label": "none"}, 2),
        ({"span": "overlap"}, 2),
        ({"span": "overlap", "threshold": 0.5}, 1),
        ({"span": "overlap", "credit": "half"}, 1.5),
        ({"span": "overlap", "credit": "iou"}, 1 + 3 / 7),
        ({"span": "overlap", "label": "none"}, 3),
        ({"span": "iou", "threshold": 0.4}, 2),
        ({"span": "iou"}, 1),
        ({"span": "contains"}, 2),
        ({"span": "end"}, 1),
        ({"span": "end", "label": "none"}, 2),
        ({"span": "tokens"}, 1),
        ({"span": "none"}, 3),
        ({"span": "overlap", "pairing": "greedy-file-order"}, 2),
        ({"span": "overlap", "pairing": "greedy-score"}, 2),
        ({"ignore": ("Org",)}, 1),
        ({"map": {"Org": "Per"}}, 2),
        ({"label": "ancestor", "parents": {"Org": "Per"}}, 2),
    ],
)
def test_options_decide_what_is_right(options: dict[str, Any], right: float) -> None:
    metric = Mentions("plan", Options(**options))
    counts, _ = metric.statistics(corpus(GOLD), corpus(SYSTEM))
    assert counts["met"].sum() / metric.unit == pytest.approx(right, abs=1e-8)
    assert counts["found"].sum() == counts["met"].sum()


def test_words_decide_with_tokens_and_gaps_are_part_of_spans() -> None:
    metric = Mentions("plan", Options(span="tokens"))
    counts, _ = metric.statistics(corpus([("Per", 0, 7)]), corpus([("Per", 1, 8)]))
    assert counts["met"].sum() == 1
    gap = ("Per", 0, 3, (4, 7))
    values, outcomes = scored(Mentions(), corpus([gap]), corpus([("Per", 0, 7)]))
    assert (values["micro.f1"], outcomes) == (0.0, ["wrong boundary"])
    assert scored(Mentions(), corpus([gap]), corpus([gap]))[0]["micro.f1"] == 1.0
    inside = corpus([("Per", 3, 4)])  # in the gap
    assert scored(Mentions(), corpus([gap]), inside)[1] == ["missing", "extra"]


def test_duplicates_count_once_and_nothing_is_undefined() -> None:
    twice = corpus([GOLD[0], GOLD[0]])
    values, _ = scored(Mentions(), corpus(GOLD[:1]), twice)
    assert values["micro.precision"] == 1.0
    values, _ = scored(Mentions(), corpus([]), corpus([]))
    assert values["micro.f1"] is None
    assert values["macro.f1"] is None
    zero = Mentions("plan", Options(undefined=0))
    assert scored(zero, corpus([]), corpus([]))[0]["micro.f1"] == 0.0


SPANS = st.lists(
    st.tuples(st.sampled_from("AB"), st.integers(0, 6), st.integers(1, 4)).map(
        lambda span: (span[0], span[1], span[1] + span[2])
    ),
    max_size=4,
    unique=True,
)


@given(ours=SPANS, theirs=SPANS)
@settings(max_examples=tries(40), deadline=None)
def test_the_optimal_pairing_is_the_best_of_all(ours: list[Span], theirs: list[Span]) -> None:
    def union(first: Span, second: Span) -> float:
        shared = max(0, min(first[2], second[2]) - max(first[1], second[1]))
        return shared / (first[2] - first[1] + second[2] - second[1] - shared)

    metric = Mentions("plan", Options(span="overlap", credit="iou"))
    counts, _ = metric.statistics(corpus(ours), corpus(theirs))
    padded = [*theirs, *[None] * len(ours)]
    best = max(
        (
            sum(union(a, b) for a, b in zip(ours, order, strict=False) if b and a[0] == b[0])
            for order in permutations(padded, len(ours))
        ),
        default=0.0,
    )
    assert counts["met"].sum() / metric.unit == pytest.approx(best, abs=1e-8)


@given(ours=SPANS, theirs=SPANS)
@settings(max_examples=tries(40), deadline=None)
def test_counts_do_not_depend_on_the_order(ours: list[Span], theirs: list[Span]) -> None:
    first = scored(Mentions(), corpus(ours), corpus(theirs))[0]
    assert scored(Mentions(), corpus(ours[::-1]), corpus(theirs[::-1]))[0] == first
    alone = {name: first[name] for name in first if name.endswith((".possible", ".actual"))}
    assert {*alone.values()} == {len(ours), len(theirs)}


MENTIONS = [("Per", 0, 7), ("Org", 11, 20), ("Per", 25, 28)]
WORKS = ("R1", "Works", "", {"Arg1": "T1", "Arg2": "T2"})
KNOWS = ("R2", "Knows", "", {"Arg1": "T1", "Arg2": "T3"})


@pytest.mark.parametrize(
    ("mentions", "frames", "options", "outcomes"),
    [
        (MENTIONS, [WORKS, KNOWS], {}, ["correct", "correct"]),
        (MENTIONS, [WORKS, WORKS], {}, ["correct", "missing"]),
        (MENTIONS, [("R1", "Owns", "", WORKS[3]), KNOWS], {}, ["correct", "wrong label"]),
        ([("Per", 0, 3), *MENTIONS[1:]], [WORKS], {}, ["wrong argument", "missing"]),
        ([("Per", 0, 3), *MENTIONS[1:]], [WORKS], {"arguments": "overlap"}, ["correct", "missing"]),
        ([("X", 0, 7), *MENTIONS[1:]], [WORKS], {"arguments": "span"}, ["correct", "missing"]),
        ([("Per", 4, 7), *MENTIONS[1:]], [WORKS], {"arguments": "end"}, ["correct", "missing"]),
        (MENTIONS, [("R1", "Knows", "", {"Arg1": "T3", "Arg2": "T1"})], {"symmetric": ("Knows",)},
         ["correct", "missing"]),
        (MENTIONS, [("R1", "Works", "", {"Arg1": "T1", "Arg2": "T9"})], {},
         ["missing", "missing", "extra"]),
    ],
)  # fmt: skip
def test_relations_by_hand(
    mentions: list[Span], frames: list[Any], options: dict[str, Any], outcomes: list[str]
) -> None:
    metric = Relations("plan", RelationOptions(**options))
    found = scored(metric, corpus(MENTIONS, [WORKS, KNOWS]), corpus(mentions, frames))[1]
    assert sorted(found) == sorted(outcomes)


def test_events_by_hand() -> None:
    mentions = [("Per", 0, 7), ("Org", 11, 20), ("Per", 25, 28), ("Meet", 21, 24), ("Like", 8, 10)]
    meet = ("E1", "Meet", "T4", {"Who": "T1", "Who2": "T3"})
    like = ("E2", "Like", "T5", {"Who": "T1", "What": "E1"})
    gold = corpus(mentions, [meet, like])
    swapped = corpus(mentions, [like, ("E1", "Meet", "T4", {"Who": "T3", "Who2": "T1"})])
    assert scored(Events(), gold, swapped)[0]["micro.f1"] == 1.0
    less = corpus(mentions, [("E1", "Meet", "T4", {"Who": "T1"}), like])
    values, outcomes = scored(Events(), gold, less)
    assert outcomes == ["wrong argument", "wrong argument"]  # what is within counts, too
    assert values["trigger_classification.f1"] == 1.0
    assert values["argument_classification.recall"] == 3 / 4
    assert values["argument_classification.precision"] == 1.0


def document_labels(*sets: str) -> Corpus:
    """Documents with labels of one letter each."""
    rows = [
        {"row": 10 * at + n, "document": at, "origin": 0, "record": 1, "kind": "label", "label": c}
        for at, letters in enumerate(sets)
        for n, c in enumerate(letters)
    ]
    names = [{"row": at, "name": f"d{at}"} for at in range(len(sets))]
    return Corpus(documents=names, instances=rows)


def test_labels_by_hand() -> None:
    gold, system = document_labels("a", "a", "b", "b"), document_labels("a", "b", "b", "")
    values, outcomes = scored(Labels(), gold, system)
    assert outcomes == ["correct", "wrong label", "correct", "missing"]
    assert values["accuracy"] == 1 / 2
    # a: 1 of 1 and of 2; b: 1 of 2 and of 2
    assert values["macro.precision"] == 3 / 4
    assert values["macro.recall"] == 1 / 2
    assert values["macro.f1"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    # chance: (2 * 1 + 2 * 2) / 16
    assert values["kappa"] == pytest.approx((1 / 2 - 3 / 8) / (1 - 3 / 8))
    samples = Labels("plan", LabelsOptions(average=("samples",)))
    values, _ = scored(samples, document_labels("ab", "c"), document_labels("a", "ab"))
    assert values["samples.precision"] == 1 / 2
    assert values["samples.recall"] == 1 / 4
    assert values["kappa"] is None


def test_sums_of_many_documents_do_not_overflow() -> None:
    """Counts of a document and label take a byte; 300 of them do not fit in one."""
    gold, metric = document_labels(*["a"] * 300), Labels()
    counts, _ = metric.statistics(gold, document_labels(*["a"] * 290, *["b"] * 10))
    total = metric.total([counts, counts]).select("label", "expected", "found", "equal")
    assert total.rows() == [(None, 0, 0, 580), ("a", 600, 580, 0), ("b", 0, 0, 0)]
    weights = np.full((1, 300), 2)
    values = metric.replicates(counts, metric.documents(counts), weights)
    assert values["accuracy"].tolist() == [290 / 300]
    assert values["micro.recall"].tolist() == [290 / 300]


def test_replicates_are_the_scores_of_the_documents() -> None:
    gold, system = document_labels("a", "a", "b", "b"), document_labels("a", "b", "b", "")
    metric = Labels()
    counts, _ = metric.statistics(gold, system)
    alone = metric.values_of(metric.document_sums(counts, ["d0", "d1", "d2", "d3"]))
    assert alone["accuracy"].tolist() == [1.0, 0.0, 1.0, 0.0]
    every = {
        name: values.sum(0, keepdims=True)
        for name, values in metric.document_sums(counts, ["d0", "d1", "d2", "d3"]).items()
    }
    whole = metric.score(metric.total([counts]))[0]
    for name, value in metric.values_of(every).items():
        assert value[0] == pytest.approx(whole[name], nan_ok=True)


def test_labels_that_are_left_out_are_noted() -> None:
    metric = Mentions("plan", Options(ignore=("Org",)))
    counts, _ = metric.statistics(corpus(GOLD), corpus([]))
    notes = metric.notes(metric.total([counts]))
    assert notes[0] == "1 mention with ignored labels left out"
    assert LabelOptions(parents={"a": "b", "b": "a"}).ancestors("a") == ["a", "b"]


@pytest.mark.parametrize("task", ["mentions", "relations", "events", "labels"])
def test_the_flawed_fixture_of_a_task_is_reported(task: str) -> None:
    (path,) = (Path(__file__).parents[3] / "fixtures" / task / "invalid").iterdir()
    codes = [finding.code for finding in validate(task, str(path)).findings]
    assert codes == [path.name.partition("-")[0]]


def test_fragments_of_one_side_only_are_another_span():
    place = {"row": 0, "document": 0, "origin": 0, "record": 1, "mention": "T1", "label": "A"}
    whole = {**place, "start": 0, "end": 6}
    broken = {**whole, "fragments": [{"start": 0, "end": 3}, {"start": 5, "end": 6}]}
    documents = [{"row": 0, "name": "d"}]
    one, two = (Corpus(documents=documents, mentions=[row]) for row in (whole, broken))
    found = [
        Mentions().statistics(*sides)[0]["found"].sum()
        for sides in ((one, two), (two, one), (two, two))
    ]
    assert found == [0, 0, 1]

"""Every measure of links, clusters, segments and transcripts, computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlteval
from hlteval.scoring.generic.segments import Options
from hlteval.scoring.generic.temporal_detection import TemporalDetection
from tests.unit.generic import test_clusters, test_segments, test_transcripts

LINKS = Path(__file__).parents[3] / "fixtures" / "links" / "valid"
Values = dict[str, float | None]


def counts(name: str, right: float, wrong: float) -> Values:
    """Figures of both sides, which have as many."""
    rate = right / (right + wrong) if right + wrong else None
    return {f"{name}.{rate_name}": rate for rate_name in ("precision", "recall", "fscore")} | {
        f"{name}.ptp": right, f"{name}.fp": wrong, f"{name}.rtp": right, f"{name}.fn": wrong
    }  # fmt: skip


def rates(name: str, precision: float, recall: float) -> Values:
    f1 = 2 * precision * recall / (precision + recall)
    return {f"{name}.precision": precision, f"{name}.recall": recall, f"{name}.f1": f1}


THIRD = (2 * 2 / 3 + 1 / 3 + 2) / 5
EXAMPLES: dict[str, Values] = {
    # Ann, Acme, and Osh without an entity; Bob, Osh: the system has another entity for Acme
    "links": {
        **counts("strong_link_match", 3, 1),
        **counts("strong_link_match;docid=<macro>", (1 + 2) / 2, (1 + 0) / 2),
        **counts("strong_nil_match", 1, 0),
        **counts("strong_all_match", 4, 1),
        **counts("strong_typed_link_match", 3, 1),
        **counts("strong_typed_all_match", 4, 1),
        **counts("strong_mention_match", 5, 0),
        **counts("entity_match", 3, 1),
        # five clusters of one mention each, so no links inside a cluster
        **counts("mention_ceaf", 5, 0),
        **counts("b_cubed", 5, 0),
        **counts("muc", 0, 0),
    },
    # entities {0 1 2} {3 4} and {0 1} {2 3 4}
    "coreference": {
        **rates("muc", 2 / 3, 2 / 3),
        **rates("b_cubed", THIRD, THIRD),
        **rates("mention_ceaf", 4 / 5, 4 / 5),
        **rates("entity_ceaf", 4 / 5, 4 / 5),
        # coreference links: 4 and 4, of which 2; others: 6 and 6, of which 4
        **rates("blanc", (2 / 4 + 4 / 6) / 2, (2 / 4 + 4 / 6) / 2),
        # {0 1 2} keeps 1 of 3 links, {3 4} its link
        **rates("lea", (2 + 3 * 1 / 3) / 5, (3 * 1 / 3 + 2) / 5),
        "conll_average.f1": (2 / 3 + THIRD + 4 / 5) / 3,
    },
    # x is A, y is B: 8-9 is missed, 9-10 confused, 20-22 a false alarm
    "segments": {
        "der.miss": 1,
        "der.false_alarm": 2,
        "der.confusion": 1,
        "der.total": 20,
        "der": 4 / 20,
        "jer": ((1 - 8 / 10) + (1 - 10 / 13)) / 2,
        "purity": 18 / 21,
        "coverage": 18 / 20,
        "detection_error": 3 / 20,
        **rates("detection", 19 / 21, 19 / 20),
        # detections of their own: dog is right, false, right, 1 * 1/2 + 2/3 * 1/2; cat has none
        "map": (5 / 6 + 0) / 2,
    },
    # a b c d -> a x c: a hit, a substitution, a hit, a deletion
    "transcripts": {
        "words.hits": 2,
        "words.substitutions": 1,
        "words.insertions": 0,
        "words.deletions": 1,
        "wer": 2 / 4,
        "mer": 2 / 4,
        "wil": 1 - 2 / 4 * 2 / 3,
        # seven characters: a space and d are deleted, b is x
        "characters.hits": 4,
        "characters.substitutions": 1,
        "characters.insertions": 0,
        "characters.deletions": 2,
        "cer": 3 / 7,
    },
}


def hold(task: str, found: Values, *others: str) -> None:
    """Hold that the values of an example are found, but for some."""
    expected = {name: value for name, value in EXAMPLES[task].items() if name not in others}
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_every_measure_of_links() -> None:
    hold(
        "links",
        hlteval.score("links", *(str(LINKS / n) for n in ("reference", "submission"))).metrics,
    )


def test_every_measure_of_coreference() -> None:
    hold(
        "coreference",
        test_clusters.score(test_clusters.corpus("aaabb"), test_clusters.corpus("xxyyy")),
    )


def test_every_measure_of_segments() -> None:
    hold("segments", test_segments.score(test_segments.REFERENCE, test_segments.SYSTEM), "map")
    metric = TemporalDetection(options=Options(threshold=(0.5,)))
    found, _ = metric.statistics(test_segments.DOGS, test_segments.FOUND)
    value = metric.score(metric.total([found]))[0]["map"]
    assert value == pytest.approx(EXAMPLES["segments"]["map"])


def test_every_measure_of_transcripts() -> None:
    sides = ({"1": "a b c d"}, {"1": "a x c"})
    reference, system = (test_transcripts.corpus(d=side) for side in sides)
    hold("transcripts", test_transcripts.score(reference, system))

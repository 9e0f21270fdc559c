"""The F-score: 0 where nothing is right, undefined only where both sides are empty."""

from __future__ import annotations

import pytest

from hlteval import compare
from hlteval.scoring.edl.measures import DEFAULT
from hlteval.workflows.run.request import Intervals
from tests.runs import score

NOWHERE = "D 7 9 E9 1 ORG\nD 17 19 E9 1 ORG\n"
GOLD = "D 1 5 E1 1 PER\nD 11 15 E1 1 PER\n"


@pytest.fixture
def write(tmp_path):
    """Writes a file of annotations, given as lines with spaces for tabs."""

    def file(name, content):
        path = tmp_path / name
        path.write_text(content.replace(" ", "\t"), "utf-8")
        return str(path)

    return file


def test_every_measure_is_0_where_nothing_is_right(write):
    gold, wrong = write("r", GOLD), write("s", NOWHERE)
    metrics = score("lorehlt-edl", gold, wrong).metrics
    for name in DEFAULT:
        rates = [metrics[f"{name}.{figure}"] for figure in ("precision", "recall", "fscore")]
        some = rates[0] is not None or rates[1] is not None
        assert rates[2] == (0 if some else None), name
    assert metrics["strong_typed_all_match.fscore"] == metrics["muc.fscore"] == 0
    assert metrics["overlap-maxmax::span.fscore"] == metrics["b_cubed.fscore"] == 0


def test_where_one_side_is_empty_it_is_0(write):
    gold = write("r", GOLD)
    linked = {"measure": "strong_typed_link_match"}
    nothing = write("s", "D 1 5 NIL1 1 PER\n")
    found = score("lorehlt-edl", gold, nothing, options=linked).metrics
    assert found["strong_typed_link_match.precision"] is None
    assert found["strong_typed_link_match.fscore"] == 0
    only = score("lorehlt-edl", gold, nothing, options={"measure": "strong_nil_match"}).metrics
    assert only["strong_nil_match.recall"] is None and only["strong_nil_match.fscore"] == 0
    neither = score("lorehlt-edl", gold, gold, options={"measure": "strong_nil_match"}).metrics
    assert neither["strong_nil_match.fscore"] is None


def test_means_over_groups_count_the_zeros(write):
    gold = write("r", "".join(f"D{number} 1 5 E1 1 PER\n" for number in range(4)))
    system = write(
        "s", "D0 1 5 E1 1 PER\n" + "".join(f"D{number} 7 9 E1 1 PER\n" for number in (1, 2, 3))
    )
    options = {"measure": "strong_mention_match", "by": "document"}
    metrics = score("lorehlt-edl", gold, system, options=options).metrics
    macro = [
        metrics[f"strong_mention_match;docid=<macro>.{figure}"]
        for figure in ("precision", "recall", "fscore")
    ]
    assert macro == [0.25, 0.25, 0.25]


def test_the_interval_counts_replicates_without_a_hit(write):
    gold = write("r", "".join(f"D{number:02} 1 5 E1 1 PER\n" for number in range(20)))
    ends = [5 if number < 2 else 6 for number in range(20)]
    system = write("s", "".join(f"D{n:02} 1 {end} E1 1 PER\n" for n, end in enumerate(ends)))
    options = {"measure": "strong_mention_match"}
    wanted = Intervals(1000, seed=1)
    scored = score("lorehlt-edl", gold, system, options=options, intervals=wanted)
    recall, fscore = (
        scored.intervals[f"strong_mention_match.{figure}"] for figure in ("recall", "fscore")
    )
    assert fscore == pytest.approx(recall)
    assert fscore[0] == 0


def test_a_system_without_a_hit_has_a_rank(write):
    gold = write("r", GOLD)
    found = compare("lorehlt-edl", gold, [write("good", GOLD), write("bad", NOWHERE)])
    assert [(system.value, system.rank is None) for system in found.systems] == [
        (1, False),
        (0, False),
    ]


def test_official_prints_what_the_scorer_prints(write):
    sides = write("r", GOLD), write("s", NOWHERE)
    assert score("lorehlt-edl", *sides, profile="official").metrics["muc.fscore"] == 0

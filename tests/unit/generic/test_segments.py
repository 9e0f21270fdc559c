"""Turns of speakers, by hand and beside a slow count of whole seconds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hlteval
from hlteval.representation import Corpus
from hlteval.scoring.generic.official_pyannote import OfficialSpeakerTurns
from hlteval.scoring.generic.segments import Options, SpeakerTurns
from hlteval.scoring.generic.temporal_detection import TemporalDetection, segment_metric
from tests.effort import tries

Turn = tuple[str, float, float]


def corpus(*documents: Sequence[Turn], scores: Sequence[float | None] = ()) -> Corpus:
    """A corpus of documents f0, f1 … with turns: speaker, start and end."""
    rows = [
        {"document": at, "origin": 0, "record": 1, "kind": "norm", "label": name}
        | {"start": float(start), "end": float(end)}
        for at, turns in enumerate(documents)
        for name, start, end in turns
    ]
    known = [*scores, *[None] * (len(rows) - len(scores))]
    for at, (row, score) in enumerate(zip(rows, known, strict=True)):
        row |= {"row": at, "llr": score}
    names = [{"row": at, "name": f"f{at}"} for at in range(len(documents))]
    return Corpus(documents=names, instances=rows)


def score(
    reference: Corpus, system: Corpus, *, official: bool = False, **options: Any
) -> dict[str, float | None]:
    kind = OfficialSpeakerTurns if official else SpeakerTurns
    metric = kind("official" if official else "plan", Options(**options))
    counts, _ = metric.statistics(reference, system)
    return metric.score(metric.total([counts]))[0]


def evaluated(*stretches: tuple[str, float, float]) -> pl.DataFrame:
    return pl.DataFrame([*stretches], ["name", "start", "end"], orient="row")


REFERENCE = corpus([("A", 0, 10), ("B", 10, 20)])
SYSTEM = corpus([("x", 0, 8), ("y", 9, 22)])


def test_a_collar_and_a_uem_leave_out_time() -> None:
    values = score(REFERENCE, SYSTEM, collar=2.0)
    # 0-1, 9-11 and 19-21 are left out; 8-9 is missed and 21-22 a false alarm
    assert (values["der.total"], values["der.miss"], values["der.false_alarm"]) == (16.0, 1.0, 1.0)
    assert values["der.confusion"] == 0.0
    values = score(REFERENCE, SYSTEM, evaluated=evaluated(("f0", 5, 9), ("f0", 8, 15)))
    assert (values["der.total"], values["der.miss"], values["der.confusion"]) == (10.0, 1.0, 1.0)


def test_overlapped_speech_can_be_left_out() -> None:
    reference = corpus([("A", 0, 10), ("B", 5, 15)])
    assert score(reference, corpus([("x", 0, 15)]))["der.miss"] == 5.0
    values = score(reference, corpus([("x", 0, 15)]), skip_overlap=True)
    assert (values["der.total"], values["der.miss"]) == (10.0, 0.0)


def test_overlapping_turns_of_one_speaker_are_one_turn_but_for_the_tool() -> None:
    reference, system = corpus([("A", 0, 10), ("A", 5, 15)]), corpus([("x", 0, 15)])
    assert score(reference, system)["der.total"] == 15.0
    assert score(reference, system, official=True)["der.total"] == 20.0


def test_speakers_can_be_compared_by_name() -> None:
    system = corpus([("B", 0, 10), ("A", 10, 20)])
    assert score(REFERENCE, system)["der"] == 0.0
    assert score(REFERENCE, system, label="equal")["der"] == 1.0


def test_the_greedy_mapping_takes_the_longest_common_time_first() -> None:
    reference = corpus([("A", 0, 11), ("B", 11, 16)])
    system = corpus([("x", 0, 5), ("y", 5, 11), ("x", 20, 21), ("y", 11, 16)])
    # A-y share 6 s and nothing else is left; A-x and B-y share 10 s
    assert score(reference, system)["der.confusion"] == 6.0
    assert score(reference, system, pairing="greedy-score")["der.confusion"] == 10.0


def test_speakers_of_two_documents_are_different() -> None:
    reference = corpus([("A", 0, 10)], [("A", 0, 10)])
    system = corpus([("x", 0, 10)], [("y", 0, 10)])
    assert score(reference, system)["der"] == 0.0


def test_documents_of_one_side_are_missed_or_false() -> None:
    values = score(corpus([("A", 0, 10)], []), corpus([], [("x", 0, 5)]))
    assert (values["der.miss"], values["der.false_alarm"], values["der"]) == (10.0, 5.0, 1.5)


def test_without_turns_rates_are_undefined_but_for_the_tool() -> None:
    nothing = corpus([])
    found = score(nothing, nothing)
    assert [found[name] for name in ("der", "jer", "purity", "coverage")] == [None] * 4
    found = score(nothing, nothing, official=True)
    assert [found[name] for name in ("der", "jer", "purity", "detection.f1")] == [
        0.0,
        1.0,
        1.0,
        1.0,
    ]
    found = score(nothing, corpus([("x", 0, 5)]), official=True)
    assert (found["der"], found["detection_error"]) == (1.0, 1.0)


def test_the_alignment_has_a_row_per_change_of_speakers() -> None:
    metric = SpeakerTurns()
    counts, rows = metric.statistics(REFERENCE, SYSTEM)
    assert rows is not None
    assert rows.select("start", "end", "reference", "system", "mapped", "outcome").rows() == [
        (0.0, 8.0, "A", "x", "A", "correct"),
        (8.0, 9.0, "A", None, None, "missing"),
        (9.0, 10.0, "A", "y", "B", "wrong label"),
        (10.0, 20.0, "B", "y", "B", "correct"),
        (20.0, 22.0, None, "y", "B", "extra"),
    ]
    (note,) = metric.notes(metric.total([counts]))
    assert note == "1 document without evaluated stretches: evaluated from first to last turn"


def test_only_measures_that_are_chosen_are_computed() -> None:
    assert score(REFERENCE, SYSTEM, measures=("jer",)).keys() == {"jer"}


def by_seconds(reference: Sequence[Turn], system: Sequence[Turn]) -> list[float]:
    """Miss, false alarm, confusion and total, second by second, with the best of all mappings."""

    def speakers(turns: Sequence[Turn]) -> list[set[str]]:
        return [{name for name, start, end in turns if start <= t < end} for t in range(20)]

    ours, theirs = speakers(reference), speakers(system)
    names = sorted(set().union(*theirs))
    known: list[str | None] = [*sorted(set().union(*ours)), *[None] * len(names)]
    correct = max(
        sum(
            len({mapped[name] for name in found} & expected)
            for expected, found in zip(ours, theirs, strict=True)
        )
        for chosen in permutations(known, len(names))
        for mapped in [dict(zip(names, chosen, strict=True))]
    )
    pairs = [(len(expected), len(found)) for expected, found in zip(ours, theirs, strict=True)]
    return [
        sum(max(0, r - h) for r, h in pairs),
        sum(max(0, h - r) for r, h in pairs),
        sum(min(pair) for pair in pairs) - correct,
        sum(r for r, _ in pairs),
    ]


def turns(names: str) -> st.SearchStrategy[list[Turn]]:
    times = st.tuples(st.integers(0, 18), st.integers(1, 6))
    turn = st.tuples(st.sampled_from(names), times)
    return st.lists(turn.map(lambda t: (t[0], t[1][0], min(20, sum(t[1])))), max_size=5)


@settings(max_examples=tries(60), deadline=None)
@given(turns("ABC"), turns("xyz"))
def test_error_rates_are_those_of_seconds_counted_one_by_one(
    reference: list[Turn], system: list[Turn]
) -> None:
    values = score(corpus(reference), corpus(system))
    found = [values[f"der.{name}"] for name in ("miss", "false_alarm", "confusion", "total")]
    assert found == by_seconds(reference, system)


@settings(max_examples=tries(20), deadline=None)
@given(st.lists(st.tuples(turns("AB"), turns("xy")), min_size=1, max_size=4))
def test_counts_of_documents_are_those_of_each_alone(pairs: list[tuple[Any, Any]]) -> None:
    metric = SpeakerTurns()
    sides = [corpus(*(pair[side] for pair in pairs)) for side in (0, 1)]
    counts, _ = metric.statistics(*sides, alignment=False)
    for at, (reference, system) in enumerate(pairs):
        alone, _ = metric.statistics(corpus(reference), corpus(system), alignment=False)
        assert counts.drop("document").row(at) == alone.drop("document").row(0)


DOGS = corpus([("dog", 0, 4), ("dog", 10, 14), ("cat", 10, 14)])
FOUND = corpus([("dog", 0, 3), ("dog", 30, 33), ("dog", 10, 13.9)], scores=[0.9, 0.8, 0.7])


def test_average_precision_by_hand() -> None:
    metric = TemporalDetection(options=Options(threshold=(0.5, 0.8)))
    counts, rows = metric.statistics(DOGS, FOUND)
    values, tables = metric.score(metric.total([counts]))
    # dog: right, false, right: 1 * 1/2 + 2/3 * 1/2; cat: nothing
    assert values["map@0.5"] == pytest.approx((5 / 6 + 0) / 2)
    # the first dog has an IoU of 0.75: only the third of three is right
    assert values["map@0.8"] == pytest.approx((1 / 3 * 1 / 2) / 2)
    assert values["map"] == pytest.approx((5 / 12 + 1 / 12) / 2)
    assert tables["labels"].select("label", "references", "detections").rows() == [
        ("cat", 1, 0),
        ("dog", 2, 3),
    ]
    assert rows is not None
    assert rows["outcome"].to_list() == ["correct", "missing", "correct", "extra"]


def test_detections_of_all_documents_are_ranked_together() -> None:
    metric = TemporalDetection()
    reference = corpus([("dog", 0, 4)], [("dog", 0, 4)])
    system = corpus([("dog", 8, 9)], [("dog", 0, 4)], scores=[0.9, 0.1])
    counts, _ = metric.statistics(reference, system)
    assert metric.score(metric.total([counts]))[0]["map"] == 1 / 4


def test_mean_average_precision_is_computed_alone() -> None:
    assert isinstance(segment_metric("plan", Options(measures=("map",))), TemporalDetection)
    assert isinstance(segment_metric("plan", Options()), SpeakerTurns)
    with pytest.raises(ValueError, match="alone"):
        segment_metric("plan", Options(measures=("der", "map")))


def test_stretches_of_other_documents_alone_are_an_error(tmp_path: Path) -> None:
    """Without a word, each document would be evaluated from first to last turn."""
    (tmp_path / "all.uem").write_text("meeting.wav 1 0 60\n")
    (tmp_path / "gold.rttm").write_text("SPEAKER meeting 1 1 1 <NA> <NA> A <NA> <NA>\n")
    path = str(tmp_path / "gold.rttm")
    with pytest.raises(hlteval.Refused) as refused:
        options = {"evaluated": str(tmp_path / "all.uem")}
        hlteval.score("segments", reference=path, system=path, options=options)
    (finding,) = (item for item in refused.value.verdict.findings if item.blocking)
    assert (finding.code, finding.side) == ("OPT114", "--evaluated")
    assert finding.message == "no document is called meeting.wav"
    assert finding.help == "use the names of documents: meeting"

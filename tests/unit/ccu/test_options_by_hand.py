"""What options of detections do to one example each, and the statistics of levels, by hand."""

from __future__ import annotations

from statistics import mean, pstdev, stdev

import pytest

from hlteval.scoring.ccu.levels import LevelOptions
from hlteval.scoring.ccu.official_levels import level_diarization
from tests.unit.ccu.level_corpora import gold, said
from tests.unit.ccu.test_detection import corpus, of, values


def test_segments_are_in_the_part_of_a_document_where_they_begin():
    """Of 40 s in two parts: 101 and 102 in the first, 101 in the second, where 102 is said."""
    reference = corpus(
        [(0, "101", 0, 10, None), (0, "102", 10, 20, None), (0, "101", 20, 40, None)],
        regions=[(0, 0, 10), (0, 10, 20), (0, 20, 40)],
    )
    system = corpus([(0, "101", 0, 15, 2.0), (0, "101", 25, 30, 2.0), (0, "102", 25, 30, 1.0)])
    found = values(reference, system, file_merge=2)
    assert (found["ap.101"], found["ap.102"]) == (1, 0)
    assert (found["micro_precision"], found["micro_recall"]) == (2 / 3, 2 / 3)


def test_a_segment_that_lies_mostly_in_the_next_part_is_in_that():
    """8 to 30 s has 12 s in the first 20 s and 10 s after them; 9 to 32 s has 11 and 12."""
    for start, end, part in ((8, 30, (0, 30)), (9, 32, (9, 40))):
        reference = corpus(
            [(0, "101", 0, start, None), (0, "102", start, end, None), (0, "103", end, 40, None)],
            regions=[(0, 0, start), (0, start, end), (0, end, 40)],
        )
        system = corpus([(0, "102", start, end, 1.0)])
        table = of(reference, system, file_merge=2)[1]["detections"]
        (row,) = table.filter(outcome="CD").select("reference_start", "reference_end").rows()
        assert row == part


def test_an_instance_within_another_does_not_end_it_when_instances_are_merged():
    """0 to 10 and 2 to 3 are one, and 10.5 to 12 begins less than a second after it."""
    reference = corpus([(0, "101", 0, 10, None), (0, "101", 20, 40, None)])
    system = corpus(
        [
            *((0, "101", 0, 10, 2.0), (0, "101", 2, 3, 3.0), (0, "101", 10.5, 12, 1.0)),
            (0, "101", 20, 40, 1.0),
        ]
    )
    table = of(reference, system, merge_system=1.0)[1]["detections"]
    assert table.select("system_start", "system_end", "llr").rows() == [(0, 12, 3), (20, 40, 1)]


def test_the_statistics_of_levels_by_hand():
    """Z-scores over all records of the system; of these, means and sample deviations by genre."""
    documents = {"a": ("audio", 8.0), "t": ("text", 4.0)}
    reference = [("a", 0, 4, (100, 200)), ("a", 4, 8, (800, 900)), ("t", 1, 4, (500, 400))]
    written = {"a": (200, 400, 800), "t": (100, 900)}
    places = {"a": ((0, 2), (2, 4), (4, 8)), "t": ((1, 2), (3, 4))}
    system = [
        (name, *place, level)
        for name in written
        for place, level in zip(places[name], written[name], strict=True)
    ]
    metric = level_diarization("official", LevelOptions(), "valence")
    counts, _ = metric.statistics(gold(documents, reference), said(documents, system))
    lines = metric.official_files(metric.total([counts]))["statistics_aggregated.tab"].splitlines()
    found = {tuple(line.split("\t")[:3]): line.split("\t")[3] for line in lines}
    every = [level for own in written.values() for level in own]
    for genre, own in (("audio", written["a"]), ("text", written["t"])):
        centre, spread = (mean(own) - mean(every)) / pstdev(every), stdev(own) / pstdev(every)
        assert float(found["sys", genre, "mean_level"]) == pytest.approx(centre, abs=0.006)
        assert float(found["sys", genre, "stdev_level"]) == pytest.approx(spread, abs=0.006)


def test_only_official_writes_the_file_of_units():
    documents = {"a": ("audio", 8.0)}
    reference = gold(documents, [("a", 0, 4, (100, 200)), ("a", 4, 8, (800, 900))])
    system = said(documents, [("a", 0, 4, 200), ("a", 4, 8, 400)])
    files = {}
    for profile in ("plan", "official"):
        metric = level_diarization(profile, LevelOptions(), "valence")
        counts, aligned = metric.statistics(reference, system)
        files[profile] = metric.error_analysis(aligned, metric.total([counts]))[1]
    assert files["plan"] == {}
    assert files["official"].keys() == {"segment_diarization.tab"}

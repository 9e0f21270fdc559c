"""Levels of valence and arousal: the examples of the plan, and what it says of each case."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from hlteval.representation import Corpus
from hlteval.scoring.agreement.coefficients import kappas
from hlteval.scoring.ccu import official_levels
from hlteval.scoring.ccu.levels import LevelOptions, average_judgments, ratings, reference_pieces
from hlteval.scoring.ccu.official_levels import as_windows, level_diarization
from hlteval.scoring.resampling import bootstrap
from tests.unit.ccu.level_corpora import gold, said, scored

APPENDIX_D = [
    ("d", 0, 10, (156, 178, 165)),
    ("d", 10, 15, (259, 281, 301)),
    ("d", 15, 17.5, (978, 899, 950)),
    ("d", 18, 27.5, (600, 800)),
    ("d", 28, 38, (978,)),
]
FIGURE_2 = [
    (1, 7, (428, 701, 639), 589),
    (8, 11, (793, 653, 604), 683),
    (12, 18, (815, 865, 929), 869),
    (19, 24, (69, 174, 454), 232),
    (25, 31, (280, 364, 363), 335),
    (32, 35, (558, 499, 503), 520),
    (36, 42, (303, 457, 160), 306),
    (43, 50, (884, 824, 140), 616),
]
FIGURE_2_SYSTEM = [(1, 14, 754), (15, 20, 974), (21, 24, 572), (25, 31, 219), (32, 35, 583),
                   (36, 50, 158)]  # fmt: skip
AUDIO = {"d": ("audio", 40.0)}
TEXT = {"d": ("text", 40.0)}


def rows_of(corpus: Corpus, *, text: bool = False) -> pl.DataFrame:
    return ratings(corpus, "valence", pl.DataFrame({"document": [0], "text": [text]}))


def levels(units: pl.DataFrame) -> list[tuple[float, ...]]:
    return units.select("start", "end", "units", "reference", "system").rows()


def test_judgments_of_the_worked_example_are_averaged():
    pieces = average_judgments(rows_of(gold(AUDIO, APPENDIX_D)))
    assert pieces["level"].round(1).to_list()[:4] == [166.3, 280.3, 942.3, 700]
    assert np.isnan(pieces["level"][4])


def test_gaps_of_the_worked_example_are_extended():
    pieces = reference_pieces(rows_of(gold(AUDIO, APPENDIX_D)), LevelOptions())
    assert pieces.select("start", "end").rows() == [(0, 10), (10, 15), (15, 18), (18, 28), (28, 38)]


def test_figure_2_has_the_averages_of_its_table_cut_to_integers():
    segments = [("d", start, end, levels) for start, end, levels, _ in FIGURE_2]
    pieces = reference_pieces(rows_of(gold(TEXT, segments), text=True), LevelOptions())
    assert [int(level) for level in pieces["level"]] == [row[3] for row in FIGURE_2]
    assert pieces["end"].to_list() == [end + 1 for _, end, *_ in FIGURE_2]


def test_figure_2_is_compared_character_by_character():
    segments = [("d", start, end, levels) for start, end, levels, _ in FIGURE_2]
    system = [("d", *row) for row in FIGURE_2_SYSTEM]
    documents = {"d": ("text", 50.0)}
    values, units = scored(gold(documents, segments), said(documents, system))
    x = np.repeat([np.mean(row[2]) for row in FIGURE_2], [e - s + 1 for s, e, *_ in FIGURE_2])
    y = np.repeat([row[2] for row in FIGURE_2_SYSTEM], [e - s + 1 for s, e, _ in FIGURE_2_SYSTEM])
    assert units["units"].sum() == 50
    covariance = np.cov(x, y)
    expected = 2 * covariance[0, 1] / (np.trace(covariance) + (x.mean() - y.mean()) ** 2)
    assert values["ccc"] == values["ccc.text"] == pytest.approx(expected, abs=1e-12)
    points = [np.digitize(series, (300, 700)) for series in (x, y)]
    table = np.histogram2d(*points, bins=(3, 3), range=((0, 3), (0, 3)))[0]
    assert values["kappa"] == pytest.approx(float(kappas(table)), abs=1e-12)


@pytest.mark.parametrize(
    ("judgments", "level"),
    [
        ((300, 500, 700), 500),
        ((300, 500), 400),
        ((300,), None),
        ((300, None, 700), 500),
        ((None, 300, None), None),
        ((None, None, None), None),
    ],
    ids=["three", "two", "one", "two-and-noann", "one-and-noann", "noann"],
)
def test_segments_are_scored_by_their_number_of_judgments(judgments, level):
    segments = [("d", 0, 10, judgments), ("d", 10, 40, (500, 600))]
    _, units = scored(gold(AUDIO, segments), said(AUDIO, [("d", 0, 40, 500)]))
    assert levels(units)[0][:4] == ((0, 10, 5, level) if level else (10, 40, 15, 550))


@pytest.mark.parametrize(
    ("covered", "level"), [(39, 300), (40, 300), (38, 500)], ids=["before", "with", "far"]
)
def test_the_last_annotated_character_of_a_text_counts_whether_it_is_covered_or_not(covered, level):
    """Offsets that begin at 1 end at the length: 40 characters are annotated, 1 to 40."""
    reference = gold(TEXT, [("d", 1, 20, (100, 200)), ("d", 21, 40, (400, 600))])
    _, units = scored(reference, said(TEXT, [("d", 0, covered, 300)]))
    assert units["units"].sum() == 40
    # 41 is the end of character 40; a single missing character is one of the way of counting
    assert levels(units.tail(1)) == [(39 if level == 500 else 21, 41, 2 if level == 500 else 20,
                                      500, level)]  # fmt: skip


def test_a_text_of_unknown_length_ends_with_its_annotation():
    documents = {"d": ("text", None)}
    reference = gold(documents, [("d", 0, 9, (100, 200))])
    _, units = scored(reference, said(documents, [("d", 0, 4, 300)]))
    assert levels(units) == [(0, 5, 5, 150, 300), (5, 10, 5, 150, 500)]


def test_an_annotator_counts_once():
    twice = gold(AUDIO, [("d", 0, 40, (300,))])
    rows = [*twice.ratings.rows(named=True)] * 2
    again = [row | {"row": number, "record": number + 1} for number, row in enumerate(rows)]
    _, units = scored(twice.replace(ratings=again), said(AUDIO, [("d", 0, 40, 500)]))
    assert units.is_empty()


def test_windows_are_averaged_over_time_and_the_last_over_what_it_covers():
    documents = {"d": ("video", 5.0)}
    reference = gold(documents, [("d", 0, 2.5, (100, 100)), ("d", 2.5, 5, (500, 500))])
    _, units = scored(reference, said(documents, [("d", 0, 4.25, 200), ("d", 4.25, 5, 600)]))
    assert levels(units) == [(0, 2, 1, 100, 200), (2, 4, 1, 400, 200), (4, 5, 1, 500, 500)]


def test_a_window_that_touches_a_no_score_region_is_not_scored():
    reference = gold(AUDIO, [("d", 4.5, 20, (500, 600)), ("d", 30, 37, (500, 600))])
    _, units = scored(reference, said(AUDIO, [("d", 0, 40, 500)]))
    assert [row[:3] for row in levels(units)] == [(6, 20, 7), (30, 36, 3)]


@pytest.mark.parametrize(
    ("documents", "end", "start", "units"),
    [
        (AUDIO, 10, 10.999, 20),
        (AUDIO, 10, 11, 19),
        (AUDIO, 10.2, 11.2, 19),
        (TEXT, 9, 19, 41),
        (TEXT, 9, 20, 31),
    ],
)
def test_gaps_of_one_second_or_ten_characters_are_no_score_regions(documents, end, start, units):
    reference = gold(documents, [("d", 0, end, (500, 600)), ("d", start, 40, (500, 600))])
    _, found = scored(reference, said(documents, [("d", 0, 40, 500)]))
    assert found["units"].sum() == units


@pytest.mark.parametrize(("kind", "level"), [("valence", 500), ("arousal", 1)])
def test_a_document_that_was_not_processed_has_one_level(kind, level):
    reference = gold(AUDIO, [("d", 0, 40, (300, 400))], kind)
    for system in (
        said(AUDIO, [], kind),
        said({}, [], kind),
        said(AUDIO, [("d", 0, 40, 9)], kind, unprocessed="d"),
    ):
        _, units = scored(reference, system, kind=kind)
        assert levels(units) == [(0, 40, 20, 350, level)]


def test_where_a_system_has_no_level_it_has_that_of_an_unprocessed_document():
    reference = gold(AUDIO, [("d", 0, 40, (300, 400))])
    system = said(AUDIO, [("d", 0, 10, 900), ("d", 20, 30, 900)])
    _, units = scored(reference, system)
    assert [row[4] for row in levels(units)] == [900, 500, 900, 500]


def test_with_gaps_short_ones_are_closed_and_others_not_scored():
    reference = gold(AUDIO, [("d", 0, 40, (300, 400))])
    system = said(AUDIO, [("d", 2, 10, 900), ("d", 10.5, 20, 800), ("d", 24, 40, 700)])
    _, units = scored(reference, system, gaps=True)
    assert levels(units) == [
        (2, 10, 4, 350, 900),
        (10, 12, 1, 350, 825),
        (12, 20, 4, 350, 800),
        (24, 40, 8, 350, 700),
    ]


def test_bounds_of_text_are_inclusive_or_shared():
    reference = gold(TEXT, [("d", 0, 39, (300, 400))])
    inclusive = said(TEXT, [("d", 0, 9, 900), ("d", 10, 39, 500)])
    shared = said(TEXT, [("d", 0, 10, 900), ("d", 10, 40, 500)])
    units = [scored(reference, system)[1] for system in (inclusive, shared)]
    assert units[0].equals(units[1])
    assert levels(units[0]) == [(0, 10, 10, 350, 900), (10, 40, 30, 350, 500)]


def test_official_coverage_counts_a_shared_character_twice():
    """Of 40 characters, which both sides have, two pieces of the system share one."""
    reference = gold(TEXT, [("d", 0, 39, (300, 400))])
    for end, both in ((9, 40), (10, 41)):
        system = said(TEXT, [("d", 0, end, 900), ("d", 10, 39, 500)])
        counts, _ = level_diarization("official", LevelOptions()).statistics(reference, system)
        assert counts.select("both_ref_sys", "only_ref").row(0) == (both, 0)


def test_only_documents_of_the_index_are_scored():
    documents = {"a": ("audio", 10.0), "b": ("text", 10.0)}
    reference = gold(documents, [("a", 0, 10, (1, 1)), ("b", 0, 9, (1, 1))])
    system = said(documents, [("a", 0, 10, 5), ("b", 0, 9, 5)])
    assert set(scored(reference, system)[1]["document"]) == {"a", "b"}
    assert set(scored(reference, system, index=frozenset("bx"))[1]["document"]) == {"b"}


def test_an_unprocessed_document_moves_little_in_the_plan_and_all_in_official():
    documents = {"a": ("audio", 60.0), "b": ("audio", 40.0)}
    judged = [("a", 10 * i, 10 * i + 10, (150 * i + 90, 150 * i + 110)) for i in range(6)]
    judged += [("b", 10 * i, 10 * i + 10, (490 + i, 510 + i)) for i in range(4)]
    reference = gold(documents, judged)
    own = [("a", 10 * i, 10 * i + 10, 150 * i + 100) for i in range(6)]
    whole = [*own, *(("b", 10 * i, 10 * i + 10, 500 + i) for i in range(4))]
    for profile, low, high in (("plan", 0.99, 1), ("official", -0.01, 0.01)):
        assert scored(reference, said(documents, whole), profile)[0]["ccc"] > 0.99
        value = scored(reference, said(documents, own, unprocessed="b"), profile)[0]["ccc"]
        assert low < value < high


def test_constant_levels_of_the_reference_and_the_system():
    reference = gold(AUDIO, [("d", 0.7, 40, (300, 301))])
    one = said(AUDIO, [("d", 0, 13.3, 300), ("d", 13.3, 40, 300)])
    assert scored(reference, one)[0]["ccc"] == 0
    same = gold(AUDIO, [("d", 0.7, 13.3, (300, 300)), ("d", 13.3, 40, (300, 300))])
    values, _ = scored(same, one)
    assert values["ccc"] is values["ccc_document_mean"] is values["kappa"] is None
    varied = gold(AUDIO, [("d", 0.7, 13.3, (300, 310)), ("d", 13.3, 40, (900, 310))])
    values, _ = scored(varied, one, "official")
    assert values["ccc"] is None  # no z-scores of equal levels


def test_documents_are_resampled_as_sums():
    documents = dict.fromkeys("abcdefghijkl", ("audio", 20.0))
    judged = [(n, 0, 20, (50 * i + 100, 50 * i + 90)) for i, n in enumerate(documents)]
    reference = gold(documents, judged)
    system = said(documents, [(n, 0, 20, 60 * i + 50) for i, n in enumerate(documents)])
    for profile in ("plan", "official"):
        metric = level_diarization(profile, LevelOptions())
        counts, _ = metric.statistics(reference, system)
        values = metric.score(metric.total([counts]))[0]
        ones = np.ones((1, len(documents)), dtype=np.int64)
        every = metric.replicates(counts, list(documents), ones)
        assert set(every) == set(values)
        for name, value in values.items():
            assert every[name][0] == pytest.approx(np.nan if value is None else value, nan_ok=True)
        drawn = bootstrap(metric, counts, 20, seed=1)["ccc"]
        assert drawn.std() > 0


def test_official_windows_with_a_gap_add_up_as_those_of_the_scorer():
    """Between 3 and 5 s there is none: the window from 2 s adds a negative time of the next."""
    pieces = pl.DataFrame(
        {"document": [0, 0], "start": [0, 5000], "end": [3000, 8000], "level": [2.0, 6.0]}
    ).with_columns(text=False)
    windows, crashing = as_windows(pieces, 2000)
    assert crashing.is_empty()
    assert windows["level"].to_list() == [2, (2 * 1 - 6 * 1) / 2, 0, 6]


def test_official_windows_with_several_short_pieces_add_up_as_those_of_the_scorer():
    """The window to 2 s has 1 s of 2, .5 s of 4 and, after a gap, .25 s of 6."""
    pieces = pl.DataFrame(
        {
            "document": [0, 0, 0],
            "start": [0, 1000, 1750],
            "end": [1000, 1500, 4000],
            "level": [2.0, 4.0, 6.0],
        }
    ).with_columns(text=False)
    windows, crashing = as_windows(pieces, 2000)
    assert crashing.is_empty()
    assert windows["level"].to_list() == [(2 * 1 + 4 * 0.5 + 6 * 0.25) / 2, 6]


def test_official_has_no_number_where_the_scorer_crashes():
    reference = gold(AUDIO, [("d", 0, 20, (300, 400)), ("d", 20, 40, (700, 800))])
    nested = said(AUDIO, [("d", 0, 40, 300), ("d", 5, 9, 700)])
    for system in (said(AUDIO, []), nested):
        values, _ = scored(reference, system, "official")
        assert set(values.values()) == {None}
        assert scored(reference, system)[0]["ccc"] is not None
    metric = level_diarization("official", LevelOptions())
    total = metric.total([metric.statistics(reference, nested)[0]])
    assert metric.official_files(total) == {}
    assert "crashes" in metric.notes(total)[0]


def test_levels_that_nearly_reach_the_end_do():
    reference = gold(AUDIO, [("d", 0, 40, (300, 400))])
    _, units = scored(reference, said(AUDIO, [("d", 0, 39.985, 300)]))
    assert levels(units) == [(0, 40, 20, 350, 300)]
    reference = gold(TEXT, [("d", 0, 39, (300, 400))])
    _, units = scored(reference, said(TEXT, [("d", 0, 10, 300), ("d", 10, 39, 300)]))
    assert units["system"].unique().to_list() == [300]


def test_each_constant_of_table_13_can_be_chosen():
    documents = {"d": ("audio", 40.0)}
    segments = [("d", 0, 10, (100, 300)), ("d", 11.5, 20, (600,)), ("d", 20, 40, (700, 900))]
    system = [("d", 0, 15, 250), ("d", 15, 40, 650)]

    def counted(**options: float) -> pl.DataFrame:
        return scored(gold(documents, segments), said(documents, system), **options)[1]

    assert counted()["units"].sum() == 15  # 5 windows, and 10: what one annotator judged is out
    assert counted(window=5.0)["units"].sum() == 6
    assert counted(window=0.5)["units"].sum() == 60
    assert counted(min_judgments=1)["units"].sum() == 19
    extended = counted(min_judgments=1, extend_reference=2.0)
    assert extended["units"].sum() == 20
    assert extended.filter(pl.col("start") == 10)["reference"].item() == 0.75 * 200 + 0.25 * 600


def test_each_constant_of_table_13_can_be_chosen_for_text():
    documents = {"d": ("text", 40.0)}
    segments = [("d", 0, 9, (100, 300)), ("d", 22, 39, (700, 900))]
    system = [("d", 0, 19, 250), ("d", 20, 39, 650)]

    def counted(**options: float) -> int:
        rows = scored(gold(documents, segments), said(documents, system), **options)[1]
        return int(rows["units"].sum())

    assert counted() == 28
    assert counted(extend_reference_text=13) == 40
    assert counted(window_text=2) == 14
    assert counted(extend_reference_text=13, window_text=15) == 3


def test_official_has_the_constants_of_the_public_scorer():
    with pytest.raises(ValueError, match="no --min-judgments, --window; use --profile plan"):
        level_diarization("official", LevelOptions(window=1.0, min_judgments=1))


def test_units_of_documents_are_the_same_however_many_are_written_together(monkeypatch):
    aligned = pl.DataFrame(
        {
            "document": ["b", "a", "a", "c"],
            "genre": ["audio", "text", "text", "audio"],
            "start": [0.0, 4.0, 0.0, 1.5],
            "units": [3, 1, 4, 1],
            "end": [5.0, 5.0, 4.0, 2.5],
            "reference": [1.0, 2.5, 3.0, 4.0],
            "system": [1.0, 2.0, 3.0, 4.125],
        }
    )
    whole = official_levels.units(aligned, "valence")
    monkeypatch.setattr(official_levels, "_TOGETHER", 1)
    assert official_levels.units(aligned, "valence") == whole
    lines = [line.split("\t")[1:4] for line in whole.splitlines()]
    assert lines[1:6] == [
        ["a", f"{{start={at},end={at}}}", ref]
        for at, ref in enumerate(["3.000", "3.000", "3.000", "3.000", "2.500"])
    ]
    assert lines[6:] == [
        ["b", "{start=0,end=2}", "1.000"],
        ["b", "{start=2,end=4}", "1.000"],
        ["b", "{start=4,end=5}", "1.000"],
        ["c", "{start=1.5,end=2.5}", "4.000"],
    ]
    assert official_levels.units(aligned.clear(), "valence").count("\n") == 1


def test_the_end_of_the_last_window_has_three_decimals():
    """62 + .8 s is 62.8 in binary fractions, and 62800 ms are; neither is 62.800000000000004."""
    aligned = pl.DataFrame(
        {"document": ["d"], "genre": ["audio"], "start": [62.0], "units": [1],
         "end": [62.800000000000004], "reference": [0.5], "system": [0.5]}
    )  # fmt: skip
    line = official_levels.units(aligned, "valence").splitlines()[1]
    assert "{start=62,end=62.8}" in line


def test_the_software_describes_the_levels_of_documents_that_nobody_judged_too():
    documents = {"d": ("audio", 40.0), "e": ("audio", 10.0)}
    reference = gold(documents, [("d", 0, 20, (300, 400)), ("d", 20, 40, (700, 800))])
    system = said(documents, [("d", 0, 20, 300), ("d", 20, 40, 400), ("e", 0, 10, 800)])
    metric = level_diarization("official", LevelOptions())
    total = metric.total([metric.statistics(reference, system)[0]])
    lines = metric.official_files(total)["statistics_aggregated.tab"].splitlines()
    assert "sys\tall\tfile_scoring_counts\t2" in lines
    assert "ref\tall\tfile_scoring_counts\t1" in lines
    # Z-scores have the deviation of the population, 1; that of the sample of three is √(3 / 2).
    assert "sys\taudio\tmean_level\t0" in lines
    assert "sys\taudio\tstdev_level\t1.22" in lines


def test_equal_levels_have_no_deviation_in_the_statistics():
    """Their z-scores are no numbers: the deviation of two is none either, and not 0."""
    reference = gold(AUDIO, [("d", 0, 10, (100, 300)), ("d", 10, 40, (500, 700))])
    metric = level_diarization("official", LevelOptions(), "valence")
    counts, _ = metric.statistics(reference, said(AUDIO, [("d", 0, 20, 500), ("d", 20, 40, 500)]))
    lines = metric.official_files(metric.total([counts]))["statistics_aggregated.tab"].split("\n")
    shown = [line.split("\t")[2:] for line in lines if line.startswith("sys\taudio\t")]
    assert shown == [["mean_level", "nan"], ["stdev_level", "nan"]]

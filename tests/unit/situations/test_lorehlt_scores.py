"""What options and odd inputs do to the scores of LoReHLT situation frames."""

from __future__ import annotations

import math

import polars as pl
import pytest

from hlteval.scoring.situations.lorehlt.frame_rows import MENTIONS, with_nil_resolved
from hlteval.scoring.situations.lorehlt.frames import CHOSEN, with_gravity
from hlteval.scoring.situations.lorehlt.official import OfficialScores
from hlteval.scoring.situations.lorehlt.official_frames import nil_places, sort_falling
from hlteval.scoring.situations.lorehlt.plan import Scores
from hlteval.scoring.situations.lorehlt.ranking import Gains
from tests.unit.situations.lorehlt_frames import corpus, gold, said, scored, tables, values

FEAR = {"holder_kb": "author", "value": -1.0, "fear": True, "anger": False, "joy": False}


def chosen(*rows):
    return pl.DataFrame(rows, schema=CHOSEN, orient="row")


def mentions(*rows):
    return pl.DataFrame(rows, schema=MENTIONS, orient="row")


def test_a_boost_counts_a_fifth_of_a_frame_exactly():
    """Five frames with two boosts are seven grave frames, whatever floats add up to."""
    frames = [gold(f"d{n}") for n in range(5)]
    felt = [FEAR | {"doc": f"d{n}", "frame_row": n, "anger": True} for n in range(5)]
    metric, total = scored(corpus(frames, felt), corpus([said("d0")]))
    assert metric.scores(total).ranking("numeric").reference["gravity"].to_list() == [7.0]


def test_an_issue_is_grave_with_fear_or_anger_only():
    frames = [gold("d1", "terrorism"), gold("d2", "terrorism", "2"), gold("d3", "terrorism", "3")]
    felt = [
        FEAR | {"doc": "d2", "frame_row": 1},
        FEAR | {"doc": "d3", "frame_row": 2, "anger": True},
    ]
    metric, total = scored(corpus(frames, felt), corpus([said("d1")]))
    situations = metric.scores(total).ranking("numeric").reference
    assert dict(situations.select("place", "gravity").rows()) == {"3": 1.2, "2": 1.0, "1": 0.0}
    boolean = metric.scores(total).ranking("boolean").reference
    assert boolean["gravity"].to_list() == [0.0, 0.0, 0.0]


def test_speech_has_no_sentiments():
    frames, documents = [gold("d1", status="Current")], {"d1": "speech"}
    felt = [FEAR | {"doc": "d1", "frame_row": 0}]
    metric, total = scored(corpus(frames, felt, documents), corpus([said("d1")]))
    assert metric.scores(total).ranking("numeric").reference["gravity"].to_list() == [1.0]


def test_text_only_leaves_out_the_documents_of_speech_on_both_sides():
    reference = corpus([gold("d1"), gold("s1", place="2")], (), {"d1": "text", "s1": "speech"})
    system = corpus([said("s1", place="3"), said("d1")])
    found = values(reference, system)
    assert found["ndcg_text.standard"] == 1.0
    assert found["ndcg.vindictive"] < 1


def test_spellings_of_speech_mean_the_same():
    reference = corpus(
        [gold("s1", status="Past Only"), gold("s1", "water", resolution="Insufficient/Unknown")],
        (),
        {"s1": "speech"},
    )
    system = corpus([said("s1", status="past"), said("s1", "water")])
    assert values(reference, system)["frame_f1.type,place,status,urgent,resolution"] == 1.0


def test_official_takes_a_system_at_its_word_in_speech():
    """Only annotation has the spellings of speech."""
    frame = gold("s1", status="Current", resolution="Insufficient/Unknown")
    reference = corpus([frame], (), {"s1": "speech"})
    options = {"gravity_thresholds": (2.0, 1.0)}
    metric, total = scored(reference, corpus([said("s1")]), "official", **options)
    ranking = metric.scores(total).main_ranking
    assert ranking.reference["gravity"].to_list() == ranking.system["gravity"].to_list() == [1.0]


def test_levels_are_numbers_with_or_without_words():
    frames = [gold("d1", scope=scope, severity="0") for scope in ("2", "1", "none", "3_x")]
    metric, total = scored(corpus(frames), corpus([said("d1")]))
    assert metric.scores(total).reference["urgent"].to_list() == [1, 0, 0, 1]


def test_the_cut_off_is_strictly_above():
    reference, system = corpus([gold("d1")]), corpus([said("d1", confidence=0.5)])
    assert values(reference, system, cutoff=0.5)["frame_recall.type"] == 0
    assert values(reference, system, cutoff=0.5)["auc.type"] == 1.0
    assert values(reference, system, cutoff=0.49)["frame_recall.type"] == 1
    official = values(reference, system, "official", cutoff=0.5)
    assert official["mar.type,place"] == 1
    assert official["frame_recall.type"] == 0
    assert values(reference, system, "official", cutoff=0.5, scored=("d1",))["mar.type,place"] == 0


def test_only_the_most_confident_frames_are_scored_and_it_is_noted():
    system = corpus([said("d1", confidence=0.1), said("d1", "water", confidence=0.9)])
    metric, total = scored(corpus([gold("d1")]), system, max_frames=1)
    assert metric.score(total)[0]["frame_recall.type"] == 0
    (note,) = metric.notes(total)
    assert note.startswith("only the 1 most confident frames")
    assert scored(corpus([gold("d1")]), system, max_frames=2)[0].notes(total) is not None


@pytest.mark.parametrize("profile", ["plan", "official"])
def test_nil_places_can_be_left_out(profile):
    reference = corpus([gold("d1"), gold("d2", place="NIL7"), gold("d3", "water", place=None)])
    system = corpus([said("d1"), said("d4", place="nil9")])
    assert values(reference, system, profile)["ndcg.standard"] < 1
    assert values(reference, system, profile, no_nil=True)["ndcg.standard"] == 1


def test_nothing_of_sentiments_without_them():
    found = values(corpus([gold("d1")]), corpus([said("d1")]), no_sec=True)
    assert not [name for name in found if "sec" in name]


def test_gains_and_thresholds_override_a_configuration():
    config = Gains(8, 4, 2, None, 2, 1)
    metric, _ = scored(corpus([]), corpus([]), config=config, gains=(5.0, 3.0, 1.0))
    table = metric.options.gain_table(Gains())
    assert (table.high, table.high_from, table.medium_from) == (5.0, 2, 1)


def test_annotators_that_are_given_decide():
    reference = corpus([gold("d1", annotator="7"), gold("d1", place="2", annotator="8")])
    system = corpus([said("d1")])
    own, other = (chosen(("d1", False, name)) for name in ("7", "8"))
    assert values(reference, system, annotators=own)["ndcg.standard"] == 1
    assert values(reference, system, annotators=other)["ndcg.standard"] == 0
    metric, total = scored(reference, system, annotators=own)
    (note,) = metric.notes(total)
    assert "is given" in note
    assert metric.score(total)[1]["annotators"].rows() == [("d1", "need", "7")]


def test_a_draw_does_not_depend_on_other_documents():
    frames = [gold(f"d{n}", annotator=str(name)) for n in range(9) for name in (1, 2, 3)]
    metric, all_of_them = scored(corpus(frames), corpus([]))
    _, some = scored(corpus(frames[9:]), corpus([]))
    rows = metric.scores(all_of_them).choice.rows()
    assert metric.scores(some).choice.rows() == rows[3:]
    _, other = metric, metric.scores(all_of_them).redraw(5)
    assert other.choice.rows() != rows


def test_draws_give_the_distribution_of_what_one_annotator_decides():
    frames = [gold(f"d{n}", place=name, annotator=name) for n in range(6) for name in "12"]
    found = tables(corpus(frames), corpus([said("d1")]), draws=4)
    assert found["annotation_draws"]["draw"].unique().sort().to_list() == [1, 2, 3, 4]
    summary = found["annotation_scores"]
    row = summary.row(by_predicate=pl.col("metric") == "ndcg.standard", named=True)
    assert row["low"] <= row["mean"] <= row["high"]
    assert not summary["metric"].str.starts_with("frame").any()


def test_frames_weigh_as_many_annotators_as_have_them():
    reference = corpus([gold("d1", annotator="7"), gold("d1", annotator="8"), gold("d1", "water")])
    found = values(reference, corpus([said("d1"), said("d1", "med")]))
    assert found["frame_precision.type"] == 2 / 3
    assert found["frame_recall.type"] == 2 / 3


def test_nil_sources_are_those_with_the_greatest_overlap_in_their_document():
    own = mentions(("d1", 0, 10, "NIL5"), ("d1", 20, 24, "NIL5"), ("d2", 0, 10, "NIL5"))
    reference = mentions(("d1", 2, 5, "NIL1"), ("d1", 4, 10, "77"), ("d2", 10, 12, "NIL1"))
    sources = pl.DataFrame({"docid": ["d1", "d2", "d1"], "source": ["NIL5", "NIL5", "8"]})
    found = with_nil_resolved(sources, "source", own, reference)
    assert found.rows() == [("d1", "77"), ("d2", "system:NIL5"), ("d1", "8")]


def test_nil_places_are_those_of_the_first_equal_extent():
    own = mentions(("d1", 0, 10, "NIL5"), ("d2", 1, 2, "NIL5"), ("d2", 3, 4, "NIL6"))
    reference = mentions(("d2", 1, 2, "77"), ("d1", 0, 9, "NIL1"))
    assert nil_places(own, reference).rows() == [("NIL5", "77"), ("NIL6", "None")]


def test_the_mentions_of_a_submission_are_its_own_unless_others_are_given():
    reference = corpus([gold("d1")], [FEAR | {"doc": "d1", "frame_row": 0, "holder_kb": "NIL1"}])
    felt = [FEAR | {"doc": "d1", "frame_row": 0, "holder_kb": "NIL9"}]
    system = corpus([said("d1")], felt)
    row = {"row": 0, "document": 0, "origin": 0, "record": 1, "mention": "m", "label": "PER"}
    held = system.replace(mentions=[row | {"start": 3, "end": 8, "entity": "NIL9"}])
    table = mentions(("d1", 3, 8, "NIL1"))
    assert values(reference, system, reference_edl=table)["sec_f1.polarity"] == 0
    assert values(reference, held, reference_edl=table)["sec_f1.polarity"] == 1
    other = mentions(("d1", 3, 8, "NIL8"))
    assert values(reference, held, reference_edl=table, system_edl=other)["sec_f1.polarity"] == 0


def test_ambiguous_places_and_sources():
    reference = corpus(
        [gold("d1", place="2|1"), gold("d1", place="1"), gold("d2", place="1|2")],
        [FEAR | {"doc": "d2", "frame_row": 2, "holder_kb": "8|9"}],
    )
    system = corpus(
        [said("d1", place="1"), said("d1", place="2"), said("d2", place="2")],
        [FEAR | {"doc": "d2", "frame_row": 2, "holder_kb": "9"}],
    )
    found = values(reference, system)
    assert found["frame_f1.type,place"] == found["sec_f1.polarity,fear"] == 1.0


def test_the_gains_of_no_gravity():
    frame = pl.DataFrame({"gravity": [3.0, 1.0, 0.0]})
    gains = Gains(5, 3, 1, 0, 3, 1)
    assert frame.select(gains.of("gravity")).to_series().to_list() == [5, 3, 0]


@pytest.mark.parametrize("missing", ["fear", "anger"])
def test_official_has_no_gravity_of_sentiments_without_an_emotion(missing):
    """The scorer reads Emotion_Fear and Emotion_Anger of every sentiment for its gravity."""
    felt = FEAR | {"doc": "d1", "frame_row": 0, "polarity": "negative"}
    reference = corpus([gold("d1")], [felt | {"fear": True}])
    system = corpus([said("d1")], [felt | {missing: None}, felt])
    metric, total = scored(reference, system, "official")
    found = metric.score(total)[0]
    assert found["ndcg_sec.standard"] is None
    assert found["ndcg.standard"] == found["sec_f1.polarity:type,place"] == 1
    assert found["sec_precision.emotion:type,place"] == 5 / 6
    (note,) = metric.notes(total)
    assert note == (
        "no official ndcg_sec: the public scorer stops with an error, because a sentiment of the "
        f"submission has no Emotion_{missing.title()}"
    )
    assert metric.official_files(total)


def test_official_counts_no_sentiments_if_none_has_an_emotion():
    """The scorer looks for Emotion_Joy in the columns of all sentiments together."""
    felt = FEAR | {"doc": "d1", "frame_row": 0, "polarity": "negative"}
    reference = corpus([gold("d1")], [felt])
    system = corpus([said("d1")], [felt | {"joy": None}])
    metric, total = scored(reference, system, "official")
    found = metric.score(total)[0]
    assert found["sec_f1.polarity:type,place"] is None
    assert found["ndcg.standard"] == found["ndcg_sec.standard"] == 1
    assert metric.official_files(total) == {}
    assert metric.notes(total)[0].endswith("no sentiment of the submission has an Emotion_Joy")
    wrong = corpus([said("d1")], [felt | {"joy": None, "holder_kb": "3"}])
    assert values(reference, wrong, "official")["sec_precision.polarity:type,place"] == 0


def test_official_has_no_score_of_a_submission_without_frames():
    metric, total = scored(corpus([gold("d1")]), corpus([]), "official")
    assert set(metric.score(total)[0].values()) == {None}
    assert metric.official_files(total) == {}
    assert metric.notes(total)[0].endswith("because the submission has no frames")
    found = values(corpus([gold("d1")]), corpus([]))
    assert found["ndcg.standard"] == found["map.type,place"] == found["frame_f1.type"] == 0
    assert found["frame_precision.type"] is None


def test_official_recall_of_sentiments_can_be_above_1():
    felt = [FEAR | {"doc": "d1", "frame_row": 0, "holder_kb": name} for name in "abc"]
    again = [FEAR | {"doc": "d1", "frame_row": 0, "holder_kb": "a"}] * 8
    reference = corpus([gold("d1")], [row | {"polarity": "negative"} for row in felt])
    system = corpus([said("d1")], again)
    found = values(reference, system, "official")
    assert found["sec_recall.polarity:type,place"] == 0.8
    assert found["sec_recall.emotion:type,place"] == pytest.approx(8 / 3)
    assert found["sec_f1.emotion:type,place"] == pytest.approx(1.4545, abs=1e-4)
    assert values(reference, system)["sec_recall.polarity"] == pytest.approx(1 / 3)


def test_no_value_is_not_a_number():
    for profile in ("plan", "official"):
        found = values(corpus([gold("d1", place=None)]), corpus([said("d2")]), profile)
        assert not [
            name for name, value in found.items() if value is not None and math.isnan(value)
        ]


NUMPY = [0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1]


def test_ties_are_in_the_order_of_the_public_scorer():
    assert sort_falling(NUMPY[:5]) == [1, 4, 0, 2, 3]
    order = sort_falling(NUMPY)
    assert sorted(order) == list(range(len(NUMPY)))
    assert [NUMPY[at] for at in order] == sorted(NUMPY, reverse=True)
    assert order == [19, 17, 4, 6, 7, 14, 1, 11, 13, 18, 16, 15, 0, 12, 9, 8, 5, 3, 2, 10]


def test_a_frame_weighs_its_rows_of_the_combined_reference():
    """Annotator 7 has food in place 1 as current and as past, and 8 as current; water once.

    Of type and place, food weighs 3 and water 1; with the status, food weighs 2 as current and 1 as
    past. The system has food as current and a false frame: P = 3/4, R = 3/4; with the status, P =
    2/3, R = 2/4.
    """
    reference = corpus(
        [
            gold("d1", annotator="7"),
            gold("d1", annotator="7", status="past"),
            gold("d1", annotator="8"),
            gold("d1", "water", annotator="7"),
        ]
    )
    found = values(reference, corpus([said("d1"), said("d1", "med")]))
    assert found["frame_precision.type,place"] == found["frame_recall.type,place"] == 3 / 4
    assert found["frame_precision.type,place,status"] == 2 / 3
    assert found["frame_recall.type,place,status"] == 2 / 4


def test_a_row_that_an_annotator_repeats_weighs_once():
    reference = corpus([gold("d1"), gold("d1"), gold("d1", "water")])
    assert values(reference, corpus([said("d1")]))["frame_recall.type"] == 1 / 2


def test_grave_frames_have_a_curve_with_an_area():
    """Of two grave frames of the reference, one is found first; a frame that is not urgent and
    one that is false of the class `grave` follow: area = 1/2 · 1 (recall 0 to .5 at precision 1).
    """
    reference = corpus([gold("d1"), gold("d2"), gold("d3", status="past", scope="1", severity="1")])
    system = corpus(
        [said("d1"), said("d3", status="past", urgent="false"), said("d4", confidence=0.5)]
    )
    metric, total = scored(reference, system)
    found, shown = metric.score(total)
    name = "grave:type,place,status,urgent,resolution"
    assert found[f"auc.{name}"] == 1 / 2
    points = shown["pr"].filter(pl.col("class") == name).drop("class")
    assert points.rows() == [(0.9, 1.0, 0.5), (0.5, 0.5, 0.5)]
    assert values(reference, system, "official")[f"auc.{name}"] is None


def test_precision_at_n_divides_by_n():
    """The system has one of two situations: 1/1 and 1/2, though it has no second one."""
    found = values(corpus([gold("d1"), gold("d1", "water")]), corpus([said("d1")]))
    assert (found["precision_at.1"], found["precision_at.2"]) == (1.0, 0.5)


def test_rows_without_an_annotator_are_never_dropped():
    """Speech has no annotators: whatever is drawn or given, its frames are scored."""
    speech = gold("s1", status="Current")
    reference = corpus([gold("d1", annotator="7"), speech], (), {"d1": "text", "s1": "speech"})
    system = corpus([said("d1"), said("s1")])
    given = chosen(("s1", False, "7"))
    for profile in ("plan", "official"):
        assert values(reference, system, profile, annotators=given)["mar.type,place"] == 1.0
    mixed = corpus([gold("d1", annotator="7"), gold("d1", place="2")])
    metric, total = scored(mixed, corpus([said("d1"), said("d1", place="2")]))
    assert metric.score(total)[0]["ndcg.standard"] == 1.0
    assert metric.scores(total).choice.rows() == [("d1", False, "7")]


def test_frames_without_a_place_stay_where_nil_places_are_left_out():
    reference = corpus([gold("d1"), gold("d2", "water", place=None)])
    found = values(reference, corpus([said("d1"), said("d2", "water", None)]), no_nil=True)
    assert (found["frame_recall.type"], found["frame_precision.type"]) == (1, 1)
    metric, total = scored(reference, corpus([said("d1")]), no_nil=True)
    assert metric.score(total)[0]["frame_recall.type"] == 1 / 2


def test_official_rates_of_sentiments_are_0_where_the_system_has_none():
    felt = [FEAR | {"doc": "d1", "frame_row": 0, "polarity": "negative"}]
    found = values(corpus([gold("d1")], felt), corpus([said("d1")]), "official")
    rates = [found[f"sec_{rate}.polarity:type,place"] for rate in ("precision", "recall", "f1")]
    assert rates == [0, 0, 0]


def test_only_plan_has_a_table_of_targets():
    both = corpus([gold("d1")], [FEAR | {"doc": "d1", "frame_row": 0}]), corpus([said("d1")])
    assert "sec" in tables(*both)
    assert "sec" not in tables(*both, "official")
    assert "sec" not in tables(*both, no_sec=True)


@pytest.mark.parametrize(
    ("dcg", "expected"), [("method1", 1 / math.log2(4)), ("method0", 1 / math.log2(3))]
)
def test_the_shares_of_dcg_are_discounted(dcg, expected):
    """Three situations of gain 1; the third in the system's order has the third rank."""
    labels = ("food", "shelter", "water")
    reference = corpus([gold("d1", label) for label in labels])
    system = corpus([said("d1", label) for label in labels])
    found = tables(reference, system, dcg=dcg)["situations"]
    assert min(found["dcg"].drop_nulls()) == pytest.approx(expected)


@pytest.mark.parametrize("profile", ["plan", "official"])
def test_all_rows_of_a_table_of_scores_have_the_same_measures(profile):
    """Also the class that has a curve only; the text of scores is made of whole rows."""
    found = tables(corpus([gold("d1")]), corpus([said("d1")]), profile)["scorings"]
    measures = found.group_by("evaluation", "scoring", maintain_order=True).agg("measure")
    assert set(measures.group_by("evaluation").agg(pl.col("measure").n_unique())["measure"]) == {1}


@pytest.mark.parametrize("scores", [Scores, OfficialScores])
def test_the_gravity_of_needs_and_issues_by_emotions(scores):
    """A need is grave by itself, and each emotion adds .2; an issue needs one, the second adds .2.

    The plan's gravity is counted in fifths of a frame.
    """
    rows = [
        ("d1", 4 * issue + 2 * fear + anger, issue, fear, anger)
        for issue in (False, True)
        for fear in (0, 1)
        for anger in (0, 1)
    ]
    felt = pl.DataFrame(rows, ["docid", "frame", "issue", "fear", "anger"], orient="row")
    felt = felt.cast({"fear": pl.Boolean, "anger": pl.Boolean})
    frames = felt.drop("fear", "anger").with_columns(current=True, urgent=True, unresolved=True)
    found = with_gravity(frames, scores.gravity, felt)["gravity"].to_list()
    assert found == pytest.approx([scores.parts * own for own in (1, 1.2, 1.2, 1.4, 0, 1, 1, 1.2)])
    for name in ("current", "urgent"):
        without = frames.with_columns(pl.lit(value=False).alias(name))
        assert set(with_gravity(without, scores.gravity, felt)["gravity"]) == {0}


def test_there_are_as_many_draws_as_are_wanted_and_none_by_themselves():
    both = [gold("d1", annotator=name, frame=name) for name in ("u1", "u2")]
    reference, system = corpus(both), corpus([said("d1")])
    assert "annotation_draws" not in tables(reference, system)
    assert set(tables(reference, system, draws=2)["annotation_draws"]["draw"]) == {1, 2}


def test_a_frame_has_the_emotions_of_any_of_its_sentiments():
    """One sentiment has fear, another anger: 1 + 2 · .2, in fifths 7."""
    frames = pl.DataFrame({"docid": ["d1"], "frame": ["F1"], "issue": [False]})
    felt = pl.DataFrame(
        [("d1", "F1", True, False), ("d1", "F1", False, True), ("d1", "F2", True, True)],
        ["docid", "frame", "fear", "anger"],
        orient="row",
    )
    grave = frames.with_columns(current=True, urgent=True, unresolved=True)
    assert with_gravity(grave, Scores.gravity, felt)["gravity"].item() == 7

"""The examples of the plan (LoReHLT 2019, appendix 18), in both profiles.

A situation has as many grave frames as the table of an example shows, each in its own document.
"""

from __future__ import annotations

import numpy as np
import pytest

from hlteval.scoring.situations.lorehlt.ranking import cumulative
from tests.unit.situations.lorehlt_frames import corpus, gold, said, scored, tables, values

REFERENCE = {"A": 100, "B": 30, "C": 26, "D": 24, "E": 19, "F": 11, "G": 5, "H": 3, "I": 2}
SYSTEM = {"A": 100, "D": 29, "C": 21, "E": 19, "B": 9, "F": 7, "G": 5, "H": 3, "I": 2}
DCG = [5, 6.89, 9.39, 10.68, 12.62, 13.69, 14.02, 14.34, 14.64]
IDEAL = [5, 8.15, 10.65, 11.95, 13.11, 14.18, 14.51, 14.82, 15.13]
NDCG = [1, 0.85, 0.88, 0.89, 0.96, 0.97, 0.97, 0.97, 0.97]
EXACT = [1, 0.8453, 0.8816, 0.8944, 0.9628, 0.9656, 0.9664, 0.9671, 0.9677]
METHOD0 = [1, 0.8, 0.848, 0.8635, 0.9286, 0.9334, 0.9348, 0.936, 0.9371]
OURS = {"gains": (5.0, 3.0, 1.0), "gravity_thresholds": (25.0, 10.0)}
"""What the appendix assumes, for the profile that has another default."""


def example(profile: str, **options):
    reference = [gold(f"{s}{n}", place=s) for s, size in REFERENCE.items() for n in range(size)]
    system = [said(f"{s}{n}", place=s) for s, size in SYSTEM.items() for n in range(size)]
    return scored(corpus(reference), corpus(system), profile, **options)


def test_gains_of_18_1():
    metric, total = example("plan")
    table = metric.scores(total).ranking("boolean")
    assert table.reference["place"].to_list() == list("ABCDEFGHI")
    assert table.reference["gain"].to_list() == [5, 5, 5, 3, 3, 3, 1, 1, 1]
    assert table.order("standard")["place"].to_list() == list("ADCEBFGHI")


def test_dcg_of_18_1():
    metric, total = example("plan")
    ranking = metric.scores(total).ranking("boolean")
    own, ideal = ranking.dcg("standard"), ranking.ideal
    # two of the printed values are cut off and not rounded: 13.69 of 13.692, 14.82 of 14.826
    assert own.tolist() == pytest.approx(DCG, abs=0.01)
    assert ideal.tolist() == pytest.approx(IDEAL, abs=0.01)


def test_ndcg_of_18_1():
    metric, total = example("plan")
    found, tables_ = metric.score(total)
    assert [round(value, 2) for value in tables_["ndcg"]["standard"]] == NDCG
    assert tables_["ndcg"]["standard"].to_list() == pytest.approx(EXACT, abs=5e-5)
    assert found["ndcg.standard"] == pytest.approx(EXACT[-1], abs=5e-5)


@pytest.mark.parametrize(("discount", "expected"), [("", METHOD0), ("method1", EXACT)])
def test_official_ndcg_of_18_1(discount, expected):
    metric, total = example("official", dcg=discount, **OURS)
    table = metric.score(total)[1]["ndcg"]
    assert table["standard"].to_list() == pytest.approx(expected, abs=5e-5)


def test_the_printed_derivation_of_18_1_is_wrong():
    """ "5 + 1/log2(3)" is not the 6.89 of the list; 5 + 3/log2(3) is."""
    assert round(5 + 1 / np.log2(3), 2) != 6.89
    assert cumulative(np.array([5.0, 3.0]), "method1")[1] == pytest.approx(6.89, abs=0.005)


def test_a_situation_without_grave_frames_has_the_gain_that_the_options_give_it():
    reference = corpus([gold("d1"), gold("d2", place="2", status="past")])
    system = corpus([said("d1", place="2")])
    assert values(reference, system)["ndcg.standard"] > 0
    assert values(reference, system, gains=(5.0, 3.0, 1.0, 0.0))["ndcg.standard"] == 0


CONFIDENCES = {"SF1": 0.97, "SF2": 0.92, "SF5": 0.89, "SF3": 0.87, "SF4": 0.73}
RELEVANT = ("SF3", "SF2", "SF1", "SF7")


@pytest.mark.parametrize(
    ("profile", "expected"), [("plan", 0.6875), ("official", (1 + 1 + 3 / 4) / 3)]
)
def test_average_precision_and_recall_of_18_2(profile, expected):
    reference = corpus([gold(name) for name in RELEVANT])
    system = corpus([said(name, confidence=value) for name, value in CONFIDENCES.items()])
    found = values(reference, system, profile)
    assert found["map.type,place"] == pytest.approx(expected)
    assert found["mar.type,place"] == 0.75


def test_means_of_18_2():
    assert round(np.mean([0.69, 0.97, 0.84, 0.92, 0.78]), 2) == 0.84
    assert round(np.mean([0.75, 0.92, 0.61, 0.32, 0.66]), 2) == 0.65


def test_precision_at_n_of_18_2_3():
    """The second figure of the appendix, 4/5, contradicts its first: B is fifth on both sides."""
    metric, total = example("plan")
    found = metric.score(total)[0]
    assert found["precision_at.3"] == pytest.approx(2 / 3)
    assert found["precision_at.high"] == pytest.approx(2 / 3)
    assert found["precision_at.5"] == 1.0


def test_official_precision_at_n_of_18_2_3():
    """The public scorer looks for the gravest situations anywhere, and no further than "High"."""
    metric, total = example("official", **OURS)
    found = metric.score(total)[0]
    assert found["precision_at.3"] == found["precision_at.high"] == 1.0
    assert found["precision_at.5"] is None


def test_the_tables_of_18_1_show_what_each_situation_adds():
    reference = [gold(f"{s}{n}", place=s) for s, size in REFERENCE.items() for n in range(size)]
    system = [said(f"{s}{n}", place=s) for s, size in SYSTEM.items() for n in range(size)]
    table = tables(corpus(reference), corpus(system))["situations"]
    assert table["place"].to_list() == list("ABCDEFGHI")
    assert table["system_rank"].to_list() == [1, 5, 3, 2, 4, 6, 7, 8, 9]
    assert table["dcg"].sum() == pytest.approx(14.64, abs=0.01)

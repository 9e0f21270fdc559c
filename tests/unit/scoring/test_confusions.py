"""Confusion of labels: values by hand, and margins, the labels of each side."""

from __future__ import annotations

from io import StringIO

import polars as pl
import pytest

import hlteval
from hlteval.results.scores import NO_LABEL
from hlteval.scoring import confusions
from hlteval.scoring.confusions import CONFUSION, pair_by_key, pair_by_place
from hlteval.tasks import load
from tests.unit.tasks.test_alignments import scored

LABELS = ("ours", "theirs")
PLACES = (("start", "end"), ("start_system", "end_system"))
TYPES = {"document": pl.String, "ours": pl.String, "theirs": pl.String}


def test_entities_by_hand():
    gold = "R\tm1\tOsh\td:0-2\tE1\tGPE\tNAM\t1.0\nR\tm2\tUN\td:9-10\tE2\tORG\tNAM\t1.0\n"
    gold += "R\tm3\tAnn\td:20-22\tNIL1\tPER\tNAM\t1.0\n"
    own = "A\tm1\tOsh\td:0-2\tE1\tLOC\tNAM\t1.0\nA\tm2\tUN\td:9-10\tE2\tORG\tNAM\t1.0\n"
    own += "A\tm3\tsea\td:40-42\tNIL1\tLOC\tNAM\t1.0\n"
    scores = hlteval.score("lorehlt-edl", StringIO(gold), StringIO(own))
    assert scores.tables["confusion"].rows() == [
        ("GPE", "LOC", 1),
        ("ORG", "ORG", 1),
        ("PER", None, 1),
        (None, "LOC", 1),
    ]
    matrix = scores.confusion
    assert matrix is not None
    assert matrix.columns == ["reference", "GPE", "LOC", "ORG", "PER", NO_LABEL]
    assert matrix.rows() == [
        ("GPE", 0, 1, 0, 0, 0),
        ("LOC", 0, 0, 0, 0, 0),
        ("ORG", 0, 0, 1, 0, 0),
        ("PER", 0, 0, 0, 0, 1),
        (NO_LABEL, 0, 1, 0, 0, 0),
    ]


def test_events_of_other_types_are_paired_by_what_fills_their_roles():
    """E2 of both sides have the same two entities; E4 have not."""
    pairs = scored("seedev-binary").tables["confusion"].rows()
    assert ("Has_Sequence_Identical_To", "Is_Functionally_Equivalent_To", 1) in pairs
    assert ("Regulates_Process", None, 1) in pairs
    assert (None, "Regulates_Process", 1) in pairs


def test_levels_are_counted_by_their_points():
    """Of 405 neutral units of the reference, the system has 49 negative and 153 positive ones."""
    assert scored("ccu-vd").tables["confusion"].rows() == [
        ("neutral", "negative", 49),
        ("neutral", "neutral", 203),
        ("neutral", "positive", 153),
        ("positive", "neutral", 452),
        ("positive", "positive", 1152),
    ]
    assert {*scored("ccu-ad").tables["confusion"]["label"]} <= {"low", "medium", "high"}


def test_those_that_overlap_most_are_paired_first():
    rows = pl.DataFrame(
        [
            ("d", "A", None, 0, 10, None, None),
            ("d", "B", None, 10, 20, None, None),
            ("e", "C", None, 0, 10, None, None),
            ("d", None, "X", None, None, 8, 18),
            ("d", None, "Y", None, None, 12, 20),
            ("e", None, "Z", None, None, 10, 12),
        ],
        schema={**TYPES, **{name: pl.Int64 for place in PLACES for name in place}},
        orient="row",
    )
    found = pair_by_place(rows, LABELS, PLACES).rows()
    # X and Y both have 8 of B: the first one is its partner, and Y has nothing of A
    assert sorted(found, key=str) == [
        *(("A", None), ("B", "X"), ("C", None), (None, "Y"), (None, "Z"))
    ]


def test_equal_keys_are_paired_once_and_in_the_same_document_only():
    rows = pl.DataFrame(
        [
            ("d", "A", None, "k", None),
            ("d", "B", None, "k", None),
            ("d", None, "X", None, "k"),
            ("e", None, "Y", None, "k"),
            ("d", "C", None, None, None),
            ("d", None, "Z", None, None),
        ],
        schema={**TYPES, "key": pl.String, "key_system": pl.String},
        orient="row",
    )
    found = pair_by_key(rows, LABELS, ("key", "key_system")).rows()
    assert sorted(found, key=str) == [
        *(("A", "X"), ("B", None), ("C", None), (None, "Y"), (None, "Z"))
    ]


TASKS = ("lorehlt-edl", "seedev-full", "bb19-norm-ner", "bb19-rel", "mentions", "labels", "links")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("task", TASKS)
def test_the_labels_of_each_side_are_the_margins(task):
    scores, info = scored(task), load(task).alignment_info
    assert info is not None
    table = scores.tables["confusion"]
    assert tuple(table.columns) == CONFUSION
    rows, _ = info.read(scores.tables)
    for column, own in zip(info.label, ("label", "system"), strict=True):
        expected = rows.drop_nulls(column).group_by(column).len().sort(column).rows()
        found = table.drop_nulls(own).group_by(own).agg(pl.col("count").sum()).sort(own).rows()
        assert found == expected


@pytest.mark.parametrize("task", ["ccu-nd", "ccu-ed"])
def test_the_instances_of_each_class_are_the_margins(task):
    scores = scored(task)
    rows = scores.tables["detections"].filter(pl.col("criterion") == pl.col("criterion").first())
    table = scores.tables["confusion"]
    for own, outcomes in (("label", ["CD", "MD"]), ("system", ["CD", "FA"])):
        counted = rows.filter(pl.col("outcome").is_in(outcomes))
        expected = counted.group_by("class").len().sort("class").rows()
        found = table.drop_nulls(own).group_by(own).agg(pl.col("count").sum()).sort(own).rows()
        assert found == expected


@pytest.mark.parametrize("task", ["hub4", "segments", "coreference", "transcripts", "speech-sf"])
def test_tasks_without_labels_have_no_matrix(task):
    assert scored(task).confusion is None


def test_a_crowded_document_is_paired_by_place_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six items of each side overlap all others; those of another document are paired as ever."""
    monkeypatch.setattr(confusions, "MOST_OVERLAPS", 30)
    sides = [*range(6), *range(6)]
    rows = pl.DataFrame(
        {
            "document": ["crowded"] * 12 + ["quiet"] * 2,
            "one": ["A"] * 6 + [None] * 6 + ["A", None],
            "other": [None] * 6 + ["B"] * 6 + [None, "B"],
            "start": [*sides, 0, 1],
            "end": [10 + start for start in sides[:11]] + [99, 2, 4],
        }
    )
    place = ("start", "end")
    paired = confusions.pair_by_place(rows, ("one", "other"), (place, place))
    counts = confusions.count_labels(paired, ("one", "other")).rows()
    assert counts == [("A", "B", 5 + 1), ("A", None, 1), (None, "B", 1)]

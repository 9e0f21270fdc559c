"""`official` reads annotation as the public scorer of LoReHLT 2019 does, and stops where it stops.

Every expected value was printed by the running scorer, for the same tables and options.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

import hlteval
from hlteval.scoring.situations.lorehlt import official_frames

NEED = {
    "user_id": "7",
    "doc_id": "D1",
    "frame_id": "F1",
    "frame_type": "need",
    "need_type": "food",
    "place_id": "Ent-1",
    "proxy_status": "False",
    "need_status": "current",
    "scope": "2_largegroup",
    "severity": "2_injury",
    "resolution_status": "insufficient",
    "reported_by": "none",
    "resolved_by": "none",
    "description": "-",
    "kb_id": "1",
}
FELT = {
    "user_id": "7",
    "doc_id": "D1",
    "sentiment_value": "-1",
    "polarity": "negative",
    "emotion_value": "fear",
    "source": "author",
    "target": "F1",
    "kb_id": "author",
}
SPEECH = {
    "file_id": "F9",
    "situation_id": "SP1",
    "situation_type": "food",
    "situation_status": "Current",
    "scope": "2_largegroup",
    "severity": "2_injury",
    "resolution_status": "Insufficient/Unknown",
    "place_id": "1",
}
ENTRY = {
    "Sentiment": -1,
    "Emotion_Fear": True,
    "Emotion_Anger": False,
    "Emotion_Joy": False,
    "Source": "author",
}
FRAME = {
    "DocumentID": "D1",
    "Type": "food",
    "Confidence": 0.5,
    "Justification_ID": "segment-0",
    "Place_KB_ID": "1",
    "Status": "current",
    "Urgent": True,
    "Resolution": "insufficient",
    "SEC": [ENTRY],
}
EDL = "S\tm1\tOsh\tD1:0-2\t{}\tGPE\tNAM\t1.0\n"
Rows = Sequence[Mapping[str, object]]


@pytest.fixture
def score(tmp_path):
    """Write a reference and a submission, and score them in `official`."""

    def scored(
        needs: Mapping[str, Rows] | None = None,
        speech: Rows = (),
        system: Rows = ({},),
        felt: Rows = ({},),
        **options: object,
    ):
        folder = tmp_path / str(len([*tmp_path.iterdir()]))
        for name, rows in ({"D1": [{}]} if needs is None else needs).items():
            table(folder / f"reference/needs/{name}.needs.tab", NEED, rows)
        table(folder / "reference/sentiments/D1.sentiment.tab", FELT, felt)
        if speech:
            table(folder / "reference/speech/a.speech.tab", SPEECH, speech)
        frames = [FRAME | row for row in system]
        (folder / "system.json").write_text(json.dumps(frames))
        for name in ("scored", "system_edl", "reference_edl"):
            if name in options:
                path = folder / f"{name}.tab"
                path.write_text(str(options[name]))
                options[name] = path
        paths = folder / "reference", folder / "system.json"
        return hlteval.score("lorehlt-sf", *paths, profile="official", **options)

    return scored


def table(path: Path, row: Mapping[str, str], rows: Rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(row), *("\t".join(map(str, {**row, **own}.values())) for own in rows)]
    path.write_text("\n".join([*lines, ""]))


def of_two(doc: str) -> Rows:
    """The needs of a document that annotators 7 and 8 annotate in different ways."""
    return [{"doc_id": doc}, {"doc_id": doc, "user_id": "8", "need_type": "water"}]


def test_the_draw_of_annotators_does_not_depend_on_the_list(score):
    """Three files are drawn from with seed 1: the third draw is annotator 7, the first one too,
    but that of D2 is 7 and of D3 is 8."""
    needs = {doc: of_two(doc) for doc in ("D1", "D2", "D3", "D4")}
    system = [{"DocumentID": doc} for doc in needs]
    every = score(needs, system=system).metrics["frame_recall.type"]
    each = [
        score(needs, system=system, scored=f"{doc}\n").metrics["frame_recall.type"] for doc in needs
    ]
    assert each == DRAWN
    assert every == sum(DRAWN) / 4


DRAWN = [1.0, 1.0, 0.0, 1.0]


def test_one_annotator_is_drawn_for_a_file_of_several_documents(score):
    needs = {"all": [row for doc in ("D1", "D2", "D3") for row in of_two(doc)]}
    system = [{"DocumentID": doc} for doc in ("D1", "D2", "D3")]
    assert score(needs, system=system).metrics["frame_recall.type"] == 1.0


def test_annotators_are_equal_by_value_if_all_are_numbers(score):
    needs = {"D1": [{"user_id": "07"}, {"user_id": "7", "need_type": "water"}]}
    system = [{}, {"Type": "water"}]
    assert score(needs, system=system).metrics["frame_f1.type"] == 1.0


@pytest.mark.parametrize("other", ["x", "A7"])
def test_annotators_are_equal_by_name_if_one_is_no_number(score, other):
    """One of three annotators is drawn, with one need of three: P = 1/3, R = 1."""
    needs = [{"user_id": "07"}, {"user_id": "7", "need_type": "water"}]
    needs.append({"user_id": other, "need_type": "shelter"})
    system = [{}, {"Type": "water"}, {"Type": "shelter"}]
    for order in (needs, needs[::-1], [needs[2], *needs[:2]]):
        assert score({"D1": order}, system=system).metrics["frame_f1.type"] == 0.5


def test_a_list_does_not_change_the_type_of_a_column_of_speech(score):
    """The place of SP2 is not a number: neither are those of the other rows of the file."""
    speech = [{}, {"situation_id": "SP2", "place_id": "NIL1"}]
    system = [{}, {"DocumentID": "SP1"}]
    found = score(speech=speech, system=system, scored="D1\nSP1\n").metrics
    assert found["frame_f1.type,place"] == 1.0
    found = score(speech=[{}], system=system, scored="D1\nSP1\n").metrics
    assert found["frame_f1.type,place"] == 0.5


def test_rows_out_of_domain_decide_about_the_type_of_a_column(score):
    speech = [{}, {"situation_type": "out-of-domain", "place_id": "NIL"}]
    found = score(speech=speech, system=[{}, {"DocumentID": "SP1"}]).metrics
    assert found["frame_f1.type,place"] == 1.0


def test_speech_whose_documents_are_numbers_meets_no_document(score):
    """With a list of numbers, only such speech is scored, but no frame of a system."""
    speech = [{"situation_id": "71", "place_id": "NIL1"}]
    system = [{}, {"DocumentID": "71", "Place_KB_ID": "NIL1"}]
    found = score(speech=speech, system=system).metrics
    assert found["frame_f1.type"] == 0.5
    mixed = score(speech=speech, system=system, scored="D1\n71\n").metrics
    assert (mixed["frame_precision.type"], mixed["frame_recall.type"]) == (0.5, 1.0)
    listed = score(speech=speech, system=system, scored="71\n").metrics
    assert (listed["frame_precision.type"], listed["frame_recall.type"]) == (0.0, 0.0)
    assert listed["ndcg.standard"] == 0.0


def test_numbers_are_degrees_in_columns_of_numbers_only(score):
    """D1 has `2_largegroup` and `4`, which the scorer does not know there; D2 has 2 and 4."""
    rows = [{"scope": "4"}, {"need_type": "water"}]
    other = [row | {"doc_id": "D2", "scope": scope} for row, scope in zip(rows, "42", strict=True)]
    system = [{}, {"Type": "water"}, {"DocumentID": "D2"}, {"DocumentID": "D2", "Type": "water"}]
    found = score({"D1": rows, "D2": other}, system=system).metrics
    assert found["frame_recall.type,place,status,urgent"] == 0.75
    assert found["mar.type,place,status,urgent"] == 0.75


def test_the_curve_has_frames_below_the_cut_off_with_a_list(score):
    """D2 is right at .9, D1 at .3 after a false alarm at .6: 1/2 + 1/2 · 2/3."""
    needs = {"D1": [{}], "D2": [{"doc_id": "D2"}]}
    system = [
        {"Confidence": 0.3},
        {"DocumentID": "D2", "Confidence": 0.9},
        {"DocumentID": "D2", "Type": "water", "Confidence": 0.6},
    ]
    found = score(needs, system=system, scored="D1\nD2\n", cutoff=0.5).metrics
    assert found["auc.type"] == pytest.approx(1 / 2 + 1 / 2 * 2 / 3)
    assert found["frame_precision.type"] == found["frame_recall.type"] == 0.5
    assert found["mar.type,place"] == 0.5


def test_a_resolution_of_none_is_equal_to_nothing_and_grave(score):
    """The frame is right in the classes without resolution, grave, and wrong with resolution."""
    found = score({"D1": [{"resolution_status": "none"}]}, gravity_thresholds="2,1").metrics
    names = ("type,place,status,urgent", "type,place,status,resolution")
    assert [found[f"map.{name}"] for name in names] == [1.0, 0.0]
    assert [found[f"frame_f1.{name}"] for name in names] == [1.0, 0.0]
    assert found["mar.grave:type,place,status,urgent,resolution"] is None
    assert found["precision_at.1"] is None
    high = score({"D1": [{"resolution_status": "none"}] * 2}, gravity_thresholds="2,1").metrics
    assert high["precision_at.1"] == 1.0
    empty = score({"D1": [{"resolution_status": ""}] * 2}, gravity_thresholds="2,1").metrics
    assert empty["precision_at.1"] is None
    assert empty["map.type,place,status,resolution"] == 0.0


def test_a_status_of_none_is_grave_and_equal_to_nothing(score):
    found = score({"D1": [{"need_status": "none"}] * 2}, gravity_thresholds="2,1").metrics
    assert found["precision_at.1"] == 1.0
    assert found["map.type,place,status"] == found["mar.type,place,status"] == 0.0


def test_precision_at_n_has_all_situations_of_the_highest_gain(score):
    """None reaches the threshold of high gravity, but both have its gain."""
    needs = {"D1": [{}, {"need_type": "water"}]}
    found = score(needs, gains="7,7,1", gravity_thresholds="3,1").metrics
    assert [found[f"precision_at.{n}"] for n in ("1", "2", "high")] == [1.0, 0.5, 0.5]


def test_the_source_of_a_sentiment_is_its_entry_only(score):
    found = score(felt=[{"kb_id": ""}]).metrics
    assert found["sec_precision.polarity:type,place"] == 0.0


EMPTY = {"D1": [{}], "D2": [{"doc_id": "D2", "kb_id": ""}]}
"""The needs of two documents, of which the second one has no entry."""
NO_LIST = {"Type": "terrorism", "SEC": None}
OTHER = "no official scores but those of sentiments"
SEC = "no official scores of sentiments"
STOPS = [
    ({"needs": {"D1": [{}], "D2": []}}, "no official score", "a table of needs or issues has no"),
    ({"felt": [{"target": "none"}]}, "no official score", "no sentiment of the reference has a t"),
    ({"speech": [{"situation_type": "out-of-domain"}]}, "no official score", "all speech of the r"),
    ({"needs": {"D1": [{"place_id": "none"}]}}, "no official score", "no need or issue of the ref"),
    ({"needs": {}, "speech": [{}]}, "no official score", "the reference has no table of needs"),
    ({"no_nil": True, "speech": [{}]}, "no official score", "without NIL, a frame of the referen"),
    ({"no_nil": True, "needs": {"D1": [{"kb_id": ""}, {}]}}, "no official score", "without NIL"),
    (
        {"speech": [{}], "scored": "SP1\n", "system": [{"DocumentID": "SP1"}]},
        "no official score",
        "all entries of the sc",
    ),
    ({"system": []}, "no official score", "the submission has no frames"),
    ({"needs": {"D1": [{"kb_id": ""}]}}, OTHER, "the reference has no frame with a knowledge ba"),
    (
        {"needs": EMPTY, "scored": "D2\n"},
        OTHER,
        "the reference has no frame with a knowledge base entry in a sc",
    ),
    ({"system": [{}, NO_LIST]}, "no official ndcg_sec", "the SEC of a frame of the submission"),
    ({"system": [{}, NO_LIST]}, SEC, "the SEC of a frame of the submission is not a list of obj"),
    ({"system_edl": EDL.format("1"), "reference_edl": EDL.format("1")}, SEC, "the EDL output of"),
    ({"felt": [{"emotion_value": "none"}]}, SEC, "no sentiment of the reference has an emotion"),
]


@pytest.mark.parametrize(("changed", "missing", "reason"), STOPS)
def test_there_is_no_number_where_the_scorer_stops(score, changed, missing, reason):
    scores = score(**changed)
    notes = [note for note in scores.notes if "the public scorer stops with an error" in note]
    begin = f"{missing}: the public scorer stops with an error, because {reason}"
    assert any(note.startswith(begin) for note in notes), notes
    gone = {
        "no official score": ("",),
        OTHER: ("ndcg", "precision_at", "map", "mar", "auc", "frame_"),
        "no official ndcg_sec": ("ndcg_sec",),
        SEC: ("sec_",),
    }[missing]
    values = {value for name, value in scores.metrics.items() if name.startswith(gone)}
    assert values == {None}


def test_the_scorer_prints_what_comes_before_it_stops(score):
    """Sentiments are counted before situations are ranked, and only those with a mention of NIL."""
    names = set(score(EMPTY, scored="D2\n").files)
    assert names == {"_diagnostic_SEC_scores.txt"}
    found = score(system_edl=EDL.format("NIL1"), reference_edl=EDL.format("1"))
    assert found.metrics["sec_f1.polarity:type,place"] == 1.0
    assert score(needs={"D1": [{}], "D2": []}).files == {}


def test_tables_show_no_mark_of_places_that_are_numbers(score):
    """The scorer reads the places of this file of speech as numbers: they meet no place."""
    tables = score(speech=[{}], system=[{}, {"DocumentID": "SP1"}]).tables
    for table in ("situations", "frames"):
        assert not tables[table]["place"].str.contains("#", literal=True).any()
    assert tables["frames"]["document"].to_list() == ["D1", "SP1", "SP1"]


@pytest.mark.parametrize(
    ("known", "flags"),
    [
        ("_STATUS", {"current": True, "past": False, "future": False, "not_current": False}),
        (
            "_SPEECH_STATUS",
            {"Current": True, "Past Only": False, "Future": False, "not_current": False},
        ),
        ("_RESOLUTION", {"insufficient": True, "sufficient": False, "unknown": None}),
        (
            "_SPEECH_RESOLUTION",
            {"Insufficent": True, "Insufficient/Unknown": True, "Sufficient": False},
        ),
    ],
)
def test_the_values_that_hold(known, flags):
    """What is written but unknown is null, and so is `none`; what is not written does not hold."""
    rows = pl.DataFrame({"value": [*flags, "x", None, None], "nones": [*flags, "", "", "value"]})
    found = rows.select(official_frames._flag("value", getattr(official_frames, known)))
    assert found.to_series().to_list() == [*flags.values(), None, False, None]

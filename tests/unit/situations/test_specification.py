"""The examples of the specification: the worked example of 2.3, and every piece of JSON."""

from __future__ import annotations

import json
from pathlib import Path
from unicodedata import normalize

import pytest

from hlteval.converters import ReadResult, load
from hlteval.representation import Corpus
from hlteval.scoring.similarity import UNIT, similarity
from hlteval.scoring.situations.official import frame_match
from hlteval.scoring.situations.plan import FrameMatch, Options
from hlteval.sources import open_source
from hlteval.validators.situations.rules import types

COMPLETE = """{
"DocumentID": "CHN_EVAL_096_004",
"PlaceMention": "\\u6c5f\\u82cf",
"Type": "Medical Assistance",
"TypeConfidence": 0.5585732473158215
}"""
WITH_STATUS = """"DocumentID": "CHN_EVAL_096_004",
  "PlaceMention": "\\u6c5f\\u82cf",
  "Status": {
      "Need": "Past Only",
      "Relief": "No_Known_Resolution"
  },
  "Type": "Medical Assistance",
  "TypeConfidence": 0.5585732473158215"""
LOCALIZED = """"DocumentID": "CHN_EVAL_096_004",
  "PlaceMention": "\\u6c5f\\u82cf",
  "Type": "Medical Assistance",
  "TypeConfidence": 0.5585732473158215"""
NOT_LOCALIZED = """"DocumentID": "CHN_EVAL_096_004",
  "Type": "Medical Assistance",
  "TypeConfidence": 0.5585732473158215"""


def read(text: str, folder: Path) -> ReadResult:
    path = folder / "example.json"
    path.write_text(text, "utf-8")
    (reading,) = load("speech-sf-json").read(open_source(str(path)))
    return reading


@pytest.mark.parametrize("fragment", [WITH_STATUS, LOCALIZED, NOT_LOCALIZED])
def test_a_fragment_without_braces_is_diagnosed_and_reads_within_them(fragment, tmp_path):
    (finding,) = read(fragment, tmp_path).findings
    assert (finding.code, finding.span.line, finding.span.column) == ("JSN101", 1, 1)
    assert "{ }" in str(finding.help)
    reading = read(f"[{{{fragment}}}]", tmp_path)
    assert reading.findings == ()
    (frame,) = reading.corpus.frames.iter_rows(named=True)
    assert (frame["label"], frame["confidence"]) == ("Medical Assistance", 0.5585732473158215)
    assert frame["place"] == ("江苏" if "PlaceMention" in fragment else None)
    assert frame["status"] == ("Past Only" if "Status" in fragment else None)


def test_the_complete_frame_reads_within_brackets_and_is_diagnosed_without(tmp_path):
    assert read(f"[{COMPLETE}]", tmp_path).findings == ()
    assert [finding.code for finding in read(COMPLETE, tmp_path).findings] == ["SFJ201"]


def test_the_fragment_as_printed_lacks_a_brace_and_a_comma(tmp_path):
    printed = WITH_STATUS.replace("\n  },", "")
    assert [finding.code for finding in read(printed, tmp_path).findings] == ["JSN101"]
    within = read(f"[{{{printed}}}]", tmp_path).findings
    assert {finding.code for finding in within} <= {"JSN101", "JSN106", "JSN115"}
    assert within


def test_the_schema_is_that_of_the_specification(shared):
    text = (shared / "specs/speech-sf-v1.5.txt").read_text("utf-8")
    begin = text.index('{\n   "$schema"')
    printed, _ = json.JSONDecoder().raw_decode(text, begin)
    from hlteval.grammars import schema

    assert schema("speech-sf") == printed


def test_the_grammar_of_annotations_has_the_types_of_the_schema():
    from hlteval.converters.situations.appen_blocks import parse

    for name in types():
        frames, faults = parse(f"TYPE: {name}\nTIME: n/a\nResolution: n/a\nPLACE: n/a")
        assert [frame.label for frame in frames] == [name]
        assert faults == []
    everything = ", ".join(types())
    frames, _ = parse(f"TYPE: {everything}\nTIME: n/a\nResolution: n/a\nPLACE: n/a")
    assert [frame.label for frame in frames] == list(types())


def side(*places: str | None) -> Corpus:
    frames = [
        {"row": row, "document": 0, "origin": 0, "record": row + 1, "kind": "situation",
         "label": "Shelter", "place": place, "confidence": 0.5}
        for row, place in enumerate(places)
    ]  # fmt: skip
    return Corpus(documents=[{"row": 0, "name": "d"}], frames=frames)


def counts(metric: FrameMatch, reference: Corpus, system: Corpus) -> tuple[float, float, float]:
    statistics, _ = metric.statistics(reference, system)
    _, tables = metric.score(metric.total([statistics]))
    last = tables["curve"].filter(layer="Type+Place").to_dicts()[-1]
    return last["tp"], last["fn"], last["fp"]


def test_the_worked_example_of_soft_matching():
    # Ten characters on either side: 18 of 20 are shared, and 6 of 20.
    reference = side("abcdefghij", "klmnopqrst")
    system = side("abcdefghiZ", "klmZZZZZZZ", "ZZZZZZZZZZ")
    assert similarity("abcdefghij", "abcdefghiZ") == 0.9 * UNIT
    assert similarity("klmnopqrst", "klmZZZZZZZ") * 10 == 3 * UNIT
    assert counts(frame_match(), reference, system) == pytest.approx((1.2, 0.8, 1.8))


def test_the_worked_example_of_hard_matching():
    reference, system = side("Osh", "Naryn"), side("Naryn", "Osh", "Talas")
    assert counts(frame_match(options=Options("exact")), reference, system) == (2, 0, 1)


def test_similarity_counts_code_points_and_normalizes_nothing_by_itself():
    assert similarity("江苏", "江苏省") / UNIT == pytest.approx(0.8)
    assert similarity("江苏", "江蘇") / UNIT == 0.5
    assert similarity("", "") == UNIT
    nfc, nfd = (normalize(form, "Đà Nẵng") for form in ("NFC", "NFD"))
    assert similarity(nfc, nfd) / UNIT == pytest.approx(0.588, abs=5e-4)
    assert counts(frame_match(), side(nfc), side(nfd))[0] < 1
    assert counts(frame_match(options=Options(normalize="NFC")), side(nfc), side(nfd)) == (1, 0, 0)


def test_a_dictionary_names_the_places_of_both_sides():
    metric = frame_match(options=Options("exact", place_dictionary={"Ош": "Osh", "OSH": "Osh"}))
    assert counts(metric, side("Ош"), side("OSH")) == (1, 0, 0)


def test_a_blank_place_is_none_in_the_plan_and_one_in_the_script():
    reference, system = side("Osh"), side("Osh", " ")
    assert counts(frame_match(), reference, system) == (1, 0, 0)
    assert counts(frame_match(profile="official"), side("Osh"), side("Osh", "")) == (1, 0, 1)


def test_of_several_places_of_one_type_the_script_takes_the_last_one():
    """Osh and Naryn have no letter in common. Of a block with two types all places are taken."""

    def block(*frames: tuple[str, str]) -> Corpus:
        rows = [
            {"row": row, "document": 0, "origin": 0, "record": 1, "kind": "situation",
             "label": label, "place": place}
            for row, (label, place) in enumerate(frames)
        ]  # fmt: skip
        return Corpus(documents=[{"row": 0, "name": "d"}], frames=rows)

    script, places = frame_match(profile="official"), ("Osh", "Naryn")
    one = block(*(("Shelter", place) for place in places))
    assert counts(script, one, side("Naryn")) == (1, 0, 0)
    assert counts(script, one, side("Osh")) == (0, 1, 1)
    assert counts(frame_match(), one, side("Osh")) == (1, 1, 0)
    two = block(*((label, place) for label in ("Shelter", "Evacuation") for place in places))
    assert counts(script, two, side(*places)) == (2, 2, 0)


def scored(metric: FrameMatch, reference: Corpus, system: Corpus) -> dict[str, float | None]:
    statistics, _ = metric.statistics(reference, system)
    return metric.score(metric.total([statistics]))[0]


def test_frames_without_a_place_do_not_count_at_type_and_place():
    reference, system = side("Osh", None), side("Osh", None, "Talas")
    for profile in ("plan", "official"):
        assert counts(frame_match(profile=profile), reference, system) == (1, 0, 1)


def test_an_output_without_places_has_two_layers():
    for profile in ("plan", "official"):
        metrics = scored(frame_match(profile=profile), side("Osh", "Talas"), side(None))
        none = {
            name for name, value in metrics.items() if name.endswith("max_f1") and value is None
        }
        assert none == {"type+place.max_f1"}
        assert metrics["type.max_f1"] == metrics["relevance.max_f1"] == 1


def test_a_status_changes_no_score():
    """Need and Relief may be said, and are not evaluated."""
    said = [{"status": "Current", "resolution": "Sufficient"}, {"status": "Past Only"}]
    reference, system = side("Osh", "Naryn"), side("Osh", "Talas")
    frames = [row | more for row, more in zip(system.frames.to_dicts(), said, strict=True)]
    with_status = Corpus(documents=system.documents, frames=frames)
    for profile in ("plan", "official"):
        metric = frame_match(profile=profile)
        assert scored(metric, reference, with_status) == scored(metric, reference, system)
        assert scored(metric, with_status, reference) == scored(metric, system, reference)

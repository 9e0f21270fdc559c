"""Mistakes that people make, and the fixes that they are told: following them mends the input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.runs import validate

FIXTURES = Path(__file__).parents[3] / "fixtures"
LTF = FIXTURES / "ltf" / "valid" / "water-1.ltf.xml"
HUB = FIXTURES / "hub4" / "valid"
SEEDEV = FIXTURES / "standoff" / "valid" / "full"

# Task, what is replaced by what, the code and its fix.
CASES = {
    "no-quotes": (
        "ltf",
        ('pos="word"', "pos=word"),
        "XML101",
        "write the value of the attribute between quotation marks",
    ),
    "length-too-small": (
        "ltf",
        ('length="29"', 'length="28"'),
        "LTF504",
        "set raw_text_char_length to 29, with which the digest matches",
    ),
    "length-too-large": (
        "ltf",
        ('length="29"', 'length="31"'),
        "LTF504",
        "set raw_text_char_length to 29, with which the digest matches",
    ),
    "smart-quotes": (
        "hub4",
        ('"Cairo"', "\u201cCairo\u201d"),
        "HUB303",
        'write "Cairo", with straight quotation marks and without brackets',
    ),
    "brackets": (
        "hub4",
        ('"bread contest"', '"[bread] contest"'),
        "HUB303",
        'write "bread contest", with straight quotation marks and without brackets',
    ),
    "slot-without-colon": (
        "hub4",
        ("WINNER:", "WINNER"),
        "HUB236",
        "write WINNER: with the colon at the name",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_fix_mends_the_input(case: str, tmp_path: Path) -> None:
    task, (right, wrong), code, fix = CASES[case]
    origin = LTF if task == "ltf" else HUB / "system.tpl"
    text = origin.read_text("utf-8")
    assert right in text
    (tmp_path / origin.name).write_text(text.replace(right, wrong, 1), "utf-8")
    options = {"corpus": str(HUB / "corpus.sgml")} if task == "hub4" else {}
    found = validate(task, str(tmp_path / origin.name), options=options).findings
    assert [(item.code, item.help) for item in found] == [(code, fix)]


def test_a_file_of_predictions_with_another_suffix_is_named(tmp_path: Path) -> None:
    shutil.copy(SEEDEV / "seed-1.a2", tmp_path / "seed-1.ann")
    shutil.copy(SEEDEV / "seed-2.a2", tmp_path)
    found = validate("seedev-full", str(tmp_path), against=str(SEEDEV)).findings
    hints = [item.help for item in found if item.code == "SEE404"]
    assert hints == ["rename it to seed-1.a2 if it contains predictions"]


@pytest.mark.parametrize(
    "change", [{"DocumentID": "D1.wav"}, {"Type": "shelter"}], ids=["segment", "type"]
)
def test_types_are_not_missing_because_of_a_wrong_name(
    change: dict[str, str], tmp_path: Path
) -> None:
    frame = {"DocumentID": "D1", "Type": "Shelter", "TypeConfidence": 0.5}
    (tmp_path / "x.json").write_text(json.dumps([frame | change]), "utf-8")
    (tmp_path / "segments.list").write_text("D1\n", "utf-8")
    found = validate(
        "speech-sf", str(tmp_path / "x.json"), against=str(tmp_path / "segments.list")
    ).findings
    assert "SSF105" not in {item.code for item in found}


def test_single_quotes_are_one_finding_for_all_frames(tmp_path: Path) -> None:
    frames = [{"DocumentID": "D1", "Type": "Shelter", "TypeConfidence": 0.5}] * 3
    (tmp_path / "x.json").write_text(json.dumps(frames).replace('"', "'"), "utf-8")
    found = validate("speech-sf", str(tmp_path / "x.json")).findings
    assert [item.code for item in found] == ["JSN113"]


def test_a_misspelt_element_is_the_only_finding(tmp_path: Path) -> None:
    text = LTF.read_text("utf-8").replace("<SEG ", "<seg ", 1).replace("</SEG>", "</seg>", 1)
    (tmp_path / LTF.name).write_text(text, "utf-8")
    found = validate("ltf", str(tmp_path)).findings
    assert [(item.code, item.help) for item in found] == [("XML105", "use <P> or <SEG> here")]

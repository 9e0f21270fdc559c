"""The fix of every mistake in a submission is right: following it mends the input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hlteval.findings import Finding
from tests.runs import validate

FRAME: dict[str, Any] = {"DocumentID": "D1", "Type": "Shelter", "TypeConfidence": 0.5}
WRITTEN = json.dumps([FRAME])


def of(**changed: object) -> str:
    return json.dumps([FRAME | changed], ensure_ascii=False)


CASES = {
    "smart quotes": (
        WRITTEN.replace('"Type"', "“Type”"),
        "JSN101",
        "replace the typographic quotation marks with straight ones",
    ),
    "smart quotes around a value": (
        WRITTEN.replace('"D1"', "“D1”"),
        "JSN101",
        "replace the typographic quotation marks with straight ones",
    ),
    "frames in an object": (
        json.dumps({"frames": [FRAME]}),
        "SFJ201",
        "keep only the array that is the value of frames",
    ),
    "frames by segment": (
        json.dumps({"D1": [FRAME], "D2": [FRAME]}),
        "SFJ201",
        "join the arrays to one array",
    ),
    "columns": (
        json.dumps({"DocumentID": {"0": "D1"}, "Type": {"0": "Shelter"}}),
        "SFJ201",
        'write an array of frames, as to_json(orient="records") in pandas does',
    ),
    "a table": (
        "DocumentID\tType\tTypeConfidence\nD1\tShelter\t0.5\n",
        "JSN101",
        'write an array of objects, not a table: to_json(orient="records") in pandas',
    ),
    "a table with quotation marks": (
        '"DocumentID","Type","TypeConfidence"\n"D1","Utilities, Energy, or Sanitation","0.5"\n',
        "JSN101",
        'write an array of objects, not a table: to_json(orient="records") in pandas',
    ),
    "decimal commas": (
        WRITTEN.replace("0.5", "0,5"),
        "JSN118",
        "write 0.5 or 5e-1: digits before and after the point",
    ),
    "a single frame": (json.dumps(FRAME), "SFJ201", "put the frames in square brackets"),
    "a string": ('"none"', "SFJ201", "write one array of frames"),
    "an array in the array": (
        json.dumps([[FRAME]]),
        "SFJ203",
        "remove the square brackets around the frames inside the array",
    ),
    "a row": ('[["D1", "Shelter", 0.5]]', "SFJ203", "write it as a frame in curly brackets"),
    "half of a status": (
        of(Status={"Need": "Current"}),
        "SFJ202",
        "leave out the whole Status if only half of it is known",
    ),
    "null in a status": (
        of(Status={"Need": "Current", "Relief": None}),
        "SFJ204",
        "write an object with Need and Relief, each one of its values, or leave Status out",
    ),
    "a word as status": (of(Status="Current"), "SFJ204", "write an object with Need and Relief"),
    "no status": (of(Status=[]), "SFJ204", "write an object with Need and Relief"),
    "opposite relief": (
        of(Status={"Need": "Current", "Relief": "insufficient"}),
        "SFJ207",
        "did you mean Insufficient/Unknown?",
    ),
    "no document": (of(DocumentID=None), "SFJ204", "write the DocumentID of the frame"),
    "a number as document": (of(DocumentID=12), "SFJ204", 'write it in quotation marks: "12"'),
    "no place": (of(PlaceMention=None), "SFJ204", "leave the property out"),
    "two places": (of(PlaceMention=["Osh"]), "SFJ204", "write a frame for each PlaceMention"),
    "two types": (of(Type=["Shelter"]), "SFJ204", "write a frame for each Type"),
    "two types in a string": (
        of(Type="Shelter, Evacuation"),
        "SFJ206",
        "write a frame for each type: Evacuation, Shelter",
    ),
    "no type": (of(Type="n/a"), "SFJ206", "delete the frame"),
    "a quoted type": (of(Type="“Shelter”"), "SFJ206", "remove the quotation marks: Shelter"),
    "wrong capitals": (
        of(Type="SHELTER"),
        "SFJ206",
        "did you mean Shelter? It differs only in case",
    ),
    "a decimal comma": (of(TypeConfidence="0,5"), "SFJ204", "write 0.5, without quotes"),
    "a word as confidence": (of(TypeConfidence="high"), "SFJ204", "write a number from 0 to 1"),
    "no confidence": (of(TypeConfidence=None), "SFJ204", "write a number from 0 to 1"),
    "true": (of(TypeConfidence=True), "SFJ204", "write a number from 0 to 1"),
    "another name": (
        json.dumps([{"DocumentId": "D1", "Type": "Shelter", "TypeConfidence": 0.5}]),
        "SFJ202",
        "did you mean DocumentID by DocumentId?",
    ),
}


def errors(folder: Path, text: str) -> list[Finding]:
    path = folder / "system.json"
    path.write_text(text, "utf-8")
    found = validate("speech-sf", str(path)).findings
    return [item for item in found if item.severity == "error"]


@pytest.mark.parametrize("case", CASES)
def test_the_fix_of_a_mistake_is_right_and_nothing_follows_from_it(case, tmp_path):
    text, code, fix = CASES[case]
    (finding,) = errors(tmp_path, text)
    assert finding.code == code
    assert str(finding.help).startswith(fix)
    assert errors(tmp_path, WRITTEN) == []


def test_a_type_of_a_table_has_the_fix_of_a_frame(tmp_path):
    header = "DocumentID\tType\tPlaceMention\tTypeConfidence\tNeed\tRelief"
    path = tmp_path / "frames.tsv"
    path.write_text(f"{header}\nD1\tShelter, Evacuation\t\t0.5\t\t\n", "utf-8")
    from hlteval.converters import load
    from hlteval.sources import open_source

    (reading,) = load("speech-sf-tsv").read(open_source(str(path)))
    (finding,) = reading.findings
    assert finding.help == "write a frame for each type: Evacuation, Shelter"

"""Odd annotations: what each profile reads of them, and which files are not read and why.

The values of `official` are those that the script of the specification's authors gives.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from hlteval.converters import load
from hlteval.converters.situations.appen_blocks import parse
from hlteval.findings import line_findings
from hlteval.results.scores import Scores
from hlteval.sources import open_source
from hlteval.workflows.run.verdicts import Refused
from tests.runs import score, validate

BLOCK = "TYPE: {types}\nTIME: Current\nResolution: Sufficient\nPLACE: {places}\n"
FILE = "P1/ANNOTATION/D1.txt"
SYSTEM = [
    {"DocumentID": "D1", "Type": "Shelter", "TypeConfidence": 0.9, "PlaceMention": "Osh"},
    {"DocumentID": "D1", "Type": "Evacuation", "TypeConfidence": 0.8, "PlaceMention": "Osh"},
]


def block(types: str = "Shelter", places: str = "Osh") -> str:
    return BLOCK.format(types=types, places=places)


def tree(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / "gt" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder / "gt"


def annotated(folder: Path, files: dict[str, str], blocks: str) -> list[tuple[str, str | None]]:
    """The types and places of all frames of a folder."""
    form = load("appen").with_settings({"blocks": blocks})
    readings = form.read(open_source(str(tree(folder, files))))
    frames = pl.concat([reading.corpus.frames for reading in readings])
    return sorted(frames.select("label", "place").iter_rows(), key=str)


def scores(folder: Path, files: dict[str, str], profile: str, **options: str) -> Scores:
    reference = tree(folder, files)
    system = folder / "system.json"
    system.write_text(json.dumps(SYSTEM), "utf-8")
    return score("speech-sf", str(reference), str(system), profile=profile, options=options)


BOTH = [("Evacuation", "Osh"), ("Shelter", "Osh")]
ONE = [("Shelter", "Osh")]
CASES = {
    "semicolon": (block("Shelter; Evacuation"), BOTH, BOTH),
    "and": (block("Shelter and Evacuation"), [], BOTH),
    "ethiopic comma": (block("Shelter፣ Evacuation"), BOTH, BOTH),
    "part of a word": (block("Shelters"), [], ONE),
    "byte order mark": ("\ufeff" + block(), ONE, []),
    "no space after TYPE": (block().replace("TYPE: ", "TYPE:"), ONE, ONE),
    "no space after PLACE": (block().replace("E: Osh", "E:Osh"), ONE, [("Shelter", "PLACE:Osh")]),
    "one place twice": (block(places="Osh, Osh"), ONE, ONE + ONE),
    "one place twice for two types": (
        block("Shelter, Evacuation", "Osh, Osh"),
        BOTH,
        [("Evacuation", None), ("Shelter", None)],
    ),
    "line separator": (block(places="Osh\u2028city"), [("Shelter", "Osh\u2028city")], ONE),
    "no-break space": (block(places="\u00a0Osh"), [("Shelter", "\u00a0Osh")], ONE),
    "capital N/A": (block(places="N/A"), [("Shelter", None)], [("Shelter", "N/A")]),
    "empty place": (block(places="Osh,"), ONE, [("Shelter", ""), ("Shelter", "Osh")]),
    "empty line within": (block().replace("\nPLACE", "\n\nPLACE"), ONE, [("Shelter", "")]),
    "other order": (
        "TYPE: Shelter\nPLACE: Osh\nTIME: Current\nResolution: Sufficient\n",
        ONE,
        [("Shelter", "Resolution: Sufficient")],
    ),
    "indented": (block().replace("PLACE", " PLACE"), ONE, [("Shelter", "PLACE: Osh")]),
    "indented type": (" " + block(), ONE, []),
    "swallowed block": (
        "TYPE: Shelter\nTIME: Current\n" + block("Evacuation", "Naryn"),
        [("Evacuation", "Naryn"), ("Shelter", None)],
        [("Shelter", "TIME: Current")],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_blocks_are_read_by_their_keys_and_by_position_as_the_script_does(case, tmp_path):
    text, plan, official = CASES[case]
    assert annotated(tmp_path / "plan", {FILE: text}, "keys") == plan
    assert annotated(tmp_path / "official", {FILE: text}, "position") == official


def test_a_block_that_ends_too_early_has_no_official_score(tmp_path):
    files = {FILE: "TYPE: Shelter\nTIME: Current\nPLACE: Osh\n"}
    with pytest.raises(Refused, match="APN108"):
        scores(tmp_path, files, "official")
    assert scores(tmp_path, files, "plan").metrics["type.max_f1"] is not None
    verdict = validate("speech-sf", str(tmp_path / "gt"), role="reference", profile="official")
    assert not verdict.passed


def test_the_script_joins_two_files_of_a_segment_and_the_plan_reads_the_first(tmp_path):
    files = {FILE: block(), "P2/ANNOTATION/D1.txt": block("Evacuation")}
    assert annotated(tmp_path, files, "keys") == ONE
    assert annotated(tmp_path, files, "position") == BOTH
    findings = validate("speech-sf", str(tmp_path / "gt"), role="reference").by_code
    assert findings["APN403"] == 1
    found = scores(tmp_path, files, "official").metrics
    assert found["type.max_f1"] == found["type+place.max_f1"] == 1


def test_an_ambiguous_file_drops_no_place_of_another_file_of_its_segment(tmp_path):
    files = {FILE: block("Shelter, Evacuation", "Osh, Naryn"), "P2/ANNOTATION/D1.txt": block()}
    rows = scores(tmp_path, files, "official").tables["alignment"]
    missed = rows.filter(layer="Type+Place", outcome="missed")
    assert missed["reference_place"].to_list() == ["Osh"]


def test_the_script_reads_no_pack_in_a_deeper_folder(tmp_path):
    files = {FILE: block(), "packs/P2/ANNOTATION/D2.txt": block("Evacuation")}
    assert annotated(tmp_path, files, "keys") == BOTH
    assert annotated(tmp_path, files, "position") == ONE
    for profile, count in (("plan", 0), ("official", 1)):
        findings = scores(tmp_path, files, profile).verdict.findings
        deep = [item for item in findings if item.code == "APN406"]
        assert len(deep) == count
        assert all("packs/P2/ANNOTATION/D2.txt" in item.message for item in deep)


@pytest.mark.parametrize("other", ["P1/ANNOTATION/D2.TXT", "P1/D2.txt", "D2.TXT"])
def test_an_annotation_that_is_not_read_is_named_and_the_submission_not_blamed(other, tmp_path):
    files = {FILE: block(), other: block("Evacuation")}
    with pytest.raises(Refused, match="APN404") as caught:
        scores(tmp_path, files, "plan")
    (finding,) = (item for item in caught.value.verdict.findings if item.code == "APN404")
    assert (finding.side, finding.file) == ("reference", str(tmp_path / "gt" / other))
    reason = "its suffix is not .txt" if other.endswith("ANNOTATION/D2.TXT") else "outside"
    assert reason in finding.message
    submission = tmp_path / "s.json"
    submission.write_text('[{"DocumentID": "D2", "Type": "Shelter", "TypeConfidence": 0.5}]')
    verdict = validate("speech-sf", str(submission), against=str(tmp_path / "gt"))
    assert "SSF101" not in verdict.by_code
    assert scores(tmp_path, files, "official").metrics["type.max_f1"] is not None
    alone = validate("speech-sf", str(tmp_path / "gt"), role="reference")
    assert alone.by_code["APN404"] == 1


def test_a_folder_of_upper_case_suffixes_is_known_as_annotations(tmp_path):
    with pytest.raises(Refused, match="APN404"):
        scores(tmp_path, {"D1.TXT": block()}, "plan")


def test_other_texts_are_named_and_block_nothing(tmp_path):
    files = {FILE: block(), "P1/readme.txt": "Notes\n", "P1/docs/LICENSE.TXT": "Free\n"}
    found = scores(tmp_path, files, "plan").verdict.findings
    (finding,) = (item for item in found if item.code == "APN405")
    assert (finding.severity, finding.side) == ("info", "reference")
    for name in ("P1/readme.txt", "P1/docs/LICENSE.TXT"):
        assert name in finding.message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (block("Shelter; Evacuation"), ["separate types with a comma"]),
        (block("“Shelter”"), ["remove the quotation marks"] * 2),
        (block("shelter"), ["did you mean Shelter? It differs only in case"]),
        (block("utilities, energy, or sanitation"), ["did you mean Utilities, Energy, or San"]),
        (block("Shelter and Evacuation"), ["separate types with a comma: Evacuation, Shelter"]),
        (block("Food Supply Chain"), ["did you mean Food Supply?"]),
        (block("N/A"), ["did you mean n/a? It differs only in case"]),
        (block("Shelter\u00a0"), ["remove the invisible character U+00A0"]),
        (block().replace("PLACE", "  PLACE"), ["delete the spaces"]),
        (block().replace("PLACE", "Place"), ["did you mean PLACE:?"]),
        (block().replace("PLACE", "PLACES"), ["did you mean PLACE:?"]),
        (block().replace("Sufficient", "insufficient"), ["did you mean Insufficient/Unknown?"]),
        (block().replace("Current", "“Current”"), ["did you mean Current?"]),
    ],
    ids=lambda value: ascii(value)[:60] if isinstance(value, str) else None,
)
def test_the_fix_of_an_odd_line_is_right_and_nothing_follows_from_it(text, told):
    findings = line_findings(parse(text)[1], text.split("\n"), "D1.txt")
    assert len(findings) == len(told)
    for finding, words in zip(findings, told, strict=True):
        assert str(finding.help).startswith(words)


@pytest.mark.parametrize("profile", ["plan", "official"])
def test_separators_of_places_separate_types_too(profile, tmp_path):
    files = {FILE: block("Shelter; Evacuation", "Osh")}
    found = scores(tmp_path, files, profile, place_separators=";")
    assert found.metrics["type.max_f1"] == 1
    assert not [item for item in found.verdict.findings if item.severity == "error"]


DICTIONARY = "OSH \t Osh City\n"


def test_the_dictionary_of_the_script_ignores_case_and_spaces_and_that_of_the_plan_does_not(
    tmp_path,
):
    dictionary = tmp_path / "places.tsv"
    dictionary.write_text(DICTIONARY, "utf-8")
    options = {"place_match": "exact", "place_dictionary": str(dictionary)}
    files = {FILE: block(places="osh")}
    best = {
        profile: scores(tmp_path, files, profile, **options).metrics["type+place.max_f1"]
        for profile in ("plan", "official")
    }
    assert best == {"plan": 0, "official": 1}


def test_the_script_crashes_on_a_place_with_spaces_that_its_dictionary_has(tmp_path, monkeypatch):
    dictionary = tmp_path / "places.tsv"
    dictionary.write_text("osh\tOsh\n", "utf-8")
    monkeypatch.setitem(SYSTEM[0], "PlaceMention", " Osh")
    found = scores(tmp_path, {FILE: block()}, "official", place_dictionary=str(dictionary))
    assert set(found.metrics.values()) == {None}
    assert not found.files
    assert any("spaces around it" in note for note in found.notes)


def test_a_submission_in_domain_only_is_evaluated_at_relevance_only_by_the_script(tmp_path):
    reference = tree(tmp_path, {FILE: block()})
    path = tmp_path / "s.json"
    path.write_text('[{"DocumentID": "D1", "Type": "in-domain", "TypeConfidence": 0.5}]')
    found = score("speech-sf", str(reference), str(path), profile="official")
    assert found.metrics["relevance.max_f1"] == 1
    assert found.metrics["type.max_f1"] is None

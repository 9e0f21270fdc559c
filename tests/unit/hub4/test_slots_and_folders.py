"""Slots without a colon, unknown slots in options, references that are folders or archives."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from hlteval import Refused, score, validate

REFERENCE = """\
<CONTEST-D1-1> :=
  NAME: "bread" ##1#6#
  CITY: "Kobe" ##62#66#
"""
OPTIONS = {"top": "CONTEST"}


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    """A template set in a folder of its own."""
    (tmp_path / "reference").mkdir()
    path = tmp_path / "reference" / "set.tpl"
    path.write_text(REFERENCE)
    return path


@pytest.mark.parametrize(
    ("line", "code", "hint"),
    [
        ('CITY "Kobe" ##62#66#', "HUB236", "write CITY: with the colon at the name"),
        ('CITY = "Kobe" ##62#66#', "HUB236", "write CITY: with the colon at the name"),
        ("CITY <CITY-D1-1>", "HUB236", "write CITY: with the colon at the name"),
        ('City "Kobe" ##62#66#', "HUB214", "if it is a slot, write a colon after its name"),
    ],
)
def test_a_slot_without_its_colon_is_an_error_with_the_fix(
    line: str, code: str, hint: str, reference: Path, tmp_path: Path
) -> None:
    system = tmp_path / "system.tpl"
    system.write_text(REFERENCE.replace('CITY: "Kobe" ##62#66#', line))
    verdict = validate("hub4", str(system), against=str(reference), options=OPTIONS)
    (found,) = verdict.findings
    assert found.code == code
    assert hint in str(found.help)
    assert verdict.passed is (code == "HUB214")


def test_the_first_line_of_an_instance_has_the_same_fix(tmp_path: Path) -> None:
    system = tmp_path / "system.tpl"
    system.write_text('<CONTEST-D1-1> :=\nCITY "Kobe" ##62#66#\nNAME: "bread" ##1#6#\n')
    (found,) = validate("hub4", str(system), options=OPTIONS).findings
    assert (found.code, found.help) == ("HUB106", "write CITY: with the colon at the name")


@pytest.mark.parametrize("kind", ["file", "folder", "archive"])
def test_a_reference_can_be_a_file_a_folder_or_an_archive(
    kind: str, reference: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "reference.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.write(reference, "reference/set.tpl")
    path = {"file": reference, "folder": reference.parent, "archive": archive}[kind]
    system = tmp_path / "system.tpl"
    system.write_text(REFERENCE.replace("Kobe", "Cairo"))
    scored = score("hub4", str(path), str(system), options=OPTIONS)
    # Of two texts, one is right, and both have the right extents: 3 of 4 points.
    assert scored.metrics["both.f"] == pytest.approx(3 / 4)
    assert validate("hub4", str(system), against=str(path), options=OPTIONS).passed


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("CITTY", "did you mean CITY?"),
        ("CONTEST.CITI", "did you mean CONTEST.CITY?"),
        ("PRIZE", "use one of CITY, COMMENT, "),
    ],
)
def test_an_unknown_slot_in_unscored_blocks(name: str, hint: str, reference: Path) -> None:
    options = {**OPTIONS, "unscored": f"NAME,COMMENT,{name}"}
    with pytest.raises(Refused) as refused:
        score("hub4", str(reference), str(reference), options=options)
    (found,) = refused.value.blocking
    assert (found.code, found.side) == ("OPT114", "--unscored")
    assert found.message == f"no slot is called {name}"
    assert str(found.help).startswith(hint)
    verdict = validate("hub4", str(reference), options=options)
    assert verdict.by_code == {"OPT114": 1}


def test_known_slots_in_unscored_do_not_block(reference: Path, tmp_path: Path) -> None:
    slots = tmp_path / "all.slots"
    slots.write_text("CONTEST.CITY\nCONTEST.NAME\nCONTEST.PRIZE\n")
    names = "CONTEST.CITY,NAME,COMMENT,PRIZE"
    options = {**OPTIONS, "unscored": names, "slots": str(slots)}
    scored = score("hub4", str(reference), str(reference), options=options)
    assert scored.verdict.findings == ()

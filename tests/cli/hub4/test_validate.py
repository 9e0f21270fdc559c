"""hub4 on the command line: checked and converted, as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hlteval import validate
from hlteval.tasks.task import WrongOption

VALID = Path(__file__).parents[3] / "fixtures" / "hub4" / "valid"
CORPUS, SYSTEM, REFERENCE = (
    VALID / name for name in ("corpus.sgml", "system.tpl", "reference.tpl")
)


def test_a_system_passes_and_a_reference_needs_its_side(invoke) -> None:
    assert invoke("validate", "hub4", SYSTEM, "--corpus", CORPUS).exit_code == 0
    assert invoke("validate", "hub4", SYSTEM, "--against", CORPUS).exit_code == 0
    as_system = invoke("validate", "hub4", REFERENCE, "--corpus", CORPUS, "--format", "json")
    assert as_system.exit_code == 1
    codes = json.loads(as_system.stdout)["counts"]["code"]
    assert {"HUB210", "HUB211", "HUB223"} <= codes.keys()
    role = ("--as", "reference")
    assert invoke("validate", "hub4", REFERENCE, "--corpus", CORPUS, *role).exit_code == 0


def test_a_finding_has_its_line_and_its_cure(invoke, tmp_path: Path) -> None:
    path = tmp_path / "system.tpl"
    path.write_text(SYSTEM.read_text("utf-8").replace("##47#52#", "##48#53#"), "utf-8")
    result = invoke("validate", "hub4", path, "--corpus", CORPUS, "--format", "concise")
    assert result.exit_code == 1
    assert f"{path}:6:23: error[HUB303]" in result.stdout
    assert "`Cairo`" in result.stdout


def test_standard_input_is_read(invoke) -> None:
    result = invoke("validate", "hub4", "-", "--corpus", CORPUS, stdin=SYSTEM.read_bytes())
    assert result.exit_code == 0


def test_a_reference_is_something_to_check_against_too(invoke) -> None:
    assert invoke("validate", "hub4", SYSTEM, "--against", REFERENCE).exit_code == 0


def test_there_is_no_official_profile(invoke) -> None:
    result = invoke("validate", "hub4", SYSTEM, "--profile", "official")
    assert result.exit_code == 2
    assert "no public scorer" in result.stderr
    with pytest.raises(WrongOption, match="use plan"):
        validate("hub4", str(SYSTEM), profile="official")


@pytest.mark.parametrize(
    "wrong",
    [
        ("--as", "both"),
        ("--line-ends", "two"),
        ("--corpus", "absent.sgml"),
        ("--options", "absent.toml"),
        ("--corpus", str(CORPUS), "--against", str(CORPUS)),
        ("--against", __file__),
    ],
)
def test_what_is_wrong_with_the_command_is_told(invoke, wrong: tuple[str, ...]) -> None:
    result = invoke("validate", "hub4", SYSTEM, *wrong)
    assert result.exit_code == 2
    assert not result.stdout


def test_options_stand_in_a_file(invoke, tmp_path: Path) -> None:
    options = tmp_path / "hub4.toml"
    options.write_text(f"corpus = {json.dumps(str(CORPUS))}\n", "utf-8")
    role = ("--as", "reference")
    assert invoke("validate", "hub4", REFERENCE, "--options", options, *role).exit_code == 0
    result = invoke("validate", "hub4", REFERENCE, "--options", options)
    assert result.exit_code == 1


def test_a_switch_takes_no_value(invoke, tmp_path: Path) -> None:
    corpus = tmp_path / "asr.txt"
    corpus.write_text("<time 0> Cairo won\n", "utf-8")
    path = tmp_path / "system.tpl"
    path.write_text('<TEMPLATE-X1-1> :=\n    WHO: "Cairo" ##9#14#\n', "utf-8")
    assert invoke("validate", "hub4", path, "--corpus", corpus, "--unsegmented").exit_code == 0
    assert invoke("validate", "hub4", path, "--corpus", corpus).exit_code == 1


def test_slots_are_named_by_the_user(invoke, tmp_path: Path) -> None:
    path = tmp_path / "system.tpl"
    path.write_text("<TEMPLATE-B1-1> :=\n    PART: <PART-B1-1>\n          <PART-B1-2>\n"
                    "    NOTE: free\n<PART-B1-1> :=\n<PART-B1-2> :=\n", "utf-8")  # fmt: skip
    plain = invoke("validate", "hub4", path, "--format", "json")
    assert json.loads(plain.stdout)["counts"]["code"] == {"HUB212": 1, "HUB214": 1}
    named = ("--pointers", "TEMPLATE.PART", "--unscored", "TEMPLATE.NOTE")
    assert invoke("validate", "hub4", path, *named).exit_code == 0


def test_tags_of_the_corpus_are_named_by_the_user(invoke, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.sgml"
    corpus.write_text(
        f"<SET>\n{CORPUS.read_text('utf-8')}</SET>\n".replace("DOCNO", "IDENT"), "utf-8"
    )
    assert invoke("validate", "hub4", SYSTEM, "--corpus", corpus).exit_code == 1
    named = ("--document-tag", "DOC", "--id-tag", "IDENT", "--format", "json")
    result = invoke("validate", "hub4", SYSTEM, "--corpus", corpus, *named)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["counts"]["code"] == {"SGM107": 1}


def test_a_set_is_converted_and_comes_back(invoke, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    assert invoke("convert", REFERENCE, kept).exit_code == 0
    assert invoke("convert", kept, tmp_path / "again.tpl").exit_code == 0
    assert (tmp_path / "again.tpl").read_bytes() == REFERENCE.read_bytes()
    listing = invoke("convert", REFERENCE, tmp_path / "list.muc", "--strict-loss")
    assert listing.exit_code == 1
    assert not (tmp_path / "list.muc").exists()
    back = invoke("convert", REFERENCE, tmp_path / "x.tpl", "--from", "muc-listing")
    assert back.exit_code == 2
    assert "write-only" in back.stderr


def test_the_verdict_says_what_was_compared(invoke) -> None:
    alone = invoke("validate", "hub4", SYSTEM).stdout
    assert "extents not compared (no --corpus)" in alone
    beside = invoke("validate", "hub4", SYSTEM, "--against", REFERENCE).stdout
    assert "types, slots and documents compared with the reference" in beside
    assert "extents not compared" in beside
    for option in ("--against", "--corpus"):
        checked = invoke("validate", "hub4", SYSTEM, option, CORPUS, "--format", "json").stdout
        assert json.loads(checked)["compared"] == "extents compared with the corpus"


def test_a_slot_in_other_case_is_corrected(invoke, tmp_path: Path) -> None:
    path, target = tmp_path / "system.tpl", tmp_path / "fixed.tpl"
    path.write_text(SYSTEM.read_text("utf-8").replace("EVENT:", "event:"), "utf-8")
    assert invoke("validate", "hub4", path, "--fix", target).exit_code == 0
    assert target.read_text("utf-8") == SYSTEM.read_text("utf-8")


def test_scores_note_a_name_that_the_reference_does_not_have(invoke, tmp_path: Path) -> None:
    path = tmp_path / "system.tpl"
    path.write_text(SYSTEM.read_text("utf-8").replace("WINNER:", "Winner:"), "utf-8")
    scored = invoke("score", "hub4", "-r", REFERENCE, "-s", path)
    assert scored.exit_code == 0
    assert "did you mean WINNER?" in " ".join(scored.output.split())

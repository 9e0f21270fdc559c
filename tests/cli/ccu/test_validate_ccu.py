"""Validation of CCU Phase 1 on the command line, as a user meets it."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hlteval.cli.app import app

FIXTURES = Path(__file__).parents[3] / "fixtures" / "ccu"
VALID, INVALID = FIXTURES / "valid", FIXTURES / "invalid"
REFERENCE = VALID / "reference"
INDEX = "system_output.index.tab"
INPUTS = REFERENCE / "index_files" / "mini.system_input.index.tab"


def run(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def found(*arguments: object) -> dict[str, int]:
    """How many findings of each code there are."""
    result = run("validate", *arguments, "--format", "json")
    assert result.exit_code in {0, 1}, result.output
    return dict(Counter(item["code"] for item in json.loads(result.stdout)["findings"]))


def test_an_archive_beside_the_annotation():
    (archive,) = VALID.glob("*.tgz")
    result = run("validate", "ccu-nd", archive, "--against", REFERENCE)
    assert result.exit_code == 0
    assert "pass: no findings" in result.output


def test_a_list_of_documents_with_their_lengths_is_enough():
    path = INVALID / "CCU404-half-a-second"
    assert found("ccu-nd", path, "--against", INPUTS) == {"CCU404": 1}
    assert found("ccu-nd", path) == {}
    missing = INVALID / "CCU301-two-of-three"
    assert found("ccu-nd", missing, "--against", INPUTS) == {"CCU301": 1}


def test_the_profiles_differ_by_their_exit_status():
    for name, statuses in (("CCU701-table-11", (0, 1)), ("CCU704-before", (0, 0))):
        arguments = "validate", "ccu-cd", INVALID / name, "--against", REFERENCE
        both = (run(*arguments), run(*arguments, "--profile", "official"))
        assert tuple(result.exit_code for result in both) == statuses


def test_gaps_are_allowed_where_the_user_says_so():
    arguments = "ccu-ad", INVALID / "CCU603-video", "--against", REFERENCE
    assert found(*arguments) == {"CCU603": 1}
    assert found(*arguments, "--gaps") == {}


def test_a_mapping_is_a_file_or_a_folder():
    more = "--norms", VALID / "nd", "--against", REFERENCE
    assert found("ccu-ndmap", INVALID / "CCU712-known" / "nd.map.tab", *more) == {"CCU712": 1}
    assert found("ccu-ndmap", INVALID / "CCU711-misspelt", *more) == {"CCU711": 1}


def test_an_annotation_fails_with_an_exit_status(tmp_path):
    assert run("validate", "ccu-reference", REFERENCE).exit_code == 0
    result = run("validate", "ccu-reference", INVALID / "CCU801-adhere")
    assert result.exit_code == 1
    assert "none has the status adhere" in result.output
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run("validate", "ccu-reference", empty).exit_code == 1


def test_the_annotation_is_judged_in_the_same_run():
    wrong = INVALID / "CCU806-zero"
    result = run("validate", "ccu-vd", VALID / "vd", "--against", wrong)
    assert result.exit_code == 0
    assert "error[CCU806]" in result.output
    assert found("ccu-nd", VALID / "nd", "--against", wrong) == {}
    assert found("ccu-vd", wrong, "--as", "reference") == {"CCU806": 1}


def test_output_of_another_task_is_told_from_its_header():
    assert set(found("ccu-vd", VALID / "ed")) == {"CCS128"}
    assert set(found("ccu-nd", VALID / "vd")) == {"CCU309"}
    assert set(found("ccu-ndmap", VALID / "nd")) & {"CCU207", "CCS128"}


def test_one_problem_is_one_finding(tmp_path):
    path = tmp_path / "run"
    shutil.copytree(VALID / "vd", path)
    table = path / "A1.tab"
    table.write_text(table.read_text().replace("A1\t12.5\t30\t600", "A1\t12,5\t30\t600"))
    assert found("ccu-vd", path, "--against", REFERENCE) == {"CCS107": 1}
    table.write_text("file_id\tstart\tend\tvalence_continous\nA1\t0\t30\t600\n")
    assert found("ccu-vd", path, "--against", REFERENCE) == {"TAB103": 1}
    table.unlink()
    assert found("ccu-vd", path, "--against", REFERENCE) == {"CCS123": 1}


def test_what_follows_from_another_finding_is_left_out(tmp_path):
    path = tmp_path / "run"
    for row, code in (("A1\t-1\t12.5\t350", "CCU401"), ("A1\t0\t0\t350", "CCU403")):
        shutil.copytree(VALID / "vd", path, dirs_exist_ok=True)
        table = path / "A1.tab"
        table.write_text(table.read_text().replace("A1\t0\t12.5\t350", row))
        assert found("ccu-vd", path, "--against", REFERENCE) == {code: 1}
    gold = tmp_path / "gold"
    shutil.copytree(REFERENCE, gold)
    (gold / "docs" / "file_info.tab").unlink()
    assert found("ccu-reference", gold) == {"CCR101": 1}
    shutil.copytree(REFERENCE, gold, dirs_exist_ok=True)
    (gold / "data" / "norms.tab").unlink()
    assert found("ccu-reference", gold) == {}


def helps(*arguments: object) -> list[tuple[str, str, str]]:
    """The code, the file and the help of each finding."""
    result = run("validate", *arguments, "--format", "json")
    items = json.loads(result.stdout)["findings"]
    return [(item["code"], Path(item["file"]).name, item["help"]) for item in items]


def test_a_document_in_lower_case_is_one_finding_about_the_index(tmp_path):
    path = shutil.copytree(VALID / "nd", tmp_path / "run")
    with (path / "A1.tab").open("a") as table:
        table.write("A1\t102\t20\t30\tadhere\t0.5\n")
    assert found("ccu-nd", path, "--against", REFERENCE) == {}
    index = path / INDEX
    index.write_text(index.read_text().replace("\nA1\t", "\na1\t"))
    said = helps("ccu-nd", path, "--against", REFERENCE)
    assert said == [("CCS133", INDEX, "write A1 in the index")]


def test_rows_in_lower_case_are_wrong_beside_an_index_in_capitals(tmp_path):
    path = shutil.copytree(VALID / "nd", tmp_path / "run")
    table = next(file for file in sorted(path.glob("*.tab")) if file.name != INDEX)
    rows = table.read_text().rstrip("\n").split("\n")
    table.write_text("\n".join([rows[0], *[row.lower() for row in rows[1:]], ""]))
    assert found("ccu-nd", path)["CCS126"] == len(rows) - 1


def test_a_file_with_another_name_is_renamed(tmp_path):
    path = shutil.copytree(VALID / "nd", tmp_path / "run")
    (path / INDEX).rename(path / "system.index.tab")
    expected = ("CCS101", "system.index.tab", f"rename system.index.tab to {INDEX}")
    assert helps("ccu-nd", path, "--against", REFERENCE) == [expected]
    assert helps("ccu-nd", path / "system.index.tab") == [expected]
    path = shutil.copytree(VALID / "ndmap", tmp_path / "mapping")
    (path / "nd.map.tab").rename(path / "map.tab")
    expected = ("CCS101", "map.tab", "rename map.tab to nd.map.tab")
    assert helps("ccu-ndmap", path) == [expected]
    shutil.copy(VALID / "nd" / INDEX, path)
    assert expected in helps("ccu-ndmap", path)
    (path / INDEX).unlink()
    shutil.move(path / "map.tab", tmp_path)
    shutil.copy(VALID / "nd" / "A1.tab", path)
    assert ("CCS101", "mapping", "add it: sys_norm, ref_norm, sub_id") in helps("ccu-ndmap", path)


@pytest.mark.parametrize("profile", ["plan", "official"])
@pytest.mark.parametrize("suffix", ["tsv", "txt"])
def test_a_file_with_another_suffix_is_renamed_and_not_removed(tmp_path, profile, suffix):
    mapping = shutil.copytree(VALID / "ndmap", tmp_path / "mapping")
    (mapping / "nd.map.tab").rename(mapping / f"nd.map.{suffix}")
    output = shutil.copytree(VALID / "nd", tmp_path / "run")
    (output / INDEX).rename(output / f"index.{suffix}")
    for task, path, old, new in (
        ("ccu-ndmap", mapping, f"nd.map.{suffix}", "nd.map.tab"),
        ("ccu-nd", output, f"index.{suffix}", INDEX),
    ):
        expected = [("CCS101", old, f"rename {old} to {new}")]
        assert helps(task, path, "--profile", profile) == expected


def test_output_given_as_a_mapping_is_one_finding_for_each_file():
    assert found("ccu-ndmap", VALID / "nd") == {"CCU207": 1, "CCS128": 3}

"""lorehlt-edl on the command line, as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hlteval.cli.app import app

FIXTURES = Path(__file__).parents[3] / "fixtures" / "lorehlt-edl"
VALID, INVALID = FIXTURES / "valid", FIXTURES / "invalid"
RUN = VALID / "submission.tab"


def run(*arguments: object, stdin: bytes | None = None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def check(*arguments: object, stdin: bytes | None = None) -> tuple[int, dict]:
    result = run("validate", "lorehlt-edl", *arguments, "--format", "json", stdin=stdin)
    return result.exit_code, json.loads(result.stdout)


def test_what_is_wrong_is_shown_at_its_place_with_what_to_do() -> None:
    path = INVALID / "EDL503-one-off.tab"
    result = run("validate", "lorehlt-edl", path, "--against", VALID / "texts.jsonl")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == 'error[EDL503]: the text at these offsets is "yon ", not "Lyon"'
    assert "  = help: write 10-13, where the mention string occurs" in lines
    assert lines[-1].startswith("fail: 1 error")


def test_everything_beside_which_a_submission_can_be_checked() -> None:
    status, verdict = check(
        *(RUN, "--against", VALID / "texts.jsonl", "--kb", VALID / "kb.tab"),
        *("--documents", VALID / "documents.list"),
    )
    assert (status, verdict["verdict"], verdict["findings"]) == (0, "pass", [])


@pytest.mark.parametrize(("profile", "status"), [("plan", 0), ("official", 1)])
def test_the_profiles_judge_nested_mentions_each_in_its_way(profile: str, status: int) -> None:
    found, verdict = check(INVALID / "EDL403-surname.tab", "--profile", profile)
    assert found == status
    assert verdict["verdict"] == ("fail" if status else "pass")
    (finding,) = verdict["findings"]
    assert (finding["code"], finding["severity"], finding["blocking"]) == (
        *("EDL403", "warning"),
        False,
    )


def test_standard_input_has_no_name_that_could_be_wrong() -> None:
    status, verdict = check("-", stdin=RUN.read_bytes())
    assert (status, verdict["findings"]) == (0, [])


def test_a_list_that_is_not_there_is_an_error_of_usage() -> None:
    result = run("validate", "lorehlt-edl", RUN, "--documents", "no-such.list")
    assert result.exit_code == 2
    assert "no-such.list" in result.stderr


@pytest.mark.parametrize("data", [b"", b"\0" * 50, b"\x1f\x8b\x08", b"\xff" * 20, b"PK\x03\x04"])
def test_rubbish_beside_a_submission_is_told(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rubbish"
    path.write_bytes(data)
    for option in ("--kb", "--documents"):
        result = run("validate", "lorehlt-edl", RUN, option, path)
        assert result.exit_code in {0, 1}
        assert "internal error" not in result.output
    result = run("validate", "lorehlt-edl", path)
    assert result.exit_code == 1
    assert "internal error" not in result.output


def test_mentions_become_other_formats_and_come_back(tmp_path: Path) -> None:
    for name in ("run.corpus", "run.jsonl"):
        assert run("convert", RUN, tmp_path / name).exit_code == 0
        again = tmp_path / f"{name}.tab"
        assert run("convert", tmp_path / name, again, "--to", "edl-tab").exit_code == 0
        assert again.read_bytes() == RUN.read_bytes()


def test_neleval_keeps_what_it_has_a_place_for(tmp_path: Path) -> None:
    path = tmp_path / "run.neleval"
    result = run("convert", RUN, path)
    assert result.exit_code == 0
    assert "mention strings" in result.stderr
    first = path.read_text("utf-8").splitlines()[0]
    assert first == "ENG_D1\t0\t4\t2988507\t1.0\tGPE"
    assert (
        run("convert", RUN, tmp_path / "strict", "--to", "neleval", "--strict-loss").exit_code == 1
    )


def test_only_listed_documents_are_scored(tmp_path: Path) -> None:
    listed = tmp_path / "eval.list"
    listed.write_text("ENG_D1\n")
    result = run(
        *("score", "lorehlt-edl", "-r", RUN, "-s", RUN, "--format", "json"),
        *("--documents", listed),
    )
    assert result.exit_code == 0, result.output
    scores = json.loads(result.stdout)
    assert scores["metrics"]["strong_mention_match.ptp"] == 6
    assert "documents:" in scores["signature"]


@pytest.mark.parametrize("fault", ["EDL312-blank", "EDL313-comma"])
def test_the_public_scorer_crashes_where_a_confidence_is_no_number(fault: str) -> None:
    score = ("score", "lorehlt-edl", "-r", RUN, "-s", INVALID / f"{fault}.tab")
    assert run(*score).exit_code == 0
    refused = run(*score, "--profile", "official")
    assert refused.exit_code == 1
    assert "no official score" in refused.stderr


def test_laf_keeps_identifier_extent_text_and_type(tmp_path: Path) -> None:
    assert run("convert", RUN, tmp_path / "laf", "--to", "laf").exit_code == 0
    assert run("convert", tmp_path / "laf", tmp_path / "again.tab").exit_code == 0
    kept = (1, 2, 3, 5)
    both = [
        [
            [line.split("\t")[field] for field in kept]
            for line in path.read_text("utf-8").splitlines()
        ]
        for path in (RUN, tmp_path / "again.tab")
    ]
    assert both[0] == both[1]

"""Scoring lorehlt-edl on the command line, as a user meets it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "fixtures" / "scores" / "lorehlt-edl"
SIDES = ("-r", FOLDER / "reference.tab", "-s", FOLDER / "system.tab")


@pytest.fixture
def scores(invoke):
    def run(*more):
        return invoke("score", "lorehlt-edl", *SIDES, *more)

    return run


@pytest.mark.parametrize("profile", ["plan", "official"])
def test_the_metrics_are_those_worked_out_by_hand(scores, profile):
    found = json.loads(scores("--profile", profile, "--format", "json").stdout)["metrics"]
    lines = (FOLDER / "expected" / f"{profile}.tsv").read_text("utf-8").splitlines()
    for name, value in (line.split("\t") for line in lines):
        expected = None if value == "-" else pytest.approx(float(Fraction(value)), abs=1e-12)
        assert found[name] == expected, name


def test_measures_are_chosen_and_the_one_that_ranks_is_always_given(scores):
    found = json.loads(
        scores("-m", "muc", "--metric", "sets:is_linked:span+type", "--format", "json").stdout
    )
    names = {name.rpartition(".")[0] for name in found["metrics"]}
    assert names == {"muc", "sets:is_linked:span+type", "strong_typed_all_match"}
    assert found["primary"] == "strong_typed_all_match.fscore"
    assert "|measure:muc sets:is_linked:span+type|" in found["signature"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("-m", "sets:span"), "aggregate:filter:key"),
        (("-m", "muk"), "did you mean muc?"),
        (("--by", "word"), "document or type or language"),
        (("--type-weights", "nowhere"), "nowhere"),
    ],
)
def test_errors_of_usage_say_what_can_be_said(scores, given, told):
    result = scores(*given)
    assert result.exit_code == 2
    assert told in " ".join(result.stderr.replace("│", " ").split())


def test_a_wrong_file_of_an_option_is_a_finding_under_its_name(scores):
    result = scores("--exclude", FOLDER / "system.tab")
    assert result.exit_code == 1
    assert "OPT101" in result.stderr + result.stdout
    assert "in the file of --exclude" in " ".join((result.stderr + result.stdout).split())


def test_a_folder_gets_all_tables_and_the_listing_and_can_be_written_again(scores, tmp_path):
    out = tmp_path / "out"
    for _ in range(2):
        result = scores(
            "-o", out, "--texts", FOLDER / "texts", "--profile", "official", "--by", "type"
        )
        assert result.exit_code == 0, result.output
    names = {path.name for path in out.iterdir()}
    tables = {"alignment", "clusters", "confusion", "errors", "groups", "metrics", "scorings"}
    assert names == {f"{name}.tsv" for name in tables} | {
        *("scores.json", "evaluation.tab", "evaluation.json", "errors.txt")
    }
    told = (out / "errors.txt").read_text("utf-8")
    assert "wrong boundary  37-40 Omar PER NIL1 | 34-40 Mr Omar PER NIL8\n" in told
    assert "    In Osh, Daniel Omar of the [UN] met Mr Omar near Naryn.\n" in told
    assert "  split  " not in told  # the other half of NIL1 is in no cluster of the system
    assert "  missing  1527590 (1), 0 shared" in told
    head = (out / "evaluation.tab").read_text("utf-8").splitlines()
    assert head[0] == "ptp\tfp\trtp\tfn\tprecis\trecall\tfscore\tmeasure"
    assert any(line.endswith('\tmuc;type="PER"') for line in head)


def test_people_read_a_table_and_the_one_that_ranks(scores):
    told = scores().stdout
    assert "strong_typed_all_match.fscore  0.4000  (primary)" in told
    assert "strong_mention_match.ptp" not in told
    assert "mention_ceaf;docid=<micro>" in told


def test_markdown_and_latex_have_the_table(scores):
    for form in ("markdown", "latex"):
        assert scores("-m", "plan", "--format", form).exit_code == 0


def test_a_reference_without_mentions_is_an_error_of_usage(invoke, tmp_path):
    (tmp_path / "d.list").write_text("ENG_D1\n", "utf-8")
    result = invoke("score", "lorehlt-edl", "-r", tmp_path / "d.list", *SIDES[2:])
    assert result.exit_code == 2

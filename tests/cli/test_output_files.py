"""`--output-file FORMAT=PATH`, and refusals in every output format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from hlteval.cli.commands import declaration
from hlteval.reports import findings
from hlteval.reports import scores as score_formats
from hlteval.reports import systems as comparison
from hlteval.tasks import load, task_names

Run = Callable[..., Any]
FORMS, FINDINGS = (declaration(name, "form")["choices"] for name in ("score", "validate"))


@pytest.fixture
def validating(reference: Path, flawed: Path) -> tuple[object, ...]:
    return ("validate", "seedev-full", flawed, "--against", reference)


@pytest.fixture
def refused(reference: Path, flawed: Path) -> tuple[object, ...]:
    return ("score", "seedev-full", "-r", reference, "-s", flawed)


@pytest.fixture
def scoring(reference: Path, system: Path) -> tuple[object, ...]:
    return ("score", "seedev-full", "-r", reference, "-s", system)


@pytest.fixture
def comparing(reference: Path, system: Path) -> tuple[object, ...]:
    given = ("compare", "seedev-full", "-r", reference, system, "--bootstrap", 10)
    return (*given, "--profile", "plan")


def test_the_formats_of_the_options_are_those_of_the_reports() -> None:
    assert tuple(FINDINGS) == tuple(findings.FORMATS)
    assert tuple(FORMS) == tuple(score_formats.FORMATS) == tuple(comparison.COMPARISON_FORMATS)


def test_a_refusal_is_json_on_standard_output(invoke: Run, refused: tuple[object, ...]) -> None:
    result = invoke(*refused, "--format", "json")
    assert result.exit_code == 1
    shown = json.loads(result.stdout)
    assert list(shown)[:4] == ["schema", "version", "task", "profile"]
    assert list(shown)[4:7] == ["verdict", "reason", "help"]
    assert (shown["task"], shown["profile"], shown["verdict"]) == ("seedev-full", "plan", "refused")
    assert "(SEE205)" in shown["reason"]
    assert "--lenient" in shown["help"]
    assert [finding["code"] for finding in shown["findings"]] == ["SEE205"]
    assert shown["counts"]["code"] == {"SEE205": 1}
    assert result.stderr == f"{shown['reason']}\n{shown['help']}\n"


def test_a_comparison_of_refused_systems_is_json_too(
    invoke: Run, reference: Path, flawed: Path
) -> None:
    result = invoke("compare", "seedev-full", "-r", reference, flawed, "--format", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["verdict"] == "refused"


@pytest.mark.parametrize("form", ["text", "tsv", "markdown", "latex"])
def test_other_formats_print_no_refusal_to_standard_output(
    invoke: Run, refused: tuple[object, ...], form: str
) -> None:
    result = invoke(*refused, "--format", form)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[SEE205]" in result.stderr
    assert "nothing was scored because of blocking findings (SEE205)" in result.stderr


def test_the_profile_official_refuses_in_json_too(invoke: Run, reference: Path) -> None:
    crashing = reference.parent.parent / "invalid" / "STD105-no-argument"
    given = ("score", "seedev-full", "-r", reference, "-s", crashing, "--profile", "official")
    result = invoke(*given, "--lenient", "--format", "json")
    assert result.exit_code == 1
    assert "official software crashes" in json.loads(result.stdout)["reason"]


def test_usage_errors_are_not_json(invoke: Run, reference: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    result = invoke("score", "seedev-full", "-r", reference, "-s", missing, "--format", "json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no such file or folder" in result.stderr


def files_of(folder: Path, forms: tuple[str, ...]) -> list[object]:
    return [
        part for form in forms for part in ("--output-file", f"{form}={folder / f'out.{form}'}")
    ]


def test_each_format_is_written_as_it_is_printed(
    invoke: Run, validating: tuple[object, ...], tmp_path: Path
) -> None:
    forms = FINDINGS
    result = invoke(*validating, "--format", "concise", *files_of(tmp_path, forms))
    assert result.exit_code == 1
    for form in forms:
        printed = invoke(*validating, "--format", form).stdout
        assert (tmp_path / f"out.{form}").read_text("utf-8") == printed
    assert result.stdout == (tmp_path / "out.concise").read_text("utf-8")
    assert fromstring((tmp_path / "out.junit").read_text("utf-8")).tag == "testsuites"


@pytest.mark.parametrize("command", ["scoring", "comparing"])
def test_scores_and_comparisons_are_written_as_they_are_printed(
    invoke: Run, command: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    given = request.getfixturevalue(command)
    out = tmp_path / "out"
    out.mkdir()
    result = invoke(*given, *files_of(out, FORMS))
    assert result.exit_code == 0, result.stderr
    for form in FORMS:
        assert (out / f"out.{form}").read_text("utf-8") == invoke(*given, "--format", form).stdout
    assert sorted(file.name for file in out.iterdir()) == sorted(f"out.{form}" for form in FORMS)


def test_a_file_has_no_colours(
    invoke: Run, validating: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    invoke(*validating, "--output-file", f"text={tmp_path / 'out.txt'}")
    assert "\x1b" not in (tmp_path / "out.txt").read_text("utf-8")


def test_files_of_an_earlier_run_are_replaced(
    invoke: Run, scoring: tuple[object, ...], tmp_path: Path
) -> None:
    file = tmp_path / "out.tsv"
    file.write_text("earlier", "utf-8")
    assert invoke(*scoring, "--output-file", f"tsv={file}").exit_code == 0
    assert file.read_text("utf-8").startswith("f1\t")


def test_refusals_are_written_where_the_format_has_them(
    invoke: Run, refused: tuple[object, ...], tmp_path: Path
) -> None:
    result = invoke(*refused, *files_of(tmp_path, ("json", "text", "tsv")))
    assert result.exit_code == 1
    assert json.loads((tmp_path / "out.json").read_text("utf-8"))["verdict"] == "refused"
    assert "error[SEE205]" in (tmp_path / "out.text").read_text("utf-8")
    assert not (tmp_path / "out.tsv").exists()
    assert f"{tmp_path / 'out.tsv'} is not written: tsv cannot show a refusal" in result.stderr


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["jsn={}/x"], "unknown format; did you mean json?"),
        (["xlsx={}/x"], "unknown format; use one of text, json, tsv, markdown, latex"),
        (["json"], "use FORMAT=PATH"),
        (["json="], "use FORMAT=PATH"),
        (["json=-"], "use FORMAT=PATH"),
        (["json={}/x", "tsv={}/./x"], "is named twice"),
        (["json={}/absent/x"], "no folder"),
        (["json={}"], "is a folder"),
    ],
)
def test_invalid_output_files_are_usage_errors(
    invoke: Run, scoring: tuple[object, ...], tmp_path: Path, values: list[str], reason: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    given = [part for value in values for part in ("--output-file", value.format(out))]
    result = invoke(*scoring, *given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in " ".join(result.stderr.split()).replace("│ ", "")
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("command", ["validate", "score", "compare"])
def test_an_input_is_never_replaced(invoke: Run, command: str, tmp_path: Path) -> None:
    fixtures = Path(__file__).parents[2] / "fixtures" / "hub4" / "valid"
    content = min(fixtures.glob("*.tpl")).read_bytes()
    file = tmp_path / "run.tpl"
    file.write_bytes(content)
    given = {
        "validate": ("validate", "hub4", file),
        "score": ("score", "hub4", "-r", file, "-s", file),
        "compare": ("compare", "hub4", "-r", file, file),
    }
    result = invoke(*given[command], "--output-file", f"json={file}")
    assert result.exit_code == 2
    assert file.read_bytes() == content


def test_every_task_has_the_option(invoke: Run) -> None:
    for task in task_names():
        commands = ["validate", *(["score", "compare"] if load(task).metric else [])]
        for command in commands:
            assert "--output-file" in invoke(command, task, "--help").stdout

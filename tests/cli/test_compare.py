"""`hlteval compare`, and the intervals of `hlteval score`."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hlteval

Run = Callable[..., Any]
DEMO = Path(__file__).parents[2] / "hlteval" / "demo" / "comparison"


@pytest.fixture
def second(reference: Path, tmp_path: Path) -> Path:
    """A perfect submission."""
    folder = tmp_path / "perfect"
    folder.mkdir()
    for file in reference.glob("*.a2"):
        shutil.copy(file, folder)
    return folder


def test_systems_are_ranked_and_each_pair_is_tested(
    invoke: Run, reference: Path, system: Path, second: Path
) -> None:
    given = ("compare", "seedev-full", "-r", reference, system, second, "--bootstrap", 200)
    done = invoke(*given, "--format", "json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert [item["name"] for item in told["systems"]] == ["perfect", system.name]
    assert told["systems"][0]["value"] == 1.0
    (pair,) = told["differences"]
    assert pair["difference"] == 1.0 - told["systems"][1]["value"]
    assert pair["wins"] + pair["losses"] + pair["ties"] >= 1
    assert pair["losses"] == 0
    assert pair["corrected"] == pair["probability"]
    assert done.stdout == invoke(*given, "--format", "json").stdout


def test_less_is_better_where_the_task_says_so(
    invoke: Run, reference: Path, system: Path, second: Path
) -> None:
    given = ("compare", "seedev-full", "-r", reference, system, second, "--bootstrap", 50)
    told = json.loads(invoke(*given, "--metric", "ser", "--format", "json").stdout)
    assert told["systems"][0]["value"] == 0.0
    assert "lower is better for ser" in told["notes"]


@pytest.mark.parametrize("test", ["permutation", "bootstrap", "jackknife"])
def test_a_system_and_its_copy_share_a_rank(
    invoke: Run, reference: Path, system: Path, tmp_path: Path, test: str
) -> None:
    copy = shutil.copytree(system, tmp_path / "copy")
    given = ("compare", "seedev-full", "-r", reference, system, copy, "--bootstrap", 50)
    told = json.loads(invoke(*given, "--test", test, "--format", "json").stdout)
    assert [item["rank"] for item in told["systems"]] == [1, 1]
    assert told["differences"][0]["probability"] == 1.0


@pytest.mark.parametrize("form", ["text", "tsv", "markdown", "latex"])
def test_every_format_names_the_systems(
    invoke: Run, reference: Path, system: Path, second: Path, form: str
) -> None:
    given = ("compare", "seedev-full", "-r", reference, system, second, "--bootstrap", 20)
    done = invoke(*given, "--format", form)
    assert done.exit_code == 0
    assert "perfect" in done.stdout
    assert "1.0000" in done.stdout


def test_what_weakens_a_comparison_is_told(
    invoke: Run, reference: Path, system: Path, second: Path
) -> None:
    file = min(second.glob("*.a2"))
    file.write_text(file.read_text("utf-8").replace("\t", " ", 1), "utf-8")
    given = ("compare", "seedev-full", "-r", reference, system, second, "--bootstrap", 20)
    notes = json.loads(invoke(*given, "--format", "json").stdout)["notes"]
    command = f"hlteval validate seedev-full {second} --against {reference}"
    errors = f"1 error in the submission (STD101); for details, run `{command}`"
    assert f"{second.name}: {errors}" in notes
    assert any("no difference is significant" in note for note in notes)


@pytest.mark.parametrize("form", ["text", "json", "tsv", "markdown", "latex"])
def test_a_refused_system_has_a_row_and_the_others_are_ranked(
    invoke: Run, reference: Path, system: Path, second: Path, flawed: Path, form: str
) -> None:
    given = ("compare", "seedev-full", "-r", reference, "--bootstrap", 20, "--format", form)
    done = invoke(*given, system, flawed, second)
    assert done.exit_code == 1
    assert f"refused: {flawed.name}\n" in done.stderr
    assert "error[SEE205]" in done.stderr
    assert "blocking findings (SEE205)" in done.stderr
    without = invoke(*given, system, second)
    assert without.exit_code == 0
    if form == "json":
        told, other = json.loads(done.stdout), json.loads(without.stdout)
        assert (told["systems"], told["differences"]) == (other["systems"], other["differences"])
        assert told["signature"] == other["signature"]
        ((name, report),) = told["refused"].items()
        assert (name, report["verdict"]) == (flawed.name, "refused")
        assert report["counts"]["code"] == {"SEE205": 1}
        assert "SEE205" in report["reason"]
        assert other["refused"] == {}
        return
    rows = [line for line in done.stdout.splitlines() if line.lstrip("| ").startswith("refused")]
    assert [flawed.name.replace("_", r"\_") in row for row in rows] == [True]
    assert not [line for line in without.stdout.splitlines() if line.lstrip("| ")[:7] == "refused"]


def test_nothing_is_compared_if_all_are_refused(
    invoke: Run, reference: Path, flawed: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(flawed, tmp_path / "copy")
    given = ("compare", "seedev-full", "-r", reference)
    done = invoke(*given, flawed, copy)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "all submissions are refused (SEE205)" in done.stderr
    assert done.stderr.count("error[SEE205]") == 2
    alone = invoke(*given, flawed)
    assert (alone.exit_code, alone.stdout) == (1, "")
    assert "nothing was scored because of blocking findings (SEE205)" in alone.stderr


def test_a_single_system_has_a_rank_and_no_pairs(
    invoke: Run, reference: Path, system: Path
) -> None:
    done = invoke("compare", "seedev-full", "-r", reference, system, "--bootstrap", 20)
    assert done.exit_code == 0
    assert "rank" in done.stdout
    assert "wins" not in done.stdout


def test_an_unknown_metric_is_an_error_of_usage(invoke: Run, reference: Path, system: Path) -> None:
    done = invoke("compare", "seedev-full", "-r", reference, system, "--metric", "nope")
    assert done.exit_code == 2
    assert "unknown metric nope" in done.stderr


def test_scores_have_intervals_where_they_are_wanted(invoke: Run) -> None:
    given = ("score", "hub4", "-r", DEMO / "reference.tpl", "-s", DEMO / "careful.tpl")
    done = json.loads(invoke(*given, "--bootstrap", 100, "--format", "json").stdout)
    low, high = done["intervals"]["both.f"]
    assert low <= done["metrics"]["both.f"] <= high
    assert "bootstrap:100|confidence:0.95|seed:0" in done["signature"]
    assert "both.optional" not in done["intervals"]  # 0 in every document: nothing varies
    without = json.loads(invoke(*given, "--format", "json").stdout)
    assert without["intervals"] == {}
    assert without["metrics"] == done["metrics"]
    lines = invoke(*given, "--bootstrap", 100, "--format", "tsv").stdout.splitlines()
    assert len(lines[0].split("\t")) == 4


def test_too_few_documents_have_no_interval_and_a_note(
    invoke: Run, reference: Path, system: Path
) -> None:
    given = ("score", "seedev-full", "-r", reference, "-s", system, "--bootstrap", 100)
    done = json.loads(invoke(*given, "--format", "json").stdout)
    assert done["intervals"] == {}
    assert any("2 documents with counts, at least 10 are needed" in note for note in done["notes"])


@pytest.fixture
def entities(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A reference of entities in many documents, and two systems."""
    return tuple(mentions(tmp_path / f"{number}.tab", number) for number in range(3))


def mentions(path: Path, number: int) -> Path:
    """Mentions of which a system, by its number, links some wrongly."""
    truth, errors = random.Random(1), random.Random(2 + number)
    rows = [
        f"R\tm{at}\tx\tENG_{at // 5:02}:{at * 10}-{at * 10 + 2}\t"
        f"NIL{truth.randrange(9) + (number and errors.random() < 0.2)}\tPER\tNAM\t1.0\n"
        for at in range(100)
    ]
    path.write_text("".join(rows), "utf-8")
    return path


def test_a_measure_over_clusters_is_compared_by_the_jackknife(
    invoke: Run, entities: tuple[Path, Path, Path]
) -> None:
    given = ("compare", "lorehlt-edl", "-r", *entities, "--metric", "muc.fscore")
    told = json.loads(invoke(*given, "--format", "json").stdout)
    for system in told["systems"]:
        assert system["interval"][0] < system["value"] < system["interval"][1]
    (pair,) = told["differences"]
    assert pair["interval"][0] <= pair["difference"] <= pair["interval"][1]
    assert 0 < pair["probability"] <= 1
    assert "|jackknife:20|confidence:0.95|seed:0" in told["signature"]
    assert told["signature"].endswith("test:jackknife|metric:muc.fscore")
    assert "bootstrap" not in told["signature"]


@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
def test_tests_that_are_not_valid_for_clusters_are_refused(
    invoke: Run, entities: tuple[Path, Path, Path], test: str
) -> None:
    given = ("compare", "lorehlt-edl", "-r", *entities, "--metric", "muc.fscore", "--test", test)
    done = invoke(*given)
    assert done.exit_code == 2
    assert "use --test jackknife" in " ".join(done.stderr.replace("│", " ").split())


def test_a_profile_that_a_task_does_not_have_is_an_error_of_usage(invoke: Run) -> None:
    done = invoke("compare", "hub4", "-r", "r.tpl", "s.tpl", "--profile", "official")
    assert done.exit_code == 2
    assert "no profile official" in " ".join(done.stderr.replace("│", " ").split())


def test_systems_have_the_names_that_they_have_on_a_leaderboard(
    invoke: Run, reference: Path, system: Path, tmp_path: Path
) -> None:
    listed = [system, tmp_path / "a" / "run", tmp_path / "b" / "run"]
    for folder in listed[1:]:
        shutil.copytree(system, folder)
    given = ("seedev-full", "-r", reference, *listed, "--bootstrap", 20, "--format", "json")
    compared, board = (
        [row["name"] for row in json.loads(invoke(command, *given).stdout)["systems"]]
        for command in ("compare", "leaderboard")
    )
    assert compared == board == [system.name, "a/run", "b/run"]
    python = hlteval.compare("seedev-full", reference, listed, bootstrap=20)
    assert python.paths == dict(zip(compared, map(str, listed), strict=True))

"""`--report FILE.html`: written with the result, of a refusal too; wrong names are usage errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html

import hlteval
from hlteval.results.verdict import Verdict

Run = Callable[..., Any]
DEMO = Path(hlteval.__file__).parent / "demo"
SIDES = ("-r", DEMO / "reference", "-s")


def titles(path: Path) -> list[str]:
    """The tabs of a report; its heading if it has none."""
    page = html.fromstring(path.read_text("utf-8"))
    return [tab.text for tab in page.xpath("//*[@role='tab']")] or page.xpath("//h2/bdi/text()")


def outcome(path: Path) -> list[str]:
    found: list[str] = html.parse(path).xpath("//*[contains(@class, 'outcome')]/text()")
    return found


def test_scores_have_a_report(invoke: Run, tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    result = invoke("score", "seedev-full", *SIDES, DEMO / "system", "--report", path)
    assert result.exit_code == 0
    parts = ["Overview", "Scores", "Breakdown", "Alignment"]
    assert [title.strip() for title in titles(path)][:4] == parts


def test_a_refusal_has_a_report(invoke: Run, tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    result = invoke("score", "seedev-full", *SIDES, DEMO / "flawed", "--report", path)
    assert result.exit_code == 1
    assert outcome(path) == ["refused"]
    assert "--lenient" in path.read_text("utf-8")


def test_a_verdict_has_a_report(invoke: Run, tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    sides = (DEMO / "flawed", "--against", DEMO / "reference")
    result = invoke("validate", "seedev-full", *sides, "--report", path)
    assert result.exit_code == 1
    assert outcome(path) == ["fail"]
    assert titles(path) == ["By code", "Findings"]


def test_a_comparison_has_a_report_with_its_refused_systems(invoke: Run, tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    systems = (DEMO / "system", DEMO / "flawed", DEMO / "reference")
    given = ("-r", DEMO / "reference", *systems, "--bootstrap", 10, "--report", path)
    result = invoke("compare", "seedev-full", *given)
    assert result.exit_code == 1
    assert [title.strip() for title in titles(path)] == [
        "Overview",
        "Differences",
        "Errors",
        "Refused",
    ]
    assert "SEE205" in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("report.txt", "the name must end in .html"),
        ("absent/report.html", "no folder"),
        ("folder.html", "is a folder"),
        ("input.html", "is an input"),
        ("other.html", "is named twice"),
    ],
)
def test_wrong_names_are_reported_before_the_work(
    invoke: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.html").mkdir()
    Path("input.html").write_text("")
    given = ("input.html", "--output-file", "json=other.html", "--report", name)
    result = invoke("validate", "lorehlt-edl", *given)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.replace("│", " ").split())
    assert not Path("other.html").exists()


def test_a_report_from_python_is_that_of_the_command_line(invoke: Run, tmp_path: Path) -> None:
    shell, python = tmp_path / "shell.html", tmp_path / "python.html"
    invoke("score", "seedev-full", *SIDES, DEMO / "system", "--report", shell)
    scores = hlteval.score("seedev-full", DEMO / "reference", DEMO / "system")
    hlteval.report(scores, python)
    assert shell.read_bytes() == python.read_bytes()


def test_what_has_no_report_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="expected scores"):
        hlteval.report("scores", tmp_path / "out.html")  # type: ignore[arg-type]
    with pytest.raises(hlteval.WrongArgument, match="is a folder"):
        hlteval.report(Verdict("seedev-full", "plan", passed=True), tmp_path)

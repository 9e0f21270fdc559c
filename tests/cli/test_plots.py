"""`--plot` of `score` and `compare`, for a task without curves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hlteval

DEMO = Path(hlteval.__file__).parent / "demo" / "comparison"
Run = Callable[..., Any]


def test_metrics_of_several_systems_are_plotted(invoke: Run, tmp_path: Path) -> None:
    picture, named = tmp_path / "scores.svg", tmp_path / "ርዕስ.tpl"
    named.write_bytes((DEMO / "careful.tpl").read_bytes())
    given = ("score", "hub4", "-r", DEMO / "reference.tpl", "-s", DEMO / "bold.tpl")
    beside = ("--beside", named)
    assert invoke(*given, "--plot", picture, *beside, "--bootstrap", 5).exit_code == 0
    text = picture.read_text("utf-8")
    for shown in (">both.f<", ">both.err ↓<", ">bold<", ">ርዕስ<", "with interval"):
        assert shown in text
    assert text.count("0.7803 [") >= 1


def test_a_comparison_is_plotted(invoke: Run, tmp_path: Path) -> None:
    picture = tmp_path / "ranks.svg"
    systems = (DEMO / "bold.tpl", DEMO / "careful.tpl")
    given = ("compare", "hub4", "-r", DEMO / "reference.tpl", *systems, "--bootstrap", 5)
    assert invoke(*given, "--plot", picture).exit_code == 0
    assert ">careful − bold<" in picture.read_text("utf-8")


def test_a_comparison_has_the_curves_of_its_systems(invoke: Run, tmp_path: Path) -> None:
    speech, picture = DEMO.parent / "speech", tmp_path / "curves.svg"
    given = ("compare", "speech-sf", "-r", speech / "annotations", speech / "system.json")
    assert invoke(*given, "--plot", picture).exit_code == 0
    text = picture.read_text("utf-8")
    assert all(shown in text for shown in (">Relevance<", ">recall<", ">system<"))


def test_agreement_is_plotted_with_its_pairs_and_alpha(invoke: Run, tmp_path: Path) -> None:
    picture = tmp_path / "agreement.svg"
    files = [DEMO.parent / "annotators" / f"{name}.tab" for name in ("ada", "bo", "eve")]
    assert invoke("agreement", "lorehlt-edl", *files, "--plot", picture).exit_code == 0
    text = picture.read_text("utf-8")
    for shown in (
        *(">ada, bo<", ">bo, eve<", ">0.7442 [0.6047, 0.8605]<", ">strong_mention_match.fscore<"),
        *(">Krippendorff's alpha of all annotators<", ">0.8358 [0.7582, 0.9100]<"),
    ):
        assert shown in text
    found = hlteval.agreement("lorehlt-edl", files, bootstrap=0).plot()
    assert found.axes[0].get_xlabel() == "strong_typed_all_match.fscore"


@pytest.mark.parametrize("command", ["score", "compare"])
@pytest.mark.parametrize(
    ("plot", "problem"),
    [
        ("plot.gif", "a plot is one of .png, .svg, .pdf, not plot.gif"),
        ("plot", "a plot is one of .png, .svg, .pdf, not plot"),
        ("absent/plot.svg", "no folder"),
        ("input.svg", "is an input"),
        (".", "is a folder"),
    ],
)
def test_a_wrong_file_is_reported_before_anything_is_read(
    invoke: Run, tmp_path: Path, command: str, plot: str, problem: str
) -> None:
    inputs = ["-s", tmp_path / "input.svg"] if command == "score" else [tmp_path / "input.svg"]
    result = invoke(command, "hub4", "-r", tmp_path / "absent", *inputs, "--plot", tmp_path / plot)
    assert result.exit_code == 2
    assert problem in " ".join(result.output.replace("│", " ").split())
    assert not [*tmp_path.iterdir()]


def test_python_plots_too(reference: Path, system: Path) -> None:
    scores = hlteval.score("seedev-full", reference, system)
    (legend,) = scores.plot({"v1.final": scores}).legends
    assert [text.get_text() for text in legend.get_texts()] == [system.name, "v1.final"]
    systems = {"baseline": system, "new": system}
    ranked = hlteval.compare("seedev-full", reference, systems, bootstrap=5).plot()
    assert ranked.axes[1].get_yticklabels()[0].get_text() == "baseline − new"


def test_an_extra_that_is_missing_is_named(
    invoke: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("hlteval.reports.curves.find_spec", lambda _: None)
    given = (
        "score",
        "hub4",
        "-r",
        tmp_path / "r",
        "-s",
        tmp_path / "s",
        "--plot",
        tmp_path / "x.svg",
    )
    result = invoke(*given)
    assert result.exit_code == 2
    assert "pip install 'hlteval[plot]'" in " ".join(result.output.replace("│", " ").split())

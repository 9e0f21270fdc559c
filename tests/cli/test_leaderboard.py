"""`hlteval leaderboard`: systems by several metrics, of which some may be refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hlteval
from hlteval.reports.systems import LEADERBOARD_FORMATS as FORMATS
from hlteval.reports.systems import matrix, probability
from hlteval.reports.tables import ALL, View
from hlteval.reports.terminal import render_text

Run = Callable[..., Any]
ROOT = Path(__file__).parents[2]
DEMO = ROOT / "hlteval" / "demo" / "comparison"
INVALID = ROOT / "fixtures" / "leaderboard" / "invalid"
REFERENCE, CAREFUL, BOLD = (DEMO / f"{name}.tpl" for name in ("reference", "careful", "bold"))
GIVEN = ("leaderboard", "hub4", "-r", REFERENCE, "--bootstrap", 20)


def board(invoke: Run, *arguments: object, exit_code: int = 0) -> dict[str, Any]:
    """The leaderboard of some submissions, from JSON."""
    done = invoke(*GIVEN, "--format", "json", *arguments)
    assert done.exit_code == exit_code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_systems_have_a_value_and_a_rank_by_each_metric(invoke: Run) -> None:
    found = board(invoke, BOLD, CAREFUL, "--metric", "both.f,both.err")
    assert found["metrics"] == ["both.f", "both.err"]
    assert [(row["name"], row["rank"]) for row in found["systems"]] == [("careful", 1), ("bold", 2)]
    for row in found["systems"]:
        for score in row["scores"].values():
            assert score["interval"][0] <= score["value"] <= score["interval"][1]
    assert [pair["metric"] for pair in found["differences"]] == ["both.f", "both.err"]
    assert "lower is better for both.err" in found["notes"]
    assert not [note for note in found["notes"] if str(DEMO) in note]


def test_each_metric_is_compared_as_by_itself(invoke: Run) -> None:
    found = board(invoke, BOLD, CAREFUL, "--metric", "both.f,both.err")
    given = ("compare", "hub4", "-r", REFERENCE, BOLD, CAREFUL, "-m", "both.err")
    alone = json.loads(invoke(*given, "--bootstrap", 20, "--format", "json").stdout)
    for system in alone["systems"]:
        name = Path(system.pop("name")).stem
        (row,) = [row for row in found["systems"] if row["name"] == name]
        own = row["scores"]["both.err"]
        assert {name: own[name] for name in ("value", "interval", "rank")} == system
    pairs = [pair for pair in found["differences"] if pair.pop("metric") == "both.err"]
    for pair in alone["differences"]:
        pair |= {side: Path(pair[side]).stem for side in ("first", "second")}
    assert pairs == alone["differences"]


def test_what_is_wrong_with_one_submission_does_not_refuse_the_others(
    invoke: Run, tmp_path: Path
) -> None:
    (tmp_path / "damaged.zip").write_bytes(b"PK\x03\x04 and nothing more")
    (tmp_path / "empty").mkdir()
    (tmp_path / "nowhere").symlink_to(tmp_path / "absent")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    wrong = [tmp_path / name for name in ("absent", "damaged.zip", "empty", "nowhere", "loop")]
    found = board(invoke, *wrong, CAREFUL, exit_code=1)
    assert [row["name"] for row in found["systems"]] == ["careful"]
    codes = {name: system["codes"] for name, system in found["refused"].items()}
    assert codes == {
        "absent": ["LDB201"],
        "damaged": ["SRC105"],
        "empty": ["SRC104"],
        "nowhere": ["LDB201"],
        "loop": ["SRC108"],
    }
    assert found["systems"] == board(invoke, CAREFUL)["systems"]


@pytest.fixture(scope="module")
def value() -> hlteval.Leaderboard:
    """A leaderboard of two systems and one that is not there."""
    systems = {"careful": CAREFUL, "a_b & {c}|<i>\u202e": BOLD, "gone": "absent.tpl"}
    return hlteval.leaderboard("hub4", REFERENCE, systems, bootstrap=20)


@pytest.mark.parametrize("form", ["text", "json", "tsv", "markdown", "latex"])
def test_every_format_has_values_reasons_and_names(value: hlteval.Leaderboard, form: str) -> None:
    shown = render_text(FORMATS[form](value, ALL))
    assert "0.9268" in shown
    assert "both.err" in shown
    assert "no such file or folder (LDB201)" in shown
    assert "\u202e" not in shown
    assert str(DEMO) not in shown


def test_names_are_plain_text_in_markdown_and_latex(value: hlteval.Leaderboard) -> None:
    assert r"| a_b &amp; {c}\|&lt;i>\u202e |" in render_text(FORMATS["markdown"](value, ALL))
    assert r"a\_b \& \{c\}\textbar{}\textless{}i\textgreater{}" in render_text(
        FORMATS["latex"](value, ALL)
    )


def test_a_chosen_column_is_shown(value: hlteval.Leaderboard) -> None:
    shown = render_text(FORMATS["markdown"](value, View(("rec", "f"))))
    assert "| rank | system | rec | f |\n" in shown


def test_the_p_value_of_a_pair_is_in_the_row_of_the_worse(value: hlteval.Leaderboard) -> None:
    (pair,) = value.by("both.f").differences
    table = matrix(value.by("both.f"))
    assert [row[2] for row in table.rows] == ["", probability(pair.corrected)]


def test_if_all_are_refused_the_rows_are_there(invoke: Run) -> None:
    found = board(invoke, "absent", exit_code=1)
    assert (found["systems"], found["signature"]) == ([], "")


def test_a_reference_that_cannot_be_used_refuses_all(invoke: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK")
    done = invoke("leaderboard", "hub4", "-r", broken, CAREFUL, BOLD)
    assert (done.exit_code, done.stdout) == (1, "")
    assert invoke("leaderboard", "hub4", "-r", tmp_path / "absent", CAREFUL).exit_code == 2


def test_a_file_of_names_that_cannot_be_used_refuses_all(invoke: Run) -> None:
    done = invoke(*GIVEN, "--names", INVALID / "LDB103-one-team.tsv", BOLD, CAREFUL)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "error[LDB103]" in done.stderr
    assert "LDB103-one-team.tsv:2:6" in done.stderr
    assert invoke(*GIVEN, "--names", "absent", BOLD).exit_code == 2


def test_a_warning_about_names_is_reported_and_names_are_used(invoke: Run) -> None:
    done = invoke(*GIVEN, "--names", INVALID / "LDB102-misspelt.tsv", CAREFUL)
    assert done.exit_code == 0
    assert "Team A" in done.stdout
    assert "warning[LDB102]" in done.stderr


def test_the_values_of_all_systems_are_plotted(invoke: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    given = ("--names", INVALID / "LDB102-misspelt.tsv", CAREFUL, BOLD, "--metric", "both.f")
    assert invoke(*GIVEN, *given, "--plot", tmp_path / "board.svg").exit_code == 0
    drawn = (tmp_path / "board.svg").read_text("utf-8")
    assert "Team A" in drawn
    assert "bold" in drawn
    assert invoke(*GIVEN, CAREFUL, "--plot", tmp_path / "board.gif").exit_code == 2


def test_too_few_resamples_for_the_number_of_pairs_are_noted(invoke: Run) -> None:
    given = (BOLD, CAREFUL, "--metric", "both.f", "--format", "json")
    notes = json.loads(invoke(*GIVEN[:-1], 19, *given).stdout)["notes"]
    assert notes[-1] == (
        "no difference can be significant: 12 documents, 1 pair, smallest p 0.05; "
        "use --bootstrap 1000 or more"
    )
    enough = json.loads(invoke(*GIVEN[:-1], 20, *given).stdout)["notes"]
    assert not [note for note in enough if "can be significant" in note]


def test_an_unknown_metric_is_an_error_of_usage(invoke: Run) -> None:
    done = invoke(*GIVEN, CAREFUL, "--metric", "both.f,nope")
    assert done.exit_code == 2
    assert "unknown metric nope" in done.stderr
    assert invoke(*GIVEN, CAREFUL, "--columns", "nope").exit_code == 2
    entities = ("leaderboard", "lorehlt-edl", "-r", DEMO.parent / "entities/reference.tab")
    done = invoke(*entities, DEMO.parent / "entities/system.tab", "--metric", "fscore")
    assert "unknown measure fscore" in done.stderr


def test_metrics_of_a_task_that_has_such_an_option_are_computed(invoke: Run) -> None:
    reference, system = (
        ROOT / "fixtures/scores/lorehlt-mt" / name for name in ("reference", "system")
    )
    given = ("leaderboard", "lorehlt-mt", "-r", reference, system, "--bootstrap", 9)
    done = invoke(*given, "--metric", "ter,bleu", "--format", "json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["metrics"] == ["ter", "bleu"]
    assert "metrics:ter,bleu" in found["signature"]


def test_a_signature_of_several_metrics_can_be_verified(invoke: Run) -> None:
    signature = board(invoke, BOLD, CAREFUL)["signature"]
    given = ("verify", signature, "-r", REFERENCE, "-s", BOLD, "-s", CAREFUL)
    assert invoke(*given).exit_code == 0


def test_python_gives_the_same_as_a_value(invoke: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DEMO)
    systems = {"careful": "careful.tpl", "bold": "bold.tpl", "gone": "gone.tpl"}
    found = hlteval.leaderboard("hub4", "reference.tpl", systems, bootstrap=20)
    printed = board(invoke, CAREFUL, BOLD, "gone.tpl", exit_code=1)
    assert found.to_dict() == printed
    frame = found.to_frame()
    assert frame["metric"].to_list().count("both.f") == 2
    assert frame.filter(name="gone")["reason"].len() == 1
    assert found.to_frame("differences").height == len(found.metrics)
    assert repr(found).endswith("2 systems, 1 refused; best careful>")
    with pytest.raises(TypeError, match="metric: expected names of metrics"):
        hlteval.leaderboard("hub4", "reference.tpl", systems, metric=[1])

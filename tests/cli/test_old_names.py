"""Options that have another name now: the old one gives the same, with a note, in all places."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hlteval
from hlteval.cli.submissions import metric_names
from hlteval.tasks import load
from hlteval.tasks.options import merge_options

Run = Callable[..., Any]
ROOT = Path(__file__).parents[2]
DEMO = ROOT / "hlteval" / "demo"
EDL = ("-r", DEMO / "entities/reference.tab", "-s", DEMO / "entities/system.tab")
BOARDS = ("-r", DEMO / "comparison/reference.tpl", DEMO / "comparison/bold.tpl")
NOTE = "note: {} is now --metric; the old name works until the next release\n"


@pytest.mark.parametrize(
    ("command", "old", "present"),
    [
        (("score", "lorehlt-edl", *EDL), ("--measure", "muc"), ("-m", "muc")),
        (
            ("score", "lorehlt-edl", *EDL),
            ("--measure", "muc", "--measure", "b_cubed"),
            ("--metric", "muc,b_cubed"),
        ),
        (("leaderboard", "hub4", *BOARDS), ("--metrics", "both.f"), ("-m", "both.f")),
    ],
    ids=["score", "score, repeated", "leaderboard"],
)
def test_an_old_name_prints_the_same_and_a_note(
    invoke: Run, command: tuple[Any, ...], old: tuple[str, ...], present: tuple[str, ...]
) -> None:
    first, second = invoke(*command, *old), invoke(*command, *present)
    assert first.exit_code == second.exit_code == 0
    assert first.stdout == second.stdout
    assert (first.stderr, second.stderr) == (NOTE.format(old[0]), "")
    assert old[0] not in invoke(*command[:2], "--help").stdout.split()
    both = invoke(*command, *old, *present)
    assert both.exit_code == 2
    assert "an option is given by its old name, too; remove that" in both.stderr


def test_an_option_that_lists_what_is_computed_is_accepted_beside_the_metric(invoke: Run) -> None:
    """As `compare lorehlt-mt --metrics bleu,ter --metric ter` was written."""
    reference = ROOT / "fixtures/scores/lorehlt-mt/reference"
    given = ("compare", "lorehlt-mt", "-r", reference, reference, "--format", "json")
    found = invoke(*given, "--metrics", "bleu,ter", "--metric", "ter")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["metric"] == "ter"
    assert found.stderr.startswith(NOTE.format("--metrics"))


def test_files_and_python_accept_both_names(tmp_path: Path, invoke: Run) -> None:
    for name, value in (("lorehlt-edl", "muc"), ("coreference", "muc"), ("segments", "der")):
        task = load(name)
        (option,) = (each for each in task.options if each.called == "metric")
        assert merge_options(task, {"metric": value}) == merge_options(task, {option.name: value})
        assert merge_options(task, {"metric": value}) == {option.name: value}
    paths = [str(path) for path in EDL if isinstance(path, Path)]
    both = [hlteval.score("lorehlt-edl", *paths, **{name: "muc"}) for name in ("metric", "measure")]
    assert both[0].to_dict() == both[1].to_dict()
    with pytest.raises(hlteval.WrongArgument, match="set twice"):
        hlteval.score("lorehlt-edl", *paths, metric="muc", measure="muc")
    written = []
    for name in ("metric", "measure"):
        text = f'task = "lorehlt-edl"\n[options]\n{name} = ["muc", "b_cubed"]\n'
        (tmp_path / "hlteval.toml").write_text(text, "utf-8")
        defaults = ("--defaults", tmp_path / "hlteval.toml")
        written.append(invoke("score", "lorehlt-edl", *EDL, *defaults))
        assert "options.metric" in written[-1].output
    assert written[0].stdout == written[1].stdout
    assert "measure:muc b_cubed" in written[0].stdout


def test_signatures_have_the_names_that_they_always_had(invoke: Run) -> None:
    scores = json.loads(invoke("score", "lorehlt-edl", *EDL, "-m", "muc", "--format=json").stdout)
    assert "|measure:muc|" in scores["signature"]
    done = invoke("verify", scores["signature"], *EDL)
    assert done.exit_code == 0
    assert "use --metric to compare yours" in done.output
    for flag in ("--metric", "--measure"):
        assert invoke("verify", scores["signature"], *EDL, flag, "muc").exit_code == 0
        assert invoke("verify", scores["signature"], *EDL, flag, "b_cubed").exit_code == 1


def test_a_measure_means_its_rate_that_ranks(invoke: Run) -> None:
    given = ("leaderboard", "hub4", *BOARDS, "--format", "json", "-m")
    assert json.loads(invoke(*given, "both,content").stdout)["metrics"] == ["both.f", "content.f"]
    assert hlteval.leaderboard("hub4", BOARDS[1], [BOARDS[2]], metric="both").metrics == ("both.f",)


def test_what_is_only_computed_on_request_is_computed_to_compare_it() -> None:
    """Of stretches without scores, each detection is as sure as any other."""
    folder = ROOT / "fixtures" / "segments" / "valid"
    reference = str(folder / "reference.rttm")
    systems = {"same": reference, "other": str(folder / "submission.rttm")}
    scores = hlteval.score("segments", reference, systems["other"], metric="map")
    board = hlteval.leaderboard("segments", reference, systems, metric="map", bootstrap=9)
    compared = hlteval.compare("segments", reference, systems, metric="map", bootstrap=9)
    for result in (board.comparisons[0], compared):
        values = {system.name: system.value for system in result.systems}
        assert values == {"same": 1.0, "other": scores.metrics["map"]}
        assert "|measures:map|" in result.signature


def test_names_with_commas_are_names_in_lists() -> None:
    known = load("lorehlt-sf").metrics
    written = "frame_f1.type,place, frame_f1.type,map.type,place"
    assert metric_names(written, known) == [
        "frame_f1.type,place",
        "frame_f1.type",
        "map.type,place",
    ]
    assert metric_names(" , ", known) == []

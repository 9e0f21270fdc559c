"""`hlteval pipeline`: no log of a team contains anything of another."""

from __future__ import annotations

import pytest

from hlteval.results.evaluation import Evaluation, Limit, TaskSettings, Team
from hlteval.workflows.evaluation.pipeline import pipeline
from hlteval.workflows.evaluation.pipeline_state import PipelineSettings
from hlteval.workflows.evaluation.pipeline_status import ASK_ORGANISERS
from tests.unit.workflows.evaluations import InProcess, evaluation, links, packed

TEAMS = ("Almaty", "Bishkek", "Cusco")
FREE = "{team}_EDL_{checkpoint}_{run}"


def result_of(folder, *submissions, names=FREE, limits=(), two_tasks=False):
    """The root, and the entries of a pipeline with these teams, by team."""
    root = evaluation(folder, *submissions)
    task = TaskSettings(reference=str(folder / "reference.tab"), names=names)
    teams = {name: Team() for name in TEAMS}
    tasks = {
        "lorehlt-edl": task,
        **({"hub4": TaskSettings(names="{team}_H4")} if two_tasks else {}),
    }
    declared = Evaluation(
        name="E", tasks=tasks, teams=teams, checkpoints=("CP1",), limits=tuple(limits)
    )
    made = PipelineSettings(root, evaluation=declared, options={"measure": "muc"})
    entries = pipeline(made, workers=InProcess(root)).submissions
    return root, {entry.file: entry for entry in entries}


def logs(root, stem):
    return [path.read_text("utf-8") for path in sorted((root / "logs").glob(f"{stem}.*.txt"))]


@pytest.mark.parametrize("team", ["Mira", "Almati", "ALMATY", "Cusco2"])
def test_a_team_that_is_not_declared_is_sent_to_the_organisers(team, tmp_path):
    name, data = links(team, 1)
    root, entries = result_of(tmp_path, (name, data), links("Almaty", 1))
    (log,) = logs(root, name.removesuffix(".tgz"))
    assert "ask the organisers" in log
    assert not [other for other in TEAMS if other in log.replace(team, "")]
    assert "add the team to the manifest" in entries[name].help


def test_no_log_names_another_team(tmp_path):
    submissions = [links(team, run) for team in TEAMS for run in (1, 2)]
    odd = ("Cusco final.tgz", packed({"a.tab": b"x"}))
    limit = Limit(("task",), most=1)
    root, entries = result_of(
        tmp_path, *submissions, odd, links("Bishkek", 3, "CITY"), links("Cusco", 4, checkpoint="X"),
        limits=[limit], names="{team}_EDL_{checkpoint}_{run}",
    )  # fmt: skip
    assert {entry.status for entry in entries.values()} == {"scored", "over limit", "invalid"}
    for path in sorted((root / "logs").iterdir()):
        own = next(team for team in TEAMS if path.name.startswith(team))
        others = [team for team in TEAMS if team != own and team in path.read_text("utf-8")]
        assert not others, (path.name, others)


def test_a_form_of_names_that_contains_a_team_is_not_in_its_log(tmp_path):
    odd = ("final_version.tgz", packed({"a.tab": b"x"}))
    root, entries = result_of(tmp_path, odd, names="{team}-{run}-Almaty", two_tasks=True)
    assert entries["final_version.tgz"].reason.endswith("(PIP101)")
    assert "Almaty" in entries["final_version.tgz"].help
    (log,) = logs(root, "final_version")
    assert f"help: {ASK_ORGANISERS}\n" in log


def test_a_limit_shared_by_all_teams_names_only_their_own_submissions(tmp_path):
    shared = Limit(("task",), most=1)
    root, _ = result_of(tmp_path, links("Almaty", 1), links("Bishkek", 1), limits=[shared])
    (status,) = [log for log in logs(root, "Bishkek_EDL_CP1_1.tab") if "over limit" in log]
    assert "help: ask the organisers for a higher limit\n" in status

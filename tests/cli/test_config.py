"""Files of defaults: each fixture raises its code at its place; what they give is never silent."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hlteval
from docs.make.option_page import COMMANDS, taken
from hlteval.cli.app import TASKED
from hlteval.results.config import TAKEN
from hlteval.results.evaluation import Evaluation, TaskSettings
from hlteval.results.verdict import Defaults, Signature
from hlteval.workflows.config import find, read_config, start_of
from hlteval.workflows.evaluation.pipeline_state import PipelineSettings
from tests.json_outputs import check

Run = Callable[..., Any]
ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures" / "config"
DEMO = ROOT / "hlteval" / "demo"

# Line, column and end column of the only finding.
PLACES = """
CFG101-no-quotes    1   8   8
CFG102-misspelt     2   1  11
CFG102-project      6   1   8
CFG103-one-code     1  10  18
CFG105-level        2  10  17
CFG105-profile      2  11  20
CFG106-hyphen       1   8  15
CFG107-exchanged    2  19  25
CFG107-severity     2   1   5
CFG108-misspelt     2  11  22
CFG108-option       4   7  16
CFG109-option       4   1   4
CFG109-picture      2  13  17
CFG109-profile      2  11  21
CFG109-value        4   8  17
CFG110-misspelt     1  12  20
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]


def file_of(name: str) -> Path:
    return next((FIXTURES / "invalid" / name).iterdir())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_fixture_raises_its_code_at_its_place_and_nothing_else(row: list[str]) -> None:
    name, *place = row
    (found,) = read_config(str(file_of(name))).findings
    assert found.code == name.partition("-")[0]
    assert found.span is not None
    assert [found.span.line, found.span.column, found.span.end_column] == list(map(int, place))
    assert "{" not in found.message + (found.help or "")


def test_every_fixture_has_its_place() -> None:
    assert {path.name for path in (FIXTURES / "invalid").iterdir()} == {row[0] for row in ROWS}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an evaluation, with defaults for all that is in it."""
    for name in ("reference", "system", "flawed"):
        shutil.copytree(DEMO / name, tmp_path / "runs" / name)
    monkeypatch.chdir(tmp_path)
    text = 'task = "seedev-full"\nreference = "runs/reference"\nagainst = "runs/reference"\n'
    (tmp_path / "hlteval.toml").write_text(f'{text}profile = "official"\nignore = ["STD"]\n')
    return tmp_path


def test_validate_takes_what_is_not_given_from_the_file(folder: Path, invoke: Run) -> None:
    with_file = invoke("validate", "runs/flawed", "--format", "json")
    words = ["--against", "runs/reference", "--profile", "official", "--ignore", "STD"]
    command = ["validate", "seedev-full", "runs/flawed", "--format", "json", "--defaults", "none"]
    without, shown = json.loads(invoke(*command, *words).stdout), json.loads(with_file.stdout)
    names = ["task", "against", "profile", "ignore"]
    assert shown.pop("defaults") == {"file": "hlteval.toml", "names": names}
    assert shown == without
    note = "note: defaults from hlteval.toml: task, against, profile, ignore\n"
    assert with_file.stderr == note


def test_the_command_line_wins(folder: Path, invoke: Run) -> None:
    words = ["seedev-full", "runs/flawed", "--profile", "plan", "--ignore", "SEE"]
    shown = json.loads(invoke("validate", *words, "--format", "json").stdout)
    assert shown["profile"] == "plan"
    assert {code[:3] for code in shown["counts"]["code"]} == {"STD"}
    assert shown["defaults"]["names"] == ["against"]


def test_scores_name_what_changed_them(folder: Path, invoke: Run) -> None:
    words = ["score", "-s", "runs/system", "--format", "json"]
    shown = json.loads(invoke(*words).stdout)
    given = ["seedev-full", "-r", "runs/reference", "--profile", "official", "--defaults", "none"]
    without = json.loads(invoke(*words, *given).stdout)
    assert shown["metrics"] == without["metrics"]
    assert shown["notes"] == [
        *without["notes"], "defaults from hlteval.toml: task, reference, profile"
    ]  # fmt: skip
    assert shown["signature"] == f"{without['signature']}|defaults:reference,profile"
    verified = invoke("verify", shown["signature"], "-r", "runs/reference", "-s", "runs/system")
    assert verified.exit_code == 0, verified.output


def test_compare_takes_defaults_too(folder: Path, invoke: Run) -> None:
    words = ["compare", "runs/system", "runs/reference", "--bootstrap", "9", "--format", "json"]
    shown = json.loads(invoke(*words).stdout)
    assert shown["profile"] == "official"
    assert "defaults from hlteval.toml: task, reference, profile" in shown["notes"]
    assert Signature.parse(shown["signature"]).values("defaults") == ["reference,profile"]


def test_leaderboard_names_them_in_all_that_it_writes(folder: Path, invoke: Run) -> None:
    words = ["runs/system", "runs/reference", "--bootstrap", "9", "--format", "json"]
    shown = json.loads(invoke("leaderboard", *words, "-o", "board").stdout)
    given = ["-r", "runs/reference", "--profile", "official", "--defaults", "none"]
    without = json.loads(invoke("leaderboard", "seedev-full", *words, *given).stdout)
    note = "defaults from hlteval.toml: task, reference, profile"
    assert shown.pop("signature") == f"{without.pop('signature')}|defaults:reference,profile"
    assert shown.pop("notes") == [*without.pop("notes"), note]
    assert shown == without
    assert (folder / "board" / "leaderboard.json").read_text("utf-8").count(note) == 1
    for name in ("index.html", "reports/system.html"):
        page = (folder / "board" / name).read_text("utf-8")
        assert note in page
        assert "defaults:reference,profile" in page


def test_a_signature_of_a_leaderboard_verifies(folder: Path, invoke: Run) -> None:
    words = ["leaderboard", "runs/system", "runs/reference", "--bootstrap", "9"]
    signature = json.loads(invoke(*words, "--format", "json").stdout)["signature"]
    systems = ["-s", "runs/system", "-s", "runs/reference"]
    verified = invoke("verify", signature, "-r", "runs/reference", *systems)
    assert verified.exit_code == 0, verified.output


def test_agreement_takes_defaults_too(tmp_path: Path, invoke: Run) -> None:
    for path in (DEMO / "annotators").iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "hlteval.toml").write_text('task = "lorehlt-edl"\nencoding = "ascii"\n')
    words = [tmp_path / "ada.tab", tmp_path / "bo.tab", "--bootstrap", "0", "--format", "json"]
    shown = json.loads(invoke("agreement", *words, "--encoding", "utf-8").stdout)
    assert [note.rpartition(": ")[2] for note in shown["notes"] if "defaults" in note] == ["task"]
    assert Signature.parse(shown["signature"]).values("defaults") == []
    (tmp_path / "hlteval.toml").write_text('task = "lorehlt-edl"\nencoding = "utf-8"\n')
    shown = json.loads(invoke("agreement", *words).stdout)
    assert Signature.parse(shown["signature"]).values("defaults") == ["encoding"]


def test_convert_takes_the_encoding_only(tmp_path: Path, invoke: Run) -> None:
    text = DEMO / "entities" / "system.tab"
    latin = tmp_path / "system.tab"
    latin.write_bytes(text.read_text("utf-8").replace("a", "\xe9").encode("latin-1"))
    (tmp_path / "hlteval.toml").write_text('task = "hub4"\nencoding = "latin-1"\n')
    words = ["convert", latin, tmp_path / "out.jsonl", "--from", "edl-tab", "--force"]
    taken = invoke(*words)
    assert taken.exit_code == 0, taken.stderr
    assert taken.stderr.startswith("note: defaults from")
    assert taken.stderr.splitlines()[0].endswith("hlteval.toml: encoding")
    assert "SRC201" in invoke(*words, "--defaults", "none").stderr
    assert "note:" not in invoke(*words, "--encoding", "latin-1").stderr


CAMPAIGN = """
name = "Dry run"
[tasks.hub4.conditions.all]
[tasks.hub4.conditions.content]
options = {mode = "content"}
[submissions]
bold = "comparison/bold.tpl"
"""


@pytest.mark.thorough
def test_a_campaign_takes_what_its_manifest_leaves_open(
    tmp_path: Path, invoke: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(DEMO / "comparison", tmp_path / "comparison")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo.toml").write_text(CAMPAIGN)
    assert "needs a reference" in invoke("campaign", "demo.toml").stderr
    text = 'task = "hub4"\nreference = "comparison/reference.tpl"\n'
    (tmp_path / "hlteval.toml").write_text(f'{text}[options]\nmode = "both"\nbeta = 2\n')
    shown = invoke("campaign", "demo.toml", "--format", "json")
    cells = {cell["condition"]: cell for cell in json.loads(shown.stdout)["cells"]}
    parts = {name: Signature.parse(cell["signature"]) for name, cell in cells.items()}
    assert parts["all"].values("defaults") == ["reference,mode,beta"]
    assert parts["content"].values("defaults") == ["reference,beta"]
    assert [parts[name].values("mode") for name in parts] == [["both"], ["content"]]
    names = "reference, options.mode, options.beta"
    assert shown.stderr.splitlines()[0] == f"note: defaults from hlteval.toml: {names}"
    board = (tmp_path / "demo" / "leaderboards" / "hub4-plan-content.html").read_text("utf-8")
    assert "defaults:reference,beta" in board
    manifest = CAMPAIGN.replace("[tasks.hub4.", '[tasks.hub4]\nreference = "x"\n[tasks.hub4.', 1)
    (tmp_path / "demo.toml").write_text(manifest)
    own = json.loads(invoke("campaign", "demo.toml", "--format", "json").stdout)["cells"]
    assert all(cell["reason"] and not cell["signature"] for cell in own)  # x does not exist
    (tmp_path / "hlteval.toml").write_text('task = "ltf"\n')
    note = "note: hlteval.toml has defaults for ltf only, not for hub4\n"
    assert note in invoke("campaign", "demo.toml").stderr


@pytest.fixture
def evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an evaluation with one submission, for a pipeline."""
    (tmp_path / "submissions").mkdir()
    shutil.copy(DEMO / "leaderboard" / "reference.tab", tmp_path)
    team = DEMO / "leaderboard" / "submissions" / "team-01.tab"
    with tarfile.open(tmp_path / "submissions" / "team-01.tgz", "w:gz") as archive:
        archive.add(team, team.name)
    monkeypatch.chdir(tmp_path)
    text = 'task = "lorehlt-edl"\nreference = "reference.tab"\n[options]\nmetric = "muc"\n'
    (tmp_path / "hlteval.toml").write_text(text)
    return tmp_path


def test_a_pipeline_takes_defaults_of_its_folder(evaluation: Path, invoke: Run) -> None:
    done = invoke("pipeline", ".", "--format", "json")
    assert json.loads(done.stdout)["counts"] == {"scored": 1}, done.stdout
    assert done.stderr == ("note: defaults from hlteval.toml: task, reference, options.metric\n")
    results = evaluation / "results" / "team-01"
    scores = json.loads((results / "scores.json").read_text("utf-8"))
    check(scores)
    signature = Signature.parse(scores["signature"])
    assert signature.values("defaults") == ["reference,metric"]
    assert signature.values("measure") == ["muc"]
    assert "--defaults none" in (results / "score.sh").read_text("utf-8")
    again = json.loads(invoke("pipeline", ".", "--format", "json").stdout)
    assert again["done"] == 0
    assert "no reference" in invoke("pipeline", ".", "--defaults", "none").stderr
    other = invoke("pipeline", ".", "--task", "hub4")
    assert "note: hlteval.toml has defaults for lorehlt-edl only, not for hub4" in other.stderr


def test_the_manifest_of_a_pipeline_wins_over_defaults(evaluation: Path) -> None:
    own = TaskSettings(reference="own.tab", options={"measure": "b_cubed"})
    names = ("task", "reference", "profile", "options.metric", "options.conversion")
    settings = PipelineSettings(
        evaluation,
        evaluation=Evaluation(name="x", tasks={"lorehlt-edl": own}),
        preset={"measure": "muc", "conversion": "tac15"},
        defaults=Defaults("hlteval.toml", names),
    )
    values = settings.options_of("lorehlt-edl")
    assert (values["measure"], values["conversion"]) == ("b_cubed", "tac15")
    assert settings.defaults_of("lorehlt-edl") == Defaults(
        "hlteval.toml", ("task", "options.conversion")
    )


def test_defaults_of_one_task_have_no_effect_beside_others(evaluation: Path, invoke: Run) -> None:
    manifest = evaluation / "manifest.toml"
    manifest.write_text('name = "x"\n[tasks.hub4]\n[tasks.lorehlt-edl]\n')
    refused = invoke("pipeline", ".", "--manifest", manifest)
    assert refused.exit_code == 2
    assert "note: hlteval.toml has defaults for lorehlt-edl only, not for hub4" in refused.stderr


def test_what_commands_take_is_what_their_options_are() -> None:
    without = {name for name, command in TASKED.items() if not command.takes_defaults}
    assert without == {"platform"}
    assert not without & TAKEN.keys()
    for name, command in TASKED.items():
        if name in without:
            continue
        own = {"task", "options", *command.parameters}
        keys = {key for keys in TAKEN.values() for key in keys}
        assert {key for key in keys if key.replace("-", "_") in own} == set(TAKEN[name]), name
    options = {
        name: {item.parameter.name for item in taken(name, run)} for name, run in COMMANDS.items()
    }
    assert [name for name in COMMANDS if "defaults_file" in options[name]] == [
        name for name in COMMANDS if name in TAKEN
    ]


def test_config_shows_what_each_command_takes(folder: Path, invoke: Run) -> None:
    shown = invoke("config", "runs/flawed").stdout.splitlines()
    at = shown.index("taken by")
    rows = dict(line.split(maxsplit=1) for line in shown[at + 1 :])
    assert rows["validate"] == "task, against, profile, ignore"
    assert rows["score"] == "task, reference, profile"
    assert rows["pipeline"] == "task, reference, against, profile"
    assert rows["campaign"] == "reference, profile"
    assert "convert" not in rows
    read = json.loads(invoke("config", "--format", "json").stdout)["commands"]
    assert {name: ", ".join(names) for name, names in read.items()} == rows


def test_a_refusal_names_the_file(folder: Path, invoke: Run) -> None:
    refused = invoke("score", "-s", "runs/flawed")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("note: defaults from hlteval.toml: task, reference, profile\n")


def test_options_of_the_task_reach_the_signature(tmp_path: Path, invoke: Run) -> None:
    run = shutil.copy(DEMO / "comparison" / "bold.tpl", tmp_path)
    for name in ("hlteval.toml", "reference.tpl"):
        shutil.copy(FIXTURES / "valid" / name, tmp_path)
    signature = Signature.parse(
        json.loads(invoke("score", "-s", run, "--format", "json").stdout)["signature"]
    )
    assert signature.values("mode") == ["both"]
    assert signature.values("beta") == ["2"]
    assert signature.values("premodifiers") == ["a,the"]
    names = "reference,mode,ignore_case,premodifiers,beta"
    assert signature.values("defaults") == [names]
    over = invoke("score", "-s", run, "--mode", "content", "--format", "json").stdout
    signature = Signature.parse(json.loads(over)["signature"])
    assert signature.values("mode") == ["content"]
    assert signature.values("defaults") == [names.replace("mode,", "")]


def test_nothing_inside_a_submission_changes_how_it_is_judged(folder: Path, invoke: Run) -> None:
    own = folder / "runs" / "flawed" / "hlteval.toml"
    shutil.copy(folder / "hlteval.toml", own)
    assert start_of("runs/flawed") == folder / "runs"
    assert find(start_of("runs/flawed")) == folder / "hlteval.toml"
    by_folder = invoke("validate", "--by-folder", "runs/flawed/demo-1.a2")
    assert "note: defaults from hlteval.toml: task," in by_folder.stderr


def test_a_file_with_errors_stops_the_command(folder: Path, invoke: Run) -> None:
    (folder / "hlteval.toml").write_text('task = "seedev-full"\nprofle = "plan"\n')
    for words in (["validate", "runs/flawed"], ["score", "seedev-full", "-s", "runs/system"]):
        result = invoke(*words)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "hlteval.toml:2:1" in result.stderr
    assert invoke("validate", "seedev-full", "--help").exit_code == 0


def test_defaults_of_another_task_have_no_effect(folder: Path, invoke: Run) -> None:
    result = invoke(
        "validate", "hub4", DEMO / "comparison" / "bold.tpl", "--defaults", "hlteval.toml"
    )
    assert result.exit_code == 0
    note = "note: hlteval.toml has defaults for seedev-full only, not for hub4\n"
    assert result.stderr == note


def test_submissions_with_different_files_need_a_choice(folder: Path, invoke: Run) -> None:
    other = shutil.copytree(folder / "runs" / "system", folder / "other" / "system")
    (folder / "other" / "hlteval.toml").write_text('task = "seedev-full"\n')
    words = ["compare", "seedev-full", "-r", "runs/reference", "runs/system", other]
    refused = invoke(*words)
    assert refused.exit_code == 2
    assert "use --defaults FILE" in refused.stderr
    assert invoke(*words, "--defaults", "none", "--bootstrap", "9").exit_code == 0


def test_unusual_command_lines(folder: Path, invoke: Run) -> None:
    assert "unknown task" in invoke("validate", "nope", "--defaults", "none").stderr
    assert "no such file" in invoke("validate", "hub4", "x", "--defaults", "absent.toml").stderr
    assert invoke("validate", "hub4").exit_code == 2
    attached = invoke("score", "-sruns/system")
    assert attached.exit_code == 0, attached.stderr


def test_config_shows_the_file(folder: Path, invoke: Run) -> None:
    shown = invoke("config", "runs/flawed")
    assert shown.exit_code == 0
    assert shown.stdout.splitlines()[:2] == ["hlteval.toml", "  task       seedev-full"]
    read = json.loads(invoke("config", "--format", "json").stdout)
    assert read["file"] == "hlteval.toml"
    assert read["defaults"]["ignore"] == ["STD"]
    wrong = invoke("config", file_of("CFG108-misspelt"))
    assert wrong.exit_code == 1
    assert "error[CFG108]" in wrong.stderr
    assert invoke("config", "absent").exit_code == 2


def test_without_a_file_config_says_so(tmp_path: Path, invoke: Run) -> None:
    assert invoke("config", tmp_path).stdout == "no file of defaults applies\n"


def test_python_takes_a_file_that_is_named_and_looks_for_none(folder: Path) -> None:
    plain = hlteval.validate("seedev-full", "runs/flawed", against="runs/reference")
    assert plain.defaults is None
    verdict = hlteval.validate("seedev-full", "runs/flawed", defaults="hlteval.toml")
    assert verdict.defaults is not None
    assert verdict.defaults.names == ("against", "profile", "ignore")
    assert verdict.profile == "official"
    assert not any(code.startswith("STD") for code in verdict.by_code)
    own = hlteval.validate("seedev-full", "runs/flawed", defaults="hlteval.toml", profile="plan")
    assert own.profile == "plan"
    scores = hlteval.score("seedev-full", "runs/reference", "runs/system", defaults="hlteval.toml")
    assert (scores.profile, scores.signature.rpartition("|")[2]) == ("official", "defaults:profile")
    with pytest.raises(hlteval.WrongArgument, match="defaults for seedev-full, not for hub4"):
        hlteval.validate("hub4", "x.tpl", defaults="hlteval.toml")
    (folder / "hlteval.toml").write_text("profile = 1\n")
    with pytest.raises(
        hlteval.WrongArgument, match=r"hlteval\.toml:1:11: invalid value 1 of profile .CFG105"
    ):
        hlteval.validate("seedev-full", "runs/flawed", defaults="hlteval.toml")


def test_leaderboards_from_python_name_defaults_in_all_that_they_write(folder: Path) -> None:
    systems = ["runs/system", "runs/reference"]
    made = {"bootstrap": 9, "defaults": "hlteval.toml", "output": "board"}
    board = hlteval.leaderboard("seedev-full", "runs/reference", systems, **made)  # type: ignore[arg-type]
    assert board.profile == "official"
    assert board.notes[-1] == "defaults from hlteval.toml: profile"
    assert board.signature.endswith("|defaults:profile")
    assert json.loads((folder / "board/leaderboard.json").read_text("utf-8")) == board.to_dict()


def test_agreement_from_python_takes_defaults(tmp_path: Path) -> None:
    path = tmp_path / "hlteval.toml"
    path.write_text('task = "lorehlt-edl"\nencoding = "utf-8"\n')
    texts = [str(DEMO / "annotators" / f"{name}.tab") for name in ("ada", "bo")]
    found = hlteval.agreement("lorehlt-edl", texts, bootstrap=0, defaults=path)
    assert found.notes[-1].endswith("hlteval.toml: encoding")
    assert Signature.parse(found.signature).values("defaults") == ["encoding"]
    own = hlteval.agreement("lorehlt-edl", texts, bootstrap=0, defaults=path, encoding="utf-8")
    assert own.signature == found.signature.removesuffix("|defaults:encoding")


def test_a_campaign_from_python_takes_what_its_manifest_leaves_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(DEMO / "comparison", tmp_path / "comparison")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo.toml").write_text(CAMPAIGN)
    config = tmp_path / "hlteval.toml"
    config.write_text('reference = "comparison/reference.tpl"\n[options]\nmode = "both"\n')
    result = hlteval.campaign("demo.toml", defaults="hlteval.toml")
    parts = {row.cell.condition: Signature.parse(row.result.signature) for row in result.rows}
    assert parts["all"].values("defaults") == ["reference,mode"]
    assert parts["content"].values("defaults") == ["reference"]
    config.write_text('task = "ltf"\n')
    with pytest.raises(hlteval.WrongArgument, match="defaults for ltf, not for hub4"):
        hlteval.campaign("demo.toml", defaults="hlteval.toml")


@pytest.mark.thorough
def test_a_pipeline_from_python_takes_defaults(evaluation: Path) -> None:
    found = hlteval.pipeline(".", defaults="hlteval.toml")
    assert found.counts == {"scored": 1}
    path = evaluation / "results" / "team-01" / "scores.json"
    signature = Signature.parse(json.loads(path.read_text("utf-8"))["signature"])
    assert signature.values("defaults") == ["reference,metric"]
    own = hlteval.pipeline(".", defaults="hlteval.toml", options={"measure": "b_cubed"})
    assert own.counts == {"scored": 1}
    signature = Signature.parse(json.loads(path.read_text("utf-8"))["signature"])
    assert (signature.values("defaults"), signature.values("measure")) == (
        ["reference"],
        ["b_cubed"],
    )
    with pytest.raises(hlteval.WrongArgument, match="defaults for lorehlt-edl, not for hub4"):
        hlteval.pipeline(".", task="hub4", defaults="hlteval.toml")
    (evaluation / "manifest.toml").write_text('name = "x"\n[tasks.hub4]\n[tasks.lorehlt-edl]\n')
    with pytest.raises(hlteval.WrongArgument, match="defaults for lorehlt-edl, not for hub4"):
        hlteval.pipeline(".", manifest="manifest.toml", defaults="hlteval.toml")

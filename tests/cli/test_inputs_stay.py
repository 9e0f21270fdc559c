"""No output of a command replaces what it reads, or becomes part of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.main import get_command

from hlteval.cli.app import app
from hlteval.cli.output import INPUTS, OUTPUTS
from hlteval.tasks import load, task_names
from tests.cli.conftest import Invoke
from tests.unit.campaign.demo import unpacked

DEMO = Path(__file__).parents[2] / "hlteval" / "demo"
VALIDATE = "validate seedev-full system --against reference"
SCORE = "score seedev-full -r reference -s system"
EDL = "validate lorehlt-edl entities/flawed.tab --against entities/texts"
SPEECH = "score speech-sf -r speech/reference -s speech/system.json"
COMPARE = "compare hub4 -r comparison/reference.tpl comparison/bold.tpl comparison/careful.tpl"


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the demonstration, as the working directory."""
    shutil.copytree(DEMO, tmp_path / "demo")
    (tmp_path / "demo" / "hlteval.toml").write_text('severity = { SRC201 = "error" }\n')
    (tmp_path / "demo" / "names.tsv").write_text("bold.tpl\tBold\n")
    (tmp_path / "demo" / "documents.list").write_text("demo-1\n")
    monkeypatch.chdir(tmp_path / "demo")
    return tmp_path / "demo"


def content(folder: Path) -> dict[str, bytes]:
    """All files below a folder, links followed."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "line",
    [
        f"{VALIDATE} --output-file json=reference/demo-1.txt",
        f"{VALIDATE} --output-file json=system/demo-1.a2",
        f"{VALIDATE} --output-file json=system/report.json",
        f"{VALIDATE} --output-file json=hlteval.toml",
        f"{VALIDATE} --output-file json=system/../reference/demo-1.a1",
        f"{VALIDATE} --report reference/report.html",
        f"{VALIDATE} --fix reference/fixed",
        f"{VALIDATE} --by-folder --output-file json=reference/demo-1.txt",
        "validate seedev-full system/demo-1.a2 --by-folder --output-file json=system/demo-1.ann",
        f"{EDL} --output-file json=entities/texts/x.json",
        f"{EDL} --output-file json=entities/flawed.tab",
        f"{SCORE} -o reference/out",
        f"{SCORE} -o .",
        f"{SCORE} --plot system/plot.svg",
        f"{SCORE} --defaults other.toml --output-file json=other.toml",
        f"{SPEECH} --place-dictionary names.tsv --output-file json=names.tsv",
        f"{COMPARE} --output-file json=comparison/bold.tpl",
        f"{COMPARE} --report comparison/reference.tpl",
        "leaderboard hub4 -r comparison/reference.tpl comparison/bold.tpl --names names.tsv "
        "--output-file tsv=names.tsv",
        "leaderboard seedev-full -r reference system -o system/board",
        "agreement seedev-full annotators --output-file json=annotators/x.json",
        "convert reference reference/brat --to brat",
        "convert reference reference --to brat --force",
        "convert reference out --to brat --output-file json=reference/demo-1.txt",
        "convert reference/demo-1.a1 reference/demo-1.a1 --force",
        "pack seedev-full system -o system/run1",
        "convert entities/flawed.tab entities/flawed.tab --force",
    ],
)
def test_an_output_over_an_input_is_refused(demo: Path, invoke: Invoke, line: str) -> None:
    (demo / "other.toml").write_text('profile = "plan"\n')
    before = content(demo)
    result = invoke(*line.split())
    assert (result.exit_code, result.stdout) == (2, ""), result.stderr
    assert "an input" in " ".join(result.stderr.split())
    assert content(demo) == before


def test_links_are_resolved(demo: Path, invoke: Invoke) -> None:
    (demo / "elsewhere").mkdir()
    (demo / "reference" / "demo-1.txt").rename(demo / "elsewhere" / "text")
    (demo / "reference" / "demo-1.txt").symlink_to(demo / "elsewhere" / "text")
    (demo / "alias").symlink_to(demo / "system")
    before = content(demo)
    for target in ("elsewhere/text", "alias/demo-1.a2", "alias/new.json"):
        result = invoke(*VALIDATE.split(), "--output-file", f"json={target}")
        assert (result.exit_code, result.stdout) == (2, ""), target
    assert content(demo) == before


def test_files_that_a_conversion_names_itself_replace_no_input(demo: Path, invoke: Invoke) -> None:
    (demo / "d").mkdir()
    (demo / "d" / "x.txt").write_text("Osh and Bishkek\n")
    (demo / "d" / "x.ann").write_text("T1\tCity 0 3\tOsh\n")
    before = content(demo)
    for target in ("d/x.a1", "d"):  # x.txt is written beside x.a1, and was read beside x.ann
        result = invoke("convert", "d/x.ann", target, "--to", "standoff", "--force")
        assert result.exit_code in {0, 2}
        assert {name: data for name, data in content(demo).items() if name in before} == before
    reading = ("convert", "entities/flawed.tab", "entities", "--to", "edl-tab", "--force")
    result = invoke(*reading)
    assert result.exit_code in {1, 2}
    assert (demo / "entities" / "flawed.tab").read_bytes() == before["entities/flawed.tab"]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "given", [["-o", "reference"], ["-o", "out", "--cache", "reference/cache"], ["-o", "system/o"]]
)
def test_the_folders_of_a_campaign_are_no_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke, given: list[str]
) -> None:
    unpacked(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = content(tmp_path)
    result = invoke("campaign", "demo.toml", *given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert content(tmp_path) == before


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "line",
    [
        ["validate", "seedev-full", ""],
        ["validate", "seedev-full", "system", ""],
        ["validate", "seedev-full", "system", "--against", ""],
        ["validate", "seedev-full", "system", "--report", ""],
        ["score", "seedev-full", "-r", "", "-s", "system"],
        ["score", "seedev-full", "-r", "reference", "-s", "system", "-o", ""],
        ["score", "speech-sf", "-r", "speech", "-s", "speech", "--place-dictionary", ""],
        ["convert", "", "out"],
        ["convert", "reference", ""],
        ["pipeline", ""],
        ["pipeline", "reference", "--reference", ""],
        ["campaign", "x.toml", "--cluster", ""],
        ["campaign", ""],
        ["inspect", ""],
        ["config", ""],
        ["demo", ""],
        ["pack", "seedev-full", "system", "-o", ""],
        ["verify", "", "-r", "reference", "-s", "system"],
        ["manifest", "check", ""],
    ],
)
def test_an_empty_value_is_a_usage_error(demo: Path, invoke: Invoke, line: list[str]) -> None:
    before = content(demo)
    result = invoke(*line)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is empty" in " ".join(result.stderr.split())
    assert content(demo) == before


def commands() -> Iterator[tuple[str, Any]]:
    """The parameters of every command, those of each task included."""
    context = SimpleNamespace(meta={})
    for name, command in cast(Any, get_command(app)).commands.items():
        if hasattr(command, "built"):
            yield from ((name, each) for each in command.built().params)
        elif hasattr(command, "task_command"):
            for task in command.list_commands(context):
                built = command.get_command(context, task)
                yield from ((f"{name} {task}", each) for each in (built.params if built else ()))


def test_every_parameter_that_is_a_path_is_known_as_input_or_output() -> None:
    """A new option that names a file is protected only if its parameter is listed."""
    metavars = {"PATH", "FILE", "FILE.html", "DIR", "SUBMISSION", "ANNOTATION", "MANIFEST"}
    own_check = {"cache", "root", "defaults_file"}
    writes_nothing = {"path", "archive", "signature"}
    options = {
        option.name for task in task_names() for option in load(task).options if option.is_input
    }
    listed = INPUTS | OUTPUTS | own_check | writes_nothing | options
    found = {
        f"{name}: {parameter.name}": parameter.name
        for name, parameter in commands()
        if str(parameter.metavar).strip("[].") in metavars
    }
    assert len(found) > 100
    assert not {place for place, name in found.items() if name not in listed}

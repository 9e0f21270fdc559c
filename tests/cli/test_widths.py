"""What people see in terminals of 60, 80 and 120 columns: snapshots of every task."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, TextIO

import pytest
from rich.cells import cell_len
from rich.console import Console
from typer.main import get_command

from fuzz.subjects import CONTEXTS
from hlteval import workflows
from hlteval.cli.app import app
from hlteval.reports import terminal
from hlteval.tasks import BUILTIN, load
from hlteval.workflows.compare import comparison
from hlteval.workflows.run import engine
from hlteval.workflows.run.request import Request

Run = Callable[..., Any]
ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "terminal"
WIDTHS = (60, 80, 120)
DEMO, SCORED, CCU = "hlteval/demo", "fixtures/scores", "fixtures/ccu/invalid"

SIDES = {
    "seedev-binary": (f"{SCORED}/seedev-binary/reference", f"{SCORED}/seedev-binary/system"),
    "seedev-full": (f"{DEMO}/reference", f"{DEMO}/system"),
    "speech-sf": (f"{DEMO}/speech/annotations", f"{DEMO}/speech/system.json"),
    "lorehlt-sf": (f"{SCORED}/lorehlt-sf/reference", f"{SCORED}/lorehlt-sf/system"),
    "lorehlt-mt": (f"{SCORED}/lorehlt-mt/reference", f"{SCORED}/lorehlt-mt/system"),
    "lorehlt-edl": (f"{DEMO}/entities/reference.tab", f"{DEMO}/entities/system.tab"),
    "hub4": (f"{DEMO}/comparison/reference.tpl", f"{DEMO}/comparison/bold.tpl"),
    **{
        f"ccu-{task}": (f"{SCORED}/ccu/reference", f"{SCORED}/ccu-{task}/system")
        for task in ("nd", "ed", "vd", "ad", "cd")
    },
    "ccu-ta2": ("fixtures/ccu-ta2/valid/responses.tsv",) * 2,  # its own reference
}
"""A reference and a submission of each task that can be scored."""

FLAWED = {
    "seedev-binary": f"{DEMO}/flawed --against {DEMO}/reference",
    "seedev-full": f"{DEMO}/flawed --against {DEMO}/reference",
    "speech-sf": f"{DEMO}/speech/flawed.json",
    "lorehlt-sf": "fixtures/lorehlt-sf/invalid/LSF402-ninety-nine.json --system-edl "
    "fixtures/lorehlt-sf/valid/submission/edl.tab",
    "lorehlt-edl": f"{DEMO}/entities/flawed.tab --against {DEMO}/entities/texts",
    "hub4": "fixtures/hub4/invalid/HUB204-two-templates.tpl",
    "ccu-nd": f"{CCU}/CCU403-one-point --against fixtures/ccu/valid/reference",
    "ccu-ed": f"{CCU}/CCU502-happiness --against fixtures/ccu/valid/reference",
    "ccu-vd": f"{CCU}/CCU603-text --against fixtures/ccu/valid/reference",
    "ccu-ad": f"{CCU}/CCU603-video --against fixtures/ccu/valid/reference",
    "ccu-cd": f"{CCU}/CCU404-ten-characters --against fixtures/ccu/valid/reference",
    "ccu-ndmap": f"{CCU}/CCU711-misspelt",
    "ccu-reference": f"{CCU}/CCU804-joy-joy",
    "ccu-ta2": "fixtures/ccu-ta2/invalid/CCA201-misspelt.tsv",
    "ltf": "fixtures/ltf/invalid/LTF307-scant",
    "laf": "fixtures/laf/invalid/LAF204-one-off --against fixtures/ltf/valid",
    "lorehlt-mt": "fixtures/lorehlt-mt/invalid/MTV307-not-translated "
    "--against fixtures/mt/valid/ltf",
}
"""A submission to each task with something to report."""
for _name, _use in CONTEXTS.items():
    if _name not in FLAWED:
        SIDES[_name] = (f"fixtures/{_use.against}", f"fixtures/{_use.submission}")
        _first = min((ROOT / "fixtures" / _name / "invalid").iterdir())
        FLAWED[_name] = str(_first.relative_to(ROOT))
        if _name.startswith("bb1"):  # whose documents are those of the reference
            FLAWED[_name] += f" --against fixtures/{_use.against}"


OTHERS = re.compile(r"^(?:hlteval:.*|note: .*\n(?:      .*\n)*)|(?<=\[)[\d.]+, [\d.]+(?=\])", re.M)
"""What other tests hold, and what has nothing to do with widths."""


class Screen:
    """Runs a command as in a terminal of some width."""

    def __init__(self, invoke: Run, patch: pytest.MonkeyPatch) -> None:
        self.invoke, self.patch = invoke, patch

    def __call__(self, command: str, width: int) -> str:
        def console(stream: TextIO, **_: object) -> Console:
            return Console(file=stream, width=width, force_terminal=True, color_system=None)

        self.patch.setattr(terminal, "_console", console)
        self.patch.setenv("COLUMNS", str(width))
        return str(self.invoke(*command.split()).output)

    def all(self, command: str) -> str:
        """What it prints at each width, without signature, notes and limits of intervals."""
        parts = (f"$ {command}  # {width} columns\n{self(command, width)}" for width in WIDTHS)
        return "\n".join(OTHERS.sub("", re.sub(r" +$", "", part, flags=re.M)) for part in parts)


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """What commands have computed: only how it is shown depends on the width."""
    return {}


def once(function: Run, results: dict[str, Any]) -> Run:
    """The function, computing nothing again for the same arguments."""

    def run(*arguments: object, step: object = None, **settings: object) -> Any:
        arguments = tuple(silent(argument) for argument in arguments)
        key = repr((function, arguments, settings))
        if key not in results:
            results[key] = function(*arguments, **settings)
        return results[key]

    return run


def silent(argument: object) -> object:
    """The argument; a request without its progress, which is another object in each call."""
    return replace(argument, step=None) if isinstance(argument, Request) else argument


@pytest.fixture
def screen(invoke: Run, monkeypatch: pytest.MonkeyPatch, results: dict[str, Any]) -> Screen:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for module in walk_packages(workflows.__path__, "hlteval.workflows."):
        import_module(module.name)  # one that is imported later would keep what stands in here
    for module, name in ((engine, "score"), (comparison, "compare"), (engine, "validate_all")):
        monkeypatch.setattr(module, name, once(getattr(module, name), results))
    return Screen(invoke, monkeypatch)


def test_every_task_is_here() -> None:
    assert set(FLAWED) == set(BUILTIN)
    assert set(SIDES) == {name for name in BUILTIN if load(name).metric}


@pytest.mark.parametrize("task", SIDES)
def test_score(task: str, screen: Screen, golden: Any) -> None:
    reference, system = SIDES[task]
    text = screen.all(f"score {task} -r {reference} -s {system}")
    golden(GOLDEN / f"score-{task}.txt", text)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("task", SIDES)
def test_compare(task: str, screen: Screen, golden: Any) -> None:
    reference, system = SIDES[task]
    command = f"compare {task} -r {reference} {system} {reference} --bootstrap 20"
    golden(GOLDEN / f"compare-{task}.txt", screen.all(command))


@pytest.mark.parametrize("task", FLAWED)
def test_validate(task: str, screen: Screen, golden: Any) -> None:
    command = f"validate {task} {FLAWED[task]} --max-findings 2"
    text = screen.all(command)
    assert "[OPTIONS]" not in text
    golden(GOLDEN / f"validate-{task}.txt", text)


@pytest.mark.parametrize("command", ["tasks", "formats", "explain SEE2"])
def test_lists(command: str, screen: Screen, golden: Any) -> None:
    golden(GOLDEN / f"{command.replace(' ', '-')}.txt", screen.all(command))


def test_manifest(screen: Screen, golden: Any) -> None:
    folder = "fixtures/manifest/invalid/MAN202-three-of-two"
    golden(
        GOLDEN / "manifest-check.txt", screen.all(f"manifest check {folder}/manifest.toml {folder}")
    )


def words(text: str) -> set[str]:
    """The words of a text, and the parts of words with hyphens, after which lines may end."""
    return set(re.sub(r"(\w-)\s*", r"\1 ", text).split())


@pytest.fixture
def help_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str, int], str]:
    """The help of a command at a width; the runner of typer has a width of its own."""

    def run(command: str, width: int) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        get_command(app).main([*command.split(), "--help"], "hlteval", standalone_mode=False)
        return capsys.readouterr().out

    return run


COMMANDS = (
    "",
    "score",
    "validate",
    "tasks",
    "convert",
    "explain",
    "pipeline",
    "campaign",
    "manifest check",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_whole_at_every_width(command: str, help_at: Callable[[str, int], str]) -> None:
    shown = [help_at(command, width) for width in WIDTHS]
    assert not any(re.search(r"[a-z]\.\.\.", text) for text in shown)
    assert words(shown[0]) == words(shown[1]) == words(shown[2])


@pytest.mark.parametrize(
    ("command", "task"),
    [
        (command, task)
        for task in BUILTIN
        for command in ("score", "validate", "compare")
        if command == "validate" or load(task).metric
    ],
)
def test_the_help_of_a_task_is_whole_at_every_width(
    task: str, command: str, help_at: Callable[[str, int], str]
) -> None:
    narrow, wide = (help_at(f"{command} {task}", width) for width in (60, 120))
    assert words(narrow) == words(wide)
    assert all(cell_len(line) <= 60 for line in narrow.splitlines())


def test_usage_errors_are_wrapped_at_words(screen: Screen) -> None:
    text = screen("tasks no-such-task-of-ours", 60)
    lines = text.partition("Error: ")[2].splitlines()
    assert len(lines) > 1
    assert all(cell_len(line) <= 60 - len("Error: ") * (not at) for at, line in enumerate(lines))
    assert set(BUILTIN) <= set(" ".join(lines).replace(",", "").split())
    assert "\x1b" not in screen("tasks \x1b[31mred", 60)


@pytest.mark.parametrize(
    ("task", "width"), [(task, WIDTHS[at % len(WIDTHS)]) for at, task in enumerate(SIDES)]
)
def test_every_number_is_whole_at_every_width(task: str, width: int, screen: Screen) -> None:
    reference, system = SIDES[task]
    command = f"score {task} -r {reference} -s {system}"
    whole = set(screen(f"{command} --wide", 1000).replace(":", "").split())
    shown = screen(command, width)
    table, _, rest = shown.replace(":", "").partition("not shown")
    found = set(table.split())
    assert found - {"columns", "column", "of"} - set(map(str, range(20))) <= whole
    assert bool(rest) == any(
        cell_len(line) > width
        for line in screen(f"{command} --wide", width).splitlines()
        if "|" not in line
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("task", SIDES)
def test_columns_can_be_chosen(task: str, screen: Screen) -> None:
    reference, system = SIDES[task]
    command = f"score {task} -r {reference} -s {system}"
    name = load(task).primary["plan"].rpartition(".")[2]
    lines = screen(f"{command} --columns {name.upper()}", 60).splitlines()
    assert any(line.strip().casefold() == name for line in lines)
    wrong = screen(f"{command} --columns {name},{name}x", 60)
    assert f"unknown column {name}x" in " ".join(wrong.split())
    for options in ("--columns f --format json", "--wide --format tsv", "--wide --columns f"):
        assert "has no effect with" in screen(f"{command} {options}", 80)
    chosen = screen(f"{command} --columns {name} --format markdown", 80)
    assert {line.count("|") for line in chosen.splitlines() if line.startswith("|")} == {3}


def test_the_columns_of_lists_and_comparisons_can_be_chosen(screen: Screen) -> None:
    assert screen("tasks --columns metrics", 60).splitlines()[0].split() == ["task", "metrics"]
    assert screen("formats --columns reads", 60).splitlines()[0].split() == ["format", "reads"]
    assert "did you mean writes?" in screen("formats --columns write", 80)
    assert "apply to the list" in screen("tasks hub4 --wide", 80)
    reference, system = SIDES["hub4"]
    command = f"compare hub4 -r {reference} {system} {reference} --bootstrap 20 --columns"
    assert screen(f"{command} wins,value", 60).splitlines()[1].split() == [
        "rank",
        "system",
        "value",
    ]
    assert "did you mean losses?" in screen(f"{command} loses", 80)


INSPECTED = {
    "tables": "fixtures/ccu/valid/CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20220719_110203.tgz",
    "hostile": "fixtures/source/invalid/SRC112-symlink.tgz",
}


@pytest.mark.parametrize("name", INSPECTED)
def test_inspect(name: str, screen: Screen, golden: Any) -> None:
    golden(GOLDEN / f"inspect-{name}.txt", screen.all(f"inspect {INSPECTED[name]}"))

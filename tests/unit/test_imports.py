"""Imports point one way, and asking for help costs nothing."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.trees import nodes, tree_of

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ORDER = (
    "representation",
    "findings",
    "sources",
    "grammars",
    "syntax",
    "converters",
    "validators",
    "tasks",
    "results",
    "reports",
    "workflows",
    "lsp",
    "api",
    "serve",
    "cli",
)
"""The rooms, each of which may import those before it."""
SCORING = ("representation", "findings")
"""What scoring may import; tasks and what follows may import it."""


def allowed(room: str) -> set[str]:
    """The rooms whose modules a room may import, its own among them."""
    if room == "scoring":
        return {*SCORING, room}
    if room == "":  # the package itself offers what all rooms have
        return {*ORDER, "scoring", room}
    before = set(ORDER[: ORDER.index(room) + 1])
    return before | {"scoring"} if "tasks" in before else before


ROOMLESS = frozenset({"hlteval", "hlteval.extensions"})
"""The modules that belong to no room: every room may import them."""


class Import(NamedTuple):
    """A module that another names, with the line where it does."""

    line: int
    module: str


class Module(NamedTuple):
    """A module of the package, which has a syntax tree."""

    name: str
    path: Path

    @property
    def tree(self) -> ast.Module:
        return tree_of(self.path)

    @property
    def room(self) -> str:
        """Empty for the package itself, and for what all rooms may use."""
        return "" if self.name in ROOMLESS else self.name.split(".")[1]

    def imports(self) -> Sequence[Import]:
        """Everything imported anywhere in it, under TYPE_CHECKING and in functions too."""
        return imports_of(self)


@cache
def imports_of(module: Module) -> Sequence[Import]:
    found = []
    for node in nodes(module.tree):
        if isinstance(node, ast.Import):
            found += [Import(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module.name}:{node.lineno} imports relatively"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found += [Import(node.lineno, inner if inner in NAMES else str(node.module))]
    return found


def modules() -> list[Module]:
    """Every module of the package, by the packages that pyproject.toml lists."""
    found = []
    for package in PROJECT["tool"]["setuptools"]["packages"]:
        folder = ROOT / package.replace(".", "/")
        folder = folder if folder.is_dir() else ROOT.joinpath(*package.split(".")[1:])
        for path in sorted(folder.glob("*.py")):
            name = package if path.stem == "__init__" else f"{package}.{path.stem}"
            name = "hlteval" if name == "hlteval.__main__" else name
            found.append(Module(name, path))
    return found


MODULES = modules()
NAMES = {module.name for module in MODULES}


def room_of(imported: str) -> str | None:
    """The room of an imported module; None if it is not of the package."""
    top, _, rest = imported.partition(".")
    if imported in ROOMLESS:
        return ""
    return rest.partition(".")[0] if top == "hlteval" else None


def test_the_modules_are_found():
    assert {module.room for module in MODULES} == {*ORDER, "scoring", ""}
    assert len(MODULES) > 50


@pytest.mark.parametrize("room", [*ORDER, "scoring", ""])
def test_a_room_imports_only_what_is_before_it(room):
    wrong = [
        f"{module.path.relative_to(ROOT)}:{line} imports {name}"
        for module in MODULES
        if module.room == room
        for line, name in module.imports()
        if room_of(name) is not None and room_of(name) not in allowed(room) | {""}
    ]
    assert not wrong


TOOLKITS = {"converters": {"toolkit"}, "scoring": {"agreement"}}
"""The packages of a room that its families may share."""


def family_of(name: str) -> tuple[str, str] | None:
    """The room and the family of a module inside a room; None for what no family owns."""
    parts = name.split(".")
    package = ".".join(parts[:3])
    is_family = package in FAMILIES and parts[2] not in TOOLKITS.get(parts[1], set())
    return (parts[1], parts[2]) if is_family else None


FAMILIES = {
    name
    for name in PROJECT["tool"]["setuptools"]["packages"]
    if name.count(".") == 2 and name.split(".")[1] in {"converters", "scoring", "validators"}
}
"""The packages of families; those of reports are what all tasks share."""


def test_families_are_the_same_in_every_room():
    assert {name.split(".")[1] for name in FAMILIES} == {"converters", "scoring", "validators"}
    scored = {name.split(".")[2] for name in FAMILIES if name.startswith("hlteval.scoring.")}
    checked = {name.split(".")[2] for name in FAMILIES if name.startswith("hlteval.validators.")}
    assert scored - TOOLKITS["scoring"] <= checked


def test_no_family_imports_another():
    assert not [
        f"{module.path.relative_to(ROOT)}:{line} imports {name}"
        for module in MODULES
        if (own := family_of(module.name))
        for line, name in module.imports()
        if (other := family_of(name)) and other[0] == own[0] and other != own
    ]


def test_the_rule_itself_points_one_way():
    for room in (*ORDER, "scoring"):
        for other in allowed(room) - {room}:
            assert room not in allowed(other), f"{room} and {other} may import each other"


def test_the_rooms_at_the_root_are_imported_as_rooms_of_the_package():
    folders = set(PROJECT["tool"]["setuptools"]["package-dir"].values()) - {"hlteval"}
    imported = {name for module in MODULES for _, name in module.imports()}
    assert not {name for name in imported if name.partition(".")[0] in folders}


def test_lazy_tables_name_modules_that_are_there():
    from hlteval import _PUBLIC, converters

    named = [*_PUBLIC.values(), *converters.BUILTIN.values()]
    assert {name.partition(":")[0] for name in named} <= NAMES


def imported_libraries() -> dict[str, set[str]]:
    """The libraries that are imported, each with the rooms that do."""
    found: dict[str, set[str]] = {}
    for module in MODULES:
        for _, name in module.imports():
            top = name.partition(".")[0]
            if top != "hlteval" and top not in sys.stdlib_module_names:
                found.setdefault(top, set()).add(module.room)
    return found


def test_every_library_is_declared_and_every_declared_one_imported():
    assert imported_libraries().keys() == declared_libraries()


def declared_libraries() -> set[str]:
    extras = PROJECT["project"]["optional-dependencies"]
    optional = [
        library for name in ("plot", "mt", "watch", "serve", "lsp") for library in extras[name]
    ]
    listed = [*PROJECT["project"]["dependencies"], *optional]
    listed = [name for name in listed if not name.startswith("pycocoevalcap")]  # only its jar
    names = {re.split("[<>=]", name)[0].replace("-", "_") for name in listed}
    return {{"pyyaml": "yaml"}.get(name, name) for name in names}


def test_scoring_knows_nothing_of_formats():
    used = {name for name, rooms in imported_libraries().items() if "scoring" in rooms}
    assert used <= {"numpy", "polars", "scipy", "rapidfuzz", "sacrebleu"}


def test_only_the_command_line_asks_for_options():
    assert imported_libraries()["typer"] == {"cli"}


LOADED = """
import runpy, sys
sys.argv[0] = "hlteval"
try:
    runpy.run_module("hlteval", run_name="__main__")
except SystemExit as done:
    status = done.code
sys.stderr.write(f"{status or 0} {' '.join(sys.modules)}")
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "command",
    [
        "--version",
        "--help",
        "validate --help",
        "validate seedev-full --help",
        "score --help",
        "score seedev-binary --help",
        "convert --help",
        "pipeline --help",
        "manifest check --help",
        "explain --help",
        "explain STD302",
        "explain STD",
        "tasks",
        "tasks hub4",
        "formats",
    ],
)
def test_help_needs_no_heavy_library(command):
    python = [sys.executable, "-c", LOADED, *command.split()]
    run = subprocess.run(python, capture_output=True, text=True, encoding="utf-8", check=True)
    status, *loaded = run.stderr.split()
    assert status == "0"
    assert run.stdout.strip()
    heavy = declared_libraries() - {"typer", "rich", "msgspec"}
    assert not {name.partition(".")[0] for name in loaded} & heavy
    # what typer and rich import for frames, tracebacks and Markdown costs as much as all else
    assert not {"rich.markdown", "rich.traceback", "pygments", "pydantic"} & set(loaded)


def test_a_score_imports_neither_reports_nor_statistics_that_nobody_asked_for():
    sides = (f"fixtures/scores/lorehlt-mt/{side}" for side in ("reference", "system"))
    words = " ".join(f"{option} {side}" for option, side in zip(("-r", "-s"), sides, strict=True))
    python = [sys.executable, "-c", LOADED, "score", "lorehlt-mt", *words.split()]
    run = subprocess.run(python, cwd=ROOT, capture_output=True, text=True, check=True)
    status, *loaded = run.stderr.splitlines()[-1].split()
    assert status == "0"
    assert "hlteval.scoring.mt.metric" in loaded
    assert not {"scipy", "matplotlib", "hlteval.reports.html"} & set(loaded)


def test_the_options_of_a_command_are_made_when_it_is_named():
    from typer.main import get_command

    from hlteval.cli.app import Unbuilt, app

    every: Any = get_command(app)
    unbuilt = {name for name, each in every.commands.items() if isinstance(each, Unbuilt)}
    assert {"convert", "verify", "explain"} <= unbuilt
    assert not any(every.commands[name].params for name in unbuilt)
    assert {"--to", "--from"} <= {
        flag for param in every.commands["convert"].built().params for flag in param.opts
    }


def test_what_a_package_lists_is_there():
    listed = [
        (module.name, name.value)
        for module in MODULES
        for node in module.tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for name in getattr(node.value, "elts", ())
        if isinstance(name, ast.Constant)
    ]
    assert len(listed) > 50
    assert not [(name, item) for name, item in listed if not hasattr(import_module(name), item)]

"""What is wrong with the environment is named, exit code 2: it is not a bug of hlteval."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).parents[2] / "hlteval" / "demo"
SCORE = ("score", "seedev-full", "-r", DEMO / "reference", "-s", DEMO / "system")


def run(*arguments: object, **more: Any) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, with further variables of the environment."""
    environment = {**os.environ, **more.pop("env", {})}
    command = [sys.executable, "-m", "hlteval", *map(str, arguments)]
    return subprocess.run(
        command, env=environment, check=False, capture_output=True, text=True, timeout=300, **more
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("POLARS_MAX_THREADS", "0"),
        ("POLARS_ENGINE_AFFINITY", "gpu"),
        ("POLARS_ENGINE_AFFINITY", "gpu-2"),
    ],
)
def test_settings_that_polars_cannot_follow(name: str, value: str) -> None:
    done = run(*SCORE, env={name: value})
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"hlteval: {name} is {value}; ")


CONVERT = ("convert", DEMO / "system", "-", "--to", "jsonl")


@pytest.mark.parametrize(
    ("megabytes", "line"), [(20, SCORE), (25, CONVERT), (60, SCORE), (60, CONVERT)]
)
def test_a_small_address_space(megabytes: int, line: tuple[object, ...]) -> None:
    size = megabytes << 20
    done = run(*line, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))
    # An interpreter that fails at its .pth files names this package, too.
    started = "hlteval: " in done.stderr or "/hlteval/" in done.stderr
    if done.returncode not in {2, 3} and not started:
        pytest.skip(f"a library ended the process: {done.stderr[-200:]}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "not enough memory" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def plug_in(tmp_path: Path) -> dict[str, str]:
    """The environment of a distribution whose extensions cannot be imported."""
    folder = tmp_path / "site"
    info = folder / "colons-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: colons\nVersion: 1.2\n")
    groups = {"formats": "colon-tab = colons:FORMAT", "tasks": "colon-task = colons:TASK"}
    text = "".join(f"[hlteval.{group}]\n{line}\n" for group, line in groups.items())
    (info / "entry_points.txt").write_text(text)
    (folder / "colons.py").write_text("import no_such_library\n")
    return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


@pytest.mark.parametrize(
    ("command", "name", "form"), [("formats", "colon-tab", "text"), ("tasks", "colon-task", "json")]
)
def test_lists_go_on_without_a_broken_plug_in(
    command: str, name: str, form: str, plug_in: dict[str, str]
) -> None:
    done = run(command, "--format", form, env=plug_in)
    assert done.returncode == 0
    assert ("standoff" if command == "formats" else "seedev-full") in done.stdout
    assert name not in done.stdout
    text = " ".join(done.stderr.split())
    assert f"WARNING: the plug-in {name} of colons 1.2 cannot be loaded" in text
    assert "No module named 'no_such_library'" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "colon-task", DEMO / "system"),
        ("convert", DEMO / "system", "out", "--to", "colon-tab"),
        ("tasks", "colon-task"),
    ],
)
def test_a_broken_plug_in_is_named_where_it_is_needed(
    arguments: tuple[object, ...], plug_in: dict[str, str], tmp_path: Path
) -> None:
    done = run(*arguments, env=plug_in, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "of colons 1.2 cannot be loaded" in " ".join(done.stderr.split())
    assert "internal error" not in done.stderr


def test_a_broken_plug_in_is_in_the_way_of_no_other_task(plug_in: dict[str, str]) -> None:
    assert run(*SCORE, "--format", "json", env=plug_in).returncode == 0


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("FORMAT = TASK = 1", ("convert", DEMO / "system", "out")),
        ("FORMAT = TASK = None", ("validate", "colon-task", DEMO / "system")),
        ("(", ("convert", DEMO / "system", "out")),
        ("(", ("validate", "colon-task", DEMO / "system")),
    ],
)
def test_a_plug_in_that_is_something_else_is_named(
    module: str, line: tuple[object, ...], plug_in: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "site" / "colons.py").write_text(f"{module}\n")
    done = run(*line, env=plug_in, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "of colons 1.2 cannot be loaded" in " ".join(done.stderr.split())

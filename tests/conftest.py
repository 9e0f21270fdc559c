"""Fixtures that several rooms of the tests use."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from hlteval import tasks
from hlteval.cli.app import Unbuilt
from hlteval.cli.commands import TaskGroup
from hlteval.findings import catalogue
from tests.effort import share

ROOT = Path(__file__).parents[1]
Golden = Callable[[Path, str], None]


@pytest.fixture(scope="session")
def golden(request: pytest.FixtureRequest) -> Golden:
    """Holds that a file has exactly the given text; with --update-golden, writes it instead."""
    update: bool = request.config.getoption("--update-golden")

    def compare(path: Path, text: str) -> None:
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        assert path.is_file(), f"{path} is missing; --update-golden writes it"
        assert path.read_bytes().decode() == text

    return compare


@pytest.fixture(scope="session")
def numbers() -> Iterator[int]:
    """What the folders of tests are numbered by."""
    return count()


@pytest.fixture
def tmp_path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, numbers: Iterator[int]
) -> Path:
    """An empty folder, as pytest makes it; but pytest goes through all earlier ones for a name."""
    name = re.sub(r"\W", "_", request.node.name)[:26]
    return tmp_path_factory.mktemp(f"{name}-{next(numbers)}", numbered=False)


@pytest.fixture(scope="session", autouse=True)
def built_once() -> Iterator[None]:
    """The commands of an application, which typer would build again for each call of a test."""
    build, built = TaskGroup.get_command, dict[object, Any]()

    def command_of(group: TaskGroup, ctx: Any, name: str) -> Any:
        if name not in tasks.BUILTIN or ctx.meta:
            return build(group, ctx, name)
        key = (type(group), name, id(tasks.load(name)))
        if key not in built:
            built[key] = build(group, ctx, name)
        return built[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(get_command))
        patch.setattr(Unbuilt, "built", cache(Unbuilt.built))
        patch.setattr(TaskGroup, "get_command", command_of)
        yield


@pytest.fixture(scope="session", autouse=True)
def parsed_once() -> Iterator[None]:
    """Our pyproject.toml, which every command in this folder asks for defaults of hlteval."""
    parse, text = tomllib.loads, (ROOT / "pyproject.toml").read_text("utf-8")
    content = parse(text)

    def loads(source: str, **settings: Any) -> dict[str, Any]:
        return content if source == text else parse(source, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tomllib, "loads", loads)
        yield


@pytest.fixture(scope="session", autouse=True)
def unsynchronized() -> Iterator[None]:
    """No test takes the power away: outputs need not wait for the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the documentation, built once for all workers; a warning is an error."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with (folder / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "site.built").exists():
            _build_site(folder / "site")
            (folder / "site.built").touch()
    return folder / "site"


def site_codes() -> set[str]:
    """The codes that have a page on the site: all, or the share."""
    return {"EDL501", "STD105", "STD302", *share(catalogue(), 40)}


def _build_site(folder: Path) -> None:
    """Build the site as the program `mkdocs` does, which does not count warnings if it is quiet."""
    command = [sys.executable, "-P", "-m", "mkdocs", "build", "--site-dir", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "SITE_CODES": " ".join(site_codes())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout

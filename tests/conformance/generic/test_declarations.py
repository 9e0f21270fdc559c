"""The six declarations of the page about tasks in files run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hlteval.tasks import load
from hlteval.tasks.generic.declaration import read_declaration

CONF = "[entities]\nDrug\nDose\nComment\n[relations]\n[events]\n[attributes]\n"


@pytest.fixture
def declarations(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    page = (shared / "formats" / "generic-tasks.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    Path("annotation.conf").write_text(CONF)
    Path("all.uem").write_text("m 1 0 60\n")
    paths = []
    for number, text in enumerate(re.findall(r"```toml\n(.*?)```", page, re.S), 1):
        paths.append(f"{number}.task.toml")
        Path(paths[-1]).write_text(text, "utf-8")
    return paths


def test_the_examples_have_no_findings(declarations: list[str]) -> None:
    assert len(declarations) == 6
    assert [read_declaration(path).findings for path in declarations] == [()] * 6


def test_the_examples_are_tasks_with_their_metrics(declarations: list[str]) -> None:
    tasks = [load(path) for path in declarations]
    names = ["conll-2003", "drugs", "works", "ontonotes-coref", "stance", "meetings"]
    assert [task.display_name for task in tasks] == names
    primary = ["micro", "partial", "micro", "conll_average", "macro"]
    assert [task.primary["plan"] for task in tasks] == [*(f"{p}.f1" for p in primary), "der"]
    assert ["official" in task.profiles for task in tasks] == [True, True, False, True, True, True]
    for task in tasks:
        for profile in task.profiles:
            metric = task.scorer(profile)
            assert task.primary[profile] in metric.score(metric.total([]))[0]
    assert tasks[1].schema().labels == ("Drug", "Dose")

"""The measures of the code, and what they must not exceed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from house.size import MEASURES, Module, main, modules, places, room

pytestmark = pytest.mark.long("the whole code is parsed")

LIMITS = {
    ("hlteval", "openers"): 0,
    ("hlteval", "participles"): 7,
    ("hlteval", "single"): 63,
    ("hlteval", "any"): 7,
    ("families", "openers"): 0,
    ("families", "participles"): 15,
    ("families", "single"): 53,
    ("families", "any"): 3,
    ("families", "official"): 0,
}
"""The most places of a measure: lower a limit when the code has less."""
MODULES, ENTRIES = 140, 15


@pytest.fixture(scope="module")
def files() -> list[Module]:
    return modules()


@pytest.fixture(scope="module")
def counted(files: list[Module]) -> Mapping[str, list[str]]:
    return places(files)


@pytest.mark.parametrize(("part", "measure"), LIMITS)
def test_code_is_not_cut_finer_and_names_do_not_get_worse(part, measure, counted):
    inside = part == "hlteval"
    listed = [place for place in counted[measure] if place.startswith("hlteval/") == inside]
    assert len(listed) <= LIMITS[part, measure], "\n".join(listed)


def test_rooms_have_few_entries(files):
    paths = [file.path for file in files if file.path.startswith("hlteval/")]
    tasks = [path for path in paths if path.startswith("hlteval/tasks/")]  # one of each family
    assert len(paths) - len(tasks) <= MODULES
    entries: dict[str, set[str]] = {}
    for path in paths:
        *folders, _ = path.split("/")
        for depth in range(2, len(folders) + 1):
            rest = path.split("/")[depth]
            entries.setdefault("/".join(folders[:depth]), set()).add(rest)
    crowded = {name: len(found) for name, found in entries.items() if len(found) > ENTRIES}
    assert not crowded


def test_each_measure_counts_its_places():
    text = '''"""A module."""
import os
from typing import Any


def _told(values: dict[str, Any], **more: Any) -> None:
    """What is told."""
    if more.official:
        return


_told({})
'''
    found = places([Module("scoring/edl/metric.py", text)])
    assert {name: len(places) for name, places in found.items()} == {
        "imports": 2, "small": 1, "single": 1, "participles": 1, "openers": 1, "any": 2,
        "official": 1,
    }  # fmt: skip
    assert room("scoring/edl/metric.py") == "scoring"


def test_totals_and_places_are_printed(capsys, monkeypatch, files):
    few = [file for file in files if file.path.startswith("hlteval/cli/")]
    monkeypatch.setattr("house.size.modules", lambda: few)
    main([])
    totals = capsys.readouterr().out
    assert all(f" {name}: {title}" in totals for name, title in MEASURES.items())
    main(["--list", "imports"])
    assert "hlteval/cli/app.py:" in capsys.readouterr().out

"""A share is tried of the whole suite, everything of what is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.effort import THOROUGH, cells_tried, share, step, tries

ROOT = Path(__file__).parents[2]
SUITE = """
import pytest
@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(7))
def test_of_a_matrix(number): pass
@pytest.mark.parametrize("number", range(12))
def test_of_many_cells(number): pass
@pytest.mark.thorough
def test_that_is_long(): pass
def test_of_every_change(): pass
"""


def test_a_share_is_a_tenth_of_the_examples_and_a_share_of_the_cells(monkeypatch):
    monkeypatch.delenv(THOROUGH, raising=False)
    assert [tries(number) for number in (3, 8, 100)] == [3, 4, 10]
    assert share("abcdefg") == ["a", "d", "g"]
    sizes = (1, 2, 4, 5, 12, 13, 36, 37)
    assert [step(cells) for cells in sizes] == [2, 2, 2, 6, 6, 10, 10, 15]
    monkeypatch.setenv(THOROUGH, "1")
    assert tries(100) == 100
    assert share("abc") == ["a", "b", "c"]


@pytest.mark.parametrize("of", [2, 6, 10, 15])
def test_cells_are_spread_over_every_inner_parameter(of):
    tried = cells_tried("name", 240, of)
    assert abs(len(tried) - 240 / of) <= 2
    for inner in (2, 3, 4, 6, 8):
        counts = [sum(number % inner == each for number in tried) for each in range(inner)]
        assert min(counts) >= 240 / of / inner / 2


def test_of_few_cells_another_is_tried_in_each_test():
    assert cells_tried("name", 1, 2) == {0}
    names = [f"test_{number}" for number in range(100)]
    for cells in (2, 5):
        tried = [cells_tried(name, cells, 6) for name in names]
        assert {len(each) for each in tried} == {1}
        assert set().union(*tried) == {*range(cells)}


@pytest.mark.parametrize(
    ("words", "number"), [([], 6), (["--thorough"], 21), (["tests/test_it.py"], 21)]
)
def test_what_is_named_is_tried_whole(words, number, tmp_path, monkeypatch):
    monkeypatch.delenv(THOROUGH, raising=False)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_it.py").write_text(SUITE, "utf-8")
    (tmp_path / "tests/effort.py").write_bytes((ROOT / "tests/effort.py").read_bytes())
    (tmp_path / "conftest.py").write_bytes((ROOT / "conftest.py").read_bytes())
    config = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["."]\n'
    marks = 'markers = ["sampled(step): each step-th cell", "thorough: all"]\n'
    (tmp_path / "pyproject.toml").write_text(config + marks, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    env = {"PATH": "", "PYTHONPATH": ""}
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=env
    )
    assert f"{number} passed" in done.stdout, done.stdout + done.stderr

"""A cell depends on the files that its task reads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import hlteval
from tests.unit.campaign.demo import run

SCORES = Path(__file__).parents[3] / "fixtures/scores"
TASKS = ("ccu-nd", "ccu-ed", "ccu-vd", "ccu-cd")

CHANGED = {
    "data/valence_arousal.tab": {"ccu-vd"},
    "data/emotions.tab": {"ccu-ed"},
    "docs/segments.tab": set(TASKS),
    "README.txt": set(),
}
"""The tasks that read each of the files."""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """A submission to each task, and the annotation for all of them."""
    shutil.copytree(SCORES / "ccu/reference", tmp_path / "reference")
    path = tmp_path / "ccu.toml"
    lines = ['name = "CCU"', "[submissions]"]
    lines += [f'{task} = "{SCORES}/{task}/system"' for task in TASKS]
    for task in TASKS:
        lines += [f"[tasks.{task}]", 'reference = "reference"', f'submissions = ["{task}"]']
    path.write_text("\n".join(lines), "utf-8")
    return path


@pytest.mark.thorough
def test_a_changed_table_computes_the_cells_of_the_tasks_that_read_it(
    manifest: Path, tmp_path: Path
) -> None:
    before = run(manifest, tmp_path / "cache")
    assert [row.result.status for row in before.rows] == ["scored"] * len(TASKS)
    for table, changed in CHANGED.items():
        with (tmp_path / "reference" / table).open("a", encoding="utf-8") as stream:
            stream.write("\n")  # of tables, an empty line at the end
        after = run(manifest, tmp_path / "cache")
        assert {row.cell.task for row in after.rows if row.new} == changed, table
        # What was kept has the numbers and the signature of what is there now.
        for row in after.rows:
            scores = hlteval.score(row.cell.task, row.cell.reference, row.cell.system)
            assert (row.result.metrics, row.result.signature) == (scores.metrics, scores.signature)

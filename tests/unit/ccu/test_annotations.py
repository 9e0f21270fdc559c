"""Of a reference, a task reads its own annotations only."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import tasks
from hlteval.converters import load
from hlteval.converters.format import ReadResult
from hlteval.sources import open_source
from hlteval.workflows.run.batches import REFERENCE
from tests.runs import open_sides

TABLES = {
    "norms.tab": "user_id\tfile_id\tsegment_id\tnorm\tstatus\nA\tD1\tS1\t101\tadhere\n",
    "emotions.tab": "user_id\tfile_id\tsegment_id\temotion\tmulti_speaker\nA\tD1\tS1\tjoy\tfalse\n",
    "valence_arousal.tab": "user_id\tfile_id\tsegment_id\tvalence_continuous\tvalence_binned\t"
    "arousal_continuous\tarousal_binned\nA\tD1\tS1\t500\t3\t600\t4\n",
    "changepoint.tab": "user_id\tfile_id\ttimestamp\tstrength_impact\tevidence\nA\tD1\t2\t4\tX\n",
}
OWN = {
    "nd": "norms.tab",
    "ed": "emotions.tab",
    "vd": "valence_arousal.tab",
    "ad": "valence_arousal.tab",
    "cd": "changepoint.tab",
}


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    """A reference with one row in each table."""
    others = {
        "docs/segments.tab": "file_id\tsegment_id\tstart\tend\nD1\tS1\t0\t9\n",
        "docs/file_info.tab": "file_uid\ttype\tlength\nD1\taudio\t9\n",
        "index_files/X.system_input.index.tab": "file_id\nD1\n",
    }
    for name, text in {**others, **{f"data/{n}": text for n, text in TABLES.items()}}.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    return tmp_path


def counts(result: ReadResult) -> dict[str, int]:
    corpus = result.corpus
    judged = {f"{kind}s": (corpus.instances["kind"] == kind).sum() for kind in ("norm", "emotion")}
    return {**judged, "levels": corpus.ratings.height, "changes": corpus.changes.height}


def as_reference(task: str, path: Path) -> ReadResult:
    """What a task reads of a reference that a submission is scored with."""
    opened = open_sides(f"ccu-{task}", str(path), str(path))
    (result,) = opened.reference_format.read(open_source(str(path)))
    return result


@pytest.mark.parametrize("task", OWN)
def test_other_tables_are_not_read(task: str, reference: Path) -> None:
    for name in set(TABLES) - {OWN[task]}:
        with (reference / "data" / name).open("a", encoding="utf-8") as file:
            file.write("a line that no reader takes\n")
    read = as_reference(task, reference)
    assert read.findings == ()
    (own,) = (name for name, count in counts(read).items() if count)
    assert own == read_by(task)
    assert read.corpus.regions.height == 1


@pytest.mark.parametrize("task", OWN)
def test_its_own_table_is_read(task: str, reference: Path) -> None:
    with (reference / "data" / OWN[task]).open("a", encoding="utf-8") as file:
        file.write("a line that no reader takes\n")
    assert [found.code for found in as_reference(task, reference).findings] == ["CCR105"]


def read_by(task: str) -> str:
    return tasks.load(f"ccu-{task}").reference_settings["annotations"]


def test_the_digest_is_that_of_the_tables_that_the_task_reads(reference: Path) -> None:
    """So a changed table of another task changes neither the signature nor a cell of a campaign."""
    source = open_source(str(reference))
    (whole,) = load("ccu-reference").read(source)
    assert counts(whole) == {"norms": 1, "emotions": 1, "levels": 2, "changes": 1}
    every = {member.name for member in source.members}
    for task, table in OWN.items():
        others = {f"data/{name}" for name in TABLES if name != table}
        members = {member.name for member in as_reference(task, reference).members}
        assert members == every - others
        reads = tasks.load(f"ccu-{task}").hooks.reference_files
        assert {member.name for member in reads(source)} == members


def test_a_reference_that_is_checked_by_itself_is_read_as_a_whole(reference: Path) -> None:
    for task in ("ccu-nd", "ccu-reference"):
        opened = open_sides(task, str(reference), None, role=REFERENCE)
        (result,) = opened.gold_format.read(open_source(str(reference)))
        assert all(counts(result).values())

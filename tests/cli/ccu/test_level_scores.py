"""Levels of valence on the command line: a small reference, a submission, an index, files."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hlteval.cli.app import app

RATED = "user_id\tfile_id\tsegment_id\tvalence_continuous\tvalence_binned\tarousal_continuous\t"
FILES = {
    "reference/index_files/r.system_input.index.tab": "file_id\nA1\nT1\n",
    "reference/docs/file_info.tab": "file_uid\ttype\tlength\nA1\taudio\t6\nT1\ttext\t20\n",
    "reference/docs/segments.tab": "file_id\tsegment_id\tstart\tend\nA1\tA1_1\t0\t2\n"
    "A1\tA1_2\t2\t6\nT1\tT1_1\t0\t9\nT1\tT1_2\t10\t19\n",
    "reference/docs/versions_per_file.tab": "file_id\temotions_count\tvalence_arousal_count\t"
    "norms_count\tchangepoint_count\nA1\t0\t2\t0\t0\nT1\t0\t2\t0\t0\n",
    "reference/data/valence_arousal.tab": f"{RATED}arousal_binned\n"
    + "".join(
        f"{who}\t{segment[:2]}\t{segment}\t{level}\t1\t500\t3\n"
        for who in (7, 8)
        for segment, level in (("A1_1", 100), ("A1_2", 900), ("T1_1", 300), ("T1_2", 700))
    ),
    "system/system_output.index.tab": "file_id\tis_processed\tmessage\tfile_path\n"
    "A1\tTrue\t\tA1.tab\nT1\tFalse\t\tT1.tab\n",
    "system/A1.tab": "file_id\tstart\tend\tvalence_continuous\nA1\t0\t2\t200\nA1\t2\t6\t800\n",
    "system/T1.tab": "file_id\tstart\tend\tvalence_continuous\n",
    "audio.tab": "file_id\nA1\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> str:
    given = ["score", "ccu-vd", "-r", "reference", "-s", "system", *words]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_document_that_was_not_processed_is_noted(folder):
    assert "1 document without levels of the system: scored as level 500" in run()
    assert "without levels" not in run("--index", "audio.tab")


def test_only_documents_of_the_index_are_scored_but_all_are_normalized(folder):
    run("--index", "audio.tab", "--profile", "official", "-o", "out")
    units = (folder / "out/segment_diarization.tab").read_text("utf-8").splitlines()
    # ±0.707 without the levels of the text
    assert units[1:] == [
        "valence\tA1\t{start=0,end=2}\t-1.095\t-1.000\t{}",
        "valence\tA1\t{start=2,end=4}\t1.095\t1.000\t{}",
        "valence\tA1\t{start=4,end=6}\t1.095\t1.000\t{}",
    ]
    scores = (folder / "out/scores_aggregated.tab").read_text("utf-8")
    assert "vd\taudio\tref_coverage\t1.0\t{}\n" in scores

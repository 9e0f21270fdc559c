"""All references and submissions of the shared cases are read, and come back equal when written."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.converters import load
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import open_source

REFERENCES = {
    "ActEV-SmoothCurve": "",
    "AlignFile_tests": "",
    "LC1-SimulatedMiniEvalP1_ref_annotation": "CCR123",
    "LC1-SimulatedMiniEvalP1_ref_annotation_merge": "CCR123",
    "LDC2022R17_CCU_Phase_1_Mini-Eval_Simulated_L1_TA1_Annotation_Reference": "",
    "LDC_reference_sample": "CCR111",
    "WeightedF1": "",
}
FAILING = {
    "AD/duplicate_except_level": "",
    "AD/duration_not_equal": "",
    "AD/no_output_records": "",
    "AD/time_has_gap": "",
    "ED/duplicate_except_llr": "",
    "ED/incorrect_emotion": "",
    "ND/additional_file": "CCS125",
    "ND/end_equal_to_higher_than_start": "",
    "ND/file_id_mismatch": "CCS126",
    "ND/file_id_missing": "",
    "ND/file_missing": "CCS123",
    "ND/invalid_column_number": "CCS102",
    "ND/invalid_data_type": "CCS132 CCS132 CCS132 CCS132 CCS107",
    "ND/invalid_header": "CCS102",
    "ND/invalid_output_records": "CCS127",
    "ND/path_missing": "CCS125 CCS130",
    "ND/start_end_timestamp_out_of_scope": "",
    "NDMAP/incorrect_ref_norm": "",
    "ND_norm_start_with_5": "",
    "VD/value_not_in_range": "",
}
"""What the reader finds; all else is for the rules of the tasks."""
KEYS = ("row", "origin", "record")


def read(form: str, path: Path) -> tuple[Corpus, list[Finding]]:
    (result,) = load(form).read(open_source(str(path)))
    return result.corpus, list(result.findings)


def comes_back(form: str, corpus: Corpus, folder: Path) -> None:
    """That a corpus loses nothing where it is written and read again."""
    chosen = load(form)
    assert chosen.write is not None
    assert chosen.losses(corpus) == {}
    chosen.write([corpus], folder)
    again, findings = read(form, folder)
    assert findings == []
    for (name, before), (_, after) in zip(corpus.tables(), again.tables(), strict=True):
        if name not in {"sources", "rejected_records"}:
            kept = [column for column in before.columns if column not in KEYS]
            one, other = (rows.select(kept).sort(kept) for rows in (before, after))
            assert one.equals(other), name


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_is_read_and_written(name: str, shared: Path, tmp_path: Path) -> None:
    corpus, findings = read("ccu-reference", shared / "cases/ccu/reference" / name)
    assert " ".join(finding.code for finding in findings) == REFERENCES[name]
    assert corpus.rejected_records.is_empty()
    comes_back("ccu-reference", corpus, tmp_path / "again")


def test_a_submission_is_read_and_written(shared: Path, tmp_path: Path) -> None:
    names = ("system_output.index.tab", "nd.map.tab")
    found = (path for name in names for path in (shared / "cases/ccu/pass").rglob(name))
    folders = sorted({path.parent for path in found})
    assert len(folders) == 29
    for folder in folders:
        corpus, findings = read("ccu-submission", folder)
        assert findings == [], folder
        task = folder.parent.name
        if not (tmp_path / task).exists():
            comes_back("ccu-submission", corpus, tmp_path / task)


@pytest.mark.parametrize("name", FAILING)
def test_a_failing_submission_is_read_with_what_is_wrong_with_its_files(
    name: str, shared: Path
) -> None:
    folder = shared / "cases/ccu/fail/fail_submissions_LDC_reference_sample" / name
    (index,) = [path.parent for path in folder.rglob("*.tab") if ".index." in path.name] or [folder]
    _, findings = read("ccu-submission", index)
    assert " ".join(finding.code for finding in findings) == FAILING[name]

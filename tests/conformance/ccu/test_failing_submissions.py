"""Submissions that the official validator's own tests fail or pass: why, and by which profile."""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from hlteval import read, validate
from hlteval.findings import SUBMISSION
from hlteval.representation import Corpus
from hlteval.results.verdict import Verdict
from hlteval.tasks import load

CASES = "cases/ccu"
SAMPLE = "LDC_reference_sample"
FAILING = {
    "AD/duplicate_except_level": {"CCU506"},
    "AD/duration_not_equal": {"CCU404"},
    "AD/no_output_records": {"CCU308"},
    "AD/time_has_gap": {"CCU603"},
    "ED/duplicate_except_llr": {"CCU506"},
    "ED/incorrect_emotion": {"CCU502"},
    "ND/additional_file": {"CCS125"},
    "ND/end_equal_to_higher_than_start": {"CCU402", "CCU403"},
    "ND/file_id_mismatch": {"CCS126"},
    "ND/file_id_missing": {"CCU301", "CCU302"},
    "ND/file_missing": {"CCS123"},
    "ND/invalid_column_number": {"CCS102"},
    "ND/invalid_data_type": {"CCS107"},
    "ND/invalid_header": {"TAB103"},
    "ND/invalid_output_records": {"CCS127"},
    "ND/path_missing": {"CCS130"},
    "ND/start_end_timestamp_out_of_scope": {"CCU403"},  # it is at the end, and not beyond it
    "NDMAP/incorrect_ref_norm": {"CCU712"},
    "ND_norm_start_with_5/CCU_P1_TA1_ND_NIST_mini-eval1_20220531_050236": {"CCU504"},
    "VD/value_not_in_range": {"CCU601"},
}
"""The codes of the reason that each is named for."""
INDEX_WRONG = {"ND/file_id_missing", "ND/path_missing"}
"""Submissions whose reason is the index itself."""
ACCEPTED = {
    "AD/duration_not_equal": "official",  # 10 characters beyond the end are tolerated
    "ND_norm_start_with_5/CCU_P1_TA1_ND_NIST_mini-eval1_20220531_050236": "plan",
}
"""The profile that accepts a submission whose index is right."""


@cache
def reference(path: Path) -> Corpus:
    return read(str(path), "ccu-reference")[0]


def judged(shared: Path, path: Path, profile: str, name: str = SAMPLE, **options: str) -> Verdict:
    """The verdict on a submission: its task is the beginning of the name of its folder."""
    task = re.match("[A-Z]+", path.parent.name)[0].lower()
    if path.parent.name == "ND_norm_start_with_5":
        options = {"classes": str(shared / CASES / "lists/known_norms.txt")}
    against = reference(shared / CASES / "reference" / name)
    return validate(f"ccu-{task}", str(path), against=against, profile=profile, **options)


def codes(verdict: Verdict) -> set[str]:
    return {item.code for item in verdict.findings if item.side == SUBMISSION}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", FAILING)
def test_it_fails_for_the_reason_that_it_is_named_for(shared, name):
    path = shared / CASES / "fail" / f"fail_submissions_{SAMPLE}" / name
    verdict = judged(shared, path, "official")
    assert not verdict.passed
    assert FAILING[name] <= codes(verdict)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", sorted(FAILING.keys() - INDEX_WRONG))
def test_so_does_a_variant_whose_index_is_right(shared, name, tmp_path):
    path = tmp_path / name
    shutil.copytree(shared / CASES / "fail" / f"fail_submissions_{SAMPLE}" / name, path)
    repair(path)
    verdict = judged(shared, path, "plan")
    assert verdict.passed == (ACCEPTED.get(name) == "plan")
    assert passes_officially(verdict) == (ACCEPTED.get(name) == "official")
    assert {code for code in codes(verdict) if is_reason(code, name)} == FAILING[name]


def passes_officially(verdict: Verdict) -> bool:
    """Whether the official validator accepts what was judged by the plan."""
    rejects = load(verdict.task).official_rejects
    return not any(rejects(item) for item in verdict.findings if item.side == SUBMISSION)


def is_reason(code: str, name: str) -> bool:
    """Whether a code is one of a reason, and not of what these submissions have besides."""
    # Norms that a system discovers are not those of the annotation before their mapping.
    beside = {"CCU205", "CCU513", "CCU716", "CCS132"}
    if name == "VD/value_not_in_range":  # its levels do not cover the document
        beside |= {"CCU605", "CCU606"}
    if name == "AD/no_output_records":
        beside |= {"CCU605", "CCU606"}
    return code not in beside


def repair(path: Path) -> None:
    """Give a submission an index of all inputs, with paths, and norms of three characters."""
    index = path / "system_output.index.tab"
    if not index.exists():
        return
    lines = index.read_text().splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    for document in {"M010005QD", "M010015BY", "M010019QD", "M010029SP"} - {row[0] for row in rows}:
        rows.append([document, "False", "", f"{document}.tab"])
        header = next(path.glob("M*.tab")).read_text().partition("\n")[0]
        (path / f"{document}.tab").write_text(f"{header}\n")
    for row in rows:
        row[3] = row[3].rpartition("/out/")[2] if (path / "out").exists() else row[3]
        row[3] = f"out/{row[3]}" if (path / "out").exists() else row[3]
    index.write_text("\n".join(["\t".join(row) for row in [lines[0].split("\t"), *rows]]) + "\n")
    for file in path.rglob("M*.tab"):
        file.write_text(re.sub(r"\tA([0-9])\t", r"\t50\1\t", file.read_text()))


PASSING = {
    "ActEV-SmoothCurve/ND/CCU_P1_TA1_ND_NISTACTEV_mini-eval1_20220930_050236": {"CCU506"},
    f"{SAMPLE}/VD/CCU_P1_TA1_VD_NIST_mini-eval1_20230925_145940": {"CCU404"},
    "LC1-SimulatedMiniEvalP1_ref_annotation/NDMAP/"
    "CCU_P1_TA1_NDMAP_NIST_mini-eval1_20220908_22222": {"CCU204"},
}
"""Errors by the plan in submissions that are scored: two scores of one instance, levels beyond the
end of their document, and a time of five digits."""
REFUSED = {"ActEV-SmoothCurve/ND/CCU_P1_TA1_ND_NISTACTEV_mini-eval1_20220930_050236"}
"""Submissions that are scored, but that the official validator itself refuses."""


def passing(shared):
    folder = shared / CASES / "pass"
    for path in sorted(folder.glob("*/*/*")):
        yield path.relative_to(folder).as_posix().removeprefix("pass_submissions_"), path


@pytest.mark.thorough
def test_submissions_that_are_scored_pass(shared):
    for name, path in passing(shared):
        options = {"gaps": True} if "VD_gaps" in name else {}
        verdict = judged(shared, path, "plan", name.partition("/")[0], **options)
        errors = {found.code for found in verdict.findings if found.severity == "error"}
        assert errors & codes(verdict) == PASSING.get(name, set()), name
        assert verdict.passed == (name not in PASSING), name
        assert passes_officially(verdict) == (name not in REFUSED), name

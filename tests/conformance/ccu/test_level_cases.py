"""The seven runs of the public scorer on valence and arousal, file by file.

The suite of the scorer does not compare scores_aggregated.tab; those that it has are up to date.
"""

from __future__ import annotations

import pytest

from tests.runs import score

SAMPLE, MINI = "LDC_reference_sample", "LC1-SimulatedMiniEvalP1_ref_annotation"
ROUND = "LC1-SimulatedMiniEvalP1.20220909"
CASES = {
    "1": (SAMPLE, "VD", "CCU_P1_TA1_VD_NIST_mini-eval1_20220531_050236"),
    "2": (SAMPLE, "VD", "CCU_P1_TA1_VD_NIST_mini-eval1_20230925_145940"),
    "3": (SAMPLE, "VD_gaps", "CCU_P1_TA1_VD_NIST_mini-eval1_20230728_130144"),
    "4": (SAMPLE, "AD", "CCU_P1_TA1_AD_NIST_mini-eval1_20220531_050236"),
    "5": (SAMPLE, "AD", "CCU_P1_TA1_AD_NIST_mini-eval1_20220809_161036"),
    "20": (MINI, "VD", "CCU_P1_TA1_VD_NIST_mini-eval1_20220908_111111"),
    "21": (MINI, "AD", "CCU_P1_TA1_AD_NIST_mini-eval1_20220908_111111"),
}
"""Reference, task and submission, by the number of the case."""


@pytest.mark.parametrize("number", CASES)
def test_the_files_are_those_of_the_public_scorer(shared, number):
    reference, task, submission = CASES[number]
    cases = shared / "cases/ccu"
    folder = cases / "reference" / reference
    index = folder / "index_files" / f"{ROUND}.{task[:2]}.scoring.index.tab"
    scores = score(
        f"ccu-{task[:2].lower()}",
        str(folder),
        str(cases / "pass" / f"pass_submissions_{reference}" / task / submission),
        profile="official",
        lenient=False,
        options={"index": str(index), "gaps": task.endswith("gaps")},
    )
    expected = cases / "scores" / f"scores_{reference}" / task / submission
    files = [path for path in expected.glob("*.tab") if path.name != "scoring_parameters.tab"]
    assert {path.name for path in files} <= set(scores.files)
    for path in files:
        assert scores.files[path.name] == path.read_text("utf-8"), path.name

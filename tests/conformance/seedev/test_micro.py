"""The corpora of one or two events: each shows one thing that is compared, or is not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from hlteval import Refused, Scores, score


class Plan(NamedTuple):
    """What the description gives: matches M, pairs, references, predictions; the sum in `because`.

    Recall is M / references, precision M / predictions, mismatches are pairs - M; insertions and
    deletions are what is not paired, and SER is their sum with the mismatches per reference.
    """

    matches: float
    pairs: int
    references: int
    predictions: int
    because: str


PLAN = {
    "m01_full_wrong_mandatory": Plan(0, 0, 1, 1, "both mandatory arguments differ: no pair"),
    "m02_full_wrong_type": Plan(0, 0, 1, 1, "the types differ: no pair"),
    "m03_full_missing_opt": Plan(1 / 2, 1, 1, 1, "N={T4,T6}, 1 missing: 1-1/2"),
    "m04_full_wrong_opt": Plan(1 / 3, 1, 1, 1, "N={T4,T6,T11}, 1 wrong is 2 errors: 1-2/3"),
    "m05_full_only_opt_wrong": Plan(0, 0, 1, 1, "N={T4,T11}, 1 wrong: 1-2/2=0, and 0 is no pair"),
    "m06_full_only_opt_missing": Plan(0, 0, 1, 1, "N={T4}, 1 missing: 1-1/1=0, and 0 is no pair"),
    "m07_full_negation_and_opt": Plan(
        1 / 4, 1, 1, 1, "negated on one side: 1/2; N={T4,T6}, 1 missing: 1-1/2; 1/2*1/2"
    ),
    "m08_full_prereq_match": Plan(
        1 + 1 / 3, 2, 2, 2, "E1: 1. E2: N={E1 once, T4, T11}, 1 wrong: 1-2/3"
    ),
    "m09_full_prereq_other_args": Plan(
        0, 0, 2, 2, "E1: wrong arguments. E2: N={E1,E1'}, 1 wrong: 1-2/2=0, and 0 is no pair"
    ),
    "m10_full_same_entity_two_roles_forced": Plan(
        0, 0, 1, 1, "N={T4,T6}, Tissue wrong: 1-2/2=0, and 0 is no pair"
    ),
    "m11_full_negative_sopt_forced": Plan(
        0, 0, 1, 1, "N={T4}, 1 missing and 1 extra: 1-2/1=-1, and below 0 is no pair"
    ),
    "m12_full_greedy_suboptimal": Plan(
        5 / 6, 2, 2, 2, "E1+E2: N={T4,T6}: 1-1/2; E2+E1: N={T4,T6,T5}: 1-2/3; E1+E1 alone: 2/3"
    ),
    "m13_full_loc_process_vs_molecule": Plan(0, 0, 1, 1, "the alternatives are different roles"),
    "m14_full_ser_truncation": Plan(3 / 2, 2, 2, 2, "E1: negated on one side, 1/2. E2: 1"),
    "m15_full_empty_pred": Plan(0, 0, 1, 0, "nothing predicted"),
    "m16_full_empty_both": Plan(0, 0, 0, 0, "nothing at all"),
    "m17_bin_empty_pred": Plan(0, 0, 1, 0, "nothing predicted"),
    "m18_bin_all_wrong": Plan(0, 0, 1, 1, "agent and target exchanged, and they do not commute"),
    "m19_bin_equiv_in_ref": Plan(1, 1, 1, 1, "T1 and T10 are equivalent: 1"),
    "m20_full_equiv_in_ref_opt": Plan(
        1, 1, 1, 1, "T4 and T11 are equivalent: N={T4}, no error: 1-0/1"
    ),
    "m25_bin_linked_commutes": Plan(1, 1, 1, 1, "Is_Linked_To commutes: 1"),
}
FORCED = {"m10_full_same_entity_two_roles_forced", "m11_full_negative_sopt_forced"}


def scored(shared: Path, name: str, profile: str, *, lenient: bool | None = None) -> Scores:
    folder = shared / "cases" / "seedev" / "micro" / name
    task = "seedev-full" if "_full_" in name else "seedev-binary"
    forced = name in FORCED if lenient is None else lenient
    reference, system = str(folder / "ref"), str(folder / "pred")
    return score(task, reference, system, profile=profile, lenient=forced)


def rows(scores: Scores, count: int) -> dict[str, float | None]:
    table = scores.tables["scorings"].head(count)
    return dict(table.select("measure", "value").iter_rows())


def ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


@pytest.mark.parametrize("name", PLAN)
def test_official_equals_the_software(name: str, shared: Path) -> None:
    result = (shared / "cases" / "seedev" / "micro" / name / "RESULT.txt").read_text("utf-8")
    stated = re.search(r"^=> exit=0 (.+)$", result, re.MULTILINE)
    assert stated is not None
    values = re.findall(r"([A-Z][A-Za-z0-9 ]*)=([\w.]+)", stated[1])
    expected = {name: None if value == "NaN" else float(value) for name, value in values}
    assert len(expected) == 6
    assert rows(scored(shared, name, "official"), 6) == pytest.approx(expected, abs=1e-9)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PLAN)
def test_plan_gives_what_the_description_says(name: str, shared: Path) -> None:
    plan = PLAN[name]
    scores = scored(shared, name, "plan")
    recall = ratio(plan.matches, plan.references)
    precision = ratio(plan.matches, plan.predictions)
    insertions = plan.predictions - plan.pairs
    deletions = plan.references - plan.pairs
    mismatches = plan.pairs - plan.matches
    expected = {
        "f1": ratio(2 * plan.matches, plan.references + plan.predictions),
        "recall": recall,
        "precision": precision,
        "ser": ratio(mismatches + insertions + deletions, plan.references),
        "matches": plan.matches,
        "substitutions": mismatches,
        "insertions": insertions,
        "deletions": deletions,
        "references": plan.references,
        "predictions": plan.predictions,
    }
    assert scores.metrics == pytest.approx(expected, abs=1e-12)
    similarities = scores.tables["alignment"]["similarity"]
    assert similarities.sum() == pytest.approx(plan.matches, abs=1e-12)
    assert (similarities > 0).sum() == plan.pairs


@pytest.mark.parametrize("name", sorted(FORCED))
@pytest.mark.parametrize("profile", ["plan", "official"])
def test_what_is_forced_is_refused_at_first(name: str, profile: str, shared: Path) -> None:
    with pytest.raises(Refused, match="SEE205"):
        scored(shared, name, profile, lenient=False)


def test_the_alignment_says_why_nothing_was_paired(shared: Path) -> None:
    """Two rows without a partner, rather than one pair of similarity 0."""
    table = scored(shared, "m05_full_only_opt_wrong", "plan").tables["alignment"]
    columns = table.select("reference", "predicted", "similarity").rows()
    assert columns == [("E1", None, 0.0), (None, "E1", 0.0)]


def test_the_alignment_tells_the_arguments_that_differ(shared: Path) -> None:
    table = scored(shared, "m12_full_greedy_suboptimal", "plan").tables["alignment"]
    shown = table.select("reference", "predicted", "missing", "extra", "wrong").rows()
    assert shown == [
        ("E1", "E2", ["Tissue:T4"], [], []),
        ("E2", "E1", [], ["Developmental_Stage:T5", "Organism_Genotype:T6"], []),
    ]
    negated = scored(shared, "m07_full_negation_and_opt", "plan").tables["alignment"]
    assert negated.select("similarity", "negation", "missing").rows() == [
        (0.25, "missing", ["Tissue:T4"])
    ]
    wrong = scored(shared, "m04_full_wrong_opt", "plan").tables["alignment"]
    assert wrong["wrong"].to_list() == [["Tissue:T11"]]

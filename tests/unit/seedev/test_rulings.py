"""What the description leaves open, decided, and what the software does: both profiles."""

from __future__ import annotations

import pytest

from hlteval import score

TEXT = "WRI1 binds OLE1 and ABI3 in the embryo and the root at the heart stage of Col.\n"
GIVEN = """\
T1\tProtein 0 4\tWRI1
T2\tGene 11 15\tOLE1
T3\tProtein 20 24\tABI3
T4\tTissue 32 38\tembryo
T5\tTissue 47 51\troot
T6\tDevelopment_Phase 59 70\theart stage
T7\tGenotype 74 77\tCol
"""
BOUND = "Functional_Molecule:T1 Molecule:T2"
GENOTYPE = "Organism_Genotype:T7"
SHOWN = "Functional_Molecule:T1 Target_Tissue:T4"

# The task, the events of both sides, and recall, SER or F1 in `plan` and in `official`.
CASES = {
    "identity commutes": (
        *("full", ["Sequence_Identity Element1:T1 Element2:T3"]),
        *(["Sequence_Identity Element1:T3 Element2:T1"], "recall", 1, 1),
    ),
    "equivalence commutes": (
        *("full", ["Functional_Equivalence Element1:T1 Element2:T3"]),
        *(["Functional_Equivalence Element1:T3 Element2:T1"], "recall", 1, 1),
    ),
    "interaction does not": (
        *("full", ["Interaction Agent:T1 Target:T3"]),
        *(["Interaction Agent:T3 Target:T1"], "recall", 0, 1),
    ),
    "a type equals itself": (
        *("binary", ["Has_Sequence_Identical_To Element1:T1 Element2:T3"]),
        *(["Is_Functionally_Equivalent_To Element1:T1 Element2:T3"], "recall", 0, 1),
    ),
    # N = 3: the prerequisite and two tissues; or both prerequisites and two tissues, N = 4
    "a prerequisite counts once": (
        *("full", [f"Binding {BOUND}", f"Localization {SHOWN} Tissue:T4 Prerequisite_Event:E1"]),
        [f"Binding {BOUND}", f"Localization {SHOWN} Tissue:T5 Prerequisite_Event:E1"],
        *("recall", (1 + 1 / 3) / 2, (1 + 1 / 2) / 2),
    ),
    "equal prerequisites may have other conditions": (
        *("full", [f"Binding {BOUND} Tissue:T4", f"Localization {SHOWN} Prerequisite_Event:E1"]),
        [f"Binding {BOUND} Tissue:T5", f"Localization {SHOWN} Prerequisite_Event:E1"],
        *("recall", 1 / 2, 1 / 2),
    ),
    "unequal prerequisites": (
        *("full", [f"Binding {BOUND}", f"Localization {SHOWN} Prerequisite_Event:E1"]),
        [
            "Binding Functional_Molecule:T3 Molecule:T2",
            f"Localization {SHOWN} Prerequisite_Event:E1",
        ],
        *("recall", 0, 1),
    ),
    # 1 + 0 and 1/2 + 1/2 are the same sum; two pairs leave one error of two events
    "of equal sums the one with most pairs": (
        "full",
        [f"Binding {BOUND} Tissue:T4 {GENOTYPE}", f"Binding {BOUND} {GENOTYPE}"],
        [f"Binding {BOUND} Tissue:T4 {GENOTYPE}", f"Binding {BOUND} Tissue:T4"],
        *("ser", 0.5, 1),
    ),
    "equivalences in binary": (
        *("binary", ["Is_Localized_In Functional_Molecule:T1 Target_Tissue:T4", "*\tEquiv T4 T5"]),
        ["Is_Localized_In Functional_Molecule:T1 Target_Tissue:T5"],
        *("recall", 1, 1),
    ),
    "equivalences in full": (
        *("full", [f"Binding {BOUND} Tissue:T4", "*\tEquiv T4 T5"]),
        *([f"Binding {BOUND} Tissue:T5"], "recall", 1, 0),
    ),
    "f1 in full": ("full", [f"Binding {BOUND}"], [f"Binding {BOUND}"], "f1", 1, None),
    "ser in binary": ("binary", [f"Binds_To {BOUND}"], [f"Binds_To {BOUND}"], "ser", 0, None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_ruling_in_both_profiles(name, tmp_path):
    task, gold, predicted, metric, *expected = CASES[name]
    for side, events in (("r", gold), ("s", predicted)):
        (tmp_path / side).mkdir()
        lines = [f"E{n}\t{text}" if text[0] != "*" else text for n, text in enumerate(events, 1)]
        (tmp_path / side / "d.a2").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "r" / "d.txt").write_text(TEXT)
    (tmp_path / "r" / "d.a1").write_text(GIVEN)
    paths = str(tmp_path / "r"), str(tmp_path / "s")
    for profile, value in zip(("plan", "official"), expected, strict=True):
        found = score(f"seedev-{task}", *paths, profile=profile).metrics[metric]
        assert found == (None if value is None else pytest.approx(value)), profile

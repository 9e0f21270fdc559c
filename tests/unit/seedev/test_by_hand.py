"""Every measure of both tasks of SeeDev on one example each, with the computation."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hlteval import score
from tests.unit.seedev.test_rulings import GIVEN, TEXT

FULL = (
    """\
E1\tBinding Functional_Molecule:T1 Molecule:T2 Tissue:T4
E2\tBinding Functional_Molecule:T3 Molecule:T2 Tissue:T4
E3\tInteraction Agent:T1 Target:T3
M1\tNegation Annotation:E3
E4\tLocalization Functional_Molecule:T1 Target_Tissue:T4
E5\tLocalization Functional_Molecule:T1 Target_Tissue:T5
""",
    """\
E1\tBinding Functional_Molecule:T1 Molecule:T2 Tissue:T4 Organism_Genotype:T7
E2\tBinding Functional_Molecule:T3 Molecule:T2 Tissue:T4
E3\tInteraction Agent:T1 Target:T3
E4\tInteraction Agent:T3 Target:T1
E5\tLocalization Functional_Molecule:T3 Target_Tissue:T4
E6\tLocalization Functional_Molecule:T3 Target_Tissue:T5
""",
)
# E1: N = 2 arguments, T4 and T7, of which one is extra: SOpt = 1 - 1/2. E2: 1. E3: negated on one
# side only, so 1/2. Three pairs; E4 and E5 of the reference, and E4 to E6 of the system are alone.
SIMILARITIES = [Fraction(1, 2), Fraction(1), Fraction(1, 2)]

BINARY = (
    """\
E1\tBinds_To Functional_Molecule:T1 Molecule:T2
E2\tBinds_To Functional_Molecule:T3 Molecule:T2
E3\tHas_Sequence_Identical_To Element1:T1 Element2:T3
""",
    """\
E1\tBinds_To Functional_Molecule:T1 Molecule:T2
E2\tBinds_To Functional_Molecule:T1 Molecule:T3
E3\tHas_Sequence_Identical_To Element1:T3 Element2:T1
E4\tIs_Linked_To Agent1:T1 Agent2:T2
E5\tIs_Linked_To Agent1:T1 Agent2:T3
""",
)


def figures(similarities, references, predictions):
    matches, pairs = sum(similarities), len(similarities)
    substitutions, insertions, deletions = pairs - matches, predictions - pairs, references - pairs
    recall, precision = matches / Fraction(references), matches / Fraction(predictions)
    return {
        "recall": recall,
        "precision": precision,
        "f1": 2 * precision * recall / (precision + recall),
        "ser": (substitutions + insertions + deletions) / Fraction(references),
        "matches": matches,
        "substitutions": substitutions,
        "insertions": insertions,
        "deletions": deletions,
        "references": references,
        "predictions": predictions,
    }


@pytest.mark.parametrize(
    ("task", "sides", "expected"),
    [
        # matches 2 of 5 and of 6, substitutions 1, insertions 3, deletions 2: SER 6/5
        ("full", FULL, figures(SIMILARITIES, 5, 6)),
        # E1 and, since its arguments may change places, E3: 2 of 3 and of 5; SER (0 + 3 + 1) / 3
        ("binary", BINARY, figures([1, 1], 3, 5)),
    ],
)
def test_every_measure_by_hand(tmp_path, task, sides, expected):
    for side, events in zip("rs", sides, strict=True):
        (tmp_path / side).mkdir()
        (tmp_path / side / "d.txt").write_text(TEXT)
        (tmp_path / side / "d.a1").write_text(GIVEN)
        (tmp_path / side / "d.a2").write_text(events)
    scores = score(f"seedev-{task}", str(tmp_path / "r"), str(tmp_path / "s"))
    values = {name: float(value) for name, value in expected.items()}
    assert scores.metrics == pytest.approx(values, abs=1e-12)


EXAMPLES = dict.fromkeys(("seedev-binary", "seedev-full"), figures([1], 1, 1))

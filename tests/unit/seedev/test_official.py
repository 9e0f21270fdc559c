"""The verdict and the numbers of `official` where the software reads what the format refuses.

Each line was given to the software as well: what it refuses, and how many of two events it finds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import Refused, score, validate

GIVEN = "T1\tProtein 0 5\tAGL15\nT2\tProtein 6 9\tSVP\nT3\tTissue 10 14\troot\n"
FIRST = "E1\tBinds_To Functional_Molecule:T1 Molecule:T2\n"
SECOND = "E2\tIs_Localized_In Functional_Molecule:T1 Target_Tissue:T3\n"
READ = [
    (SECOND.replace("T3", "T3 #sure"), True, 1),
    (SECOND.replace("T3", "T3 and"), True, 1),
    (SECOND.replace("E2", "E 2"), True, 1),
    (SECOND.replace("E2\t", "E2\t "), True, 0.5),
    (SECOND.replace(" F", "\tF"), True, 0.5),
    ("\ufeff" + SECOND, True, 0.5),
    (SECOND.replace("Target_Tissue:", "Target_Tissue"), False, 0.5),
    (SECOND.replace("Functional_Molecule:", ""), False, 0.5),
    (SECOND.replace("Functional_Molecule:", "Functional_Molecule="), False, 0.5),
    (SECOND.replace("Functional_Molecule:", "Functional_Molecule :"), False, 0.5),
    (SECOND.replace("Target_Tissue:", "Target_Tissue: "), False, 0.5),
    (SECOND.replace("Target_Tissue:T3", "Target_Tissue:E9\nE9\tBinds_To"), False, 0.5),
    (SECOND.replace("_In ", "_In:T3 "), False, 0.5),
]
CRASHES = [
    SECOND.replace(":", ": "),
    SECOND.replace(":", " "),
]


@pytest.fixture
def sides(tmp_path):
    """Writes a reference of two events, and a submission of the first one and other lines."""

    def write(lines):
        first = lines if lines.startswith("\ufeff") else FIRST + lines
        rest = FIRST if lines.startswith("\ufeff") else ""
        for name, content in (("reference", FIRST + SECOND), ("system", first + rest)):
            (tmp_path / name).mkdir()
            (tmp_path / name / "d.a2").write_text(content)
        (tmp_path / "reference" / "d.txt").write_text("AGL15 SVP root\n")
        (tmp_path / "reference" / "d.a1").write_text(GIVEN)
        return str(tmp_path / "reference"), str(tmp_path / "system")

    return write


@pytest.mark.parametrize(
    ("lines", "passes", "recall"), READ, ids=[str(n) for n in range(len(READ))]
)
def test_refused_lines_are_read_before_rules_and_metric(lines, passes, recall, sides):
    reference, system = sides(lines)
    verdict = validate("seedev-binary", system, against=reference, profile="official")
    assert verdict.passed is passes
    assert passes or any(item.blocking for item in verdict.findings)
    follows = {item.code for item in verdict.findings} & {"SEE201", "SEE202"}
    assert not follows  # from the malformed line, which has its own fix
    scores = score("seedev-binary", reference, system, profile="official", lenient=True)
    assert scores.metrics["recall"] == recall
    if passes:
        assert score("seedev-binary", reference, system, profile="official") is not None


def test_the_same_lines_are_left_out_in_plan(sides):
    reference, system = sides(READ[0][0])
    verdict = validate("seedev-binary", system, against=reference)
    assert [item.code for item in verdict.findings] == ["STD104"]
    assert not verdict.passed
    assert score("seedev-binary", reference, system).metrics["recall"] == 0.5


@pytest.mark.parametrize("lines", CRASHES, ids=["spaces", "no-colons"])
def test_there_is_no_number_where_the_software_finds_no_argument(lines, sides):
    reference, system = sides(lines)
    with pytest.raises(Refused):
        score("seedev-binary", reference, system, profile="official", lenient=True)


NEGATED = "M1\tNegation Annotation:E1\n"
MODIFIERS = [
    (f"{NEGATED}E2\tBinding Functional_Molecule:T1 Molecule:M1\n", "SEE205", True),
    (f"{NEGATED}M2\tNegation Annotation:M1\n", "SEE207", True),
    ("M1\tNegation Annotation:M1\n", "SEE207", True),
    (f"{NEGATED}E2\tSequence_Identity Element1:M1 Element2:T1\n", "SEE306", False),
]


@pytest.mark.parametrize("profile", ["plan", "official"])
@pytest.mark.parametrize(
    ("lines", "code", "rejected"), MODIFIERS, ids=["filler", "modified", "itself", "any filler"]
)
def test_modifiers_are_no_fillers_and_not_modified(lines, code, rejected, profile, sides):
    reference, system = sides(lines)
    for side in (reference, system):
        path = Path(side, "d.a2")
        content = path.read_text().replace("Binds_To", "Binding")
        path.write_text(content.replace("Is_Localized_In", "Localization"))
    verdict = validate("seedev-full", system, against=reference, profile=profile)
    assert [item.code for item in verdict.findings] == [code]
    assert verdict.passed is (profile == "official" and not rejected)

"""The rules of SeeDev where they might say too much, or the same thing twice.

That each code is raised, and where, is held by tests/unit/test_catalogue.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hlteval import Finding, validate
from hlteval.validators.seedev.schema import schema

REFERENCE = Path(__file__).parents[3] / "fixtures" / "standoff" / "valid"
BINDING = "E1\tBinding Functional_Molecule:T1 Molecule:T2\n"
Found = Callable[..., list[str]]


@pytest.fixture
def findings(tmp_path: Path) -> Callable[..., list[Finding]]:
    """What is found in the first of two documents of a submission."""

    def find(first: str, *, second: str = "", task: str = "full") -> list[Finding]:
        folder = tmp_path / "system"
        folder.mkdir(exist_ok=True)
        (folder / "seed-1.a2").write_text(first, "utf-8")
        event = {"full": "Binding", "binary": "Binds_To"}[task]
        other = f"E1\t{event} Functional_Molecule:T2 Molecule:T7\n"
        (folder / "seed-2.a2").write_text(second or other, "utf-8")
        verdict = validate(f"seedev-{task}", str(folder), against=str(REFERENCE / task))
        return [f for f in verdict.findings if (f.file or "").endswith("seed-1.a2")]

    return find


@pytest.fixture
def found(findings: Callable[..., list[Finding]]) -> Found:
    """The same, as `line:column code`."""

    def find(first: str, *, second: str = "", task: str = "full") -> list[str]:
        listed = findings(first, second=second, task=task)
        return [f"{f.span.line}:{f.span.column} {f.code}" if f.span else f.code for f in listed]

    return find


@pytest.mark.parametrize(
    "text",
    [
        "E1\tBinding Molecule:T2 Functional_Molecule:T1\n",
        "E1\tBinding Functional_Molecule:T1 Molecule:T2\r\n\r\n",
        "  E1\tBinding   Functional_Molecule:T1  Molecule:T2 \n",
        # what an event refers to may stand behind it
        f"E2\tLocalization Process:T9 Target_Tissue:T3 Prerequisite_Event:E1\n{BINDING}",
        # two events that say the same are no repetition if only one is negated
        f"{BINDING}E2\tBinding Functional_Molecule:T1 Molecule:T2\nM1\tNegation Annotation:E2\n",
        # or if their optional arguments differ
        f"{BINDING}E2\tBinding Functional_Molecule:T1 Molecule:T2 Tissue:T3\n",
        # the arguments of most types do not commute
        "E1\tInteraction Agent:T1 Target:T10\nE2\tInteraction Agent:T10 Target:T1\n",
        # and mirrored events with other optional arguments are two
        "E1\tFunctional_Equivalence Element1:T1 Element2:T10 Tissue:T3\n"
        "E2\tFunctional_Equivalence Element1:T10 Element2:T1 Tissue:T4\n",
        # an entity may fill an optional role besides a mandatory one
        "E1\tInteraction Agent:T8 Target:T9 Hormone:T8\n",
        # all six optional roles
        f"{BINDING}E2\tRegulation_Of_Process Agent:T2 Process:T9 Tissue:T3 Developmental_Stage:T5 "
        "Organism_Genotype:T6 Environmental_Factor:T7 Hormone:T8 Prerequisite_Event:E1\n",
        # a role that takes anything
        "E1\tRegulation_Of_Expression Agent:T7 DNA:T2\n",
        # alternatives
        "E1\tLocalization Process:T9 Target_Tissue:T3\n",
        "E1\tPresence_In_Genotype Element:T5 Genotype:T6\n",
        "E1\tPresence_In_Genotype Element:T3 Genotype:T6\n",
    ],
)  # fmt: skip
def test_what_is_right_is_left_in_peace(text: str, found: Found) -> None:
    assert found(text) == []


def test_a_record_that_cannot_be_read_raises_nothing_else(found: Found) -> None:
    assert found(BINDING + "E2\tLocalization Functional_Molecule:T1 Target_Tissue\n") == [
        "2:53 STD104"
    ]
    # Neither does what refers to it: it is there, once it can be read.
    text = BINDING + "E2\tLocalization\nM1\tNegation Annotation:E2\n"
    assert found(text) == ["2:16 STD104"]


def test_a_reference_to_what_could_not_be_read_is_not_reported(found: Found) -> None:
    for line in ("E2\tLocalization", "E2 Localization Target_Tissue:T3"):
        codes = found(f"{BINDING}{line}\nM1\tNegation Annotation:E2\n")
        assert len(codes) == 1
        assert "STD302" not in codes[0]


def test_an_unknown_type_raises_nothing_about_its_roles(found: Found) -> None:
    assert found("E1\tBinds Nobody:T1 Knows:T1\n") == ["1:4 SEE101"]


def test_an_unresolved_argument_is_of_no_wrong_type(found: Found) -> None:
    assert found("E1\tBinding Functional_Molecule:T99 Molecule:T98\n") == [
        "1:32 STD302",
        "1:45 STD302",
    ]


def test_a_role_that_is_wrong_is_not_missing_as_well(found: Found) -> None:
    assert found("E1\tBinding Functional_Molecule:T1 Molekule:T2\n") == ["1:35 SEE201"]
    assert found("E1\tBinding Hormone:T8\n") == ["1:4 SEE202", "1:4 SEE202"]


def test_of_a_role_given_twice_the_last_is_judged(found: Found) -> None:
    text = "E1\tBinding Functional_Molecule:T3 Functional_Molecule:T1 Molecule:T2\n"
    assert found(text) == ["1:12 SEE206"]
    text = "E1\tBinding Functional_Molecule:T1 Functional_Molecule:T3 Molecule:T2\n"
    assert found(text) == ["1:12 SEE206", "1:55 SEE205"]


def test_each_repetition_is_told_against_the_first(findings: Callable[..., list[Finding]]) -> None:
    lines = [BINDING.replace("E1", f"E{number}") for number in (1, 2, 3)]
    told = [finding.message for finding in findings("".join(lines))]
    assert told == ["E2 duplicates E1", "E3 duplicates E1"]


def test_a_mirrored_repetition_is_told_once(found: Found) -> None:
    one = "Functional_Equivalence Element1:T1 Element2:T10"
    two = "Functional_Equivalence Element1:T10 Element2:T1"
    assert found(f"E1\t{one}\nE2\t{two}\n") == ["2:1 SEE302"]
    assert found(f"E1\t{one}\nE2\t{one}\n") == ["2:1 SEE301"]
    assert found(f"E1\t{one}\nE2\t{two}\nE3\t{two}\n") == ["2:1 SEE302", "3:1 SEE301"]


def test_events_that_depend_on_each_other_are_told_once(found: Found) -> None:
    lines = [
        f"E{at}\tBinding Functional_Molecule:T1 Molecule:T2 Prerequisite_Event:E{at % 4 + 1}\n"
        for at in range(1, 5)
    ]
    assert found("".join(lines)) == ["4:66 SEE304"]
    chain = "".join(lines).replace("Prerequisite_Event:E1", "Tissue:T3")
    assert found(chain) == []


def test_a_deep_chain_of_events_is_no_matter(found: Found) -> None:
    lines = [
        f"E{at}\tBinding Functional_Molecule:T1 Molecule:T2 Prerequisite_Event:E{at + 1}\n"
        for at in range(1, 3000)
    ]
    assert found("".join(lines) + "E3000\tBinding Functional_Molecule:T1 Molecule:T2\n") == []


def test_identifiers_are_of_their_document(found: Found) -> None:
    """T10 is an entity of the first document only, E2 an event of the second."""
    second = "E2\tBinding Functional_Molecule:T10 Molecule:T7\n"
    assert found(f"{BINDING}M1\tNegation Annotation:E2\n", second=second) == ["2:24 STD302"]


def test_a_submission_to_the_other_task_is_told_once(found: Found) -> None:
    binary = "E1\tBinds_To Functional_Molecule:T1 Molecule:T2\n"
    both = binary + binary.replace("E1", "E2").replace("Binds_To", "Is_Localized_In")
    assert found(both, second=binary) == ["1:4 SEE103"]
    # With an event of this task among them, each is told for itself.
    assert found(both + BINDING.replace("E1", "E3"), second=binary) == ["1:4 SEE101", "2:4 SEE101"]
    assert found(BINDING, second=BINDING, task="binary") == ["1:4 SEE103"]


def test_the_other_name_of_a_type_is_suggested(findings: Callable[..., list[Finding]]) -> None:
    (one,) = findings("E1\tBinds_To Functional_Molecule:T1 Molecule:T2\n")
    assert one.help == "use Binding; Binds_To is a type of seedev-binary"
    (two,) = findings("E1\tIs_Linked_To Agent1:T1 Agent2:T2\n")
    assert two.help == "remove the line; Is_Linked_To is a type of seedev-binary"
    (three,) = findings("E1\tLocalizatoin Functional_Molecule:T1 Target_Tissue:T3\n")
    assert three.help == "did you mean Localization?"


def test_binary_has_no_negation(found: Found) -> None:
    text = "E1\tBinds_To Functional_Molecule:T1 Molecule:T2\nM1\tNegation Annotation:E1\n"
    assert found(text, task="binary") == ["2:4 SEE101"]
    text = "E1\tBinds_To Functional_Molecule:T1 Molecule:T2 Tissue:T3\n"
    assert found(text, task="binary") == ["1:48 SEE201"]


def test_a_malformed_equivalence_of_a_submission_does_not_block(
    findings: Callable[..., list[Finding]],
) -> None:
    """The official software takes no notice of such lines, whatever they hold."""
    (finding,) = findings(f"{BINDING}*\tequiv T3 T4\n")
    assert (finding.code, finding.blocking) == ("STD108", False)


def test_an_equivalence_of_many_members_is_told_once(found: Found) -> None:
    assert found(f"{BINDING}*\tEquiv T3 T4 T5 T6\n") == ["2:1 SEE309"]


def test_the_schemas() -> None:
    full, binary = schema("full"), schema("binary")
    assert (len(full.events), len(binary.events), len(full.mentions)) == (21, 22, 16)
    assert full.mentions == binary.mentions
    assert len(full.conditions) == 6
    assert binary.conditions == ()
    assert (full.modifiers, binary.modifiers) == ({"Negation": 1}, {})
    assert {name for name, event in binary.events.items() if event.commutative} == {
        "Is_Linked_To",
        "Is_Functionally_Equivalent_To",
        "Has_Sequence_Identical_To",
    }
    assert {name for name, event in full.events.items() if event.commutative} == {
        "Functional_Equivalence",
        "Sequence_Identity",
    }
    assert full.elsewhere["Is_Linked_To"] is None
    assert binary.elsewhere["Binding"] == "Binds_To"
    assert not set(full.events["Presence_In_Genotype"].roles) & set(full.conditions)


def test_a_modifier_in_binary_is_to_be_removed(findings: Callable[..., list[Finding]]) -> None:
    text = "E1\tBinds_To Functional_Molecule:T1 Molecule:T2\nM1\tNegation Annotation:E1\n"
    (only,) = findings(text, task="binary")
    assert (only.code, only.help) == (
        "SEE101",
        "remove the line; Negation is a type of seedev-full",
    )


def test_an_identifier_with_punctuation_is_recognized(
    findings: Callable[..., list[Finding]],
) -> None:
    (only,) = findings("E1\tBinding Functional_Molecule:T1, Molecule:T2\n")
    assert (only.code, only.span and only.span.column) == ("STD302", 32)
    assert only.help == "refer to an identifier of seed-1.a1 or of this file; did you mean T1?"


def test_a_normalisation_is_no_modifier(findings: Callable[..., list[Finding]]) -> None:
    (only,) = findings(f"{BINDING}N1\tNegation Annotation:E1 Referent:E1\n")
    assert only.code == "SEE102"
    assert only.message == "Negation is the type of a modifier, but N1 is a normalisation"


def test_an_optional_argument_in_binary_is_to_be_removed(
    findings: Callable[..., list[Finding]],
) -> None:
    event = "E1\tIs_Localized_In Functional_Molecule:T1 Target_Tissue:T3"
    for argument in ("Tissue:T4", "Hormone:T8", "tissue:T4"):
        (finding,) = findings(f"{event} {argument}\n", task="binary")
        assert finding.code == "SEE201"
        assert finding.help == "remove the argument; seedev-binary has no optional arguments"
    (finding,) = findings(f"{event} Target_Tissu:T4\n", task="binary")
    assert finding.help.startswith("did you mean Target_Tissue?")


def test_an_optional_argument_of_a_type_without_any_is_to_be_removed(
    findings: Callable[..., list[Finding]],
) -> None:
    (finding,) = findings("E1\tPresence_In_Genotype Element:T5 Genotype:T6 Tissue:T3\n")
    assert finding.help == "remove the argument; Presence_In_Genotype has no optional arguments"


def test_lines_of_the_entities_in_a_prediction_are_one_finding(
    findings: Callable[..., list[Finding]],
) -> None:
    entities = (REFERENCE / "full" / "seed-1.a1").read_text("utf-8")
    listed = findings(f"{BINDING}{entities}")
    assert [(f.code, f.span and f.span.line) for f in listed] == [("STD301", 2)]
    assert listed[0].help == "remove the lines of the .a1 file from this file"
    assert listed[0].message.endswith("in the .a1, as are 10 more text spans of this file")
    assert sorted(f.code for f in findings(f"{BINDING}{BINDING}")) == ["SEE301", "STD301"]
    # A text span of its own with the identifier of a given one is to be renumbered.
    (only,) = findings(f"{BINDING}T1\tTissue 44 50\tembryo\n")
    assert (only.code, only.help) == (
        "STD301",
        "give each annotation of a document a unique identifier",
    )


def test_exchanged_roles_are_named(findings: Callable[..., list[Finding]]) -> None:
    """T1 is a gene, T3 a tissue: both are in the role of the other."""
    text = "E1\tLocalization Functional_Molecule:T3 Target_Tissue:T1\n"
    wrong = findings(text)
    assert [each.code for each in wrong] == ["SEE205", "SEE205"]
    assert [each.help for each in wrong] == [
        "exchange the fillers of Functional_Molecule and Target_Tissue",
        "exchange the fillers of Target_Tissue and Functional_Molecule",
    ]
    both = findings("E1\tLocalization Functional_Molecule:T1 Target_Tissue:T1\n")
    (single,) = [each for each in both if each.code == "SEE205"]
    assert single.help == "use a filler of type Tissue"


def test_an_unknown_type_lists_the_types(findings: Callable[..., list[Finding]]) -> None:
    (unknown,) = findings("E1\tXyzzyqqq Functional_Molecule:T1 Molecule:T2\n")
    names = ", ".join(sorted(schema("full").events))
    assert unknown.help == f"the types of seedev-full are {names}"

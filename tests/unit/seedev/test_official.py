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
CRASHES = [SECOND.replace(":", ": "), SECOND.replace(":", " ")]


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


@pytest.mark.sampled(4)
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


def write(folder, **files):
    """Puts files of bytes, named by document and suffix, over those of a side."""
    for name, content in files.items():
        document, _, suffix = name.rpartition("_")
        (Path(folder) / f"{document}.{suffix}").write_bytes(content)


def scores_of(reference, system, *, lenient=False):
    scored = score("seedev-binary", reference, system, profile="official", lenient=lenient)
    return {name: scored.metrics[name] for name in ("references", "predictions", "recall")}


def test_a_reference_that_the_software_refuses_blocks(sides):
    reference, system = sides(SECOND)
    write(reference, d_a2=(FIRST + SECOND.replace("Is_Localized_In", "Bindng")).encode())
    with pytest.raises(Refused) as refused:
        score("seedev-binary", reference, system, profile="official")
    assert {(item.side, item.code) for item in refused.value.blocking} == {("reference", "SEE101")}
    verdict = validate("seedev-binary", system, against=reference, profile="official")
    assert (verdict.passed, verdict.decided) == (False, False)
    # E2 has another type than that of the reference: one of two is right.
    assert scores_of(reference, system, lenient=True)["recall"] == 0.5
    assert score("seedev-binary", reference, system).metrics["recall"] == 0.5


def test_bytes_that_are_not_text_are_read_as_replacement_characters(sides):
    reference, system = sides("")
    line = SECOND.replace("T3", "T\x003").encode().replace(b"\x00", b"\xff")
    write(system, d_a2=FIRST.encode() + line)
    verdict = validate("seedev-binary", system, against=reference, profile="official")
    assert verdict.passed
    assert "SRC201" in verdict.by_code
    # FIRST, the event with T\ufffd3, and the placeholder of T\ufffd3: three annotations, one right.
    expected = {"references": 2, "predictions": 3, "recall": 0.5}
    assert scores_of(reference, system) == expected
    assert not validate("seedev-binary", system, against=reference).passed
    with pytest.raises(Refused):
        score("seedev-binary", reference, system)


def test_a_wrong_byte_in_a_type_is_an_unknown_type(sides):
    reference, system = sides("")
    write(system, d_a2=FIRST.encode() + SECOND.encode().replace(b"Is_", b"Is\xe9"))
    with pytest.raises(Refused) as refused:
        score("seedev-binary", reference, system, profile="official")
    assert {item.code for item in refused.value.blocking} == {"SEE101"}


@pytest.mark.parametrize(
    "line",
    [b"E1\tBindng Molecule:T1\n", b"E1\tfoo bar\n", b"T9\tGene 9 3\tx\n", b"\xff\n"],
    ids=["type", "no arguments", "reversed", "bytes"],
)
def test_errors_in_unknown_documents_are_ignored(line, sides):
    reference, system = sides(SECOND)
    write(system, other_a2=line)
    verdict = validate("seedev-binary", system, against=reference, profile="official")
    assert verdict.passed
    assert set(verdict.by_code) == {"SEE402"}
    assert scores_of(reference, system) == {"references": 2, "predictions": 2, "recall": 1}
    assert not validate("seedev-binary", system, against=reference).passed


@pytest.mark.parametrize(
    ("offset", "code"),
    [("2147483647", "STD103"), ("0000000000005", "STD103"), ("2147483648", "STD109")],
)
def test_the_software_crashes_only_beyond_its_integers(offset, code, sides):
    reference, system = sides(SECOND + f"T9\tGene 0 {offset}\tx\n")
    verdict = validate("seedev-binary", system, against=reference, profile="official")
    assert code in verdict.by_code
    if code == "STD103":
        assert verdict.passed
        # Two events, and the text span: three annotations.
        assert scores_of(reference, system)["predictions"] == 3
    else:
        assert not verdict.passed
        with pytest.raises(Refused, match="no official score"):
            scores_of(reference, system, lenient=True)


def test_a_byte_order_mark_loses_an_event_of_the_reference_too(sides):
    reference, system = sides(SECOND)
    write(reference, d_a2=b"\xef\xbb\xbf" + (FIRST + SECOND).encode())
    verdict = validate("seedev-binary", system, against=reference, profile="official")
    assert verdict.passed
    found = [item for item in verdict.findings if item.code == "STD102"]
    assert [(item.side, item.message, item.span.line) for item in found] == [
        ("reference", r"unknown kind of annotation '\ufeffE1'", 1)
    ]
    # The first record is an annotation of unknown kind: two references, one of them an event.
    assert scores_of(reference, system) == {"references": 2, "predictions": 2, "recall": 0.5}


def test_a_byte_order_mark_of_a_submission_is_reported_as_the_software_reads_it(sides):
    reference, system = sides("\ufeff" + SECOND)
    official = validate("seedev-binary", system, against=reference, profile="official")
    assert official.by_code == {"SRC202": 1, "STD102": 1}
    plan = validate("seedev-binary", system, against=reference)
    assert plan.by_code == {"SRC202": 1}


def test_an_unreadable_entity_is_one_thing_for_both_sides(sides):
    reference, system = sides(SECOND)
    write(reference, d_a1=GIVEN.replace("Tissue 10 14\t", "Tissue 10\t").encode())
    verdict = validate("seedev-binary", system, against=reference, profile="official")
    assert (verdict.passed, verdict.decided) == (True, True)
    assert scores_of(reference, system) == {"references": 2, "predictions": 2, "recall": 1}


def test_what_stands_for_a_dangling_identifier_of_the_reference_is_missed(sides):
    reference, system = sides(SECOND)
    write(reference, d_a2=(FIRST + SECOND.replace("T3", "T99")).encode())
    # Two events and the annotation for T99; FIRST is found.
    assert scores_of(reference, system) == {"references": 3, "predictions": 2, "recall": 1 / 3}


def test_documents_without_a_text_are_unknown(sides):
    reference, system = sides(SECOND)
    for side in (reference, system):
        write(side, other_a2=FIRST.encode())
    verdict = validate("seedev-binary", system, against=reference, profile="official")
    assert verdict.passed
    assert set(verdict.by_code) == {"SEE402"}
    assert scores_of(reference, system) == {"references": 2, "predictions": 2, "recall": 1}
    # In `plan`, the document is one of the reference: three of three events.
    assert score("seedev-binary", reference, system).metrics["references"] == 3


@pytest.mark.parametrize(
    "line",
    [SECOND.replace(" T", "\u2028T"), SECOND.replace("T3", "T3\x85")],
    ids=["separator", "next-line"],
)
def test_line_separators_of_unicode_end_no_pattern(line, sides):
    reference, system = sides("")
    Path(system, "d.a2").write_text(FIRST + line, encoding="utf-8")
    expected = {"references": 2, "predictions": 2, "recall": 0.5}
    assert scores_of(reference, system) == expected


WHERE = "E1\tExists_In_Genotype Genotype:T1 {}\n"


@pytest.mark.parametrize(
    ("reference", "system", "right"),
    [
        ("Molecule:T2 Element:T3", "Molecule:T2 Element:T3", 1),
        # Molecule gets the name of Element, and is not compared
        ("Molecule:T2 Element:T3", "Molecule:T4 Element:T3", 1),
        ("Molecule:T2 Element:T3", "Element:T3", 1),
        ("Molecule:T2 Element:T3", "Molecule:T2 Element:T4", 0),
        # without Element there is nothing that could be compared
        ("Molecule:T2", "Molecule:T2", 0),
    ],
)
def test_of_two_roles_that_get_one_name_the_second_is_compared(reference, system, right, tmp_path):
    given = "T1\tGenotype 0 3\tabc\nT2\tGene 4 7\tdef\nT3\tTissue 8 11\tghi\nT4\tGene 12 15\tjkl\n"
    for name, arguments in (("reference", reference), ("system", system)):
        (tmp_path / name).mkdir()
        write(str(tmp_path / name), d_a2=WHERE.format(arguments).encode())
    write(str(tmp_path / "reference"), d_a1=given.encode(), d_txt=b"abc def ghi jkl\n")
    sides = str(tmp_path / "reference"), str(tmp_path / "system")
    scores = score("seedev-binary", *sides, profile="official", lenient=True)
    found = {
        row["measure"]: row["value"]
        for row in scores.tables["scorings"].to_dicts()
        if row["evaluation"] == "Cluster: Where and When"
    }
    assert [found["Precision"], found["Recall"]] == [right, right]
    assert found["F1"] == (1 if right else None)

"""The validation probes: what the official software says of each planted fault, and what we say.

Each probe is the dev gold with a few files put over it. The expected places were read off the
probes' own files: code, line, column, and the text that is marked there.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hlteval import Finding, Refused, Scores, score, validate

FULL = "SeeDev-full-9807814-1.a2"
BINARY = "SeeDev-binary-9807814-1.a2"
LOCALIZATION = "E50\tLocalization Functional_Molecule:T27 Target_Tissue:T25"
T900 = "T900\tTissue 0 3\tThe"
STATED = {
    "f00_perfect": [],
    "f01_missing_doc": [("SEE401", 0, 0, "")],
    "f02_empty_file": [("SEE403", 0, 0, "")],
    "f03_unknown_doc": [("SEE402", 0, 0, "")],
    "f04_no_tab": [("STD101", 12, 4, " ")],
    "f05_unknown_kind": [("STD102", 12, 1, "X1")],
    "f06_equiv": [("SEE309", 12, 1, "*\tEquiv T20 T21")],
    "f07_ill_relation": [("STD104", 12, 17, "")],
    "f08_no_arguments": [("STD105", 12, 18, "foo bar")],
    "f09_dup_arg": [("SEE206", 12, 18, "Functional_Molecule:T27")],
    "f10_unresolved_ref": [("STD302", 12, 38, "T999")],
    "f11_dup_id": [("STD301", 12, 1, "E1")],
    "f12_missing_mandatory": [("SEE202", 12, 5, "Regulation_Of_Process")],
    "f13_missing_alternative": [("SEE203", 12, 5, "Localization")],
    "f14_exclusive": [("SEE204", 12, 5, "Localization")],
    "f15_illegal_role": [("SEE201", 12, 60, "Foo")],
    "f16_arg_type": [("SEE205", 12, 56, "T1")],
    "f17_opt_type": [("SEE205", 12, 68, "T24")],
    "f18_unknown_event_type": [("SEE101", 12, 5, "Binds_To")],
    "f19_presence_in_genotype_optional": [("SEE201", 12, 52, "Tissue")],
    "f20_two_negations": [("SEE208", 13, 24, "E3")],
    "f21_mod_on_entity": [("SEE207", 12, 24, "T1")],
    "f22_mod_unknown_type": [("SEE101", 12, 4, "Speculation")],
    "f23_mod_2013_syntax": [("STD106", 12, 13, "E3")],
    "f24_mod_unresolved": [("STD302", 12, 24, "E999")],
    "f25_norm": [("SEE101", 12, 4, "OntoBiotope")],
    "f26_norm_ill": [("SEE101", 12, 4, "OntoBiotope"), ("STD107", 12, 16, "T1")],
    "f27_T_in_a2": [("SEE307", 12, 1, T900)],
    "f28_T_unknown_type": [
        ("SEE307", 12, 1, T900.replace("Tissue", "Foo")),
        ("SEE101", 12, 6, "Foo"),
    ],
    "f29_T_wrong_control_text": [
        ("SEE307", 12, 1, T900.replace("The", "XYZ")),
        ("STD206", 12, 17, "XYZ"),
    ],
    "f30_T_overreach": [
        ("SEE307", 12, 1, "T900\tTissue 0 99999\tXYZ"),
        ("STD202", 12, 13, "0 99999"),
    ],
    "f31_T_overlap": [
        ("SEE307", 12, 1, "T900\tTissue 0 5;3 9\tXYZ"),
        ("STD203", 12, 13, "0 5;3 9"),
        ("STD206", 12, 21, "XYZ"),
    ],
    "f32_T_unordered": [
        ("SEE307", 12, 1, "T900\tTissue 10 15;0 5\tXYZ"),
        ("STD201", 12, 13, "10 15;0 5"),
        ("STD206", 12, 23, "XYZ"),
    ],
    "f33_T_ill": [("STD103", 12, 14, "\t")],
    "f34_T_reversed": [("SEE307", 12, 1, "T900\tTissue 9 3\tXYZ"), ("STD204", 12, 13, "9 3")],
    "f35_T_dup_of_a1": [("STD301", 12, 1, "T1")],
    "f36_exact_duplicate_event": [
        ("SEE301", 12, 1, "E50\tRegulation_Of_Process Agent:T9 Process:T10")
    ],
    "f37_self_reference": [("SEE303", 12, 37, "E50")],
    "f38_same_arg_twice": [("SEE305", 12, 50, "T21")],
    "f39_R_id_for_event": [
        ("SEE301", 12, 1, "R1\tRegulation_Of_Process Agent:T9 Process:T10"),
        ("SEE308", 12, 1, "R1"),
    ],
    "f40_event_with_trigger": [
        ("SEE301", 12, 1, "E50\tRegulation_Of_Process:T9 Agent:T9 Process:T10"),
        ("SEE104", 12, 27, "T9"),
    ],
    "f41_T_no_fragments_empty_len": [("STD103", 12, 16, "")],  # the tab at its end is trimmed
    "f42_relation_typed_as_entity": [("SEE102", 12, 5, "Tissue")],
    "f43_prereq_cycle": [("SEE304", 13, 79, "E50")],
    "f44_crlf": [],
    "f45_spaces_tabs_double": [
        ("SEE301", 12, 1, "E50\tRegulation_Of_Process  Agent:T9   Process:T10")
    ],
    "f46_modifier_trailing": [("STD106", 12, 26, " ")],
    "f47_prereq_bad_type": [("SEE205", 12, 79, "E5")],
    "f48_comment_line": [("STD102", 12, 1, "#1")],  # its type follows: no annotation, no type
    "b00_perfect": [],
    "b01_unresolved_ref": [("STD302", 14, 41, "T999")],
    "b02_T_in_a2": [("SEE307", 14, 1, T900)],
    "b03_T_dup_of_a1": [("STD301", 14, 1, "T1")],
    "b04_modifier": [("SEE101", 14, 4, "Negation")],
    "b05_modifier_on_exists": [("SEE101", 14, 4, "Negation"), ("SEE101", 15, 4, "Negation")],
    "b06_dup_event": [("SEE301", 14, 1, "E50\tRegulates_Process Agent:T9 Process:T10")],
    "b07_dup_id": [
        ("SEE301", 14, 1, "E1\tRegulates_Process Agent:T9 Process:T10"),
        ("STD301", 14, 1, "E1"),
    ],
    "b08_commuted": [],
    "b09_seqid_for_funceq": [],
    "b10_missing_doc": [("SEE401", 0, 0, "")],
    "b11_optional_arg": [("SEE201", 14, 63, "Organism_Genotype")],
    "b12_unknown_kind": [("STD102", 14, 1, "X1")],
    "b13_no_arguments": [("STD105", 14, 21, "foo bar")],
    "b14_no_tab": [("STD101", 14, 1, "foo")],
    "b15_equiv": [("SEE309", 14, 1, "*\tEquiv T20 T21")],
    "b16_cycle": [("SEE303", 14, 44, "E50")],
    "b17_linked": [],
    "b18_full_type_name": [("SEE101", 14, 5, "Binding")],
}
CLEAN = {"f00_perfect", "f44_crlf", "f45_spaces_tabs_double", "b00_perfect", "b08_commuted"}
CLEAN |= {"b09_seqid_for_funceq", "b17_linked"}
CRASHES = {"f08_no_arguments", "f34_T_reversed", "b13_no_arguments"}
"""Where the software gives no number, not even with -force."""

Probe = Callable[[str], tuple[str, Path, Path]]


@pytest.fixture(scope="module")
def probe(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Probe:
    """Makes the folder of a probe; gives its task, the gold it is checked against, and itself."""
    folder = shared / "cases" / "seedev"
    root = tmp_path_factory.mktemp("probes")
    for name in ("full", "binary"):
        archive = folder / "corpora" / f"BioNLP-ST-2016_SeeDev-{name}_dev.zip"
        zipfile.ZipFile(archive).extractall(root)

    def make(name: str) -> tuple[str, Path, Path]:
        task = "full" if name.startswith("f") else "binary"
        gold, made = root / f"BioNLP-ST-2016_SeeDev-{task}_dev", root / name
        if not made.exists():
            made.mkdir()
            for file in gold.glob("*.a2"):
                shutil.copyfile(file, made / file.name)
            overlay = folder / "checks" / name
            removed = overlay / "REMOVED.txt"
            for gone in removed.read_text().split() if removed.exists() else []:
                (made / f"{gone.removesuffix('.a2')}.a2").unlink()
            for file in overlay.glob("*.a2"):
                shutil.copyfile(file, made / file.name)
        return f"seedev-{task}", gold, made

    return make


@pytest.fixture(scope="module")
def results(shared: Path) -> dict[str, str]:
    """What the software said of each probe."""
    text = (shared / "cases" / "seedev" / "checks" / "RESULTS.txt").read_text("utf-8")
    blocks = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    return {block.split()[0]: block for block in blocks}


def said(block: str, what: str) -> tuple[int, dict[str, float]] | None:
    """The exit code of one of its runs, and its scores where it gave any."""
    match = re.search(rf"^\[{what}\] exit=(\d) *(.*)$", block, re.MULTILINE)
    if match is None:
        return None
    values = re.findall(r"([A-Z][A-Za-z0-9 ]*)=([\w.]+)", match[2])
    return int(match[1]), {name: float(value) for name, value in values}


def scored(probe: Probe, name: str, *, lenient: bool) -> Scores:
    task, gold, made = probe(name)
    return score(task, str(gold), str(made), profile="official", lenient=lenient)


def main_scoring(scores: Scores) -> dict[str, float]:
    rows = scores.tables["scorings"].head(6)
    return dict(rows.select("measure", "value").iter_rows())


def test_there_are_no_other_probes(results: dict[str, str]) -> None:
    assert results.keys() == STATED.keys()
    assert len(STATED) == 68


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", STATED)
def test_official_says_what_the_software_says(
    name: str, probe: Probe, results: dict[str, str]
) -> None:
    check, plain = said(results[name], "check"), said(results[name], "evaluate")
    forced = said(results[name], "force")
    assert check is not None
    assert plain is not None
    assert check[0] == plain[0]
    assert (plain[0] == 1 and forced is None) == (name in CRASHES)
    if plain[0] == 0:
        scores = scored(probe, name, lenient=False)
        assert scores.verdict.passed
        assert main_scoring(scores) == pytest.approx(plain[1], abs=1e-9)
        return
    with pytest.raises(Refused) as refused:
        scored(probe, name, lenient=False)
    assert not refused.value.verdict.passed
    if forced is None:
        with pytest.raises(Refused, match="no official score"):
            scored(probe, name, lenient=True)
    else:
        scores = scored(probe, name, lenient=True)
        assert not scores.verdict.passed
        assert main_scoring(scores) == pytest.approx(forced[1], abs=1e-9)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", STATED)
def test_each_fault_is_found_where_it_is(name: str, probe: Probe) -> None:
    task, gold, made = probe(name)
    found = validate(task, str(made), against=str(gold))
    planted = {str(made), *(str(made / file) for file in (FULL, BINARY, "SeeDev-full-99999-1.a2"))}
    about = [finding for finding in found.findings if finding.file in planted]
    assert [placed(finding) for finding in about] == sorted(
        STATED[name], key=lambda fault: (fault[1], fault[2], fault[0])
    )
    # The gold repeats itself now and then; nothing else may be found in the other files.
    rest = {finding.code for finding in found.findings if finding not in about}
    assert rest <= {"SEE301", "SEE302", "SEE305"}
    errors = [finding for finding in found.findings if finding.severity == "error"]
    assert found.passed is not bool(errors)
    assert found.passed or name not in CLEAN


def placed(finding: Finding) -> tuple[str, int, int, str]:
    """A finding as it is stated above; what is marked is read from the file itself."""
    if finding.span is None or finding.file is None:
        return finding.code, 0, 0, ""
    span = finding.span
    line = Path(finding.file).read_bytes().decode().split("\n")[span.line - 1]
    marked = line[span.column - 1 : span.end_column - 1]
    return finding.code, span.line, span.column, marked

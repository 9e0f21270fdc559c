"""A submission as a package: which files are missed, which are not read, and what may be meant."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hlteval import Finding, validate

REFERENCE = Path(__file__).parents[3] / "fixtures" / "standoff" / "valid" / "full"
ONE = "E1\tBinding Functional_Molecule:T1 Molecule:T2\n"
TWO = "E1\tBinding Functional_Molecule:T2 Molecule:T7\n"
NOT_READ = "remove it; only files whose names end in .a2 are read as predictions"
Found = Callable[[Mapping[str, str]], list[Finding]]


@pytest.fixture
def found(tmp_path: Path) -> Found:
    """What is found in a folder of files."""

    def find(files: Mapping[str, str]) -> list[Finding]:
        for name, text in files.items():
            path = tmp_path / "system" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        verdict = validate("seedev-full", str(tmp_path / "system"), against=str(REFERENCE))
        return list(verdict.findings)

    return find


def codes_files_and_hints(findings: list[Finding]) -> list[tuple[str, str, str | None]]:
    return [(f.code, (f.file or "").rpartition("/")[2], f.help) for f in findings]


def test_a_name_that_nearly_fits_is_suggested_on_both_sides(found: Found) -> None:
    assert codes_files_and_hints(found({"seed-1.a2": ONE, "sede-2.a2": TWO})) == [
        ("SEE401", "system", "rename sede-2.a2 if it is meant for this document"),
        ("SEE402", "sede-2.a2", "did you mean seed-2?"),
    ]
    assert [f.code for f in found({"seed-2.a2": TWO, "sede-2.a2": TWO})] == ["SEE402"]


def test_capital_letters_make_another_name(found: Found) -> None:
    assert codes_files_and_hints(found({"seed-1.a2": ONE, "SEED-2.a2": TWO})) == [
        ("SEE401", "system", "rename SEED-2.a2 if it is meant for this document"),
        ("SEE402", "SEED-2.a2", "did you mean seed-2?"),
    ]


def test_names_that_do_not_fit_are_not_guessed(found: Found) -> None:
    hints = [
        hint for _, _, hint in codes_files_and_hints(found({"seed-1.a2": ONE, "results.a2": TWO}))
    ]
    assert hints == [
        "add the file, or an empty one if nothing is predicted",
        "rename the file after a document of the task",
    ]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("seed-1.A2", "rename it to seed-1.a2, with a lower-case suffix"),
        ("seed-1.ann", "rename it to seed-1.a2 if it contains predictions"),
        ("seed-1.a2.bak", "rename it to seed-1.a2 if it contains predictions"),
        ("seed-1.a2~", "rename it to seed-1.a2 if it contains predictions"),
        ("log.txt", NOT_READ),
        ("seed-3.a1", NOT_READ),
    ],
)  # fmt: skip
def test_a_file_that_is_not_read_is_told(name: str, hint: str, found: Found) -> None:
    files = {"seed-1.a2": ONE, "seed-2.a2": TWO, name: ONE}
    assert codes_files_and_hints(found(files)) == [("SEE404", name, hint)]


def test_given_files_may_stay_if_they_are_the_same(found: Found) -> None:
    given = (REFERENCE / "seed-1.a1").read_text("utf-8")
    text = (REFERENCE / "seed-2.txt").read_text("utf-8")
    files = {"seed-1.a2": ONE, "seed-2.a2": TWO, "seed-1.a1": given, "seed-2.txt": f"{text}\n"}
    assert [code for code, *_ in codes_files_and_hints(found(files))] == ["SEE406", "SEE407"]


def test_a_folder_one_level_too_high(found: Found) -> None:
    findings = found({"run1/seed-1.a2": ONE, "run1/seed-2.a2": TWO})
    (finding,) = findings
    assert finding.code == "SEE410"
    assert finding.message == "all files are in the subfolder run1 (documents: 2)"
    assert re.fullmatch("use the folder /.*/system/run1", finding.help or "")


def test_one_file_in_a_folder_is_to_be_moved(found: Found) -> None:
    findings = found({"seed-1.a2": ONE, "run1/seed-2.a2": TWO})
    assert [f.code for f in findings] == ["SEE401", "SEE405"]
    assert re.fullmatch(r"move /.*/run1/seed-2\.a2 to the top level", findings[0].help or "")


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("seed-2.txt", "rename {} to seed-2.a2 if it contains predictions"),
        ("seed-2.tsv", "rename {} to seed-2.a2 if it contains predictions"),
        ("seed-2.xlsx", "save {} as plain text, as seed-2.a2, if it contains predictions"),
    ],
)
def test_a_file_with_another_suffix_may_be_the_missing_one(
    name: str, fix: str, found: Found
) -> None:
    findings = found({"seed-1.a2": ONE, name: TWO})
    assert codes_files_and_hints(findings) == [
        ("SEE401", "system", fix.format(name)),
        ("SEE404", name, fix.format("it")),
    ]


def test_a_copy_of_an_input_is_not_the_missing_file(found: Found) -> None:
    given = (REFERENCE / "seed-2.txt").read_text("utf-8")
    findings = found({"seed-1.a2": ONE, "seed-2.txt": given})
    (missing, _) = codes_files_and_hints(findings)
    assert missing == ("SEE401", "system", "add the file, or an empty one if nothing is predicted")


def test_of_an_archive_all_levels_are_read(tmp_path: Path) -> None:
    path = tmp_path / "run1.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/b/seed-1.a2", ONE)
        archive.writestr("seed-2.a2", TWO)
    assert validate("seedev-full", str(path), against=str(REFERENCE)).findings == ()


def test_one_file_is_a_submission_of_one_document(tmp_path: Path) -> None:
    (tmp_path / "seed-1.a2").write_text(ONE, "utf-8")
    verdict = validate("seedev-full", str(tmp_path / "seed-1.a2"), against=str(REFERENCE))
    (finding,) = verdict.findings
    assert (finding.code, finding.message) == ("SEE401", "missing file seed-2.a2")


def test_an_empty_file_of_a_document_without_events_is_right(tmp_path: Path) -> None:
    for folder in ("reference", "system"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "d.a2").write_text("\n")
    (tmp_path / "reference" / "d.txt").write_text("seed")
    (tmp_path / "reference" / "d.a1").write_text("T1\tTissue 0 4\tseed\n")
    verdict = validate("seedev-full", str(tmp_path / "system"), against=str(tmp_path / "reference"))
    assert verdict.findings == ()


def test_faults_of_the_reference_are_told_too(tmp_path: Path, found: Found) -> None:
    """Else a wrong reference would give wrong numbers in silence."""
    (tmp_path / "reference").mkdir()
    for file in REFERENCE.iterdir():
        (tmp_path / "reference" / file.name).write_bytes(file.read_bytes())
    (tmp_path / "reference" / "seed-1.a1").write_bytes(b"T1 Protein 12 16 LIN7\n\xff")
    found({"seed-1.a2": ONE, "seed-2.a2": TWO})
    verdict = validate("seedev-full", str(tmp_path / "system"), against=str(tmp_path / "reference"))
    (found_there,) = [item for item in verdict.findings if item.code == "SRC201"]
    assert (found_there.file or "").endswith("reference/seed-1.a1")
    assert found_there.side == "reference"

"""Machine translation: the plan's sample, the flawed copies of it, and a synthetic test set."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hlteval import validate
from hlteval.findings import Finding

NAME = "NW_ARX_UZB_164780_20140900"
FILE = f"{NAME}.ltf.xml"

# case: for each finding its code, its line (0: the file or the submission), and a word of its
# message or help; the codes of the index in the order of its column.
CASES = {
    "M01_missing_seg": [("MTV301", 0, "without a translation: segment-1")],
    "M02_extra_seg": [("MTV302", 8, "unknown segment segment-2")],
    "M03_dup_seg": [("MTV303", 8, "segment segment-0 is already")],
    "M04_docid_case": [("MTV202", 0, f"write {NAME}")],
    "M05_segid_number": [
        ("MTV301", 0, "2 segments"),
        ("MTV302", 6, "did you mean segment-0?"),
        ("MTV302", 7, "did you mean segment-1?"),
    ],
    "M06_order": [("MTV304", 7, "segment-0 comes after segment-1")],
    "M07_unescaped": [("XML101", 6, "unescaped &")],
    "M08_empty": [("MTV305", 6, "segment-0 is empty"), ("MTV305", 7, "segment-1 is empty")],
    "M09_wrongname": [("MTV102", 0, f"rename it to {FILE}")],
    "M10_nested": [("XML105", 6, "<p>"), ("XML105", 7, "<i>")],
    "M11_root": [("XML105", 4, "<refset>"), ("XML106", 3, "<mteval> is incomplete")],
    "M12_newline": [("MTV306", 6, "a line break"), ("MTV306", 8, "|||")],
    "M13_two_docs": [("MTF102", 9, "a second doc")],
    "M14_source_copied": [("MTV307", 6, "equals its source"), ("MTV307", 7, "equals its source")],
}
PASSING = {"M06_order", "M08_empty", "M12_newline", "M14_source_copied"}


@pytest.fixture(scope="module")
def cases(shared: Path) -> Path:
    return shared / "cases" / "ltf-mt-packaging"


@pytest.fixture(scope="module")
def texts(cases: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The LTF of the sample, and another document for which each submission has a translation.

    Without a document in common, a submission would be compared with nothing.
    """
    folder = tmp_path_factory.mktemp("ltf")
    for name in (FILE, "TST_SN_000001_20190716_ASTRAL001.ltf.xml"):
        shutil.copy(cases / "ltf" / name, folder)
    return folder


def found(finding: Finding) -> tuple[str, int]:
    return finding.code, finding.span.line if finding.span else 0


@pytest.mark.parametrize("name", CASES)
def test_a_flawed_submission_has_its_findings(
    cases: Path, texts: Path, tmp_path: Path, name: str
) -> None:
    submission = tmp_path / "submission"
    shutil.copytree(cases / "mt_bad" / name, submission)
    other = "TST_SN_000001_20190716_ASTRAL001"
    segments = "".join(f'<seg id="segment-{n}">x</seg>' for n in range(2))
    shell = (cases / "mt" / FILE).read_text("utf-8").partition("<mteval>")[0]
    text = f'{shell}<mteval><tstset><doc docid="{other}">{segments}</doc></tstset></mteval>\n'
    (submission / f"{other}.ltf.xml").write_text(text, "utf-8")
    verdict = validate("lorehlt-mt", str(submission), against=str(texts))
    findings = sorted(verdict.findings, key=found)
    assert [found(finding) for finding in findings] == [case[:2] for case in CASES[name]]
    for finding, (_, _, word) in zip(findings, CASES[name], strict=True):
        assert word in f"{finding.message} {finding.help}"
    assert verdict.passed == (name in PASSING)


@pytest.mark.parametrize("room", ["mt", "mt_ref"])
def test_the_sample_and_its_reference_have_no_findings(
    cases: Path, tmp_path: Path, room: str
) -> None:
    shutil.copy(cases / "ltf" / FILE, tmp_path)
    verdict = validate("lorehlt-mt", str(cases / room), against=str(tmp_path))
    assert (verdict.findings, verdict.passed) == ((), True)


@pytest.mark.parametrize("room", ["mt", "ref"])
def test_the_synthetic_set_is_valid_but_for_its_english_part(cases: Path, room: str) -> None:
    base = cases / "syn_valid"
    verdict = validate("lorehlt-mt", str(base / room), against=str(base / "ltf"))
    assert (verdict.by_code, verdict.passed) == ({"MTV204": 5}, True)
    assert (verdict.documents, verdict.records) == (24, 248)


@pytest.mark.parametrize(
    ("archive", "codes"),
    [
        ("ok_mt.tgz", []),
        ("ok_mt.zip", []),
        ("ok_mt_dotslash.tgz", []),
        ("A07_subdir.tgz", ["MTV103"]),
        ("A10_macos.zip", ["SRC107"]),
        ("A15_zip_named.tgz", ["SRC103"]),
        ("A16_truncated.tgz", ["SRC105"]),
        ("A24_zeropad_gz.tgz", ["SRC106"]),
    ],
)
def test_an_archive_is_judged_like_the_folder(
    cases: Path, tmp_path: Path, archive: str, codes: list[str]
) -> None:
    shutil.copy(cases / "ltf" / FILE, tmp_path)
    path = str(cases / "archives" / archive)
    verdict = validate("lorehlt-mt", path, against=str(tmp_path))
    assert [*verdict.by_code] == codes

"""The verdict on every archive of the shared cases that is about archives and not about a task."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.findings import Finding
from hlteval.sources import Unreadable, open_source

EXPECTED = {
    "ok_mt.tgz": "",
    "ok_mt.zip": "",
    "ok_mt_dotslash.tgz": "",
    "ok_sf.zip": "",
    "ok_edl/NIST_EDL_CP1_1.tab.tgz": "",
    "ok_ccu/CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20220531_050236.tgz": "",
    "A01_traversal.tgz": "SRC111",
    "A02_absolute.tgz": "SRC111",
    "A03_symlink.tgz": "SRC112",
    "A04_hardlink.tgz": "SRC112",
    "A05_device.tgz": "SRC112",
    "A06_fifo.tgz": "SRC112",
    "A08_dup.zip": "SRC113",
    "A09_case.zip": "SRC114",
    "A10_macos.zip": "SRC107",
    "A11_bomb.zip": "SRC124",
    "A12_nested.zip": "SRC116",
    "A13_backslash.zip": "SRC111",
    "A14_wrong_suffix.tar": "SRC102",
    "A15_zip_named.tgz": "SRC103",
    "A16_truncated.tgz": "SRC105",
    "A17_empty.tgz": "SRC104",
    "A21_zip_symlink.zip": "SRC112",
    "A22_latin1_name.tgz": "SRC117",
    "A23_many.zip": "",
    "A24_zeropad_gz.tgz": "SRC106",
}
"""The only code that is found. The other archives of the folder are faulty for a task only."""
MEMBERS = {
    "ok_mt_dotslash.tgz": ["NW_ARX_UZB_164780_20140900.ltf.xml"],
    "ok_sf.zip": ["system_output.json", "team_edl.tab"],
    "A10_macos.zip": ["NW_ARX_UZB_164780_20140900.ltf.xml"],
    "A15_zip_named.tgz": ["NW_ARX_UZB_164780_20140900.ltf.xml"],
    "A23_many.zip": [f"f{number:05}.ltf.xml" for number in range(3000)],
    "A24_zeropad_gz.tgz": ["NW_ARX_UZB_164780_20140900.ltf.xml"],
}


@pytest.fixture(scope="module")
def archives(shared: Path) -> Path:
    return shared / "cases" / "ltf-mt-packaging" / "archives"


def read(path: Path) -> tuple[list[str], list[Finding]]:
    source = open_source(str(path))
    findings = list(source.findings)
    for member in source.members:
        try:
            member.fetch()
        except Unreadable as reason:
            findings.append(reason.finding)
    return [member.name for member in source.members], findings


@pytest.mark.parametrize(("name", "code"), EXPECTED.items())
def test_the_verdict_is_the_expected_one(archives: Path, name: str, code: str) -> None:
    names, findings = read(archives / name)
    assert [finding.code for finding in findings] == ([code] if code else [])
    assert not names or not any(finding.blocking for finding in findings)


def test_warnings_and_errors_are_as_the_index_says(archives: Path, shared: Path) -> None:
    """The second column of the index: valid, warning or invalid."""
    index = (shared / "cases" / "ltf-mt-packaging" / "INDEX.md").read_text()
    verdicts = dict(
        (cell.strip() for cell in line.split("|")[1:3])
        for line in index.splitlines()
        if line.startswith("| archives/")
    )
    severities = {"valid": set(), "warning": {"warning"}, "invalid": {"error"}}
    for name in EXPECTED.keys() - {"A23_many.zip"}:  # a warning only where the limit is lower
        expected = severities[verdicts[f"archives/{name}"]]
        assert {finding.severity.value for finding in read(archives / name)[1]} == expected, name


@pytest.mark.parametrize("name", MEMBERS)
def test_the_members_that_are_read(archives: Path, name: str) -> None:
    assert read(archives / name)[0] == MEMBERS[name]


@pytest.mark.parametrize("kind", ["tgz", "zip"])
def test_the_content_is_that_of_the_document(archives: Path, shared: Path, kind: str) -> None:
    (member,) = open_source(str(archives / f"ok_mt.{kind}")).members
    assert member.size == len(member.fetch()) == 303
    assert member.fetch().startswith(b"<?xml")

"""Every code of this layer has a fixture that raises it and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.findings import Finding, catalogue
from hlteval.sources import Unreadable, decode, open_source

FIXTURES = Path(__file__).parents[3] / "fixtures" / "source" / "invalid"
FILES = sorted(FIXTURES.iterdir())
ELSEWHERE = {
    "SRC108": "a file that vanishes (test_folders)",
    "SRC109": "a pipe (test_folders)",
    "SRC110": "a link (test_folders)",
    "SRC121": "thousands of members, or a lower limit (test_limits)",
    "SRC122": "64 MiB, or a lower limit (test_limits)",
    "SRC123": "1 GiB, or a lower limit (test_limits)",
    "SRC125": "2 GiB (test_limits)",
    "SRC126": "300,000 files, or a lower limit (test_limits)",
    "SRC204": "another encoding than UTF-8 (test_decoding)",
    **dict.fromkeys((f"MTS{n}" for n in range(101, 110)), "a program that fails (test_meteor)"),
}
"""What cannot be a small file in a repository, and where it is made instead."""


def found(path: Path) -> list[Finding]:
    source = open_source(str(path))
    findings = list(source.findings)
    for member in source.members:
        try:
            findings += decode(member.fetch(), display=member.display).findings
        except Unreadable as reason:
            findings.append(reason.finding)
    return findings


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_fixture_raises_its_code_and_nothing_else(path: Path) -> None:
    findings = found(path)
    assert [finding.code for finding in findings] == [path.name.partition("-")[0]]
    assert str(path) in (findings[0].file or "")
    assert path.stat().st_size < 2100


def test_every_code_has_a_fixture_or_is_made_by_a_test() -> None:
    codes = {code for code in catalogue() if code.startswith("SRC")}
    assert {path.name.partition("-")[0] for path in FILES} == codes - ELSEWHERE.keys()

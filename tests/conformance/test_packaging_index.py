"""Every row of the index of the shared cases about LTF, translation and packages is tested."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROW = re.compile(r"^\| ([a-z_]+)/(\S.*?) \| (?:valid|invalid|warning) \|", re.M)
FOLDERS = {
    "syn_valid": '"syn_valid"',
    "ltf": r'\{BASE\}/ltf"',
    "rsd": 'BASE / "rsd"',
    "mt": r'\["mt", "mt_ref"\]',
    "mt_ref": r'\["mt", "mt_ref"\]',
}
"""What shows that all files of a folder are tested together."""


@pytest.fixture(scope="module")
def tested() -> str:
    """The source of all conformance tests."""
    files = (path for path in sorted(HERE.rglob("*.py")) if path != Path(__file__))
    return "\n".join(path.read_text("utf-8") for path in files)


def test_every_row_is_a_conformance_test(shared: Path, tested: str) -> None:
    index = (shared / "cases/ltf-mt-packaging/INDEX.md").read_text("utf-8")
    rows = ROW.findall(index)
    assert [f"{folder}/{name}" for folder, name in rows if not is_named(folder, name, tested)] == []
    assert len(rows) == 114


def is_named(folder: str, name: str, tested: str) -> bool:
    """Whether tests name a case, or its folder where all of it is read together."""
    if folder in FOLDERS:
        return re.search(FOLDERS[folder], tested) is not None
    first = name.split("/", maxsplit=1)[0]
    return first.removesuffix(".ltf.xml").removesuffix(".json") in tested

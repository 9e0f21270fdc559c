"""Offsets that are all shifted beside the raw texts have one cause, which is one finding."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import runs as validation

VALID = Path(__file__).parents[3] / "fixtures" / "ltf" / "valid"
OFFSET = re.compile('(start_char|end_char)="([0-9]+)"')


def _found(folder: Path, distance: int, *, more: str = "") -> list[tuple[str, str, str]]:
    """Codes, messages and fixes where the offsets of a document are shifted."""
    text = (VALID / "water-1.ltf.xml").read_text("utf-8")
    moved = OFFSET.sub(lambda m: f'{m[1]}="{int(m[2]) + distance}"', text)
    (folder / "water-1.ltf.xml").write_text(moved.replace("short", more or "short"), "utf-8")
    found = validation.validate("ltf", str(folder), against=str(VALID)).findings
    return [(item.code, item.message, item.help or "") for item in found]


@pytest.mark.parametrize(
    ("distance", "what", "fix"),
    [
        (1, "1 larger", "subtract 1 from"),
        (40, "40 larger", "subtract 40 from"),
        (-1, "1 smaller", "add 1 to"),
    ],
)
def test_a_shift_of_all_offsets_is_one_finding(
    distance: int, what: str, fix: str, tmp_path: Path
) -> None:
    (only,) = _found(tmp_path, distance)
    message = f"in this whole document, all offsets are {what} than in the raw text"
    fix = f"{fix} every start_char and end_char, unless this is another raw text"
    assert only == ("LTF501", message, fix)


def test_no_shift_explains_another_text(tmp_path: Path) -> None:
    codes = [code for code, _, _ in _found(tmp_path, 1, more="scant")]
    assert codes == ["LTF307", "LTF307"]

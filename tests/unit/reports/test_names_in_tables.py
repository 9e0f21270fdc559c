"""Names that a Markdown page or a spreadsheet would obey, in the tables of systems."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlteval
from hlteval.reports import systems

DEMO = Path(hlteval.__file__).parent / "demo" / "entities"
FORMULA, MARKED = "=HYPERLINK(1)", "*a*_b_|`c`<img>"


@pytest.mark.parametrize(
    ("made", "tsv", "markdown"),
    [
        (hlteval.leaderboard, systems.leaderboard_tsv, systems.leaderboard_markdown),
        (hlteval.compare, systems.comparison_tsv, systems.comparison_markdown),
    ],
)
def test_a_name_is_no_formula_and_no_markdown(made, tsv, markdown):
    """The same submission under two names."""
    system = str(DEMO / "system.tab")
    paths = {FORMULA: system, MARKED: system}
    result = made("lorehlt-edl", str(DEMO / "reference.tab"), paths)
    table = tsv(result)
    cells = [cell for line in table.splitlines() for cell in line.split("\t")]
    assert f"'{FORMULA}" in cells
    assert FORMULA not in cells
    page = markdown(result)
    assert r"\*a\*\_b\_\|\`c\`&lt;img>" in page
    assert MARKED not in page

"""Names that a Markdown page or a spreadsheet would obey, in the tables of systems."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlteval
from hlteval.reports import comparison, leaderboard

DEMO = Path(hlteval.__file__).parent / "demo" / "entities"
FORMULA, MARKED = "=HYPERLINK(1)", "*a*_b_|`c`<img>"


@pytest.mark.parametrize(
    ("made", "report"), [(hlteval.leaderboard, leaderboard), (hlteval.compare, comparison)]
)
def test_a_name_is_no_formula_and_no_markdown(made, report):
    """The same submission under two names."""
    system = str(DEMO / "system.tab")
    systems = {FORMULA: system, MARKED: system}
    result = made("lorehlt-edl", str(DEMO / "reference.tab"), systems)
    table = report.tsv(result)
    cells = [cell for line in table.splitlines() for cell in line.split("\t")]
    assert f"'{FORMULA}" in cells
    assert FORMULA not in cells
    page = report.markdown(result)
    assert r"\*a\*\_b\_\|\`c\`&lt;img>" in page
    assert MARKED not in page

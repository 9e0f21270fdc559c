"""A published leaderboard in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from hlteval.workflows.run.request import Intervals
from tests.runs import leaderboard_in

DEMO = Path(__file__).parents[2] / "hlteval" / "demo"
HOSTILE = '</script><img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("published")
    (path / "names.tsv").write_text(f"system\t{HOSTILE}\n", "utf-8")
    systems = [str(DEMO / name) for name in ("system", "reference", "flawed")]
    leaderboard_in(
        path / "board",
        *("seedev-full", str(DEMO / "reference"), systems),
        names=str(path / "names.tsv"),
        intervals=Intervals(9),
    )
    return path / "board"


def test_the_table_has_names_and_links_and_the_refused_have_reasons(open_report, folder):
    page = open_report(folder / "index.html", width=360).page
    systems = page.get_by_role("region", name="Systems")
    expect(systems.get_by_text(HOSTILE)).to_be_visible()
    expect(systems.get_by_role("link")).to_have_count(2)
    refused = page.get_by_role("region", name="Refused submissions")
    expect(refused.get_by_role("link")).to_have_text("reports/flawed.html")
    expect(refused).to_contain_text("SEE205")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_matrix_and_the_pairs_are_there(open_report, folder):
    panel = open_report(folder / "index.html").tab("Significance")
    expect(panel.get_by_role("heading", name="p values (Holm) of f1")).to_be_visible()
    expect(panel.get_by_role("heading", name="Pairs by f1")).to_be_visible()


@pytest.mark.parametrize("name", ["flawed", "reference"])
def test_a_report_leads_back(open_report, folder, name):
    page = open_report(folder / "reports" / f"{name}.html").page
    expect(page.get_by_role("link", name="Leaderboard")).to_have_attribute("href", "../index.html")
    expect(page.locator("header")).to_contain_text(name)

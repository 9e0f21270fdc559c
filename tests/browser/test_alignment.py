"""The alignment of a report in a browser, as people read it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from hlteval.reports.html import write
from tests.runs import score

DEMO = Path(__file__).parents[2] / "hlteval" / "demo"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    entities = DEMO / "entities"
    sides = (str(entities / "reference.tab"), str(entities / "system.tab"))
    options = {"texts": str(entities / "texts"), "measure": "strong_typed_all_match"}
    scores = score("lorehlt-edl", *sides, evidence=True, options=options)
    path = tmp_path_factory.mktemp("report") / "report.html"
    write(scores, path)
    return path


def test_reference_is_above_system_and_what_differs_is_marked(open_report, report):
    panel = open_report(report).tab("Alignment")
    card = panel.locator("article").filter(has_text="the UN").filter(has_text="27-28")
    rows = card.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("reference")
    expect(rows.nth(0).locator("mark")).to_have_text(["differs: UN", "differs: 27-28"])
    expect(rows.nth(1).locator("mark")).to_have_text(["differs: the UN", "differs: 23-28"])
    expect(card.locator(".context mark.system")).to_have_text("the ")
    expect(card.locator(".context mark.both")).to_have_text("UN")


def test_errors_only_outcome_search_and_order(open_report, report):
    opened = open_report(report)
    panel = opened.tab("Alignment")
    cards, found = panel.locator("article"), panel.locator(".found")
    expect(cards).to_have_count(6)
    panel.get_by_role("switch", name="Errors only").press("Space")
    expect(cards).to_have_count(4)
    expect(opened.page.get_by_role("status")).to_have_text("4 of 6 rows")
    panel.get_by_label("Outcome").select_option(label="missing (1)")
    expect(cards).to_have_count(1)
    expect(cards.locator("tr.system")).to_contain_text("nothing")
    panel.get_by_label("Outcome").select_option("")
    panel.get_by_label("Search").fill("9000")
    expect(found).to_have_text("1 of 6 rows")
    panel.get_by_label("Search").fill("no such words")
    expect(panel.get_by_text("No row passes the filters")).to_be_visible()
    panel.get_by_label("Search").fill("")
    panel.get_by_label("Order by").select_option(label="type A–Z")  # noqa: RUF001
    expect(cards.first).to_contain_text("GPE")


def test_it_fits_a_phone_and_paper(open_report, report):
    opened = open_report(report, width=360)
    panel = opened.tab("Alignment")
    expect(panel.locator("article").first).to_be_visible()
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 360
    opened.page.emulate_media(media="print")
    opened.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(panel.locator(".paper article")).to_have_count(6)
    expect(panel.locator(".paper article").first).to_be_visible()

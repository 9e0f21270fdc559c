"""The report of scores in a browser, as people use it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from hlteval.reports.html import write
from hlteval.workflows.run.request import Intervals
from tests.runs import score

DEMO = Path(__file__).parents[2] / "hlteval" / "demo"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = DEMO / "comparison"
    scores = score(
        "hub4",
        str(folder / "reference.tpl"),
        str(folder / "bold.tpl"),
        intervals=Intervals(20),
        evidence=True,
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    write(scores, path)
    return path


@pytest.fixture(scope="module")
def curves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    speech = DEMO / "speech"
    scores = score("speech-sf", str(speech / "annotations"), str(speech / "system.json"))
    path = tmp_path_factory.mktemp("report") / "curves.html"
    write(scores, path)
    return path


def test_the_headline_is_there_at_once(open_report, report):
    page = open_report(report).page
    expect(page.get_by_role("heading", level=1)).to_contain_text("HUB-4 templettes")
    main = page.locator(".fact.main")
    expect(main).to_contain_text("both.f (primary)")
    expect(main.locator(".value")).to_have_text("0.7803")
    expect(main.locator(".interval")).to_have_text("[0.6886, 0.8803]")


def test_the_first_screen_shows_before_it_lists(open_report, report):
    opened = open_report(report, width=1366)
    names = opened.page.locator(".fact dt").all_inner_texts()
    assert names == ["both.f (primary)", "both.rec", "both.pre", "both.err", "both.und"]
    parts = opened.page.locator(".parts li")
    expect(parts).to_have_text(["correct 56 77.8 %", "incorrect 16 22.2 %"])
    for title in ("both.f by type, lowest first", "both.f by document, lowest first"):
        heading = opened.page.get_by_role("heading", name=title)
        expect(heading).to_be_in_viewport()
    expect(opened.page.get_by_text("CONTEST.LOSER has the lowest value, 0.6667.")).to_be_visible()
    parts.get_by_role("link").nth(1).click()
    panel = opened.page.get_by_role("tabpanel", name="Alignment")
    expect(panel.locator(".found")).to_have_text("16 of 216 rows")
    expect(opened.page.get_by_role("tab", name="Alignment")).to_be_focused()
    expect(panel.get_by_label("Compared by").first.locator("option:checked")).to_have_text(
        "both (72)"
    )
    opened.tab("Overview").locator(".parts a").first.click()
    expect(panel.locator(".found")).to_have_text("56 of 216 rows")


def test_the_first_screen_has_the_curves_of_the_task(open_report, curves):
    page = open_report(curves, width=1366).page
    expect(page.get_by_role("heading", name="Precision and recall by layer")).to_be_visible()
    chart = page.get_by_role("img", name="Precision and recall by layer")
    expect(chart.locator("text").filter(has_text="Type+Place")).to_be_visible()
    page.get_by_role("link", name="Evacuation, false positive: 1").click()
    panel = page.get_by_role("tabpanel", name="Alignment")
    expect(panel.locator("article")).to_have_count(1)
    expect(panel.locator("article")).to_contain_text("false positive")


def test_without_scripts_there_are_tables(open_report, report):
    page = open_report(report, scripts=False).page
    expect(page.get_by_role("tablist")).to_be_hidden()
    expect(page.locator(".parts li").first).to_be_visible()
    documents = page.locator("section").filter(has_text="both.f by document, lowest first")
    expect(documents.locator("td").first).to_have_text("C12")
    expect(documents.locator("td").nth(1)).to_have_text("0.3636")
    aligned = page.locator(".part-alignment tbody tr")
    expect(aligned).to_have_count(100)
    expect(aligned.first.locator("td").first).to_have_text("incorrect")
    expect(page.locator(".part-alignment caption")).to_have_text(" (the first 100 of 216 rows)")


def test_tabs_by_mouse_and_keyboard(open_report, report):
    opened = open_report(report)
    panel = opened.tab("Scores")
    expect(panel.get_by_role("heading", name="All metrics")).to_be_visible()
    opened.page.keyboard.press("ArrowRight")
    expect(opened.page.get_by_role("tab", name="Breakdown")).to_be_focused()
    expect(opened.page.get_by_role("heading", name="Breakdown").last).to_be_visible()
    opened.page.keyboard.press("Home")
    expect(opened.page.locator(".fact.main")).to_be_visible()


def test_a_table_sorts_filters_and_pages(open_report, report):
    opened = open_report(report)
    panel = opened.tab("Tables").locator("section").filter(has_text="By document")
    cells = panel.locator(".tabulator-row .tabulator-cell[tabulator-field=c3]")
    expect(panel.locator(".counter")).to_contain_text("1-25 of 36 rows")
    header = panel.get_by_role("columnheader").filter(has_text="cor").first
    header.get_by_role("button").focus()
    opened.page.keyboard.press("Enter")
    expect(header).to_have_attribute("aria-sort", "ascending")
    values = [float(text) for text in cells.all_inner_texts()]
    assert values == sorted(values)
    panel.get_by_label("Next Page").click()
    expect(cells).to_have_count(11)
    panel.get_by_label("Filter mode").select_option(label="extent")
    expect(panel.locator(".counter")).to_contain_text("of 12 rows")
    panel.get_by_label("Filter cor").fill(">800")
    expect(panel.get_by_text("No row passes the filters")).to_be_visible()
    expect(opened.page.get_by_role("status")).to_have_text("0 of 36 rows")


def test_hover_shows_the_point_and_its_threshold(open_report, curves):
    opened = open_report(curves)
    panel = opened.tab("Curves")
    panel.locator("circle").nth(3).hover(force=True)
    expect(panel.locator("[aria-label=tip]")).to_contain_text("threshold")


def test_a_narrow_window_scrolls_only_inside_tables(open_report, report):
    opened = open_report(report, width=360)
    for tab in opened.page.get_by_role("tab").all():
        tab.click()
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_dark_by_preference_and_by_the_switch(open_report, report):
    page = open_report(report, scheme="dark").page
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(20, 23, 27)"
    page.get_by_role("button", name="Switch to light colours").click()
    assert page.evaluate(colour) == "rgb(255, 255, 255)"


def test_the_signature_is_copied(open_report, report):
    page = open_report(report).page
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("getSelection().toString()").startswith("hlteval:")


def test_paper_has_all_parts_and_plain_tables(open_report, report):
    page = open_report(report).page
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(page.get_by_role("table", name="All metrics")).to_be_visible()
    expect(page.get_by_role("table", name="By slot")).to_contain_text("CONTEST")
    expect(page.get_by_role("tab").first).to_be_hidden()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    expect(page.locator("table.paper")).to_have_count(0)


def test_values_of_documents_are_ordered(open_report, report):
    panel = open_report(report).tab("Breakdown")
    panel.locator("select").first.select_option("document")
    panel.get_by_label("Order").select_option("lowest first")
    panel.get_by_text("Values as a table").click()
    expect(panel.get_by_role("img")).to_have_accessible_name("both.f by document: 12 values")
    expect(panel.locator(".tabulator-row")).to_have_count(10)


def test_one_curve_is_chosen(open_report, curves):
    panel = open_report(curves).tab("Curves")
    all_points = panel.locator("circle").count()
    panel.get_by_label("Curve").select_option("Relevance")
    assert 0 < panel.locator("circle").count() < all_points


def test_a_label_of_the_confusion_selects_its_rows(open_report, tmp_path):
    entities = DEMO / "entities"
    scores = score("lorehlt-edl", str(entities / "reference.tab"), str(entities / "system.tab"))
    write(scores, tmp_path / "report.html")
    opened = open_report(tmp_path / "report.html", width=360)
    panel = opened.tab("Breakdown")
    matrix = panel.locator(".part-confusion")
    expect(matrix.locator("tbody tr")).to_have_count(5)
    expect(matrix.locator("td.same-5")).to_have_text("2")
    expect(matrix.locator("tbody tr").nth(0).locator("td")).to_have_text(["1", "", "", "", "1"])
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 360
    matrix.get_by_role("link", name="GPE").click()
    expect(opened.page.locator(".part-alignment .found")).to_have_text("2 of 6 rows")

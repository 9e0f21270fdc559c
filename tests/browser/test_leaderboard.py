"""A published leaderboard in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from hlteval.workflows.run.request import Intervals
from tests.runs import leaderboard_in

DEMO = Path(__file__).parents[2] / "hlteval" / "demo"
BOARD = DEMO / "leaderboard"
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


def test_the_first_column_is_the_name_which_is_the_link_and_the_refused_have_reasons(
    open_report, folder
):
    page = open_report(folder / "index.html", width=360).page
    systems = page.get_by_role("region", name="Systems", exact=True)
    expect(systems.get_by_role("link", name=HOSTILE)).to_be_visible()
    expect(systems.get_by_role("link")).to_have_count(2)
    refused = page.get_by_role("region", name="Refused submissions")
    link = refused.get_by_role("link", name="flawed")
    expect(link).to_have_attribute("href", "reports/flawed.html")
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


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The leaderboard of ten submissions, two of which are refused."""
    path = tmp_path_factory.mktemp("ten") / "board"
    leaderboard_in(
        path,
        *("lorehlt-edl", str(BOARD / "reference.tab")),
        [str(each) for each in sorted((BOARD / "submissions").iterdir())],
        names=str(BOARD / "names.tsv"),
    )
    return path / "index.html"


def right_edge(box: dict[str, float]) -> float:
    return box["x"] + box["width"]


@pytest.mark.parametrize("width", [360, 768, 1366])
def test_name_and_score_are_on_the_screen_and_ten_systems_need_no_second_scroll_bar(
    open_report, ten, width
):
    page = open_report(ten, width=width).page
    systems = page.get_by_role("region", name="Systems", exact=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    first = systems.locator(".tabulator-row").first
    name, score = (first.locator(".tabulator-cell").nth(at) for at in (0, 1))
    expect(name.get_by_role("link", name="Birch")).to_have_attribute("href", "reports/Birch.html")
    expect(score).to_contain_text("0.9412")
    assert right_edge(score.bounding_box()) <= width
    track, bar = score.locator(".track"), score.locator(".track span")
    share = bar.bounding_box()["width"] / track.bounding_box()["width"]
    assert share == pytest.approx(0.9412, abs=0.01)
    holder = systems.locator(".tabulator-tableholder")
    hidden = holder.evaluate("(each) => each.scrollWidth - each.clientWidth")
    assert width < 1366 or hidden <= 0


def test_intervals_and_ranks_are_shown_on_demand(open_report, ten):
    page = open_report(ten, width=1366).page
    systems = page.get_by_role("region", name="Systems", exact=True)
    expect(systems.get_by_text("[0.9174, 0.9821]")).to_be_hidden()
    systems.get_by_label("Intervals and ranks of each metric").check()
    expect(systems.get_by_text("[0.9174, 0.9821]")).to_be_visible()
    systems.get_by_label("Intervals and ranks of each metric").uncheck()
    expect(systems.get_by_text("[0.9174, 0.9821]")).to_be_hidden()


@pytest.mark.parametrize("width", [360, 1366])
def test_brackets_join_the_systems_that_do_not_differ(open_report, ten, width):
    page = open_report(ten, width=width).page
    figure = page.get_by_role("region", name="Systems by strong_typed_all_match.fscore")
    brackets = figure.locator(".brackets path")
    expect(brackets).to_have_count(3)
    rows = [figure.locator("svg").get_by_text(name, exact=True) for name in ("Cedar", "Juniper")]
    box = brackets.nth(1).bounding_box()
    top, bottom = (each.bounding_box() for each in rows)
    assert top["y"] <= box["y"] + 8 <= top["y"] + top["height"]
    assert bottom["y"] <= box["y"] + box["height"] - 8 <= bottom["y"] + bottom["height"]
    for text in figure.locator("svg").get_by_text("0.8019").all():
        assert right_edge(text.bounding_box()) <= box["x"]
    assert right_edge(box) <= width


def test_the_sentence_is_there_in_markdown_and_latex(open_report, ten):
    page = open_report(ten).page
    paper = page.get_by_role("region", name="In a paper")
    expect(paper).to_contain_text("is better than Cedar (.802) by .139")
    expect(paper).to_contain_text("that Birch is better than Alder")
    expect(paper.get_by_text("$p = .040$")).to_be_hidden()
    paper.get_by_text("LaTeX", exact=True).click()
    expect(paper.get_by_text("$p = .040$")).to_be_visible()

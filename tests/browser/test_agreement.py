"""Reports of agreement and of campaigns in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

import hlteval

DEMO = Path(__file__).parents[2] / "hlteval" / "demo"
HOSTILE = '</script><img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def agreement(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("agreement") / "report.html"
    annotators = {HOSTILE: DEMO / "annotators/ada.tab", "Bo": DEMO / "annotators/bo.tab"}
    hlteval.report(hlteval.agreement("lorehlt-edl", annotators, bootstrap=9), path)
    return path


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("three") / "report.html"
    files = {name: DEMO / "annotators" / f"{name}.tab" for name in ("ada", "bo", "eve")}
    hlteval.report(hlteval.agreement("lorehlt-edl", files), path)
    return path


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("campaign")
    systems = "\n".join(f"{name} = '{DEMO / name}'" for name in ("reference", "system", "flawed"))
    manifest = folder / "demo.toml"
    manifest.write_text(
        f"name = '{HOSTILE}'\n[submissions]\n{systems}\n"
        f"[tasks.seedev-full]\nreference = '{DEMO / 'reference'}'\n",
        "utf-8",
    )
    hlteval.campaign(manifest, folder / "out")
    return folder / "out" / "index.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_differences_between_annotators_are_listed(open_report, agreement, scheme):
    report = open_report(agreement, width=360, scheme=scheme)
    assert report.page.evaluate("document.documentElement.scrollWidth") <= 360
    panel = report.tab("Differences")
    expect(panel).to_contain_text("bo.tab:")
    expect(panel.get_by_text(HOSTILE).first).to_be_attached()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cells_of_a_campaign_lead_to_leaderboards(open_report, campaign, scheme):
    report = open_report(campaign, width=360, scheme=scheme)
    page = report.page
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(page.get_by_role("heading", name=HOSTILE)).to_be_visible()
    expect(page.get_by_text("flawed").first).to_be_attached()
    link = report.tab("Leaderboards").get_by_role("link")
    expect(link).to_have_attribute("href", "leaderboards/seedev-full-plan.html")
    board = open_report(campaign.parent / "leaderboards" / "seedev-full-plan.html", width=360)
    expect(board.page.locator("main")).to_contain_text("reference")


def test_agreement_begins_with_that_of_all_annotators_and_a_figure_of_their_pairs(
    open_report, three
):
    page = open_report(three, width=360).page
    headline = page.get_by_role("region", name="Agreement", exact=True)
    main = headline.locator(".fact.main")
    expect(main).to_contain_text("type: alpha")
    expect(main).to_contain_text("0.8358")
    expect(headline).to_contain_text("mean of 3 pairs, 0.7356 to 0.7765")
    paper = page.get_by_role("region", name="In a paper")
    expect(paper).to_contain_text("agree on type with Krippendorff's alpha .836")
    pairs = page.get_by_role("region", name="Pairs of annotators")
    expect(pairs.locator("svg circle")).to_have_count(3)
    expect(pairs.locator("svg")).to_contain_text("ada, bo")
    pairs.get_by_label("Measure").select_option("type: kappa")
    expect(pairs.locator("svg")).to_contain_text("0.9115")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360

"""The reports of verdicts, comparisons and refusals in a browser, and tables of many rows."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from playwright.sync_api import expect

import hlteval
from hlteval.findings import Finding, Findings, Severity, Span
from hlteval.reports.html import write
from hlteval.reports.html.page import DataTable, Page, Tab
from hlteval.results.verdict import Verdict

DEMO = Path(hlteval.__file__).parent / "demo"
HOSTILE = "</script><img src=x onerror=alert(1)>\u2028\u202e"


def test_findings_have_their_lines(open_report, tmp_path):
    verdict = hlteval.validate("seedev-full", DEMO / "flawed", against=DEMO / "reference")
    write(verdict, tmp_path / "report.html")
    page = open_report(tmp_path / "report.html").page
    expect(page.locator(".outcome")).to_have_text("fail")
    findings = page.locator(".part-findings")
    expect(findings.locator(".finding")).to_have_count(6)
    first = findings.locator(".finding").first
    expect(first.locator("mark")).to_have_text("T12")
    expect(first).to_contain_text("help:")
    expect(findings.locator(".tabulator").first).to_be_visible()


def test_findings_of_many_files_have_a_heat_map_that_selects_them(open_report, tmp_path):
    write(verdict_of_files(), tmp_path / "report.html")
    page = open_report(tmp_path / "report.html").page
    expect(page.locator(".heat thead th")).to_have_text(["file", "STD302", "MTV307", "all"])
    row = page.locator(".heat tbody tr").first
    expect(row.locator("th, td")).to_have_text(["b.a2", "20", "2", "22"])
    row.get_by_role("link", name="2", exact=True).click()
    findings = page.locator(".part-findings")
    expect(findings.locator(".finding")).to_have_count(2)
    expect(findings.locator(".finding").first).to_contain_text("warning[MTV307]")
    expect(findings.locator(".found")).to_contain_text("Only MTV307, x/b.a2")
    findings.get_by_role("button", name="Show all").click()
    expect(findings.locator(".counter")).to_contain_text("of 26 rows")


def test_the_severity_of_a_finding_is_a_word_in_its_line(open_report, tmp_path):
    write(verdict_of_files(), tmp_path / "report.html")
    page = open_report(tmp_path / "report.html").page
    page.get_by_label("Filter severity").last.select_option(label="warning")
    finding = page.locator(".finding").first
    severity, place = (finding.locator(part).bounding_box() for part in (".severity", ".place"))
    assert severity["y"] + severity["height"] <= place["y"] + 2
    style = "e => getComputedStyle(e).backgroundColor"
    assert finding.locator(".severity").evaluate(style) == "rgba(0, 0, 0, 0)"


def test_without_scripts_findings_are_a_table(open_report, tmp_path):
    write(verdict_of_files(), tmp_path / "report.html")
    page = open_report(tmp_path / "report.html", scripts=False).page
    rows = page.locator(".part-findings tbody tr")
    expect(rows).to_have_count(26)
    expect(rows.first.locator("td")).to_have_text(["error", "STD302", "x/a.a2:1:1", "0", "–"])  # noqa: RUF001


def verdict_of_files() -> Verdict:
    """Findings of two codes in three files."""
    found = [
        ("a.a2", "STD302", 2),
        ("b.a2", "STD302", 20),
        ("b.a2", "MTV307", 2),
        ("c.a2", "MTV307", 2),
    ]
    findings = [
        Finding(
            code=code,
            name=code,
            blocking=False,
            severity=Severity.WARNING if code == "MTV307" else Severity.ERROR,
            message=str(number),
            file=f"x/{file}",
            span=Span(number + 1, 1, 2),
            side="submission",
        )
        for file, code, size in found
        for number in range(size)
    ]
    return Verdict("seedev-full", "plan", passed=False, findings=Findings(findings))


def test_a_comparison_has_a_matrix_of_p_values_and_what_is_refused(open_report, tmp_path):
    systems = [DEMO / "comparison" / name for name in ("bold.tpl", "careful.tpl")]
    systems.append(DEMO / "templettes" / "flawed.tpl")
    reference = DEMO / "comparison" / "reference.tpl"
    comparison = hlteval.compare("hub4", reference, systems, bootstrap=50)
    write(comparison, tmp_path / "report.html")
    opened = open_report(tmp_path / "report.html")
    expect(opened.page.locator(".fact.main")).to_contain_text("careful")
    matrix = opened.tab("Differences").get_by_role("grid", name="p values (Holm)")
    expect(matrix.get_by_role("columnheader")).to_have_count(3)
    refused = opened.tab("Refused 1")
    expect(refused.get_by_role("heading", name="flawed")).to_be_visible()
    expect(refused.locator(".finding")).to_contain_text("REF104")


def test_errors_of_two_systems_are_side_by_side(open_report, tmp_path):
    systems = [DEMO / "comparison" / name for name in ("bold.tpl", "careful.tpl")]
    comparison = hlteval.compare(
        "hub4", DEMO / "comparison" / "reference.tpl", systems, bootstrap=50
    )
    write(comparison, tmp_path / "report.html")
    opened = open_report(tmp_path / "report.html", width=360)
    panel = opened.tab("Errors")
    numbers = panel.get_by_role("grid", name="Pairs").locator(".tabulator-row .tabulator-cell")
    expect(numbers.nth(1)).to_have_text("12")
    assert comparison.errors is not None
    every = comparison.errors.to_frame()["result"].to_list().count("only careful right")
    panel.get_by_label("Outcome").select_option(label=f"only careful right ({every})")
    cards = panel.locator("article")
    expect(panel.locator(".found")).to_have_text("12 of 216 rows")
    expect(cards).to_have_count(12)
    sides = cards.first.locator("tbody tr")
    expect(sides).to_have_count(3)
    expect(sides.nth(0)).to_contain_text("reference")
    expect(sides.nth(1)).to_contain_text("careful correct")
    expect(sides.nth(1).locator("mark")).to_have_count(0)
    expect(sides.nth(2)).to_contain_text("bold incorrect")
    expect(sides.nth(2).locator("mark")).not_to_have_count(0)
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_hundred_thousand_rows_are_filtered_and_sorted(open_report, tmp_path):
    rows = pl.DataFrame({"number": range(100_000)}).with_columns(
        (pl.col("number") % 7).cast(pl.String).alias("outcome"),
        pl.format("mention {}", "number").alias("text"),
    )
    page = Page("Many", (), [Tab("Rows", [DataTable("Rows", frame=rows)])])
    write(page, tmp_path / "report.html")
    shown = open_report(tmp_path / "report.html").page
    expect(shown.locator(".counter")).to_have_text("1-25 of 100,000 rows")
    shown.get_by_label("Filter outcome").select_option(label="3")
    shown.get_by_label("Filter number").fill(">99990")
    expect(shown.locator(".tabulator-row")).to_have_count(2)
    expect(shown.locator(".tabulator-row").first).to_contain_text("mention 99991")


def test_texts_of_tables_are_never_html(open_report, tmp_path):
    frame = pl.DataFrame({HOSTILE: [HOSTILE] * 9, "list": [[HOSTILE]] * 9})
    page = Page(HOSTILE, [(HOSTILE, HOSTILE)], [Tab("Rows", [DataTable(HOSTILE, frame=frame)])])
    write(page, tmp_path / "report.html")
    shown = open_report(tmp_path / "report.html").page
    expect(shown.locator(".tabulator-cell").first).to_contain_text("onerror=alert(1)>")
    expect(shown.locator("img")).to_have_count(0)


def test_the_first_tab_of_a_comparison_has_the_difference_with_p_and_the_sentence(
    open_report, tmp_path
):
    systems = [DEMO / "comparison" / name for name in ("bold.tpl", "careful.tpl")]
    compared = hlteval.compare("hub4", DEMO / "comparison" / "reference.tpl", systems)
    write(compared, tmp_path / "report.html")
    page = open_report(tmp_path / "report.html", width=360).page
    main = page.get_by_role("region", name="Difference in both.f").locator(".fact.main")
    expect(main).to_contain_text("careful − bold")
    expect(main).to_contain_text("+0.1465")
    expect(main).to_contain_text("[0.0743, 0.2241]")
    expect(main).to_contain_text("p (Holm) 0.008; significant")
    expect(page.get_by_role("region", name="In a paper")).to_contain_text(compared.sentence())
    figure = page.get_by_role("region", name="Systems by both.f")
    expect(figure.locator("svg circle")).to_have_count(2)
    expect(figure.locator(".brackets path")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360

"""Hostile text in every field of a report: it is shown, and nothing of it is obeyed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner

from hlteval.cli.app import app
from hlteval.findings import Finding, Findings
from hlteval.reports.html import write
from hlteval.results.systems import RefusedSystem
from hlteval.results.verdict import Refusal, Verdict
from hlteval.workflows.run.request import Intervals
from tests.browser.hostile import HOSTILE, poisoned, scores
from tests.browser.test_other_reports import verdict_of_files
from tests.cli.test_widths import FLAWED, SIDES
from tests.runs import compare, validate
from tests.unit.tasks.test_alignments import scored


def visited(open_report: Any, result: Any, path: Path) -> Any:
    """Open a report on a phone, and all of its tabs; the fixture counts dialogs and requests."""
    write(result, path)
    page = open_report(path, width=360).page
    for tab in page.get_by_role("tab").all():
        tab.click()
        assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.locator("script:not([type])").count() == page.evaluate(
        "document.scripts.length"
    ) - (page.locator("script[type]").count())
    assert page.locator("svg[onload], img, iframe, [onerror], a[href^=javascript]").count() == 0
    return page


@pytest.mark.parametrize("task", sorted(SIDES))
def test_scores(open_report: Any, tmp_path: Path, task: str) -> None:
    page = visited(open_report, scores(scored(task)), tmp_path / "report.html")
    page.get_by_role("tab", name="Overview").click()
    page.locator(".stack a, .parts a").last.click()
    expect(page.locator(".part-alignment .found")).not_to_have_text(re.compile("^0 of"))
    page.reload()
    page.get_by_role("tab", name="Alignment").click()
    shown = page.locator(".pair").first
    expect(shown).to_contain_text("<img src=x onerror=alert(2)>")
    expect(shown).to_contain_text("\\u202e")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".paper .pair").first).to_contain_text("</script><script>")


FLAWED_TASKS = ("seedev-full", "speech-sf", "lorehlt-edl", "hub4", "ccu-nd", "lorehlt-mt", "ltf")


@cache
def verdict() -> Verdict:
    """The findings of flawed submissions to several tasks as one verdict."""
    found: list[Finding] = []
    for task in FLAWED_TASKS:
        path, *against = FLAWED[task].split(" --against ")
        found += validate(task, path, against=against[0] if against else None).findings
    paths = {"submission": "system", "reference": "reference"}
    return Verdict("lorehlt-edl", "plan", passed=False, findings=Findings(found), paths=paths)


def test_verdict(open_report: Any, tmp_path: Path) -> None:
    page = visited(open_report, poisoned(verdict()), tmp_path / "report.html")
    expect(page.locator("main")).to_contain_text("<img src=x onerror=alert(2)>")


def test_heat_map(open_report: Any, tmp_path: Path) -> None:
    page = visited(open_report, poisoned(verdict_of_files()), tmp_path / "report.html")
    heat = page.locator(".heat")
    title = heat.get_by_role("link", name="b.a2").get_attribute("title")
    assert title is not None and title.startswith("</script><script>alert(1)")
    heat.get_by_role("link", name="20", exact=True).click()
    expect(page.locator(".part-findings .finding")).to_have_count(20)


def test_refusal(open_report: Any, tmp_path: Path) -> None:
    blocking = [finding for finding in verdict().findings if finding.blocking]
    refusal = Refusal(verdict(), HOSTILE, HOSTILE, poisoned(blocking), (HOSTILE, HOSTILE))
    page = visited(open_report, refusal, tmp_path / "report.html")
    expect(page.locator("main")).to_contain_text("<img src=x onerror=alert(2)>")


def test_comparison(open_report: Any, tmp_path: Path) -> None:
    folder = "hlteval/demo/comparison"
    paths = [f"{folder}/bold.tpl", f"{folder}/careful.tpl", f"{folder}/reference.tpl"]
    compared = compare("hub4", paths[2], paths, intervals=Intervals(20))
    found = verdict()
    refused = RefusedSystem(
        name="r", reason="why", help="how", codes=(), blocking=tuple(found.findings), verdict=found
    )
    compared = msgspec.structs.replace(compared, refused=(refused,), notes=("note",))
    page = visited(open_report, poisoned(compared), tmp_path / "report.html")
    expect(page.locator("main")).to_contain_text("<img src=x onerror=alert(2)>")


def test_files(open_report: Any, tmp_path: Path) -> None:
    """From the files of a submission to the report, by the command line."""
    folder = Path("hlteval/demo/entities")
    words = "</script><img src=x onerror=alert(1)>\u2028\u202e"
    system = tmp_path / '"><img src=x onerror=alert(2)>.tab'
    lines = (folder / "system.tab").read_text("utf-8")
    system.write_text(lines.replace("\tOsh\t", f"\t{words}\t"), "utf-8", newline="")
    reference = folder / "reference.tab"
    for command in (
        ("score", "lorehlt-edl", "-r", reference, "-s", system, "--lenient"),
        ("validate", "lorehlt-edl", system, "--against", folder / "texts"),
        (
            "compare",
            "lorehlt-edl",
            "-r",
            reference,
            system,
            folder / "system.tab",
            "--bootstrap",
            20,
        ),
    ):
        report = tmp_path / f"{command[0]}.html"
        given = [str(each) for each in (*command, "--report", report)]
        assert CliRunner().invoke(app, given).exit_code < 2
        page = open_report(report).page
        for tab in page.get_by_role("tab").all():
            tab.click()
        expect(page.locator("body")).to_contain_text("<img src=x onerror=alert(")

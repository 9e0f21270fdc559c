"""Hostile text in every field of a report: it is shown, and nothing of it is obeyed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from hlteval.reports.html import write
from tests.browser.hostile import scores
from tests.cli.test_widths import SIDES
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
    page.get_by_role("tab", name="Alignment").click()
    shown = page.locator(".pair").first
    expect(shown).to_contain_text("<img src=x onerror=alert(2)>")
    expect(shown).to_contain_text("\\u202e")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".paper .pair").first).to_contain_text("</script><script>")

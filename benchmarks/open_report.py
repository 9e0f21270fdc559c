"""How long the scripts of a large report take in a browser: `python -m benchmarks open-report`.

The browser counts the seconds that it runs scripts (`ScriptDuration` of its performance metrics),
which does not depend on what else the machine does, as elapsed time would.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measuring import hlteval
from benchmarks.reports import KIND
from benchmarks.seedev import EVENTS, write

PAUSE = 1500
"""Milliseconds after each action in which scripts end."""


def main(arguments: Sequence[str]) -> None:
    """Make a report, open it, and print what each action takes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000, help="events of the reference")
    rows = parser.parse_args(arguments).rows
    with tempfile.TemporaryDirectory() as folder:
        report = made(rows, Path(folder))
        print(f"{report.stat().st_size / 1e6:.1f} MB")
        print("| action | script s | rows |\n|---|---|---|")
        for action, seconds, shown in opened(report):
            print(f"| {action} | {seconds:.2f} | {shown} |")


def made(rows: int, folder: Path) -> Path:
    """The report of a submission with so many events."""
    reference, system = write(KIND, max(1, rows // EVENTS[KIND]), EVENTS[KIND], folder)
    report = folder / "report.html"
    command = hlteval("score", f"seedev-{KIND}", "-r", reference, "-s", system, "--report", report)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return report


def opened(report: Path) -> Iterator[tuple[str, float, str]]:
    """What people do with a report, the seconds of scripts, and how many rows they see."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        program = shutil.which("chromium")
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        before = 0.0
        for name, act in _actions(page, report.as_uri()):
            act()
            page.wait_for_timeout(PAUSE)
            metrics = session.send("Performance.getMetrics")["metrics"]
            after = next(each["value"] for each in metrics if each["name"] == "ScriptDuration")
            found = page.locator(".found")
            yield name, after - before, found.inner_text() if found.is_visible() else ""
            before = after
        browser.close()


def _actions(page: Any, address: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    panel = page.locator(".part-alignment")
    yield "open", lambda: page.goto(address)
    yield "alignment", lambda: page.get_by_role("tab", name="Alignment").click()
    yield "errors only", lambda: panel.get_by_role("switch").click()
    yield "filter by outcome", lambda: panel.get_by_label("Outcome").select_option(index=1)
    yield "search", lambda: panel.get_by_label("Search").fill("a")
    yield "order", lambda: panel.get_by_label("Order by").select_option(index=1)

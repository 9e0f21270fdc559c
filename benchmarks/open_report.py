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

Actions = Callable[[Any, str], Iterator[tuple[str, Callable[[], Any]]]]

PAUSE = 1500
"""Milliseconds after each action in which scripts end."""


def main(arguments: Sequence[str]) -> None:
    """Make a report, open it, and print what each action takes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000, help="events of the reference")
    rows = parser.parse_args(arguments).rows
    with tempfile.TemporaryDirectory() as folder:
        for report, actions in (
            (alignment_report(rows, Path(folder)), _alignment_actions),
            (findings_report(rows, Path(folder)), _table_actions),
        ):
            print(f"\n{report.stem}, {report.stat().st_size / 1e6:.1f} MB\n")
            print("| action | script s | rows |\n|---|---|---|")
            for action, seconds, shown in opened(report, actions):
                print(f"| {action} | {seconds:.2f} | {shown} |")


def alignment_report(rows: int, folder: Path) -> Path:
    """The report of a submission with so many events."""
    reference, system = write(KIND, max(1, rows // EVENTS[KIND]), EVENTS[KIND], folder)
    report = folder / "alignment.html"
    command = hlteval("score", f"seedev-{KIND}", "-r", reference, "-s", system, "--report", report)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return report


def findings_report(rows: int, folder: Path) -> Path:
    """The report of an EDL table with a finding in each of so many lines."""
    system, report = folder / "system.tab", folder / "findings.html"
    mentions = ((10 * row, f"word{row % 997}") for row in range(rows))
    lines = (
        f"run\tM{at}\t{word}\tDOC:{at}-{at + len(word) - 1}\tNIL{at}\tPERSON\tNAM\t1.0\n"
        for at, word in mentions
    )
    system.write_text("".join(lines), "utf-8")
    every = ("--max-findings", "0", "--max-per-code", "0")
    command = hlteval("validate", "lorehlt-edl", system, "--report", report, *every)
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    return report


def opened(report: Path, actions: Actions) -> Iterator[tuple[str, float, str]]:
    """What people do with a report, the seconds of scripts, and how many rows they see."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        program = shutil.which("chromium")
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        before = 0.0
        for name, act in actions(page, report.as_uri()):
            act()
            page.wait_for_timeout(PAUSE)
            metrics = session.send("Performance.getMetrics")["metrics"]
            after = next(each["value"] for each in metrics if each["name"] == "ScriptDuration")
            found = page.locator(".found:visible, .counter:visible").last
            yield name, after - before, found.inner_text() if found.is_visible() else ""
            before = after
        browser.close()


def _alignment_actions(page: Any, address: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    panel = page.locator(".part-alignment")
    yield "open", lambda: page.goto(address)
    yield "alignment", lambda: page.get_by_role("tab", name="Alignment").click()
    yield "errors only", lambda: panel.get_by_role("switch").click()
    yield "filter by outcome", lambda: panel.get_by_label("Outcome").select_option(index=1)
    yield "search", lambda: panel.get_by_label("Search").fill("a")
    yield "order", lambda: panel.get_by_label("Order by").select_option(index=1)


def _table_actions(page: Any, address: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    table = page.locator(".tabulator").last
    yield "open", lambda: page.goto(address)
    yield "search", lambda: table.get_by_label("Filter message").fill("00:")
    yield "order", lambda: table.locator("button.sort:visible").nth(1).click()
    yield "next page", page.locator(".tabulator-page[data-page=next]").last.click

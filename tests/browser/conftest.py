"""A headless browser, one for the tests of a module: reports are opened as files."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Opened:
    """A report in the browser.

    Attributes:
        page: of playwright.
        trouble: what must not happen: dialogs, requests, messages on the console and errors.
    """

    page: Any
    trouble: list[str] = field(default_factory=list)

    def tab(self, name: str) -> Any:
        """Click a tab; its panel."""
        tab = self.page.get_by_role("tab", name=name)
        tab.click()
        return self.page.locator(f"#{tab.get_attribute('aria-controls')}")


Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's chromium, where it is installed.

    While it runs, its event loop is the running one, and tests of other modules need theirs.
    """
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("REPORTS NOT OPENED: no program chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=program, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def open_report(browser: Any) -> Iterator[Open]:
    """Opens a report; at the end, nothing may have happened that must not."""
    opened: list[Opened] = []

    def run(
        path: Path, *, width: int = 1200, scheme: str = "light", scripts: bool = True
    ) -> Opened:
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            reduced_motion="reduce",
            java_script_enabled=scripts,
        )
        context.set_default_timeout(8_000)
        report = Opened(context.new_page())
        opened.append(report)
        address = path.resolve().as_uri()
        _watch(report, address)
        report.page.goto(address)
        return report

    yield run
    for report in opened:
        trouble = list(report.trouble)
        report.page.context.close()
        assert trouble == []


def _watch(report: Opened, address: str) -> None:
    """Record dialogs, requests other than that of the file, messages and errors."""

    def on_dialog(dialog: Any) -> None:
        report.trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def on_request(request: Any) -> None:
        if request.url.partition("#")[0] != address:
            report.trouble.append(f"request: {request.url}")

    page = report.page
    page.on("dialog", on_dialog)
    page.on("request", on_request)
    page.on("console", lambda message: report.trouble.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: report.trouble.append(f"error: {error}"))

"""The pictures of the documentation: `python -m docs.make.pictures` makes them again.

Findings and curves are SVG and need nothing. The report of data of `hlteval demo`, with a fixed
seed, and its alignment are drawn in a browser. Where there is none, these pictures stay as they
are, and a note says so.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import chdir
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docs.make import drawings

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
DRAWINGS = {"finding.svg": drawings.finding, "curve.svg": drawings.curve}
"""Pictures that need no browser, and what makes them."""
SCREENSHOTS = {"report.png": "Overview", "alignment.png": "Alignment"}
"""Pictures of a report, and the tab that they show."""
SIZE = {"width": 1000, "height": 900}
"""The window in pixels."""
_FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def write_page(path: Path) -> None:
    """Write the report that the screenshots show."""
    from hlteval import score

    with chdir(ROOT / "hlteval" / "demo" / "comparison"):
        corpus = {"corpus": "corpus.sgml"}
        result = score("hub4", "reference.tpl", "bold.tpl", bootstrap=1000, options=corpus)
    from hlteval.reports.html import write

    write(result, path)


def draw(browser: Any, page: Path, folder: Path) -> None:
    """Draw the screenshots of a report: the overview, and the errors of the alignment.

    Args:
        browser: of playwright.
        page: the report.
        folder: of the pictures.
    """
    window = browser.new_page(viewport=SIZE, color_scheme="light")
    window.goto(page.as_uri())
    folder.mkdir(parents=True, exist_ok=True)
    for name, tab in SCREENSHOTS.items():
        window.get_by_role("tab", name=tab).click()
        if tab == "Alignment":
            window.get_by_label("Errors only").check()
        window.screenshot(path=str(folder / name), animations="disabled")
    window.close()


def missing() -> str:
    """Why nothing can be drawn in a browser here; empty if it can."""
    if shutil.which("chromium") is None:
        return "no program chromium"
    return "" if find_spec("playwright") else "playwright is not installed"


def _drawings() -> Iterator[str]:
    for name, drawing in DRAWINGS.items():
        (FOLDER / name).write_text(drawing(), "utf-8")
        yield str((FOLDER / name).relative_to(ROOT))


def _screenshots() -> Iterator[str]:
    """Draw the screenshots, or leave them."""
    names = [str((FOLDER / name).relative_to(ROOT)) for name in SCREENSHOTS]
    if reason := missing():
        yield f"not drawn again: {', '.join(names)}: {reason}"
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, TemporaryDirectory() as folder:
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=list(_FLAGS))
        write_page(Path(folder) / "report.html")
        draw(browser, Path(folder) / "report.html", FOLDER)
        browser.close()
    yield from names


def main() -> str:
    """Make all pictures; a line for each about what was done."""
    return "\n".join([*_drawings(), *_screenshots()])


if __name__ == "__main__":
    print(main())  # noqa: T201 - it is a program

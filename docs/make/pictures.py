"""The picture of a report in README.md: `python -m docs.make.pictures` draws it in a browser.

The page is that of data of `hlteval demo`, with a fixed seed. Where there is no browser, the
picture stays as it is, and a note says so.
"""

from __future__ import annotations

import shutil
from contextlib import chdir
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "pictures" / "report.png"
SIZE = {"width": 1000, "height": 620}
"""The window in pixels."""
_FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def write_page(path: Path) -> None:
    """Write the report that the picture shows."""
    from hlteval import score

    with chdir(ROOT / "hlteval" / "demo" / "comparison"):
        corpus = {"corpus": "corpus.sgml"}
        result = score("hub4", "reference.tpl", "bold.tpl", bootstrap=1000, options=corpus)
    from hlteval.reports.html.writing import write

    write(result, path)


def draw(browser: Any, page: Path, picture: Path) -> None:
    """Draw the errors of the alignment of a report.

    Args:
        browser: of playwright.
        page: the report.
        picture: the file to write.
    """
    window = browser.new_page(viewport=SIZE, color_scheme="light")
    window.goto(page.as_uri())
    window.get_by_role("tab", name="Alignment").click()
    window.get_by_label("Errors only").check()
    picture.parent.mkdir(parents=True, exist_ok=True)
    window.screenshot(path=str(picture), animations="disabled")
    window.close()


def missing() -> str:
    """Why nothing can be drawn here; empty if it can."""
    if shutil.which("chromium") is None:
        return "no program chromium"
    return "" if find_spec("playwright") else "playwright is not installed"


def main() -> str:
    """Draw the picture, or leave it; a line about what was done."""
    if reason := missing():
        return f"{PICTURE.relative_to(ROOT)} is not drawn again: {reason}"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, TemporaryDirectory() as folder:
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=list(_FLAGS))
        write_page(Path(folder) / "report.html")
        draw(browser, Path(folder) / "report.html", PICTURE)
        browser.close()
    return str(PICTURE.relative_to(ROOT))


if __name__ == "__main__":
    print(main())  # noqa: T201 - it is a program

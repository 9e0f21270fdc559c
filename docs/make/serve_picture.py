"""The picture of the page of `hlteval serve`: `python -m docs.make.serve_picture` makes it again.

It shows the results of data of `hlteval demo`, compared by the page itself, in a browser.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Any

from docs.make.pictures import FOLDER, ROOT, missing

PICTURE = FOLDER / "serve.png"
SIZE = {"width": 1000, "height": 640}
"""The window in pixels."""
_DATA = ROOT / "hlteval" / "demo" / "comparison"
_FILES = {
    "submission": "bold.tpl",
    "reference": "reference.tpl",
    "second": "careful.tpl",
    "option-corpus": "corpus.sgml",
}
_FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def draw(browser: Any, address: str) -> None:
    """Draw the comparison of two submissions.

    Args:
        browser: of playwright.
        address: that the server printed.
    """
    window = browser.new_page(viewport=SIZE, color_scheme="light")
    window.goto(address)
    window.get_by_label("Task of the submission").select_option("hub4")
    for name, file in _FILES.items():
        window.set_input_files(f"#file-{name}", str(_DATA / file))
    window.get_by_role("button", name="Check and score").click()
    window.get_by_role("tab", name="Comparison").click(timeout=60_000)
    window.get_by_role("tabpanel").frame_locator("iframe").get_by_text("Values").first.wait_for()
    window.screenshot(path=str(PICTURE), animations="disabled")
    window.close()


def main() -> str:
    """Draw the picture, or leave it; a line about what was done."""
    if reason := missing():
        return f"{PICTURE.relative_to(ROOT)} is not drawn again: {reason}"
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "hlteval", "serve", "--no-browser", "--defaults", "none"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,  # noqa: S603
        sync_playwright() as playwright,
    ):
        assert server.stdout  # noqa: S101 - it is a pipe
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=list(_FLAGS))
        draw(browser, server.stdout.readline().strip())
        browser.close()
        server.terminate()
    return str(PICTURE.relative_to(ROOT))


if __name__ == "__main__":
    print(main())  # noqa: T201 - it is a program

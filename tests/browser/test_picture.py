"""The screenshots of the documentation, as `make docs` draws them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docs.make import pictures


def test_the_screenshots_are_drawn_from_the_page(browser: Any, tmp_path: Path) -> None:
    pictures.write_page(tmp_path / "report.html")
    pictures.draw(browser, tmp_path / "report.html", tmp_path / "new")
    drawn = {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    assert drawn.keys() == pictures.SCREENSHOTS.keys()
    assert all(content.startswith(b"\x89PNG") for content in drawn.values())
    assert len(set(drawn.values())) == len(drawn)

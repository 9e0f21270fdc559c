"""The picture of README.md, as `make docs` draws it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docs.make import pictures


def test_the_picture_is_drawn_from_the_page(browser: Any, tmp_path: Path) -> None:
    pictures.write_page(tmp_path / "report.html")
    pictures.draw(browser, tmp_path / "report.html", tmp_path / "new" / "report.png")
    assert (tmp_path / "new" / "report.png").read_bytes().startswith(b"\x89PNG")

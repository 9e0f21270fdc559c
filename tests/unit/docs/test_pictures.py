"""The picture of a report in README.md."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from docs.make import pictures

ROOT = Path(__file__).parents[3]


def test_the_first_screen_of_the_readme_has_the_picture() -> None:
    first = (ROOT / "README.md").read_text("utf-8").splitlines()[:30]
    (picture,) = re.findall(r"!\[[^]]{20,}\]\((.*)\)", "\n".join(first))
    assert ROOT / picture == pictures.PICTURE


def test_the_picture_is_small_and_has_the_size_of_the_window() -> None:
    content = pictures.PICTURE.read_bytes()
    assert len(content) < 150_000
    assert struct.unpack(">II", content[16:24]) == (pictures.SIZE["width"], pictures.SIZE["height"])


def test_make_docs_draws_it() -> None:
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\ndocs:")[2].partition("\n\n")[0]
    assert "-m docs.make.pictures" in recipe


def test_the_page_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        pictures.write_page(tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


@pytest.mark.parametrize("lacking", ["chromium", "playwright"])
def test_without_a_browser_it_stays_and_a_note_says_so(
    lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures.shutil, "which", lambda name: None if name == lacking else name)
    monkeypatch.setattr(pictures, "find_spec", lambda name: None if name == lacking else name)
    before = pictures.PICTURE.stat().st_mtime_ns
    assert f"report.png is not drawn again: {'no program ' * (lacking == 'chromium')}{lacking}" in (
        pictures.main()
    )
    assert pictures.PICTURE.stat().st_mtime_ns == before

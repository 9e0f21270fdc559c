"""The pictures of the documentation."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
from lxml import etree

from docs.make import pictures, serve_picture
from tests.conftest import Golden

ROOT = Path(__file__).parents[3]
NAMES = (*pictures.DRAWINGS, *pictures.SCREENSHOTS, serve_picture.PICTURE.name)
SHOWN = re.compile(r"!\[([^]]*)\]\(([^)]*)\)")
PAGES = (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))


def test_the_first_screen_of_the_readme_has_the_finding() -> None:
    first = (ROOT / "README.md").read_text("utf-8").splitlines()[:10]
    ((_, picture),) = SHOWN.findall("\n".join(first))
    assert ROOT / picture == pictures.FOLDER / "finding.svg"


def test_each_picture_is_shown_with_a_text_for_those_who_do_not_see_it() -> None:
    shown = {
        (page.parent / picture).resolve(): text
        for page in PAGES
        for text, picture in SHOWN.findall(page.read_text("utf-8"))
    }
    assert shown.keys() == {pictures.FOLDER / name for name in NAMES}
    assert all(len(text) > 50 for text in shown.values())
    assert shown.keys() == set(pictures.FOLDER.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_small(name: str) -> None:
    assert (pictures.FOLDER / name).stat().st_size < 150_000


@pytest.mark.pinned
@pytest.mark.parametrize("name", pictures.DRAWINGS)
def test_drawings_are_up_to_date_and_load_nothing(name: str, golden: Golden) -> None:
    drawing = pictures.DRAWINGS[name]()
    golden(pictures.FOLDER / name, drawing)
    assert all(value.startswith("#") for value in _references(drawing))
    assert not re.search(r"@import|@font-face|url\((?!['\"]?#)", drawing)


def _references(drawing: str) -> list[str]:
    """What a browser would load for elements, or look for in the drawing."""
    return [
        value
        for element in etree.fromstring(drawing.encode()).iter()
        for key, value in element.attrib.items()
        if etree.QName(key).localname in {"href", "src"}
    ]


def test_the_terminal_shows_what_the_command_prints() -> None:
    root = etree.parse(pictures.FOLDER / "finding.svg").getroot()
    text = "".join(root.itertext()).replace("\xa0", " ")
    for part in ("$ hlteval validate lorehlt-edl", "error[EDL503]", "^^^^^", "fail", "2 errors"):
        assert part in text


@pytest.mark.parametrize("name", pictures.SCREENSHOTS)
def test_screenshots_have_the_size_of_the_window(name: str) -> None:
    content = (pictures.FOLDER / name).read_bytes()
    assert struct.unpack(">II", content[16:24]) == (pictures.SIZE["width"], pictures.SIZE["height"])


def test_make_docs_draws_them() -> None:
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\ndocs:")[2].partition("\n\n")[0]
    assert "-m docs.make.pictures" in recipe


def test_the_page_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        pictures.write_page(tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


@pytest.mark.parametrize("lacking", ["chromium", "playwright"])
def test_without_a_browser_screenshots_stay_and_a_note_says_so(
    lacking: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pictures.shutil, "which", lambda name: None if name == lacking else name)
    monkeypatch.setattr(pictures, "find_spec", lambda name: None if name == lacking else name)
    monkeypatch.setattr(pictures, "ROOT", tmp_path)
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    monkeypatch.setattr(pictures, "DRAWINGS", {"finding.svg": lambda: "<svg/>"})
    reason = "no program chromium" if lacking == "chromium" else "playwright is not installed"
    assert pictures.main().splitlines() == [
        "finding.svg",
        f"not drawn again: report.png, alignment.png: {reason}",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["finding.svg"]

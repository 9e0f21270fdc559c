"""The site of the documentation: strictly built, complete, asking for nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from mkdocs.exceptions import PluginError

from hlteval.findings import catalogue

ROOT = Path(__file__).parents[3]


def loaded() -> ModuleType:
    """The hooks of the site, which are no module of ours."""
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "docs" / "hooks.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOOKS = loaded()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once, as the program `mkdocs` does; a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-P", "-m", "mkdocs", "build", "--quiet"]
    done = subprocess.run(
        [*command, "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return folder


def test_it_is_built_without_a_warning_and_has_every_page(site: Path) -> None:
    assert {path.stem for path in (site / "codes").glob("*.html")} == catalogue().keys()
    pages = {path.with_suffix(".html").name for path in (ROOT / "docs").glob("*.md")}
    assert pages | {"index.html"} <= {path.name for path in site.glob("*.html")}
    assert (site / "search" / "search_index.json").is_file()
    assert not list(site.rglob("*.py"))


def test_links_to_codes_lead_to_their_pages(site: Path) -> None:
    assert 'href="codes/STD105.html"' in (site / "tasks.html").read_text("utf-8")
    assert 'href="codes/STD302.html"' in (site / "codes.html").read_text("utf-8")
    assert 'href="../tasks.html#seedev-full"' in (site / "codes/STD302.html").read_text("utf-8")


def test_the_build_fails_where_a_page_asks_for_something_from_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "codes").mkdir()
    page = tmp_path / "codes" / "a.html"
    page.write_text("<p>nothing</p>", "utf-8")
    HOOKS.on_post_build({"site_dir": str(tmp_path)})
    page.write_text('<script src="https://example.org/a.js"></script>', "utf-8")
    with pytest.raises(PluginError, match=r"a\.html asks for https://example\.org/a\.js"):
        HOOKS.on_post_build({"site_dir": str(tmp_path)})


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<link rel="preconnect" href="https://fonts.example.org">',
        '<img alt="" src="HTTP://example.org/a.png">',
        "<style>@import 'https://example.org/a.css';</style>",
        "<p style='background: url(https://example.org/a.png)'>",
    ],
)
def test_what_comes_from_elsewhere_is_found(page: str) -> None:
    assert HOOKS.external_resources(page)


def test_links_that_people_follow_are_no_such_thing() -> None:
    assert not HOOKS.external_resources(
        '<a href="https://example.org/">there</a><script src="a.js"></script>'
    )
    assert not HOOKS.external_resources('<link rel="canonical" href="https://example.org/">')


def test_pipes_of_code_in_tables_are_as_in_the_repository(site: Path) -> None:
    assert "--conversion pipeline|tac15" in (site / "tasks.html").read_text("utf-8")
    assert "\\|" not in (site / "tasks.html").read_text("utf-8")


def test_what_is_fenced_is_no_link() -> None:
    fenced = "```text\n[a](docs/b.md)\n```\n"
    assert HOOKS._change_prose(f"x\n{fenced} x", str.upper) == f"X\n{fenced} X"
    assert HOOKS._site_links("[a](docs/codes.md#std302)", "index.md") == "[a](codes/STD302.md)"
    assert HOOKS._site_links("[a](../README.md#score)", "tasks.md") == "[a](index.md#score)"
    assert HOOKS._site_links("[a](../tasks.md#ltf)", "codes/A.md") == "[a](../tasks.md#ltf)"

"""The site of the documentation: strictly built, complete, asking for nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from lxml import html
from mkdocs.config import load_config
from mkdocs.exceptions import PluginError

import hlteval
from docs.make.site_html import plain
from hlteval import tasks
from hlteval.findings import catalogue
from tests.conftest import site_codes

pytestmark = pytest.mark.long("mkdocs builds some 200 pages")

ROOT = Path(__file__).parents[3]


def loaded() -> ModuleType:
    """The hooks of the site, which are no module of ours."""
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "docs" / "hooks.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOOKS = loaded()
CODES = ["codes/STD302.md"]


@pytest.mark.thorough
def test_it_is_built_without_a_warning_and_has_every_page(site: Path) -> None:
    assert {path.stem for path in (site / "codes").glob("*.html")} == site_codes()
    pages = {path.with_suffix(".html").name for path in (ROOT / "docs").glob("*.md")}
    assert pages | {"index.html"} <= {path.name for path in site.glob("*.html")}
    assert (site / "search" / "search_index.json").is_file()
    assert not list(site.rglob("*.py"))
    assert not list(site.rglob("__pycache__"))


def test_files_of_python_are_not_part_of_the_site() -> None:
    excluded = load_config(str(ROOT / "mkdocs.yml")).exclude_docs
    for name in ("hooks.py", "__pycache__/hooks.cpython-311.pyc", "make/pages.py", "synonyms.toml"):
        assert excluded.match_file(name), name
    assert not excluded.match_file("start.md")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "location"),
    [
        ("docker", "programs.html#container"),
        ("codabench", "how-to/publish.html"),
        ("offset by one", "how-to/before-upload.html#3-let-hlteval-fix-what-is-mechanical"),
    ],
)
def test_search_knows_words_that_pages_do_not_use(site: Path, words: str, location: str) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    found = {entry["location"] for entry in index["docs"] if words in entry.get("tags", ())}
    assert location in found
    script = (site / "search" / "search_index.js").read_text("utf-8")
    assert script.removeprefix("var __index = ") == json.dumps(index, separators=(",", ":"))


@pytest.mark.thorough
def test_synonyms_are_of_pages_that_there_are(site: Path) -> None:
    synonyms = tomllib.loads((ROOT / "docs" / "synonyms.toml").read_text("utf-8"))
    codes = {name for name in synonyms if name.startswith("codes/")}
    assert {name[6:12] for name in codes} <= {*catalogue()}
    index = (site / "search" / "search_index.json").read_text("utf-8")
    assert {entry["location"] for entry in json.loads(index)["docs"]} >= synonyms.keys() - codes
    with pytest.raises(PluginError, match=r"no page or section gone\.html"):
        HOOKS.tagged(index, {"gone.html": ["docker"]})


@pytest.mark.thorough
def test_search_needs_no_server(site: Path) -> None:
    assert (site / "search" / "search_index.js").read_text("utf-8").startswith("var __index = {")
    page = (site / "codes" / "STD302.html").read_text("utf-8")
    assert '<script src="../assets/vendor/iframe-worker.min.js">' in page


def articles(site: Path) -> Iterator[tuple[str, html.HtmlElement]]:
    """The content of the pages, without the menu; one page of a code stands for all."""
    for path in [*site.rglob("*.html")]:
        if path.parent.name != "codes" or path.stem == "STD302":
            (article,) = html.parse(path).iterfind(".//article")
            yield path.relative_to(site).as_posix(), article


@pytest.mark.thorough
def test_the_text_of_a_link_says_where_it_leads(site: Path) -> None:
    for name, article in articles(site):
        for link in article.iterfind(".//a[@href]"):
            text = link.text_content().strip() or "".join(link.xpath(".//img/@alt"))
            assert text, f"{name} has an empty link to {link.get('href')}"
            assert not re.search(r"\.(md|html)$", text), f"{name} has a link named {text}"
            assert text.lower() not in {"here", "this", "link", "page", "more"}, f"{name}: {text}"


@pytest.mark.thorough
def test_links_inside_the_site_have_titles_where_their_texts_are_others(site: Path) -> None:
    for name, article in articles(site):
        for link in article.xpath(".//a[@href and not(@class)]"):
            page = (site / name).parent / link.get("href").partition("#")[0]
            if ":" in link.get("href") or page.suffix != ".html":
                continue
            head = re.search(r"<h1[^>]*>(.*?)<a class=", page.read_text("utf-8"))
            title = link.get("title") or link.text_content()
            assert head is None or plain(head[1]) in title, f"{name}: {link.get('href')}"


def test_the_pages_of_tasks_in_the_menu_are_about_tasks_that_there_are() -> None:
    sections = {
        name: pages
        for item in load_config(str(ROOT / "mkdocs.yml")).nav
        for name, pages in item.items()
    }
    first, *pages = (page for item in sections["Tasks"] for page in item.values())
    assert first == "tasks.md"
    found = {page: named_tasks((ROOT / "docs" / page).read_text("utf-8")) for page in pages}
    assert all(found.values()), found
    assert set().union(*found.values()) == {*tasks.BUILTIN}


def named_tasks(page: str) -> set[str]:
    """The tasks that a page names in code, alone or in a command."""
    codes = re.findall(r"`([a-z0-9-]+)`|hlteval (?:validate|score) ([a-z0-9-]+)", page)
    return {name for names in codes for name in names} & {*tasks.BUILTIN}


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_pipes_of_code_in_tables_are_as_in_the_repository(site: Path) -> None:
    text = plain((site / "tasks.html").read_text("utf-8"))
    assert "--conversion pipeline|tac15" in text
    assert "\\|" not in text


@pytest.mark.thorough
def test_tables_are_copied_with_their_tabs(site: Path) -> None:
    page = (site / "how-to" / "moving-data.html").read_text("utf-8")
    assert "M012345QD\t101\t2.5\t10.5" in page
    assert HOOKS._TAB not in page


def test_what_is_fenced_is_no_link() -> None:
    fenced = "```text\n[a](docs/b.md)\n```\n"
    assert HOOKS._change_prose(f"x\n{fenced} x", str.upper) == f"X\n{fenced} X"
    assert (
        HOOKS._site_links("[a](docs/codes.md#std302)", "index.md", CODES) == "[a](codes/STD302.md)"
    )
    assert HOOKS._site_links("[a](../README.md#score)", "tasks.md", CODES) == "[a](index.md#score)"
    assert (
        HOOKS._site_links("[a](../../CHANGELOG.md)", "how-to/a.md", CODES) == "[a](../CHANGELOG.md)"
    )
    assert HOOKS._site_links("[a](../tasks.md#ltf)", "codes/A.md", CODES) == "[a](../tasks.md#ltf)"


@pytest.mark.thorough
def test_every_public_name_has_its_entry_in_the_reference(site: Path) -> None:
    pages = [path.read_text("utf-8") for path in (site / "api").glob("*.html")]
    heads = {name for page in pages for name in re.findall(r'<h2 id="([\w.]+)"', page)}
    assert {f"hlteval.{name}" for name in hlteval.__all__} <= heads
    for name in ("Corpus.replace", "Findings.to_frame", "Scores.plot"):
        assert any(f'id="hlteval.{name}"' in page for page in pages), name
    assert not re.search(r'<h\d id="[\w.]*\._[a-z]', "".join(pages))


@pytest.mark.thorough
def test_the_reference_has_what_an_extension_imports(site: Path) -> None:
    pages = "".join(path.read_text("utf-8") for path in (site / "api").glob("*.html"))
    for guide in (ROOT / "docs").glob("extending*.md"):
        for module, names in re.findall(
            r"^from (hlteval[\w.]*) import (.*)$", guide.read_text("utf-8"), re.M
        ):
            for name in names.split(", "):
                assert f'id="{module}.{name}"' in pages or f'id="hlteval.{name}"' in pages, name


def test_a_notebook_is_a_page_with_its_cells_and_its_file(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Two\n", "\n", "lines"]},
        {"cell_type": "code", "source": ["import hlteval\n", "hlteval"]},
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
    assert HOOKS._notebook_page(tmp_path / "a.ipynb") == (
        "# Two\n\nlines\n\n[Download the notebook](a.ipynb)\n\n"
        "```python\nimport hlteval\nhlteval\n```\n"
    )

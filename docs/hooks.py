"""Hooks of mkdocs: pages of the site that are not files of this folder, and links between pages.

The README is the home page, and each code has a page. In the repository, `codes.md#std302` is a
line of the index of codes; on the site, it is the page of the code.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Container, Iterator, Mapping, Sequence
from html import unescape
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lxml import etree
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
ROOT_PAGES = {"README.md": "index.md"} | {
    name: name for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
}
"""The pages in the root folder of the repository, with their names on the site."""
SCHEMAS = "../hlteval/reports/schemas/"
"""The folder of the schemas in the repository, as pages see it; on the site it is `schemas/`."""

SEARCH = {"tasks.md": 4, "codes/": 0.25, "clauses/": 0.5, "CHANGELOG.md": 0.5, "difference-ex": 0.5}
"""Pages that are found before others or after them, by the start of their names."""

_LINK = re.compile(r"(\]\()(?P<page>[^)#:\s]*)(?P<anchor>#[^)\s]*)?\)")
_CELL = re.compile(r"^\|.*\|$", re.M)
_FENCED = re.compile(r"^(```+).*?^\1`*$", re.M | re.S)
_PYTHON_SESSION = re.compile(r"^```python(?=\n>>> )", re.M)
_CODE, _ENTRY = re.compile(r"^codes/(\w+)\.md$"), re.compile(r"(<a id=\"\w+\"></a>)([A-Z]{3}\d{3})")
_TAB = "\ue009"
"""A tab of a fenced block, of which Markdown would make spaces."""


_PACKAGE = TemporaryDirectory(prefix="hlteval-")
"""The package as it is installed, whose docstrings are read."""


@event_priority(100)  # before the plug-in that reads docstrings
def on_config(config: MkDocsConfig) -> None:
    """Replace the folders of the navigation by their pages; build what the reference is of."""
    setup = ["-c", "from setuptools import setup; setup()", "--quiet", "build_py", "--build-lib"]
    subprocess.run([sys.executable, *setup, _PACKAGE.name], cwd=ROOT, check=True)  # noqa: S603
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [_PACKAGE.name]
    sections = ((section, _folder_pages(section, config)) for section in config.nav or [])
    config.nav = [pages or section for section, pages in sections if pages != {}]


def _folder_pages(section: Any, config: MkDocsConfig) -> dict[str, list[str]] | None:
    """The section of a folder, empty if the folder has no pages; None for other sections."""
    ((name, folder),) = section.items()
    if not (isinstance(folder, str) and folder.endswith("/")):
        return None
    paths = [*Path(config.docs_dir, folder).glob("*.md"), *_notebooks(config, folder)]
    pages = sorted(paths, key=lambda path: (path.stem != "index", path))
    return {name: [f"{folder}{path.stem}.md" for path in pages]} if pages else {}


def _notebooks(config: MkDocsConfig, folder: str) -> Iterator[Path]:
    return Path(config.docs_dir, folder).glob("*.ipynb")


def _notebook_page(path: Path) -> str:
    """The cells of a notebook as a page, with a link to its file below the heading."""
    blocks = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        text = "".join(cell["source"])
        blocks.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        if len(blocks) == 1:
            blocks.append(f"[Download the notebook]({path.name})")
    return "\n\n".join(blocks) + "\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of this folder."""
    if str(ROOT) not in sys.path:  # the program `mkdocs` does not look into its working directory
        sys.path.insert(0, str(ROOT))
    from docs.make.code_pages import pages
    from docs.make.schemas import files as schemas

    for name, text in schemas().items():
        files.append(File.generated(config, f"schemas/{name}", content=text))
    for name, page in ROOT_PAGES.items():
        text = (ROOT / name).read_text("utf-8")
        files.append(File.generated(config, page, content=text))
    for path in _notebooks(config, "notebooks"):
        page = f"notebooks/{path.stem}.md"
        files.append(File.generated(config, page, content=_notebook_page(path)))
    some = os.environ.get("SITE_CODES", "").split()  # tests build the site with a share of them
    for code, text in pages().items():
        if some and code not in some:
            continue
        files.append(File.generated(config, f"codes/{code}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """A page with the links of the site; fenced blocks keep their tabs until the page is HTML."""
    name = page.file.src_uri
    result = _change_prose(
        markdown, lambda text: _CELL.sub(_unescape, _site_links(text, name, files.src_uris))
    )
    result = _PYTHON_SESSION.sub("```pycon", result)
    result = _FENCED.sub(lambda block: block[0].replace("\t", _TAB), result)
    if name == "codes.md":
        own = {code: f"[{code}]({page})" for page in files.src_uris for code in _CODE.findall(page)}
        return _ENTRY.sub(lambda entry: f"{entry[1]}{own.get(entry[2], entry[2])}", result)
    return result


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """A page with texts to copy and tables for phones; its description is its first sentence."""
    from docs.make.site_html import plain, with_cards, with_copies, with_options

    if (first := re.search(r"<p>(.*?)</p>", content, re.S)) and "description" not in page.meta:
        page.meta["description"] = re.split(r"(?<=[.:]) ", " ".join(plain(first[1]).split()))[0]
    for start in filter(page.file.src_uri.startswith, SEARCH):
        page.meta["search"] = {"boost": SEARCH[start]}
    return with_cards(with_options(with_copies(content.replace(_TAB, "\t"))))


def on_env(env: Any, files: Files, **_: Any) -> Any:
    """Give the links of all pages titles; the titles of all pages are known here."""
    from docs.make.site_html import with_titles

    pages = [file.page for file in files.documentation_pages() if file.page]
    titles = dict(chain.from_iterable(map(_titles, pages)))
    for page in pages:
        page.content = with_titles(page.content or "", page.url, titles)
    return env


def on_post_page(output: str, **_: Any) -> str:
    """A page whose menu does not repeat the titles of sections."""
    from docs.make.site_html import with_short_menu

    return with_short_menu(output)


def _titles(page: Any) -> Iterator[tuple[str, str]]:
    """The titles of a page and of its sections, by URL."""
    sections = list(page.toc)
    head = sections[0].title if sections and sections[0].level == 1 else str(page.title)
    name = unescape(head)
    yield page.url, name
    for section in sections:
        sections += section.children
        title = unescape(section.title)
        yield f"{page.url}{section.url}", name if title == name else f"{name}: {title}"


def _change_prose(markdown: str, change: Any) -> str:
    """A page with its text outside of fenced blocks changed by a function."""
    parts, end = [], 0
    for block in _FENCED.finditer(markdown):
        parts += [change(markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, change(markdown[end:])])


def _site_links(text: str, name: str, pages: Container[str]) -> str:
    """The text of a page with the links of the site, which has some pages."""
    up = "../" * name.count("/")

    def link(found: re.Match[str]) -> str:
        page, anchor = found["page"], found["anchor"] or ""
        page = page.removeprefix("docs/") if name in ROOT_PAGES.values() else page
        if (root := page.removeprefix(f"{up}../")) in ROOT_PAGES:
            page = f"{up}{ROOT_PAGES[root]}"
        page = page.replace(SCHEMAS, "schemas/")
        own = f"codes/{anchor[1:].upper()}.md"
        if page == f"{up}codes.md" and own in pages:
            page, anchor = f"{up}{own}", ""
        return f"{found[1]}{page}{anchor})"

    return _LINK.sub(link, text)


def _unescape(row: re.Match[str]) -> str:
    """A row of a table without backslashes before pipes in code, which the site would show."""
    return re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), row[0])


#: The addresses that a browser loads: scripts, styles, fonts, images, frames, forms.
_LOADED = etree.XPath(
    "//@*[name() = 'src' or name() = 'data' or name() = 'srcset'] | //form/@action"
    " | //link[not(@rel = 'canonical' or @rel = 'next' or @rel = 'prev')]/@href"
)


def external_resources(page: str) -> list[str]:
    """The addresses of resources that a browser would load from other sites."""
    root = etree.HTML(page)
    listed = () if root is None else map(str, _LOADED(root))
    imports = re.findall(r"(?:@import|url\()\s*[\"']?([^\"')\s;]+)", page)
    addresses = [*listed, *imports]
    return [address for address in addresses if re.match(r"(?i)(?:https?:)?//", address)]


def tagged(index: str, synonyms: Mapping[str, Sequence[str]]) -> str:
    """The search index with the words that mean a page or section as its tags.

    Raises:
        PluginError: for a page or section that is not in the index.
    """
    content = json.loads(index)
    by_location = {entry["location"]: entry for entry in content["docs"]}
    for location, words in synonyms.items():
        if location not in by_location:
            raise PluginError(f"synonyms.toml: no page or section {location}")
        by_location[location]["tags"] = [*words]
    return json.dumps(content, separators=(",", ":"))


def on_post_build(config: MkDocsConfig) -> None:
    """Add synonyms to the search index; check that nothing is loaded from another site.

    Raises:
        PluginError: if a page or style loads something, or if a synonym is of no page.
    """
    index = Path(config["site_dir"], "search", "search_index.json")
    if index.exists():
        synonyms = tomllib.loads((ROOT / "docs" / "synonyms.toml").read_text("utf-8"))
        if some := os.environ.get("SITE_CODES", "").split():
            built = {f"codes/{code}.html" for code in some}
            left_out = {name for name in synonyms if name.startswith("codes/")} - built
            synonyms = {name: words for name, words in synonyms.items() if name not in left_out}
        index.write_text(tagged(index.read_text("utf-8"), synonyms), "utf-8")
    for path in Path(config["site_dir"]).rglob("*"):
        if path.suffix not in {".html", ".css"}:
            continue
        if found := external_resources(path.read_text("utf-8")):
            raise PluginError(f"{path} asks for {', '.join(found)}")

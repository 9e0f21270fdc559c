"""What the site has beside the pages of this folder, and how links become links of the site.

The README is its home page; the pages of codes are made here. In the repository, `codes.md#std302`
leads to the line of the index; on the site, to the page of the code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # where `docs.make` is found, whoever runs the site
AT_THE_ROOT = {"README.md": "index.md"} | {
    name: name for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
}
"""Pages that stand at the root of the repository, by their names here."""

_LINK = re.compile(r"(\]\()(?P<page>[^)#:\s]*)(?P<anchor>#[^)\s]*)?\)")
_CELL = re.compile(r"^\|.*\|$", re.M)
_FENCED = re.compile(r"^(```+).*?^\1`*$", re.M | re.S)


def on_config(config: MkDocsConfig) -> None:
    """Give the tables of clauses their place in the navigation, whichever there are."""
    folder = Path(config.docs_dir) / "clauses"
    pages = sorted(folder.glob("*.md"), key=lambda path: (path.name != "index.md", path.name))
    if pages and config.nav:
        clauses = {"Clauses": [f"clauses/{path.name}" for path in pages]}
        config.nav.insert(-1, clauses)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of this folder."""
    from docs.make.code_pages import pages

    for name, here in AT_THE_ROOT.items():
        text = (ROOT / name).read_text("utf-8")
        files.append(File.generated(config, here, content=text))
    for code, text in pages().items():
        files.append(File.generated(config, f"codes/{code}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links as the site has them; what is fenced stays as it is."""
    name = page.file.src_uri
    linked = _outside(markdown, lambda text: _CELL.sub(_unescaped, _linked(text, name)))
    if name == "codes.md":
        return re.sub(r"(<a id=\"\w+\"></a>)([A-Z]{3}\d{3})", r"\1[\2](codes/\2.md)", linked)
    return linked


def _outside(markdown: str, change: Any) -> str:
    """A text with what stands outside of its fenced blocks changed."""
    parts, end = [], 0
    for block in _FENCED.finditer(markdown):
        parts += [change(markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, change(markdown[end:])])


def _linked(text: str, name: str) -> str:
    up = "../" * name.count("/")

    def link(found: re.Match[str]) -> str:
        page, anchor = found["page"], found["anchor"] or ""
        page = page.removeprefix("docs/") if name in AT_THE_ROOT.values() else page
        page = page.removeprefix("../") if page.removeprefix("../") in AT_THE_ROOT else page
        page = AT_THE_ROOT.get(page, page)
        if page == f"{up}codes.md" and re.fullmatch(r"#[a-z]{3}\d{3}", anchor):
            page, anchor = f"{up}codes/{anchor[1:].upper()}.md", ""
        return f"{found[1]}{page}{anchor})"

    return _LINK.sub(link, text)


def _unescaped(row: re.Match[str]) -> str:
    """A row of a table with the pipes of its code bare: here a backslash would be shown."""
    return re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), row[0])


class _Asked(HTMLParser):
    """What a browser fetches for a page: scripts, styles, fonts, pictures, frames."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        fetched = {"a": [], "link": ["href"], "form": ["action"]}.get(
            tag, ["src", "data", "srcset"]
        )
        if given.get("rel") not in {"canonical", "next", "prev"}:
            self.addresses += [given[name] for name in fetched if name in given]


def outside(page: str) -> list[str]:
    """The addresses in a page that a browser would fetch from elsewhere."""
    asked = _Asked()
    asked.feed(page)
    imported = re.findall(r"(?:@import|url\()\s*[\"']?([^\"')\s;]+)", page)
    return [one for one in (*asked.addresses, *imported) if re.match(r"(?i)(?:https?:)?//", one)]


def on_post_build(config: MkDocsConfig) -> None:
    """Hold that no page and no style asks for anything from elsewhere."""
    for path in _built(Path(config["site_dir"])):
        if found := outside(path.read_text("utf-8")):
            raise PluginError(f"{path} asks for {', '.join(found)}")


def _built(site: Path) -> Iterator[Path]:
    for suffix in ("html", "css"):
        yield from site.rglob(f"*.{suffix}")

"""The site of the documentation in a browser: opened as files, and from a server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.thorough  # the site is built for it
PHONE = {"width": 360, "height": 740}
#: Options broken at a hyphen, headings with an empty line, and tables that scroll but are not wide.
BROKEN = """() => {
  const text = (node) => node.textContent.trim().slice(0, 40);
  const find = (selector, test) =>
    [...document.querySelectorAll(`.md-content ${selector}`)].filter(test).map(text);
  const bottom = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    range.setEndBefore(node.querySelector(".headerlink"));
    return range.getBoundingClientRect().bottom;
  };
  return {
    options: find(".option", (node) => node.getClientRects().length > 1),
    headings: find(":is(h1, h2, h3):has(> .headerlink)", (node) =>
      node.getBoundingClientRect().bottom > bottom(node) + 12),
    tables: find("table:not([data-wide])", (node) => {
      const wrap = node.closest(".md-typeset__scrollwrap");
      return wrap && wrap.scrollWidth > wrap.clientWidth + 1;
    }),
  };
}"""


class Quiet(SimpleHTTPRequestHandler):
    """A server that prints nothing."""

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    """The address of a server of the site."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as started:
        thread = threading.Thread(target=started.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{started.server_port}"
        started.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def page(browser: Any, site: Path, server: str) -> Iterator[Any]:
    """A page of the browser; at the end, nothing may have been printed or loaded from elsewhere."""
    context = browser.new_context(reduced_motion="reduce")
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server)
    context.set_default_timeout(15_000)
    opened = context.new_page()
    trouble: list[str] = []

    def on_request(request: Any) -> None:
        if not request.url.startswith((server, site.as_uri(), "data:", "blob:")):
            trouble.append(f"request: {request.url}")

    opened.on("request", on_request)
    opened.on("console", lambda message: trouble.append(f"{opened.url}: {message.text}"))
    opened.on("pageerror", lambda error: trouble.append(f"{opened.url}: {error}"))
    yield opened
    context.close()
    assert trouble == []


@pytest.fixture(params=["file", "http"])
def address(request: pytest.FixtureRequest, site: Path, server: str) -> str:
    return server if request.param == "http" else site.as_uri()


def search(page: Any, text: str) -> Any:
    """Type something into the search; its results."""
    page.keyboard.press("/")
    page.keyboard.type(text)
    results = page.locator(".md-search-result__item")
    expect(results.first).to_be_visible()
    return results


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("EDL501", "/codes/EDL501.html"),
        ("error[STD302]: T12", "/codes/STD302.html"),
        ("--strict-loss", "/convert.html#information-loss"),
        ("seedev-full", "/tasks.html#seedev-full"),
        ("docker", "/programs.html#container"),
        ("codabench", "/how-to/publish.html"),
        ("offset by one", "/how-to/before-upload.html#3-let-hlteval-fix-what-is-mechanical"),
    ],
)
def test_enter_leads_to_the_first_page_of_a_search(page, address, text, target):
    page.goto(f"{address}/codes/STD302.html" if text == "seedev-full" else f"{address}/start.html")
    search(page, text)
    page.wait_for_timeout(200)
    page.keyboard.press("Enter")
    page.wait_for_url(address + target)


def test_a_click_leads_to_a_page_of_a_search(page, address):
    page.goto(f"{address}/index.html")
    search(page, "EDL501").get_by_role("link").first.click()
    page.wait_for_url(f"{address}/codes/EDL501.html")


@pytest.mark.parametrize(
    ("name", "heading", "copied"),
    [
        (
            "start.html",
            "the-first-submission",
            "hlteval validate seedev-full flawed --against reference --format concise\n"
            "hlteval explain SEE205",
        ),
        (
            "python.html",
            "comparison",
            "compared = hlteval.compare(\n"
            '    "hub4",\n'
            '    "comparison/reference.tpl",\n'
            '    {"bold": "comparison/bold.tpl", "careful": Path("comparison/careful.tpl")},\n'
            ")\n"
            "[(system.rank, system.name, round(system.value, 4)) for system in compared.systems]\n"
            "round(compared.differences[0].probability, 4)\n"
            'compared.to_frame("differences")'
            '.select("first", "second", "wins", "losses").rows()',
        ),
        (
            "codes/STD302.html",
            "std302-unresolved-reference",
            "E1\tBinding Functional_Molecule:T999 Molecule:T2",
        ),
        ("cite.html", "hlteval", None),
    ],
)
def test_a_button_copies_what_somebody_types(page, server, name, heading, copied):
    page.goto(f"{server}/{name}")
    block = page.locator(f"#{heading} ~ .highlight").first
    block.hover()
    block.get_by_role("button", name="Copy to clipboard").click()
    text = page.evaluate("navigator.clipboard.readText()")
    assert text == (copied or block.locator("code").inner_text().rstrip())


@pytest.mark.long("every page is opened")
def test_no_page_is_wider_than_a_phone(page, site):
    page.set_viewport_size(PHONE)
    for path in site.rglob("*.html"):
        if path.stem == "404" or (path.parent.name == "codes" and path.stem != "STD302"):
            continue  # the first is for servers, the others are alike
        page.goto(path.as_uri())
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width == PHONE["width"], path.name
        broken = page.evaluate(BROKEN)
        assert broken == {"options": [], "headings": [], "tables": []}, path.name

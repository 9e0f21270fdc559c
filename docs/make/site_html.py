"""What the site adds to the HTML of a page: texts to copy, titles of links, tables for phones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape, unescape
from posixpath import dirname, join, normpath

from lxml import etree, html

_BLOCK = re.compile(r'<div class="highlight">(?=<pre><span></span><code>(.*?)</code></pre>)', re.S)
_LINK = re.compile(r'<a href="(?P<target>[^"#:]*)(?P<anchor>#[^"]*)?">(?P<text>.*?)</a>', re.S)
_SHELL = re.compile(r"^\$ .*(?:(?<=\\)\n> .*)*", re.M)
_PYTHON = re.compile(r"^>>> .*(?:\n\.\.\.(?: .*)?$)*", re.M)
"""Commands in sessions, with their prompts; a command may have several lines."""
_INLINE = re.compile(r"(?<!</span>)(?<!<pre>)<code>[^<]*</code>")
"""Code in a line of text, not in a block."""
_OPTION = re.compile(r"(?<![\w&;-])--?[A-Za-z][\w-]*")
_ARROWS = "<code>→</code> is a tab"
"""The sentence of pages whose examples show tabs as arrows."""
_PHONE = 36
"""Letters in a line of a table on a phone."""
_CELL = 14
"""Letters of a line in a cell, if a table is to be read as one."""
_MOST = 7
"""Columns of a table that can become a list of cards."""


def plain(markup: str) -> str:
    """The text of a piece of HTML.

    Examples:
        >>> plain("<b>a</b> &lt; b")
        'a < b'
    """
    return unescape(re.sub(r"<[^>]*>", "", markup))


def typed(session: str) -> str | None:
    r"""What somebody types in a session of a shell or of Python; None for other texts.

    Examples:
        >>> typed("$ hlteval tasks\nseedev-full\n$ ls \\\n> -l\n")
        'hlteval tasks\nls \\\n-l'
        >>> typed(">>> for x in y:\n...     x\n1\n")
        'for x in y:\n    x'
        >>> typed("no session") is None
        True
    """
    first = re.search(r"^(?:\$|>>>) ", session, re.M)
    if first is None:
        return None
    commands = (_SHELL if first[0] == "$ " else _PYTHON).findall(session)
    return re.sub(r"^(?:\$|>>>|>|\.\.\.) ?", "", "\n".join(commands), flags=re.M)


def with_copies(content: str) -> str:
    """HTML whose sessions have what the button copies: the commands, without prompts and output.

    Where `→` is a tab, the copy of an example has the tab.
    """
    arrows = _ARROWS in content

    def block(found: re.Match[str]) -> str:
        shown = plain(found[1])
        copied = typed(shown)
        if copied is None and arrows and "→" in shown:
            copied = shown.replace("→", "\t").rstrip("\n")
        if copied is None:
            return found[0]
        return f'<div class="highlight" data-copy="{escape(copied)}">'

    return _BLOCK.sub(block, content)


def with_titles(content: str, url: str, titles: Mapping[str, str]) -> str:
    """HTML whose links to pages of the site have titles, where their texts are others.

    A text that is the name of a file, as in the repository, is replaced by the title.

    Args:
        content: of the page.
        url: of the page, from the root of the site.
        titles: of pages, and of sections by URLs with anchors.

    Examples:
        >>> titles = {"codes/STD302.html": "STD302: Unresolved reference"}
        >>> with_titles('<a href="STD302.html">STD302</a>', "codes/STD105.html", titles)
        '<a href="STD302.html" title="STD302: Unresolved reference">STD302</a>'
        >>> with_titles('<a href="codes/STD302.html">STD302.md</a>', "index.html", titles)
        '<a href="codes/STD302.html">STD302: Unresolved reference</a>'
    """

    def link(found: re.Match[str]) -> str:
        page = normpath(join(dirname(url), found["target"])) if found["target"] else url
        anchor = found["anchor"] or ""
        title = titles.get(page + anchor) or titles.get(page)
        text = found["text"]
        if title and re.search(r"\w\.md$", plain(text)):
            text = escape(title)
        named = "" if title in {None, plain(text)} else f' title="{escape(title or "")}"'
        return f'<a href="{found["target"]}{anchor}"{named}>{text}</a>'

    return _LINK.sub(link, content)


def with_options(content: str) -> str:
    """HTML whose lines do not end after the hyphens of an option.

    Examples:
        >>> with_options("<code>score --seed 1</code>")
        '<code>score <span class="option">--seed</span> 1</code>'
    """
    return _INLINE.sub(
        lambda code: _OPTION.sub(r'<span class="option">\g<0></span>', code[0]), content
    )


def with_cards(content: str) -> str:
    """HTML whose tables fit on a phone.

    Tables of many columns are marked `data-wide`: they scroll beside their first column. Other
    tables that do not fit are marked `data-cards`: each row becomes a card, whose cells have the
    heads of their columns.
    """
    if "<table>" not in content:
        return content
    return re.sub(r"<table>.*?</table>", _marked, content, flags=re.S)


def _marked(found: re.Match[str]) -> str:
    table = html.fromstring(found[0])
    heads = [_text(head) for head in table.iter("th")]
    rows = [list(row.iter("td")) for row in table.iter("tr")]
    if len(heads) > _MOST:
        table.set("data-wide", "")
    elif sum(_widths(heads, rows)) > _PHONE:
        table.set("data-cards", "")
        for row in rows:
            _label(row, heads)
    else:
        return found[0]
    return etree.tostring(table, encoding="unicode", method="html")


def _label(row: list[html.HtmlElement], heads: list[str]) -> None:
    for cell, head in zip(row[1:], heads[1:], strict=False):
        if head:
            cell.set("data-label", head)


def _widths(heads: list[str], rows: list[list[html.HtmlElement]]) -> Iterator[int]:
    """The least letters in a line of each column."""
    for position, head in enumerate(heads):
        texts = [head, *(_text(row[position]) for row in rows if len(row) > position)]
        yield 3 + max(max(min(len(text), _CELL), _longest_word(text)) for text in texts)


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _text(cell: html.HtmlElement) -> str:
    return str(cell.text_content()).strip()


_IN_SECTION = re.compile(
    r'(<(?:a|label) [^>]*\bmd-nav__link\b[^>]*>\s*<span class="md-ellipsis">\s*)'
    r"(?:Tutorial: |Clauses of )(\w)"
)
"""The start of a title in the menu that repeats the title of its section."""


def with_short_menu(html: str) -> str:
    """A page whose menu has titles without what the titles of their sections say.

    Args:
        html: the whole page.

    Examples:
        >>> link = '<a href="t.html" class="md-nav__link"><span class="md-ellipsis">{}</span></a>'
        >>> with_short_menu(link.format("Tutorial: change detection (CCU)"))[-35:]
        '">Change detection (CCU)</span></a>'
    """
    return _IN_SECTION.sub(lambda start: start[1] + start[2].upper(), html)

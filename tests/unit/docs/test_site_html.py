"""What the site adds to the HTML of its pages."""

from __future__ import annotations

import doctest

import pytest

from docs.make import site_html
from docs.make.site_html import typed, with_cards, with_copies, with_titles


def highlighted(text: str) -> str:
    return f'<div class="highlight"><pre><span></span><code>{text}</code></pre></div>'


def row(*cells: str, tag: str = "td") -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"


def test_the_examples_of_the_docstrings_hold():
    results = doctest.testmod(site_html)
    assert results.attempted >= 5
    assert not results.failed


@pytest.mark.parametrize(
    ("session", "commands"),
    [
        ("$ a\nx\n$ b\n", "a\nb"),
        ("$ a | b > c\n> not of the command\n", "a | b > c"),
        ("$ a \\\n> b \\\n> c\n> d\n", "a \\\nb \\\nc"),
        ("$ a\nx\n> y\n", "a"),
        (">>> def f():\n...     pass\n...\n>>> f()\n$ 1\n", "def f():\n    pass\n\nf()"),
        ("$5\n>>>x\n", None),
        ("pip install .\n", None),
    ],
)
def test_commands_are_copied_without_prompts_and_output(session, commands):
    assert typed(session) == commands


def test_a_block_is_copied_as_it_is_unless_it_is_a_session():
    assert 'data-copy="a &lt;b&gt; &quot;c&quot;"' in with_copies(
        highlighted('<span class="gp">$ </span>a &lt;b&gt; "c"\n<span class="go">d</span>\n')
    )
    assert with_copies(highlighted("a → b\n")) == highlighted("a → b\n")


def test_arrows_are_copied_as_tabs_where_the_page_says_so():
    page = f"<p><code>→</code> is a tab.</p>{highlighted('a→b  c' + chr(10))}"
    assert 'data-copy="a\tb  c"' in with_copies(page)


def test_links_to_sections_have_the_title_of_the_section_and_others_none():
    titles = {"a.html": "A", "a.html#b": "A: B", "c/d.html": "D"}
    assert 'title="A: B">see</a>' in with_titles(
        '<a href="../a.html#b">see</a>', "c/d.html", titles
    )
    assert 'title="A">see</a>' in with_titles('<a href="a.html#x">see</a>', "e.html", titles)
    assert 'title="D">see</a>' in with_titles('<a href="#x">see</a>', "c/d.html", titles)
    for same in (
        '<a href="a.html"><b>A</b></a>',
        '<a href="https://example.org/a.html">see</a>',
        '<a class="headerlink" href="#b" title="Permanent link">&para;</a>',
    ):
        assert with_titles(same, "e.html", titles) == same


def test_a_table_that_fits_stays_and_one_that_does_not_becomes_cards():
    small = f"<table>{row('a', 'b', tag='th')}{row('c', 'd')}</table>"
    assert with_cards(small) == small
    heads = row("code", "meaning", "help", tag="th")
    large = with_cards(f"<table>{heads}{row('X', 'some words of it', 'other words of it')}</table>")
    assert large.startswith('<table data-cards="">')
    assert '<td>X</td><td data-label="meaning">some' in large
    assert '<td data-label="help">other' in large


def test_a_table_of_many_columns_scrolls():
    heads = row(*"abcdefgh", tag="th")
    assert with_cards(f"<table>{heads}</table>").startswith('<table data-wide="">')

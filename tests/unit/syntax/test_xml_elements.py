"""XML that is not well-formed: what is wrong, and how to correct it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.converters import load
from hlteval.sources import open_source


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("<A>\n<TOK>x</TOKEN>\n</A>", "write the same name in both tags; here they are <TOK> and "),
        ("<A>\n<TOKEN>x\n</A>", "add </TOKEN> before it, or remove it"),
    ],
)
def test_an_end_tag_of_another_name_is_a_misspelling_or_a_missing_tag(
    content: str, hint: str, tmp_path: Path
) -> None:
    path = tmp_path / "d.ltf.xml"
    path.write_text(content)
    (result,) = load("ltf").read(open_source(str(path)))
    (wrong,) = (item for item in result.findings if item.code == "XML101")
    assert (wrong.help or "").startswith(hint)


@pytest.mark.parametrize(
    ("text", "column", "hint"),
    [
        ("AT & T", 7, "write &amp;"),
        ("R&D center", 5, "write &amp;"),
        ("Fish &chips", 9, "write &amp;"),
        ("R&amp;D, R&D, a", 14, "write &amp;"),
        ("a &; b", 6, "write &amp;"),
        ("R&amp;D < 3", 12, "write &lt;"),
    ],
)
def test_what_must_be_written_as_a_reference_is_marked(
    text: str, column: int, hint: str, tmp_path: Path
) -> None:
    path = tmp_path / "d.xml"
    path.write_text(f"<A>{text}</A>")
    (result,) = load("ltf").read(open_source(str(path)))
    (wrong,) = (item for item in result.findings if item.code == "XML101")
    assert wrong.span
    assert (wrong.span.column, wrong.help) == (column, hint)


@pytest.mark.parametrize("tag", ["<{0}/>", '<document {0}="1"/>'])
def test_a_message_has_the_beginning_of_a_very_long_name(tag: str, tmp_path: Path) -> None:
    path = tmp_path / "d.xml"
    path.write_text(f"<collection>{tag.format('a' * 100_000)}</collection>")
    (result,) = load("bioc-xml").read(open_source(str(path)))
    messages = [item.message for item in result.findings if "aaa" in item.message]
    assert messages
    assert max(map(len, messages)) < 2000

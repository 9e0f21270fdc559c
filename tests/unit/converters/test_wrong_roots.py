"""Every reader of XML with the root elements of all others, and with those of none."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest

from hlteval import convert, read
from hlteval.converters import known, load
from hlteval.workflows.convert.conversion import NotConverted

FIXTURES = Path(__file__).parents[3] / "fixtures"
ROOT = re.compile(rb"<([A-Za-z][\w:.-]*)")


def example(name: str) -> Path | None:
    """A valid file of a format that is XML or SGML."""
    files = sorted((FIXTURES / name / "valid").rglob("*")) if load(name).reads else []
    for path in files:
        if path.is_file() and path.read_bytes().lstrip(b"\xef\xbb\xbf \r\n").startswith(b"<"):
            return path
    return None


EXAMPLES = {name: path for name in known() if (path := example(name))}
ROOTS = sorted({ROOT.findall(path.read_bytes())[0].decode() for path in EXAMPLES.values()})
TEXTS = [
    *("<{0}/>", "<{0}></{0}>\n", "<{0} id='1'>x</{0}>", "<{0}><{0}/></{0}>", "<{0}>", "</{0}>"),
    "<?xml version='1.0'?>\n<!DOCTYPE {0}>\n<{0}/>\n",
    "<x:{0} xmlns:x='urn:x'/>",
]


PAIRS = [
    (name, root)
    for name, path in EXAMPLES.items()
    for root in ["a", "html", *ROOTS]
    if root.encode() != ROOT.findall(path.read_bytes())[0]
]


def test_there_are_readers() -> None:
    assert {"bioc-xml", "ltf", "laf", "mteval", "tmx", "elan"} <= set(EXAMPLES)
    assert len(ROOTS) > 5


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("name", "root"), PAIRS)
def test_a_reader_reports_another_root(name: str, root: str, tmp_path: Path) -> None:
    path = tmp_path / EXAMPLES[name].name
    for text in TEXTS:
        path.write_text(text.format(root))
        corpus, findings = read(path, name)
        assert "error" in {found.severity for found in findings}, text
        assert not corpus.mentions.height
        with suppress(NotConverted):  # a document may have the name of its file
            convert(path, tmp_path / "out.jsonl", from_format=name, force=True)

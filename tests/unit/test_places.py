"""Every finding of the fixtures is inside its file, by line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.mutations import as_files
from fuzz.places import lines_of, outside, strays
from fuzz.subjects import readers, seeds
from fuzz.trial import write_files
from hlteval.converters import load
from hlteval.findings import Span, finding
from hlteval.sources import open_source


@pytest.mark.sampled(6)
@pytest.mark.parametrize("reader", readers())
def test_every_finding_is_inside_its_file(reader: str, tmp_path: Path) -> None:
    for number, seed in enumerate(seeds(reader)):
        files = as_files(seed)
        path = write_files(files, tmp_path / str(number))
        contents = {
            str(path / name) if name else str(path): content
            for name, content in files.files.items()
            if content is not None
        }
        results = load(reader).read(open_source(str(path)))
        assert not strays((found for result in results for found in result.findings), contents)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        (b"\xef\xbb\xbfa\r\nb", ["a\r", "b"]),
    ],
)
def test_the_lines_of_a_file(data: bytes, lines: list[str]) -> None:
    assert lines_of(data) == lines


@pytest.mark.parametrize(
    ("span", "is_inside"),
    [
        (Span(1, 1, 3), True),
        (Span(1, 3, 3), True),
        (Span(1, 3, 4), False),
        (Span(1, 4, 4), False),
        (Span(2, 1, 1), False),
        (Span(0, 1, 1), False),
        (Span(1, 2, 1), False),
    ],
)
def test_only_an_empty_span_is_at_the_end_of_a_line(span: Span, is_inside: bool) -> None:
    found = finding("JSN106", file="a.json", span=span, path="$")
    assert (outside(found, ["ab"]) == "") == is_inside


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d1.ltf.xml", b'<?xml version="1.0"?>\n<LCTL_TEXT>\n<DOC id="d1">\n'),
        ("d1.ltf.xml", b"\n\n"),
        ("corpus.jsonl", b'{"format":"hlteval-corpus","version":1}\n\n{"table":\n'),
        ("frames.json", b'[{"a": 1},\n'),
        ("run.tab", b"NIST_1\x89m1\tParis\tENG_D1:0-4\t2988507\tGPE\tNAM\t1.0\n"),
    ],
    ids=["open-element", "no-element", "json-lines", "json", "invalid-byte"],
)
def test_what_is_missing_at_the_end_is_inside(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    form = {"ltf.xml": "ltf", "jsonl": "jsonl", "json": "speech-sf-json", "tab": "edl-tab"}[
        name.partition(".")[2]
    ]
    results = load(form).read(open_source(str(path)))
    findings = [found for result in results for found in result.findings]
    assert any(found.span for found in findings)
    assert not strays(findings, {str(path): content})

"""A saved corpus gives the same rows and findings whatever the size of the chunks it is read in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz import corpora
from hlteval.converters import ReadResult
from hlteval.converters.corpus.jsonl import LineNumbers, Lines, read_lines
from hlteval.sources import Member, open_source
from tests.stored import lines_of

TRIALS = 40
HEADER = b'{"format":"hlteval-corpus","version":1}\n'
SIZES = (1, 200)
BYTES = (
    *(b"\n", b"\r", b"\r\n", b"\n\n", b"\x0b", b"\0", b"\xff", b" ", b"{", b"}", b'"', b"}\n{"),
    *("\x85".encode(), "\u2028".encode(), "\ufeff".encode(), b'"x":[1,{}],', b'"x":"\\n",'),
)


@given(content=st.lists(st.sampled_from((b"a", b"\n", b"\r", "é\u2028".encode()))).map(b"".join))
def test_lines_are_those_between_line_feeds(content: bytes) -> None:
    expected = content.split(b"\n")
    for size in (1, 2, 5, 1000):
        lines = lines_of(content, size)
        assert b"".join(chunk for _, chunk in lines.chunks()) == content
        for order in (range(1, len(expected) + 1), range(len(expected), 0, -1)):
            assert [lines[number] for number in order] == [expected[at - 1] for at in order]


@given(kinds=st.lists(st.sampled_from("ab-")))
def test_rows_are_numbered_by_their_lines(kinds: list[str]) -> None:
    numbers = LineNumbers()
    expected = [line for line, kind in enumerate(kinds, 2) if kind == "a"]
    for line in expected:
        numbers.add(line, 1)
    assert [numbers[row] for row in range(len(expected))] == expected


def read(content: bytes, size: int, most: int) -> ReadResult:
    member = Member("", "c.jsonl", None, lambda: content, max_per_code=most)
    return read_lines(lines_of(content, size), member)


def assert_alike(content: bytes, most: int = 100) -> ReadResult:
    expected = read(content, len(content) + 1, most)
    for size in SIZES:
        found = read(content, size, most)
        assert found.findings == expected.findings
        assert found.corpus == expected.corpus
    return expected


def shuffled(lines: list[bytes], draw: Random) -> list[bytes]:
    return [lines[0], *draw.sample(lines[1:], len(lines) - 1)]


def repeated(lines: list[bytes], draw: Random) -> list[bytes]:
    return [line for line in lines for _ in range(draw.choice((1, 1, 2)))]


def with_carriage_returns(lines: list[bytes], _: Random) -> list[bytes]:
    return [line + b"\r" for line in lines]


def with_unknown_columns(lines: list[bytes], draw: Random) -> list[bytes]:
    names = (b'"row"', b'"zz":"\\n","row"', b'"row"', b'"y":{"row":[]},"row"')
    return [lines[0], *(line.replace(b'"row"', draw.choice(names), 1) for line in lines[1:])]


CHANGES: tuple[Callable[[list[bytes], Random], list[bytes]], ...] = (
    *(shuffled, repeated, with_carriage_returns, with_unknown_columns),
)


def damaged(draw: Random) -> bytes:
    (files,) = corpora.mutate("jsonl", draw)
    (content,) = files.files.values()
    assert content
    lines = content.split(b"\n")
    for change in CHANGES:
        lines = change(lines, draw) if draw.random() < 0.25 else lines
    content = b"\n".join(lines)
    for _ in range(draw.choice((0, 1, 2, 5))):
        at = draw.randrange(len(content) + 1)
        content = content[:at] + draw.choice(BYTES) + content[at + draw.choice((0, 1, 3)) :]
    return content.rstrip(b"\n") if draw.random() < 0.2 else content


@pytest.mark.thorough
def test_a_damaged_file_gives_the_same_in_chunks_of_any_size() -> None:
    codes = set()
    for number in range(TRIALS):
        draw = Random(f"chunks {number}")
        codes |= {f.code for f in assert_alike(damaged(draw), draw.choice((0, 1, 100))).findings}
    assert codes >= {"COR101", "COR102", "COR103", "COR104", "COR105"}


@pytest.mark.parametrize("most", [0, 2])
def test_many_defects_are_reported_at_their_lines(most: int) -> None:
    row = b'{"table":"segments","row":%d,"document":99,"origin":0,"record":1,"start":0,"end":9}\n'
    lines = [row % number + b'{"table":"documents","row":%d}\n' % number for number in range(40)]
    found = assert_alike(HEADER + b"".join(lines), most)
    assert len({f.span.line for f in found.findings if f.span}) == (80 if most == 0 else 6)


def test_a_file_that_changed_after_it_was_read_has_findings(tmp_path: Path) -> None:
    """Rows are read once; the lines of findings are looked up in what is there then."""
    path = tmp_path / "c.jsonl"
    path.write_bytes(HEADER + b'{"table":"documents","row":0,"name":" "}\n' * 3)
    (member,) = open_source(str(path)).members
    lines = Lines(member.reader(), 50)
    for _ in lines.chunks():
        path.write_bytes(HEADER + b"\xff[")
    assert [lines[number] for number in (2, 3, 4)] == [b"\xff[", b"", b""]

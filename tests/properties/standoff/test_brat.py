"""brat: canonical files come back as they were, and both readers say what the grammar says."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Tree, UnexpectedInput

from hlteval.converters import ReadResult, load
from hlteval.grammars import load as grammar
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from tests.effort import tries

FORMAT = load("brat")
SPACES = " \t\r\f\x0b"
STRANGE = "\xa0\u2003\u2028\x85\x1c\u0663\uff11\U0001d6fc\xe9\u0301\u202e"
WORD = st.text(st.sampled_from("abT1_-.;*" + STRANGE), min_size=1, max_size=4)
TYPE = st.text(st.sampled_from("abT1_-.:" + STRANGE), min_size=1, max_size=4)
SUFFIX = st.sampled_from(["", "", "", ".1", "a", "\u6771"])
OFFSETS = st.tuples(st.integers(0, 999), st.integers(0, 999)).map("{0[0]} {0[1]}".format)
TEXTS = st.text(st.sampled_from("abc \t:;" + STRANGE), min_size=1, max_size=6).filter(
    lambda text: text == text.strip(SPACES)
)
ARGUMENTS = st.lists(st.builds("{}:{}".format, WORD, WORD), min_size=1, max_size=4).map(" ".join)
VALUES = st.lists(WORD, min_size=1, max_size=3).map(" ".join)
LINES = {
    "T": st.builds(
        "{} {}\t{}".format, TYPE, st.lists(OFFSETS, min_size=1, max_size=3).map(";".join), TEXTS
    ),
    "E": st.builds("{}:{}{}".format, WORD, WORD, st.just("") | ARGUMENTS.map(" {}".format)),
    "R": st.builds("{} A{}:{} B{}:{}".format, TYPE, WORD, WORD, WORD, WORD),
    "A": st.builds("{} {}{}".format, TYPE, WORD, st.just("") | VALUES.map(" {}".format)),
    "M": st.builds("{} {}".format, TYPE, WORD),
    "N": st.builds("{} {} {}:{}".format, TYPE, WORD, WORD, TYPE)
    | st.builds("Reference {} W:{}\t{}".format, WORD, WORD, TEXTS),
    "#": st.builds("{} {}{}".format, TYPE, WORD, st.just("") | TEXTS.map("\t{}".format)),
    "*": st.builds("{} {}".format, TYPE, st.lists(WORD, min_size=1, max_size=3).map(" ".join)),
}
RULES = {"T": "text_bound", "E": "event", "R": "relation", "A": "attribute", "M": "modifier"}
RULES |= {"N": "normalization", "#": "note", "*": "equivalence"}


@st.composite
def annotations(draw: st.DrawFn) -> str:
    """The canonical lines of a document, whose identifiers are used once."""
    lines = []
    for number, letter in enumerate(draw(st.lists(st.sampled_from(list(LINES)), max_size=8))):
        name = "*" if letter == "*" else f"{letter}{number}{draw(SUFFIX)}"
        lines.append(f"{name}\t{draw(LINES[letter])}\n")
    return "".join(lines)


def read(files: Mapping[str, str]) -> ReadResult:
    members = tuple(
        Member(name, name, 0, lambda content=content: content.encode())  # type: ignore[misc]
        for name, content in sorted(files.items())
    )
    (reading,) = FORMAT.read(Source("corpus", "folder", members))
    reading.corpus.check_keys()
    return reading


def rewritten(corpora: Iterable[Corpus]) -> dict[str, str]:
    assert FORMAT.write is not None
    with tempfile.TemporaryDirectory() as folder:
        FORMAT.write(corpora, Path(folder, "out"))
        return {file.name: file.read_bytes().decode() for file in Path(folder, "out").iterdir()}


@given(st.dictionaries(st.sampled_from(["a", "b.c"]), annotations(), min_size=1))
@settings(max_examples=tries(10), deadline=None)
def test_canonical_files_come_back_byte_by_byte(documents: dict[str, str]) -> None:
    files = {f"{name}.ann": content for name, content in documents.items()}
    files |= {"a.txt": "a text\nof two lines"} if "a" in documents else {}
    reading = read(files)
    assert {finding.code for finding in reading.findings} <= {"BRT205", "BRT206", "BRT207"}
    assert not any(FORMAT.count_losses(reading.corpus).values())
    assert rewritten([reading.corpus]) == files


@given(annotations(), st.data())
@settings(max_examples=tries(10), deadline=None)
def test_other_layouts_keep_their_content(content: str, data: st.DataObject) -> None:
    ends = st.sampled_from(["\n", "\r\n", " \n", "\t\r\n", "\n\n", "\n \n"])
    loose = "".join(line + data.draw(ends) for line in content.split("\n")[:-1])
    assert rewritten([read({"d.ann": loose}).corpus]) == {"d.ann": content}


def tree(line: str) -> Tree[Any] | None:
    try:
        parsed: Tree[Any] = grammar("brat").parse(line)
    except UnexpectedInput:
        return None
    record: Tree[Any] = parsed.children[0]
    return record


def said(record: Tree[Any]) -> list[tuple[str, ...]]:
    """The rows that a parse tree stands for, each as its table and what it holds."""
    tokens = {token.type: str(token) for token in record.scan_values(lambda _: True)}
    name = str(record.children[0])
    label = tokens.get("TYPE", tokens.get("LABEL", ""))
    text, value = tokens.get("TEXT", ""), tokens.get("VALUE", tokens.get("REFERENCE", ""))
    arguments = [tuple(map(str, item.children)) for item in record.find_data("argument")]
    if record.data == "equivalence":
        members = next(record.find_data("members")).children
        return [("groups", label, str(member)) for member in members]
    if record.data in {"event", "relation"}:
        trigger = tokens.get("TRIGGER", "")
        kind = str(record.data)
        # What is found comes from the last to the first.
        filled = sorted(("arguments", role, target) for role, target in arguments)
        return [("frames", name, kind, label, trigger), *filled]
    if record.data == "text_bound":
        offsets = [int(offset) for offset in next(record.find_data("fragments")).children]
        spans = [str(min(offsets[::2])), str(max(offsets[1::2])), str(len(offsets) // 2)]
        return [("mentions", name, label, *spans, text)]
    return [("modifiers", name, label, tokens["TARGET"], value, text)]


def found(corpus: Corpus) -> dict[int, list[tuple[str, ...]]]:
    """The rows that were read of each line, in the same form."""
    parts = pl.col("fragments").list.len().fill_null(1).cast(pl.String)
    tables = {
        "frames": ("frame", "kind", "label", "trigger"),
        "arguments": ("role", "target"),
        "mentions": ("mention", "label", "start", "end", parts, "text"),
        "modifiers": ("modifier", "label", "target", "value", "text"),
        "groups": ("kind", "member"),
    }
    rows: dict[int, list[tuple[str, ...]]] = {}
    for table, columns in tables.items():
        frame: pl.DataFrame = getattr(corpus, table)
        cells = frame.select("record", *columns).cast(pl.String).fill_null("").rows()
        cells = sorted(cells) if table == "arguments" else cells
        for record, *rest in cells:
            rows.setdefault(int(record), []).append((table, *rest))
    return rows


def agree(lines: list[str]) -> int:
    """Hold that bulk path and grammar say the same of every line; how many are valid."""
    reading = read({"d.ann": "\n".join(lines) + "\n"})
    rows, valid = found(reading.corpus), 0
    refused = set(reading.corpus.rejected_records["record"])
    for number, line in enumerate(lines, start=1):
        record = tree(line.strip(SPACES)) if line.strip(SPACES) else None
        assert (number in refused) is (record is None and line.strip(SPACES) != ""), line
        assert rows.get(number, []) == (said(record) if record else []), line
        valid += record is not None
    assert sum(f.code.startswith("BRT1") for f in reading.findings) == len(refused)
    return valid


@pytest.mark.parametrize("letter", LINES)
def test_what_the_grammar_allows_is_read(letter: str) -> None:
    @given(st.lists(LINES[letter], min_size=1, max_size=20))
    @settings(max_examples=tries(10), deadline=None)
    def hold(contents: list[str]) -> None:
        name = "*" if letter == "*" else f"{letter}1"
        assert agree([f"{name}\t{content}" for content in contents]) == len(contents)

    hold()


BASES = (
    "T26\tLocation 0 5;16 23\tNorth America",
    "T1\tLocation 0 5",
    "E1\tMERGE-ORG:T2 Org1:T1  Org2:T3",
    "E2\tBorn:T4",
    "R1\tOrigin Arg1:T3 Arg2:T4",
    "A1\tNegation E1",
    "A2\tConfidence E2 L1 and more",
    "M3x\tSpeculation E1",
    "N1\tReference T1 Wikipedia:534366\tBarack Obama",
    "#1\tAnnotatorNotes T1\tthis annotation is suspect",
    "*\tEquiv T1 T2 T3",
)


@pytest.mark.parametrize("seed", range(2))
def test_both_readers_agree_on_changed_lines(seed: int) -> None:
    draw = random.Random(seed)
    marks = ["T", "E", "#", "*", ":", ";", " ", "  ", "\t", "\r", "\f", "9", "0 5", "", *STRANGE]
    lines = []
    for _ in range(1200):
        line = draw.choice(BASES)
        for _ in range(draw.randint(0, 2)):
            at, cut = draw.randrange(len(line) + 1), draw.randint(0, 1)
            line = line[:at] + draw.choice(marks) + line[at + cut :]
        lines.append(line)
    assert 400 < agree(lines) < 1100  # else the lines would show little

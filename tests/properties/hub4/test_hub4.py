"""Template sets: two readers, one authority; what is written reads the same; nothing breaks it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Token, UnexpectedInput

from hlteval.converters import load as load_format
from hlteval.converters.hub4.lines import (
    NO_SLOT,
    OUTSIDE,
    UNREAD,
    kind_of,
    parse_brackets,
    tables,
    with_brackets,
)
from hlteval.grammars import load
from hlteval.sources import Member, Source
from hlteval.syntax import tsv as tsv_lines
from tests.effort import tries
from tests.runs import validate

FIXTURES = Path(__file__).parents[3] / "fixtures" / "hub4"
FEW = settings(max_examples=tries(12))
"""For what writes files."""
SPACES = " \t\r\f\x0b"
STRANGE = "\xa0\u2003\u2028\x85\x1c\u0663\U0001d6fc\xe9\u0301\u202e"
NAME = st.text(st.sampled_from("AZaz09_"), min_size=1, max_size=4)
TYPE = NAME | st.just("A:=") | st.just('é/#"')
DOCUMENT = st.sampled_from(["D1", "D-2", "NYT-1.3", "é" + STRANGE[-1]])
POINTER = st.builds("<{}-{}-{}>".format, TYPE, DOCUMENT, st.integers(0, 12))
TEXT = st.text(st.sampled_from('ab[] :;#"/<>-' + STRANGE), max_size=9)
NUMBERS = st.lists(st.integers(0, 999_999_996), min_size=1, max_size=3)


def extents(numbers: list[int], last: str) -> str:
    return "##" + "#".join(f"{number}#{number + 3}" for number in numbers) + last


EXTENTS = st.just("") | st.builds(extents, NUMBERS, st.sampled_from("##" + " ").map(str.strip))
QUOTED = st.builds('"{}"{}{}'.format, TEXT, st.sampled_from([" ", "", " \t"]), EXTENTS)
BARE = st.builds(
    "{}{}{}".format,
    st.sampled_from(["a", "x y", "A: b", "# 4", ":=", "b :="]),
    st.just(" "),
    EXTENTS,
)
FILL = st.one_of(POINTER, QUOTED, QUOTED, BARE)
SLASH = st.sampled_from(["/", "/ ", "/\t"])
LINE = st.one_of(
    POINTER.map("{} :=".format),
    POINTER.map("{}:=".format),
    st.builds("{}: {}".format, NAME, FILL),
    st.builds("{}:{}{}".format, NAME, SLASH, FILL | st.just("")),
    st.builds("{}:".format, NAME),
    st.just("OBJ_STATUS: OPTIONAL"),
    st.builds("{}{}".format, SLASH, FILL | st.just("")),
    FILL,
    st.sampled_from(["", " ", "\r", "\t\x0b"]),
)
CHANGES = ("#", '"', "/", "<", ">", ":", ":=", "-", "[", "]", " ", "##", "1", "é", "\r", "")


def changed(line: str, kind: int, place: int, given: str) -> str:
    """One mutation: something put in, left out, replaced, doubled, or exchanged with the next."""
    at = place % (len(line) + 1)
    head, here, tail = line[:at], line[at : at + 1], line[at + 1 :]
    return (
        head + given + here + tail,
        head + tail,
        head + given + tail,
        head + here + here + tail,
        head + tail[:1] + here + tail[1:],
    )[kind]


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """Lines of a file, some of them damaged, with blanks at their ends."""
    written = []
    for whole in draw(st.lists(LINE, max_size=14)):
        line = whole
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            kind, place = draw(st.integers(0, 4)), draw(st.integers(0, 99))
            line = changed(line, kind, place, draw(st.sampled_from(CHANGES)))
        margin = draw(st.sampled_from(["", "    ", "\t"]))
        written.append(margin + line + draw(st.sampled_from(["", "", " ", "\r"])))
    return written


@dataclass
class Literal:
    """A reader that asks the grammar for each line, and keeps in mind where it is."""

    reference: bool
    frames: list[tuple[Any, ...]] = field(default_factory=list)
    fills: list[tuple[Any, ...]] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)
    idle: list[int] = field(default_factory=list)
    hashless: list[int] = field(default_factory=list)

    def read(self, written: list[str]) -> Literal:
        self.state, self.slot, self.slots = "outside", None, 0
        for record, line in enumerate(written, start=1):
            if bare := line.strip(SPACES):
                self.line(record, bare)
        self.close()
        return self

    def line(self, record: int, line: str) -> None:
        try:
            tree = load("hub4").parse(line).children[0]
        except UnexpectedInput:
            self.refused.append((record, UNREAD))
            self.damaged(kind_of(line))
            return
        parts = {token.type: str(token) for token in tree.children if isinstance(token, Token)}
        if tree.data == "header":
            self.close()
            self.state, self.slots = "instance", 0
            self.frames.append((record, parts["POINTER"].strip("<>")))
        elif self.state == "outside":
            self.refused.append((record, OUTSIDE))
        elif self.state == "silent":
            pass
        elif tree.data == "slot":
            self.close()
            self.slots += 1
            self.state = "slot"
            self.slot = {
                "name": parts["SLOT"][:-1],
                "record": record,
                "rows": [],
                "idle": [],
                "open": None,
                "optional": False,
            }
            self.take(record, parts)
        elif self.state == "slot":
            self.take(record, parts)
        elif self.state == "instance":
            self.refused.append((record, NO_SLOT))

    def damaged(self, kind: int) -> None:
        """What a line that cannot be read does to those that follow."""
        if kind == 0:
            self.close()
            self.state = "silent"
        elif kind == 1 and self.state in {"instance", "slot"}:
            self.close()
            self.state = "damaged"

    def take(self, record: int, parts: dict[str, str]) -> None:
        assert self.slot is not None
        content = next((parts[n] for n in ("POINTER", "QUOTED", "UNQUOTED") if n in parts), None)
        if "SLASH" in parts:
            if self.slot["open"] is not None:
                self.slot["idle"].append(self.slot["open"])
            self.slot["optional"] |= not self.slot["rows"]
            self.slot["open"] = record
            self.slot["new"] = True
        if content is None:
            return
        self.slot["open"] = None
        rows = self.slot["rows"]
        first = not rows
        alternative = 1 if first else rows[-1][0] + bool(self.slot.get("new"))
        position = 1 if first or alternative != rows[-1][0] else rows[-1][1] + 1
        self.slot["new"] = False
        rows.append((alternative, position, record, parts))
        if "EXTENTS" in parts and not parts["EXTENTS"].endswith("#"):
            self.hashless.append(record)

    def close(self) -> None:
        """End a slot: its fills, or that it has none."""
        slot, self.slot = self.slot, None
        if slot is None:
            return
        idle = [*slot["idle"], *([] if slot["open"] is None else [slot["open"]])]
        # The mark of an optional slot stands for itself where the slot has no fill.
        self.idle += [item for item in idle if slot["rows"] or item != slot["record"]]
        head = (len(self.frames) - 1, slot["name"], self.slots, slot["optional"])
        if not slot["rows"]:
            self.fills.append((slot["record"], *head, 1, 1, "empty", None, None, None, None, None))
        for alternative, position, record, parts in slot["rows"]:
            self.fills.append((record, *head, alternative, position, *self.fill(parts)))

    def fill(self, parts: dict[str, str]) -> tuple[Any, ...]:
        if "POINTER" in parts:
            return "pointer", parts["POINTER"].strip("<>"), None, None, None, None
        quoted = "QUOTED" in parts
        text = parts["QUOTED"][1:-1] if quoted else parts["UNQUOTED"].rstrip(SPACES)
        brackets = None
        if self.reference:
            text, brackets = parse_brackets(text)
        return "text", None, text, quoted, pairs(parts.get("EXTENTS")), brackets


def pairs(written: str | None) -> list[dict[str, int]] | None:
    if written is None:
        return None
    numbers = [int(number) for number in written.strip("#").split("#")]
    return [
        {"start": start, "end": end} for start, end in zip(numbers[::2], numbers[1::2], strict=True)
    ]


COLUMNS = (
    *("record", "frame_row", "slot", "slot_number", "optional", "alternative", "position"),
    *("kind", "target", "text", "quoted", "extents", "brackets"),
)


@settings(max_examples=tries(40))
@given(lines(), st.booleans())
def test_the_bulk_path_reads_what_the_grammar_says(written: list[str], reference: bool) -> None:
    found = tables("\n".join(written), reference=reference)
    literal = Literal(reference).read(written)
    assert found.frames.select("record", "frame").rows() == literal.frames
    rows = found.fills.select(COLUMNS).sort("record").rows()
    assert rows == sorted(literal.fills, key=lambda row: row[0])
    assert found.rejected_records.select("record", "code").rows() == literal.refused
    assert found.idle.to_list() == sorted(literal.idle)
    assert found.hashless.to_list() == literal.hashless


def assert_same(one: pl.DataFrame | pl.Series, other: pl.DataFrame | pl.Series) -> None:
    """Equal values of equal types."""
    frames = [pl.DataFrame(each) if isinstance(each, pl.Series) else each for each in (one, other)]
    assert frames[0].equals(frames[1])
    assert frames[0].schema == frames[1].schema


@settings(max_examples=tries(40))
@given(st.lists(lines(), max_size=3), st.booleans(), st.integers(0, 99))
def test_the_slices_of_a_file_do_not_show(
    written: list[list[str]], reference: bool, size: int
) -> None:
    text = "\n".join(line for each in written for line in each)
    whole = tables(text, reference=reference)
    with patch.object(tsv_lines, "SLICE", size):
        sliced = tables(text, reference=reference)
    for one, other in zip(sliced, whole, strict=True):
        assert_same(one, other)


@given(st.text(st.sampled_from("ab[]"), max_size=10))
def test_brackets_come_back(text: str) -> None:
    bare, brackets = parse_brackets(text)
    assert with_brackets(bare, brackets or []) == text
    if brackets is not None:
        assert "[" not in bare
        assert [bracket["start"] for bracket in brackets] == sorted(
            bracket["start"] for bracket in brackets
        )


@settings(max_examples=tries(25))
@given(st.lists(st.sampled_from(["a", "[b]", "[[c] d]", "[", "]", "[]", "é"]), max_size=6))
def test_texts_with_one_pair_are_read_as_all_others(parts: list[str]) -> None:
    text = "".join(parts)
    found = tables(f'<A-D-1> :=\nS: "{text}"', reference=True).fills
    assert found.select("text", "brackets").row(0) == parse_brackets(text)


def single(text: str) -> Source:
    data = text.encode()
    return Source("set.tpl", "file", (Member("", "set.tpl", len(data), lambda: data),))


def canonical(draw: st.DrawFn) -> Iterator[str]:
    """A template set as it is written."""
    for number in range(draw(st.integers(0, 3))):
        yield f"<{draw(NAME)}-{draw(DOCUMENT)}-{number}> :="
        for name in draw(st.lists(NAME, max_size=3, unique=True)):
            lead = f"    {name}:" + " /" * draw(st.booleans())
            column = len(lead) + 1
            if draw(st.integers(0, 5)) == 0:
                yield lead
                continue
            for alternative in range(draw(st.integers(1, 3))):
                for position in range(draw(st.sampled_from([1, 1, 2]))):
                    if alternative and not position:
                        lead = " " * (column - 2) + "/"
                    elif position:
                        lead = " " * (column - 1)
                    yield f"{lead} {draw(CANONICAL)}"


CANONICAL = st.one_of(
    POINTER,
    TEXT.map('"{}"'.format),
    st.builds(lambda text, numbers: f'"{text}" {extents(numbers, "#")}', TEXT, NUMBERS),
    st.builds(lambda numbers: f"# 4: x {extents(numbers, '#')}", NUMBERS),
)


@FEW
@given(st.data(), st.sampled_from(["reference", "system"]))
def test_a_canonical_set_is_written_as_it_was(data: st.DataObject, side: str) -> None:
    text = "".join(f"{line}\n" for line in data.draw(st.composite(lambda d: list(canonical(d)))()))
    assert rewritten(text, side) == text


@FEW
@given(lines(), st.sampled_from(["reference", "system"]))
def test_what_is_written_reads_the_same(written: list[str], side: str) -> None:
    once = rewritten("\n".join(written), side)
    assert rewritten(once, side) == once
    before, after = (
        tables(text, reference=side == "reference") for text in ("\n".join(written), once)
    )
    assert before.frames.drop("record").equals(after.frames.drop("record"))
    kept = [name for name in COLUMNS if name not in {"record", "quoted"}]
    order = ["frame_row", "slot_number", "alternative", "position"]
    assert before.fills.select(kept).sort(order).equals(after.fills.select(kept).sort(order))


def rewritten(text: str, side: str) -> str:
    form = load_format("hub4").with_settings({"side": side})
    (reading,) = form.read(single(text))
    assert form.write is not None
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "set.tpl")
        form.write([reading.corpus], path)
        return path.read_bytes().decode()


COPIES = 25
"""Damaged copies of a file that are put behind each other: reading costs most by the file."""


def damaged(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 4)):
        kind, place = chance.randrange(5), chance.randrange(10**6)
        text = changed(text, kind, place, chance.choice((*CHANGES, "\n")))
    return text


def mutants(name: str, count: int) -> Iterator[str]:
    """Files of damaged copies, from a fixed seed."""
    chance = random.Random(4)
    text = (FIXTURES / "valid" / name).read_text("utf-8")
    for _ in range(0, count, COPIES):
        yield "\n".join(damaged(text, chance) for _ in range(COPIES))


@pytest.mark.parametrize("side", ["reference", "system"])
def test_damage_raises_nothing_but_findings(
    side: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    corpus = str(FIXTURES / "valid" / "corpus.sgml")
    path = tmp_path / "set.tpl"
    codes = set()
    for text in mutants(f"{side}.tpl", request.config.getoption("--mutations")):
        path.write_bytes(text.encode())
        role = "reference" if side == "reference" else "submission"
        verdict = validate("hub4", str(path), options={"corpus": corpus}, role=role)
        codes |= {finding.code for finding in verdict.findings}
        for finding in verdict.findings:
            assert finding.file == str(path)
            assert finding.span is not None or finding.code in WHOLE
            if finding.span and finding.excerpt and not finding.excerpt.offset:
                line = text.split("\n")[finding.span.line - 1].removesuffix("\r")
                assert finding.excerpt.text == line[: len(finding.excerpt.text)]
                assert finding.span.end_column <= len(line) + 1
    assert len(codes) > 15


WHOLE = {"HUB225", "HUB305", "SRC202"}
"""Codes of findings about a file."""


@pytest.mark.parametrize("name", ["corpus.sgml", "reference.tpl"])
def test_damaged_corpora_raise_nothing_but_findings(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    system = str(FIXTURES / "valid" / "system.tpl")
    path = tmp_path / "corpus.sgml"
    for text in mutants(name, request.config.getoption("--mutations") // 4):
        path.write_bytes(text.encode())
        verdict = validate("hub4", system, options={"corpus": str(path), "document_tag": "DOC"})
        assert {finding.file for finding in verdict.findings} <= {str(path), system}


def test_the_order_of_sets_says_nothing() -> None:
    text = (FIXTURES / "valid" / "reference.tpl").read_text("utf-8")
    first, second = text.split("<TEMPLATE-B-2-1>")
    turned = f"<TEMPLATE-B-2-1>{second}{first}"
    shown = [
        sorted(tables(item, reference=True).fills.drop("row", "record", "document", "frame_row")
               .select(pl.struct(pl.all()).struct.json_encode()).to_series())
        for item in (text, turned)
    ]  # fmt: skip
    assert shown[0] == shown[1]

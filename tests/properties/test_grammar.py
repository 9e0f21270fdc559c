"""Two readers of standoff, one authority: in bulk is read what the grammar says, and no more."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Tree, UnexpectedInput

from hlteval.converters import ReadResult
from hlteval.converters.format import EVERYTHING
from hlteval.converters.standoff.bionlp import FORMAT
from hlteval.converters.standoff.dialects import torn
from hlteval.grammars import load, pattern
from hlteval.sources import Member, Source
from tests.effort import tries

SPACES = " \t\r\f\x0b"
RULES = {
    "T": "text_bound",
    "W": "text_bound",
    "E": "event",
    "R": "event",
    "M": "modifier",
    "N": "normalization",
    "*": "equivalence",
}
# What reads differently in one engine or another: blanks that are none here, digits that are none,
# line separators, letters beyond the basic plane, combining marks.
STRANGE = "\xa0\u2003\u2028\u2029\x85\x1c\x1f\u0663\uff11\U0001d7cf\U0001d6fc\xe9\u0301\u202e\u200b"
PLAIN = "TWERMN*E1T23:; \t\r\f\x0b\\.^$|()[]{}?+-_#'\"" + STRANGE
WORD = st.text(st.sampled_from("AaTE19_-.;*'" + STRANGE), min_size=1, max_size=5)
LABELLED = st.text(st.sampled_from("AaBinding_;*" + STRANGE), min_size=1, max_size=6)
NUMBER = st.integers(0, 10**9 - 1).map(str) | st.sampled_from(["0", "007", "000000000"])
MARGIN = st.sampled_from([" ", " ", " ", "  ", "\t", " \x0b", "\r\f"])
TARGET = st.builds(lambda first, rest: first + rest, st.sampled_from(["T", "E", ":"]), WORD)
ARGUMENT = st.builds("{}:{}".format, LABELLED, TARGET)


def joined(items: st.SearchStrategy[str], most: int) -> st.SearchStrategy[str]:
    """Some items with blanks between them."""
    more = st.lists(st.tuples(MARGIN, items), max_size=most - 1)
    return st.builds(lambda one, rest: one + "".join(map("".join, rest)), items, more)


FRAGMENTS = st.lists(st.builds("{} {}".format, NUMBER, NUMBER), min_size=1, max_size=3).map(
    ";".join
)
TEXT = st.text(st.sampled_from("abc \t:;" + STRANGE), min_size=1, max_size=8)
LINES = {
    "text_bound": st.builds(
        "{}{}\t{} {}\t{}".format, st.sampled_from("TW"), WORD, LABELLED, FRAGMENTS, TEXT
    ),
    "event": st.builds(
        "{}{}\t{}{}{}{}".format,
        st.sampled_from("ER"),
        WORD,
        LABELLED,
        st.just("") | TARGET.map(":{}".format),
        st.sampled_from([" ", " ", " \t "]),
        joined(ARGUMENT, 4),
    ),
    "modifier": st.builds("M{}\t{} Annotation:{}".format, WORD, LABELLED, TARGET),
    "normalization": st.builds(
        "N{}\t{} Annotation:{} Referent:{}".format, WORD, LABELLED, TARGET, TARGET
    ),
    "equivalence": st.builds("*\tEquiv {}".format, joined(TARGET, 4)),
}
LINE = st.one_of(*LINES.values())


def stripped(line: str) -> str:
    return line.strip(SPACES)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    line = draw(LINE)
    for _ in range(draw(st.integers(1, 3))):
        line = change(line, draw(st.integers(0, 4)), draw(st.integers(0, 10**6)), draw(CHANGES))
    return line


CHANGES = st.sampled_from([*PLAIN, "Annotation:", "Referent:", "Equiv ", "12345678901", "; ", ""])


def change(line: str, kind: int, place: int, given: str) -> str:
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


def read(lines: Iterable[str]) -> ReadResult:
    """One file of these lines, as the bulk path reads it."""
    data = ("\n".join(lines) + "\n").encode()
    member = Member("d.a2", "d.a2", len(data), lambda: data)
    (reading,) = FORMAT.read(Source("corpus", "folder", (member,)))
    return reading


def parsed(line: str) -> Tree[Any] | None:
    """What the grammar says of a line."""
    try:
        tree: Tree[Any] = load("standoff").parse(stripped(line))
    except UnexpectedInput:
        return None
    if re.search(torn("text_bound"), stripped(line)):
        return None  # another record is none of a text, whatever the grammar says
    record: Tree[Any] = tree.children[0]
    return record


def rows_of(tree: Tree[Any]) -> dict[str, list[dict[str, Any]]]:
    """The rows of the representation that a parse tree stands for."""
    name, *rest = tree.children
    if tree.data == "equivalence":
        members = [{"kind": str(rest[0]), "member": str(member)} for member in rest[1].children]
        return {"groups": members}
    label, rest = str(rest[0]), rest[1:]
    if tree.data == "text_bound":
        numbers = [int(offset) for offset in rest[0].children]
        parts = [
            {"start": start, "end": end}
            for start, end in zip(numbers[::2], numbers[1::2], strict=True)
        ]
        mention = {
            "mention": str(name),
            "label": label,
            "start": min(numbers[::2]),
            "end": max(numbers[1::2]),
            "fragments": parts if len(parts) > 1 else None,
            "text": str(rest[1]),
        }
        return {"mentions": [mention]}
    if tree.data == "event":
        *trigger, arguments = rest
        frame = {
            "frame": str(name),
            "kind": "relation" if name.startswith("R") else "event",
            "label": label,
            "trigger": str(trigger[0]) if trigger else None,
        }
        pairs = [tuple(map(str, argument.children)) for argument in arguments.children]
        listed = [
            {"position": position, "role": role, "target": target}
            for position, (role, target) in enumerate(pairs, start=1)
        ]
        return {"frames": [frame], "arguments": listed}
    value = str(rest[1]) if tree.data == "normalization" else None
    row = {"modifier": str(name), "label": label, "target": str(rest[0]), "value": value}
    return {"modifiers": [row]}


KEYS = {"row", "document", "origin", "record", "frame_row", "group"}
CARRIED = ("mentions", "frames", "arguments", "modifiers", "groups", "rejected_records")


def written(table: str, column: str) -> bool:
    """Whether a line of standoff says what a column holds."""
    named = f"{table}.{column}"
    return column not in KEYS and (named in FORMAT.carries or named not in EVERYTHING)


def rows_read(reading: ReadResult) -> dict[int, dict[str, list[dict[str, Any]]]]:
    """The rows of each line, by its number and by table."""
    found: dict[int, dict[str, list[dict[str, Any]]]] = {}
    for name in CARRIED:
        table: pl.DataFrame = getattr(reading.corpus, name)
        for row in table.sort("row").iter_rows(named=True):
            content = {key: value for key, value in row.items() if written(name, key)}
            found.setdefault(row["record"], {}).setdefault(name, []).append(content)
    return found


def agree(lines: list[str]) -> int:
    """Hold that both readers say the same of every line; the number of lines that are valid."""
    reading = read(lines)
    found, valid = rows_read(reading), 0
    for number, line in enumerate(lines, start=1):
        tree, mine = parsed(line) if stripped(line) else None, found.get(number, {})
        bulk = RULES.get(stripped(line)[:1])
        accepted = bulk and re.fullmatch(pattern("standoff", bulk), stripped(line))
        accepted = accepted and not re.search(torn("text_bound"), stripped(line))
        assert bool(accepted) == (tree is not None), line
        if tree is not None:
            assert mine == rows_of(tree), line
            valid += 1
        else:
            assert list(mine) == (["rejected_records"] if stripped(line) else []), line
    refused = reading.corpus.rejected_records
    assert refused["record"].is_unique().all()
    assert len(reading.findings) == refused.height
    return valid


@pytest.mark.parametrize("rule", LINES)
def test_what_the_grammar_allows_is_read(rule: str) -> None:
    @given(st.lists(LINES[rule], min_size=1, max_size=20))
    @settings(max_examples=tries(12), deadline=None)
    def hold(lines: list[str]) -> None:
        # a carriage return inside a line is reported: it may be meant as its end
        valid = [line for line in lines if stripped(line) == line and "\r" not in line]
        assert agree(lines) >= len(valid)

    hold()


@given(st.lists(mutated() | LINE, min_size=1, max_size=20))
@settings(max_examples=tries(40), deadline=None)
def test_both_readers_agree_on_changed_lines(lines: list[str]) -> None:
    agree(lines)


@pytest.mark.parametrize("seed", range(4))
def test_both_readers_agree_on_thousands_of_changed_lines(seed: int) -> None:
    draw = random.Random(seed)
    bases = [
        "T26\tProtein_Family 903 906;914 927\t12S seed proteins",
        "W1\tTissue 0 4\tseed",
        "E1\tLocalization Functional_Molecule:T27 Target_Tissue:T25",
        "R1\tBinding:T3 Theme:T1  Theme2:T2",
        "M1\tNegation Annotation:E1",
        "N1\tOntoBiotope Annotation:T1 Referent:OBT:000001",
        "*\tEquiv T4 T11\tT12",
    ]
    lines = []
    for _ in range(1500):
        line = draw.choice(bases)
        for _ in range(draw.randint(0, 2)):
            line = change(line, draw.randrange(5), draw.randrange(10**6), draw.choice(PLAIN))
        lines.append(line)
    valid = agree(lines)
    assert 400 < valid < 1400  # else the lines would show little


def test_blanks_at_the_ends_do_not_count() -> None:
    lines = [" E1\tBinding A:T1 ", "\tE2\tBinding A:T1\r", "\x0b\fM1\tNegation Annotation:E1\t\t"]
    assert agree(lines) == 3
    assert agree(["", " ", "\r", "\t\x0b\f"]) == 0
    assert agree(["\u00a0E1\tBinding A:T1", "E1\tBinding A:T1\u2028"]) == 1

"""The official verdict beside the checks of the public validator, written down one after the other.

The checks are those of its documentation and of its runs, in its order and by brute force: every
line by itself, and then every pair of lines of a document.
"""

from __future__ import annotations

import re
import tempfile
from itertools import combinations
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hlteval import validate
from tests.effort import tries

BLANK = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*")
OFFSETS = re.compile("([0-9]+)-([0-9]+)")
GOOD = ("T", "m", "Paris", "D1:10-14", "7", "GPE", "NAM", "1.0")

EXTENTS = st.one_of(
    st.builds("D{}:{}-{}".format, st.integers(1, 2), st.integers(0, 4), st.integers(4, 9)),
    st.builds("D1:{}-{}".format, st.integers(10, 99), st.integers(10, 99)),
    st.sampled_from(
        [
            *("", " ", "D1", ":1-2", " :1-2", "D1:1-2:x", "D1:", "D:1:1-2", "D1: 1-2", "D1:1 -2"),
            *("D1:1\u20132", "D1:007-9", "D1:a-2", "D 1:1-2", "D1:1-2-3", "D1:-1-2", "::1-2"),
            "D1:5-5",
        ]
    ),
)
OTHERS = {
    0: ["", " ", "U", "1"],
    1: ["", " ", "m"],
    2: ["", "\u00a0", "x"],
    4: ["", " ", "NIL", "nil3", "1|2", "m.06"],
    5: ["", "FAC", "gpe"],
    6: ["", "NOM", "x"],
    7: ["", " ", "high", "1.5", "0.5.5", "1", "1.0\t", "1.0\t\tx", "1.0\t\t"],
}


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A line with few faults, if any."""
    fields = list(GOOD)
    fields[1] = f"m{draw(st.integers(1, 40))}"
    fields[3] = draw(EXTENTS)
    if draw(st.integers(0, 2)) == 0:
        index = draw(st.sampled_from(list(OTHERS)))
        fields[index] = draw(st.sampled_from(OTHERS[index]))
    return "\t".join(fields)


TABLES = st.lists(lines() | st.sampled_from(["", " \t", "short", "\u2003"]), max_size=4)


def passes(text: str) -> bool:
    """Whether the public validator passes a table."""
    refused, spans, seen = False, [], set[str]()
    for line in text.replace("\r", "").split("\n"):
        if BLANK.fullmatch(line):
            continue
        if line in seen:
            refused = True
            continue
        seen.add(line)
        fields = line.rstrip("\t").split("\t")
        if len(fields) != len(GOOD):
            refused = True
            continue
        refused |= any(BLANK.fullmatch(fields[index]) is not None for index in (1, 2, 4))
        document, _, rest = fields[3].partition(":")
        found = OFFSETS.fullmatch(rest.partition(":")[0])
        if BLANK.fullmatch(document) or found is None:
            refused = True
        else:
            spans.append((document, int(found[1]), int(found[2])))
    return not refused and not any(beside(one, other) for one, other in combinations(spans, 2))


def beside(one: tuple[str, int, int], other: tuple[str, int, int]) -> bool:
    """Whether two mentions have one extent, or one lies inside the other, or they cross."""
    (first, start, last), (second, begin, end) = sorted([one, other])
    if first != second:
        return False
    if (start, last) == (begin, end):
        return True
    proper = start <= last and begin <= end  # of what is reversed, only the same is told
    return proper and begin <= last


@settings(max_examples=tries(40))
@given(TABLES, st.sampled_from(["\n", "\r\n"]))
@example(["\t".join(GOOD)] * 2, "\n")
@example(["\t".join(GOOD), "\t".join(GOOD) + "\t"], "\n")
@example(["\t".join(GOOD), "\t".join(GOOD).replace("10-14", "15-18")], "\n")
@example(["\t".join(GOOD), "\t".join(GOOD).replace("10-14", "010-14")], "\n")
def test_official_is_the_verdict_of_the_public_validator(table: list[str], end: str) -> None:
    text = "".join(line + end for line in table)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.tab")
        path.write_bytes(text.encode())
        verdict = validate("lorehlt-edl", str(path), profile="official")
    assert verdict.passed is passes(text)

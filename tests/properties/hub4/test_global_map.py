"""Global maps: the patterns take what the grammar takes, and nothing breaks the reader."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from lark import UnexpectedInput

from hlteval.converters.hub4.global_map import read_map
from hlteval.grammars import load, pattern
from hlteval.sources import Member

STRING = st.one_of(
    st.text(st.sampled_from("AB' -é"), max_size=4).map("[{}]".format),
    st.text(st.sampled_from("AB' -é"), max_size=4).map('"{}"'.format),
    st.sampled_from(["", "A", "A B", "{A / [B]}", "%H", "=", "A=B", "_", "A_B", "*", "]"]),
)
RULE = st.builds("{} => {}{}".format, STRING, STRING, st.just(""))
CONTEXT = st.builds("{} / {} __ {}".format, RULE, STRING, STRING)
HEADER = st.builds(
    "* {} {}{}".format,
    st.sampled_from(["case_sensitive", "max_nrules", "format", "name"]),
    st.sampled_from(["= ", "", "="]),
    st.sampled_from(["'T'", '"F"', "'9'", "'99999999999'", "''", "T"]),
)
DEPENDENT = st.sampled_from(["ref", "(", "a{9999999999}", "((a*)*)*", ".*"]).map(
    ';; INPUT_DEPENDENT_APPLICATION = "{}"'.format
)
LINE = st.one_of(RULE, CONTEXT, HEADER, DEPENDENT, st.text("[]\"'*=>/_ A;\t{}", max_size=12))


def mutated(line: str, place: int, put: str) -> str:
    at = place % (len(line) + 1)
    return line[:at] + put + line[at + 1 :]


CHANGED = st.builds(
    mutated, LINE, st.integers(0, 50), st.sampled_from([*"[]\"'*=>/_ A;{}", "=>", "__", ""])
)


@given(LINE | CHANGED)
def test_the_patterns_take_what_the_grammar_takes(line: str) -> None:
    said = line.strip(" \t")
    kind = "header" if said.startswith("*") else "rule"
    try:
        tree = load("glm").parse(said)
    except UnexpectedInput:
        tree = None
    match = re.fullmatch(pattern("glm", kind), said)
    assert (match is not None) == (tree is not None and tree.children[0].data == kind)
    if match and tree:
        kept = [value for value in match.groupdict().values() if value is not None]
        assert kept == [str(token) for token in tree.children[0].children]


@given(st.lists(LINE | CHANGED, max_size=8))
def test_damage_raises_nothing_but_findings(lines: list[str]) -> None:
    data = "\n".join([";; x", *lines]).encode()
    found, findings = read_map(Member("", "x.glm", len(data), lambda: data), "ref")
    assert len(found.rules) == len({(item.source, item.left, item.right) for item in found.rules})
    assert all(rule.source for rule in found.rules)
    for finding in findings:
        assert finding.span is not None
        assert finding.span.line <= len(lines) + 1

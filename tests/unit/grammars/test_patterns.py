"""Patterns: what is compiled from a grammar, and what is refused because engines would differ."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from lark import Lark

from hlteval.grammars import load, pattern
from house.patterns import NotRegular, compile_rule

Golden = Callable[[Path, str], None]
RULES = ("text_bound", "event", "modifier", "normalization", "equivalence")


ROOM = Path(__file__).parents[3] / "grammars"


def compile_all(grammar: Lark) -> dict[str, str]:
    """The patterns of all regular rules of a grammar, by rule."""
    compiled = {}
    for rule in {str(rule.origin.name) for rule in grammar.rules}:
        with suppress(NotRegular):
            compiled[rule] = compile_rule(grammar, rule)
    return dict(sorted(compiled.items()))


def test_the_committed_patterns_are_those_of_the_grammars(golden: Golden) -> None:
    names = sorted(path.stem for path in ROOM.glob("*.lark"))
    made = {name: compile_all(load(name)) for name in names}
    text = json.dumps(made, indent=1, ensure_ascii=True)
    golden(ROOM / "patterns.json", f"{text}\n")
    for name, rules in made.items():
        assert {rule: pattern(name, rule) for rule in rules} == rules


def grammar(text: str) -> Lark:
    return Lark(text, parser="lalr", lexer="contextual", start="start")


def matched(text: str, line: str) -> dict[str, str | None] | None:
    found = re.fullmatch(compile_rule(grammar(text), "start"), line)
    return found.groupdict() if found else None


def test_terminals_and_rules_become_groups() -> None:
    text = 'start: NAME ":" rest\nrest: NUMBER ("," NUMBER)*\nNAME: /[a-z]+/\nNUMBER: /[0-9]+/'
    assert matched(text, "ab:1,2,3") == {"name": "ab", "rest": "1,2,3"}
    assert matched(text, "ab:") is None
    assert matched(text, "ab:1,") is None


def test_hidden_rules_are_looked_through() -> None:
    text = "start: A _tail\n_tail: (_GAP B)?\nA: /a+/\nB: /b+/\n_GAP: /-/"
    assert matched(text, "aa-b") == {"a": "aa", "b": "b"}
    assert matched(text, "aa") == {"a": "aa", "b": None}


@pytest.mark.parametrize(
    ("repeat", "yes", "no"),
    [
        ("A*", ["", "a", "aaa"], ["b"]),
        ("A+", ["a", "aa"], ["", "b"]),
        ("A?", ["", "a"], ["aa"]),
        ("A~2..3", ["aa", "aaa"], ["a", "aaaa"]),
        ('(A | "b")+', ["a", "b", "abba"], ["", "c"]),
        ('(A "b")* A', ["a", "aba"], ["ab", ""]),
    ],
)
def test_repetition(repeat: str, yes: list[str], no: list[str]) -> None:
    compiled_pattern = compile_rule(
        grammar(f'start: "<" inner ">"\ninner: {repeat}\nA: "a"'), "start"
    )
    assert all(re.fullmatch(compiled_pattern, f"<{word}>") for word in yes)
    assert not any(re.fullmatch(compiled_pattern, f"<{word}>") for word in no)


def test_literals_are_not_read_as_patterns() -> None:
    assert matched('start: "a.b*" C\nC: "(c)"', "a.b*(c)") == {"c": "(c)"}
    assert matched('start: "a.b*" C\nC: "(c)"', "axbbc") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("start: A start | A\nA: /a/", "recursive"),
        ("start: A inner\ninner: A [start]\nA: /a/", "recursive"),
        ("start: A\nA: /a/\n%ignore /b/", "%ignore"),
    ],
)
def test_what_no_pattern_can_stand_for_is_refused(text: str, reason: str) -> None:
    with pytest.raises(NotRegular, match=reason):
        compile_rule(grammar(text), "start")


@pytest.mark.parametrize(
    "terminal",
    [
        r"\d+",
        r"\w",
        r"a\s",
        r"a(?=b)",
        r"a(?!b)",
        r"(?<=a)b",
        r"(a)\1",
        "a+?",
        "ba*+",
        r"\bab",
        "a{2}?",
    ],
)
def test_what_engines_read_differently_is_refused(terminal: str) -> None:
    with pytest.raises(NotRegular, match="differently"):
        compile_rule(grammar(f"start: A\nA: /{terminal}/"), "start")


@pytest.mark.parametrize("rule", RULES)
def test_the_pattern_of_a_record_is_the_same_in_both_engines(rule: str) -> None:
    lines = [
        "T1\tTissue 0 4\tseed",
        "T1\tTissue 0 4;6 9\tseed x",
        "E1\tBinding A:T1 B:T2",
        "R1\tBinding:T9 A:T1",
        "M1\tNegation Annotation:E1",
        "N1\tX Annotation:T1 Referent:Y",
        "*\tEquiv T1 T2",
        "T1\tTissue 0 4\tse\u2028ed",
        "T1\tTissue \u0660 4\tseed",
        "",
    ]
    written = pattern("standoff", rule)
    rust = pl.Series(lines).str.contains(f"^(?:{written})$").to_list()
    assert rust == [re.fullmatch(written, line) is not None for line in lines]
    assert any(rust)


def test_groups_are_named_after_what_the_tree_keeps() -> None:
    names = {rule: list(re.compile(pattern("standoff", rule)).groupindex) for rule in RULES}
    assert names == {
        "text_bound": ["text_bound_id", "label", "fragments", "text"],
        "event": ["event_id", "label", "trigger", "arguments"],
        "modifier": ["modifier_id", "label", "target"],
        "normalization": ["normalization_id", "label", "target", "value"],
        "equivalence": ["equivalence_id", "kind", "members"],
    }


def test_a_grammar_is_made_once() -> None:
    assert load("standoff") is load("standoff")
    with pytest.raises(FileNotFoundError):
        load("no-such")

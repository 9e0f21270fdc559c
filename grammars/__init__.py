"""Grammars, schemas and vocabularies of the formats, as data.

Every grammar defines its format. `load` returns its parser, which explains errors; `pattern` the
regular expression compiled from it, which accepts valid records in bulk; `schema` a JSON Schema;
`vocabulary` tables of names. The patterns of our grammars are compiled in advance
(`patterns.json`), so that Lark is imported only to explain an error.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["Failure", "failure", "in_words", "load", "matcher", "pattern", "schema", "vocabulary"]


@cache
def load(name: str) -> Lark:
    r"""The parser of a grammar; its start symbol is `record`.

    Examples:
        >>> load("standoff").parse("M1\tNegation Annotation:E1").children[0].data
        Token('RULE', 'modifier')
    """
    from lark import Lark

    text = resources.files("hlteval.grammars").joinpath(f"{name}.lark").read_text("utf-8")
    return Lark(text, parser="lalr", lexer="contextual", start="record", propagate_positions=True)


def pattern(name: str, rule: str) -> str:
    """The pattern of one regular rule, for a full match, with a group for each child of it.

    Examples:
        >>> import re
        >>> re.fullmatch(pattern("standoff", "argument"), "Theme:T1").groupdict()
        {'role': 'Theme', 'target': 'T1'}
    """
    return _patterns()[name][rule]


@cache
def _patterns() -> dict[str, dict[str, str]]:
    """The patterns of all regular rules of our grammars, by grammar and rule."""
    text = resources.files("hlteval.grammars").joinpath("patterns.json").read_text("utf-8")
    loaded: dict[str, dict[str, str]] = json.loads(text)
    return loaded


@cache
def matcher(name: str, rule: str) -> re.Pattern[str]:
    """The pattern of one rule, compiled for Python; see `pattern`."""
    return re.compile(pattern(name, rule))


class Failure(NamedTuple):
    """A place at which a grammar rejects a line: the 1-based column, and the terminals expected."""

    column: int
    terminals: frozenset[str]


def failure(name: str, line: str) -> Failure:
    r"""The place at which a grammar rejects a line that the pattern of no rule matches, and why.

    Raises:
        AssertionError: if the grammar accepts the line.

    Examples:
        >>> failure("glm", "* a").column
        4
    """
    from lark import UnexpectedInput, UnexpectedToken

    try:
        load(name).parse(line)
    except UnexpectedInput as error:
        terminals = getattr(error, "expected", None) or getattr(error, "allowed", None) or ()
        at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        return Failure(len(line) + 1 if at_end else error.column, frozenset(terminals))
    raise AssertionError(f"the grammar accepts what the pattern rejects: {line!r}")


def in_words(name: str, terminals: Iterable[str], words: Mapping[str, str]) -> str:
    """Terminals of a grammar for a message: by `words`, or else as the grammar writes them.

    Examples:
        >>> in_words("standoff", ["_TAB", "__ANON_0"], {"_TAB": "a tab"})
        '`Annotation:` or a tab'
    """
    written = {terminal.name: f"`{terminal.pattern.value}`" for terminal in load(name).terminals}
    named = {words.get(name) or written.get(name, f"`{name}`") for name in terminals}
    return " or ".join(sorted(named))


@cache
def vocabulary(name: str) -> Mapping[str, Any]:
    """The tables of a vocabulary or event schema, from its TOML file.

    Examples:
        >>> vocabulary("seedev")["groups"]["PROCESS"]
        ['Regulatory_Network', 'Pathway']
    """
    text = resources.files("hlteval.grammars").joinpath(f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def schema(name: str) -> Mapping[str, Any]:
    """A JSON Schema, from its file.

    Examples:
        >>> schema("speech-sf")["type"]
        'array'
    """
    text = resources.files("hlteval.grammars").joinpath(f"{name}.schema.json").read_text("utf-8")
    loaded: Mapping[str, Any] = json.loads(text)
    return loaded

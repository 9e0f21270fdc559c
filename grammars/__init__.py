"""Grammars, schemas and vocabularies: what is valid, as data.

Every grammar is the authority of its format. `load` gives its parser, which explains; `pattern` the
regular expression compiled from it, which accepts in bulk; `schema` is a JSON Schema; `vocabulary`
a table of names. The patterns of our grammars are compiled in advance (`patterns.json`), so that
Lark is imported only to explain.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

if TYPE_CHECKING:
    from lark import Lark

from hlteval.grammars.patterns import NotRegular, compiled

__all__ = [
    "Failure",
    "NotRegular",
    "failure",
    "in_words",
    "load",
    "matcher",
    "pattern",
    "schema",
    "vocabulary",
]


@cache
def load(name: str) -> Lark:
    r"""The parser of a grammar; its start symbol is `record`.

    Examples:
        >>> load("standoff").parse("M1\tNegation Annotation:E1").children[0].data
        Token('RULE', 'modifier')
    """
    from lark import Lark

    text = resources.files("hlteval.grammars").joinpath(f"{name}.lark").read_text("utf-8")
    return Lark(text, parser="lalr", lexer="contextual", start="record", keep_all_tokens=False)


@cache
def pattern(name: str, rule: str) -> str:
    """The pattern of one rule, for a full match; see `hlteval.grammars.patterns.compiled`.

    Examples:
        >>> import re
        >>> re.fullmatch(pattern("standoff", "argument"), "Theme:T1").groupdict()
        {'role': 'Theme', 'target': 'T1'}
    """
    known = _patterns().get(name, {}).get(rule)
    if known is not None:
        return known
    from hlteval.grammars.patterns import compiled

    return compiled(load(name), rule)


@cache
def matcher(name: str, rule: str) -> re.Pattern[str]:
    """The pattern of one rule, compiled for Python; see `pattern`."""
    return re.compile(pattern(name, rule))


class Failure(NamedTuple):
    """Where a grammar rejects a line: the 1-based column, and the terminals expected there."""

    column: int
    terminals: frozenset[str]


def failure(name: str, line: str) -> Failure:
    r"""Where and why a grammar rejects a line that the pattern of no rule matches.

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
def vocabulary(name: str) -> dict[str, Any]:
    """A vocabulary or event schema, as its TOML file has it.

    Examples:
        >>> vocabulary("seedev")["groups"]["PROCESS"]
        ['Regulatory_Network', 'Pathway']
    """
    text = resources.files("hlteval.grammars").joinpath(f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def schema(name: str) -> dict[str, Any]:
    """A JSON Schema, as its file has it.

    Examples:
        >>> schema("speech-sf")["type"]
        'array'
    """
    text = resources.files("hlteval.grammars").joinpath(f"{name}.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded

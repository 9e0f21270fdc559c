"""One record of BioNLP-ST standoff: where its parts stand, and why one cannot be read.

This is the slow path: the grammar itself is asked, for the lines that the bulk path refused, and
for the lines that a finding points at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from lark import UnexpectedInput, UnexpectedToken

from hlteval.grammars import load, pattern

BLANKS = " \t\r\f\x0b"
"""The blanks that do not count at the ends of a line; "\\n" ends the line itself."""

_KINDS: Mapping[str, tuple[str, str, str]] = {
    "T": ("mention", "STD103", "text_bound"),
    "W": ("mention", "STD103", "text_bound"),
    "E": ("frame", "STD104", "event"),
    "R": ("frame", "STD104", "event"),
    "M": ("modifier", "STD106", "modifier"),
    "N": ("normalization", "STD107", "normalization"),
    "*": ("group", "STD108", "equivalence"),
}

_WORDS: Mapping[str, str] = {
    "$END": "the end of the line",
    "<END-OF-FILE>": "the end of the line",
    "COLON": "`:`",
    "EQUIVALENCE_ID": "`*`",
    "EVENT_ID": "an identifier such as E1",
    "KIND": "`Equiv`",
    "LABEL": "a type",
    "MEMBER": "an identifier such as T1",
    "MODIFIER_ID": "an identifier such as M1",
    "NORMALIZATION_ID": "an identifier such as N1",
    "OFFSET": "an offset of at most nine digits",
    "ROLE": "a role and its filler, such as Agent:T1",
    "SEMICOLON": "`;` and another fragment",
    "TARGET": "an identifier such as T1",
    "TEXT": "the text of the span",
    "TEXT_BOUND_ID": "an identifier such as T1",
    "TRIGGER": "the identifier of the trigger",
    "VALUE": "a referent",
    "_BLANK": "a single blank",
    "_TAB": "a tab",
}

_HEAD = re.compile(r"\s*(?P<id>[^\t]*)\t\s*(?P<label>\S+)")
_NO_ARGUMENT = re.compile(r"[^\t]*\t[^\s:]+(?::\S+)?\s+(?P<rest>[^\s:]+(?:\s+[^\s:]+)*)\s*")
_LONG = re.compile("[0-9]{10,}")


class Refusal(NamedTuple):
    """Why a line is no record: a row of the table `refused`, but for the keys."""

    code: str
    kind: str
    id: str | None
    label: str | None
    column: int
    end_column: int
    expected: str


def explain(line: str, *, ask: bool = True) -> Refusal:
    r"""Why the grammar refuses a line, and where.

    Args:
        line: a line that is no record, without its line break.
        ask: whether to ask the grammar for the exact place; without, the whole line is at fault.

    Examples:
        >>> explain("M8\tNegation E3")[4:]
        (13, 15, '`Annotation:`')
    """
    name, tab, rest = line.partition("\t")
    letter = name.strip()[:1]
    kind, code, _ = _KINDS.get(letter, ("unknown", "STD102", ""))
    column, expected = _failure(line) if ask else (1, "")
    end = _end(line, column) if ask else len(line) + 1
    if not tab:
        code = "STD101"
    elif code == "STD104" and (bare := _NO_ARGUMENT.fullmatch(line)):
        code, column, end = "STD105", bare.start("rest") + 1, bare.end("rest") + 1
    elif code == "STD103" and (number := _long_offset(line)):
        code, column, end = "STD109", number.start() + 1, number.end() + 1
    label = rest.split(maxsplit=1)[0] if rest.strip() else None
    return Refusal(code, kind, name.strip() or None, label, column, end, expected)


def _failure(line: str) -> tuple[int, str]:
    """The column at which the grammar gives up, and what it would have taken there."""
    try:
        load("standoff").parse(line)
    except UnexpectedInput as error:
        names = set(getattr(error, "expected", None) or getattr(error, "allowed", None) or ())
        at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        column = len(line) + 1 if at_end else error.column
        words = sorted(_word(name) for name in names if name != "_MARGIN")
        return column, " or ".join(words)
    raise AssertionError(f"the grammar takes what the pattern refuses: {line!r}")


def _word(terminal: str) -> str:
    """A terminal of the grammar in the words of a person."""
    if terminal in _WORDS:
        return _WORDS[terminal]
    named = {t.name: t.pattern.value for t in load("standoff").terminals}
    return f"`{named.get(terminal, terminal)}`"


def _long_offset(line: str) -> re.Match[str] | None:
    """The first offset with too many digits, where nothing else is wrong with a text span."""
    match = _unbounded().fullmatch(line)
    return _LONG.search(line, *match.span("fragments")) if match else None


@cache
def _unbounded() -> re.Pattern[str]:
    """The pattern of text spans whose offsets have any number of digits."""
    return re.compile(pattern("standoff", "text_bound").replace("{1,9}", "+"))


def _end(line: str, column: int) -> int:
    """One past the word that begins at a column; at least one character where there is one."""
    word = re.match(r"\S+|\s", line[column - 1 :])
    return column + (len(word[0]) if word else 0)


@cache
def _compiled(rule: str) -> re.Pattern[str]:
    return re.compile(pattern("standoff", rule))


def parts(line: str) -> dict[str, tuple[int, int]]:
    r"""The fields of a record by name, each as start and end in the line.

    The names are those of the representation's columns, with a number where there are several. Of
    a line that is no record, what stands where identifier and type would.

    Examples:
        >>> parts("E1\tBinding Theme:T1")["target 1"]
        (17, 19)
    """
    letter = line.strip()[:1]
    rule = _KINDS.get(letter, ("", "", ""))[2]
    match = _compiled(rule).fullmatch(line) if rule else None
    if match is None:
        head = _HEAD.match(line)
        return {name: head.span(name) for name in ("id", "label")} if head else {}
    found = {_field(name): match.span(name) for name, value in match.groupdict().items() if value}
    for part, single in (("arguments", "argument"), ("members", "member")):
        if part in found:
            found |= _repeated(line, *found[part], single)
    return found


def _field(group: str) -> str:
    return "id" if group.endswith("_id") else group


def _repeated(line: str, start: int, end: int, name: str) -> dict[str, tuple[int, int]]:
    """The fields of a list: each item, and its parts where it is an argument."""
    found: dict[str, tuple[int, int]] = {}
    items = re.compile(r"[^ \t\r\f\x0b]+").finditer(line, start, end)
    for number, item in enumerate(items, start=1):
        found[f"{name} {number}"] = item.span()
        if name == "argument":
            role, _, _ = item[0].partition(":")
            colon = item.start() + len(role)
            found |= {
                f"role {number}": (item.start(), colon),
                f"target {number}": (colon + 1, item.end()),
            }
    return found

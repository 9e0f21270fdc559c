"""One record of standoff: where its parts stand, and why one cannot be read.

This is the slow path: the grammar itself is asked, for the lines that the bulk path refused, and
for the lines that a finding points at.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from lark import UnexpectedInput, UnexpectedToken

from hlteval.converters.standoff.dialects import Dialect
from hlteval.grammars import load, pattern

BLANKS = " \t\r\f\x0b"
"""The blanks that do not count at the ends of a line; "\\n" ends the line itself."""

_HEAD = re.compile(r"\s*(?P<id>[^\t]*)\t\s*(?P<label>\S+)")
_LONG = re.compile("[0-9]{10,}")
_NAMES = {"type": "label", "reference": "value", "both": "arguments"}
"""What fields are called that the grammars name otherwise."""


class Refusal(NamedTuple):
    """Why a line is no record: a row of the table `rejected_records`, but for the keys."""

    code: str
    kind: str
    id: str | None
    label: str | None
    column: int
    end_column: int
    expected: str


def explain(line: str, dialect: Dialect, *, ask: bool = True) -> Refusal:
    r"""Why the grammar refuses a line, and where.

    Args:
        line: a line that is no record, without its line break.
        dialect: what it is read as.
        ask: whether to ask the grammar for the exact place; without, the whole line is at fault.

    Examples:
        >>> from hlteval.converters.standoff.dialects import BIONLP
        >>> explain("M8\tNegation E3", BIONLP)[4:]
        (13, 15, '`Annotation:`')
    """
    name, tab, rest = line.partition("\t")
    found = dialect.kind(name.strip()[:1])
    kind, code = (found.what, found.code) if found else ("unknown", dialect.unknown)
    column, expected = _failure(line, dialect) if ask else (1, "")
    end = _end(line, column) if ask else len(line) + 1
    if not tab:
        code = dialect.no_tab
    elif special := _special(line, dialect, code):
        code, column, end = special
    label = rest.split(maxsplit=1)[0] if rest.strip() else None
    identifier = name.strip() if tab else "".join(name.split(maxsplit=1)[:1])
    return Refusal(code, kind, identifier or None, label, column, end, expected)


def _special(line: str, dialect: Dialect, code: str) -> tuple[str, int, int] | None:
    """What can be said more exactly of a malformed record, and where that is."""
    malformed, bare, instead = dialect.bare
    if code == malformed and (match := bare.fullmatch(line)):
        return instead, match.start("rest") + 1, match.end("rest") + 1
    text_bound = dialect.kind("T")
    if text_bound and code == text_bound.code and (number := _long_offset(line, dialect)):
        return dialect.large, number.start() + 1, number.end() + 1
    return None


def _failure(line: str, dialect: Dialect) -> tuple[int, str]:
    """The column at which the grammar gives up, and what it would have taken there."""
    try:
        load(dialect.name).parse(line)
    except UnexpectedInput as error:
        names = set(getattr(error, "expected", None) or getattr(error, "allowed", None) or ())
        at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        column = len(line) + 1 if at_end else error.column
        kind = dialect.kind(line[:1])
        if column == 1 and kind:
            names = {f"{kind.rule.upper()}_ID"}
        words = sorted({_word(name, dialect) for name in names - {"_MARGIN"} or names})
        return column, " or ".join(words)
    raise AssertionError(f"the grammar takes what the pattern refuses: {line!r}")


def _word(terminal: str, dialect: Dialect) -> str:
    """A terminal of the grammar in the words of a person."""
    if terminal in dialect.words:
        return dialect.words[terminal]
    named = {t.name: t.pattern.value for t in load(dialect.name).terminals}
    return f"`{named.get(terminal, terminal)}`"


def _long_offset(line: str, dialect: Dialect) -> re.Match[str] | None:
    """The first offset with too many digits, where nothing else is wrong with a text span."""
    match = _unbounded(dialect.name).fullmatch(line)
    return _LONG.search(line, *match.span("fragments")) if match else None


@cache
def _unbounded(grammar: str) -> re.Pattern[str]:
    """The pattern of text spans whose offsets have any number of digits."""
    return re.compile(pattern(grammar, "text_bound").replace("{1,9}", "+"))


def _end(line: str, column: int) -> int:
    """One past the word that begins at a column; at least one character where there is one."""
    word = re.match(r"\S+|\s", line[column - 1 :])
    return column + (len(word[0]) if word else 0)


def parts(line: str, dialect: Dialect) -> dict[str, tuple[int, int]]:
    r"""The fields of a record by name, each as start and end in the line.

    The names are those of the representation's columns, with a number where there are several. Of
    a line that is no record, what stands where identifier and type would.

    Examples:
        >>> from hlteval.converters.standoff.dialects import BIONLP
        >>> parts("E1\tBinding Theme:T1", BIONLP)["target 1"]
        (17, 19)
    """
    kind = dialect.kind(line.strip()[:1])
    match = dialect.compiled(kind.rule).fullmatch(line) if kind else None
    if match is None:
        head = _HEAD.match(line)
        return {name: head.span(name) for name in ("id", "label")} if head else {}
    found = {field(name): match.span(name) for name, value in match.groupdict().items() if value}
    for part, single in (("arguments", "argument"), ("members", "member")):
        if part in found:
            found |= _repeated(line, *found[part], single)
    return found


def field(group: str) -> str:
    """What a part of a rule is called in the representation.

    Examples:
        >>> field("event_id"), field("type"), field("target")
        ('id', 'label', 'target')
    """
    return "id" if group.endswith("_id") else _NAMES.get(group, group)


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

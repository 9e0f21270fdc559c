"""One record of standoff: its fields, and why a line is not a record.

This is the slow path. It asks the grammar itself, about lines that the bulk path rejected and
lines that a finding points at.
"""

from __future__ import annotations

import re
from functools import cache

from hlteval.converters.standoff.dialects import Dialect
from hlteval.findings import Problem
from hlteval.grammars import failure, in_words, matcher, pattern

#: Spaces that do not count at either end of a line; "\n" ends the line itself.
SPACES = " \t\r\f\x0b"

_HEAD = re.compile(r"\s*(?P<id>[^\t]*)\t\s*(?P<label>\S+)")
_LONG = re.compile("[0-9]{10,}")
#: A carriage return with the beginning of a record behind it.
_NEXT = r"\r[A-Z*][^ \t\r\f\x0b]*\t"
#: Names of fields that differ from those of the grammars.
_NAMES = {"type": "label", "reference": "value", "both": "arguments"}


def explain(line: str, record: int, dialect: Dialect, *, ask: bool = True) -> Problem:
    r"""Why the grammar rejects a line, and where.

    Args:
        line: a line that is not a record, without its line break.
        record: its number.
        dialect: the dialect that it is read as.
        ask: whether to ask the grammar for the exact place; otherwise the problem is the whole
            line.

    Returns:
        The problem. Its values are those of its message, and `kind`, `id` (empty for none) and
        `label` (null for none) for the table `rejected_records`.

    Examples:
        >>> from hlteval.converters.standoff.dialects import BIONLP
        >>> explain("M8\tNegation E3", 7, BIONLP)[:4]
        ('STD106', 7, 12, 14)
    """
    head, tab, rest = line.partition("\t")
    found = dialect.kind(head.strip()[:1])
    kind, code = (found.what, found.code) if found else ("unknown", dialect.unknown)
    cut = re.search(torn(found.rule if found else ""), line) if dialect.torn else None
    ask = ask and not cut
    start, expected = _failure(line, dialect) if ask else (0, "")
    word = re.compile(r"\S+|\s").match(line, start)
    end = len(line) if not ask else word.end() if word else start
    if cut:
        code, start, end = dialect.torn, cut.start(), cut.start() + 1
    elif not tab:
        code = dialect.no_tab
    elif special := _special(line, dialect, code):
        code, (start, end) = special
    values = {
        "kind": kind,
        "id": head.strip() if tab else "".join(head.split(maxsplit=1)[:1]),
        "label": "".join(rest.split(maxsplit=1)[:1]) or None,
        "given": line[start:end][:40] or "end of line",
        **_of_carriage_return(line, start),
        "expected": expected or "a record of this kind",
    }
    return Problem(code, record, start, end, values)


def torn(rule: str) -> str:
    r"""The pattern of a carriage return that no record of a rule has inside.

    The text of a text span may have one; another record behind it is none of the text.

    Examples:
        >>> [bool(re.search(torn("text_bound"), line)) for line in ("a\rb", "seed\rT2\tTissue")]
        [False, True]
    """
    return _NEXT if rule == "text_bound" else r"\r"


def _of_carriage_return(line: str, start: int) -> dict[str, object]:
    """What is said of a carriage return in a line: it ends a record, or is inside of one."""
    if re.compile(_NEXT).match(line, start):
        return {
            "problem": "a carriage return (CR) alone does not end a line",
            "hint": r"end lines with LF; `tr '\r' '\n' < OLD > NEW` converts files of old Macs",
        }
    return {
        "problem": "carriage return (CR) inside a record",
        "hint": "write a space for it, or LF if the line ends there",
    }


def _special(line: str, dialect: Dialect, code: str) -> tuple[str, tuple[int, int]] | None:
    """A more exact code for a malformed record, and its place."""
    malformed, incomplete, instead = dialect.incomplete
    if code == malformed and (match := incomplete.fullmatch(line)):
        return instead, match.span("rest")
    unbounded = _unbounded(dialect.name).fullmatch(line)
    if unbounded and (number := _LONG.search(line, *unbounded.span("fragments"))):
        return dialect.large, number.span()
    return None


def _failure(line: str, dialect: Dialect) -> tuple[int, str]:
    """Where the grammar gives up, 0-based, and what it expects there."""
    column, terminals = failure(dialect.name, line)
    kind = dialect.kind(line[:1])
    if column == 1 and kind:
        terminals = frozenset({f"{kind.rule.upper()}_ID"})
    return column - 1, in_words(dialect.name, terminals - {"_MARGIN"} or terminals, dialect.words)


@cache
def _unbounded(grammar: str) -> re.Pattern[str]:
    """The pattern of text spans whose offsets have any number of digits."""
    return re.compile(pattern(grammar, "text_bound").replace("{1,9}", "+"))


def field_spans(line: str, dialect: Dialect) -> dict[str, tuple[int, int]]:
    r"""The fields of a record by name, each as start and end in the line.

    The names are those of the columns of the representation, numbered where there are several. A
    line that is not a record has at most the words in the places of identifier and type.

    Examples:
        >>> from hlteval.converters.standoff.dialects import BIONLP
        >>> field_spans("E1\tBinding Theme:T1", BIONLP)["target 1"]
        (17, 19)
    """
    kind = dialect.kind(line.strip()[:1])
    match = matcher(dialect.name, kind.rule).fullmatch(line) if kind else None
    if match is None:
        head = _HEAD.match(line)
        return {name: head.span(name) for name in ("id", "label")} if head else {}
    found = {field(name): match.span(name) for name, value in match.groupdict().items() if value}
    for group, item in (("arguments", "argument"), ("members", "member")):
        if group in found:
            found |= _item_spans(line, *found[group], item)
    return found


def field(group: str) -> str:
    """The name in the representation of a group of a rule's pattern.

    Examples:
        >>> field("event_id"), field("type"), field("target")
        ('id', 'label', 'target')
    """
    return "id" if group.endswith("_id") else _NAMES.get(group, group)


def _item_spans(line: str, start: int, end: int, name: str) -> dict[str, tuple[int, int]]:
    """The items of a list; of an argument also its role and its target."""
    found: dict[str, tuple[int, int]] = {}
    items = re.compile(r"[^ \t\r\f\x0b]+").finditer(line, start, end)
    for number, item in enumerate(items, start=1):
        found[f"{name} {number}"] = item.span()
        if name == "argument":
            colon = item.start() + len(item[0].partition(":")[0])
            found[f"role {number}"] = (item.start(), colon)
            found[f"target {number}"] = (colon + 1, item.end())
    return found

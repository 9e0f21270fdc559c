"""The two dialects of standoff, BioNLP-ST and brat, as data for their common reader and writer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from hlteval.findings import Problem
from hlteval.grammars import failure, in_words, matcher, pattern

TEXT = ".txt"
GIVEN, ASKED = ".a1", ".a2"
ANNOTATIONS = ".ann"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of record: its rule in the grammar, its name, the code of a malformed one."""

    rule: str
    what: str
    code: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect of standoff.

    Attributes:
        name: name of the format and of its grammar.
        mentions: suffix of the file that mentions are written to.
        others: suffix of the file for all else.
        kinds: the kinds of records by the first letters of their identifiers.
        no_tab: the code of a line without a tab.
        unknown: the code of a line of no kind.
        incomplete: the code of malformed frames, a pattern of those that only lack something,
            with the problem as its group `rest`, and the code of these instead.
        large: the code of an offset that is too large.
        torn: the code of a record with a carriage return inside; empty where one is a blank.
        words: the terminals of the grammar, worded for a message.
        identifiers: for each kind of item that the dialect supports, the first letter of new
            identifiers, and the pattern of all of its identifiers.
        unreferable: pattern of the characters that no reference can contain.
        numbered: whether identifiers are unique in a document.
        any_line_end: whether each line end of a text counts as one character.
    """

    name: str
    mentions: str
    others: str
    kinds: Mapping[str, Kind]
    no_tab: str
    unknown: str
    incomplete: tuple[str, re.Pattern[str], str]
    large: str
    words: Mapping[str, str]
    identifiers: Mapping[str, tuple[str, str]]
    unreferable: str
    numbered: bool = False
    any_line_end: bool = False
    torn: str = ""

    @property
    def annotations(self) -> tuple[str, ...]:
        """The suffixes of files with annotations."""
        return tuple(dict.fromkeys((self.mentions, self.others)))

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of all files."""
        return (TEXT, *self.annotations)

    def kind(self, letter: str) -> Kind | None:
        """The kind of records whose identifiers begin with a letter."""
        for letters, kind in self.kinds.items():
            if letter and letter in letters:
                return kind
        return None


_ANY = r"[^ \t\r\n\f\x0b\x00]*"
_NUMBERED = r"[A-Za-z]*[0-9]+[^ \t\r\n\f\x0b\x00:]*"

_WORDS = {
    "$END": "end of line",
    "<END-OF-FILE>": "end of line",
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
    "_BLANK": "a single space",
    "_MARGIN": "a space and another argument",
    "_TAB": "a tab",
}

BIONLP = Dialect(
    name="standoff",
    mentions=GIVEN,
    others=ASKED,
    kinds={
        "TW": Kind("text_bound", "mention", "STD103"),
        "ER": Kind("event", "frame", "STD104"),
        "M": Kind("modifier", "modifier", "STD106"),
        "N": Kind("normalization", "normalization", "STD107"),
        "*": Kind("equivalence", "group", "STD108"),
    },
    no_tab="STD101",
    unknown="STD102",
    incomplete=(
        "STD104",
        re.compile(r"[^\t]*\t[^\s:]+(?::\S+)?\s+(?P<rest>[^\s:]+(?:\s+[^\s:]+)*)\s*"),
        "STD105",
    ),
    large="STD109",
    torn="STD110",
    words=_WORDS,
    identifiers={
        "mention": ("T", f"[TW]{_ANY}"),
        "event": ("E", f"E{_ANY}"),
        "relation": ("R", f"R{_ANY}"),
        "attribute": ("M", f"M{_ANY}"),
        "normalization": ("N", f"N{_ANY}"),
    },
    unreferable=r"[ \t\r\n\f\x0b\x00]",
)

BRAT = Dialect(
    name="brat",
    mentions=ANNOTATIONS,
    others=ANNOTATIONS,
    kinds={
        "T": Kind("text_bound", "mention", "BRT103"),
        "E": Kind("event", "frame", "BRT104"),
        "R": Kind("relation", "frame", "BRT106"),
        "A": Kind("attribute", "modifier", "BRT107"),
        "M": Kind("modifier", "modifier", "BRT107"),
        "N": Kind("normalization", "normalization", "BRT108"),
        "#": Kind("note", "note", "BRT109"),
        "*": Kind("equivalence", "group", "BRT110"),
    },
    no_tab="BRT101",
    unknown="BRT102",
    incomplete=("BRT104", re.compile(r"[^\t]*\t(?P<rest>[^\s:]+)(?: .*)?"), "BRT105"),
    large="BRT111",
    words={
        **_WORDS,
        "ATTRIBUTE_ID": "an identifier such as A1",
        "NOTE_ID": "an identifier such as #1",
        "REFERENCE": "a reference such as Wikipedia:534366",
        "RELATION_ID": "an identifier such as R1",
        "TAIL": "a comment",
        "TEXT": "a text",
        "TYPE": "a type",
        "VALUE": "a value",
    },
    identifiers={
        "mention": ("T", f"T{_NUMBERED}"),
        "event": ("E", f"E{_NUMBERED}"),
        "relation": ("R", f"R{_NUMBERED}"),
        "attribute": ("A", f"[AM]{_NUMBERED}"),
        "value": ("A", f"A{_NUMBERED}"),
        "normalization": ("N", f"N{_NUMBERED}"),
        "note": ("#", f"#{_NUMBERED}"),
    },
    unreferable=r"[ \t\r\n\f\x0b\x00:]",
    numbered=True,
    any_line_end=True,
)


# One record of standoff: its fields, and why a line is not a record.
#
# This is the slow path. It asks the grammar itself, about lines that the bulk path rejected and
# lines that a finding points at.


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

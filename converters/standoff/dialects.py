"""The two dialects of standoff, BioNLP-ST and brat, as data for their common reader and writer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

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

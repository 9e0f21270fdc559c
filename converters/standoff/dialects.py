"""The two dialects of standoff: BioNLP-ST and brat. What they share is read and written alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from hlteval.grammars import pattern

TEXT = ".txt"
GIVEN, ASKED = ".a1", ".a2"
ANNOTATIONS = ".ann"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of record: its rule of the grammar, what it is, the code of one that is malformed."""

    rule: str
    what: str
    code: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect of standoff.

    Attributes:
        name: of the format and of its grammar.
        mentions: suffix of the file that mentions are written to.
        others: suffix of the file for all else.
        kinds: the kinds of records by the first letters of their identifiers.
        no_tab: the code of a line without a tab.
        unknown: the code of a line of no kind.
        bare: where a frame that lacks something is told apart from other malformed ones: the code
            of these, a pattern whose group `rest` is at fault, and the code that is given instead.
        large: the code of an offset that is too large.
        words: terminals of the grammar in the words of a person.
        identifiers: of each kind of item that it has a place for, the letter that a new
            identifier begins with, and the pattern of all.
        unreferable: what stands in no identifier that is referred to.
        numbered: whether no identifier may be used twice in a document.
        any_line_end: whether each line end of a text counts as one character.
    """

    name: str
    mentions: str
    others: str
    kinds: Mapping[str, Kind]
    no_tab: str
    unknown: str
    bare: tuple[str, re.Pattern[str], str]
    large: str
    words: Mapping[str, str]
    identifiers: Mapping[str, tuple[str, str]]
    unreferable: str
    numbered: bool = False
    any_line_end: bool = False

    @property
    def annotations(self) -> tuple[str, ...]:
        """The suffixes of files with annotations."""
        return tuple(dict.fromkeys((self.mentions, self.others)))

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of its files."""
        return (TEXT, *self.annotations)

    def kind(self, letter: str) -> Kind | None:
        """The kind of records whose identifiers begin with a letter."""
        found = (kind for letters, kind in self.kinds.items() if letter and letter in letters)
        return next(found, None)

    def compiled(self, rule: str) -> re.Pattern[str]:
        """The pattern of a rule of the grammar."""
        return _compiled(self.name, rule)


@cache
def _compiled(grammar: str, rule: str) -> re.Pattern[str]:
    return re.compile(pattern(grammar, rule))


_ANY = r"[^ \t\r\n\f\x0b]*"
_NUMBERED = r"[A-Za-z]*[0-9]+[^ \t\r\n\f\x0b:]*"

_WORDS = {
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
    bare=(
        "STD104",
        re.compile(r"[^\t]*\t[^\s:]+(?::\S+)?\s+(?P<rest>[^\s:]+(?:\s+[^\s:]+)*)\s*"),
        "STD105",
    ),
    large="STD109",
    words=_WORDS,
    identifiers={
        "mention": ("T", f"[TW]{_ANY}"),
        "event": ("E", f"E{_ANY}"),
        "relation": ("R", f"R{_ANY}"),
        "attribute": ("M", f"M{_ANY}"),
        "normalization": ("N", f"N{_ANY}"),
    },
    unreferable=r"[ \t\r\n\f\x0b]",
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
    bare=("BRT104", re.compile(r"[^\t]*\t(?P<rest>[^\s:]+)(?: .*)?"), "BRT105"),
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
    unreferable=r"[ \t\r\n\f\x0b:]",
    numbered=True,
    any_line_end=True,
)

"""The strings of fills as they are compared, by the specification's "Normalization".

In its order: spellings are made the usual ones (if the texts differ), unwanted text is whited out,
premodifiers are removed. White-out leaves extents as they are; a removed premodifier moves the
start of the extent by as many characters. A removal never empties a string, nor a minimal string
in it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, product
from operator import itemgetter
from typing import NamedTuple

import polars as pl

from hlteval.representation.global_map import GlobalMap, Rule

# Spelling: a global map applied to words, as the filter of the speech evaluations does it.
#
# A cursor moves over the text. Of the rules that fit at the cursor the first is applied, and the
# cursor goes behind what it rewrote; contexts are looked for in the text as it was given, and what
# a rule wrote is not looked at again. Where no rule fits, a character is copied, unless the map
# says not to.
#
# Conventions:
#     Texts are words with a space between, in capitals, and a space at either end. Alternatives
#     `{A / B}` that a rule writes are between marks, which are words of their own and occur in no
#     text; `@` is an empty alternative.


_KEY = 3
#: Marks of alternatives: code points that Unicode reserves for use inside programs.
BEGIN, OR, END = "\ufdd0", "\ufdd1", "\ufdd2"
#: How a global map writes each of these marks.
NOTATION = ((f"{BEGIN} ", "{"), (OR, "/"), (f" {END}", "}"))
#: What stands for these code points where a text has them.
MARKS = str.maketrans(dict.fromkeys((BEGIN, OR, END), "\ufffd"))
_WRITTEN = re.compile(r"\{([^{}]*)\}")
_MARKED = re.compile(f"{BEGIN}([^{BEGIN}{END}]*){END}")
#: Most combinations of alternatives of one text that are looked at.
MOST = 4096


class Word(NamedTuple):
    """A word after the filter: its text, and which of the given words it comes from."""

    text: str
    first: int
    last: int


class SpellingFilter:
    """A global map, ready to be applied.

    Args:
        rules: the map; None changes nothing but the case.

    Examples:
        >>> rules = GlobalMap((Rule("CEASEFIRE", "CEASE FIRE", " ", " "),))
        >>> SpellingFilter(rules).words(["A", "ceasefire"])
        [Word(text='A', first=0, last=0), Word(text='CEASE', first=1, last=1), \
Word(text='FIRE', first=1, last=1)]
    """

    def __init__(self, rules: GlobalMap | None) -> None:
        self.rules = rules
        self.sensitive = rules is not None and rules.case_sensitive
        self.copies = rules is None or rules.copy_no_hit

    @cached_property
    def _index(self) -> dict[str, list[tuple[int, Rule]]]:
        """The rules by what their text begins with, up to `_KEY` characters, with their ranks."""
        index: dict[str, list[tuple[int, Rule]]] = {}
        for rank, rule in enumerate(self.rules.rules if self.rules else ()):
            if rule.source:
                sides = (rule.source, with_marks(rule.target), rule.left, rule.right)
                kept = Rule(*(sides if self.sensitive else map(capitals, sides)))
                index.setdefault((kept.source + kept.right)[:_KEY], []).append((rank, kept))
        return index

    @property
    def changes(self) -> bool:
        """Whether there is a rule that could change more than the case."""
        return bool(self._index)

    def text(self, written: str) -> str:
        """A text in capitals with its spellings made the usual ones.

        Examples:
            >>> SpellingFilter(GlobalMap((Rule("GONNA", "GOING TO"),))).text("gonna go")
            'GOING TO GO'
        """
        return " ".join(word.text for word in self.words(written.translate(MARKS).split()))

    def words(self, written: Sequence[str]) -> list[Word]:
        """The words of a text with their spellings made the usual ones, each with its origin."""
        if not self.changes:
            return [Word(capitals(word), place, place) for place, word in enumerate(written)]
        text = f" {' '.join(written)} "
        text = text if self.sensitive else capitals(text)
        # A blank belongs to the word before it.
        origin = [0, *(place for place, word in enumerate(written) for _ in range(len(word) + 1))]
        words: list[Word] = []
        cursor, word, first, last = 0, "", 0, 0
        while cursor < len(text):
            rule = self._first_rule(text, cursor)
            end = cursor + (len(rule.source) if rule else 1)
            for character in capitals(rule.target if rule else text[cursor] * self.copies):
                if character == " ":
                    words += [Word(word, first, last)] if word else []
                    word = ""
                    continue
                first = first if word else origin[min(cursor, len(origin) - 1)]
                last = origin[min(end - 1, len(origin) - 1)]
                word += character
            cursor = end
        return [*words, Word(word, first, last)] if word else words

    def _first_rule(self, text: str, cursor: int) -> Rule | None:
        """The first rule that fits at the cursor."""
        rules: list[tuple[int, Rule]] = []
        for size in range(1, _KEY + 1):
            rules += self._index.get(text[cursor : cursor + size], ())
        for _, rule in sorted(rules, key=itemgetter(0)) if len(rules) > 1 else rules:
            before = cursor - len(rule.left)
            if before >= 0 and text.startswith(rule.left + rule.source + rule.right, before):
                return rule
        return None


def capitals(text: str) -> str:
    """A text in capitals, as many characters as before.

    Examples:
        >>> capitals("straße")
        'STRAßE'
    """
    if text.isascii():
        return text.upper()
    return "".join(big if len(big := item.upper()) == 1 else item for item in text)


def with_marks(target: str) -> str:
    """A target with its alternatives between marks; a single word in braces is not one."""

    def mark(written: re.Match[str]) -> str:
        members = [member.strip() for member in written[1].split("/")]
        members = [item[1:-1] if item[:1] + item[-1:] == "[]" else item for item in members]
        members = ["" if item == "@" else item for item in members]
        return members[0] if len(members) == 1 else f" {BEGIN} {f' {OR} '.join(members)} {END} "

    return _WRITTEN.sub(mark, target)


@lru_cache(maxsize=4096)
def variants(text: str) -> tuple[str, ...]:
    """All texts that one with alternatives may be; no more than `MOST`.

    Examples:
        >>> variants(SpellingFilter(GlobalMap((Rule("C", "{A / B}"),))).text("c d"))
        ('A D', 'B D')
    """
    if BEGIN not in text:
        return (text,)
    parts = _MARKED.split(text)  # what is between two marks is at the odd places
    members = (part.split(OR) if at % 2 else [part] for at, part in enumerate(parts))
    found = (" ".join("".join(chosen).split()) for chosen in product(*members))
    return tuple(dict.fromkeys(islice(found, MOST)))


_TAG = re.compile(r"<(/?)([^\s<>/]+)[^<>]*>")


class Wording(NamedTuple):
    """A string as it is compared.

    Attributes:
        content: its words, with a space between.
        whole: the same with premodifiers.
        shift: how many characters the premodifiers at its beginning take.
        bare: whether it has nothing but premodifiers.
    """

    content: str
    whole: str
    shift: int
    bare: bool


_WORDINGS = {"content": pl.String, "whole": pl.String, "shift": pl.Int64, "bare": pl.Boolean}


@dataclass(frozen=True)
class TextNormalizer:
    """Makes the strings of fills comparable.

    Attributes:
        spellings: a global map, where the texts of the two sides differ.
        fold: whether case is ignored.
        whiteout: characters that become blanks.
        nonextractable: names of elements that become blanks, from start tag to end tag.
        premodifiers: words that are removed from the beginning of a string, in any case.
        anywhere: whether they are removed wherever they stand.
    """

    spellings: GlobalMap | None = None
    fold: bool = False
    whiteout: str = ""
    nonextractable: tuple[str, ...] = ()
    premodifiers: tuple[str, ...] = ()
    anywhere: bool = False

    @cached_property
    def _filter(self) -> SpellingFilter:
        return SpellingFilter(self.spellings)

    @cached_property
    def _folded_premodifiers(self) -> frozenset[str]:
        return frozenset(word.lower() for word in self.premodifiers)

    def normalize(self, text: str, minimal: Iterable[tuple[int, int]] = ()) -> Wording:
        """A string as it is compared.

        Args:
            text: the string.
            minimal: start and end of the minimal strings in it. Of those that have nothing but
                premodifiers, each keeps one.

        Examples:
            >>> normalizer = TextNormalizer(premodifiers=("and", "the"), whiteout=".,")
            >>> normalizer.normalize("And the  U.S. team,")
            Wording(content='U S team', whole='And the U S team', shift=9, bare=False)
            >>> normalizer.normalize("the And One", [(4, 7)]).content
            'And One'
        """
        removable = self._folded_premodifiers
        plain = self.blank_out(text)
        written = plain.split()
        words = written
        if self.spellings is not None:
            words = self.blank_out(self._filter.text(text)).split()
        kept, shift, bare = words, 0, False
        begins = (*written[:1], *words[:1])
        if removable and (self.anywhere or any(word.lower() in removable for word in begins)):
            bare = bool(written) and all(word.lower() in removable for word in written)
            ends = [end for start, end in minimal if self.normalize(text[start:end]).bare]
            most = min((len(self.blank_out(text[:end]).split()) - 1 for end in ends), default=None)
            kept = words[self._count_premodifiers(words, most) :]
            if self.anywhere and most is None:
                kept = [word for word in words if word.lower() not in removable] or words[-1:]
            if gone := self._count_premodifiers(written, most):
                shift = len(plain) - len(plain.split(None, gone)[gone])
        content, whole = " ".join(kept), " ".join(words)
        if self.fold:
            content, whole = content.lower(), whole.lower()
        return Wording(content, whole, shift, bare)

    def _count_premodifiers(self, words: Sequence[str], most: int | None) -> int:
        """How many words at the beginning are premodifiers; the last word always stays."""
        last = len(words) - 1 if most is None else min(most, len(words) - 1)
        for place, word in enumerate(words):
            if word.lower() not in self._folded_premodifiers or place == last:
                return place
        return 0

    def blank_out(self, text: str) -> str:
        """A string with blanks for what is not compared, as long as before.

        Examples:
            >>> TextNormalizer(whiteout=".", nonextractable=("X",)).blank_out("a <x>b.</x> c.")
            'a           c '
        """
        if self.nonextractable and "<" in text:
            parts, place = [], 0
            for start, end in sections(text, {name.lower() for name in self.nonextractable}):
                parts += [text[place:start], " " * (end - start)]
                place = end
            text = "".join([*parts, text[place:]])
        return text.translate(self._blanks) if self.whiteout else text

    @cached_property
    def _blanks(self) -> dict[int, str]:
        return dict.fromkeys(map(ord, self.whiteout), " ")

    def normalize_all(self, texts: pl.Series) -> pl.DataFrame:
        """The wording of each string of a column, each different one computed once.

        Returns:
            The columns of `Wording`: of null, `shift` is 0 and `bare` false.
        """
        distinct = texts.drop_nulls().unique(maintain_order=True).to_list()
        worded = [(text, *self.normalize(text)) for text in distinct]
        known = pl.DataFrame(worded, {"text": pl.String, **_WORDINGS}, orient="row")
        rows = texts.alias("text").to_frame()
        rows = rows.join(known, on="text", how="left", maintain_order="left")
        return rows.with_columns(pl.col("shift").fill_null(0), pl.col("bare").fill_null(False))


def sections(text: str, names: set[str]) -> Iterator[tuple[int, int]]:
    """The stretches of elements of some names: whole elements, or a tag that stands alone.

    Examples:
        >>> list(sections("a <X> b </X> c </X>", {"x"}))
        [(2, 12), (15, 19)]
    """
    opened: tuple[str, int, int] | None = None
    for tag in _TAG.finditer(text):
        name = tag.group(2).lower()
        if opened is not None and tag.group(1) and name == opened[0]:
            yield opened[1], tag.end()
            opened = None
        elif opened is None and name in names:
            if tag.group(1):
                yield tag.span()
            else:
                opened = (name, tag.start(), tag.end())
    if opened is not None:
        yield opened[1], opened[2]

"""The sentences and units of a file of WebAnno TSV, and the text that they are of."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from hlteval.converters.toolkit.offsets import CHARACTERS, UnitText, likeliest, widths
from hlteval.converters.toolkit.span_texts import UNIT_NAMES
from hlteval.findings import Problem

if TYPE_CHECKING:
    from hlteval.converters.uima.tsv_columns import Header

_TEXT, _NAME = "#Text=", "#Sentence.id="
_UNIT = re.compile(r"[0-9]{1,9}-[0-9]{1,9}(\.[0-9]{1,9})?")
_OFFSETS = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
#: The characters of escapes.
ESCAPES = {"t": "\t", "n": "\n", "f": "\f", "r": "\r", "b": "\b"}
#: Most characters between sentences that are filled with spaces, in a file.
_FILLED = 1_000_000
#: Share of misplaced units that another unit of offsets has to explain.
_SHARE = 0.8
#: What offsets may count, the likeliest first.
_UNITS = (CHARACTERS, "bytes", "utf-16")


def unescape(text: str) -> str:
    r"""A text or value without escapes.

    Examples:
        >>> unescape("a\\tb\\_c\\->d")
        'a\tb_c->d'
    """
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda found: ESCAPES.get(found[1], found[1]), text)


@dataclass(slots=True)
class Unit:
    """A token, or a part of one.

    Attributes:
        name: its number, such as `1-2` or `1-2.1`.
        written: its offsets as written.
        cells: the cells of its line.
        record: the number of its line.
        start: its first character in the text.
        end: one past its last.
    """

    name: str
    written: tuple[int, int]
    cells: list[str]
    record: int
    start: int = 0
    end: int = 0

    @property
    def is_token(self) -> bool:
        """Whether it is a whole token."""
        return "." not in self.name


@dataclass(slots=True)
class Sentence:
    """A sentence with its units."""

    record: int
    name: str | None = None
    lines: list[str] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    start: int = 0
    end: int = 0


class Text:
    """The text of a file, with the places of its sentences and units.

    Attributes:
        whole: the text.
        sentences: the sentences.
        rejected: the problems of lines that are not read.
        first_record: the line of the first sentence.
        characters: the length of all lines.
    """

    def __init__(
        self, lines: Sequence[str], header: "Header", unit: str, problems: list[Problem]
    ) -> None:
        self.rejected: list[Problem] = []
        self.characters = sum(map(len, lines))
        self.sentences = self._sentences(lines, header)
        self.first_record = self.sentences[0].record if self.sentences else 1
        problems += self.rejected
        self.whole = self._place(unit)
        problems += self._text_problems(unit)
        size = len(self.whole)
        for sentence in self.sentences:  # spans outside of the text were reported
            sentence.units = [each for each in sentence.units if each.start <= each.end <= size]

    def _sentences(self, lines: Sequence[str], header: "Header") -> list[Sentence]:
        """The sentences of the body."""
        found: list[Sentence] = []
        current: Sentence | None = None
        for record, line in enumerate(lines[header.size :], start=header.size + 1):
            is_comment = line.startswith("#")
            is_unit = not is_comment and bool(line.strip())
            if current is not None and current.units and not is_unit:
                current = None
            unit = self._unit(record, line, header) if is_unit else None
            if current is None and (unit or is_comment):
                current = Sentence(record)
                found.append(current)
            if current is not None and unit is not None:
                current.units.append(unit)
            elif current is not None and line.startswith(_NAME):
                current.name = unescape(line.removeprefix(_NAME))
            elif current is not None and line.startswith(_TEXT):
                current.lines.append(unescape(line.removeprefix(_TEXT)))
        return [each for each in found if each.lines or each.units]

    def _unit(self, record: int, line: str, header: "Header") -> Unit | None:
        """The unit of a line; None, with a problem, if it is none."""
        cells = line.split("\t")
        wanted = header.width + 3
        offsets = _OFFSETS.fullmatch(cells[1]) if len(cells) > 1 else None
        if len(cells) >= wanted and offsets and _UNIT.fullmatch(cells[0]):
            return Unit(cells[0], (int(offsets[1]), int(offsets[2])), cells, record)
        values = cell_counts(len(cells), wanted)
        self.rejected.append(Problem("UIM102", record, 0, len(line), values))
        return None

    def _place(self, unit: str) -> str:
        """Put the text together, and set the places of sentences and units in it."""
        parts: list[str] = []
        at, filled = 0, 0

        def size(part: str) -> int:
            plain = unit == CHARACTERS or part.isascii()
            return len(part) if plain else int(widths(part, unit).sum())

        for sentence in self.sentences:
            body = "\n".join(sentence.lines)
            first = next((each for each in sentence.units if each.is_token), None)
            gap = 1 if parts else 0
            if first is not None:
                cells, bare = (first.cells[2], unescape(first.cells[2])), body.lstrip()
                # The first token begins the sentence; other writers keep white space before it.
                before = body[: len(body) - len(bare)]
                inside = not body.startswith(cells) and bare.startswith(cells)
                gap = first.written[0] - (size(before) if inside else 0) - at
            gap = gap if 0 <= gap <= _FILLED - filled else int(bool(parts))
            filled += gap
            space = "\n" + " " * (gap - 1) if gap and parts else " " * gap
            parts += (space, body)
            sentence.start = at + gap
            at = sentence.end = at + gap + size(body)
        whole = "".join(parts)
        move = int if unit == CHARACTERS else UnitText(whole, unit).character
        for sentence in self.sentences:
            sentence.start, sentence.end = move(sentence.start), move(sentence.end)
            for each in sentence.units:
                each.start, each.end = move(each.written[0]), move(each.written[1])
        return whole

    def _find_misplaced(self) -> list[Unit]:
        """The units whose text is not that at their offsets."""
        units = (unit for sentence in self.sentences for unit in sentence.units)
        return [unit for unit in units if not self._fits(unit)]

    def _fits(self, unit: Unit) -> bool:
        cell = unit.cells[2]
        if not (unit.start <= unit.end <= len(self.whole)) or unit.end - unit.start > len(cell):
            return False
        return self.whole[unit.start : unit.end] in {cell, unescape(cell)}

    def _text_problems(self, unit: str) -> Iterator[Problem]:
        """The problems of units whose text differs; one if their offsets count another unit."""
        wrong = self._find_misplaced()
        if not wrong:
            return

        def counts() -> Iterator[tuple[str, int]]:
            for other in _UNITS:
                self.whole = self._place(other)
                if other != unit:
                    yield other, len(wrong) - len(self._find_misplaced())

        other, _ = likeliest(counts(), len(wrong), _SHARE * len(wrong))
        self.whole = self._place(unit)
        if other:
            values = {"what": UNIT_NAMES[other], "setting": other}
            yield Problem("UIM104", wrong[0].record, 0, 0, values, "text")
            return
        for each in wrong:
            actual = self.whole[each.start : each.end] if each.start <= len(self.whole) else ""
            values = {"given": each.cells[2][:40], "actual": actual[:40]}
            yield Problem("UIM103", each.record, 0, 0, values, "text")


@lru_cache(maxsize=100)
def cell_counts(given: int, wanted: int) -> Mapping[str, int]:
    """The values of a message; many lines have the same."""
    return MappingProxyType({"given": given, "wanted": wanted})

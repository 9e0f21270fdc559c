"""WebAnno TSV as it is read: layers of the header, sentences with their text, and annotations."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, islice, pairwise
from typing import NamedTuple

from hlteval.converters.toolkit.offsets import CHARACTERS, likeliest, place_in, widths
from hlteval.converters.toolkit.span_texts import UNIT_NAMES
from hlteval.converters.uima.layers import IDENTIFIER, SENTENCE, TOKEN, Annotation, is_pos
from hlteval.findings import Problem

_LAYER = re.compile(r"#T_(SP|RL|CH)=([^|]*)\|?(.*)")
_TEXT, _NAME = "#Text=", "#Sentence.id="
_UNIT = re.compile(r"([0-9]{1,9}-[0-9]{1,9}(?:\.[0-9]{1,9})?)\t([0-9]{1,9})-([0-9]{1,9})(?=\t|$)")
#: A value with the number of its annotation, and one with its chain, and its number in that.
_VALUE = re.compile(r"((?:\\.|[^\\\[\]])*)()(?:\[([0-9]{1,9})\])?", re.DOTALL)
_CHAINED = re.compile(r"(.*?)(?:->|\[)([0-9]{1,9})(?:-([0-9]{1,9})|\])", re.DOTALL)
_TARGET = re.compile(
    r"([0-9]{1,9}-[0-9]{1,9}(?:\.[0-9]{1,9})?)(?:\[(?:([0-9]{1,9})_)?([0-9]{1,9})\])?"
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "f": "\f", "r": "\r", "b": "\b"}
_NULL, _NONE = "*", "_"
#: Most characters between sentences that are filled with spaces, in a file.
_FILLED = 1_000_000
#: What offsets may count, the likeliest first, and the share of wrong units that it has to explain.
_UNITS, _SHARE = (CHARACTERS, "bytes", "utf-16"), 0.8
#: Most stacked values and links of a file, and how many characters allow one more.
_STACKED, _CHARACTERS = 1_000, 10


def unescape(text: str) -> str:
    r"""A text or value without escapes.

    Examples:
        >>> unescape("a\\tb\\_c\\->d")
        'a\tb_c->d'
    """
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), text)


def split(cell: str, separator: str) -> list[str]:
    r"""The parts of a cell between separators that are not escaped.

    Examples:
        >>> split("a\\|b|c", "|")
        ['a\\|b', 'c']
    """
    if "\\" not in cell:
        return cell.split(separator)
    escape = rf"(\\.)|{re.escape(separator)}"
    return re.sub(escape, lambda found: found[1] or "\n", cell).split("\n")


@dataclass(slots=True)
class Layer:
    """A layer of the header.

    Attributes:
        kind: `SP` of spans, `CH` of chains, `RL` of relations.
        name: of its type.
        columns: the numbers of its columns.
        features: the feature of each column of values; empty for a layer without features.
        targets: the type that each column of targets refers to; empty for any. The roles of links
            are in the column before.
    """

    kind: str
    name: str
    columns: range
    features: dict[int, str] = field(default_factory=dict)
    targets: dict[int, str] = field(default_factory=dict)


def read_layers(lines: Iterable[str]) -> list[Layer]:
    """The layers that the lines after the first one declare, in the order of their columns."""
    layers, width = list[Layer](), 3
    for found in map(_LAYER.fullmatch, islice(lines, 1, None)):
        if found is None:
            break
        fields = [*filter(None, found[3].split("|"))] or [""]
        layer = Layer(found[1], found[2], range(width, width := width + len(fields)))
        roles = {
            at
            for at, (own, after) in zip(layer.columns, pairwise([*fields, "ROLE_"]), strict=True)
            if layer.kind == "SP" and own.startswith("ROLE_") and not after.startswith("ROLE_")
        }
        for at, own in zip(layer.columns, fields, strict=True):
            if at - 1 in roles or own.startswith("BT_"):
                layer.targets[at] = "" if own.startswith("uima.") else own.removeprefix("BT_")
            elif at not in roles:
                layer.features[at] = own
        layers.append(layer)
    return layers


class Unit(NamedTuple):
    """A token, or a part of one: its line, its number and its offsets as written."""

    record: int
    name: str
    offsets: tuple[int, int]
    cells: list[str]


@dataclass(slots=True)
class Sentence:
    """A sentence with its units; `values` is its identifier."""

    record: int = 0
    values: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)


def read_sentences(
    lines: Sequence[str], layers: Sequence[Layer], problems: list[Problem]
) -> list[Sentence]:
    """The sentences after the header, with problems of lines that are no units."""
    first, wanted = len(layers) + 1, layers[-1].columns.stop if layers else 3
    found, counts = [Sentence()], dict[int, dict[str, int]]()
    for record, line in enumerate(lines[first:], start=first + 1):
        cells, is_comment = line.split("\t"), line.startswith("#")
        unit = _UNIT.match(line) if len(cells) >= wanted else None
        if found[-1].units and (is_comment or not line.strip()):
            found.append(Sentence())
        sentence = found[-1]
        if unit or is_comment:
            sentence.record = sentence.record or record
        if unit:
            offsets = int(unit[2]), int(unit[3])
            sentence.units.append(Unit(record, unit[1], offsets, cells))
        elif line.startswith(_NAME):
            sentence.values["id"] = unescape(line.removeprefix(_NAME))
        elif line.startswith(_TEXT):
            sentence.lines.append(unescape(line.removeprefix(_TEXT)))
        elif not is_comment and line.strip():
            values = counts.setdefault(len(cells), {"given": len(cells), "wanted": wanted})
            problems.append(Problem("UIM102", record, 0, len(line), values))
    return [each for each in found if each.lines or each.units]


class Text:
    """The text of sentences, whose offsets count a unit.

    Attributes:
        whole: the text.
        spans: the start and end of each sentence, in the unit.
        place: gives a span in characters.
    """

    def __init__(self, sentences: Sequence[Sentence], unit: str) -> None:
        self.sentences, self.unit = sentences, unit
        self.spans: list[tuple[int, int]] = []
        parts, at, filled = list[str](), 0, 0
        for sentence in sentences:
            body, gap = "\n".join(sentence.lines), -1
            texts = ((each.offsets[0], unescape(each.cells[2])) for each in sentence.units)
            first = next((each for each in texts if each[1].strip()), None)
            if first is not None:
                # INCEpTION begins a sentence with a token; others keep white space before it.
                gap = first[0] - at - _size(body[: max(body.find(first[1]), 0)], unit)
            gap = gap if 0 <= gap <= _FILLED - filled else int(bool(parts))
            filled += gap
            parts += ("\n".ljust(gap) if gap and parts else " " * gap, body)
            start, at = at + gap, at + gap + _size(body, unit)
            self.spans.append((start, at))
        self.whole = "".join(parts)
        self.place = place_in(self.whole, unit)

    def mismatches(self) -> Iterator[tuple[Unit, str]]:
        """The units whose text is not at their offsets, with what is there."""
        for each in chain.from_iterable(sentence.units for sentence in self.sentences):
            (start, end), cell = self.place(*each.offsets), each.cells[2]
            actual = self.whole[start : min(end, start + len(cell) + 40)]
            is_inside = start <= end <= len(self.whole)
            if not is_inside or actual not in (cell, unescape(cell)):
                yield each, actual[:40]

    def problems(self) -> Iterator[Problem]:
        """The problems of units that are elsewhere; one if their offsets count another unit."""
        wrong = [*self.mismatches()]
        texts = (Text(self.sentences, unit) for unit in _UNITS if wrong and unit != self.unit)
        counts = ((each.unit, len(wrong) - len([*each.mismatches()])) for each in texts)
        other, _ = likeliest(counts, len(wrong), max(1, _SHARE * len(wrong)))
        for each, actual in wrong[: 1 if other else None]:
            values = {"given": each.cells[2][:40], "actual": actual}
            values = {"what": UNIT_NAMES[other], "setting": other} if other else values
            code = "UIM104" if other else "UIM103"
            yield Problem(code, each.record, 0, 0, values, "text")


def _size(text: str, unit: str) -> int:
    """The length of a text in a unit."""
    plain = unit == CHARACTERS or text.isascii()
    return len(text) if plain else int(widths(text, unit).sum())


class Annotations:
    """The annotations of a file.

    Attributes:
        items: the annotations, with sentences and tokens.
        known: those with a number, and the first of each layer in each unit.
        waiting: those that refer to others, with a column, its part and the roles of links.
        room: how many more stacked values and links are read.
    """

    def __init__(self, layers: Sequence[Layer], size: int, problems: list[Problem]) -> None:
        self.layers, self.problems = layers, problems
        self.room, self.numbers = _STACKED + size // _CHARACTERS, count(1)
        self.items: list[Annotation] = []
        self.known: dict[tuple[str, str], Annotation] = {}
        self.waiting: list[tuple[Annotation, Unit, str, int, str, str]] = []

    def read(self, text: Text) -> list[Annotation]:
        """All annotations in a text, with sentences and tokens."""
        for sentence, span in zip(text.sentences, text.spans, strict=True):
            place, values = text.place(*span), sentence.values
            self.items.append(Annotation("", SENTENCE, *place, sentence.record, values))
            for unit in sentence.units:
                start, end = text.place(*unit.offsets)
                if not start <= end <= len(text.whole):  # as was reported
                    continue
                if "." not in unit.name:
                    self.items.append(Annotation("", TOKEN, start, end, unit.record))
                    self.known[unit.name, TOKEN] = self.items[-1]
                for layer in self.layers:
                    self._read_cells(unit, layer, start, end)
        for waiting in self.waiting:
            self._connect(*waiting)
        return self.items

    def _report(self, unit: Unit, column: int, code: str, **values: object) -> None:
        self.problems.append(Problem(code, unit.record, 0, 0, values, str(column)))

    def _split(self, unit: Unit, column: int, text: str, separator: str) -> list[str]:
        """The stacked values or links of a cell, which may be a character each."""
        parts = split(text, separator)
        more = len(parts) - 1
        if more > self.room:
            self._report(unit, column, "UIM107", count=more, room=self.room)
            return parts[:1]
        self.room -= more
        return parts

    def _read_cells(self, unit: Unit, layer: Layer, start: int, end: int) -> None:
        """Take the annotations of a layer that a unit has."""
        cells = {at: unit.cells[at] for at in layer.columns if unit.cells[at] != _NONE}
        stacks = {at: self._split(unit, at, cell, "|") for at, cell in cells.items()}
        several = max(map(len, stacks.values()), default=0)
        for number in range(several):
            parts = {at: parts[number] for at, parts in stacks.items() if number < len(parts)}
            item = Annotation("", layer.name, start, end, unit.record)
            item.ends = ("", "") if layer.kind == "RL" and layer.targets else None
            self._annotation(item, unit, layer, parts)
        for at in [at for at, parts in stacks.items() if len(parts) < several][:1]:
            self._report(unit, at, "UIM105", given=cells[at][:40])

    def _annotation(
        self, item: Annotation, unit: Unit, layer: Layer, parts: Mapping[int, str]
    ) -> None:
        """Take an annotation, or go on with one that an earlier unit has."""
        roles, number, pattern = dict[int, str](), "", _CHAINED if layer.kind == "CH" else _VALUE
        for at, part in parts.items():
            if at in layer.targets:
                continue
            found = pattern.fullmatch(part)
            if found is None:
                self._report(unit, at, "UIM105", given=part[:40])
            value, chained, own = found.groups() if found else (part, "", "")
            if chained:
                item.values[IDENTIFIER] = f"chain-{chained}"
            number = f"{chained}[{own}]" if own else number
            feature = layer.features.get(at)
            if feature is None:
                roles[at + 1] = value
            elif feature and value != _NULL:
                item.values[feature] = unescape(value)
        key = (number, layer.name if layer.kind == "CH" else "")
        earlier = self.known.get(key) if number and not item.ends else None
        if earlier is not None:
            earlier.start, earlier.end = min(earlier.start, item.start), max(earlier.end, item.end)
            earlier.values = {**item.values, **earlier.values}
            item = earlier
        else:
            item.key = f"{'R' if item.ends else 'T'}{next(self.numbers)}"
            self.items.append(item)
            for at in layer.targets if item.ends else layer.targets.keys() & parts.keys():
                own = roles.get(at, _NULL if item.ends else _NONE), parts.get(at, _NONE)
                self.waiting.append((item, unit, layer.targets[at], at, *own))
        if not item.ends:
            for each in (key, (unit.name, layer.name), (unit.name, "")):
                self.known.setdefault(each, item)

    def _connect(
        self, item: Annotation, unit: Unit, target: str, at: int, roles: str, part: str
    ) -> None:
        """Connect a relation, or an annotation with links, with what a cell refers to."""
        cells = [] if part in (_NONE, _NULL) else self._split(unit, at, part, ";")
        names = [] if roles == _NONE else self._split(unit, at, roles, ";")
        if len(names) != len(cells):
            self._report(unit, at, "UIM105", given=part[:40])
        for name, cell in zip(names, cells, strict=False):
            found = _TARGET.fullmatch(cell)
            if found is None:
                self._report(unit, at, "UIM105", given=cell[:40])
                continue
            place, first, last = found.groups()
            places = [(place, first or last), (unit.name, first and last)]
            ends = list[str]()
            for place, number in places[: 2 if item.ends else 1]:
                keys = [(f"[{number}]", "") if number and int(number) else (place, target)]
                keys += [(place, TOKEN)] if is_pos(target) else []
                end = next((self.known[key] for key in keys if key in self.known), None)
                if end is None:
                    self._report(unit, at, "UIM301", what="unit", id=cell[:40])
                ends.append(end.key if end else "")
            if item.ends:
                item.ends = ends[0], ends[1]
            elif ends[0]:
                item.links.append(("" if name == _NULL else unescape(name), ends[0]))

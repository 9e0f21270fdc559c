"""WebAnno TSV as it is read: layers of the header, sentences with their text, and annotations."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, islice

from hlteval.converters.toolkit.offsets import CHARACTERS, likeliest, place_in, widths
from hlteval.converters.toolkit.span_texts import UNIT_NAMES
from hlteval.converters.uima.layers import IDENTIFIER, SENTENCE, TOKEN, Annotation, is_pos
from hlteval.findings import Problem

_LAYER = re.compile(r"#T_(SP|RL|CH)=([^|]*)\|?(.*)")
_TEXT, _NAME = "#Text=", "#Sentence.id="
_UNIT = re.compile(r"([0-9]{1,9}-[0-9]{1,9}(?:\.[0-9]{1,9})?)\t([0-9]{1,9})-([0-9]{1,9})(?=\t|$)")
_VALUE = re.compile(r"((?:\\.|[^\\\[\]])*)(?:\[([0-9]{1,9})\])?", re.DOTALL)
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
        roles: the columns of the roles of links; their targets follow.
        targets: the type that each column of targets refers to; empty for any.
    """

    kind: str
    name: str
    columns: range
    features: dict[int, str] = field(default_factory=dict)
    roles: set[int] = field(default_factory=set)
    targets: dict[int, str] = field(default_factory=dict)


def read_layers(lines: Iterable[str]) -> list[Layer]:
    """The layers that the lines after the first one declare, in the order of their columns."""
    layers, width = list[Layer](), 3
    for line in islice(lines, 1, None):
        found = _LAYER.fullmatch(line)
        if found is None:
            break
        fields = [each for each in found[3].split("|") if each] or [""]
        layer = Layer(found[1], found[2], range(width, width := width + len(fields)))
        for at, name in zip(layer.columns, fields, strict=True):
            if layer.kind == "SP" and name.startswith("ROLE_"):
                layer.roles.add(at)
            elif at - 1 in layer.roles or (layer.kind == "RL" and name.startswith("BT_")):
                is_any = name.startswith("uima.")
                layer.targets[at] = "" if is_any else name.removeprefix("BT_")
            else:
                layer.features[at] = name
        layers.append(layer)
    return layers


@dataclass(slots=True)
class Unit:
    """A token, or a part of one: its line, number and offsets as written, and its place."""

    record: int
    name: str
    written: tuple[int, int]
    cells: list[str]
    start: int = 0
    end: int = 0

    @property
    def is_token(self) -> bool:
        """Whether it is a whole token."""
        return "." not in self.name

    def fits(self, text: str) -> bool:
        """Whether its text is that at its place."""
        cell = self.cells[2]
        if not self.start <= self.end <= len(text) or self.end - self.start > len(cell):
            return False
        return text[self.start : self.end] in (cell, unescape(cell))


@dataclass(slots=True)
class Sentence:
    """A sentence with its units."""

    record: int = 0
    name: str | None = None
    lines: list[str] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    start: int = 0
    end: int = 0


def read_sentences(
    lines: Sequence[str], layers: Sequence[Layer], problems: list[Problem]
) -> list[Sentence]:
    """The sentences after the header, with problems of lines that are no units."""
    first, wanted = len(layers) + 1, layers[-1].columns.stop if layers else 3
    found, counts = [Sentence()], dict[int, dict[str, int]]()
    for record, line in enumerate(lines[first:], start=first + 1):
        is_unit = not line.startswith("#") and bool(line.strip())
        if found[-1].units and not is_unit:
            found.append(Sentence())
        sentence = found[-1]
        unit, cells = _UNIT.match(line), line.split("\t")
        if is_unit and not (unit and len(cells) >= wanted):
            values = counts.setdefault(len(cells), {"given": len(cells), "wanted": wanted})
            problems.append(Problem("UIM102", record, 0, len(line), values))
            continue
        if line.strip():
            sentence.record = sentence.record or record
        if unit:
            sentence.units.append(Unit(record, unit[1], (int(unit[2]), int(unit[3])), cells))
        elif line.startswith(_NAME):
            sentence.name = unescape(line.removeprefix(_NAME))
        elif line.startswith(_TEXT):
            sentence.lines.append(unescape(line.removeprefix(_TEXT)))
    return [each for each in found if each.lines or each.units]


def join_text(sentences: Sequence[Sentence], unit: str) -> str:
    """Put the text together, and set the places of sentences and units in it."""
    parts, at, filled = list[str](), 0, 0

    def size(part: str) -> int:
        plain = unit == CHARACTERS or part.isascii()
        return len(part) if plain else int(widths(part, unit).sum())

    for sentence in sentences:
        body, gap = "\n".join(sentence.lines), -1
        first = next((each for each in sentence.units if each.is_token), None)
        if first is not None:
            # The first token begins the sentence; other writers keep white space before it.
            before = body[: max(body.find(unescape(first.cells[2])), 0)]
            gap = first.written[0] - at - (0 if before.strip() else size(before))
        gap = gap if 0 <= gap <= _FILLED - filled else int(bool(parts))
        filled += gap
        parts += ("\n".ljust(gap) if gap and parts else " " * gap, body)
        sentence.start = at + gap
        at = sentence.end = sentence.start + size(body)
    text = "".join(parts)
    place = place_in(text, unit)
    for sentence in sentences:
        sentence.start, sentence.end = place(sentence.start, sentence.end)
        for each in sentence.units:
            each.start, each.end = place(*each.written)
    return text


def read_text(sentences: Sequence[Sentence], unit: str, problems: list[Problem]) -> str:
    """The text, with problems of units that are elsewhere; one if they count another unit.

    Units outside of the text are left out.
    """

    def wrong_units(unit: str) -> list[Unit]:
        text = join_text(sentences, unit)
        return [each for sentence in sentences for each in sentence.units if not each.fits(text)]

    wrong = wrong_units(unit)
    others = (each for each in _UNITS if wrong and each != unit)
    counts = ((each, len(wrong) - len(wrong_units(each))) for each in others)
    other, _ = likeliest(counts, len(wrong), max(1, _SHARE * len(wrong)))
    text = join_text(sentences, unit)
    if other:
        values = {"what": UNIT_NAMES[other], "setting": other}
        problems.append(Problem("UIM104", wrong[0].record, 0, 0, values, "text"))
        wrong = []
    for each in wrong:
        actual = text[each.start : min(each.end, each.start + 40)]
        values = {"given": each.cells[2][:40], "actual": actual}
        problems.append(Problem("UIM103", each.record, 0, 0, values, "text"))
    for sentence in sentences:
        sentence.units = [each for each in sentence.units if each.start <= each.end <= len(text)]
    return text


#: The name of a unit or the number of an annotation, and the layer; empty for any.
Key = tuple[str, str]
#: A column, what it refers to as written, the role, and the key of that.
Reference = tuple[int, str, str, Key]


class Annotations:
    """The annotations of a file.

    Attributes:
        items: the annotations, with sentences and tokens.
        known: those with a number, and the first of each layer in each unit.
        waiting: those that refer to others.
        room: how many more stacked values and links are read.
    """

    def __init__(self, layers: Sequence[Layer], size: int, problems: list[Problem]) -> None:
        self.layers, self.problems = layers, problems
        self.room = _STACKED + size // _CHARACTERS
        self.items: list[Annotation] = []
        self.known: dict[Key, Annotation] = {}
        self.waiting: list[tuple[Annotation, Unit, list[Reference]]] = []
        self.numbers, self.last = count(1), dict[str, str]()

    def read(self, sentences: Iterable[Sentence]) -> list[Annotation]:
        """All annotations of sentences, with these and their tokens."""
        for sentence in sentences:
            values = {} if sentence.name is None else {"id": sentence.name}
            span = sentence.start, sentence.end, sentence.record
            self.items.append(Annotation("", SENTENCE, *span, values))
            for unit in sentence.units:
                if unit.is_token:
                    token = Annotation("", TOKEN, unit.start, unit.end, unit.record)
                    self.items.append(token)
                    self.known[unit.name, TOKEN] = token
                for layer in self.layers:
                    self._read_cells(unit, layer)
        for item, unit, references in self.waiting:
            self._connect(item, unit, references)
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

    def _read_cells(self, unit: Unit, layer: Layer) -> None:
        """Take the annotations of a layer that a unit has."""
        cells = {at: unit.cells[at] for at in layer.columns if unit.cells[at] != _NONE}
        stacks = {at: self._split(unit, at, cell, "|") for at, cell in cells.items()}
        several = max(map(len, stacks.values()), default=0)
        for number in range(several):
            parts = {at: parts[number] for at, parts in stacks.items() if number < len(parts)}
            self._annotation(unit, layer, parts)
        short = [at for at, parts in stacks.items() if len(parts) < several]
        if short:
            self._report(unit, short[0], "UIM105", given=cells[short[0]][:40])

    def _annotation(self, unit: Unit, layer: Layer, parts: Mapping[int, str]) -> None:
        """Take an annotation, or go on with one that an earlier unit has."""
        written, values, number = dict[int, str](), dict[str, str](), ""
        for at, part in parts.items():
            if at in layer.targets:
                continue
            found = (_CHAINED if layer.kind == "CH" else _VALUE).fullmatch(part)
            if found is None:
                self._report(unit, at, "UIM105", given=part[:40])
            written[at], own, *link = found.groups() if found else (part, None)
            if own and layer.kind == "CH":
                values[IDENTIFIER] = f"chain-{own}"
                number = f"{own}->{link[0]}" if link[0] else number
            else:
                number = own or number
            feature = layer.features.get(at)
            if feature and written[at] != _NULL:
                values[feature] = unescape(written[at])
        references = [
            reference
            for at in layer.targets.keys() & parts.keys()
            for reference in self._references(
                unit, layer, at, parts[at], written.get(at - 1, _NONE)
            )
        ]
        is_relation = layer.kind == "RL"
        key = (number, layer.name if layer.kind == "CH" else "")
        if number and not is_relation and key in self.known:
            item = self.known[key]
            item.start, item.end = min(item.start, unit.start), max(item.end, unit.end)
            item.values = {**values, **item.values}
        else:
            self.last = values = self.last if values == self.last else values  # of many in a cell
            name = f"{'R' if is_relation else 'T'}{next(self.numbers)}"
            item = Annotation(name, layer.name, unit.start, unit.end, unit.record, values)
            item.ends = (
                ("", "") if is_relation and not layer.targets.keys().isdisjoint(parts) else None
            )
            self.items.append(item)
            self.waiting += [(item, unit, references)] if references else []
        if not is_relation:
            for each in (key, (unit.name, layer.name), (unit.name, "")):
                self.known.setdefault(each, item)

    def _references(
        self, unit: Unit, layer: Layer, at: int, part: str, roles: str
    ) -> Iterator[Reference]:
        """The targets of links with their roles, or the source and the target of a relation."""
        cells, names = [part], [_NULL]
        if layer.kind != "RL":
            cells = [] if part in (_NONE, _NULL) else self._split(unit, at, part, ";")
            names = [] if roles == _NONE else self._split(unit, at, roles, ";")
        if len(names) != len(cells):
            self._report(unit, at, "UIM105", given=part[:40])
        target = layer.targets[at]
        for name, cell in zip(names, cells, strict=False):
            found = _TARGET.fullmatch(cell)
            if found is None:
                self._report(unit, at, "UIM105", given=cell[:40])
                continue
            place, first, last = found.groups()
            role = "" if name == _NULL else unescape(name)
            ends = [(place, first or last)]
            if layer.kind == "RL":
                ends.append((unit.name, first and last))
            for place, number in ends:
                key = (number, "") if number and int(number) else (place, target)
                yield at, cell, role, key

    def _connect(self, item: Annotation, unit: Unit, references: Sequence[Reference]) -> None:
        """Connect a relation, or an annotation with links, with what it refers to."""
        ends = [self.known.get(key) for *_, key in references]
        for end, (at, cell, _, (place, target)) in zip(ends, references, strict=True):
            if end is None and not (is_pos(target) and (place, TOKEN) in self.known):
                self._report(unit, at, "UIM301", what="unit", id=cell[:40])
        if item.ends:
            source, end = ends[:2]
            item.ends = (source.key if source else "", end.key if end else "")
            item.start, item.end = (end.start, end.end) if end else (item.start, item.end)
        else:
            roles = (role for _, _, role, _ in references)
            item.links += [(role, end.key) for role, end in zip(roles, ends, strict=True) if end]

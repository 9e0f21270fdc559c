"""The layers of a file of WebAnno TSV: its header, and the annotations in its columns."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count, islice, zip_longest

from hlteval.converters.uima.layers import IDENTIFIER, POS, SENTENCE, TOKEN, Annotation
from hlteval.converters.uima.tsv_text import Text, Unit, unescape
from hlteval.findings import Problem

_LAYER = re.compile(r"#T_(SP|RL|CH)=([^|]*)\|?(.*)")
_VALUE = re.compile(r"((?:\\.|[^\\\[\]])*)(?:\[([0-9]{1,9})\])?", re.DOTALL)
_LINK = re.compile(r"(.*)->([0-9]{1,9})-([0-9]{1,9})", re.DOTALL)
_TARGET = re.compile(
    r"([0-9]{1,9}-[0-9]{1,9}(?:\.[0-9]{1,9})?)(?:\[(?:([0-9]{1,9})_)?([0-9]{1,9})\])?"
)
_NULL, _NONE = "*", "_"
#: Most stacked values and links of a file, and how many characters allow one more.
_STACKED, _CHARACTERS = 1_000, 10


@dataclass(slots=True)
class Column:
    """A column: the feature that it is of, and what its cells are.

    `use` is `value`, `empty` (a layer without features), `role` and `slot` of links, `base` of
    relations, or `chain`.
    """

    at: int
    use: str
    feature: str


@dataclass(slots=True)
class Layer:
    """A layer with its columns; `target` is the type that relations or links refer to."""

    kind: str
    name: str
    columns: list[Column] = field(default_factory=list)
    target: str = ""


class Header:
    """The header of a file.

    Attributes:
        size: the number of its lines.
        layers: the layers in the order of their columns.
        width: the number of their columns.
        features: the features of each layer whose cells are values.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.size, self.width = 1, 0
        self.layers: list[Layer] = []
        self.features: dict[str, list[str]] = defaultdict(list)
        for found in map(_LAYER.fullmatch, islice(lines, 1, None)):
            if found is None:
                break
            self.size += 1
            self.layers.append(self._layer(*found.groups()))

    def _layer(self, kind: str, name: str, rest: str) -> Layer:
        """A layer of one line."""
        layer = Layer(kind, name)
        fields = [each for each in rest.split("|") if each] or [""]
        for each in fields:
            use = "value" if each else "empty"
            before = layer.columns[-1].use if layer.columns else ""
            if kind == "SP" and each.startswith("ROLE_"):
                use = "role"
            elif kind == "SP" and before == "role":
                use, layer.target = "slot", each
            elif kind == "RL" and each.startswith("BT_"):
                use, layer.target = "base", each.removeprefix("BT_")
            elif kind == "CH" and each == "referenceRelation":
                use = "chain"
            layer.columns.append(Column(self.width + 3, use, each))
            self.width += 1
            self.features[name] += [each] if use in {"value", "chain"} else []
        return layer


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


class Columns:
    """The annotations in the columns of a file."""

    def __init__(self, header: Header, text: Text, problems: list[Problem]) -> None:
        self.header, self.text, self.problems = header, text, problems
        self.items: list[Annotation] = []
        self.numbered: dict[tuple[str, str], Annotation] = {}
        self.in_unit: dict[tuple[str, str], Annotation] = {}
        self.waiting: list[tuple[Annotation, Unit, Layer, Sequence[tuple[Column, str]]]] = []
        self.numbers, self.last = count(1), dict[str, str]()
        self.tokens: set[str] = set()
        self.room = _STACKED + text.characters // _CHARACTERS

    def annotations(self) -> list[Annotation]:
        """All annotations, with sentences and tokens."""
        for sentence in self.text.sentences:
            values = {} if sentence.name is None else {"id": sentence.name}
            span = (sentence.start, sentence.end, sentence.record)
            self.items.append(Annotation("", SENTENCE, *span, values))
            for unit in sentence.units:
                if unit.is_token:
                    item = Annotation("", TOKEN, unit.start, unit.end, unit.record)
                    self.items.append(item)
                    self.tokens.add(unit.name)
                for layer in self.header.layers:
                    self._layer(unit, layer)
        for waiting in self.waiting:
            self._connect(*waiting)
        return self.items

    def _problem(self, unit: Unit, column: Column, code: str, **values: object) -> None:
        self.problems.append(Problem(code, unit.record, 0, 0, values, str(column.at)))

    def _layer(self, unit: Unit, layer: Layer) -> None:
        """Take the annotations of a layer that a unit has."""
        columns = [each for each in layer.columns if unit.cells[each.at] != _NONE]
        cells = [split(unit.cells[each.at], "|") for each in columns]
        stacked = sum(map(len, cells)) - len(cells)
        if stacked and not self._has_room(unit, columns[0], stacked):
            cells = [parts[:1] for parts in cells]
        for parts in zip_longest(*cells):
            pairs = zip(columns, parts, strict=True)
            self._annotation(unit, layer, [pair for pair in pairs if pair[1] is not None])
        several = max(map(len, cells), default=0)
        short = [each for each, own in zip(columns, cells, strict=True) if len(own) < several]
        if short:
            self._problem(unit, short[0], "UIM105", given=unit.cells[short[0].at][:40])

    def _has_room(self, unit: Unit, column: Column, count: int) -> bool:
        """Whether a file may have so many stacked values more, which may be a character each."""
        if count <= self.room:
            self.room -= count
            return True
        self._problem(unit, column, "UIM107", count=count, room=self.room)
        return False

    def _annotation(self, unit: Unit, layer: Layer, parts: Sequence[tuple[Column, str]]) -> None:
        """Take an annotation, or go on with one that an earlier unit has."""
        values: dict[str, str] = {}
        refer: list[tuple[Column, str]] = []
        number = ""
        for column, part in parts:
            if column.use in {"slot", "base"}:
                refer.append((column, part))
                continue
            found = _VALUE.fullmatch(part)
            if found is None and column.use != "chain":
                self._problem(unit, column, "UIM105", given=part[:40])
            written, own = found.groups() if found else (part, None)
            if own and layer.kind == "CH":
                values[IDENTIFIER] = f"chain-{own}"
            elif own:
                number = own
            if column.use == "role":
                refer.append((column, written))
            elif column.use == "chain":
                link = _LINK.fullmatch(written)
                if link is None:
                    self._problem(unit, column, "UIM105", given=part[:40])
                    continue
                number, written = f"{link[2]}-{link[3]}", link[1]
                values[IDENTIFIER] = f"chain-{link[2]}"
            if column.use in {"value", "chain"} and written != _NULL:
                values[column.feature] = unescape(written)
        key = (layer.name if layer.kind == "CH" else "", number)
        item = self.numbered.get(key) if number and layer.kind != "RL" else None
        if item is None:
            values = self.last if values == self.last else values  # one of many in a cell
            self.last, letter = values, "R" if layer.kind == "RL" else "T"
            name = f"{letter}{next(self.numbers)}"
            item = Annotation(name, layer.name, unit.start, unit.end, unit.record, values)
            self.items.append(item)
            self.waiting += [(item, unit, layer, refer)] if refer else []
        else:
            item.start, item.end = min(item.start, unit.start), max(item.end, unit.end)
            item.values = {**values, **item.values}
        if layer.kind != "RL":
            self.numbered[key] = item
            self.in_unit.setdefault((unit.name, item.layer), item)
            self.in_unit.setdefault((unit.name, ""), item)

    def _connect(
        self, item: Annotation, unit: Unit, layer: Layer, refer: Sequence[tuple[Column, str]]
    ) -> None:
        """Connect a relation, or links with their roles, with what its cells refer to."""
        roles: list[str] = []
        for column, part in refer:
            if column.use == "role":
                roles = [] if part == _NONE else split(part, ";")
            elif column.use == "base":
                source, target = self._ends(unit, layer, column, part) or (None, None)
                item.ends = (source.key if source else "", target.key if target else "")
                if target is not None:
                    item.start, item.end = target.start, target.end
            else:
                cells = [] if part in {_NONE, _NULL, ""} else part.split(";")
                links = len(roles) + len(cells)
                if links > 2 and not self._has_room(unit, column, links):
                    roles = cells = []
                if len(roles) != len(cells):
                    self._problem(unit, column, "UIM105", given=part[:40])
                for role, cell in zip(roles, cells, strict=False):
                    own = "" if role == _NULL else unescape(role)
                    ends = self._ends(unit, layer, column, cell)
                    item.links += [(own, end.key) for end in ends if end is not None]

    def _ends(self, unit: Unit, layer: Layer, column: Column, cell: str) -> list[Annotation | None]:
        """The target of a link, or the source and target of a relation; none of an odd cell."""
        found = _TARGET.fullmatch(cell)
        if found is None:
            self._problem(unit, column, "UIM105", given=cell[:40])
            return []
        name, first, last = found.groups()
        places = [(name, last)]
        if column.use == "base":
            places = [(name, first or last), (unit.name, first and last)]
        ends = [self._find(*place, layer.target) for place in places]
        of_words = layer.target == TOKEN or layer.target.startswith(POS)
        for (place, _), end in zip(places, ends, strict=True):
            if end is None and not (of_words and place in self.tokens):
                self._problem(unit, column, "UIM301", what="unit", id=cell[:40])
        return ends

    def _find(self, name: str, number: str | None, layer: str) -> Annotation | None:
        """The annotation of a unit with a number, or the first of a layer."""
        if number and int(number):
            return self.numbered.get(("", number))
        layers = (layer, "") if layer.startswith("uima.") else (layer,)
        found = (self.in_unit.get((name, each)) for each in layers)
        return next((item for item in found if item is not None), None)

"""WebAnno TSV as it is written: sentences and tokens, and the cells of annotations."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, groupby, pairwise

from hlteval.converters.uima import layers
from hlteval.converters.uima.building import Layers, in_units
from hlteval.converters.uima.layers import EVENT, MENTION, POS, RELATION, SENTENCE, Annotation
from hlteval.representation import Corpus

_LINE, _WORD = re.compile(r"(?m)^.*\S.*$"), re.compile(r"\w+|[^\w\s]")
_FIRST_GAP, _GAP = re.compile(" *"), re.compile(r"(?:\n *)?")
#: The layers in the order of their columns, with their first features.
_LAYERS = {POS: "PosValue", MENTION: "value", EVENT: "value", RELATION: "value"}
#: What follows the features in the header.
_MORE = {
    RELATION: f"|BT_{MENTION}",
    EVENT: f"|ROLE_{EVENT}:{layers.ARGUMENTS}_{layers.LINK}|uima.tcas.Annotation",
}
#: A null character cannot be written; the loss is counted.
_BREAKS = {"\t": r"\t", "\n": r"\n", "\r": r"\r", "\0": "\ufffd"}
_VALUE_ESCAPES = str.maketrans({mark: f"\\{mark}" for mark in "\\[]|_;*"} | _BREAKS)
_CONTROLS = {chr(code): f"\\{chr(code)}" for code in (*range(1, 32), ord("\\"))}
TEXT_ESCAPES = str.maketrans(
    _CONTROLS | _BREAKS | {"\f": r"\f", "\b": r"\b", "\v": "\v", "\0": "\\\ufffd"}
)
#: Most times that spans may have each token, on average: each has a value in its line.
_REPEATED = 20
Span = tuple[int, int]
#: The number of a sentence, of a token in it, whether it is a part of the token, and its span.
Unit = tuple[int, int, bool, Span]


def escape(value: str) -> str:
    r"""A value as it is in a cell.

    Examples:
        >>> escape("a_b->c")
        'a\\_b\\->c'
    """
    return value.translate(_VALUE_ESCAPES).replace("->", "\\->")


class Segmentation:
    """The sentences and tokens of a text, as they are written.

    Attributes:
        sentences: the spans of the sentences: all of the text but for line feeds and spaces.
        tokens: the tokens: those that are given, and words and marks between them.
        changed: the number of sentences that are not as given.
        left_out: the number of tokens that are not there.
    """

    def __init__(self, text: str, segments: Sequence[Span], tokens: Sequence[Span]) -> None:
        self.text = text
        kept = _apart(span for span in segments if text[slice(*span)].strip())
        kept = kept or [line.span() for line in _LINE.finditer(text)]
        last = (len(text), len(text))
        starts = [start for start, _ in kept]
        if kept and not _FIRST_GAP.fullmatch(text, 0, starts[0]):
            starts[0] = 0
        ends = [
            after if after == len(text) or not _GAP.fullmatch(text, end, after) else end
            for (_, end), (after, _) in pairwise([*kept, last])
        ]
        self.sentences = [*zip(starts, ends, strict=True)]
        self.tokens = [*self._tokens(tokens)]
        spans = [span for *_, span in self.tokens]
        self.starts, self.ends = [start for start, _ in spans], [end for _, end in spans]
        self.known = {*spans}
        self.changed = len(segments) - len({*segments} & {*self.sentences})
        self.left_out = len(tokens) - len({*tokens} & self.known)
        self.left = _REPEATED * len(spans) + 100_000

    def _tokens(self, given: Iterable[Span]) -> Iterator[Unit]:
        """The tokens in order: those given that are in a sentence, and words and marks between."""
        ends = [(end, end) for _, end in self.sentences]
        places = [(start, end, end) for start, end in self.sentences]
        inside = [
            span for span in _apart(given) if span[0] < span[1] and layers.holder(places, *span)
        ]
        after, sentence, spans = 0, 1, list[Span]()
        for start, end in sorted([*inside, *ends]):
            spans += (word.span() for word in _WORD.finditer(self.text, after, start))
            after = end
            if start < end:
                spans.append((start, end))
            else:
                yield from ((sentence, at, False, span) for at, span in enumerate(spans, start=1))
                sentence, spans = sentence + 1, []

    def fits(self, start: int, end: int) -> bool:
        """Whether a span begins and ends in tokens; false once spans have too many in all."""
        first, last = self._range(start, end)
        if first >= last or last - first > self.left:
            return False
        self.left -= last - first
        return self.starts[first] <= start and end <= self.ends[last - 1]

    def _range(self, start: int, end: int) -> Span:
        """The numbers of the first token of a span, and of the first one after it.

        An empty span is in the first token around it.
        """
        size = max(end - start, 1)
        first = bisect_left(self.ends, min(start + 1, end))
        return first, min(bisect_left(self.starts, start + size), first + size)

    def units(self, start: int, end: int) -> Iterator[Unit]:
        """The tokens of a span; of those that are partly in it, the parts."""
        for token in self.tokens[slice(*self._range(start, end))]:
            sentence, number, _, (first, last) = token
            part = max(start, first), min(end, last)
            yield token if part == (first, last) else (sentence, number, True, part)


def _apart(spans: Iterable[Span]) -> list[Span]:
    """The spans in order without those that overlap an earlier one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


class Files(Layers):
    """The files of a corpus, whose annotations begin and end in tokens.

    Attributes:
        segmentations: the sentences and tokens of each document.
        identifiers: those of the sentences of each document, by their starts.
    """

    def add_segments(self, corpus: Corpus) -> None:
        """Take sentences and tokens apart; parts of speech of tokens that are written stay."""
        super().add_segments(corpus)
        self.segmentations: dict[int, Segmentation] = {}
        self.identifiers: dict[int, dict[int, str]] = {}
        for row, text in self.texts.items():
            sentences, tokens, classes = (
                [item for item in self.annotations[row] if item.layer == layer]
                for layer in (SENTENCE, layers.TOKEN, POS)
            )
            spans = ([(item.start, item.end) for item in each] for each in (sentences, tokens))
            own = self.segmentations[row] = Segmentation(text or "", *spans)
            self.identifiers[row] = {i.start: i.values["id"] for i in sentences if i.values}
            self.annotations[row] = [i for i in classes if (i.start, i.end) in own.known]
            self.losses["segments that do not cover the text"] += own.changed
            self.losses["tokens that overlap or are in no sentence"] += own.left_out
            self.losses["texts without words"] += bool(text) and not own.tokens

    def fits(self, document: int, start: int, end: int) -> bool:
        """Whether a span begins and ends in tokens."""
        return self.segmentations[document].fits(start, end)

    def content(self, row: int) -> Iterator[str]:
        """The content of the file of a document, in pieces."""
        own = self.segmentations[row]
        move = in_units(own.text)
        lines = _Lines(own, self.annotations[row])
        yield "#FORMAT=WebAnno TSV 3.3\n"
        for layer, features in lines.layers.items():
            kind = "RL" if layer == RELATION else "SP"
            yield f"#T_{kind}={'|'.join([layer, *features])}{_MORE.get(layer, '')}\n"
        yield "\n"
        of_sentences = groupby(lines.names, key=lambda unit: unit[0])
        for (start, end), (_, units) in zip(own.sentences, of_sentences, strict=True):
            yield "\n"
            if name := self.identifiers[row].get(start):
                yield f"#Sentence.id={name.translate(TEXT_ESCAPES)}\n"
            for line in own.text[start:end].split("\n"):
                yield f"#Text={line.translate(TEXT_ESCAPES)}\n"
            for unit in units:
                begin, stop = unit[-1]
                token = own.text[begin:stop].translate(TEXT_ESCAPES)
                cells = [lines.names[unit], f"{move(begin)}-{move(stop)}", token]
                yield "\t".join([*cells, *lines.cells(unit), "\n"])


class _Lines:
    """The units of a document with their annotations.

    Attributes:
        units: the units of each annotation; of a relation, the first one of its target.
        groups: the annotations of a layer that a unit has.
        layers: the features of each layer.
        names: the units in order, with their numbers in the file.
        numbers: the numbers that connect the cells of annotations.
    """

    def __init__(self, segmentation: Segmentation, items: list[Annotation]) -> None:
        self.units: dict[str, list[Unit]] = {}
        for item in items:
            units = [*segmentation.units(item.start, item.end)]
            self.units[item.key] = units[:1] if item.ends else units
        order = [*_LAYERS]
        items = sorted(items, key=lambda item: (order.index(item.layer), self.units[item.key][0]))
        self.groups: dict[tuple[Unit, str], list[Annotation]] = defaultdict(list)
        used: dict[str, set[str]] = defaultdict(set)
        for item in items:
            used[item.layer].update(item.values)
            for unit in self.units[item.key]:
                self.groups[unit, item.layer].append(item)
        self.layers = {
            layer: [_LAYERS[layer], *sorted(features - {_LAYERS[layer]})]
            for layer, features in used.items()
        }
        self.names: dict[Unit, str] = {}
        part = 0
        for unit in sorted({*segmentation.tokens, *chain.from_iterable(self.units.values())}):
            sentence, token, is_part, _ = unit
            part = part + 1 if is_part else 0
            self.names[unit] = f"{sentence}-{token}.{part}" if part else f"{sentence}-{token}"
        wanted = {key for item in items for _, key in item.links}
        wanted |= {key for key, units in self.units.items() if len(units) > 1}
        several = (group for group in self.groups.values() if len(group) > 1)
        wanted |= {item.key for group in several for item in group}
        numbered = (item.key for item in items if not item.ends and item.key in wanted)
        self.numbers = dict(zip(numbered, count(1)))

    def cells(self, unit: Unit) -> Iterator[str]:
        """The cells of a unit in the columns of all layers."""
        for layer, features in self.layers.items():
            items = self.groups.get((unit, layer), ())
            rows = [[*self._cells(item, features)] for item in items]
            empty = "_" * (len(features) + _MORE.get(layer, "").count("|"))
            yield from map("|".join, zip(*rows, strict=True)) if rows else empty

    def _cells(self, item: Annotation, features: Sequence[str]) -> Iterator[str]:
        """The cells of an annotation, each with its number if it has one."""
        number = self._number(item.key)
        for value in map(item.values.get, features):
            yield ("*" if value is None else escape(value)) + number
        if item.ends:
            pair = [self.numbers.get(end, 0) for end in item.ends]
            unit = self.names[self.units[item.ends[0]][0]]
            yield unit + ("[{}_{}]".format(*pair) if any(pair) else "")
        elif item.layer == EVENT:
            yield (";".join(escape(role) for role, _ in item.links) or "_") + number
            units = (self.names[self.units[key][0]] + self._number(key) for _, key in item.links)
            yield ";".join(units) or "_"

    def _number(self, key: str) -> str:
        return f"[{self.numbers[key]}]" if key in self.numbers else ""

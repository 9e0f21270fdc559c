"""WebAnno TSV as it is written: sentences and tokens, and the cells of annotations."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from hlteval.converters.uima.building import Layers, in_units
from hlteval.converters.uima.layers import (
    ARGUMENTS,
    EVENT,
    LINK,
    MENTION,
    POS,
    RELATION,
    SENTENCE,
    Annotation,
)
from hlteval.converters.uima.tsv_text import ESCAPES
from hlteval.findings.sequence import lists_by_key
from hlteval.representation import Corpus

_LINE, _WORD = re.compile(r"(?m)^.*\S.*$"), re.compile(r"\w+|[^\w\s]")
_FIRST_GAP, _GAP = re.compile(" *"), re.compile(r"(?:\n *)?")
_LAYERS = {POS: ["PosValue"], MENTION: ["value"], EVENT: ["value"], RELATION: ["value"]}
#: What follows the features in the header.
_MORE = {
    RELATION: f"|BT_{MENTION}",
    EVENT: f"|ROLE_{EVENT}:{ARGUMENTS}_{LINK}|uima.tcas.Annotation",
}
_CONTROLS = "".join(chr(code) for code in (*range(8), *range(14, 32)))


def _escapes(marks: str, letters: str) -> dict[int, str]:
    own = {ESCAPES[letter]: f"\\{letter}" for letter in letters}
    return str.maketrans({**{mark: f"\\{mark}" for mark in marks}, **own})


#: A null character cannot be written; the loss is counted.
_VALUE_ESCAPES = {**_escapes("\\[]|_;*", "tnr"), 0: "\ufffd"}
_TEXT_ESCAPES = {**_escapes(f"{_CONTROLS}\\", "tnfrb"), 0: "\\\ufffd"}
#: Most times that spans may have each token, on average: each has a value in its line.
_REPEATED = 20
Span = tuple[int, int]


def escape(value: str) -> str:
    r"""A value as it is in a cell.

    Examples:
        >>> escape("a_b->c")
        'a\\_b\\->c'
    """
    if value.isalnum():  # as most values are
        return value
    return value.translate(_VALUE_ESCAPES).replace("->", "\\->")


def escape_text(text: str) -> str:
    """A text without control characters."""
    return text if text.isalnum() else text.translate(_TEXT_ESCAPES)


class Segmentation:
    """The sentences and tokens of a text, as they are written.

    Attributes:
        sentences: the spans of the sentences: all of the text but for line feeds and spaces.
        tokens: the tokens: those that are given, and words and marks between them.
        starts: where the tokens start.
        ends: where they end.
        changed: the number of sentences that are not as given.
        left_out: the number of tokens that are not there.
    """

    def __init__(self, text: str, segments: Iterable[Span], tokens: Iterable[Span]) -> None:
        self.text = text
        wanted = [*segments]
        kept = _apart((a, b) for a, b in wanted if text[a:b].strip())
        self.sentences = self._cover(kept or [line.span() for line in _LINE.finditer(text)])
        self.changed = len(set(wanted) - set(self.sentences)) if wanted else 0
        given = [*tokens]
        inside = (span for span in _apart(given) if span[0] < span[1] and self._within(span))
        self.tokens = list(self._tokens(list(inside)))
        self.left_out = len(given) - len(set(given) & set(self.tokens))
        self.starts = [start for start, _ in self.tokens]
        self.ends = [end for _, end in self.tokens]
        self.left = _REPEATED * len(self.tokens) + 100_000

    def _cover(self, spans: Sequence[Span]) -> list[Span]:
        """The sentences with the white space around them that cannot be between them."""
        found: list[Span] = []
        for start, end in spans:
            gap = self.text[found[-1][1] if found else 0 : start]
            fits = (_GAP if found else _FIRST_GAP).fullmatch(gap)
            if found and not fits:
                found[-1] = (found[-1][0], start)
            found.append((start if found or fits else 0, end))
        if found:
            found[-1] = (found[-1][0], len(self.text))
        return found

    def _within(self, span: Span) -> bool:
        """Whether a span is in one sentence."""
        at = bisect_right(self.sentences, span[0], key=lambda sentence: sentence[0]) - 1
        return at >= 0 and span[1] <= self.sentences[at][1]

    def _tokens(self, given: Sequence[Span]) -> Iterator[Span]:
        """The tokens in order: the given ones, and words and marks between them."""
        at = 0
        for start, end in self.sentences:
            after = start
            while at < len(given) and given[at][0] < end:
                token = given[at]
                yield from (each.span() for each in _WORD.finditer(self.text, after, token[0]))
                yield token
                after, at = token[1], at + 1
            yield from (each.span() for each in _WORD.finditer(self.text, after, end))

    def fits(self, start: int, end: int) -> bool:
        """Whether a span begins and ends in tokens; false once spans have too many in all."""
        first, last = self.range(start, end)
        if first >= last or last - first > self.left:
            return False
        self.left -= last - first
        return self.starts[first] <= start and end <= self.ends[last - 1]

    def has_token(self, start: int, end: int) -> bool:
        """Whether a token has a span; others are left out, and counted."""
        at = bisect_left(self.starts, start)
        return self.tokens[at : at + 1] == [(start, end)]

    def range(self, start: int, end: int) -> tuple[int, int]:
        """The numbers of the first token of a span, and of the first one after it."""
        if start == end:
            first = bisect_left(self.ends, start)
            inside = first < len(self.starts) and self.starts[first] <= start
            return first, first + inside
        return bisect_right(self.ends, start), bisect_left(self.starts, end)


def _apart(spans: Iterable[Span]) -> list[Span]:
    """The spans in order without those that overlap an earlier one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


@dataclass(slots=True)
class _Line:
    """A unit: its number, its span, and its annotations in the order of layers."""

    name: str
    span: Span
    items: list[Annotation] = field(default_factory=list)


class Files:
    """The files of a corpus.

    Attributes:
        losses: the counts of what they do not have, by name.
    """

    def __init__(self, corpus: Corpus) -> None:
        spans = [
            lists_by_key(
                (row[0], row[1:]) for row in table.select("document", "start", "end").rows()
            )
            for table in (corpus.segments, corpus.tokens)
        ]
        self.segmentations: dict[int, Segmentation] = {}
        for row, text in corpus.documents.select("row", "text").iter_rows():
            size = len(text or "")
            inside = [[(a, b) for a, b in own.get(row, ()) if 0 <= a <= b <= size] for own in spans]
            self.segmentations[row] = Segmentation(text or "", *inside)
        segmentations = self.segmentations  # not this object, which would refer to itself
        self.built = Layers(corpus, lambda row, a, b: segmentations[row].fits(a, b), tokens=False)
        self.losses: Counter[str] = Counter(self.built.losses)
        self.losses["texts with null characters"] = self.built.count_texts("\0")
        for row, segmentation in self.segmentations.items():
            if self.built.texts[row] is None:
                self.losses["segments of documents without text"] += len(spans[0].get(row, ()))
                self.losses["tokens of documents without text"] += len(spans[1].get(row, ()))
            self.losses["segments that do not cover the text"] += segmentation.changed
            self.losses["tokens that overlap or are in no sentence"] += segmentation.left_out
            lost = bool(segmentation.text) and not segmentation.tokens
            self.losses["texts without words"] += lost

    def content(self, row: int) -> Iterator[str]:
        """The content of the file of a document, in pieces."""
        segmentation, move = self.segmentations[row], in_units(self.segmentations[row].text)
        annotations = self.built.annotations[row]
        items = [
            item
            for item in annotations
            if item.layer in _LAYERS
            and (item.layer != POS or segmentation.has_token(item.start, item.end))
        ]
        lines = _Lines(segmentation, items)
        features = defaultdict[str, set[str]](set)
        for item in items:
            features[item.layer].update(item.values)
        layers = {
            name: [*own, *sorted(features[name].difference(own))]
            for name, own in _LAYERS.items()
            if name in features
        }
        yield "#FORMAT=WebAnno TSV 3.3\n"
        for layer, own in layers.items():
            kind = "RL" if layer == RELATION else "SP"
            yield f"#T_{kind}={'|'.join([layer, *own])}{_MORE.get(layer, '')}\n"
        yield "\n"
        sentences = (item for item in annotations if item.layer == SENTENCE and item.values)
        identified = {item.start: item.values["id"] for item in sentences}
        for number, (start, end) in enumerate(segmentation.sentences):
            yield "\n"
            if name := identified.get(start):
                yield f"#Sentence.id={escape_text(name)}\n"
            text = segmentation.text[start:end]
            yield from (f"#Text={escape_text(line)}\n" for line in text.split("\n"))
            for line in lines.of_sentence[number]:
                begin, stop = line.span
                cells = [line.name, f"{move(begin)}-{move(stop)}"]
                cells.append(escape_text(segmentation.text[begin:stop]))
                for layer, own in layers.items():
                    cells += lines.cells(line, layer, own)
                yield "\t".join([*cells, "\n"])


class _Lines:
    """The units of a document with their annotations.

    Attributes:
        of_sentence: the units of each sentence, in order.
        first: the first unit of each annotation that another one refers to.
        numbers: the numbers that connect the cells of annotations.
    """

    def __init__(self, segmentation: Segmentation, items: Sequence[Annotation]) -> None:
        self.segmentation = segmentation
        self.parts: dict[int, set[Span]] = defaultdict(set)
        of_key = {item.key: item for item in items if item.ends is None}
        for item in of_key.values():
            for at, span in self._spans(item):
                if span != segmentation.tokens[at]:
                    self.parts[at].add(span)
        order = [*_LAYERS]

        def place(item: Annotation) -> tuple[int, int, bool, Span]:
            """The place in the file, which does not depend on the order of the rows."""
            at, span = next(self._spans(of_key[item.ends[1]] if item.ends else item))
            return order.index(item.layer), at, span != segmentation.tokens[at], span

        items = sorted(items, key=place)
        self.of_sentence: list[list[_Line]] = [[] for _ in segmentation.sentences]
        tokens, parts = list[_Line](), dict[tuple[int, Span], _Line]()
        for sentence, token, line in self._units():
            self.of_sentence[sentence].append(line)
            if token == len(tokens):
                tokens.append(line)
            else:
                parts[token, line.span] = line
        linked = {target for item in items for _, target in item.links}
        wanted = linked.union(*(item.ends for item in items if item.ends))
        numbered = set(linked)
        self.first: dict[str, _Line] = {}
        for item in items:  # those of a layer follow each other
            spans = self._spans(of_key[item.ends[1]] if item.ends else item)
            lines = [parts.get(each) or tokens[each[0]] for each in spans]
            if item.key in wanted:
                self.first[item.key] = lines[0]
            if len(lines) > 1:
                numbered.add(item.key)
            for line in lines[:1] if item.ends else lines:
                if line.items and line.items[-1].layer == item.layer:
                    numbered |= {line.items[-1].key, item.key}
                line.items.append(item)
        known = (item.key for item in items if not item.ends and item.key in numbered)
        self.numbers = {key: number for number, key in enumerate(known, start=1)}

    def _spans(self, item: Annotation) -> Iterator[tuple[int, Span]]:
        """The tokens of an annotation, each with the part of it that the annotation has."""
        first, last = self.segmentation.range(item.start, item.end)
        for at in range(first, last):
            token = self.segmentation.tokens[at]
            inside = item.start <= token[0] and token[1] <= item.end
            yield at, token if inside else (max(item.start, token[0]), min(item.end, token[1]))

    def _units(self) -> Iterator[tuple[int, int, _Line]]:
        """The units in order, each with the numbers of its sentence and of its token."""
        at, tokens = 0, self.segmentation.tokens
        for sentence, (_, end) in enumerate(self.segmentation.sentences):
            after = bisect_left(self.segmentation.starts, end)
            for token in range(at, after):
                name = f"{sentence + 1}-{token - at + 1}"
                yield sentence, token, _Line(name, tokens[token])
                for part, span in enumerate(sorted(self.parts.get(token, ())), start=1):
                    yield sentence, token, _Line(f"{name}.{part}", span)
            at = after

    def cells(self, line: _Line, layer: str, features: Sequence[str]) -> list[str]:
        """The cells of a unit in the columns of a layer."""
        items = [self._cells(item, features) for item in line.items if item.layer == layer]
        if not items:
            return ["_"] * (len(features) + _MORE.get(layer, "").count("|"))
        return ["|".join(cells) for cells in zip(*items, strict=True)]

    def _cells(self, item: Annotation, features: Sequence[str]) -> Iterator[str]:
        """The cells of an annotation, each with its number if it has one."""
        number = self._number(item.key)
        for feature in features:
            value = item.values.get(feature)
            yield ("*" if value is None else escape(value)) + number
        if item.ends:
            pair = [self.numbers.get(end, 0) for end in item.ends]
            unit = self.first[item.ends[0]].name
            yield unit + ("[{}_{}]".format(*pair) if any(pair) else "")
        elif item.layer == EVENT:
            yield (";".join(escape(role) for role, _ in item.links) or "_") + number
            units = (self.first[key].name + self._number(key) for _, key in item.links)
            yield ";".join(units) or "_"

    def _number(self, key: str) -> str:
        return f"[{self.numbers[key]}]" if key in self.numbers else ""

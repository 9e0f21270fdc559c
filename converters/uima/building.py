"""Rows of a corpus as annotations of UIMA, with the counts of what these cannot represent."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

from hlteval.converters.toolkit.offsets import widths
from hlteval.converters.toolkit.rows import to_text
from hlteval.converters.uima.layers import (
    COLUMNS,
    EVENT,
    IDENTIFIER,
    KIND,
    LABELS,
    MENTION,
    NAME,
    OTHER_ROLES,
    OWN,
    POS,
    RELATION,
    ROLES,
    SENTENCE,
    TEXT,
    TOKEN,
    TRIGGER,
    Annotation,
    holder,
)
from hlteval.representation import Corpus

#: Whether a document, by its row, has a place for a span.
Fits = Callable[[int, int, int], bool]
_FEATURE = re.compile("[A-Za-z][A-Za-z0-9_]*")
#: Names that are no features: beginnings in the header of TSV, and what XML and JSON have.
_TAKEN = re.compile("ROLE_.*|BT_.*|sofa|begin|end|self|type")
_KEY = ("row", "document", "record")


class Layers:
    """The annotations of the documents of a corpus.

    Attributes:
        found: the annotations of each document by its row: mentions, relations and events.
        structure: its sentences, tokens and parts of speech.
        texts: the text of each document.
        languages: the language of each document.
        losses: the counts of what is left out, by name.
    """

    def __init__(self, corpus: Corpus, fits: Fits) -> None:
        self.corpus, self.fits = corpus, fits
        self.found: dict[int, list[Annotation]] = defaultdict(list)
        self.structure: dict[int, list[Annotation]] = defaultdict(list)
        self.losses: Counter[str] = Counter()
        self.texts: Mapping[int, str | None] = dict(corpus.documents.select("row", "text").rows())
        self.languages: Mapping[int, str | None] = dict(
            corpus.documents.select("row", "language").rows()
        )
        self.named: dict[tuple[int, str | None], Annotation] = {}
        self._segments()
        self._mentions()
        self._frames()
        self._modifiers()

    def count_texts(self, pattern: str) -> int:
        """The number of texts, values and roles that have something that a file cannot hold."""
        items = chain.from_iterable((*self.found.values(), *self.structure.values()))
        values = chain.from_iterable(
            (*item.values.values(), *(role for role, _ in item.links)) for item in items
        )
        texts = filter(None, chain(self.texts.values(), self.languages.values(), values))
        return sum(re.search(pattern, text) is not None for text in texts)

    def _text_at(self, document: int, start: int, end: int) -> str | None:
        text = self.texts.get(document)
        return None if text is None else text[max(0, start) : max(0, end)]

    def _segments(self) -> None:
        """Take sentences and tokens."""
        columns = ("name", "start", "end", "text")
        places: dict[int, list[tuple[int, int, object]]] = defaultdict(list)
        for row, document, record, name, start, end, text in self.corpus.segments.select(
            *_KEY, *columns
        ).iter_rows():
            covered = self._text_at(document, start, end)
            if not _inside(self.texts.get(document), start, end):
                self.losses["segments outside of the text"] += 1
                continue
            if text is not None and text != covered:
                self.losses["segment texts that differ from the document"] += 1
            values = {} if name is None else {"id": name}
            item = Annotation(f"s{row}", SENTENCE, start, end, record, values)
            self.structure[document].append(item)
            places[document].append((start, end, row))
        for segments in places.values():
            segments.sort(key=lambda segment: segment[0])
        columns = ("segment_row", "start", "end", "text")
        for row, document, record, segment, start, end, text, pos in self.corpus.tokens.select(
            *_KEY, *columns, "pos"
        ).iter_rows():
            if not _inside(self.texts.get(document), start, end):
                self.losses["tokens outside of the text"] += 1
                continue
            if text != (self._text_at(document, start, end) or ""):
                self.losses["token texts that differ from the document"] += 1
            if segment != holder(places[document], start, end):
                self.losses["tokens of another sentence than that around them"] += 1
            self.structure[document].append(Annotation(f"w{row}", TOKEN, start, end, record))
            if pos is not None:
                values = {"PosValue": pos}
                item = Annotation(f"p{row}", POS, start, end, record, values)
                self.structure[document].append(item)

    def _add(self, document: int, name: str | None, item: Annotation) -> None:
        self.found[document].append(item)
        self.named.setdefault((document, name), item)

    def _mentions(self) -> None:
        """Take mentions."""
        columns = ("mention", "label", "start", "end", "text", "entity", "mention_type")
        rows = self.corpus.mentions.with_columns(sure=to_text(self.corpus.mentions))
        rows = rows.select(*_KEY, *columns, "confidence", "confidence_text", "sure", "annotator")
        for (
            row,
            document,
            record,
            name,
            label,
            start,
            end,
            text,
            entity,
            kind,
            *more,
        ) in rows.iter_rows():
            if not self.fits(document, start, end):
                self.losses["mentions outside of the words of the text"] += 1
                continue
            confidence, written, sure, annotator = more
            given = confidence is not None or written is not None
            values = {"value": label, IDENTIFIER: entity, NAME: name}
            values |= dict(zip(COLUMNS, (kind, sure if given else None, annotator), strict=True))
            if text != self._text_at(document, start, end):
                values[TEXT] = text
            item = Annotation(f"m{row}", MENTION, start, end, record, _without_nulls(values))
            self._add(document, name, item)

    def _frames(self) -> None:
        """Take relations of two mentions, and events with links."""
        arguments: dict[int, list[tuple[str, str]]] = defaultdict(list)
        ordered = self.corpus.arguments.sort("frame_row", "position")
        for frame, role, target in ordered.select("frame_row", "role", "target").iter_rows():
            arguments[frame].append((role, target))
        linked: list[tuple[int, Annotation, list[tuple[str, str]]]] = []
        columns = ("frame", "kind", "label", "trigger", "annotator")
        for (
            row,
            document,
            record,
            name,
            kind,
            label,
            trigger,
            annotator,
        ) in self.corpus.frames.select(*_KEY, *columns).iter_rows():
            held = arguments[row]
            ends = [self.named.get((document, target)) for _, target in held]
            mentions = [item for item in ends if item is not None and item.layer == MENTION]
            values = {"value": label, NAME: name, "annotator": annotator}
            if kind == "relation" and trigger is None and len(held) == len(mentions) == 2:
                roles = [role for role, _ in held]
                pairs = zip(OTHER_ROLES, roles, ROLES, strict=True)
                values |= {own: role for own, role, usual in pairs if role != usual}
                first, second = mentions
                item = Annotation(f"f{row}", RELATION, second.start, second.end, record)
                item.values, item.ends = _without_nulls(values), (first.key, second.key)
                self._add(document, name, item)
                self.losses["missing identifiers of relations, which are numbered"] += name is None
                continue
            anchor = self.named.get((document, trigger)) if trigger is not None else None
            anchor = anchor or (mentions[0] if mentions else None)
            if (
                anchor is None
                or anchor.layer != MENTION
                or not self.fits(document, anchor.start, anchor.end)
            ):
                self.losses["frames without a mention that is there"] += 1
                continue
            values |= {KIND: kind, TRIGGER: trigger}
            item = Annotation(
                f"f{row}", EVENT, anchor.start, anchor.end, record, _without_nulls(values)
            )
            self._add(document, name, item)
            linked.append((document, item, held))
        for document, item, held in linked:
            found = [(role, self.named.get((document, target))) for role, target in held]
            item.links = [
                (role, end.key) for role, end in found if end is not None and end.ends is None
            ]
            lost = len(held) - len(item.links)
            self.losses["arguments that are no mentions or events"] += lost

    def _modifiers(self) -> None:
        """Take modifiers as features of what they modify."""
        columns = ("document", "modifier", "label", "target", "value")
        for document, name, label, target, value in self.corpus.modifiers.select(
            columns
        ).iter_rows():
            item = self.named.get((document, target))
            if item is None or not is_feature(label) or label in item.values:
                self.losses["modifiers that are not features"] += 1
                continue
            item.values[label] = "true" if value is None else value
            if value == "true":
                self.losses["modifiers with the value true"] += 1
            if name != f"{target}.{label}":
                self.losses["identifiers of modifiers"] += 1


def _without_nulls(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _inside(text: str | None, start: int, end: int) -> bool:
    return 0 <= start <= end and (end <= len(text) if text is not None else end < 1 << 30)


def is_feature(name: str) -> bool:
    """Whether a modifier can be a feature of this name.

    Examples:
        >>> is_feature("Negation"), is_feature("a b"), is_feature("value")
        (True, False, False)
    """
    taken = name in OWN or name in LABELS or _TAKEN.fullmatch(name)
    return bool(_FEATURE.fullmatch(name)) and not taken and len(name) < 100


def inside_texts(corpus: Corpus) -> Fits:
    """Whether spans are inside of the texts of their documents."""
    texts = dict(corpus.documents.select("row", "text").iter_rows())
    return lambda document, start, end: _inside(texts.get(document), start, end)


def in_units(text: str) -> Callable[[int], int]:
    r"""The offsets in UTF-16 code units of offsets in characters of a text.

    Examples:
        >>> in_units("\U0001f600 x")(2)
        3
    """
    if not text or max(text) < "\U00010000":
        return int
    return [0, *widths(text, "utf-16").cumsum().tolist()].__getitem__

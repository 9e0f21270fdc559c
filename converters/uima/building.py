"""Rows of a corpus as annotations of UIMA, with the counts of what these cannot represent."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, count

import polars as pl

from hlteval.converters.toolkit.offsets import widths
from hlteval.converters.toolkit.rows import to_text
from hlteval.converters.uima import layers
from hlteval.converters.uima.layers import EVENT, MENTION, NAME, RELATION, Annotation
from hlteval.findings.sequence import lists_by_key
from hlteval.representation import Corpus

#: The value of a feature, or numbers of structures.
Value = str | int | list[int] | None
DOCUMENT = "uima.tcas.DocumentAnnotation"
_FEATURE = re.compile("[A-Za-z][A-Za-z0-9_]*")
#: Names that are not features: beginnings in the header of TSV, and what XML and JSON have.
_TAKEN = re.compile("ROLE_.*|BT_.*|sofa|begin|end|self|type")
_KEY = ("row", "document", "record")


class Layers:
    """The annotations of the documents of a corpus, as far as they are inside of the texts.

    Attributes:
        annotations: those of each document by its row: sentences, tokens and parts of speech, then
            mentions, relations and events.
        texts: the text of each document.
        languages: the language of each document.
        losses: the counts of what is left out, by name.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.annotations: dict[int, list[Annotation]] = defaultdict(list)
        self.losses: Counter[str] = Counter()
        documents = corpus.documents
        self.texts: Mapping[int, str | None] = dict(documents.select("row", "text").rows())
        self.languages: Mapping[int, str | None] = dict(documents.select("row", "language").rows())
        self.named: dict[tuple[int, str | None], Annotation] = {}
        self.add_segments(corpus)
        self._mentions(corpus)
        self._frames(corpus)
        self._modifiers(corpus)

    def is_inside(self, document: int, start: int, end: int) -> bool:
        """Whether a span is inside of the text of a document, by its row."""
        text = self.texts.get(document)
        return 0 <= start <= end and (end <= len(text) if text is not None else end < 1 << 30)

    def fits(self, document: int, start: int, end: int) -> bool:
        """Whether a document has a place for a mention; formats of words override this."""
        return self.is_inside(document, start, end)

    def count_texts(self, pattern: str) -> int:
        """The number of texts, values and roles that have something that a file cannot hold."""
        values = chain.from_iterable(
            (*item.values.values(), *(role for role, _ in item.links))
            for item in chain.from_iterable(self.annotations.values())
        )
        texts = filter(None, chain(self.texts.values(), self.languages.values(), values))
        return sum(map(bool, map(re.compile(pattern).search, texts)))

    def structures(self, row: int, *, arrays: bool) -> Iterator[tuple[int, str, dict[str, Value]]]:
        """The number, type and features of each structure of a document, but for its text.

        A feature that begins with `@` has the number of another structure. The document is 2, and
        what is in views follows.

        Args:
            row: the document.
            arrays: whether lists of links are structures of their own.
        """
        text, items = self.texts[row] or "", self.annotations[row]
        move, more = in_units(text), count(len(items) + 3)
        ends = chain.from_iterable(item.ends for item in items if item.ends)
        wanted = {*ends, *(key for item in items for _, key in item.links)}
        numbered = enumerate(items, start=3)
        numbers = {item.key: number for number, item in numbered if item.key in wanted}
        whole: dict[str, Value] = {
            "@sofa": 1,
            "begin": 0,
            "end": move(len(text)),
            "language": self.languages[row],
        }
        yield 2, DOCUMENT, whole
        for number, item in enumerate(items, start=3):
            own: dict[str, Value] = {"@sofa": 1, "begin": move(item.start), "end": move(item.end)}
            if item.ends:
                roles = zip(layers.ROLES, item.ends, strict=True)
                own |= {f"@{role}": numbers[end] for role, end in roles}
            if item.links:
                array = next(more) if arrays else None
                links = [next(more) for _ in item.links]
                for link, (role, target) in zip(links, item.links, strict=True):
                    yield link, layers.LINK, {"role": role, "@target": numbers[target]}
                if array is not None:
                    yield array, f"{layers.LINK}[]", {"%ELEMENTS": links}
                own[f"@{layers.ARGUMENTS}"] = links if array is None else array
            own |= item.values
            yield number, item.layer, own

    def _text_at(self, document: int, start: int, end: int) -> str | None:
        text = self.texts.get(document)
        return None if text is None else text[start:end]

    def _add(self, document: int, name: str | None, item: Annotation) -> None:
        self.annotations[document].append(item)
        if name is not None:
            self.named.setdefault((document, name), item)

    def add_segments(self, corpus: Corpus) -> None:
        """Add sentences and tokens, before all others."""
        places: dict[int, list[tuple[int, int, object]]] = defaultdict(list)
        rows = corpus.segments.select(*_KEY, "name", "start", "end", "text")
        for row, document, record, name, start, end, text in rows.iter_rows():
            if not self.is_inside(document, start, end):
                self.losses["segments outside of the text"] += 1
                continue
            if text is not None and text != self._text_at(document, start, end):
                self.losses["segment texts that differ from the document"] += 1
            values = {} if name is None else {"id": name}
            self._add(
                document, None, Annotation(f"s{row}", layers.SENTENCE, start, end, record, values)
            )
            places[document].append((start, end, row))
        for segments in places.values():
            segments.sort(key=lambda segment: segment[0])
        rows = corpus.tokens.select(*_KEY, "segment_row", "start", "end", "text", "pos")
        for row, document, record, segment, start, end, text, pos in rows.iter_rows():
            if not self.is_inside(document, start, end):
                self.losses["tokens outside of the text"] += 1
                continue
            if text != (self._text_at(document, start, end) or ""):
                self.losses["token texts that differ from the document"] += 1
            if segment != layers.holder(places[document], start, end):
                self.losses["tokens of another sentence than that around them"] += 1
            self._add(document, None, Annotation(f"w{row}", layers.TOKEN, start, end, record))
            if pos is not None:
                item = Annotation(f"p{row}", layers.POS, start, end, record, {"PosValue": pos})
                self._add(document, None, item)

    def _mentions(self, corpus: Corpus) -> None:
        """Take mentions."""
        mentions = corpus.mentions.with_columns(sure=to_text(corpus.mentions))
        known = pl.coalesce("confidence_text", pl.col("confidence").cast(pl.String)).is_not_null()
        rows = mentions.select(
            *(*_KEY, "start", "end", "text", "label", "entity", "mention", "mention_type"),
            pl.when(known).then("sure").alias("confidence"),
            "annotator",
        )
        names = ("value", layers.IDENTIFIER, NAME, *layers.COLUMNS)
        last = dict[str, str]()
        for row, document, record, start, end, text, *features in rows.iter_rows():
            if not self.fits(document, start, end):
                self.losses["mentions outside of the words of the text"] += 1
                continue
            values = dict(zip(names, features, strict=True))
            self.losses["missing identifiers of mentions, which are numbered"] += not values[NAME]
            values[NAME] = values[NAME] or None
            if text != self._text_at(document, start, end):
                values[layers.TEXT] = text
            # Most labels are those of the mention before: they are one object, not one for each.
            last = {
                k: last[k] if v == last.get(k) else v for k, v in values.items() if v is not None
            }
            item = Annotation(f"m{row}", MENTION, start, end, record, last)
            self._add(document, values[NAME], item)

    def _frames(self, corpus: Corpus) -> None:
        """Take relations of two mentions, and events with links."""
        ordered = corpus.arguments.sort("frame_row", "position")
        arguments = lists_by_key(
            (frame, link) for frame, *link in ordered.select("frame_row", "role", "target").rows()
        )
        linked: list[tuple[int, Annotation, list[list[str]]]] = []
        rows = corpus.frames.select(*_KEY, "frame", "kind", "label", "trigger", "annotator")
        for row, document, record, name, kind, label, trigger, annotator in rows.iter_rows():
            held = arguments.get(row, [])
            ends = [self.named.get((document, target)) for _, target in held]
            mentions = [item for item in ends if item is not None and item.layer == MENTION]
            values = {"value": label, NAME: name, "annotator": annotator}
            anchor = self.named.get((document, trigger)) or next(iter(mentions), None)
            if kind == "relation" and trigger is None and len(held) == len(mentions) == 2:
                pairs = zip(held, layers.OTHER_ROLES, layers.ROLES, strict=True)
                values |= {own: role for (role, _), own, usual in pairs if role != usual}
                first, second = mentions
                item = Annotation(f"f{row}", RELATION, second.start, second.end, record)
                item.ends = first.key, second.key
                self.losses["missing identifiers of relations, which are numbered"] += name is None
            elif (
                anchor and anchor.layer == MENTION and self.fits(document, anchor.start, anchor.end)
            ):
                values |= {layers.KIND: kind, layers.TRIGGER: trigger}
                item = Annotation(f"f{row}", EVENT, anchor.start, anchor.end, record)
                linked.append((document, item, held))
            else:
                self.losses["frames without a mention that is there"] += 1
                continue
            item.values = {key: text for key, text in values.items() if text is not None}
            self._add(document, name, item)
        for document, item, held in linked:
            found = [(role, self.named.get((document, target))) for role, target in held]
            item.links = [
                (role, end.key) for role, end in found if end is not None and end.ends is None
            ]
            lost = len(held) - len(item.links)
            self.losses["arguments that are no mentions or events"] += lost

    def _modifiers(self, corpus: Corpus) -> None:
        """Take modifiers as features of what they modify."""
        rows = corpus.modifiers.select("document", "modifier", "label", "target", "value")
        for document, name, label, target, value in rows.iter_rows():
            item = self.named.get((document, target))
            if item is None or not is_feature(label) or label in item.values:
                self.losses["modifiers that are not features"] += 1
                continue
            item.values[label] = "true" if value is None else value
            self.losses["modifiers with the value true"] += value == "true"
            self.losses["identifiers of modifiers"] += name != f"{target}.{label}"


def is_feature(name: str) -> bool:
    """Whether a modifier can be a feature of this name.

    Examples:
        >>> is_feature("Negation"), is_feature("a b"), is_feature("value")
        (True, False, False)
    """
    taken = name in layers.OWN or name in layers.LABELS or _TAKEN.fullmatch(name)
    return bool(_FEATURE.fullmatch(name)) and not taken and len(name) < 100


def in_units(text: str) -> Callable[[int], int]:
    r"""The offsets in UTF-16 code units of offsets in characters of a text.

    Examples:
        >>> in_units("\U0001f600 x")(2)
        3
    """
    if not text or max(text) < "\U00010000":
        return int
    return [0, *widths(text, "utf-16").cumsum().tolist()].__getitem__

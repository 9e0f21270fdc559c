"""How the text of a document of BioC is put together from its passages and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


GAP = 1_000_000
"""Most characters between two passages that a text is filled with."""
LARGEST = 10**15 - 1
"""Largest offset that is read."""
NUMBER = re.compile("[0-9]{1,15}")


_PLACE = ("document", "origin", "record")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "documents": ("origin", "name", "text", "language"),
    "segments": (*_PLACE, "start", "end", "text", "part"),
    "attributes": (*_PLACE, "element", "name", "value"),
    "mentions": (
        *(*_PLACE, "mention", "label", "start", "end", "fragments", "text", "entity"),
        *("mention_type", "confidence", "confidence_text", "annotator"),
    ),
    "groups": (*_PLACE, "group", "kind", "member"),
    "frames": (*_PLACE, "frame", "kind", "label", "trigger"),
    "arguments": (*_PLACE, "frame_row", "position", "role", "target"),
    "modifiers": (*_PLACE, "modifier", "label", "target", "value", "text"),
    "links": (*_PLACE, "mention_row", "rank", "entity"),
    "rejected_records": (
        *_PLACE,
        "code",
        "kind",
        "id",
        "label",
        "text",
        "column",
        "end_column",
        "expected",
    ),
}
"""The columns of the rows that are made; keys are their ordinals."""


Infons = list[tuple[str, str]]
"""What is said of something, by key."""


class Told(NamedTuple):
    """Something wrong: its code, the element and perhaps the attribute, values, the record."""

    code: str
    ordinal: int
    field: str
    values: Mapping[str, object]
    record: str | None


class Collected:
    """What is collected over documents.

    Attributes:
        rows: of each table, by its name.
        told: what is wrong.
        ordinals: of each element, its ordinal in the file.
        passed: the ordinals of the elements that are passed over.
        document: the row of the document.
    """

    def __init__(
        self, origin: int, ordinals: Mapping[Element, int], passed: frozenset[int]
    ) -> None:
        self.origin, self.document = origin, 0
        self.ordinals, self.passed = ordinals, passed
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in COLUMNS}
        self.told: list[Told] = []

    def children(self, element: Element) -> Sequence[Element]:
        """The elements that are in another, without those that are passed over."""
        if not self.passed:
            return list(element)
        return [one for one in element if self.ordinals[one] not in self.passed]

    def tell(
        self,
        element: Element,
        code: str,
        field: str = "",
        record: str | None = None,
        **values: object,
    ) -> None:
        """Keep what is wrong with an element, or with an attribute or the text of it."""
        values["element"] = element.tag
        self.told.append(Told(code, self.ordinals[element], field, values, record))

    def parts(self, element: Element) -> tuple[Infons, list[Element], str | None]:
        """Of an annotation or relation, what is said of it, its locations or nodes, its text."""
        infons: Infons = []
        others: list[Element] = []
        text = None
        for one in self.children(element):
            tag = one.tag
            if tag == "infon":
                infons.append((one.get("key", ""), one.text or ""))
            elif tag == "text":
                text = one.text or ""
            else:
                others.append(one)
        return infons, others, text

    def said(
        self,
        element: Element,
        columns: Sequence[str] = (),
        several: str = "",
        infons: Infons | None = None,
    ) -> dict[str, str | None]:
        """The infons that have columns, by key; the others are attributes.

        Args:
            element: what they are said of.
            columns: their keys; the first of a key counts.
            several: the key that may be there more than once.
            infons: all of them, where they were looked up already.
        """
        found: dict[str, str | None] = dict.fromkeys(columns)
        for key, text in self.parts(element)[0] if infons is None else infons:
            if key in found and found[key] is None:
                found[key] = text
            elif key != several:
                self.attribute(element, f"{element.tag}/infon", key, text)
        return found

    def attribute(self, of: Element, element: str, name: str, value: str) -> None:
        """Add what only this format says of an element."""
        row = (self.document, self.origin, self.ordinals[of], element, name, value)
        self.rows["attributes"].append(row)


def text_of(element: Element) -> str:
    """What stands in an element."""
    return element.text or ""


class TextWindow(NamedTuple):
    """A passage or sentence: its text, and where that begins; None where that is not known."""

    text: str | None
    start: int | None


class Within(NamedTuple):
    """An annotation and the passage or sentence that it stands in."""

    element: Element
    spot: TextWindow


class Text:
    """The text of a document, passage by passage."""

    def __init__(self, documents: Collected, element: Element) -> None:
        self.documents, self.element = documents, element
        self.chunks: list[str] = []
        self.length = 0
        self.written = False
        self.annotations: list[Within] = []
        self.relations: list[Element] = []
        self.segments: list[tuple[Element, int, int, str | None, str | None]] = []

    def passage(self, element: Element, ordinal: int) -> None:
        """Add a passage with its sentences."""
        children = self.documents.children(element)
        self.documents.said(element)
        start, known = self.offset(element, self.length)
        text = next((text_of(one) for one in children if one.tag == "text"), None)
        sentences = [one for one in children if one.tag == "sentence"]
        at = len(self.segments)
        if sentences:
            told = _Sentences(self, start, ordinal)
            for one in sentences:
                told.add(one)
            text = told.text if text is None else text
        self.within(children, TextWindow(text, start if known else None))
        self.segments.insert(at, (element, start, start + len(text or ""), text, None))
        self.append(element, text, start)

    def within(self, children: Iterable[Element], spot: TextWindow) -> None:
        """Keep the annotations and relations that stand in something."""
        self.annotations += [Within(one, spot) for one in children if one.tag == "annotation"]
        self.relations += [one for one in children if one.tag == "relation"]

    def offset(self, element: Element, expected: int) -> tuple[int, bool]:
        """Where a passage or sentence begins, and whether it says so; if not, that is told."""
        children = self.documents.children(element)
        written = next((one for one in children if one.tag == "offset"), None)
        if written is None:
            self.documents.tell(element, "BIO103", expected=expected)
            return expected, False
        given = text_of(written).strip()
        if NUMBER.fullmatch(given):
            return int(given), True
        given = given[:40] or "empty"
        self.documents.tell(written, "BIO102", "text", what="text", given=given)
        return expected, False

    def append(self, element: Element, text: str | None, start: int) -> None:
        """Put the text of a passage where it stands; what cannot stand there is told."""
        if text is None:
            return
        gap = start - self.length
        if gap < 0:
            self.documents.tell(element, "BIO201", start=start, end=self.length)
        elif gap > GAP:
            self.documents.tell(element, "BIO202", start=start, end=self.length, most=GAP)
        else:
            self.chunks += ["\n" * gap, text]
            self.length += gap + len(text)
        self.written = True

    def finished(self, passages: Sequence[Element]) -> str | None:
        """The whole text; None where there is none.

        No segments are a sole passage, and an empty one that only tells where the text ends.
        """
        documents = self.documents
        if passages and len(self.segments) > 1 and self.fills(passages[-1]):
            self.segments.pop()
        elif len(self.segments) == 1 and self.segments[0][1] == 0:
            self.segments.clear()
        documents.rows["segments"] += [
            (documents.document, documents.origin, documents.ordinals[one], start, end, text, part)
            for one, start, end, text, part in self.segments
        ]
        return "".join(self.chunks) if self.written else None

    def fills(self, passage: Element) -> bool:
        """Whether a last passage only tells where the text ends."""
        children = self.documents.children(passage)
        text = [text_of(one) for one in children if one.tag == "text"]
        return text == [""] and all(one.tag in {"offset", "text"} for one in children)


class _Sentences:
    """The sentences of a passage."""

    def __init__(self, whole: Text, start: int, ordinal: int) -> None:
        self.whole, self.start, self.part = whole, start, f"passage {ordinal}"
        self.text = ""

    def add(self, element: Element) -> None:
        """Add a sentence behind the others."""
        children = self.whole.documents.children(element)
        self.whole.documents.said(element)
        expected = self.start + len(self.text)
        start, known = self.whole.offset(element, expected)
        text = next((text_of(one) for one in children if one.tag == "text"), None)
        self.whole.within(children, TextWindow(text, start if known else None))
        row = (element, start, start + len(text or ""), text, self.part)
        self.whole.segments.append(row)
        gap = start - expected
        if 0 <= gap <= GAP:
            self.text += "\n" * gap + (text or "")
        else:
            code, end = ("BIO201" if gap < 0 else "BIO202"), expected
            self.whole.documents.tell(element, code, start=start, end=end, most=GAP)

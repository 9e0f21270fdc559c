"""The documents of BioC, from the elements of a file to rows of the tables."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from hlteval.converters.bioc.parts import Part
from hlteval.converters.toolkit.rows import decimal, keyed, number
from hlteval.converters.toolkit.source_files import unique_name
from hlteval.findings import Problem
from hlteval.representation.corpus import Rows

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


# The texts of annotations in BioC, which are what is at their locations in a passage or document.
#
# Line breaks count as spaces; spaces at either end are often lost, by tools and by formats that
# have none there. The parts of a discontinuous annotation may be joined with or without a space or
# dots, or be followed from the first to the last.


_JOINTS = (" ", "", "...", " ... ", "…", " … ")
_SPACE = str.maketrans("\r\n\t", "   ")
#: Characters of a text that is searched for elsewhere.
_LONGEST = 300
#: Characters on either side in which it is searched for.
_NEAR = 50_000
#: Mismatches that show how offsets are counted: how many, and which share of all.
_LEAST, _SHARE = 3, 0.9
#: Mismatches after which the unit of the offsets is decided.
_MOST = 10_000
#: What other units than characters are called.
_NAMES = {"bytes": "bytes", "utf-16": "UTF-16 code units"}
#: The encoding of each unit, and the bytes of a unit.
_ENCODINGS = {"bytes": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}


class TextWindow(NamedTuple):
    """The text of a passage, sentence or document, and the offset at which it starts."""

    text: str
    start: int

    def pieces(self, spans: Sequence[tuple[int, int]]) -> list[str]:
        """The texts at some places."""
        return [self.text[max(0, a - self.start) : max(0, b - self.start)] for a, b in spans]

    def has(self, spans: Sequence[tuple[int, int]], text: str) -> bool:
        """Whether a text is what is at some places; spaces at its ends may be lost.

        Examples:
            >>> TextWindow("liver and lung cancer", 10).has([(10, 15), (25, 31)], "liver cancer")
            True
        """
        pieces = self.pieces(spans)
        first, last = min(spans)[0], max(end for _, end in spans)
        if first < self.start:
            return False
        if len(spans) > 1:
            whole = self.text[first - self.start : last - self.start]
            pieces = [*(joint.join(pieces) for joint in _JOINTS), whole]
        plain = text.translate(_SPACE).strip(" ")
        return any(piece.translate(_SPACE).strip(" ") == plain for piece in pieces)


class Mismatch(NamedTuple):
    """An annotation whose text is not what is at its locations.

    Attributes:
        record: the ordinal of the annotation in the file.
        identifier: its identifier.
        spans: its locations.
        text: its text.
        window: the text of the passage that holds it.
    """

    record: int
    identifier: str | None
    spans: tuple[tuple[int, int], ...]
    text: str
    window: TextWindow

    def units(self) -> frozenset[str]:
        """The other units in which its offsets match, counted from the start of the passage."""
        begin, fitting = self.window.start, set()
        for unit, (encoding, width) in _ENCODINGS.items():
            data = _encode(self.window.text, encoding)
            pieces = [
                data[width * (start - begin) : width * (end - begin)].decode(encoding, "replace")
                for start, end in self.spans
                if start >= begin
            ]
            if any(joint.join(pieces) == self.text for joint in _JOINTS):
                fitting.add(unit)
        return frozenset(fitting)

    def problem(self, units: Collection[str]) -> Problem:
        """The problem of this annotation, with a hint where its text is.

        Args:
            units: other units in which its offsets match.
        """
        pieces = (piece[:40] for piece in self.window.pieces(self.spans[:3]))
        named = [name for unit, name in _NAMES.items() if unit in units]
        also = f"; the given offsets match if they count {named[0]}" if named else ""
        values = {"actual": " … ".join(pieces), "given": self.text[:40], "hint": self._hint(also)}
        return Problem("BIO203", self.record, 0, 0, values)

    def _hint(self, also: str) -> str:
        """A hint where the text is instead, and what else may be wrong."""
        if not self.text or len(self.text) > _LONGEST:
            return f"count offsets in characters from the start of the document{also}"
        begin, first = self.window.start, self.spans[0][0]
        low = max(0, first - begin - _NEAR)
        near = self.window.text[low : max(0, first - begin) + _NEAR]
        middle = max(0, first - begin - low)
        before = near.rfind(self.text, 0, middle + len(self.text))
        places = [at + low + begin for at in (before, near.find(self.text, middle)) if at >= 0]
        nearest = min(places, key=lambda place: abs(place - first), default=None)
        if nearest == first:
            single = "" if len(self.spans) == 1 else f"a single location at {nearest} with "
            return f"use {single}length {len(self.text)}{also}"
        if nearest is not None:
            return f"use offset {nearest}{also}"
        if also:
            return f"count offsets in characters{also}"
        return "check the passage; it does not contain this text"


@lru_cache(maxsize=2)
def _encode(text: str, encoding: str) -> bytes:
    return text.encode(encoding)


#: Takes a problem, the line and column of its element, and the identifier of the record.
Report = Callable[[Problem, tuple[int, int], str | None], None]


class Mismatches:
    """The mismatches of a file.

    Offsets that count bytes, or units of UTF-16, are one problem of the whole file. So mismatches
    are kept until enough are seen, whatever the parts that the file is read in.

    Attributes:
        unit: the unit that offsets count, once it is decided; empty for characters.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.unit: str | None = None
        self.kept: list[tuple[Problem, tuple[int, int], str | None, frozenset[str]]] = []

    def relevant(self, mismatches: Iterable[Mismatch]) -> list[Mismatch]:
        """The mismatches that the unit does not explain, as far as it is decided."""
        return [found for found in mismatches if not self.unit or self.unit not in found.units()]

    def add(self, mismatch: Mismatch, place: tuple[int, int]) -> None:
        """Take a mismatch at its line and column, and report what can be reported by now."""
        units = mismatch.units()
        if self.unit is None:
            self.kept.append((mismatch.problem(units), place, mismatch.identifier, units))
            if len(self.kept) >= _MOST:
                self.decide()
        elif self.unit not in units:
            self.report(mismatch.problem(units), place, mismatch.identifier)

    def decide(self) -> None:
        """Decide on the unit that nearly all fit in, and report what it does not explain."""
        if self.unit is not None:
            return
        self.unit = ""
        for unit, name in _NAMES.items():
            fitting = [entry for entry in self.kept if unit in entry[-1]]
            if not self.unit and len(fitting) >= max(_LEAST, _SHARE * len(self.kept)):
                problem, place, identifier, _ = fitting[0]
                values = {"what": name, "element": "annotation", "setting": unit}
                self.report(problem._replace(code="BIO204", values=values), place, identifier)
                self.unit = unit
        for problem, place, identifier, units in self.kept:
            if self.unit not in units:
                self.report(problem, place, identifier)
        self.kept.clear()


#: The elements of a collection before its infons.
HEADER = ("source", "date", "key", "version")
EVENT, RELATION, MODIFIER, EQUIVALENCE = "event", "relation", "modifier", "equivalence"
#: Most characters between two passages that a text is filled with.
GAP = 1_000_000
#: Largest offset that is read.
LARGEST = 10**15 - 1
_NUMBER = re.compile("[0-9]{1,15}")
_MENTION = ("type", "identifier", "mention_type", "confidence", "annotator")
Infons = Sequence[tuple[str, str]]
Spans = list[tuple[int, int]]


class Documents:
    """The documents of a part of a file.

    Attributes:
        ordinal: the ordinal of the last document in the file.
        problems: what is wrong, with the attribute that is meant, or `text`, and the identifier.
        mismatches: the annotations whose text is not what is at their locations.
        rejected: the annotations that cannot be read: document, problem, identifier and text.
    """

    def __init__(self, part: Part, names: dict[str, int], ordinal: int) -> None:
        self.ordinals, self.passed = part.ordinals, part.passed
        self.names, self.ordinal, self.document = names, ordinal, 0
        self.rows: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self.problems: list[tuple[Problem, str, str | None]] = []
        self.mismatches: list[Mismatch] = []
        self.rejected: list[tuple[int, Problem, str | None, str]] = []
        header: list[Element] = []
        for element in self.children(part.root):
            if element.tag == "document":
                self.take(element, header)
                header = []
            else:
                header.append(element)

    def tables(self, places: Mapping[int, tuple[int, int]]) -> dict[str, Rows]:
        """The rows as tables.

        Args:
            places: line and column of each rejected annotation, by its ordinal.
        """
        rejected = []
        for row, (document, problem, name, text) in enumerate(self.rejected):
            column = places[problem.record][1] - 1
            placed = problem._replace(start=column, end=column + len("<annotation"))
            more = {"row": row, "document": document, "origin": 0, "id": name}
            rejected.append(placed.rejection("mention", text, expected="a location", **more))
        tables = {name: keyed(name, rows) for name, rows in self.rows.items()}
        return {**tables, "rejected_records": rejected}

    def children(self, element: Element) -> list[Element]:
        """The children of an element that the schema has."""
        return [child for child in element if self.ordinals[child] not in self.passed]

    def report(
        self,
        element: Element,
        code: str,
        field: str = "",
        record: str | None = None,
        **values: object,
    ) -> None:
        """Note a problem of an element, or of an attribute or the text of it."""
        values["element"] = element.tag
        problem = Problem(code, self.ordinals[element], 0, 0, values)
        self.problems.append((problem, field, record))

    def place(self, element: Element) -> tuple[int, int, int]:
        """The document, origin and record of what an element holds."""
        return self.document, 0, self.ordinals[element]

    def contents(self, element: Element) -> tuple[Infons, list[Element], str | None]:
        """The infons of an annotation or relation, its locations or nodes, and its text."""
        infons, others, text = [], [], None
        for child in self.children(element):
            if child.tag == "infon":
                infons.append((child.get("key", ""), child.text or ""))
            elif child.tag == "text":
                text = child.text or ""
            else:
                others.append(child)
        return infons, others, text

    def values(
        self, element: Element, columns: Sequence[str], infons: Infons, repeatable: str = ""
    ) -> dict[str, str | None]:
        """The values of the infons that have columns; the others are kept as attributes.

        Args:
            element: the element that has the infons.
            columns: the keys that have columns; the first infon of a key counts.
            infons: all infons of the element.
            repeatable: the key whose further infons are not attributes.
        """
        found: dict[str, str | None] = dict.fromkeys(columns)
        for key, text in infons:
            if key in found and found[key] is None:
                found[key] = text
            elif key != repeatable:
                self.attribute(element, f"{element.tag}/infon", key, text)
        return found

    def attribute(self, of: Element, element: str, name: str, value: str) -> None:
        """Keep a value that only this format has."""
        self.rows["attributes"].append((*self.place(of), element, name, value))

    def take(self, element: Element, header: Iterable[Element]) -> None:
        """Add a document; the first of a file also has the header of the collection."""
        self.ordinal += 1
        name = self.name(element)
        self.document = len(self.rows["documents"])
        for child in header:
            if child.tag == "infon":
                self.attribute(child, "collection/infon", child.get("key", ""), child.text or "")
            elif child.text:
                self.attribute(child, "collection", child.tag, child.text)
        infons = self.contents(element)[0]
        language = self.values(element, ("language",), infons)["language"]
        passages = DocumentText(self, element)
        text = passages.text
        self.rows["documents"].append((0, name, text, language))
        seen: set[str] = set()
        whole = None if text is None else TextWindow(text, 0)
        for annotation, own, start in passages.annotations:
            self.annotation(annotation, own, start, whole)
        for annotation, _, _ in passages.annotations:
            identifier = annotation.get("id", "")
            if identifier and identifier in seen:
                self.report(annotation, "BIO302", "id", identifier, id=identifier)
            seen.add(identifier)
        known = {item.get("id", "") for item in element.iter("annotation", "relation")}
        for relation in passages.relations:
            self.relation(relation, known)

    def name(self, element: Element) -> str:
        """The name of a document, unique in its source."""
        ids = [child for child in self.children(element) if child.tag == "id"]
        name = (ids[0].text or "").strip() if ids else ""
        if not name:
            name = f"document-{self.ordinal}"
            self.report(element, "BIO101", name=name)
        own = unique_name(name, self.names)
        if own != name:
            self.report((ids or [element])[0], "BIO105", "text", name, name=name, other=own)
        return own

    def annotation(
        self, element: Element, own: str | None, start: int | None, document: TextWindow | None
    ) -> None:
        """Add an annotation and compare its text with that of its passage, or of its document.

        Args:
            element: the annotation.
            own: the text of the passage that holds it.
            start: where that starts; None where it is unknown.
            document: the whole text.
        """
        infons, locations, text = self.contents(element)
        spans = self.spans(element, locations, text or "")
        if not spans:
            return
        values = self.values(element, _MENTION, infons, "identifier")
        candidates = [value for key, value in infons if key == "identifier"][1:]
        written = values["confidence"]
        confidence = None if written is None else number(written)
        canonical = confidence is not None and decimal(confidence) == written
        fragments = [{"start": a, "end": b} for a, b in spans] if len(spans) > 1 else None
        place, row = self.place(element), len(self.rows["mentions"])
        self.rows["mentions"].append(
            (*place, element.get("id", ""), values["type"] or "", min(spans)[0],
             max(end for _, end in spans), fragments, text, values["identifier"],
             values["mention_type"], confidence, None if canonical else written,
             values["annotator"])
        )  # fmt: skip
        self.rows["links"] += [(*place, row, *link) for link in enumerate(candidates, start=2)]
        if text is None or (own is not None and start is None):
            return  # the missing start of the passage is reported
        near = document if own is None or start is None else TextWindow(own, start)
        if near is None or near.has(spans, text) or (document and document.has(spans, text)):
            return
        self.mismatches.append(Mismatch(place[2], element.get("id"), tuple(spans), text, near))

    def spans(self, element: Element, locations: Iterable[Element], text: str) -> Spans:
        """The places of an annotation; none where they cannot be read, which is reported."""
        found, name, code = Spans(), element.get("id"), ""
        for location in locations:
            given = {field: location.get(field) for field in ("length", "offset")}
            for field, value in given.items():
                if not code and not _NUMBER.fullmatch((value or "").strip()):
                    code = "BIO102"
                    if value is not None:  # else the schema reports it
                        values = {"what": field, "given": value[:40] or "empty"}
                        self.report(location, code, field, name, **values)
            if code:
                break
            start = int(given["offset"] or "")
            found.append((start, start + int(given["length"] or "")))
        if not code and not found:
            code = "BIO104"
            self.report(element, code, "", name)
        if code:
            problem = Problem(code, self.ordinals[element], 0, 0)
            self.rejected.append((self.document, problem, name, text))
            return Spans()
        return found

    def relation(self, element: Element, known: set[str]) -> None:
        """Add a relation as what it is: an event or relation, a modifier or an equivalence."""
        infons, children, _ = self.contents(element)
        nodes = []
        for node in children:
            target = node.get("refid", "")
            if target not in known:
                self.report(node, "BIO301", "refid", element.get("id"), target=target[:40])
            nodes.append((node.get("role", ""), target))
        place, name, first = self.place(element), element.get("id"), dict(reversed(infons))
        kind, label = first.get("kind"), first.get("type", "")
        equal = kind is None and label == "Equiv" and all(role == "Arg" for role, _ in nodes)
        if kind == MODIFIER and len(nodes) == 1:
            values = self.values(element, ("type", "kind", "value", "text"), infons)
            modifier = (*place, name or "", label, nodes[0][1], values["value"], values["text"])
            self.rows["modifiers"].append(modifier)
        elif nodes and (kind == EQUIVALENCE or equal):
            self.values(element, ("type", "kind"), infons)
            group = name or f"*{place[2]}"
            self.rows["groups"] += [(*place, group, label, member) for _, member in nodes]
        else:
            columns = ("type", "trigger_id", "kind")[: 3 if kind in {EVENT, RELATION} else 2]
            trigger = self.values(element, columns, infons)["trigger_id"]
            if kind not in {EVENT, RELATION}:
                kind = RELATION if trigger is None else EVENT
            if trigger is not None and nodes[:1] == [(label, trigger)]:
                del nodes[0]
            row = len(self.rows["frames"])
            self.rows["frames"].append((*place, name, kind, label, trigger))
            arguments = enumerate(nodes, start=1)
            self.rows["arguments"] += [(*place, row, at, *node) for at, node in arguments]


class DocumentText:
    """The passages and sentences of a document.

    Attributes:
        text: the whole text; None where no passage has one.
        annotations: all annotations, each with the text of the passage or sentence that holds it
            and where that starts; a start is None where it is unknown.
        relations: all relations.
    """

    def __init__(self, documents: Documents, element: Element) -> None:
        self.documents = documents
        self.annotations: list[tuple[Element, str | None, int | None]] = []
        self.relations: list[Element] = []
        self.segments: list[tuple[object, ...]] = []
        children = documents.children(element)
        passages = [child for child in children if child.tag == "passage"]
        self.text = self.fill(passages, 0)
        self.hold(children, None, None)
        last = documents.children(passages[-1]) if passages else []
        plain = all(child.tag in {"offset", "text"} for child in last)
        if len(self.segments) > 1 and plain and _text(last) == "":
            self.segments.pop()  # it marks where the text ends
        elif len(self.segments) == 1 and self.segments[0][4] == 0:
            self.segments.clear()
        documents.rows["segments"] += self.segments

    def fill(self, elements: Sequence[Element], end: int, part: str | None = None) -> str | None:
        """Add passages, or the sentences of one, and give their text; None if no passage has one.

        There are line feeds for what is between them. One that cannot be there is reported.

        Args:
            elements: the passages or sentences.
            end: where the text before them ends.
            part: the passage that holds sentences.
        """
        documents, pieces, written = self.documents, list[str](), False
        for ordinal, element in enumerate(elements, start=1):
            children = documents.children(element)
            documents.values(element, (), documents.contents(element)[0])
            offset = self.offset(element, children, end)
            start = end if offset is None else offset
            own, at = _text(children), len(self.segments)
            sentences = [child for child in children if child.tag == "sentence"]
            inner = self.fill(sentences, start, f"passage {ordinal}")
            if own is None and sentences:
                own = inner
            self.hold(children, own, offset)
            segment = (*documents.place(element), None, start, start + len(own or ""), own, part)
            self.segments.insert(at, segment)
            written |= own is not None
            if own is None and not part:
                continue
            gap = start - end
            if 0 <= gap <= GAP:
                pieces += ["\n" * gap, own or ""]
                end = start + len(own or "")
            else:
                code = "BIO201" if gap < 0 else "BIO202"
                documents.report(element, code, start=start, end=end, most=GAP)
        return "".join(pieces) if written or part else None

    def hold(self, children: Iterable[Element], text: str | None, start: int | None) -> None:
        """Keep the annotations and relations of a passage, sentence or document."""
        for child in children:
            if child.tag == "annotation":
                self.annotations.append((child, text, start))
            elif child.tag == "relation":
                self.relations.append(child)

    def offset(self, element: Element, children: Iterable[Element], expected: int) -> int | None:
        """The start of a passage or sentence; if it is unknown, that is reported."""
        offset = next((child for child in children if child.tag == "offset"), None)
        if offset is None:
            self.documents.report(element, "BIO103", expected=expected)
            return None
        value = (offset.text or "").strip()
        if _NUMBER.fullmatch(value):
            return int(value)
        values = {"what": "text", "given": value[:40] or "empty"}
        self.documents.report(offset, "BIO102", "text", **values)
        return None


def _text(children: Iterable[Element]) -> str | None:
    """The first text among some elements."""
    return next((child.text or "" for child in children if child.tag == "text"), None)

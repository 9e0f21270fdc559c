"""The documents of BioC, from the elements of a file to rows of the tables."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hlteval.converters.bioc.parts import Part
from hlteval.converters.toolkit.offsets import CHARACTERS, COUNTINGS, UNITS, Counting, UnitText
from hlteval.converters.toolkit.rows import decimal, from_dictionaries, number, table_of
from hlteval.converters.toolkit.source_files import unique_name
from hlteval.converters.toolkit.span_texts import PASSAGES, Mismatch, TextWindow
from hlteval.findings import Problem
from hlteval.representation import FACT
from hlteval.representation.corpus import Rows

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

#: The elements of a collection before its infons.
HEADER = ("source", "date", "key", "version")
EVENT, RELATION, MODIFIER, EQUIVALENCE = "event", "relation", "modifier", "equivalence"
#: Most characters between two passages that a text is filled with, and all texts of a part.
GAP, GAPS = 1_000_000, 10_000_000
#: Characters that are missing between two passages, where words are counted.
_WIDEST_GAP = 1_000_000
#: The code of offsets from the start of passages.
OF_PASSAGES = "BIO205"
#: Largest offset that is read.
LARGEST = 10**15 - 1
_NUMBER = re.compile("[0-9]{1,15}")
#: The keys of infons with the entities of a relation without nodes, whatever they are.
_ROLE = re.compile("(?:Arg|entity|role)[0-9]")
#: A relation has so many arguments at least.
_ENDS = 2
_MENTION = ("type", "identifier", "mention_type", "confidence", "annotator")
Infons = Sequence[tuple[str, str]]
Spans = list[tuple[int, int]]


class Documents:
    """The documents of a part of a file.

    Args:
        part: the elements.
        names: the names of documents in use; see `unique_name`.
        ordinal: that of the last document before them.
        offsets: the unit that offsets count.
        note: takes what is wrong, instead of `problems`.

    Attributes:
        ordinal: the ordinal of the last document in the file.
        problems: what is wrong, with the attribute that is meant, or `text`, and the identifier.
        mismatches: the annotations whose text is not what is at their locations.
        rejected: the annotations that cannot be read: document, code, ordinal, identifier and text.
    """

    def __init__(
        self,
        part: Part,
        names: dict[str, int],
        ordinal: int,
        offsets: str = CHARACTERS,
        note: Callable[[Problem, str], None] | None = None,
    ) -> None:
        self.note, self.room = note, GAPS
        self.ordinals, self.passed = part.ordinals, part.passed
        self.names, self.ordinal, self.document = names, ordinal, 0
        self.rows: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self.problems: list[tuple[Problem, str, str | None]] = []
        self.mismatches: list[Mismatch] = []
        self.rejected: list[tuple[int, str, int, str | None, str]] = []
        if offsets in UNITS:
            count_characters(part.root, offsets)
        elif offsets == PASSAGES:
            move_from_passages(part.root)
        elif offsets != CHARACTERS:
            move_locations(part.root, COUNTINGS[offsets])
        header: list[Element] = []
        for element in self.children(part.root):
            if element.tag == "document":
                self.take(element, header)
                header = []
            else:
                header.append(element)

    def tables(
        self, place: Callable[[int], tuple[int, int]], others: Sequence[Mapping[str, object]] = ()
    ) -> dict[str, Rows]:
        """The rows as tables.

        Args:
            place: gives line and column of a rejected annotation, by its ordinal.
            others: rows of records that were rejected before.
        """

        def rejections() -> Iterator[Mapping[str, object]]:
            yield from others
            listed = enumerate(self.rejected, len(others))
            for row, (document, code, record, name, text) in listed:
                column = place(record)[1] - 1
                placed = Problem(code, record, column, column + len("<annotation"))
                more = {"row": row, "document": document, "origin": 0, "id": name}
                yield placed.rejection("mention", text, expected="a location", **more)

        tables: dict[str, Rows] = {name: table_of(name, rows) for name, rows in self.rows.items()}
        return {**tables, "rejected_records": from_dictionaries("rejected_records", rejections())}

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
        if self.note is None:
            self.problems.append((problem, field, record))
        else:
            self.note(problem, field)

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
        if not len(element):
            self.rows["documents"].append((0, name, None, None))
            return
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
        bare = [each for each in passages.relations if next(each.iter("node"), None) is None]
        facts = self.facts(bare, [annotation for annotation, _, _ in passages.annotations])
        for relation in passages.relations:
            if relation not in facts:
                self.relation(relation, known)

    def name(self, element: Element) -> str:
        """The name of a document, unique in its source."""
        children = self.children(element) if len(element) else ()
        ids = [child for child in children if child.tag == "id"]
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
        self.mismatches.append(near.mismatch((place[2], element.get("id")), spans, text))

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
            self.rejected.append((self.document, code, self.ordinals[element], name, text))
            return Spans()
        return found

    def facts(self, relations: list[Element], annotations: list[Element]) -> set[Element]:
        """Add relations of entities, which infons name instead of nodes, and give them.

        Args:
            relations: those without nodes.
            annotations: all of the document.
        """
        found: set[Element] = set()
        infons_of_all = (infon for each in annotations if relations for infon in each.iter("infon"))
        kinds = {infon.text for infon in infons_of_all if infon.get("key") == "type"}
        for element in relations:
            infons = self.contents(element)[0]
            ends = [(key, text) for key, text in infons if key in kinds or _ROLE.fullmatch(key)]
            if len(ends) < _ENDS:
                continue
            found.add(element)
            others = [infon for infon in infons if infon not in ends]
            named = "type" if "type" in dict(others) else "relation"
            label = self.values(element, (named,), others)[named] or ""
            place, row = self.place(element), len(self.rows["frames"])
            self.rows["frames"].append((*place, element.get("id"), FACT, label, None))
            rows = ((*place, row, at, *end) for at, end in enumerate(ends, start=1))
            self.rows["arguments"] += rows
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


def count_characters(root: Element, unit: str) -> None:
    """Change the offsets and lengths below a collection from another unit to characters.

    Passages are moved too, unless they overlap in that unit: then they count characters already.
    Values that are not numbers stay, and are reported by the reader.
    """
    for document in root.iter("document"):
        blocks: list[tuple[int, int, UnitText]] = []  # with offsets as written and in characters
        written_end = end = 0
        for element in document.iter("passage", "sentence"):
            offset, text = element.find("offset"), element.find("text")
            start = None if offset is None else _number_in(offset.text)
            if offset is None or start is None:
                continue
            moved = end + start - written_end if start >= written_end else start
            offset.text = str(moved)
            if text is not None:
                own = UnitText(text.text or "", unit)
                blocks.append((start, moved, own))
                written_end, end = start + own.length, moved + own.size
        for location in document.iter("location"):
            start, length = (_number_in(location.get(name)) for name in ("offset", "length"))
            if start is None or length is None:
                continue
            characters = [start, start + length]
            for at, place in enumerate(characters if blocks else ()):
                # in the last text that begins at or before it
                before = [block for block in blocks if block[0] <= place] or blocks[:1]
                begin, moved, own = before[-1]
                characters[at] = moved + own.character(place - begin)
            location.set("offset", str(characters[0]))
            location.set("length", str(characters[1] - characters[0]))


def move_locations(root: Element, counting: Counting) -> None:
    """Change the locations below a collection that count otherwise than in units to characters.

    Words are counted through the document, whose passages are at their offsets in characters.
    """
    for document in root.iter("document"):
        whole = ""
        for element in document.iter("passage", "sentence"):
            offset, text = element.find("offset"), element.find("text")
            start = None if offset is None else _number_in(offset.text)
            if start is not None and text is not None and start >= len(whole):
                whole += " " * min(start - len(whole), _WIDEST_GAP) + (text.text or "")
        place = counting.place(whole)
        for location in document.iter("location"):
            start, length = (_number_in(location.get(name)) for name in ("offset", "length"))
            if start is not None and length is not None:
                first, end = place(start, start + length)
                location.set("offset", str(first))
                location.set("length", str(end - first))


def move_from_passages(root: Element) -> None:
    """Change the locations below a collection that count from their passage or sentence."""
    for element in root.iter("passage", "sentence"):
        offset = element.find("offset")
        begin = None if offset is None else _number_in(offset.text)
        for annotation in element.findall("annotation"):
            for location in annotation.iter("location"):
                start = _number_in(location.get("offset"))
                if start is not None and begin is not None:
                    location.set("offset", str(begin + start))


def _number_in(value: str | None) -> int | None:
    text = (value or "").strip()
    return int(text) if _NUMBER.fullmatch(text) else None


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
            gap, most = start - end, min(GAP, documents.room)
            if 0 <= gap <= most:
                documents.room -= gap
                pieces += ["\n" * gap, own or ""]
                end = start + len(own or "")
            else:
                code = "BIO201" if gap < 0 else "BIO202"
                documents.report(element, code, start=start, end=end, most=most)
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


def mismatch_problem(mismatch: Mismatch, unit: str) -> Problem:
    """The problem of an annotation whose text is elsewhere, or of the unit that explains most.

    That of passages is a problem of the whole file.
    """
    if unit == PASSAGES:
        return Problem(OF_PASSAGES, 0, 0, 0)
    code = "BIO204" if unit else "BIO203"
    return Problem(code, 0, 0, 0, mismatch.values(unit, _hint(mismatch)))


def _hint(mismatch: Mismatch) -> str:
    """A hint where the text of an annotation is instead, and what else may be wrong."""
    if not mismatch.is_short:
        return f"count offsets in characters from the start of the document{mismatch.also}"
    nearest = mismatch.nearest()
    if nearest == mismatch.spans[0][0]:
        single = "" if len(mismatch.spans) == 1 else f"a single location at {nearest} with "
        return f"use {single}length {len(mismatch.given)}{mismatch.also}"
    if nearest is not None:
        return f"use offset {nearest}{mismatch.also}"
    if mismatch.also:
        return f"count offsets in characters{mismatch.also}"
    return "check the passage; it does not contain this text"

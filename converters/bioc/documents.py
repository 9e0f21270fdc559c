"""The documents of BioC, from the elements of a file to rows of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from hlteval.converters.bioc.layout import NUMBER, Collected, Infons, Text, TextWindow, text_of
from hlteval.converters.bioc.texts import Misfit, Stretch, fits
from hlteval.converters.toolkit.confidences import decimal, number
from hlteval.converters.toolkit.single_file import own_name
from hlteval.syntax.xml_stream import Part

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

HEADER = ("source", "date", "key", "version")
"""What is said of a collection, beside infons."""
EVENT, RELATION, MODIFIER, EQUIVALENCE = "event", "relation", "modifier", "equivalence"
_MENTION = ("type", "identifier", "mention_type", "confidence", "annotator")


class Documents(Collected):
    """What is collected over the documents of a part of a file.

    Attributes:
        misfits: annotations whose text is not what stands there.
    """

    def __init__(self, part: Part, names: dict[str, int], ordinal: int) -> None:
        super().__init__(0, part.ordinals, part.passed)
        self.names, self.ordinal = names, ordinal
        self.misfits: list[Misfit] = []
        header: list[Element] = []
        for element in self.children(part.root):
            if element.tag == "document":
                self.take(element, header)
                header = []
            else:
                header.append(element)

    def take(self, element: Element, header: Sequence[Element]) -> None:
        """Add a document; the first one of a file also tells what is said of all."""
        self.ordinal += 1
        name = self.named(element)
        self.document = len(self.rows["documents"])
        for one in header:
            if one.tag == "infon":
                self.attribute(one, "collection/infon", one.get("key", ""), text_of(one))
            elif one.text:
                self.attribute(one, "collection", one.tag, one.text)
        children = self.children(element)
        language = self.said(element, ("language",))["language"]
        passages = [one for one in children if one.tag == "passage"]
        text = Text(self, element)
        for ordinal, passage in enumerate(passages, start=1):
            text.passage(passage, ordinal)
        text.within(children, TextWindow(None, None))
        whole = text.finished(passages)
        self.rows["documents"].append((self.origin, name, whole, language))
        beyond = None if whole is None else Stretch(whole, 0)
        for within in text.annotations:
            self.annotation(within.element, within.spot, beyond)
        self.repeated([one.element for one in text.annotations])
        known = {one.get("id", "") for one in element.iter("annotation", "relation")}
        for one in text.relations:
            self.relation(one, known)

    def named(self, element: Element) -> str:
        """The name of a document, which no other one has."""
        children = self.children(element)
        written = next((one for one in children if one.tag == "id"), None)
        name = "" if written is None else text_of(written).strip()
        if not name:
            name = f"document-{self.ordinal}"
            self.tell(element, "BIO101", name=name)
        own = own_name(name, self.names)
        if own != name:
            at = element if written is None else written
            self.tell(at, "BIO105", "text", name, name=name, other=own)
        return own

    def annotation(self, element: Element, spot: TextWindow, beyond: Stretch | None) -> None:
        """Add an annotation, whose text is looked for where it stands."""
        said, locations, text = self.parts(element)
        name = element.get("id", "")
        spans = self.spans(element, locations, text)
        if spans is None:
            return
        start, end = spans[0]
        if len(spans) > 1:
            start, end = min(spans)[0], max(end for _, end in spans)
        infons = self.said(element, _MENTION, "identifier", said)
        others = [value for key, value in said if key == "identifier"][1:]
        row = len(self.rows["mentions"])
        sure = infons["confidence"]
        value = number(sure) if sure is not None else None
        spelt = None if value is not None and decimal(value) == sure else sure
        fragments = [{"start": a, "end": b} for a, b in spans] if len(spans) > 1 else None
        place = (self.document, self.origin, self.ordinals[element])
        self.rows["mentions"].append(
            (*place, name, infons["type"] or "", start, end, fragments, text, infons["identifier"],
             infons["mention_type"], value, spelt, infons["annotator"])
        )  # fmt: skip
        self.rows["links"] += [(*place, row, rank, one) for rank, one in enumerate(others, start=2)]
        if text is not None:
            self.compare(element, spans, text, spot, beyond)

    def compare(
        self,
        element: Element,
        spans: Sequence[tuple[int, int]],
        text: str,
        spot: TextWindow,
        beyond: Stretch | None,
    ) -> None:
        """Hold an annotation beside the text of its passage, or else of its document."""
        if spot.text is not None and spot.start is None:
            return  # nobody knows where its passage begins, which is told
        near = beyond if spot.text is None or spot.start is None else Stretch(spot.text, spot.start)
        if near is None or fits(near, spans, text):
            return
        if beyond is None or not fits(beyond, spans, text):
            self.misfits.append(
                Misfit(self.ordinals[element], element.get("id"), tuple(spans), text, near)
            )

    def spans(
        self, element: Element, locations: Sequence[Element], text: str | None
    ) -> list[tuple[int, int]] | None:
        """Where an annotation stands; None where that cannot be told, which is said."""
        found: list[tuple[int, int]] = []
        for one in locations:
            start, length = (self.number(one, field) for field in ("offset", "length"))
            if start is None or length is None:
                field = "length" if length is None else "offset"
                given = one.get(field)
                if given is not None:  # else the schema has told
                    name = element.get("id")
                    self.tell(one, "BIO102", field, name, what=field, given=given[:40] or "empty")
                self.refuse(element, "BIO102", text)
                return None
            found.append((start, start + length))
        if not found:
            self.tell(element, "BIO104", "", element.get("id"))
            self.refuse(element, "BIO104", text)
        return found or None

    def refuse(self, element: Element, code: str, text: str | None) -> None:
        """Add an annotation that stands nowhere; its columns are looked up later."""
        ordinal = self.ordinals[element]
        why = (code, "mention", element.get("id"), None, text or "", ordinal, ordinal, "a location")
        self.rows["rejected_records"].append((self.document, self.origin, ordinal, *why))

    @staticmethod
    def number(element: Element, field: str) -> int | None:
        """An attribute that is a number."""
        given = element.get(field, "").strip()
        return int(given) if NUMBER.fullmatch(given) else None

    def repeated(self, elements: Iterable[Element]) -> None:
        """Tell of identifiers that another annotation of the document has."""
        seen: set[str] = set()
        for element in elements:
            name = element.get("id", "")
            if name in seen:
                self.tell(element, "BIO302", "id", name, id=name)
            if name:
                seen.add(name)

    def nodes(
        self, element: Element, listed: Iterable[Element], known: set[str]
    ) -> Iterator[tuple[str, str]]:
        """The nodes of a relation by role; those that lead nowhere are told."""
        for one in listed:
            target = one.get("refid", "")
            if target not in known:
                self.tell(one, "BIO301", "refid", element.get("id"), target=target[:40])
            yield one.get("role", ""), target

    def relation(self, element: Element, known: set[str]) -> None:
        """Add a relation as what it is: an event or relation, a modifier or an equivalence."""
        infons, listed, _ = self.parts(element)
        nodes = list(self.nodes(element, listed, known))
        place = (self.document, self.origin, self.ordinals[element])
        name, told = element.get("id"), dict(reversed(infons))
        kind, label = told.get("kind"), told.get("type", "")
        if kind == MODIFIER and len(nodes) == 1:
            said = self.said(element, ("type", "kind", "value", "text"), infons=infons)
            row = (*place, name or "", label, nodes[0][1], said["value"], said["text"])
            self.rows["modifiers"].append(row)
        elif _is_group(kind, label, nodes):
            self.said(element, ("type", "kind"), infons=infons)
            group = name or f"*{place[2]}"
            self.rows["groups"] += [(*place, group, label, member) for _, member in nodes]
        else:
            self.frame(element, nodes, infons)

    def frame(self, element: Element, nodes: list[tuple[str, str]], infons: Infons) -> None:
        """Add an event or relation with its arguments."""
        place = (self.document, self.origin, self.ordinals[element])
        told = dict(reversed(infons))
        kind, label = told.get("kind"), told.get("type", "")
        columns = ("type", "trigger_id", "kind")[: 3 if kind in {EVENT, RELATION} else 2]
        trigger = self.said(element, columns, infons=infons)["trigger_id"]
        if kind not in {EVENT, RELATION}:
            kind = RELATION if trigger is None else EVENT
        row = len(self.rows["frames"])
        self.rows["frames"].append((*place, element.get("id"), kind, label, trigger))
        if trigger is not None and nodes[:1] == [(label, trigger)]:
            nodes = nodes[1:]
        self.rows["arguments"] += [
            (*place, row, position, *node) for position, node in enumerate(nodes, start=1)
        ]


def _is_group(kind: str | None, label: str, nodes: Sequence[tuple[str, str]]) -> bool:
    """Whether a relation tells that its nodes are the same thing."""
    plain = kind is None and label == "Equiv" and all(role == "Arg" for role, _ in nodes)
    return bool(nodes) and (kind == EQUIVALENCE or plain)

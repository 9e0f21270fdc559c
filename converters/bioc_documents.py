"""The documents of BioC, from the elements of a file to rows of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hlteval.converters.bioc_layout import NUMBER, Collected, Spot, Text
from hlteval.converters.bioc_texts import Misfit, Stretch, fits
from hlteval.converters.confidences import decimal, number
from hlteval.converters.xml_elements import Element

HEADER = ("source", "date", "key", "version")
"""What is said of a collection, beside infons."""
EVENT, RELATION, MODIFIER, EQUIVALENCE = "event", "relation", "modifier", "equivalence"
_MENTION = ("type", "identifier", "mention_type", "confidence", "annotator")


class Documents(Collected):
    """What is collected over the documents of a part of a file.

    Attributes:
        misfits: annotations whose text is not what stands there.
    """

    def __init__(self, origin: int, names: set[str], ordinal: int) -> None:
        super().__init__(origin)
        self.names, self.ordinal = names, ordinal
        self.misfits: list[Misfit] = []
        self.identifiers: dict[int, set[str]] = {}
        """By document, what relations may refer to, also what is passed over."""

    def take(self, elements: Sequence[Element], passed: frozenset[int]) -> None:
        """Add the documents among these elements, without those that are to be passed over."""
        header: list[Element] = []
        listed: list[Element] = []
        for element in elements:
            parent = element.parent
            if parent is None:
                continue
            if element.tag in {"annotation", "relation"} and listed:
                known = self.identifiers.setdefault(listed[-1].ordinal, set())
                known.add(element.attributes.get("id", ""))
            if element.ordinal in passed:
                continue
            if parent.parent is not None:
                self.children.setdefault(parent.ordinal, []).append(element)
            elif element.tag == "document":
                listed.append(element)
            else:
                header.append(element)
        for element in listed:
            self.take_document(element, header)
            header = []
        self.children.clear()
        self.identifiers.clear()

    def take_document(self, element: Element, header: Sequence[Element]) -> None:
        """Add a document; the first one of a file also tells what is said of all."""
        self.ordinal += 1
        name = self.named(element)
        self.document = len(self.rows["documents"])
        for one in header:
            if one.tag == "infon":
                self.attribute(one, "collection/infon", one.attributes["key"], one.text)
            elif one.text:
                self.attribute(one, "collection", one.tag, one.text)
        kids = self.children.get(element.ordinal, ())
        language = self.said(element, ("language",))["language"]
        passages = [one for one in kids if one.tag == "passage"]
        text = Text(self, element)
        for ordinal, passage in enumerate(passages, start=1):
            text.passage(passage, ordinal)
        text.within(kids, Spot(None, None))
        whole = text.finished(passages)
        self.rows["documents"].append((self.origin, name, whole, language))
        beyond = None if whole is None else Stretch(whole, 0)
        for within in text.annotations:
            self.annotation(within.element, within.spot, beyond)
        self.repeated([one.element for one in text.annotations])
        known = self.identifiers.get(element.ordinal, set())
        for one in text.relations:
            self.relation(one, self.nodes(one, known))

    def named(self, element: Element) -> str:
        """The name of a document, which no other one has."""
        kids = self.children.get(element.ordinal, ())
        written = next((one for one in kids if one.tag == "id"), None)
        name = written.text.strip() if written else ""
        if not name:
            name = f"document-{self.ordinal}"
            self.told.append((element.fault("BIO101", name=name), None))
        if name in self.names:
            first, count = name, 2
            while name in self.names:
                name, count = f"{first} ({count})", count + 1
            at = written or element
            self.told.append((at.fault("BIO105", "text", name=first, other=name), first))
        self.names.add(name)
        return name

    def annotation(self, element: Element, spot: Spot, beyond: Stretch | None) -> None:
        """Add an annotation, whose text is looked for where it stands."""
        kids = self.children.get(element.ordinal, ())
        name = element.attributes.get("id", "")
        text = next((one.text for one in kids if one.tag == "text"), None)
        spans = self.spans(element, [one for one in kids if one.tag == "location"], text)
        if spans is None:
            return
        start, end = min(spans)[0], max(end for _, end in spans)
        infons = self.said(element, _MENTION, several="identifier")
        others = [text for key, text in self.infons(element) if key == "identifier"][1:]
        row = len(self.rows["mentions"])
        sure = infons["confidence"]
        value = number(sure) if sure is not None else None
        spelt = None if value is not None and decimal(value) == sure else sure
        fragments = [{"start": a, "end": b} for a, b in spans] if len(spans) > 1 else None
        place = (self.document, self.origin, element.ordinal)
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
        spot: Spot,
        beyond: Stretch | None,
    ) -> None:
        """Hold an annotation beside the text of its passage, or else of its document."""
        if spot.text is not None and spot.start is None:
            return  # nobody knows where its passage begins, which is told
        near = beyond if spot.text is None or spot.start is None else Stretch(spot.text, spot.start)
        if near is None or fits(near, spans, text):
            return
        if beyond is None or not fits(beyond, spans, text):
            self.misfits.append(Misfit(element, tuple(spans), text, near))

    def spans(
        self, element: Element, locations: Sequence[Element], text: str | None
    ) -> list[tuple[int, int]] | None:
        """Where an annotation stands; None where that cannot be told, which is said."""
        name = element.attributes.get("id", "")
        fault = None if locations else element.fault("BIO104")
        found: list[tuple[int, int]] = []
        for one in locations:
            start, length = (self.number(one, field) for field in ("offset", "length"))
            if start is None or length is None:
                field = "length" if length is None else "offset"
                given = one.attributes.get(field, "")[:40] or "empty"
                fault = fault or one.fault("BIO102", field, what=field, given=given)
            else:
                found.append((start, start + length))
        if fault is None:
            return found
        if fault.code == "BIO104" or fault.field in locations[0].attributes:
            self.told.append((fault, name))
        why = (fault.code, "mention", name, "", text or "", fault.column)
        row = (self.document, self.origin, element.ordinal, *why, fault.column + 1, "a location")
        self.rows["refused"].append(row)
        return None

    @staticmethod
    def number(element: Element, field: str) -> int | None:
        """An attribute that is a number."""
        given = element.attributes.get(field, "").strip()
        return int(given) if NUMBER.fullmatch(given) else None

    def repeated(self, elements: Iterable[Element]) -> None:
        """Tell of identifiers that another annotation of the document has."""
        seen: set[str] = set()
        for element in elements:
            name = element.attributes.get("id", "")
            if name in seen:
                self.told.append((element.fault("BIO302", "id", id=name), name))
            if name:
                seen.add(name)

    def nodes(self, element: Element, known: set[str]) -> list[tuple[str, str]]:
        """The nodes of a relation by role; those that lead nowhere are told."""
        found = []
        for one in self.children.get(element.ordinal, ()):
            if one.tag == "node":
                target = one.attributes.get("refid", "")
                if target not in known:
                    fault = one.fault("BIO301", "refid", target=target[:40])
                    self.told.append((fault, element.attributes.get("id")))
                found.append((one.attributes.get("role", ""), target))
        return found

    def relation(self, element: Element, nodes: Sequence[tuple[str, str]]) -> None:
        """Add a relation as what it is: an event or relation, a modifier or an equivalence."""
        place = (self.document, self.origin, element.ordinal)
        name = element.attributes.get("id")
        known = dict(reversed(self.infons(element)))
        kind, label = known.get("kind"), known.get("type", "")
        if kind == MODIFIER and len(nodes) == 1:
            said = self.said(element, ("type", "kind", "value", "text"))
            row = (*place, name or "", label, nodes[0][1], said["value"], said["text"])
            self.rows["modifiers"].append(row)
        elif _is_group(kind, label, nodes):
            self.said(element, ("type", "kind"))
            group = name or f"*{element.ordinal}"
            self.rows["groups"] += [(*place, group, label, member) for _, member in nodes]
        else:
            self.frame(element, nodes, kind, label)

    def frame(
        self, element: Element, nodes: Sequence[tuple[str, str]], kind: str | None, label: str
    ) -> None:
        """Add an event or relation with its arguments."""
        place = (self.document, self.origin, element.ordinal)
        told = kind in {EVENT, RELATION}
        trigger = self.said(element, ("type", "trigger_id", *["kind"] * told))["trigger_id"]
        shape = EVENT if trigger is not None else RELATION
        row = len(self.rows["frames"])
        name = element.attributes.get("id")
        self.rows["frames"].append((*place, name, kind if told else shape, label, trigger))
        if trigger is not None and nodes[:1] == [(label, trigger)]:
            nodes = nodes[1:]
        self.rows["arguments"] += [
            (*place, row, position, *node) for position, node in enumerate(nodes, start=1)
        ]


def _is_group(kind: str | None, label: str, nodes: Sequence[tuple[str, str]]) -> bool:
    """Whether a relation tells that its nodes are the same thing."""
    plain = kind is None and label == "Equiv" and all(role == "Arg" for role, _ in nodes)
    return bool(nodes) and (kind == EQUIVALENCE or plain)

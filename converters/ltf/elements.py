"""LTF files of any layout, element by element: what they say, and what is wrong with it.

This is the authority on what a file says; ltf_bulk.py gives the same for the usual layout.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hlteval.converters.ltf.tables import Said
from hlteval.syntax.xml_elements import (
    Element,
    Fault,
    Malformed,
    Parsed,
    other_encoding,
    parse,
)
from hlteval.syntax.xml_structure import conforms, explain

_NUMBER = re.compile("[0-9]{1,9}")
_DTD = "ltf.v1.5.dtd"
_OWN = {"SEG": ("start_token", "end_token"), "TOKEN": ("attach", "gloss")}
"""Attributes that no table has a column for."""


Told = list[tuple[Fault, str | None]]
"""What is wrong with a file, each with the identifier of its element."""


def read_elements(text: str, origin: int, stem: str, encoding: str) -> tuple[Said, Told]:
    """What a file says, and what is wrong with it.

    Args:
        text: of the file.
        origin: its number.
        stem: its name without suffixes, for a document without an id.
        encoding: that it was read in.

    Examples:
        >>> said, told = read_elements("<LCTL_TEXT><DOC id='d'/></LCTL_TEXT>", 0, "d", "utf-8")
        >>> said.documents["name"].to_list(), [fault.code for fault, _ in told]
        (['d'], ['LTF101', 'XML106'])
    """
    file = _File(text, origin, stem, encoding)
    file.read()
    return Said.of(**file.rows), file.faults


class _File:
    """What is collected over the elements of a file: rows of each table as in `SCHEMAS`, faults."""

    def __init__(self, text: str, origin: int, stem: str, encoding: str) -> None:
        self.text, self.origin, self.stem, self.encoding = text, origin, stem, encoding
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in Said._fields}
        self.faults: Told = []
        self.parts: dict[int, str | None] = {}
        self.holder = self.segment = 0

    def read(self) -> None:
        try:
            parsed = parse(self.text)
        except Malformed as reason:
            self.faults.append((reason.fault, None))
            return
        self.faults += [(fault, None) for fault in self.prolog(parsed)]
        passed: set[int] = set()
        if not conforms(self.text, "ltf"):
            faults, passed = explain(parsed.elements, "ltf")
            self.faults += [(fault, None) for fault in faults]
        taken = [one for one in parsed.elements if one.ordinal not in passed]
        self.parts = _parts(taken)
        for element in taken:
            self.take(element)

    def prolog(self, parsed: Parsed) -> Iterator[Fault]:
        """What stands before the root element."""
        if other_encoding(parsed.encoding, self.encoding):
            given = parsed.encoding or "UTF-8 (as nothing is said)"
            yield Fault("XML103", 1, 1, {"given": given, "encoding": self.encoding})
        root = parsed.elements[0]
        if root.tag != "LCTL_TEXT":
            return
        if parsed.doctype is None:
            yield root.fault("LTF101")
        elif (parsed.doctype.root, parsed.doctype.system) != ("LCTL_TEXT", _DTD):
            at = self.text.find("<!DOCTYPE")
            line = self.text.count("\n", 0, at) + 1
            column = at - self.text.rfind("\n", 0, at)
            given = f"{parsed.doctype.root} {parsed.doctype.system}"[:80]
            yield Fault("LTF102", line, column, {"given": given})

    def take(self, element: Element) -> None:
        """Add what an element says."""
        if element.tag == "LCTL_TEXT":
            return  # told with its first document
        if element.tag == "DOC":
            self.document(element)
        elif element.tag == "SEG":
            self.segment_of(element)
        elif element.tag == "TOKEN":
            self.token(element)
        elif element.tag in {"DATELINE", "AUTHORLINE"}:
            where = f"{element.tag} {self.parts[element.ordinal]}"
            self.attribute(element, where, "text", element.text)
        elif element.tag == "ORIGINAL_TEXT" and self.rows["segments"]:
            *head, text, part = self.rows["segments"][-1]
            if head[1] == self.segment == (element.parent or element).ordinal and text is None:
                self.rows["segments"][-1] = (*head, element.text, part)

    def document(self, element: Element) -> None:
        first = not self.rows["documents"]
        self.holder, self.segment = element.ordinal, 0
        name = element.attributes.get("id", self.stem)
        self.rows["documents"].append((self.origin, element.ordinal, element.ordinal, name))
        if first and element.parent is not None:
            for pair in element.parent.attributes.items():
                self.attribute(element.parent, "LCTL_TEXT", *pair)
        for pair in element.attributes.items():
            self.attribute(element, "DOC", *pair)

    def attribute(self, element: Element, where: str, name: str, value: str) -> None:
        self.rows["attributes"].append(
            (self.origin, element.ordinal, self.holder, where, name, value)
        )

    def segment_of(self, element: Element) -> None:
        self.segment = element.ordinal
        place = self.placed(element)
        if place:
            part = self.parts[element.ordinal]
            name = element.attributes.get("id")
            self.rows["segments"].append((*self.key(element), name, *place, None, part))

    def token(self, element: Element) -> None:
        place = self.placed(element)
        if place:
            get = element.attributes.get
            origin, record, holder = self.key(element)
            own = (get("id"), *place, element.text, get("pos"), get("morph"))
            self.rows["tokens"].append((origin, record, holder, self.segment, *own))

    def key(self, element: Element) -> tuple[int, int, int]:
        return self.origin, element.ordinal, self.holder

    def placed(self, element: Element) -> tuple[int, int] | None:
        """The offsets of a segment or token, half-open; None where it is refused."""
        for name in _OWN[element.tag]:
            if name in element.attributes:
                self.attribute(element, element.tag, name, element.attributes[name])
        offsets = []
        for name in ("start_char", "end_char"):
            given = element.attributes.get(name)
            if given is None:
                self.refuse(element, element.fault("LTF103", attribute=name))
                return None
            if not _NUMBER.fullmatch(given):
                shown = given[:40] or "(empty)"
                fault = element.fault("LTF104", name, attribute=name, given=shown)
                self.refuse(element, fault)
                return None
            offsets.append(int(given))
        return offsets[0], offsets[1] + 1

    def refuse(self, element: Element, fault: Fault) -> None:
        """An element without a place."""
        identifier = element.attributes.get("id")
        self.faults.append((fault, identifier))
        kind = "segment" if element.tag == "SEG" else "token"
        row = (fault.code, kind, identifier, element.attributes.get("pos"), element.text)
        end = fault.column + len(element.tag) + 1
        self.rows["rejected_records"].append(
            (*self.key(element), *row, fault.column, end, "offsets")
        )


def _parts(elements: list[Element]) -> dict[int, str | None]:
    """The part of the document that each element of it stands in; of a part itself, its number.

    None stands for the usual: a single TEXT with segments directly below.
    """
    children: dict[int, list[Element]] = {}
    for element in elements:
        if element.parent is not None:
            children.setdefault(element.parent.ordinal, []).append(element)
    named: dict[int, str | None] = {}
    for document in (one for one in elements if one.tag == "DOC"):
        own = children.get(document.ordinal, [])
        for number, part in enumerate(own, start=1):
            name = None if len(own) == 1 and part.tag == "TEXT" else f"{part.tag} {number}"
            named[part.ordinal] = str(number)
            inner = children.get(part.ordinal, [])
            paragraphs = [one for one in inner if one.tag == "P"]
            for count, paragraph in enumerate(paragraphs, start=1):
                inside = f"{part.tag} {number} P {count}"
                for one in children.get(paragraph.ordinal, []):
                    named[one.ordinal] = inside
            named.update({one.ordinal: name for one in inner if one.tag == "SEG"})
    return named

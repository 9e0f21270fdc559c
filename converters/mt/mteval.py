r"""mteval of NIST: sources, reference translations and translations of systems, in sets.

Format:
    XML as defined in grammars/mteval.rng: a srcset, refsets and tstsets with documents, their parts
    `hl`, `p` and `poster`, and segments. The older form in SGML, a set without a root, with tags in
    any case, bare attributes and `&` as it is, is read too. The sets may be in several files of a
    folder, `*.xml`, `*.sgm` or `*.sgml`.

Conventions:
    A set is known by its `refid` or `sysid`; its language is `trglang`, that of sources `srclang`;
    `und` means that it is not known.
    The text of a segment is kept as written, with its white space. A record is an element, counted
    by start tags from 1.

Example lines:
    <tstset setid="test" srclang="uzb" trglang="eng" sysid="run-7">
    <doc docid="D1" genre="nw">
    <p><seg id="1">Who did vaccinations first?</seg></p>
    </doc>
    </tstset>

Codes raised: XML1xx, MTF201 to MTF203.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hlteval.converters.format import Format, ReadResult, Setting
from hlteval.converters.mt import lorehlt_mt, mteval_sgml
from hlteval.converters.mt.collected import Collected, Text, with_suffix
from hlteval.converters.mt.mteval_writing import lost, write
from hlteval.converters.mt.texts import REFERENCE, SOURCE, SYSTEM, UNKNOWN
from hlteval.converters.toolkit.single_file import beginning
from hlteval.findings import FieldRef, Finding, Location, Problem
from hlteval.sources import Member, Source, decode
from hlteval.syntax.xml_elements import Element, Malformed, explain, structure
from hlteval.syntax.xml_places import Lines, locate_elements, located_findings

ROLES: Mapping[str, str] = {"srcset": SOURCE, "refset": REFERENCE, "tstset": SYSTEM}
#: The attribute that names a set.
NAMES: Mapping[str, str] = {"srcset": "", "refset": "refid", "tstset": "sysid"}
#: The attributes without which NIST's script stops.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "srcset": ("setid", "srclang"),
    "refset": ("setid", "srclang", "trglang"),
    "tstset": ("setid", "srclang", "trglang", "sysid"),
}
_SUFFIXES = (".xml", ".sgm", ".sgml")
_ROOT = re.compile(r"<(mteval|srcset|refset|tstset)[\s>]", re.I)
_PARTS = ("hl", "p", "poster")
Named = tuple[Problem, str | None]


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read."""
    return with_suffix(source, _SUFFIXES)


def sniff(source: Source) -> bool:
    """Whether the first file begins with a set, and has not the form of LoReHLT."""
    found = members(source)
    begin = beginning(found[0]) if found else ""
    return bool(_ROOT.search(begin)) and not lorehlt_mt.sniff(source)


def read(source: Source) -> Iterator[ReadResult]:
    """All sets of all files, as one batch: they have the same documents."""
    collected = Collected(source, FORMAT.name)
    findings: list[Finding] = []
    for member in members(source):
        text = collected.open(member)
        if text is not None:
            problems = list(_file(text, member, collected))
            located = mteval_sgml.findings if mteval_sgml.is_sgml(text) else located_findings
            findings += located(text, problems, member)
    yield collected.result(findings)


def _file(text: str, member: Member, collected: Collected) -> Iterator[Named]:
    """Add the sets of a file; yield the problems with it."""
    try:
        elements, problems = _elements(text, member.encoding)
    except Malformed as reason:
        yield reason.problem, None
        return
    yield from problems
    if not elements:  # another root
        return
    file = _Sets(elements, collected)
    documents: dict[int, list[Element]] = {}
    for element in elements:
        if element.tag == "doc" and element.parent:
            documents.setdefault(element.parent.ordinal, []).append(element)
    for element in elements:
        if element.tag in ROLES:
            file.set = element
            yield from _missing(element, documents.get(element.ordinal, []))
        elif element.tag == "doc":
            file.enter(element)
        elif element.tag == "seg":
            file.add(element)


def _elements(text: str, encoding: str) -> tuple[list[Element], list[Named]]:
    """The elements of a file that its schema allows, and the problems with it."""
    if not mteval_sgml.is_sgml(text):
        found = structure(text, "mteval", encoding)
        return found.elements, [(problem, None) for problem in found.problems]
    elements, problems = mteval_sgml.parse(text)
    of_schema, skipped = explain(elements, "mteval")
    kept = [element for element in elements if element.ordinal not in skipped]
    return kept, [*problems, *((problem, None) for problem in of_schema)]


def _missing(element: Element, documents: Sequence[Element]) -> Iterator[Named]:
    """The attributes that a set lacks; in the older form, documents name the system.

    Args:
        element: the set.
        documents: its documents.
    """
    by_documents = bool(documents) and all("sysid" in each.attributes for each in documents)
    names = [
        name
        for name in _NEEDED[element.tag]
        if name not in element.attributes and not (name == "sysid" and by_documents)
    ]
    if names:
        yield element.problem("MTF201", names=" and ".join(names)), None


class _Sets:
    """The set and the document that a reader is in.

    Args:
        elements: those of the file.
        collected: what is read.
    """

    def __init__(self, elements: Sequence[Element], collected: Collected) -> None:
        self.collected = collected
        self.parts = _parts(elements)
        self.set = elements[0]
        self.name: str | None = None
        self.document = 0

    @property
    def language(self) -> str:
        """The attribute with the language of the texts."""
        return "srclang" if self.set.tag == "srcset" else "trglang"

    def enter(self, element: Element) -> None:
        """Add a document, with its attributes and those of its set."""
        own, tag = self.set.attributes, self.set.tag
        row = self.document = self.collected.document(element.attributes.get("docid", ""))
        named = own.get(NAMES[tag], element.attributes.get("sysid"))
        self.name = None if tag == "srcset" else named
        of_set = f"{tag} {self.name}" if self.name else tag
        for key, value in own.items():
            if key not in {self.language, NAMES[tag]}:
                self.collected.attribute(row, self.set.ordinal, of_set, key, value)
        for key, value in element.attributes.items():
            if key not in {"docid", "sysid"}:
                self.collected.attribute(row, element.ordinal, "doc", key, value)

    def add(self, element: Element) -> None:
        """Add the text of a segment."""
        part = self.parts.get(element.parent.ordinal) if element.parent else None
        language = self.set.attributes.get(self.language, UNKNOWN)
        name, role = element.attributes.get("id", ""), ROLES[self.set.tag]
        known = None if language == UNKNOWN else language
        text = Text(name, role, element.text, self.name, known, part)
        self.collected.add(self.document, element.ordinal, text)


def _parts(elements: Sequence[Element]) -> dict[int, str]:
    """The name of each part by its ordinal: its tag and its number in its document."""
    numbers: dict[int, int] = {}
    named: dict[int, str] = {}
    for element in elements:
        if element.tag in _PARTS and element.parent is not None:
            number = numbers[element.parent.ordinal] = numbers.get(element.parent.ordinal, 0) + 1
            named[element.ordinal] = f"{element.tag} {number}"
    return named


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of elements; a field is an attribute, or `text` for the text after the tag."""
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    if not mteval_sgml.is_sgml(text):
        return locate_elements(member, places)
    found = mteval_sgml.starts(text, (place.record for place in places))
    lines = Lines(text)
    return [
        lines.location(*found[place.record], place.field) if place.record in found else None
        for place in places
    ]


FORMAT = Format(
    name="mteval",
    title="mteval: sources, references and translations of systems, in sets",
    suffixes=(".mteval.xml", ".sgm"),
    layout="single_file",
    words={
        "translations": "seg element",
        "translations.set": "refid or sysid attribute",
        "translations.language": "srclang or trglang attribute",
        "translations.part": "hl, p or poster element",
        "attributes": "XML attribute",
        "rejected_records": "unreadable element",
    },
    carries=(
        *("sources", "documents", "attributes", "translations"),
        *("translations.set", "translations.language", "translations.part"),
    ),
    settings=(
        Setting("setid", "name of the test set, where none is known", "test", "write"),
        Setting("srclang", "language of the sources, where none is known", UNKNOWN, "write"),
        Setting("trglang", "language of the translations, where none is known", UNKNOWN, "write"),
        Setting("sysid", "name of the system, where none is known", "system", "write"),
    ),
    sniff=sniff,
    documents=lambda source: {"": members(source)},
    read=read,
    codes=("MTF2", "XML"),
    locate=locate,
    write=write,
    count_losses=lost,
    known_losses="division into files; attributes of a document that differ between its sets; "
    "comments and anything outside the schema",
    shares_documents=True,
)

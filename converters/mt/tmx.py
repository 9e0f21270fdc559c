r"""TMX: translation units with a variant per language, as translation tools exchange them.

Format:
    XML as defined in grammars/tmx.rng (TMX 1.4b): a `tu` per segment with a `tuv` per text. The
    document and the segment are properties of the unit, `x-document` and `x-segment`; the role, set
    and part are properties of the variant, `x-role`, `x-set` and `x-part`.

Conventions:
    A unit without these properties is segment `tuid`, or else its number, of a document with the
    name of the file; a variant without a role is a source if its language is the `srclang`, and a
    reference otherwise. The language `und` means that it is not known. Of inline elements, only the
    text of `hi` is part of the segment. A record is an element, counted by start tags from 1.

Example lines:
    <tu tuid="D1 segment-0">
    <tuv xml:lang="uzb"><seg>Emlashni birinchi kim boshlagan?</seg></tuv>
    <tuv xml:lang="eng"><seg>Who was the first to start vaccination?</seg></tuv>
    </tu>

Codes raised: XML1xx, MTF301.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.mt.texts import (
    REFERENCE,
    ROLES,
    SOURCE,
    UNKNOWN,
    Collected,
    Text,
    with_sources,
    with_suffix,
)
from hlteval.converters.toolkit.source_files import beginning
from hlteval.findings import Finding, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_elements import Element, Malformed, Reader, structure
from hlteval.syntax.xml_places import ABSENT, attributes, escape, located_findings

# Writes translations as TMX.


_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
_HEADER = (
    ("creationtool", "hlteval"),
    ("creationtoolversion", "1"),
    ("segtype", "sentence"),
    ("o-tmf", "hlteval"),
    ("adminlang", "en"),
)
_VARIANT = ("role", "set", "part", "language", "text")


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All segments as units of one file: the source, then the references, then the systems."""
    corpus = with_sources(Corpus.concat(corpora))
    header = [*_HEADER, ("srclang", _source_language(corpus)), ("datatype", "plaintext")]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"{_HEAD}<header{attributes(header)}/>\n<body>\n")
        file.writelines(_units(corpus))
        file.write("</body>\n</tmx>\n")


def _source_language(corpus: Corpus) -> str:
    """The language of all sources; `*all*` where there are several, or none is known."""
    languages = corpus.translations.filter(role=SOURCE)["language"].drop_nulls().unique().to_list()
    return languages[0] if len(languages) == 1 else "*all*"


def _units(corpus: Corpus) -> Iterator[str]:
    """Each segment as a unit."""
    without, names = unwritable(corpus), dict(corpus.documents.select("row", "name").iter_rows())
    key = ["document", "segment"]
    rows = corpus.translations.filter(~pl.col("document").is_in(list(without)))
    order = pl.col("role").replace_strict(list(ROLES), [0, 1, 2], return_dtype=pl.Int64)
    rows = rows.with_columns(_first=pl.col("row").min().over(key), _role=order)
    rows = rows.sort("document", "_first", "_role", maintain_order=True)
    for (document, segment), own in rows.group_by(key, maintain_order=True):
        name = names[int(str(document))]
        head = f"<tu{attributes([('tuid', f'{name} {segment}')])}>\n"
        properties = f"{_property('document', name)}\n{_property('segment', str(segment))}\n"
        variants = "".join(_variant(*cells) for cells in own.select(_VARIANT).iter_rows())
        yield f"{head}{properties}{variants}</tu>\n"


def _property(name: str, value: str | None) -> str:
    return "" if value is None else f'<prop type="x-{name}">{escape(value)}</prop>'


def _variant(role: str, name: str | None, part: str | None, language: str | None, text: str) -> str:
    """A text as a variant."""
    properties = f"{_property('role', role)}{_property('set', name)}{_property('part', part)}"
    tag = f"<tuv{attributes([('xml:lang', language or UNKNOWN)])}>"
    return f"{tag}{properties}<seg>{escape(text)}</seg></tuv>\n"


def unwritable(corpus: Corpus) -> set[int]:
    """The documents with characters that XML cannot hold."""
    columns = ("segment", "set", "language", "part", "text")
    texts = pl.any_horizontal(pl.col(columns).str.contains(ABSENT))
    names = corpus.documents.filter(pl.col("name").str.contains(ABSENT))["row"]
    return {*names, *corpus.translations.filter(texts)["document"]}


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the file cannot represent."""
    written = corpus.translations["document"].unique()
    silent = corpus.documents.filter(~pl.col("row").is_in(written.implode())).height
    return {
        "documents without translations": silent,
        "documents with characters not allowed in XML": len(unwritable(corpus)),
    }


SUFFIX = ".tmx"
#: Inline elements that hold codes of the original format, and no text.
_CODES = ("bpt", "ept", "ph", "it", "ut")
Named = tuple[Problem, str | None]


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read."""
    return with_suffix(source, SUFFIX)


def sniff(source: Source) -> bool:
    """Whether the first file has the root element of TMX."""
    found = members(source)
    return bool(found) and "<tmx" in beginning(found[0])


def read(source: Source) -> Iterator[ReadResult]:
    """The units of all files, as one batch."""
    collected = Collected(source, FORMAT.name)
    findings: list[Finding] = []
    for member in members(source):
        text = collected.open(member)
        if text is not None:
            problems = list(_file(text, member, collected))
            findings += located_findings(text, problems, member)
    yield collected.result(findings)


class _Reader(Reader):
    """A reader for which the text of `hi` is text of the element around it, where it is."""

    def characters(self, text: str) -> None:
        element = self.open[-1]
        while element.tag == "hi" and element.parent is not None:
            element = element.parent
        element.chunks.append(text)


def _file(text: str, member: Member, collected: Collected) -> Iterator[Named]:
    """Add the units of a file; yield the problems with it."""
    try:
        found = structure(text, "tmx", member.encoding, _Reader)
    except Malformed as reason:
        yield reason.problem, None
        return
    elements = found.elements
    yield from ((problem, None) for problem in found.problems)
    codes = [element for element in elements if element.tag in _CODES]
    if codes:
        yield codes[0].problem("MTF301", count=len(codes)), None
    units = _Units(member, collected)
    for element in elements:
        units.take(element)
    units.leave()


class _Units:
    """The unit and the variant that a reader is in.

    Args:
        member: the file.
        collected: what is read.
    """

    def __init__(self, member: Member, collected: Collected) -> None:
        self.collected = collected
        self.stem = member.document(member.basename.removesuffix(SUFFIX))
        self.source_language = ""
        self.number = 0
        self.properties: dict[str, dict[str, str]] = {"tu": {}, "tuv": {}}
        self.attributes: dict[str, Mapping[str, str]] = {"tu": {}, "tuv": {}}
        self.segment: Element | None = None

    def take(self, element: Element) -> None:
        """Enter an element; what is before it in the file is complete."""
        if element.tag == "header":
            self.source_language = element.attributes.get("srclang", "")
        elif element.tag in {"tu", "tuv"}:
            self.leave()
            self.number += element.tag == "tu"
            self.properties[element.tag] = {}
            self.attributes[element.tag] = element.attributes
        elif element.tag == "prop" and element.parent and element.parent.tag in self.properties:
            own = self.properties[element.parent.tag]
            own.setdefault(element.attributes.get("type", ""), element.text)
        elif element.tag == "seg":
            self.segment = element

    def leave(self) -> None:
        """Add the variant, if there is one."""
        if self.segment is None:
            return
        unit, own = self.properties["tu"], self.properties["tuv"]
        name = unit.get("x-segment", self.attributes["tu"].get("tuid", str(self.number)))
        variant = self.attributes["tuv"]
        language = variant.get("xml:lang", variant.get("lang", UNKNOWN))
        role = own.get("x-role", "")
        role = role if role in ROLES else self.role(language)
        known = None if language == UNKNOWN else language
        text = Text(name, role, self.segment.text, own.get("x-set"), known, own.get("x-part"))
        document = self.collected.document(unit.get("x-document", self.stem))
        self.collected.add(document, self.segment.ordinal, text)
        self.segment = None

    def role(self, language: str) -> str:
        """The role of a variant that does not name it."""
        source = self.attributes["tu"].get("srclang", self.source_language)
        return SOURCE if language.lower() == source.lower() else REFERENCE


FORMAT = declaration(__name__)

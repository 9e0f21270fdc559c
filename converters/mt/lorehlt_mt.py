r"""LoReHLT form of mteval: the translations of a document's segments, a file per document.

Format:
    XML as defined in grammars/lorehlt-mt.rng: mteval, tstset, one doc with `docid`, and seg
    elements with `id` directly below it. A file has the name of the LTF file that was translated,
    `<document>.ltf.xml`. Reference translations of LoReHLT have the same form.

Conventions:
    The text of a segment is kept as written, with its white space. A record is an element, counted
    by start tags from 1. The attributes that mteval has and LoReHLT has not are ignored.

Example lines:
    <doc docid="NW_ARX_UZB_164780_20140900">
    <seg id="segment-0">Who did vaccinations first?</seg>
    </doc>

Codes raised: XML1xx, MTF101 to MTF104.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.mt.texts import REFERENCE, SYSTEM, of_role, other_texts
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import keyed
from hlteval.converters.toolkit.source_files import FileBatch, beginning
from hlteval.findings import Finding, Problem, spot
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.syntax.xml_elements import Element, Malformed, Parsed, problem_at, structure
from hlteval.syntax.xml_places import (
    ABSENT,
    attribute,
    attributes,
    content,
    located_findings,
    start_tag,
)

# Writes translations as the files of LoReHLT.


SUFFIX = ".ltf.xml"
_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE mteval SYSTEM "lorehlt-mt-v1.2.dtd">\n'


def as_files(corpus: Corpus, role: str = SYSTEM) -> Iterator[tuple[str, str]]:
    """The name and content of every file; a document without texts of the role has none."""
    texts = of_role(corpus, role)
    without = _unwritable(corpus, texts)
    lines = dict(_lines(texts).iter_rows())
    output_paths = source_files.output_paths(corpus, "lorehlt-mt", SUFFIX)
    for row, name in corpus.documents.select("row", "name").iter_rows():
        if row in lines and row in output_paths and row not in without:
            doc = f"    <doc{attributes([('docid', name)])}>\n{lines[row]}    </doc>\n"
            yield output_paths[row], f"{_HEAD}<mteval>\n  <tstset>\n{doc}  </tstset>\n</mteval>\n"


def _lines(texts: pl.DataFrame) -> pl.DataFrame:
    """The segments of each document as lines: `document`, `line`."""
    tag = start_tag("seg", attribute("id", "segment"))
    line = pl.concat_str(pl.lit("      "), tag, content("text"), pl.lit("</seg>\n"))
    return texts.group_by("document", maintain_order=True).agg(line=line.str.join(""))


def _unwritable(corpus: Corpus, texts: pl.DataFrame) -> set[int]:
    """The documents with characters that XML cannot hold."""
    found = pl.any_horizontal(pl.col("segment", "text").str.contains(ABSENT))
    named = corpus.documents.select("row", "name").iter_rows()
    names = {row for row, name in named if re.search(ABSENT, name)}
    return names.union(texts.filter(found)["document"])


def count_losses(corpus: Corpus, role: str = SYSTEM) -> Mapping[str, int]:
    """The counts of what the files cannot represent.

    Args:
        corpus: the documents.
        role: which texts are written.
    """
    texts = of_role(corpus, role)
    silent = corpus.documents.filter(~pl.col("row").is_in(texts["document"].implode())).height
    return {
        **source_files.count_without_file(corpus, "lorehlt-mt", SUFFIX),
        "documents without translations": silent,
        "documents with characters not allowed in XML": len(_unwritable(corpus, texts)),
        **other_texts(corpus, texts),
    }


_FOREIGN = re.compile("<(srcset|refset)")
_ATTRIBUTE = re.compile(r"<tstset\s+\w")
DTD = "lorehlt-mt-v1.2.dtd"
_PLACE = ("document", "origin", "record")
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "documents": ("origin", "name"),
    "translations": (*_PLACE, "segment", "role", "text"),
}

#: A problem with the identifier of its element.
Named = tuple[Problem, str | None]


def sniff(source: Source) -> bool:
    """Whether the first XML file is mteval of a system, named as LTF or without attributes."""
    files = [member for member in source.members if member.basename.endswith(".xml")]
    if source.kind in {"file", "stdin"}:
        files = list(source.members)
    begin = beginning(files[0]) if files else ""
    plain = files and (files[0].basename.endswith(SUFFIX) or not _ATTRIBUTE.search(begin))
    return bool(plain) and "<mteval" in begin and not _FOREIGN.search(begin)


def read(source: Source, role: str = SYSTEM) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names.

    Args:
        source: the files.
        role: of their texts, `system` or `reference`: the form is the same for both.
    """
    for files in source_files.batches(source, FORMAT.name, SUFFIX):
        batch = _Batch(files, role)
        for file in files.texts:
            batch.take(*file)
        yield ReadResult(batch.corpus(), (*files.findings, *batch.findings), tuple(files.members))


class _Batch:
    """The rows of each table, and the findings, of the files of a batch."""

    def __init__(self, files: FileBatch, role: str) -> None:
        self.files, self.role = files, role
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in _COLUMNS}
        self.places: dict[str, str] = {}
        self.findings: list[Finding] = []

    def corpus(self) -> Corpus:
        tables = {name: keyed(name, rows, _COLUMNS[name]) for name, rows in self.rows.items()}
        return Corpus(sources=self.files.sources, **tables)

    def take(self, origin: int, stem: str, text: str) -> None:
        """Add the rows and findings of a file."""
        del stem
        member = self.files.members[origin]
        try:
            found = structure(text, "lorehlt-mt", member.encoding)
        except Malformed as reason:
            self.findings += located_findings(text, [(reason.problem, None)], member)
            return
        problems: list[Named] = [(item, None) for item in _prolog(text, found.parsed)]
        problems += [(item, None) for item in found.problems]
        skipped: set[int] = set()
        for element in found.elements:
            if element.tag == "tstset":
                problems += _attributes(element)
            elif element.tag == "doc":
                problems += self.document(element, origin, skipped)
            elif element.tag == "seg" and element.parent and element.parent.ordinal not in skipped:
                self.segment(element, origin)
        several = [element for element in found.elements if element.tag == "doc"][1:]
        problems += [(element.problem("MTF102"), _name(element)) for element in several[:1]]
        self.findings += located_findings(text, problems, member)

    def document(self, element: Element, origin: int, skipped: set[int]) -> Iterator[Named]:
        """Add a document; one that another file has too is skipped with its segments."""
        member = self.files.members[origin]
        name = member.document(_name(element))
        if other := self.places.get(name):
            skipped.add(element.ordinal)
            yield element.problem("MTF103", "docid", name=name, other=other), name
            return
        self.places[name] = member.display
        self.rows["documents"].append((origin, name))

    def segment(self, element: Element, origin: int) -> None:
        """Add the text of a segment of the last document."""
        place = (len(self.rows["documents"]) - 1, origin, element.ordinal)
        name = element.attributes.get("id", "")
        self.rows["translations"].append((*place, name, self.role, element.text))


def _name(element: Element) -> str:
    return element.attributes.get("docid", "")


def _attributes(element: Element) -> Iterator[Named]:
    """The attributes of tstset that LoReHLT does not have."""
    for name, value in element.attributes.items():
        yield element.problem("MTF101", name, attribute=name, given=value[:40]), None


def _prolog(text: str, parsed: Parsed) -> Iterator[Problem]:
    """The problem with a document type that is missing or another one."""
    root = parsed.elements[0]
    if root.tag != "mteval":
        return
    if parsed.doctype is None:
        yield root.problem("MTF104", given="missing")
    elif (parsed.doctype.root, parsed.doctype.system) != ("mteval", DTD):
        place = spot(text, text.find("<!DOCTYPE"))
        given = f"{parsed.doctype.root} {parsed.doctype.system}"[:80]
        yield problem_at("MTF104", place.line, place.column, given=given)


def write(corpora: Iterable[Corpus], path: Path, role: str = SYSTEM) -> None:
    """The translations as a folder of files, with the names of the original files of this format.

    Args:
        corpora: the documents.
        path: the folder.
        role: which texts are written; of several sets the first.
    """
    source_files.write_files((file for corpus in corpora for file in as_files(corpus, role)), path)


_CHOICES = (SYSTEM, REFERENCE)
FORMAT = declaration(__name__)

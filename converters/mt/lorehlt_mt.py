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

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.mt import texts as mt_texts
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import table_of
from hlteval.converters.toolkit.source_files import FileBatch
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.syntax import xml_places as xml
from hlteval.syntax.xml_elements import Doctype, Element, doctype_problem, examine

# Writes translations as the files of LoReHLT.


Rows = list[tuple[Any, ...]]

SUFFIX = ".ltf.xml"
_DOCTYPE = Doctype("mteval", "lorehlt-mt-v1.2.dtd")
_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE mteval SYSTEM "lorehlt-mt-v1.2.dtd">\n'


def as_files(corpus: Corpus, role: str = mt_texts.SYSTEM) -> Iterator[tuple[str, str]]:
    """The name and content of every file; a document without texts of the role has none."""
    texts = mt_texts.of_role(corpus, role)
    without = mt_texts.unwritable_documents(corpus, texts, "segment", "text")
    tag = xml.start_tag("seg", xml.attribute("id", "segment"))
    line = pl.concat_str(pl.lit("      "), tag, xml.content("text"), pl.lit("</seg>\n"))
    segments = texts.group_by("document", maintain_order=True).agg(line=line.str.join(""))
    lines = dict(segments.select("document", "line").iter_rows())
    output_paths = source_files.output_paths(corpus, "lorehlt-mt", SUFFIX)
    for row, name in corpus.documents.select("row", "name").iter_rows():
        if row in lines and row in output_paths and row not in without:
            doc = f"    <doc{xml.attributes([('docid', name)])}>\n{lines[row]}    </doc>\n"
            yield output_paths[row], f"{_HEAD}<mteval>\n  <tstset>\n{doc}  </tstset>\n</mteval>\n"


def count_losses(corpus: Corpus, role: str = mt_texts.SYSTEM) -> Mapping[str, int]:
    """The counts of rows that the files cannot represent.

    Args:
        corpus: the documents.
        role: which texts are written.
    """
    texts = mt_texts.of_role(corpus, role)
    without = mt_texts.unwritable_documents(corpus, texts, "segment", "text")
    return {
        **source_files.count_without_file(corpus, "lorehlt-mt", SUFFIX),
        **mt_texts.document_losses(corpus, texts, without),
        **mt_texts.other_texts(corpus, texts),
    }


_FOREIGN = re.compile("<(srcset|refset)")
_ATTRIBUTE = re.compile(r"<tstset\s+\w")


def sniff(source: Source) -> bool:
    """Whether the first XML file is mteval of a system, named as LTF or without attributes."""
    first = source_files.with_suffix(source, ".xml")[:1]
    begin = source_files.head_of_first(first)
    plain = any(file.basename.endswith(SUFFIX) for file in first) or not _ATTRIBUTE.search(begin)
    return plain and "<mteval" in begin and not _FOREIGN.search(begin)


def read(source: Source, role: str = mt_texts.SYSTEM) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names.

    Args:
        source: the files.
        role: of their texts, `system` or `reference`: the form is the same for both.
    """
    for files in source_files.batches(source, FORMAT.name, SUFFIX):
        documents: dict[str, int] = {}
        texts: Rows = []
        findings: list[Finding] = []
        for origin, _, text in files.texts:
            problems = list(_file(text, origin, files, documents, texts))
            findings += xml.located_findings(text, problems, files.members[origin])
        rows = [(origin, name) for name, origin in documents.items()]
        columns = ("document", "origin", "record", "segment", "text")
        corpus = Corpus(
            sources=files.sources,
            documents=table_of("documents", rows, ("origin", "name")),
            translations=table_of("translations", texts, columns).with_columns(role=pl.lit(role)),
        )
        yield ReadResult(corpus, (*files.findings, *findings), tuple(files.members))


def _file(
    text: str, origin: int, files: FileBatch, documents: dict[str, int], texts: Rows
) -> Iterator[xml.Named]:
    """Add the document and the texts of a file; yield the problems with it.

    A document that another file has too is skipped with its segments.
    """
    member, skipped, docs = files.members[origin], set[int](), list[Element]()
    found = examine(text, "lorehlt-mt", member.encoding)
    prolog = doctype_problem(text, found.parsed, _DOCTYPE, missing="MTF104", other="MTF104")
    yield from ((problem, None) for problem in (*prolog, *found.problems))
    for element in found.elements:
        own = element.attributes
        if element.tag == "tstset":  # LoReHLT has no attributes of it
            for key, value in own.items():
                yield element.problem("MTF101", key, attribute=key, given=value[:40]), None
        elif element.tag == "doc":
            docs.append(element)
            name = member.document(own.get("docid", ""))
            if name in documents:
                other = files.members[documents[name]].display
                skipped.add(element.ordinal)
                yield element.problem("MTF103", "docid", name=name, other=other), name
            else:
                documents[name] = origin
        elif element.tag == "seg" and element.parent and element.parent.ordinal not in skipped:
            place = (len(documents) - 1, origin, element.ordinal)
            texts.append((*place, own.get("id", ""), element.text))
    for second in docs[1:2]:
        yield second.problem("MTF102"), second.attributes.get("docid", "")


def write(corpora: Iterable[Corpus], path: Path, role: str = mt_texts.SYSTEM) -> None:
    """The translations as a folder of files, with the names of the original files of this format.

    Args:
        corpora: the documents.
        path: the folder.
        role: which texts are written; of several sets the first.
    """
    source_files.write_files((file for corpus in corpora for file in as_files(corpus, role)), path)


FORMAT = declaration(__name__)

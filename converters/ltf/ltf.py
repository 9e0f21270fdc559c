r"""LTF: documents as segments and tokens with offsets, as in LDC's language packs.

Format:
    XML as defined in grammars/ltf.rng, one file `<document>.ltf.xml` per document: DOC, TEXT, SEG
    with ORIGINAL_TEXT and TOKENs. Written in LDC's layout, one element per line, with only `&`, `<`
    and `>` escaped. DOC has the length and MD5 digest of the annotated text.

Conventions:
    `start_char` and `end_char` are 0-based code points of the document's text; the end is inclusive
    (exclusive in the tables). The text is rebuilt from the segments; gaps between them are filled
    with line feeds. A record is an element, counted by start tags from 1.

Example lines:
    <SEG id="segment-0" start_char="1" end_char="5">
    <ORIGINAL_TEXT>AT&amp;T?</ORIGINAL_TEXT>
    <TOKEN id="token-0-0" pos="unknown" morph="none" start_char="1" end_char="4">AT&amp;T</TOKEN>
    <TOKEN id="token-0-1" pos="punct" morph="none" start_char="5" end_char="5">?</TOKEN>
    </SEG>

Codes raised: XML1xx, LTF1xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from hlteval.converters.format import Format, ReadResult
from hlteval.converters.ltf.files import SUFFIX, as_files, lost
from hlteval.converters.ltf.tables import SCHEMAS, Rows, bulk, corpus, frames
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.source_files import beginning, head
from hlteval.findings import FieldRef, Location, Problem, finding, spot
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_elements import Element, Parsed, examine, problem_at
from hlteval.syntax.xml_places import locate_elements, located_findings

_NUMBER = re.compile("[0-9]{1,9}")
_DTD = "ltf.v1.5.dtd"
#: Attributes without a column in any table.
_OWN = {"SEG": ("start_token", "end_token"), "TOKEN": ("attach", "gloss")}

#: A problem with the identifier of its element.
Named = tuple[Problem, str | None]


def read_elements(text: str, origin: int, stem: str, encoding: str) -> tuple[Rows, list[Named]]:
    """The rows of the tables of a file of any layout, and the problems with it.

    This is the reference reader; `bulk` gives the same tables for the usual layout.

    Args:
        text: the file.
        origin: its number.
        stem: its name without suffixes, for a document without an id.
        encoding: the encoding that it was read in.

    Examples:
        >>> file = "<LCTL_TEXT><DOC id='d'/></LCTL_TEXT>"
        >>> rows, problems = read_elements(file, 0, "d", "utf-8")
        >>> rows["documents"], [problem.code for problem, _ in problems]
        ([(0, 2, 2, 'd')], ['LTF101', 'XML106'])
    """
    found = examine(text, "ltf", encoding)
    problems: list[Named] = [
        (problem, None) for problem in (*_doctype_problems(text, found.parsed), *found.problems)
    ]
    parts = _parts(found.elements)
    texts: dict[int, str] = {}  # the first one of each segment
    for element in found.elements:
        if element.tag == "ORIGINAL_TEXT" and element.parent:
            texts.setdefault(element.parent.ordinal, element.text)
    rows: dict[str, list[tuple[object, ...]]] = {name: [] for name in SCHEMAS}
    holder = segment = 0
    for element in found.elements:
        tag, pairs = element.tag, element.attributes
        name = pairs.get("id")
        if tag == "DOC":
            holder = element.ordinal
            key = (origin, element.ordinal, holder)
            root = None if rows["documents"] else element.parent
            rows["documents"].append((*key, stem if name is None else name))
            if root:  # its attributes are those of its first document
                place = (origin, root.ordinal, holder, root.tag)
                rows["attributes"] += [(*place, *pair) for pair in root.attributes.items()]
            rows["attributes"] += [(*key, tag, *pair) for pair in pairs.items()]
            continue
        key = (origin, element.ordinal, holder)
        if tag in {"DATELINE", "AUTHORLINE"}:
            part = f"{tag} {parts[element.ordinal]}"
            rows["attributes"].append((*key, part, "text", element.text))
        if tag not in _OWN:
            continue
        if tag == "SEG":
            segment = element.ordinal
        rows["attributes"] += [(*key, tag, n, pairs[n]) for n in _OWN[tag] if n in pairs]
        pos = pairs.get("pos")
        if problem := _offset_problem(element):
            problems.append((problem, name))
            kind = "segment" if tag == "SEG" else "token"
            columns = (problem.start + 1, problem.end + 1)
            rejected = (*key, problem.code, kind, name, pos, element.text, *columns, "offsets")
            rows["rejected_records"].append(rejected)
            continue
        start, end = int(pairs["start_char"]), int(pairs["end_char"]) + 1
        if tag == "SEG":
            own = (name, start, end, texts.get(segment), parts[segment])
            rows["segments"].append((*key, *own))
        else:
            own = (segment, name, start, end, element.text, pos, pairs.get("morph"))
            rows["tokens"].append((*key, *own))
    return rows, problems


def _doctype_problems(text: str, parsed: Parsed) -> Iterator[Problem]:
    """The problem with the document type of a file, if it is one of LTF."""
    if not parsed.elements or parsed.elements[0].tag != "LCTL_TEXT":
        return
    doctype = parsed.doctype
    if doctype is None:
        yield parsed.elements[0].problem("LTF101")
    elif (doctype.root, doctype.system) != ("LCTL_TEXT", _DTD):
        place = spot(text, text.find("<!DOCTYPE"))
        given = f"{doctype.root} {doctype.system}"[:80]
        yield problem_at("LTF102", place.line, place.column, given=given)


def _offset_problem(element: Element) -> Problem | None:
    """The problem with the offsets of a segment or token, if there is one."""
    for name in ("start_char", "end_char"):
        given = element.attributes.get(name)
        if given is None:
            return element.problem("LTF103", attribute=name)
        if not _NUMBER.fullmatch(given):
            given = given[:40] or "(empty)"
            return element.problem("LTF104", name, attribute=name, given=given)
    return None


def _parts(elements: list[Element]) -> dict[int, str | None]:
    """The part of the document that contains each element; for a part itself, its number.

    None means the usual part, a single TEXT with segments directly below.
    """
    children: dict[int, list[Element]] = {}
    for element in elements:
        if element.parent is not None:
            children.setdefault(element.parent.ordinal, []).append(element)
    named: dict[int, str | None] = {}
    for document in (element for element in elements if element.tag == "DOC"):
        parts = children.get(document.ordinal, [])
        for number, part in enumerate(parts, start=1):
            name = f"{part.tag} {number}"
            usual = None if len(parts) == 1 and part.tag == "TEXT" else name
            named[part.ordinal] = str(number)
            paragraph = 0
            for element in children.get(part.ordinal, []):
                if element.tag == "SEG":
                    named[element.ordinal] = usual
                elif element.tag == "P":
                    paragraph += 1
                    for segment in children.get(element.ordinal, []):
                        named[segment.ordinal] = f"{name} P {paragraph}"
    return named


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The files of each document, by their name without `.ltf.xml`."""
    return source_files.documents(source, SUFFIX)


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or the only file the root element of LTF.

    Translations have the names of the files that were translated, but another root element.
    """
    named = next((file for file in source.members if file.basename.endswith(SUFFIX)), None)
    return "<LCTL_TEXT" in head(source) if named is None else "<mteval" not in beginning(named)


def read(source: Source) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    for files in source_files.batches(source, FORMAT.name, SUFFIX):
        tables, accepted = bulk([(origin, text) for origin, _, text in files.texts])
        others, findings = dict[str, list[tuple[object, ...]]](), list(files.findings)
        for origin, stem, text in files.texts:
            if origin not in accepted:
                member = files.members[origin]
                rows, problems = read_elements(text, origin, stem, member.encoding)
                for name, some in rows.items():
                    others.setdefault(name, []).extend(some)
                findings += located_findings(text, problems, member)
        if others:
            tables = {
                name: pl.concat([tables[name], table]).sort("origin", "record", maintain_order=True)
                for name, table in frames(others).items()
            }
        documents = files.named(tables["documents"])
        first: dict[str, tuple[int, str]] = {}
        for row, (origin, name) in enumerate(documents.select("origin", "name").iter_rows()):
            file = files.members[origin].display
            earlier = first.setdefault(name, (row, file))
            if earlier[0] != row:
                values = {"name": name, "other": earlier[1]}
                findings.append(finding("LTF105", file=file, record=name, **values))
        kept = {**tables, "documents": documents[[row for row, _ in first.values()]]}
        yield ReadResult(corpus(files.sources, kept), tuple(findings), tuple(files.members))


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of elements; a field is an attribute, or `text` for the text after the tag."""
    return locate_elements(member, places)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The documents as a folder of files, with the names of the original files of this format.

    A text without segments is split into lines, and these into tokens (segmentation.py).
    """
    source_files.write_files((file for corpus in corpora for file in as_files(corpus)), path)


FORMAT = Format(
    name="ltf",
    title="LTF: segments and tokens, one XML file per document",
    suffixes=(SUFFIX,),
    layout="per_document",
    separable=True,
    words={
        "segments": "SEG element",
        "tokens": "TOKEN element",
        "attributes": "XML attribute",
        "documents.language": "lang attribute",
        "segments.name": "SEG id",
        "segments.text": "ORIGINAL_TEXT element",
        "segments.part": "HEADLINE, TEXT or P element",
        "tokens.name": "TOKEN id",
        "tokens.pos": "pos attribute",
        "tokens.morph": "morph attribute",
        "rejected_records": "unreadable element",
    },
    carries=(
        *("sources", "documents", "segments", "tokens", "attributes"),
        *("documents.text", "documents.language", "segments.name", "segments.text"),
        *("segments.part", "tokens.name", "tokens.pos", "tokens.morph"),
    ),
    sniff=sniff,
    documents=documents,
    read=read,
    repeated_code="LTF105",
    codes=("LTF101", "LTF102", "LTF103", "LTF104", "LTF105", "XML"),
    locate=locate,
    write=write,
    count_losses=lost,
    known_losses="layout of files not in LDC's layout; comments and anything outside the schema",
)

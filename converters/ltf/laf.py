r"""LAF: typed spans of documents, such as names, as standoff annotation of LTF.

Format:
    XML as defined in grammars/laf.rng, one file `<document>.laf.xml` per document: ANNOTATIONs with
    an EXTENT. The type is an attribute, or in older files an element TAG; it is written as an
    attribute.

Conventions:
    `start_char` and `end_char` are 0-based code points of the document's text; the end is inclusive
    (exclusive in the tables). A record is an element, counted by start tags from 1.

Example lines:
    <ANNOTATION id="ann-0" task="NE" type="GPE">
    <EXTENT start_char="9" end_char="16">Toshkent</EXTENT>
    </ANNOTATION>

Codes raised: XML1xx, LAF1xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.ltf.files import writable_offsets
from hlteval.converters.ltf.tables import DECLARATION
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import keyed
from hlteval.converters.toolkit.source_files import FileBatch, head
from hlteval.findings import FieldRef, Finding, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_elements import Element, Malformed, structure
from hlteval.syntax.xml_places import (
    ABSENT,
    attribute,
    attributes,
    content,
    locate_elements,
    located_findings,
    start_tag,
)

# Writes a corpus as LAF files.


SUFFIX = ".laf.xml"
DOCTYPE = '<!DOCTYPE LCTL_ANNOTATIONS SYSTEM "laf.v1.2.dtd">'
#: The task of annotations from other formats: named entities.
_TASK = "NE"
_ELEMENTS = ("LCTL_ANNOTATIONS", "DOC", "ANNOTATION")


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The name and content of every file, also of documents without mentions."""
    output_paths = source_files.output_paths(corpus, "laf", SUFFIX, shared=True)
    without = _unwritable(corpus)
    lines = dict(_annotations(corpus).iter_rows())
    languages = {
        (document, element): value
        for document, element, value in corpus.attributes.filter(name="lang")
        .select("document", "element", "value")
        .iter_rows()
    }
    known = set(corpus.attributes.filter(pl.col("element").is_in(_ELEMENTS))["document"])
    files: dict[str, list[tuple[int, str, str | None]]] = {}
    for row, name, language in corpus.documents.select("row", "name", "language").iter_rows():
        if row in output_paths and row not in without:
            default = None if row in known else language
            files.setdefault(output_paths[row], []).append((row, name, default))
    for path, rows in files.items():
        root = languages.get((rows[0][0], "LCTL_ANNOTATIONS"), rows[0][2])
        body = ""
        for row, name, default in rows:
            own = [("id", name), ("lang", languages.get((row, "DOC"), default))]
            body += f"<DOC{attributes(own)}>\n{lines.get(row, '')}</DOC>\n"
        head = f"{DECLARATION}\n{DOCTYPE}\n<LCTL_ANNOTATIONS{attributes([('lang', root)])}>\n"
        yield path, f"{head}{body}</LCTL_ANNOTATIONS>\n"


def _annotations(corpus: Corpus) -> pl.DataFrame:
    """The annotations of each document as lines: `document`, `line`."""
    place = ["document", "origin", "record"]
    tasks = corpus.attributes.filter(element="ANNOTATION", name="task")
    tasks = tasks.select(*place, task="value").unique(place, keep="first")
    texts = corpus.documents.select(document="row", whole="text")
    written = corpus.mentions.filter(writable_offsets())
    mentions = written.join(tasks, on=place, how="left", maintain_order="left")
    mentions = mentions.join(texts, on="document", how="left", maintain_order="left")
    cut = pl.col("whole").str.slice(
        pl.col("start"), (pl.col("end") - pl.col("start")).clip(lower_bound=0)
    )
    own = pl.col("format") == "laf"
    mentions = mentions.join(
        corpus.sources.select("format", origin="row"), on="origin", maintain_order="left"
    )
    mentions = mentions.with_columns(
        text=pl.coalesce("text", cut, pl.lit("")),
        task=pl.when(own).then(pl.col("task")).otherwise(pl.lit(_TASK)),
        id="mention",
        type="label",
        start_char="start",
        end_char=pl.col("end") - 1,
    )
    line = pl.concat_str(
        start_tag(
            "ANNOTATION", attribute("id", "mention"), attribute("task"), attribute("type", "label")
        ),
        pl.concat_str(
            start_tag("EXTENT", attribute("start_char"), attribute("end_char")),
            content("text"),
            pl.lit("</EXTENT>"),
        ),
        pl.lit("</ANNOTATION>\n"),
        separator="\n",
    )
    return mentions.group_by("document", maintain_order=True).agg(line.str.join(""))


def _unwritable(corpus: Corpus) -> set[int]:
    named = corpus.documents.select("row", "name").iter_rows()
    found = pl.any_horizontal(pl.col("mention", "label", "text").str.contains(ABSENT))
    attributes = corpus.attributes.filter(pl.col("element").is_in(_ELEMENTS))
    silent = corpus.mentions.filter(pl.col("text").is_null())["document"].implode()
    texts = corpus.documents.filter(
        pl.col("text").str.contains(ABSENT), pl.col("row").is_in(silent)
    )
    return {
        *texts["row"],
        *(row for row, name in named if re.search(ABSENT, name)),
        *corpus.documents.filter(pl.col("language").str.contains(ABSENT))["row"],
        *attributes.filter(pl.col("value").str.contains(ABSENT))["document"],
        *corpus.mentions.filter(found)["document"],
    }


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the files cannot represent."""
    foreign = ~pl.col("element").is_in(_ELEMENTS) | ~pl.col("name").is_in(["lang", "task"])
    return {
        **source_files.count_without_file(corpus, "laf", SUFFIX, shared=True),
        "mentions with invalid offsets": corpus.mentions.filter(~writable_offsets()).height,
        "documents with characters not allowed in XML": len(_unwritable(corpus)),
        "attributes of other formats": corpus.attributes.filter(foreign).height,
    }


_NUMBER = re.compile("[0-9]{1,9}")
_PLACE = ("document", "origin", "record")
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "documents": ("origin", "name", "language"),
    "mentions": (*_PLACE, "mention", "label", "start", "end", "text"),
    "attributes": (*_PLACE, "element", "name", "value"),
    "rejected_records": (
        *_PLACE,
        *("code", "kind", "id", "label", "text", "column", "end_column", "expected"),
    ),
}


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or the only file the root element of LAF."""
    return source_files.has_suffix(source, SUFFIX) or "<LCTL_ANNOTATIONS" in head(source)


def read(source: Source) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    for files in source_files.batches(source, FORMAT.name, SUFFIX):
        batch = _Batch(files)
        for file in files.texts:
            batch.take(*file)
        yield ReadResult(batch.corpus(), (*files.findings, *batch.findings), tuple(files.members))


class _Batch:
    """The rows of each table, and the findings, of the files of a batch."""

    def __init__(self, files: FileBatch) -> None:
        self.files = files
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in _COLUMNS}
        self.known: dict[str, int] = {}
        self.findings: list[Finding] = []
        self.place = (0, 0, 0)

    def corpus(self) -> Corpus:
        tables = {name: keyed(name, rows, _COLUMNS[name]) for name, rows in self.rows.items()}
        return Corpus(sources=self.files.sources, **tables)

    def take(self, origin: int, stem: str, text: str) -> None:
        """Add the rows and findings of a file."""
        member = self.files.members[origin]
        problems: list[tuple[Problem, str | None]] = []
        try:
            found = structure(text, "laf", member.encoding)
        except Malformed as reason:
            problems.append((reason.problem, None))
        else:
            problems += [(problem, None) for problem in found.problems]
            tags = {
                element.parent.ordinal: element.text
                for element in found.elements
                if element.tag == "TAG" and element.parent
            }
            for element in found.elements:
                if element.tag == "DOC":
                    self.document(element, origin, stem)
                elif element.tag == "EXTENT" and element.parent:
                    problems += self.mention(element, element.parent, tags)
        self.findings += located_findings(text, problems, member)

    def document(self, element: Element, origin: int, stem: str) -> None:
        """Add a document, or continue one that an earlier file began."""
        own = element.attributes.get("id")
        name = stem if own is None else self.files.members[origin].document(own)
        root = element.parent.attributes if element.parent else {}
        self.known.setdefault(name, len(self.known))
        self.place = (self.known[name], origin, element.ordinal)
        if self.known[name] == len(self.rows["documents"]):
            language = element.attributes.get("lang", root.get("lang"))
            self.rows["documents"].append((origin, name, language))
            self.attributes(element, "DOC", ("lang",))
            if element.parent:
                self.attributes(element.parent, "LCTL_ANNOTATIONS", ("lang",))

    def attributes(self, element: Element, of: str, names: Sequence[str]) -> None:
        document, origin, _ = self.place
        self.rows["attributes"] += [
            (document, origin, element.ordinal, of, name, element.attributes[name])
            for name in names
            if name in element.attributes
        ]

    def mention(
        self, extent: Element, annotation: Element, tags: Mapping[int, str]
    ) -> Iterator[tuple[Problem, str | None]]:
        """Add an annotation; yield the problems with it."""
        document, origin, _ = self.place
        name = annotation.attributes.get("id", "")
        label = annotation.attributes.get("type", tags.get(annotation.ordinal, "").strip())
        key = (document, origin, annotation.ordinal)
        self.attributes(annotation, "ANNOTATION", ("task",))
        if not label:
            yield annotation.problem("LAF102"), name
        offsets = []
        for field in ("start_char", "end_char"):
            given = extent.attributes.get(field, "")
            if not _NUMBER.fullmatch(given):
                shown = given[:40] or "(empty)"
                problem = extent.problem("LAF101", field, attribute=field, given=shown)
                columns = (problem.start + 1, problem.end + 1)
                reason = ("LAF101", "mention", name, label, extent.text, *columns, "offsets")
                self.rows["rejected_records"].append((*key, *reason))
                if field in extent.attributes:
                    yield problem, name
                return
            offsets.append(int(given))
        self.rows["mentions"].append((*key, name, label, offsets[0], offsets[1] + 1, extent.text))


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of elements; a field is an attribute, or `text` for the text after the tag.

    The offsets and the text of an annotation are those of its EXTENT.
    """
    shown = {"start_char", "end_char", "text"}
    moved = [FieldRef(place.record + (place.field in shown), place.field) for place in places]
    return locate_elements(member, moved)


FORMAT = declaration(__name__)

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

import re
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.ltf.tables import DECLARATION, documents_with, with_texts, writable_offsets
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import DocumentRows, read_rows
from hlteval.converters.toolkit.source_files import head
from hlteval.findings import FieldRef, Location
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_elements import Element, examine
from hlteval.syntax.xml_places import (
    ABSENT,
    Named,
    attribute,
    attributes,
    content,
    locate_elements,
    located_findings,
    start_tag,
)

SUFFIX = ".laf.xml"
DOCTYPE = '<!DOCTYPE LCTL_ANNOTATIONS SYSTEM "laf.v1.2.dtd">'
#: The task of annotations from other formats: named entities.
_TASK = "NE"
_ELEMENTS = ("LCTL_ANNOTATIONS", "DOC", "ANNOTATION")
_NUMBER = re.compile("[0-9]{1,9}")


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or the only file the root element of LAF."""
    return source_files.has_suffix(source, SUFFIX) or "<LCTL_ANNOTATIONS" in head(source)


def read(source: Source) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    return read_rows(source, FORMAT.name, SUFFIX, _take)


def _take(rows: DocumentRows, origin: int, stem: str, text: str) -> None:
    """Add the rows and findings of a file."""
    member = rows.files.members[origin]
    found = examine(text, "laf", member.encoding)
    problems: list[Named] = [(problem, None) for problem in found.problems]
    tags = {e.parent.ordinal: e.text for e in found.elements if e.tag == "TAG" and e.parent}
    for element in found.elements:
        if element.tag == "DOC":
            own, root = element.attributes.get("id"), element.parent
            name = stem if own is None else member.document(own)
            places = {"DOC": element, **({"LCTL_ANNOTATIONS": root} if root else {})}
            languages = {
                tag: {"record": place.ordinal, "value": place.attributes["lang"]}
                for tag, place in places.items()
                if "lang" in place.attributes
            }
            first = next((each["value"] for each in languages.values()), None)
            if rows.begin(origin, name, language=first):
                for tag, own_row in languages.items():
                    rows.add("attributes", {"element": tag, "name": "lang", **own_row})
        elif element.tag == "EXTENT" and element.parent:
            tag = tags.get(element.parent.ordinal, "").strip()
            problems += _mention(rows, element, element.parent, tag)
    rows.findings += located_findings(text, problems, member)


def _mention(rows: DocumentRows, extent: Element, annotation: Element, tag: str) -> Iterator[Named]:
    """Add an annotation, whose type may be a tag; the problems with it."""
    given, record = annotation.attributes, annotation.ordinal
    name, label = given.get("id", ""), given.get("type", tag)
    if "task" in given:
        task = {"record": record, "element": "ANNOTATION", "name": "task", "value": given["task"]}
        rows.add("attributes", task)
    if not label:
        yield annotation.problem("LAF102"), name
    for field in ("start_char", "end_char"):
        offset = extent.attributes.get(field, "")
        if not _NUMBER.fullmatch(offset):
            values = {"attribute": field, "given": offset[:40] or "(empty)"}
            problem = extent.problem("LAF101", field, **values)
            own = {"expected": "offsets", "id": name, "label": label, "record": record}
            rows.add("rejected_records", problem.rejection("mention", extent.text) | own)
            if field in extent.attributes:
                yield problem, name
            return
    mention: dict[str, object] = {
        "record": record,
        "mention": name,
        "label": label,
        "start": int(extent.attributes["start_char"]),
        "end": int(extent.attributes["end_char"]) + 1,
        "text": extent.text,
    }
    rows.add("mentions", mention)


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of elements; a field is an attribute, or `text` for the text after the tag.

    The offsets and the text of an annotation are those of its EXTENT.
    """
    shown = {"start_char", "end_char", "text"}
    moved = [FieldRef(place.record + (place.field in shown), place.field) for place in places]
    return locate_elements(member, moved)


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The name and content of every file, also of documents without mentions."""
    paths = source_files.output_paths(corpus, "laf", SUFFIX, shared=True)
    without, lines = _unwritable(corpus), dict(_annotations(corpus).iter_rows())
    languages: dict[tuple[int, str], str] = {}
    tagged = corpus.attributes.filter(name="lang").select("document", "element", "value")
    for document, element, value in tagged.iter_rows():
        languages[document, element] = value
    known = set(corpus.attributes.filter(pl.col("element").is_in(_ELEMENTS))["document"])
    files: dict[str, list[str]] = {}
    for row, name, language in corpus.documents.select("row", "name", "language").iter_rows():
        if row not in paths or row in without:
            continue
        default = None if row in known else language
        if paths[row] not in files:
            root = attributes([("lang", languages.get((row, "LCTL_ANNOTATIONS"), default))])
            files[paths[row]] = [f"{DECLARATION}\n{DOCTYPE}\n<LCTL_ANNOTATIONS{root}>\n"]
        own = attributes([("id", name), ("lang", languages.get((row, "DOC"), default))])
        files[paths[row]].append(f"<DOC{own}>\n{lines.get(row, '')}</DOC>\n")
    for path, parts in files.items():
        yield path, "".join([*parts, "</LCTL_ANNOTATIONS>\n"])


def _annotations(corpus: Corpus) -> pl.DataFrame:
    """The annotations of each document as lines: `document`, `line`."""
    place = ["document", "origin", "record"]
    tasks = corpus.attributes.filter(element="ANNOTATION", name="task")
    tasks = tasks.select(*place, task="value").unique(place, keep="first")
    formats = corpus.sources.select("format", origin="row")
    mentions = with_texts(corpus, corpus.mentions.filter(writable_offsets()))
    mentions = mentions.join(tasks, on=place, how="left", maintain_order="left")
    mentions = mentions.join(formats, on="origin", maintain_order="left")
    is_laf = pl.col("format") == "laf"
    mentions = mentions.with_columns(
        text=pl.col("text").fill_null(""),
        task=pl.when(is_laf).then(pl.col("task")).otherwise(pl.lit(_TASK)),
        end=pl.col("end") - 1,
    )
    names = (attribute("id", "mention"), attribute("task"), attribute("type", "label"))
    offsets = (attribute("start_char", "start"), attribute("end_char", "end"))
    line = pl.concat_str(
        *(start_tag("ANNOTATION", *names), pl.lit("\n")),
        *(start_tag("EXTENT", *offsets), content("text"), pl.lit("</EXTENT>\n</ANNOTATION>\n")),
    )
    return mentions.group_by("document", maintain_order=True).agg(line.str.join(""))


def _unwritable(corpus: Corpus) -> set[int]:
    """The documents with characters that XML cannot hold."""
    documents = corpus.documents.with_columns(document="row")
    silent = corpus.mentions.filter(pl.col("text").is_null())["document"].implode()
    own = corpus.attributes.filter(pl.col("element").is_in(_ELEMENTS))
    return {
        *documents_with(ABSENT, documents, "name", "language"),
        *documents_with(ABSENT, documents.filter(pl.col("row").is_in(silent)), "text"),
        *documents_with(ABSENT, own, "value"),
        *documents_with(ABSENT, corpus.mentions, "mention", "label", "text"),
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


FORMAT = declaration(__name__)

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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from hlteval.converters.format import Format, ReadResult
from hlteval.converters.ltf.bulk import bulk
from hlteval.converters.ltf.elements import element_rows
from hlteval.converters.ltf.files import SUFFIX, as_files, lost
from hlteval.converters.ltf.tables import Tables, corpus
from hlteval.converters.toolkit import per_document
from hlteval.converters.toolkit.per_document import FileBatch
from hlteval.converters.toolkit.single_file import beginning, head
from hlteval.findings import FieldRef, Finding, Location, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_places import locate_elements, located_findings


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The files of each document, by their name without `.ltf.xml`."""
    return per_document.documents(source, SUFFIX)


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or the only file the root element of LTF.

    Translations have the names of the files that were translated, but another root element.
    """
    named = next((file for file in source.members if file.basename.endswith(SUFFIX)), None)
    return "<LCTL_TEXT" in head(source) if named is None else "<mteval" not in beginning(named)


def read(source: Source) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    for files in per_document.batches(source, FORMAT.name, SUFFIX):
        bulk_tables, accepted = bulk([(origin, text) for origin, _, text in files.texts])
        others, findings = dict[str, list[tuple[object, ...]]](), list(files.findings)
        for origin, stem, text in files.texts:
            if origin not in accepted:
                member = files.members[origin]
                rows, problems = element_rows(text, origin, stem, member.encoding)
                for name, some in rows.items():
                    others.setdefault(name, []).extend(some)
                findings += located_findings(text, problems, member)
        parts = [bulk_tables]
        if len(accepted) < len(files.texts):
            parts.append(Tables.of(**others))
        tables = Tables.concat(parts)
        documents = files.named(tables.documents)
        first, repeated = _repeated(documents, files)
        tables = tables._replace(documents=documents.filter(first))
        findings += repeated
        yield ReadResult(corpus(files.sources, tables), tuple(findings), tuple(files.members))


def _repeated(documents: pl.DataFrame, files: FileBatch) -> tuple[pl.Series, list[Finding]]:
    """Whether each document is the first of its name, and the findings about the others.

    Args:
        documents: those of a batch.
        files: the files of the batch.
    """
    first, findings = list[bool](), list[Finding]()
    places: dict[str, tuple[str, int]] = {}
    for origin, record, name in documents.select("origin", "record", "name").iter_rows():
        file = files.members[origin].display
        earlier = places.setdefault(name, (file, record))
        first.append(earlier == (file, record))
        if not first[-1]:
            values = {"name": name, "other": earlier[0]}
            findings.append(finding("LTF105", file=file, record=name, **values))
    return pl.Series(first, dtype=pl.Boolean), findings


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of elements; a field is an attribute, or `text` for the text after the tag."""
    return locate_elements(member, places)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The documents as a folder of files, with the names of the original files of this format.

    A text without segments is split into lines, and these into tokens (segmentation.py).
    """
    per_document.write_files((file for corpus in corpora for file in as_files(corpus)), path)


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

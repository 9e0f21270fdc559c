r"""RSD: the raw text of each document of a language pack.

Format:
    One UTF-8 file `<document>.rsd.txt` per document, which contains only the text.

Conventions:
    Offsets of annotations are 0-based code points. When written as LTF, each line becomes a segment
    and is tokenized.

Example lines:
    Emlashni birinchi kim boshlagan?

Codes raised: RSD1xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from hlteval.converters.format import Format, ReadResult
from hlteval.converters.toolkit import per_document
from hlteval.converters.toolkit.per_document import Files
from hlteval.findings import FieldRef, Finding, Location, Span, excerpt, finding, spot
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source, decode

SUFFIX = ".rsd.txt"
UNWRITABLE = "[\x00-\x08\x0b-\x1f\ufffe\uffff]"
"""What XML cannot hold, and carriage returns, which it turns into line feeds."""


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The file of each document, by its name without `.rsd.txt`."""
    return per_document.documents(source, SUFFIX)


def sniff(source: Source) -> bool:
    """Whether a file is named so."""
    return per_document.named(source, SUFFIX)


def read(source: Source) -> Iterator[ReadResult]:
    """The texts of a source in batches, in the order of their names."""
    for files in per_document.batches(source, FORMAT.name, SUFFIX):
        told = [fault for origin, _, text in files.texts for fault in _faults(files, origin, text)]
        yield ReadResult(texts(files), (*files.findings, *told), tuple(files.members))


def texts(files: Files) -> Corpus:
    """A corpus of files that are texts; where two have a name, of the first."""
    rows = {name: (origin, name, text) for origin, name, text in reversed(files.texts)}
    schema = {name: TABLES["documents"].schema[name] for name in ("origin", "name", "text")}
    table = pl.DataFrame(list(rows.values())[::-1], schema=schema, orient="row")
    return Corpus(
        sources=files.sources,
        documents=table.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *schema),
    )


def _faults(files: Files, origin: int, text: str) -> Iterator[Finding]:
    """The first character that LTF cannot hold, with how many there are."""
    found = re.search(UNWRITABLE, text)
    if found:
        span = spot(text, found.start())
        line = text.split("\n", span.line)[span.line - 1]
        yield finding(
            "RSD101",
            file=files.members[origin].display,
            span=span,
            excerpt=excerpt(line, span),
            character=f"U+{ord(found[0]):04X}",
            count=len(re.findall(UNWRITABLE, text)),
        )


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """Lines of a file; a record is a line."""
    decoded = decode(member.fetch(), display=member.display, encoding=member.encoding)
    lines = (decoded.text or "").split("\n")
    return [
        _line(lines[place.record - 1], place.record) if 1 <= place.record <= len(lines) else None
        for place in places
    ]


def _line(line: str, record: int) -> Location:
    span = Span(record, 1, len(line) + 1)
    return Location(span, excerpt(line, span))


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The texts as a folder of files, each as it is."""
    per_document.write((file for corpus in corpora for file in _files(corpus)), path)


def _files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    output_paths = per_document.output_paths(corpus, FORMAT.name, SUFFIX)
    for row, text in corpus.documents.drop_nulls("text").select("row", "text").iter_rows():
        if row in output_paths:
            yield output_paths[row], text


def lost(corpus: Corpus) -> Mapping[str, int]:
    """The documents that have no file."""
    return {
        **per_document.unnamed(corpus),
        "documents without a text": corpus.documents["text"].null_count(),
    }


FORMAT = Format(
    name="rsd",
    title="RSD: raw texts, one file per document",
    suffixes=(SUFFIX,),
    layout="per_document",
    carries=("sources", "documents", "documents.text"),
    sniff=sniff,
    documents=documents,
    read=read,
    locate=locate,
    write=write,
    count_losses=lost,
)

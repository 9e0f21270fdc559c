r"""SeeDev sentences: the sentence boundaries of each document.

Format:
    One line per sentence: document, tab, start, tab, end.

Conventions:
    Offsets are 0-based, half-open code points.

Example line:
    SeeDev-binary-11573014-4	0	33

Codes raised: SNT1xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from hlteval.converters.format import Format, ReadResult
from hlteval.converters.toolkit.single_file import File, head, located, readings
from hlteval.findings import FieldRef, Finding, Location, Span, excerpt, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source

_LINE = re.compile(r"([^\t]+)\t([0-9]{1,9})\t([0-9]{1,9})")


def sniff(source: Source) -> bool:
    """Whether it is a single file whose first line is of this form."""
    first = head(source, 1000).partition("\n")[0]
    return _LINE.fullmatch(first.removesuffix("\r")) is not None


def read(source: Source) -> Iterator[ReadResult]:
    """The sentences of all documents as segments of one corpus."""
    return readings(source, FORMAT.name, _read)


def _read(file: File) -> tuple[Corpus, Iterable[Finding]]:
    documents: dict[str, int] = {}
    segments: list[dict[str, object]] = []
    findings: list[Finding] = []
    for record, line in enumerate((file.text or "").split("\n"), start=1):
        match = _LINE.fullmatch(line.removesuffix("\r"))
        if match and int(match[2]) < int(match[3]):
            document = documents.setdefault(match[1], len(documents))
            segments.append(
                {"row": len(segments), "document": document, "origin": 0, "record": record,
                 "start": int(match[2]), "end": int(match[3])}
            )  # fmt: skip
        elif line.strip():
            span = Span(record, 1, len(line) + 1)
            findings.append(
                finding("SNT101", file=file.member.display, span=span, excerpt=excerpt(line, span))
            )
    corpus = Corpus(
        sources=[file.origin],
        documents=[{"row": row, "origin": 0, "name": name} for name, row in documents.items()],
        segments=segments,
    )
    return corpus, findings


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The lines of places of a file."""
    return located(member, places)


FORMAT = Format(
    name="seedev-sentences",
    title="SeeDev sentences: a table of document, start, end",
    suffixes=(".txt", ".tsv"),
    layout="single_file",
    carries=("sources", "documents", "segments", "segments.name"),
    sniff=sniff,
    read=read,
    locate=locate,
)

r"""SeeDev sentences: which stretches of each document are its sentences.

Format:
    A line per sentence: document, tab, start, tab, end.

Conventions:
    Offsets are 0-based and half-open in code points, as in the representation.

Example line:
    SeeDev-binary-11573014-4	0	33

Codes raised: SNT1xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hlteval.converters.format import Format, Located, Place, Reading
from hlteval.findings import Finding, Span, excerpt, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256

_LINE = re.compile(r"([^\t]+)\t([0-9]{1,9})\t([0-9]{1,9})")


def sniff(source: Source) -> bool:
    """Whether it is a single file whose first line is of this form."""
    if source.kind not in {"file", "stdin"} or not source.members:
        return False
    try:
        first = source.members[0].fetch()[:1000].partition(b"\n")[0]
    except Unreadable:
        return False
    return _LINE.fullmatch(first.decode("utf-8", "replace").removesuffix("\r")) is not None


def read(source: Source) -> Iterator[Reading]:
    """The sentences of all documents as segments of one corpus."""
    for member in source.members:
        try:
            data = member.fetch()
        except Unreadable as reason:
            yield Reading(Corpus(), (reason.finding,), (member,))
            continue
        decoded = decode(data, display=member.display, encoding=member.encoding)
        corpus, findings = _corpus(decoded.text or "", member, source.path, sha256(data))
        yield Reading(corpus, (*decoded.findings, *findings), (member,))


def _corpus(text: str, member: Member, path: str, digest: str) -> tuple[Corpus, list[Finding]]:
    documents: dict[str, int] = {}
    segments: list[dict[str, object]] = []
    findings: list[Finding] = []
    for record, line in enumerate(text.split("\n"), start=1):
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
                finding("SNT101", file=member.display, span=span, excerpt=excerpt(line, span))
            )
    corpus = Corpus(
        sources=[
            {"row": 0, "path": path, "member": member.name, "format": FORMAT.name, "sha256": digest}
        ],
        documents=[{"row": row, "origin": 0, "name": name} for name, row in documents.items()],
        segments=segments,
    )
    return corpus, findings


def locate(member: Member, places: Sequence[Place]) -> list[Located | None]:
    """The lines of places of a file."""
    lines = (
        decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    ).split("\n")
    spans = [Span(place.record, 1, len(lines[place.record - 1]) + 1) for place in places]
    return [Located(span, excerpt(lines[span.line - 1], span)) for span in spans]


FORMAT = Format(
    name="seedev-sentences",
    title="SeeDev sentences: a table of document, start, end",
    suffixes=(".txt", ".tsv"),
    carries=("sources", "documents", "segments", "segments.name"),
    sniff=sniff,
    read=read,
    locate=locate,
)

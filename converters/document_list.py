"""A list of documents: which ones a submission is for.

Format:
    An identifier a line; blank lines do not count.

Conventions:
    The order says nothing.

Example line:
    CHN_EVAL_096_004

Codes raised: DOC1xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hlteval.converters.format import Format, Located, Place, Reading
from hlteval.findings import Finding, Span, catalogue, excerpt, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256

_NAME = re.compile(r"[^\s,;:{}\[\]\"']+")


_LONG = 200
"""No identifier of a document has so many characters."""


def sniff(source: Source) -> bool:
    """Whether it is a single file of which the first lines are identifiers."""
    if source.kind not in {"file", "stdin"} or not source.members:
        return False
    try:
        head = source.members[0].fetch()[:4000].decode("utf-8", "replace")
    except Unreadable:
        return False
    if "\0" in head or "\ufffd" in head[:-1]:  # the last character may be cut
        return False
    lines = [line.strip() for line in head.split("\n")[:50] if line.strip()]
    return bool(lines) and all(len(line) < _LONG and _NAME.fullmatch(line) for line in lines)


def read(source: Source) -> Iterator[Reading]:
    """The documents, without anything on them."""
    for member in source.members:
        try:
            data = member.fetch()
        except Unreadable as reason:
            yield Reading(Corpus(), (reason.finding,), (member,))
            continue
        decoded = decode(data, display=member.display, encoding=member.encoding)
        names, findings = _names(decoded.text or "", member.display)
        corpus = Corpus(
            sources=[
                {"row": 0, "path": source.path, "member": member.name, "format": FORMAT.name,
                 "sha256": sha256(data)}
            ],
            documents=[
                {"row": row, "origin": 0, "name": name} for row, name in enumerate(names)
            ],
        )  # fmt: skip
        if "\r\n" in (decoded.text or ""):
            findings.append(finding("DOC103", file=member.display))
        yield Reading(corpus, (*decoded.findings, *findings), (member,))


def _names(text: str, display: str) -> tuple[list[str], list[Finding]]:
    names: dict[str, int] = {}
    findings: list[Finding] = []
    for record, written in enumerate(text.split("\n"), start=1):
        line = written.removesuffix("\r")
        name = line.strip()
        if not name:
            continue
        code = "DOC101" if not _NAME.fullmatch(name) else "DOC102" if name in names else ""
        names.setdefault(name, record)
        if code:
            span = Span(record, 1, len(line) + 1)
            values: dict[str, object] = {"name": name[:80], "first": names[name]}
            findings.append(
                catalogue()[code].finding(
                    values, file=display, span=span, excerpt=excerpt(line, span)
                )
            )
    return list(names), findings


def locate(member: Member, places: Sequence[Place]) -> list[Located | None]:
    """The lines of places of a file."""
    lines = (
        decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    ).split("\n")
    spans = [Span(place.record, 1, len(lines[place.record - 1]) + 1) for place in places]
    return [Located(span, excerpt(lines[span.line - 1], span)) for span in spans]


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The names of all documents."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for corpus in corpora:
            stream.writelines(f"{name}\n" for name in corpus.documents["name"])


FORMAT = Format(
    name="document-list",
    title="a list of documents: an identifier a line",
    suffixes=(".list",),
    carries=("sources", "documents"),
    sniff=sniff,
    read=read,
    locate=locate,
    write=write,
)

"""A document list: the documents of a submission.

Format:
    One document identifier per line; empty lines are ignored.

Conventions:
    The order has no meaning.

Example line:
    CHN_EVAL_096_004

Codes raised: DOC1xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hlteval.converters.format import Format, ReadResult
from hlteval.converters.toolkit.single_file import File, head, located, readings
from hlteval.findings import FieldRef, Finding, Location, Span, catalogue, excerpt, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source

_NAME = re.compile(r"[^\s,;:{}\[\]\"']+")


_LONG = 200
"""No identifier of a document has so many characters."""


def sniff(source: Source) -> bool:
    """Whether it is a single file of which the first lines are identifiers."""
    begin = head(source)
    if "\0" in begin or "\ufffd" in begin[:-1]:  # the last character may be cut
        return False
    lines = [line.strip() for line in begin.split("\n")[:50] if line.strip()]
    return bool(lines) and all(len(line) < _LONG and _NAME.fullmatch(line) for line in lines)


def read(source: Source) -> Iterator[ReadResult]:
    """The documents, without anything on them."""
    return readings(source, FORMAT.name, _read)


def _read(file: File) -> tuple[Corpus, Iterable[Finding]]:
    names, findings = _names(file.text or "", file.member.display)
    rows = [{"row": row, "origin": 0, "name": name} for row, name in enumerate(names)]
    if "\r\n" in (file.text or ""):
        findings.append(finding("DOC103", file=file.member.display))
    return Corpus(sources=[file.origin], documents=rows), findings


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


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The lines of places of a file."""
    return located(member, places)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The names of all documents."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for corpus in corpora:
            stream.writelines(f"{name}\n" for name in corpus.documents["name"])


FORMAT = Format(
    name="document-list",
    title="document list: one identifier per line",
    suffixes=(".list",),
    layout="single_file",
    carries=("sources", "documents"),
    sniff=sniff,
    read=read,
    locate=locate,
    write=write,
)

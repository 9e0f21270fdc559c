"""What formats share that keep each document in a file of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from hlteval.findings import Finding
from hlteval.representation import TABLES, Corpus
from hlteval.sources import (
    Member,
    Source,
    Unreadable,
    decode,
    is_file_name,
    sha256,
    stays_inside,
)

BATCH = 500
"""Most documents in a batch."""
_BYTES = 8_000_000
"""Bytes at which a batch is complete: more cost memory and gain no time."""


def documents(source: Source, suffix: str) -> Mapping[str, tuple[Member, ...]]:
    """The files of each document, by their name without a suffix; a single file has any name."""
    members = [member for member in source.members if member.basename.endswith(suffix)]
    if source.kind in {"file", "stdin"}:
        members = list(source.members)
    found: dict[str, list[Member]] = {}
    for member in members:
        found.setdefault(stem(member, suffix), []).append(member)
    return {name: tuple(found[name]) for name in sorted(found)}


def stem(member: Member, suffix: str) -> str:
    """The name of a document's file without its suffix, or without the last part of it.

    Examples:
        >>> stem(Member("ltf/d1.xml", "", 0, bytes), ".ltf.xml")
        'd1'
    """
    name = member.basename
    for end in (suffix, f".{suffix.rpartition('.')[2]}"):
        if name.endswith(end) and name != end:
            return name.removesuffix(end)
    return name


def named(source: Source, suffix: str) -> bool:
    """Whether a file has a suffix."""
    return any(member.basename.endswith(suffix) for member in source.members)


class Files:
    """What is collected over the files of a batch.

    Attributes:
        form: name of the format.
        texts: of each file that could be decoded: its number, its document, its text.
        members: the files by number.
        findings: what was wrong with them.
    """

    def __init__(self, path: str, form: str) -> None:
        self.path, self.form = path, form
        self.rows: list[tuple[object, ...]] = []
        self.texts: list[tuple[int, str, str]] = []
        self.members: list[Member] = []
        self.findings: list[Finding] = []

    @property
    def sources(self) -> pl.DataFrame:
        """The table of sources."""
        columns = ("row", "path", "member", "format", "sha256")
        schema = {name: TABLES["sources"].schema[name] for name in columns}
        return pl.DataFrame(self.rows, schema=schema, orient="row")

    def take(self, name: str, member: Member) -> int:
        """Add a file of a document; its size in bytes."""
        try:
            data = member.fetch()
        except Unreadable as reason:
            self.findings.append(reason.finding)
            return 0
        decoded = decode(data, display=member.display, encoding=member.encoding)
        self.findings += decoded.findings
        origin = len(self.rows)
        written = member.name or member.basename
        self.rows.append((origin, self.path, written, self.form, sha256(data)))
        self.members.append(member)
        if decoded.text is not None:
            self.texts.append((origin, name, decoded.text))
        return len(data)


def batches(source: Source, form: str, suffix: str) -> Iterator[Files]:
    """The files of a source, some hundred documents or megabytes at a time."""
    files, size, count = Files(source.path, form), 0, 0
    for name, members in documents(source, suffix).items():
        size += sum(files.take(name, member) for member in members)
        count += 1
        if count >= BATCH or size >= _BYTES:
            yield files
            files, size, count = Files(source.path, form), 0, 0
    if count:
        yield files


def write(files: Iterable[tuple[str, str]], folder: Path) -> None:
    """Files by name, as they are, in a folder that is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8", newline="")


def output_paths(corpus: Corpus, form: str, suffix: str) -> Mapping[int, str]:
    """The file of each document that a file can be named after.

    One that was read from a file of this format has that file again.
    """
    members = own_files(corpus, form)
    listed = corpus.documents.select("row", "origin", "name").iter_rows()
    return {
        row: members.get(origin, f"{name}{suffix}")
        for row, origin, name in listed
        if is_file_name(name)
    }


def own_files(corpus: Corpus, form: str) -> Mapping[int, str]:
    """The files of a format that a corpus was read from, by source; none that leads elsewhere."""
    read = corpus.sources.filter(pl.col("format") == form).select("row", "member")
    return {row: member for row, member in read.iter_rows() if stays_inside(member)}


def unnamed(corpus: Corpus) -> Mapping[str, int]:
    """The documents that have no file."""
    count = sum(not is_file_name(name) for name in corpus.documents["name"])
    return {"documents whose name is not a valid file name": count}

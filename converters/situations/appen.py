r"""Appen annotations of situation frames in speech: one text file per audio segment.

Format:
    `<root>/<pack>/ANNOTATION/<DocumentID>.txt`, or single files, folders and archives of them. Each
    file has any number of blocks of four or five lines; empty lines are ignored. A file without
    blocks is a segment without frames. The document identifier is the file name up to its first
    dot.

Conventions:
    A block with one type or at most one place expands to all combinations. A block with several
    types and several places is ambiguous: its frames have no place, and list the candidate places
    as arguments with the role `Place`. `n/a` and `out-of-domain` mean no situation.

Example lines:
    TYPE: Shelter, Utilities, Energy, or Sanitation
    TIME: Current
    Resolution: Insufficient/Unknown
    PLACE: አዲስ አበባ

Codes raised: APNxxx.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import polars as pl

from hlteval.converters.format import Format, ReadResult, Setting
from hlteval.converters.situations.appen_blocks import (
    KEYS,
    NONE,
    SEPARATORS,
    parse,
    writable,
)
from hlteval.converters.toolkit import per_document
from hlteval.converters.toolkit.frame_kinds import SITUATION
from hlteval.converters.toolkit.keyed import keyed
from hlteval.converters.toolkit.single_file import locate_lines
from hlteval.findings import FieldRef, Finding, Location, finding, line_findings
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode, is_file_path, sha256

SUFFIX, FOLDER = ".txt", "ANNOTATION"
ROLE = "Place"
"""The role of a place among several candidates."""

BATCH = 2000
"""Documents in a batch."""


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The files of each segment, by name: those in folders ANNOTATION, or else all."""
    texts = [member for member in source.members if member.basename.endswith(SUFFIX)]
    if source.kind in {"file", "stdin"}:
        texts = list(source.members)
    inside = [member for member in texts if member.name.split("/")[-2:-1] == [FOLDER]]
    found: dict[str, list[Member]] = {}
    for member in inside or texts:
        found.setdefault(member.document(member.basename.partition(".")[0]), []).append(member)
    return {name: tuple(found[name]) for name in sorted(found)}


def sniff(source: Source) -> bool:
    """Whether a file is in a folder ANNOTATION, or one of the first has a line with a key."""
    for members in islice(documents(source).values(), 3):
        if members[0].name.split("/")[-2:-1] == [FOLDER]:
            return True
        try:
            head = members[0].fetch()[:4000].decode("utf-8", "replace")
        except Unreadable:
            continue
        if any(line.partition(":")[0] in KEYS for line in head.split("\n") if ":" in line):
            return True
    return False


def read(source: Source, place_separators: str = SEPARATORS) -> Iterator[ReadResult]:
    """The segments of a source in batches, in the order of their names."""
    named = iter(documents(source).items())
    while batch := list(islice(named, BATCH)):
        yield _Batch(source.path, place_separators).read(batch)


class _Batch:
    """The rows and findings of the files of a batch."""

    def __init__(self, path: str, separators: str) -> None:
        self.path, self.separators = path, separators
        self.sources: list[tuple[str, str, str, str]] = []
        self.documents: list[tuple[int | None, str]] = []
        self.frames: list[tuple[Any, ...]] = []
        self.arguments: list[tuple[Any, ...]] = []
        self.members: list[Member] = []
        self.findings: list[Finding] = []

    def read(self, batch: Sequence[tuple[str, Sequence[Member]]]) -> ReadResult:
        for name, members in batch:
            self.take(name, members)
        corpus = Corpus(
            sources=keyed("sources", self.sources, ("path", "member", "format", "sha256")),
            documents=keyed("documents", self.documents, ("origin", "name")),
            frames=keyed("frames", self.frames, _FRAME),
            arguments=keyed("arguments", self.arguments, _ARGUMENT),
        )
        return ReadResult(corpus, tuple(self.findings), tuple(self.members))

    def take(self, name: str, members: Sequence[Member]) -> None:
        member, document = members[0], len(self.documents)
        for other in members[1:]:
            self.findings.append(
                finding("APN403", file=other.display, document=name, other=member.display)
            )
        basename = member.basename
        if basename.count(".") > 1 or any(character.isspace() for character in basename):
            self.findings.append(finding("APN402", file=member.display, document=name))
        try:
            data = member.fetch()
        except Unreadable as reason:
            self.findings.append(reason.finding)
            self.documents.append((None, name))
            return
        decoded = decode(data, display=member.display, encoding=member.encoding)
        self.findings.extend(decoded.findings)
        self.documents.append((len(self.sources), name))
        self.sources.append((self.path, member.name or member.basename, FORMAT.name, sha256(data)))
        self.members.append(member)
        if decoded.text is not None:
            self.parse(decoded.text, document, member.display)

    def parse(self, text: str, document: int, display: str) -> None:
        """Add the frames and findings of a file."""
        origin = len(self.sources) - 1
        frames, problems = parse(text, self.separators)
        for frame in frames:
            row = len(self.frames)
            self.frames.append((document, origin, frame.record, SITUATION, *frame[1:6]))
            for position, place in enumerate(frame.candidates, start=1):
                self.arguments.append((document, origin, frame.record, row, position, ROLE, place))
        if not text.strip():
            self.findings.append(finding("APN401", file=display))
        lines = text.split("\n") if problems else []
        self.findings += line_findings(problems, lines, display)


_FRAME = (
    *("document", "origin", "record", "kind"),
    *("label", "place", "status", "resolution", "urgent"),
)
_ARGUMENT = ("document", "origin", "record", "frame_row", "position", "role", "target")


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The lines of records of a file."""
    return locate_lines(member, places)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The segments as a folder of files, with the names of the original files of this format.

    Segments from other formats are written to `ALL/ANNOTATION`, where the official software expects
    them. A segment without frames has a block of `n/a`.
    """
    per_document.write_files((file for corpus in corpora for file in _files(corpus)), path)


def _files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    output_paths = per_document.original_files(corpus, FORMAT.name)
    blocks: dict[int, list[str]] = {}
    for document, block in _blocks(corpus):
        blocks.setdefault(document, []).append(block)
    for document, origin, name in corpus.documents.select("row", "origin", "name").iter_rows():
        if _is_file_name(name):
            home = output_paths.get(origin, f"ALL/{FOLDER}/{name}{SUFFIX}")
            yield home, "\n".join(blocks.get(document, [_block([], None, None, None, [])]))


def _is_file_name(name: str) -> bool:
    return is_file_path(name) and "." not in name.rpartition("/")[2]


def _blocks(corpus: Corpus) -> Iterator[tuple[int, str]]:
    """The text of every block, with its document; a block has all frames of a record."""
    candidates = corpus.arguments.filter(pl.col("role") == ROLE).sort("frame_row", "position")
    targets = candidates.group_by("frame_row").agg("target")
    frames = corpus.frames.filter(pl.col("kind") == SITUATION)
    frames = frames.join(targets, left_on="row", right_on="frame_row", how="left").sort(
        "document", "origin", "record", "row"
    )
    rows = frames.iter_rows(named=True)
    for (document, *_), group in groupby(
        rows, key=lambda row: (row["document"], row["origin"], row["record"])
    ):
        kept = [row for row in group if writable(row["label"], row["place"])]
        if kept:
            places = dict.fromkeys(row["place"] for row in kept if row["place"] is not None)
            first = kept[0]
            yield (
                document,
                _block(
                    list(dict.fromkeys(row["label"] for row in kept)),
                    first["status"],
                    first["resolution"],
                    first["urgent"],
                    first["target"] or list(places),
                ),
            )


def _block(
    labels: Sequence[str],
    status: str | None,
    resolution: str | None,
    urgent: str | None,
    places: Sequence[str],
) -> str:
    lines = [
        f"TYPE: {', '.join(labels) or NONE}",
        f"TIME: {status or NONE}",
        f"Resolution: {resolution or NONE}",
        f"PLACE: {', '.join(places) or NONE}",
    ]
    if urgent:
        lines.append(f"URGENCY: {urgent}")
    return "\n".join(lines) + "\n"


def lost(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables no annotation can say."""
    frames = corpus.frames.filter(pl.col("kind") == SITUATION)
    pairs = frames.select("label", "place").iter_rows()
    return {
        "frames with unsupported types or places": sum(
            not writable(label, place) for label, place in pairs
        ),
        "documents whose name is not a valid file name": sum(
            not _is_file_name(name) for name in corpus.documents["name"]
        ),
    }


FORMAT = Format(
    name="appen",
    title="Appen annotations of situation frames in speech: one file per audio segment",
    suffixes=(".appen",),
    layout="per_document",
    words={
        "frames": "situation",
        "arguments": "candidate place",
        "frames.place": "PLACE",
        "frames.status": "TIME line",
        "frames.resolution": "Resolution line",
        "frames.urgent": "URGENCY line",
        "rejected_records": "unreadable line",
    },
    carries=(
        *("sources", "documents", "frames", "arguments"),
        *("frames.place", "frames.status", "frames.resolution", "frames.urgent"),
    ),
    known_losses="layout of non-canonical lines; out-of-domain, which becomes n/a",
    sniff=sniff,
    documents=documents,
    read=read,
    codes=("APN",),
    locate=locate,
    write=write,
    frame_kinds=(SITUATION,),
    count_losses=lost,
    settings=(
        Setting(
            "place-separators",
            "Characters that separate places in Appen annotations.",
            SEPARATORS,
            of="read",
        ),
    ),
)

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

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.situations.appen_blocks import (
    KEYS,
    SEPARATORS,
    parse,
    parse_by_position,
    writable,
)
from hlteval.converters.situations.types import NONE
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.converters.toolkit.rows import keyed
from hlteval.findings import Finding, Problem, finding, line_findings
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode, is_file_path, sha256
from hlteval.sources.archives import first_names

# Which files of a source are annotations, and which of them are not read, and why.


SUFFIX, FOLDER = ".txt", "ANNOTATION"
#: Bytes of a file in which a key is looked for.
_HEAD = 4000
#: Names in the path of a file that the official script reads: pack, ANNOTATION, file.
_SCRIPT_DEPTH = 3


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The files of each segment, by name: those in folders ANNOTATION, or else all.

    Annotations with another suffix (`.TXT`) or outside these folders are files of a segment too,
    but are not read; `unread` has the reason.
    """
    if source.kind in {"file", "stdin"}:
        found = list(source.members)
    else:
        inside = _has_folder(source)
        texts = (member for member in source.members if _is_text(member))
        found = [item for item in texts if not _reason(item, inside=inside) or _is_lost(item)]
    named: dict[str, list[Member]] = {}
    for member in found:
        named.setdefault(member.document(member.basename.partition(".")[0]), []).append(member)
    return {name: tuple(named[name]) for name in sorted(named)}


def sniff(source: Source) -> bool:
    """Whether a file is in a folder ANNOTATION, or one of the first has a line with a key."""
    first = (members[0] for members in islice(documents(source).values(), 3))
    return any(_in_folder(member) or _has_key(member) for member in first)


def read_by_script(source: Source) -> tuple[Source, list[Finding]]:
    """The files that the official script reads, and the finding about others.

    It reads `ROOT/*/ANNOTATION/*.txt`. In an archive, whose root is unknown, these are the files of
    the shallowest folders; where no file is so deep, all are taken.
    """
    depths = {member: member.name.count("/") + 1 for member in source.members}
    annotations = [depths[member] for member in source.members if _in_folder(member)]
    archive = source.kind not in {"folder", "file", "stdin"}
    wanted = min(annotations, default=0) if archive else _SCRIPT_DEPTH
    others = {m: None for m in source.members if _in_folder(m) and depths[m] != wanted}
    if wanted not in annotations or not others:
        return source, []
    names = first_names([member.name for member in others])
    remark = finding("APN406", file=source.path, count=len(others), names=names)
    return source.only(member for member in source.members if member not in others), [remark]


def unread(source: Source) -> Mapping[Member, str]:
    """Why texts of a source are not read, by member."""
    if source.kind in {"file", "stdin"}:
        return {}
    inside = _has_folder(source)
    reasons = {item: _reason(item, inside=inside) for item in source.members if _is_text(item)}
    return {member: reason for member, reason in reasons.items() if reason}


def others(source: Source, reasons: Mapping[Member, str]) -> Iterator[Finding]:
    """The finding about texts that are not annotations, if there are any."""
    names = [member.name for member in reasons if not _is_lost(member)]
    if names:
        shown = first_names(names)
        yield finding("APN405", file=source.path, count=len(names), names=shown)


def _is_text(member: Member) -> bool:
    return member.basename.lower().endswith(SUFFIX)


def _in_folder(member: Member) -> bool:
    return member.name.split("/")[-2:-1] == [FOLDER]


def _has_folder(source: Source) -> bool:
    return any(_is_text(member) and _in_folder(member) for member in source.members)


def _reason(member: Member, *, inside: bool) -> str:
    """Why a text is not read; empty if it is."""
    if inside and not _in_folder(member):
        return f"it is outside the folders {FOLDER}"
    if not member.basename.endswith(SUFFIX):
        return f"its suffix is not {SUFFIX}"
    return ""


def _is_lost(member: Member) -> bool:
    """Whether a text that is not read is an annotation."""
    return _in_folder(member) or _has_key(member)


def _has_key(member: Member) -> bool:
    try:
        head = member.fetch()[:_HEAD].decode("utf-8", "replace")
    except Unreadable:
        return False
    return any(line.partition(":")[0] in KEYS for line in head.split("\n") if ":" in line)


#: The role of a place among several candidates.
ROLE = "Place"

#: Documents in a batch.
BATCH = 2000


def read(
    source: Source, place_separators: str = SEPARATORS, blocks: str = "keys"
) -> Iterator[ReadResult]:
    """The segments of a source in batches, in the order of their names.

    Args:
        source: the files.
        place_separators: the characters that separate places and types.
        blocks: how lines form a block: by their `keys`, or by `position` as in the official script,
            which also joins the files of a segment and reads no deeper folders.
    """
    remarks: list[Finding] = []
    if blocks == "position":
        source, remarks = read_by_script(source)
    reasons = unread(source)
    remarks += others(source, reasons)
    named = iter(documents(source).items())
    while batch := list(islice(named, BATCH)):
        yield _Batch(source.path, place_separators, blocks, reasons, remarks).read(batch)
        remarks = []
    if remarks:
        yield ReadResult(Corpus(), tuple(remarks))


class _Batch:
    """The rows and findings of the files of a batch."""

    def __init__(
        self,
        path: str,
        separators: str,
        blocks: str,
        reasons: Mapping[Member, str],
        remarks: Sequence[Finding],
    ) -> None:
        self.path, self.separators, self.reasons = path, separators, reasons
        self.by_position = blocks == "position"
        self.sources: list[tuple[str, str, str, str]] = []
        self.documents: list[tuple[int | None, str]] = []
        self.frames: list[tuple[Any, ...]] = []
        self.arguments: list[tuple[Any, ...]] = []
        self.members: list[Member] = []
        self.findings: list[Finding] = [*remarks]

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
        """Read the files of a segment: the first, and the others where the script joins them."""
        read = [member for member in members if member not in self.reasons]
        if not read:
            file, reason = members[0].display, self.reasons[members[0]]
            self.findings.append(finding("APN404", file=file, document=name, reason=reason))
            self.documents.append((None, name))
            return
        for other in read[1:]:
            self.findings.append(
                finding("APN403", file=other.display, document=name, other=read[0].display)
            )
        basename = read[0].basename
        if basename.count(".") > 1 or any(character.isspace() for character in basename):
            self.findings.append(finding("APN402", file=read[0].display, document=name))
        document = len(self.documents)
        self.documents.append((len(self.sources), name))
        taken = [self.file(each, document) for each in read[: None if self.by_position else 1]]
        if not any(taken):
            self.documents[document] = (None, name)

    def file(self, member: Member, document: int) -> bool:
        """Read a file of a segment; False if that is impossible."""
        try:
            data = member.fetch()
        except Unreadable as reason:
            self.findings.append(reason.finding)
            return False
        decoded = decode(data, display=member.display, encoding=member.encoding)
        self.findings.extend(decoded.findings)
        self.sources.append((self.path, member.name or member.basename, FORMAT.name, sha256(data)))
        self.members.append(member)
        if decoded.text is not None:
            marked = any(item.code == "SRC202" for item in decoded.findings)
            self.parse(decoded.text, document, member, "\ufeff" * marked)
        return True

    def parse(self, text: str, document: int, member: Member, mark: str) -> None:
        """Add the frames and findings of a file."""
        origin = len(self.sources) - 1
        frames, problems = parse(text, self.separators)
        if self.by_position:
            frames, cut_off = parse_by_position(mark + text, self.separators)
            problems += [] if cut_off is None else [Problem("APN108", cut_off, 0, len("TYPE:"))]
        for frame in frames:
            row = len(self.frames)
            self.frames.append((document, origin, frame.record, SITUATION, *frame[1:6]))
            for position, place in enumerate(frame.candidates, start=1):
                self.arguments.append((document, origin, frame.record, row, position, ROLE, place))
        if not text.strip():
            self.findings.append(finding("APN401", file=member.display))
        lines = text.split("\n") if problems else []
        self.findings += line_findings(problems, lines, member.display, member.max_per_code)


_FRAME = (
    *("document", "origin", "record", "kind"),
    *("label", "place", "status", "resolution", "urgent"),
)
_ARGUMENT = ("document", "origin", "record", "frame_row", "position", "role", "target")


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The files of the segments, with the names of the original files of this format.

    Segments from other formats are written to `ALL/ANNOTATION`, where the official software expects
    them. A segment without frames has a block of `n/a`.
    """
    blocks: dict[int, list[str]] = {}
    for document, block in _blocks(corpus):
        blocks.setdefault(document, []).append(block)
    for document, path in _paths(corpus):
        yield path, "\n".join(blocks.get(document, [_block([], None, None, None, [])]))


def _paths(corpus: Corpus) -> Iterator[tuple[int, str]]:
    """The documents that can have a file, and its path: the original one where it is read there."""
    originals = source_files.original_files(corpus, FORMAT.name)
    columns = corpus.documents.select("row", "origin", "name").iter_rows()
    documents = [
        (row, originals.get(origin, ""), name)
        for row, origin, name in columns
        if is_file_path(name) and "." not in name.rpartition("/")[2]
    ]
    fitting = {row for row, path, name in documents if f"/{path}".endswith(f"/{name}{SUFFIX}")}
    inside = {row for row, path, _ in documents if path.split("/")[-2:-1] == [FOLDER]}
    bare = not inside and len(fitting) == len(documents)
    for row, path, name in documents:
        if row in fitting and (bare or row in inside):
            yield row, path
        elif "/" not in name:
            yield row, f"ALL/{FOLDER}/{name}{SUFFIX}"


def _frames(corpus: Corpus) -> Iterator[Mapping[str, Any]]:
    """The situations in the order of their blocks, with their candidate places as `target`."""
    candidates = corpus.arguments.filter(pl.col("role") == ROLE).sort("frame_row", "position")
    targets = candidates.group_by("frame_row").agg("target")
    frames = corpus.frames.filter(pl.col("kind") == SITUATION)
    frames = frames.join(targets, left_on="row", right_on="frame_row", how="left")
    return frames.sort("document", "origin", "record", "row").iter_rows(named=True)


def _is_writable(frame: Mapping[str, Any]) -> bool:
    """Whether a block can represent a situation: each value is within a line."""
    values = [frame[name] or "" for name in ("status", "resolution", "urgent")]
    lines = all(len(value.splitlines()) < 2 for value in (*values, *(frame["target"] or ())))
    return lines and writable(frame["label"], frame["place"])


def _blocks(corpus: Corpus) -> Iterator[tuple[int, str]]:
    """The text of every block, with its document; a block has all frames of a record."""
    for (document, *_), group in groupby(
        _frames(corpus), key=lambda row: (row["document"], row["origin"], row["record"])
    ):
        kept = [row for row in group if _is_writable(row)]
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


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables no annotation can say."""
    return {
        "frames with unsupported types or places": sum(
            not _is_writable(frame) for frame in _frames(corpus)
        ),
        "documents whose name is not a valid file name": corpus.documents.height
        - len([*_paths(corpus)]),
    }


FORMAT = declaration(__name__)

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

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.situations import appen_blocks
from hlteval.converters.situations.types import NONE
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.converters.toolkit.rows import table_of
from hlteval.converters.toolkit.source_files import FileBatch, original_files
from hlteval.findings import Finding, Problem, finding, line_findings
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, is_file_path
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
    reasons = unread(source)
    single = source.kind in {"file", "stdin"}
    named: dict[str, list[Member]] = {}
    for member in source.members:
        if single or (_is_text(member) and (member not in reasons or _is_annotation(member))):
            named.setdefault(member.document(member.basename.partition(".")[0]), []).append(member)
    return {name: tuple(named[name]) for name in sorted(named)}


def sniff(source: Source) -> bool:
    """Whether a file is in a folder ANNOTATION, or one of the first has a line with a key."""
    return any(_is_annotation(members[0]) for members in islice(documents(source).values(), 3))


def read_by_script(source: Source) -> tuple[Source, list[Finding]]:
    """The files that the official script reads, and the finding about others.

    It reads `ROOT/*/ANNOTATION/*.txt`. In an archive, whose root is unknown, these are the files of
    the shallowest folders; where no file is so deep, all are taken.
    """
    depths = {m: m.name.count("/") + 1 for m in source.members if _in_folder(m.name)}
    archive = source.kind not in {"folder", "file", "stdin"}
    wanted = min(depths.values(), default=0) if archive else _SCRIPT_DEPTH
    others = [member for member, depth in depths.items() if depth != wanted]
    if wanted not in depths.values() or not others:
        return source, []
    names = first_names([member.name for member in others])
    remark = finding("APN406", file=source.path, count=len(others), names=names)
    left_out = {*others}
    return source.only(member for member in source.members if member not in left_out), [remark]


def unread(source: Source) -> Mapping[Member, str]:
    """The reasons why texts of a source are not read, by member."""
    if source.kind in {"file", "stdin"}:
        return {}
    texts = [member for member in source.members if _is_text(member)]
    has_folder = any(_in_folder(member.name) for member in texts)
    reasons: dict[Member, str] = {}
    for member in texts:
        if has_folder and not _in_folder(member.name):
            reasons[member] = f"it is outside the folders {FOLDER}"
        elif not member.basename.endswith(SUFFIX):
            reasons[member] = f"its suffix is not {SUFFIX}"
    return reasons


def _is_text(member: Member) -> bool:
    return member.basename.lower().endswith(SUFFIX)


def _in_folder(path: str) -> bool:
    return path.split("/")[-2:-1] == [FOLDER]


def _is_annotation(member: Member) -> bool:
    """Whether a text is in a folder of annotations, or has a line with a key."""
    if _in_folder(member.name):
        return True
    try:
        head = member.fetch()[:_HEAD].decode("utf-8", "replace")
    except Unreadable:
        return False
    fields = (line.partition(":") for line in head.split("\n"))
    return any(colon and key in appen_blocks.KEYS for key, colon, _ in fields)


#: The role of a place among several candidates.
ROLE = "Place"
#: Documents in a batch.
BATCH = 2000
_RECORD = ("document", "origin", "record")
_FRAME = (*_RECORD, "kind", "label", "place", "status", "resolution", "urgent")
_ARGUMENT = (*_RECORD, "frame_row", "position", "role", "target")


def read(
    source: Source, place_separators: str = appen_blocks.SEPARATORS, blocks: str = "keys"
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
    if names := [member.name for member in reasons if not _is_annotation(member)]:
        shown = first_names(names)
        remarks.append(finding("APN405", file=source.path, count=len(names), names=shown))
    named = iter(documents(source).items())
    while batch := list(islice(named, BATCH)):
        files = _Batch(source.path, place_separators, by_position=blocks == "position")
        files.findings += remarks
        for name, members in batch:
            files.take(name, members, reasons)
        corpus = Corpus(
            sources=files.sources,
            documents=table_of("documents", files.documents, ("origin", "name")),
            frames=table_of("frames", files.frames, _FRAME),
            arguments=table_of("arguments", files.arguments, _ARGUMENT),
        )
        yield ReadResult(corpus, tuple(files.findings), tuple(files.members))
        remarks = []
    if remarks:
        yield ReadResult(Corpus(), tuple(remarks))


class _Batch(FileBatch):
    """The rows and findings of the files of a batch."""

    def __init__(self, path: str, separators: str, *, by_position: bool) -> None:
        super().__init__(path, FORMAT.name)
        self.separators, self.by_position = separators, by_position
        self.documents: list[tuple[int | None, str]] = []
        self.frames: list[tuple[Any, ...]] = []
        self.arguments: list[tuple[Any, ...]] = []

    def take(self, name: str, members: Sequence[Member], reasons: Mapping[Member, str]) -> None:
        """Read the files of a segment: the first, and the others where the script joins them."""
        read = [member for member in members if member not in reasons]
        if not read:
            file, reason = members[0].display, reasons[members[0]]
            self.findings.append(finding("APN404", file=file, document=name, reason=reason))
            self.documents.append((None, name))
            return
        first = read[0]
        for other in read[1:]:
            second = finding("APN403", file=other.display, document=name, other=first.display)
            self.findings.append(second)
        basename = first.basename
        if basename.count(".") > 1 or any(character.isspace() for character in basename):
            self.findings.append(finding("APN402", file=first.display, document=name))
        origin = len(self.rows)
        for member in read if self.by_position else [first]:
            known = len(self.findings)
            self.add(name, member)
            if self.texts:
                is_marked = any(item.code == "SRC202" for item in self.findings[known:])
                self._parse(self.texts.pop()[-1], member, "\ufeff" * is_marked)
        self.documents.append((origin if len(self.rows) > origin else None, name))

    def _parse(self, text: str, member: Member, mark: str) -> None:
        """Add the frames and findings of a file."""
        document, origin = len(self.documents), len(self.rows) - 1
        frames, problems = appen_blocks.parse(text, self.separators)
        if self.by_position:
            frames, cut_off = appen_blocks.parse_by_position(mark + text, self.separators)
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


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The files of the segments, with the names of the original files of this format.

    Segments from other formats are written to `ALL/ANNOTATION`, where the official software expects
    them. A segment without frames has a block of `n/a`; a block has all frames of a record.
    """
    blocks: dict[int, list[str]] = {}
    writable_frames = filter(_is_writable, _frames(corpus))
    for (document, *_), group in groupby(writable_frames, itemgetter(*_RECORD)):
        frames = list(group)
        first = frames[0]
        places = dict.fromkeys(row["place"] for row in frames if row["place"] is not None)
        labels = list(dict.fromkeys(row["label"] for row in frames))
        blocks.setdefault(document, []).append(_block(labels, first["target"] or [*places], first))
    for document, path in _paths(corpus):
        yield path, "\n".join(blocks.get(document, [_block([], [], {})]))


def _block(labels: Sequence[str], places: Sequence[str], values: Mapping[str, str | None]) -> str:
    """The text of a block."""
    cells = (", ".join(labels), values.get("status"), values.get("resolution"), ", ".join(places))
    block = zip(appen_blocks.KEYS, cells, strict=False)
    lines = [f"{key}: {cell or NONE}\n" for key, cell in block]
    urgent = values.get("urgent")
    return "".join([*lines, f"URGENCY: {urgent}\n" if urgent else ""])


def _paths(corpus: Corpus) -> Iterator[tuple[int, str]]:
    """The documents that can have a file, and its path: the original one where it is read there."""
    originals = original_files(corpus, FORMAT.name)
    columns = corpus.documents.select("row", "origin", "name").iter_rows()
    documents = [
        (row, originals.get(origin, ""), name)
        for row, origin, name in columns
        if is_file_path(name) and "." not in name.rpartition("/")[2]
    ]
    fitting = {row for row, path, name in documents if f"/{path}".endswith(f"/{name}{SUFFIX}")}
    inside = {row for row, path, _ in documents if _in_folder(path)}
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
    return frames.sort(*_RECORD, "row").iter_rows(named=True)


def _is_writable(frame: Mapping[str, Any]) -> bool:
    """Whether a block can represent a situation: each value is within a line."""
    values = [frame[name] or "" for name in ("status", "resolution", "urgent")]
    lines = all(len(value.splitlines()) < 2 for value in (*values, *(frame["target"] or ())))
    return lines and appen_blocks.writable(frame["label"], frame["place"])


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """Count what no annotation can represent."""
    unwritable = sum(not _is_writable(frame) for frame in _frames(corpus))
    nameless = corpus.documents.height - len([*_paths(corpus)])
    return {
        "frames with unsupported types or places": unwritable,
        "documents whose name is not a valid file name": nameless,
    }


FORMAT = declaration(__name__)

r"""Speech Situation Frames as a table: one frame per line.

Format:
    A header and six tab-separated columns: DocumentID, Type, PlaceMention, TypeConfidence, Need,
    Relief. There is no quoting.

Conventions:
    An empty cell means no value. In PlaceMention and DocumentID, `\t`, `\n`, `\r` and `\\`
    encode a tab, line breaks and a backslash, and `\e` alone an empty name.

Example lines:
    DocumentID	Type	PlaceMention	TypeConfidence	Need	Relief
    CHN_EVAL_096_004	Medical Assistance	江苏	0.55

Codes raised: SFT1xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from hlteval.converters.format import Format, ReadResult
from hlteval.converters.situations.speech_sf_faults import type_hint
from hlteval.converters.toolkit.frame_kinds import SITUATION, others
from hlteval.converters.toolkit.single_file import File, head, located, readings
from hlteval.findings import FieldRef, Finding, Location, Span, catalogue, excerpt
from hlteval.grammars import schema
from hlteval.representation import Corpus
from hlteval.sources import Member, Source

HEADER = ("DocumentID", "Type", "PlaceMention", "TypeConfidence", "Need", "Relief")
_NUMBER = re.compile(r"(?:0(?:\.[0-9]*)?|1(?:\.0*)?|\.[0-9]+)(?:[eE]-?[0-9]{1,3})?")
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_WRITTEN = {written: character for character, written in _ESCAPES.items()}


def sniff(source: Source) -> bool:
    """Whether it is a single file that begins with the header."""
    return head(source).startswith("DocumentID\tType\t")


def read(source: Source) -> Iterator[ReadResult]:
    """The frames of the file, as one batch."""
    return readings(source, FORMAT.name, _read)


def _read(file: File) -> tuple[Corpus, Iterable[Finding]]:
    table = _Table(file.member)
    if file.text is not None:
        table.take(file.text)
    return table.corpus(file.origin), table.findings


class _Table:
    """What is collected over the lines of a file."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self.findings: list[Finding] = []
        self.documents: dict[str, int] = {}
        self.frames: list[dict[str, object]] = []

    def take(self, text: str) -> None:
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        if lines[0].split("\t") != list(HEADER):
            self.tell("SFT101", 1, lines[0], header=" ".join(HEADER))
            return
        for record, line in enumerate(lines[1:], start=2):
            if line:
                self.line(record, line, line.split("\t"))

    def line(self, record: int, line: str, cells: Sequence[str]) -> None:
        """Add a frame, or tell why a line is none."""
        if len(cells) != len(HEADER):
            self.tell("SFT102", record, line, given=len(cells), wanted=len(HEADER))
            return
        name, label, place, confidence, need, relief = cells
        if label not in _types():
            self.tell("SFT104", record, line, 1, given=label or "(empty)", hint=type_hint(label))
        if confidence and not _NUMBER.fullmatch(confidence):
            hint = (
                "the decimal sign is a point" if "," in confidence else "use only digits and a point"
            )
            self.tell("SFT103", record, line, 3, given=confidence, hint=hint)
            return
        self.frames.append(
            {
                "row": len(self.frames),
                "document": self.documents.setdefault(_unescaped(name), len(self.documents)),
                "origin": 0,
                "record": record,
                "kind": SITUATION,
                "label": label,
                "place": _unescaped(place) if place else None,
                "confidence": float(confidence) if confidence else None,
                "status": need or None,
                "resolution": relief or None,
            }
        )

    def tell(
        self, code: str, record: int, line: str, column: int | None = None, **values: object
    ) -> None:
        start, end = _stretch(line, "" if column is None else HEADER[column])
        span = Span(record, start + 1, end + 1)
        self.findings.append(
            catalogue()[code].finding(
                values, file=self.member.display, span=span, excerpt=excerpt(line, span)
            )
        )

    def corpus(self, origin: dict[str, object]) -> Corpus:
        return Corpus(
            sources=[origin],
            documents=[
                {"row": row, "origin": 0, "name": name} for name, row in self.documents.items()
            ],
            frames=self.frames,
        )


def _types() -> frozenset[str]:
    listed = schema("speech-sf")["definitions"]["frame"]["properties"]["Type"]["enum"]
    return frozenset(listed)


def _unescaped(cell: str) -> str:
    r"""What a cell stands for.

    Examples:
        >>> _unescaped(_escaped("a\tb\\")) == "a\tb\\", _unescaped(_escaped(""))
        (True, '')
    """
    if cell == "\\e":
        return ""
    return re.sub(r"\\[\\tnr]", lambda match: _WRITTEN[match[0]], cell)


def _escaped(value: str) -> str:
    return re.sub(r"[\\\t\n\r]", lambda match: _ESCAPES[match[0]], value) or "\\e"


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The cells of places of a file."""
    return located(member, places, _stretch)


def _stretch(line: str, field: str) -> tuple[int, int]:
    """Where a cell stands; the line where it has no such cell."""
    cells = line.split("\t")
    column = HEADER.index(field) if field in HEADER else len(cells)
    if column >= len(cells):
        return 0, len(line)
    start = sum(len(cell) + 1 for cell in cells[:column])
    return start, start + len(cells[column])


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The situation frames of all documents."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("\t".join(HEADER) + "\n")
        for corpus in corpora:
            stream.writelines("\t".join(cells) + "\n" for cells in _rows(corpus))


def _rows(corpus: Corpus) -> Iterator[tuple[str, ...]]:
    names = corpus.documents.select("name", document="row")
    frames = corpus.frames.filter(pl.col("kind") == SITUATION).join(
        names, on="document", maintain_order="left"
    )
    columns = ("name", "label", "place", "confidence", "status", "resolution")
    for name, label, place, confidence, need, relief in frames.select(columns).iter_rows():
        written = "" if confidence is None else repr(confidence)
        where = "" if place is None else _escaped(place)
        yield _escaped(name), label, where, written, need or "", relief or ""


def lost(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables no line can say."""
    frames = corpus.frames.filter(pl.col("kind") == SITUATION)
    silent = corpus.documents.join(frames, left_on="row", right_on="document", how="anti")
    return {**others(corpus), "segments without frames": silent.height}


FORMAT = Format(
    name="speech-sf-tsv",
    title="Speech Situation Frames as a table: one frame per line",
    suffixes=(".tsv",),
    layout="single_file",
    carries=(
        *("sources", "documents", "frames"),
        *("frames.place", "frames.status", "frames.resolution", "frames.confidence"),
    ),
    sniff=sniff,
    read=read,
    locate=locate,
    write=write,
    frame_kinds=(SITUATION,),
    count_losses=lost,
)

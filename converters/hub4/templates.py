r"""HUB-4 template sets: the templette instances found in a text.

Format:
    One file of instances. An instance has a header line with its name, and slots; a slot has a name
    and fills, on the same and on following lines. A fill is a pointer to another instance, or a
    text with its extents. A line that starts with `/` starts another alternative; a slash before
    the first fill marks the slot as optional. Empty lines and indentation are ignored
    (grammars/hub4.lark). All instances of a document form its instance set.

Conventions:
    Extents are 0-based, half-open code points from the `<` of the document's start tag. In a
    reference, brackets mark the minimal strings of a text, and the extents after the first are
    theirs; in system output, brackets are ordinary text. The type of an instance ends at the first
    hyphen, unless a type with a hyphen is declared.

Example lines:
    <CONTEST-B1-1> :=
        NAME: "bread contest" ##66#79#
            / "contest in Lyon" ##72#87#
        WINNER: "bakers of [Cairo]" ##37#52#47#52#

Codes raised: HUB1xx.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from hlteval.converters.format import Format, ReadResult, Setting
from hlteval.converters.hub4.lines import BLANKS, OUTSIDE, RULES, UNREAD, Tables, tables
from hlteval.converters.hub4.records import Refusal, explain, parts
from hlteval.converters.hub4.writing import instances, unwritten
from hlteval.converters.toolkit.frame_kinds import TEMPLETTE
from hlteval.converters.toolkit.single_file import File, head, in_line, located, readings
from hlteval.findings import FieldRef, Finding, Location, Span, catalogue, excerpt, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source

SIDES = ("reference", "system")
EXPLAINED = 2000
"""Refused lines of a file whose exact place is looked for; the rest are named whole."""


def sniff(source: Source) -> bool:
    """Whether it is a single file whose first line is a header."""
    first = head(source).lstrip(" \t\r\n\f\x0b").partition("\n")[0].strip(BLANKS)
    return first.startswith("<") and first.endswith(":=")


def read(source: Source, side: str = "reference", types: str = "") -> Iterator[ReadResult]:
    """The template sets of a source, one batch a file."""
    declared = [name for name in types.split(",") if name]
    return readings(
        source, FORMAT.name, partial(_instances, reference=side == "reference", types=declared)
    )


def _instances(
    file: File, *, reference: bool, types: Sequence[str]
) -> tuple[Corpus, Iterable[Finding]]:
    """The instances of a file, and what is wrong with its lines."""
    if file.text is None:
        return Corpus(sources=[file.origin]), ()
    found = tables(file.text, reference=reference, types=types)
    refused = _refused(found.refused)
    origin = pl.lit(0, pl.Int64).alias("origin")
    corpus = Corpus(
        sources=[file.origin],
        documents=found.documents.with_columns(origin),
        frames=found.frames.with_columns(origin),
        fills=found.fills.with_columns(origin),
        rejected_records=refused,
    )
    told = _of_slashes_and_hashes(found, file.text, file.member)
    return corpus, [*_refusals(refused, file.text, file.member), *told]


def _refused(lines: pl.DataFrame) -> list[dict[str, object]]:
    """The lines that are left out, with the reason of each; the first `EXPLAINED` exactly."""
    rows: list[dict[str, object]] = []
    for row, (record, line, kind, code) in enumerate(lines.iter_rows()):
        refusal = Refusal(code, 1, len(line) + 1, "")
        if code == UNREAD:
            refusal = explain(line, kind, ask=row < EXPLAINED)
        about = {"kind": RULES[kind], "text": line, **refusal._asdict()}
        rows.append({"row": row, "origin": 0, "record": record, **about})
    return rows


def _refusals(
    refused: Sequence[Mapping[str, object]], text: str, member: Member
) -> Iterator[Finding]:
    """What is wrong with lines that are left out; those before the first header are told once."""
    if not refused:
        return
    outside = [row for row in refused if row["code"] == OUTSIDE]
    lines = text.split("\n")
    for row in refused:
        if row["code"] == OUTSIDE and row is not outside[0]:
            continue
        record, line = int(str(row["record"])), lines[int(str(row["record"])) - 1]
        begin = len(line) - len(line.lstrip(BLANKS))
        span = Span(record, begin + int(str(row["column"])), begin + int(str(row["end_column"])))
        yield finding(
            str(row["code"]),
            file=member.display,
            span=span,
            excerpt=excerpt(line.removesuffix("\r"), span),
            given=_given(line[span.column - 1 : span.end_column - 1]),
            expected=row["expected"] or "what a line of its kind has there",
            count=len(outside),
        )


def _given(text: str) -> str:
    return text.strip(BLANKS)[:40] or "end of line"


def _of_slashes_and_hashes(found: Tables, text: str, member: Member) -> Iterator[Finding]:
    """Slashes without a fill, each; extents without a last hash, once for the file."""
    if found.idle.is_empty() and found.hashless.is_empty():
        return
    lines = text.split("\n")
    listed = [("HUB108", record, "slash") for record in found.idle]
    listed += [("HUB109", record, "extents") for record in found.hashless[:1]]
    for code, record, field in listed:
        place = in_line(lines[record - 1].removesuffix("\r"), FieldRef(record, field), _stretch)
        yield catalogue()[code].finding(
            {"count": len(found.hashless)},
            file=member.display,
            span=place.span,
            excerpt=place.excerpt,
        )


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """Line and column of places of one file; see `hub4_records.parts` for what a field is."""
    return located(member, places, _stretch)


def _stretch(line: str, field: str) -> tuple[int, int]:
    """Where a field of the record in a line stands; the record where it has no such field."""
    record = line.strip(BLANKS)
    begin = len(line) - len(line.lstrip(BLANKS))
    start, end = parts(record).get(field, (0, len(record))) if field else (0, len(record))
    return begin + start, begin + end


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The instances of all documents, in the layout of the specification."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        for corpus in corpora:
            stream.writelines(instances(corpus))


def lost(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables no template set can say."""
    return unwritten(corpus)


FORMAT = Format(
    name="hub4",
    title="HUB-4 template sets: templette instances with slots and fills",
    suffixes=(".tpl",),
    layout="single_file",
    carries=(
        *("sources", "documents", "frames", "fills", "frames.frame", "frames.optional"),
        *("fills.target", "fills.text", "fills.quoted", "fills.extents", "fills.brackets"),
    ),
    known_losses="layout of non-canonical lines; unreadable lines",
    sniff=sniff,
    read=read,
    locate=locate,
    write=write,
    frame_kinds=(TEMPLETTE,),
    count_losses=lost,
    settings=(
        Setting(
            "side",
            "Whether the file is a reference, where brackets mark minimal strings, or "
            "system output.",
            "reference",
            of="read",
            choices=SIDES,
        ),
        Setting("types", "Instance types that contain a hyphen, comma-separated.", "", of="read"),
    ),
)

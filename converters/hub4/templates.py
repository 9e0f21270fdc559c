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

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

import polars as pl

from hlteval.converters.format import Format, ReadResult, Setting
from hlteval.converters.hub4.lines import (
    OUTSIDE,
    RULES,
    SPACES,
    UNREAD,
    WITHOUT_COLON,
    Tables,
    tables,
)
from hlteval.converters.hub4.records import explain, field_spans
from hlteval.converters.hub4.writing import instances, unwritten
from hlteval.converters.toolkit.frame_kinds import TEMPLETTE
from hlteval.converters.toolkit.single_file import File, head_of_first, locate_lines, read_files
from hlteval.findings import FieldRef, Finding, Location, Problem, line_findings
from hlteval.representation import Corpus
from hlteval.sources import Member, Source

SIDES = ("reference", "system")
#: Rejected lines of a file that are reported at the exact place; others are reported whole.
EXPLAINED = 2000


def sniff(source: Source) -> bool:
    """Whether the first line of its first file is a header."""
    return begins_set(head_of_first(source))


def begins_set(text: str) -> bool:
    r"""Whether the first line of a text is a header.

    Examples:
        >>> begins_set("<BREAD-D1-1> :=\n"), begins_set("<DOC>")
        (True, False)
    """
    first = text.lstrip(" \t\r\n\f\x0b").partition("\n")[0].strip(SPACES)
    return first.startswith("<") and first.endswith(":=")


def read(source: Source, side: str = "reference", types: str = "") -> Iterator[ReadResult]:
    """The template sets of a source, one batch per file."""
    declared = [name for name in types.split(",") if name]
    return read_files(
        source, FORMAT.name, partial(_instances, reference=side == "reference", types=declared)
    )


def _instances(
    file: File, *, reference: bool, types: Sequence[str]
) -> tuple[Corpus, Iterable[Finding]]:
    """The instances of a file, and the findings about its lines."""
    if file.text is None:
        return Corpus(sources=[file.origin]), ()
    found = tables(file.text, reference=reference, types=types)
    flawed = (found.rejected_records["record"], found.idle, found.hashless)
    lines = file.text.split("\n") if any(map(len, flawed)) else []
    rejected, problems = _rejected(found.rejected_records, lines, file.member.max_per_code)
    problems += _of_slashes_and_hashes(found, lines)
    origin = pl.lit(0, pl.Int64).alias("origin")
    corpus = Corpus(
        sources=[file.origin],
        documents=found.documents.with_columns(origin),
        frames=found.frames.with_columns(origin),
        fills=found.fills.with_columns(origin),
        rejected_records=rejected,
    )
    member = file.member
    return corpus, line_findings(problems, lines, member.display, member.max_per_code)


def _rejected(
    rejected: pl.DataFrame, lines: Sequence[str], most: int
) -> tuple[pl.DataFrame, list[Problem]]:
    """The rejected lines as the table `rejected_records`, and as problems.

    The first `EXPLAINED` have their exact place. Lines before the first header are one problem.

    Args:
        rejected: as in `Tables`.
        lines: all lines of the file.
        most: the maximum number of problems of a code that are explained; 0 for all.
    """
    found = [
        explain(line, record, kind, ask=row < EXPLAINED)
        if code == UNREAD
        else Problem(code, record, 0, len(line), _NOTHING)
        for row, (record, line, kind, code) in enumerate(rejected.iter_rows())
    ]
    outside = [problem.record for problem in found if problem.code == OUTSIDE]
    seen: Counter[str] = Counter()
    problems: list[Problem] = []
    for problem, line in zip(found, rejected["line"], strict=True):
        if problem.code != OUTSIDE or problem.record == outside[0]:
            seen[problem.code] += 1
            read = not most or seen[problem.code] <= most + 1
            written = lines[problem.record - 1]
            problems.append(_worded(problem, line, written, len(outside)) if read else problem)
    return _table(rejected, found), problems


_NOTHING: Mapping[str, object] = MappingProxyType({"expected": ""})


def _name_hint(line: str) -> str:
    """What to do about a fill before the first slot."""
    if name := re.match(WITHOUT_COLON, line):
        return f"write {name[1]}: with the colon at the name"
    return "write the slot name and a colon before its first fill, such as KIND:"


def _worded(problem: Problem, line: str, written: str, outside: int) -> Problem:
    """A problem with its place in a line as written, and the values of its message."""
    expected = problem.values["expected"] or "what a line of its kind has there"
    given = line[problem.start : problem.end].strip(SPACES)[:40] or "end of line"
    values = {"given": given, "expected": expected, "count": outside, "hint": _name_hint(line)}
    return problem._replace(values=values).shift(len(written) - len(written.lstrip(SPACES)))


def _table(rejected: pl.DataFrame, found: Sequence[Problem]) -> pl.DataFrame:
    """The rejected lines as the table `rejected_records`."""
    kinds = dict(enumerate(RULES))
    return rejected.select(
        "record",
        pl.int_range(pl.len(), dtype=pl.Int64).alias("row"),
        pl.col("kind").cast(pl.Int64).replace_strict(kinds, return_dtype=pl.String),
        pl.Series("code", [problem.code for problem in found], dtype=pl.String),
        pl.Series("column", [problem.start + 1 for problem in found], dtype=pl.Int64),
        pl.Series("end_column", [problem.end + 1 for problem in found], dtype=pl.Int64),
        pl.Series("expected", [problem.values["expected"] for problem in found], dtype=pl.String),
        origin=pl.lit(0, pl.Int64),
        text="line",
    )


def _of_slashes_and_hashes(found: Tables, lines: Sequence[str]) -> Iterator[Problem]:
    """Each slash without a fill, and the first extents without a last hash."""
    values = {"count": len(found.hashless)}
    fields = [("HUB108", record, "slash") for record in found.idle]
    fields += [("HUB109", record, "extents") for record in found.hashless[:1]]
    for code, record, field in fields:
        yield Problem(code, record, *_stretch(lines[record - 1].removesuffix("\r"), field), values)


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of fields of a file; see `field_spans` for their names."""
    return locate_lines(member, places, _stretch)


def _stretch(line: str, field: str) -> tuple[int, int]:
    """Start and end of a field in a line; of the whole record if it has no such field."""
    record = line.strip(SPACES)
    begin = len(line) - len(line.lstrip(SPACES))
    start, end = field_spans(record).get(field, (0, len(record))) if field else (0, len(record))
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
    words={
        "frames": "template instance",
        "fills": "fill",
        "frames.frame": "instance name",
        "frames.optional": "optional slot",
        "fills.target": "pointer",
        "fills.text": "fill text",
        "fills.quoted": "quotation",
        "fills.extents": "list of extents",
        "fills.brackets": "minimal string",
        "rejected_records": "unreadable line",
    },
    carries=(
        *("sources", "documents", "frames", "fills", "frames.frame", "frames.optional"),
        *("fills.target", "fills.text", "fills.quoted", "fills.extents", "fills.brackets"),
    ),
    known_losses="layout of non-canonical lines; unreadable lines",
    sniff=sniff,
    read=read,
    codes=("HUB1",),
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

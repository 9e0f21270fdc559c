r"""Audacity labels: a label track per document, one label per line.

Format:
    Start, end and label, separated by tabs, in one file `<document>.txt` per document. A label with
    frequencies is followed by a line of a backslash, the lower and the upper one.

Conventions:
    Times are seconds; a point has the same start and end. A label is the kind, the label and the
    properties of an instance: `norm: 101 | status=adhere | llr=1.5`; without a kind it has that of
    the setting `kind`. Empty lines are skipped.

Example lines:
    45.200000	60.200000	norm: 101 | status=adhere | llr=1.5
    \	100.000000	8000.000000

Codes raised: TLN1xx, TLN3xx.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.timelines import notation
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import DocumentRows, read_rows
from hlteval.converters.toolkit.source_files import beginning, locate_lines
from hlteval.findings import FieldRef, Location, Problem, line_findings
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Column, Table, shorten

SUFFIX = ".txt"
_SECONDS = re.compile(notation.SECONDS)
_FREQUENCIES = re.compile(rf"\\\t(?:-?{notation.SECONDS}\t-?{notation.SECONDS})[ \t]*")
_LABEL = re.compile("[0-9]+[.,]?[0-9]*\t[0-9]+[.,]?[0-9]*\t.*[^0-9 \r].*")
_CELLS = 3
#: The cells of a label; the last one may have tabs.
TABLE = Table(
    (
        *(Column(name, "number", pattern=notation.SECONDS) for name in ("start", "end")),
        Column("label", usual=".*[^0-9., ].*"),
    ),
    ascending=("start", "end"),
    ignored=r"\\$",
)
#: Files of a folder that are looked at.
_SNIFFED = 3


def sniff(source: Source) -> bool:
    """Whether the first files of text begin with labels; those of texts with annotations do not."""
    members = source_files.with_suffix(source, SUFFIX)[:_SNIFFED]
    files = [beginning(member).split("\n")[:5] for member in members]
    others = source_files.has_suffix(source, (".a1", ".a2", ".ann"))
    # PubTator, whose lines look alike, and columns after a comment
    others |= any("|t|" in lines[0] or lines[0].startswith("#") for lines in files)
    headers = (lines[0] for lines in files if lines[0].count("\t") >= _CELLS)
    others |= any(not line[0].isdigit() for line in headers)  # of tables with columns of numbers
    return not others and any(map(_LABEL.fullmatch, chain.from_iterable(files)))


def read(source: Source, kind: str = "norm") -> Iterator[ReadResult]:
    """The instances of a source in batches, in the order of their documents."""
    return read_rows(source, FORMAT.name, SUFFIX, partial(_take, kind=kind))


def _take(rows: DocumentRows, origin: int, name: str, content: str, kind: str) -> None:
    """Add the labels of a file, and what is wrong in it."""
    member = rows.files.members[origin]
    rows.begin(origin, name)
    lines = [line.removesuffix("\r") for line in content.split("\n")]
    problems: list[Problem] = []
    for record, line in enumerate(lines, start=1):
        if not line.strip() or _FREQUENCIES.fullmatch(line):
            continue
        if wrong := _problems(record, line):
            problems += wrong
            rows.add("rejected_records", wrong[0].rejection("instance", line))
            continue
        start, end, label = line.split("\t", _CELLS - 1)
        note = notation.parse(label)
        moved = (problem.shift(len(line) - len(label)) for problem in note.problems)
        problems += (problem._replace(record=record) for problem in moved)
        notation.add_instance(rows, record, note, kind, start=float(start), end=float(end))
    rows.findings += line_findings(problems, lines, member.display, member.max_per_code)


def _problems(record: int, line: str) -> list[Problem]:
    """The problems of the cells of a line."""
    if line.startswith("\\"):
        return [Problem("TLN304", record, 0, len(line))]
    cells = line.split("\t")
    if len(cells) < _CELLS:
        return [Problem("TLN301", record, 0, len(line), {"given": len(cells)})]
    start, end = cells[:2]
    problems = []
    for column, cell in (("start", start), ("end", end)):
        if not _SECONDS.fullmatch(cell):
            values = {"given": shorten(cell, 40) or "nothing", "column": column}
            problems.append(Problem("TLN302", record, *_stretch(line, column), values))
    if not problems and float(start) > float(end):
        values = {"start": start, "end": end}
        problems.append(Problem("TLN303", record, *_stretch(line, "end"), values))
    return problems


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The cells of a file; a record is a line, and all but its times are in the label."""
    return locate_lines(member, places, _stretch)


def _stretch(line: str, field: str) -> tuple[int, int]:
    """The place of a cell in its line."""
    cells = line.split("\t", _CELLS - 1)
    if not field or len(cells) < _CELLS:
        return 0, len(line)
    number = {"start": 0, "end": 1}.get(field, 2)
    start = sum(len(cell) + 1 for cell in cells[:number])
    return start, start + len(cells[number])


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The file of each document with its labels, with the name of the original one."""

    def labels(rows: pl.DataFrame) -> pl.Expr:
        times = (notation.plain_text(rows[name]) for name in ("start", "end"))
        return pl.format("{}\t{}\t{}\n", *times, "text")

    return notation.label_files(corpus, FORMAT.name, SUFFIX, labels)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what labels cannot represent."""
    return notation.count_losses(corpus, FORMAT.name, SUFFIX)


FORMAT = declaration(__name__)

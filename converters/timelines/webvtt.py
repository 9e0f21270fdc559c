r"""WebVTT: instances as the cues of captions, one file per document.

Format:
    W3C WebVTT, one file `<document>.vtt` per document: the line `WEBVTT`, then cues, separated by
    empty lines. A cue has a line of times and lines of text; `NOTE`, `STYLE` and `REGION` begin
    other blocks.

Conventions:
    Times are milliseconds (seconds in the tables). Each line of text of a cue is an instance: the
    kind, the label and the properties, `norm: 101 | status=adhere | llr=1.5`; without a kind it has
    that of the setting `kind`. Tags are left out, `&amp;` and the like are characters.

Example lines:
    00:00:45.200 --> 00:01:00.200
    norm: 101 | status=adhere | llr=1.5

Codes raised: TLN1xx, TLN4xx.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from html import unescape
from itertools import groupby

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.timelines import notation
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import DocumentRows, read_rows
from hlteval.converters.toolkit.source_files import head
from hlteval.findings import Problem, line_findings
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.syntax.xml_places import content

SUFFIX = ".vtt"
_HEADER = re.compile(r"WEBVTT(?:[ \t].*)?")
_ARROW = "-->"
_TIME = re.compile(r"(?:(\d{2,6}):)?([0-5]\d):([0-5]\d)\.(\d{3})", re.A)
_LINE = re.compile(r"[ \t]*(\S*)[ \t]*-->[ \t]*(\S*).*")
_OTHER = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t].*)?")
_TAG = re.compile("<[^>]*>")

#: The number of a line, from 1, and the line.
Line = tuple[int, str]


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or the only file the header."""
    return source_files.has_suffix(source, SUFFIX) or bool(_HEADER.match(head(source)))


def read(source: Source, kind: str = "norm") -> Iterator[ReadResult]:
    """The instances of a source in batches, in the order of their documents."""
    return read_rows(source, FORMAT.name, SUFFIX, partial(_take, kind=kind))


def _take(rows: DocumentRows, origin: int, name: str, text: str, kind: str) -> None:
    """Add the cues of a file, and what is wrong in it."""
    member = rows.files.members[origin]
    rows.begin(origin, name)
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    numbered = list(enumerate(lines, start=1))
    problems: list[Problem] = []
    if _HEADER.fullmatch(lines[0]):
        del numbered[0]
    else:
        problems.append(Problem("TLN401", 1, 0, len(lines[0])))
    for filled, run in groupby(numbered, lambda line: bool(line[1].strip())):
        block = list(run)
        if filled and not _OTHER.fullmatch(block[0][1]):
            problems += _cue(rows, block, kind)
    rows.findings += line_findings(problems, lines, member.display, member.max_per_code)


def _cue(rows: DocumentRows, block: Sequence[Line], kind: str) -> Iterator[Problem]:
    """Add the instances of a cue, the lines between two empty ones; its problems."""
    head = next((number for number, line in enumerate(block) if _ARROW in line[1]), None)
    if head is None:
        record, line = block[0]
        if record > 1 or not line.startswith("WEBVTT"):  # else the header is wrong
            yield Problem("TLN404", record, 0, len(line))
        return
    record, line = block[head]
    (start, end), problem = _times(record, line)
    if problem:
        rows.add("rejected_records", problem.rejection("instance", line))
        yield problem
        return
    if head + 1 == len(block):
        yield Problem("TLN101", record, 0, len(line))
    for record, line in block[head + 1 :]:
        note = notation.parse(unescape(_TAG.sub("", line)))
        for problem in note.problems:
            yield problem._replace(record=record, start=0, end=len(line))
        notation.add_instance(rows, record, note, kind, start=start, end=end)


def _times(record: int, line: str) -> tuple[tuple[float, float], Problem | None]:
    """The start and the end in a line, in seconds, or what is wrong with them.

    Examples:
        >>> _times(1, "00:45.200 --> 01:00:00.000 align:start")
        ((45.2, 3600.0), None)
    """
    found, times = _LINE.fullmatch(line), list[int]()
    for group in (1, 2):
        time = _TIME.fullmatch(found[group]) if found else None
        if not time:
            start, end = found.span(group) if found and found[group] else (0, len(line))
            return (0, 0), Problem("TLN402", record, start, end, {"given": line[start:end][:40]})
        hours, minutes, seconds, fraction = (int(digits or 0) for digits in time.groups())
        times.append((hours * 3600 + minutes * 60 + seconds) * 1000 + fraction)
    if times[0] >= times[1]:
        return (0, 0), Problem("TLN403", record, 0, len(line))
    return (times[0] / 1000, times[1] / 1000), None


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The file of each document with its cues, with the name of the original one."""
    return notation.label_files(corpus, FORMAT.name, SUFFIX, _cues, head="WEBVTT\n")


def _cues(_: pl.DataFrame) -> pl.Expr:
    """Instances of some length as cues with hours, minutes and seconds."""
    clocks = []
    for time in (notation.milliseconds("start"), notation.milliseconds("end")):
        parts = ((time // 3_600_000, 2), (time // 60_000 % 60, 2), (time // 1000 % 60, 2))
        digits = (part.cast(pl.String).str.zfill(size) for part, size in (*parts, (time % 1000, 3)))
        clocks.append(pl.format("{}:{}:{}.{}", *digits))
    cue = pl.format("\n{} --> {}\n{}\n", *clocks, content("text"))
    return pl.when(notation.has_length()).then(cue)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what cues cannot represent."""
    rows = notation.rows_in_seconds(corpus, "instances").filter(notation.fits("instances"))
    losses = notation.count_losses(corpus, FORMAT.name, SUFFIX)
    return {**losses, **notation.count_rounded("instances", rows)}


FORMAT = declaration(__name__)

"""Links of identifiers: the columns that define and mention them, and their places in files."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import polars as pl

from hlteval.converters import Format, ReadResult
from hlteval.findings import FieldRef, Span
from hlteval.lsp.documents import Buffer, OpenFiles
from hlteval.lsp.judging import USAGE, NoUnit, Places, unit_of
from hlteval.lsp.worker import Links, Order, Site
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode
from hlteval.workflows.run.batches import Submission
from hlteval.workflows.run.engine import open_submission
from hlteval.workflows.run.request import Request


class Names(NamedTuple):
    """Identifiers of one kind.

    Attributes:
        defined: the columns with the identifier of a record itself.
        mentioned: the columns with that of another record.
        global_scope: whether documents share them.
    """

    defined: tuple[str, ...]
    mentioned: tuple[str, ...]
    global_scope: bool = False


#: The kinds of identifiers; a table that a corpus does not have rows of says nothing.
KINDS = {
    "item": Names(
        ("mentions.mention", "frames.frame", "modifiers.modifier", "groups.group"),
        (
            *("arguments.target", "frames.trigger", "groups.member", "modifiers.target"),
            *("fills.target", "sentiments.target"),
        ),
    ),
    "segment": Names(("segments.name", "translations.segment"), ("frames.justification",)),
    "region": Names(("regions.region",), ("instances.region", "ratings.region")),
    "entity": Names(
        ("entities.entity",),
        ("mentions.entity", "links.entity", "frames.place_kb", "sentiments.holder_kb"),
        global_scope=True,
    ),
}
_SHAPE = {
    "kind": pl.String,
    "document": pl.String,
    "identifier": pl.String,
    "defines": pl.Boolean,
    "origin": pl.Int64,
    "record": pl.Int64,
}


def identifiers(corpus: Corpus) -> pl.DataFrame:
    """Every identifier of a corpus.

    Returns:
        A table of `kind`, `document` (its name; empty where documents share the identifiers),
        `identifier` as written, whether the record `defines` it, and its `origin` and `record`.
    """
    documents = corpus.documents.select(document="row", _name="name")
    parts = [pl.DataFrame(schema=_SHAPE)]
    for kind, names in KINDS.items():
        scope = pl.lit("") if names.global_scope else pl.col("_name")
        for path in (*names.defined, *names.mentioned):
            table, _, column = path.partition(".")
            rows: pl.DataFrame = getattr(corpus, table)
            if not rows.height or not {"record", "origin"} <= {*rows.columns}:
                continue
            part = (
                rows.select("document", "origin", "record", identifier=column)
                .filter(pl.col("identifier").is_not_null(), pl.col("identifier") != "")
                .join(documents, on="document", how="left", maintain_order="left")
                .select(
                    kind=pl.lit(kind),
                    document=scope.fill_null(""),
                    identifier="identifier",
                    defines=pl.lit(path in names.defined),
                    origin="origin",
                    record="record",
                )
            )
            parts.append(part)
    return pl.concat(parts)


#: Most places that are given.
_SITES = 1000
#: Characters after the beginning of a record in which its identifiers are looked for.
_AHEAD = 20_000


@dataclass(frozen=True)
class _File:
    """A file that was read, with its format.

    Attributes:
        member: the file.
        form: its format.
        path: its key; None if it is not a document.
    """

    member: Member
    form: Format
    path: str | None

    @cached_property
    def lines(self) -> Sequence[str]:
        """Its lines, as findings count them; none if it cannot be read."""
        try:
            data = self.member.fetch()
        except Unreadable:
            return ()
        text = decode(data, display=self.member.display, encoding=self.member.encoding).text
        return (text or "").split("\n")

    def spans(self, records: Sequence[int]) -> list[Span | None]:
        """The spans of records."""
        try:
            locations = self.form.locate(self.member, [FieldRef(record) for record in records])
        except Unreadable:
            return [None] * len(records)
        return [None if place is None else place.span for place in locations]

    def within(self, span: Span, identifier: str) -> Iterator[Span]:
        """The places of an identifier in a record, or after its beginning."""
        pattern, left = _pattern(identifier), _AHEAD
        for number in range(span.line, len(self.lines) + 1):
            line = self.lines[number - 1]
            first = number == span.line
            start = span.column - 1 if first else 0
            end = span.end_column - 1 if first and span.end_column > span.column else len(line)
            matches = [*pattern.finditer(line, start, end)] or pattern.finditer(line, start)
            yield from (Span(number, m.start() + 1, m.end() + 1) for m in matches)
            left -= len(line) + 1
            if left <= 0:
                return


def _pattern(identifier: str) -> re.Pattern[str]:
    """The identifier as a word of its own."""
    before = r"(?<!\w)" if identifier[:1].isalnum() else ""
    after = r"(?!\w)" if identifier[-1:].isalnum() else ""
    return re.compile(before + re.escape(identifier) + after)


def links(order: Order, buffers: Mapping[str, Buffer]) -> Links:
    """The definitions and mentions of the identifier at a position; nothing where there is none.

    Args:
        order: with the document and the position.
        buffers: by key; the document is among them.
    """
    (path,) = order.paths
    try:
        unit = unit_of(path, OpenFiles(buffers), order.given, order.tasks.get(path, ""))
        files = OpenFiles(buffers, unit.encoding)
        opened = open_submission(Request(unit.task.name, **unit.arguments(files)))
    except (NoUnit, *USAGE):
        return Links()
    sources = {unit.path: opened.system}
    if opened.reference is not None:
        sources[opened.reference.path] = opened.reference
    places = Places(files, sources, order.units)
    tables: list[pl.DataFrame] = []
    read: list[_File] = []
    for own, form, result in _read(opened, path, places):
        origin = pl.col("origin") + len(read)
        tables.append(identifiers(result.corpus).with_columns(origin, own=pl.lit(own)))
        keys = places.keys
        read += [_File(member, form, keys.get(member.display)) for member in result.members]
    text = places.text(path)
    number = next((n for n, file in enumerate(read) if file.path == path), None)
    rows = pl.concat(tables) if tables else pl.DataFrame()
    if text is None or number is None or rows.is_empty():
        return Links()
    here = rows.filter(pl.col("origin") == number)
    line, column = _as_written(text.lines, *text.inside(order.position))
    target = _identifier_at(read[number], here, line, column)
    if target is None:
        return Links()
    identifier, span, records = target
    same = here.filter(pl.col("identifier") == identifier, pl.col("record").is_in(records))
    key = ["kind", "document", "identifier"]
    rows = rows.join(same.select(key).unique(), on=key, how="semi", maintain_order="left")
    # Both sides may define an identifier, each for itself.
    ours = rows.filter(pl.col("own"))
    defined = _sites(ours.filter(pl.col("defines")), read, places)
    defined = defined or _sites(rows.filter(pl.col("defines")), read, places)
    mentioned = _sites(ours.filter(~pl.col("defines")), read, places)
    return Links(text.range(span), defined or mentioned[:1], mentioned)


def _sites(rows: pl.DataFrame, files: Sequence[_File], places: Places) -> tuple[Site, ...]:
    """The places of the identifiers of rows, once each."""
    sites: dict[Site, None] = {}
    counts = rows.head(_SITES).group_by("origin", "record", "identifier", maintain_order=True).len()
    for (origin,), part in counts.group_by("origin", maintain_order=True):
        file = files[int(str(origin))]
        text = places.text(file.path) if file.path else None
        if file.path is None or text is None:
            continue
        spans = file.spans(part["record"].to_list())
        for span, identifier, count in zip(spans, part["identifier"], part["len"], strict=True):
            if span is not None:  # as many places as rows; the record if there is none
                inside = [*islice(file.within(span, identifier), count)] or [span]
                sites |= dict.fromkeys(Site(file.path, text.range(each)) for each in inside)
    return tuple(sites)


def _read(
    opened: Submission, path: str, places: Places
) -> Iterator[tuple[bool, Format, ReadResult]]:
    """The files of a document of both sides, with their formats; all where they are one file.

    What comes first is whether it is the side of the document.
    """
    sides: list[tuple[Source, Format, Mapping[str, tuple[Member, ...]]]]
    sides = [(opened.system, opened.format, opened.system_files)]
    if opened.reference is not None:
        sides.append((opened.reference, opened.reference_format, opened.reference_files))
    names = [name for _, _, files in sides for name, members in files.items()
             if any(places.keys.get(member.display) == path for member in members)]  # fmt: skip
    for source, form, files in sides:
        wanted = names if form.layout == "per_document" and "" not in names else list(files)
        members = [member for name in wanted for member in files.get(name, ())]
        for result in form.read(source.only(members)) if members else ():
            yield source is opened.system, form, result


def _as_written(lines: Sequence[str], line: int, column: int) -> tuple[int, int]:
    """The line and column, as findings count them, of those of the protocol."""
    number, rest = 1 + sum(text.endswith("\n") for text in lines[:line]), column
    for before in reversed(lines[:line]):
        if before.endswith("\n"):
            break
        rest += len(before)
    return number, rest + 1 - (number == 1 and lines[0].startswith("\ufeff"))


def _identifier_at(
    file: _File, rows: pl.DataFrame, line: int, column: int
) -> tuple[str, Span, list[int]] | None:
    """The longest identifier at a position, its span, and the records that may have it there.

    Args:
        file: the file.
        rows: its identifiers.
        line: the line as in findings, 1-based.
        column: the column, 1-based.
    """
    records = rows["record"].unique().sort().to_list()
    spans = dict(zip(records, file.spans(records), strict=True))
    starts = sorted((span.line, span.column, record) for record, span in spans.items() if span)
    before = starts[: bisect_right(starts, (line, column, float("inf")))]
    here = [record for *place, record in before[-2:] if place == [*before[-1][:2]]]
    text = file.lines[line - 1] if line <= len(file.lines) else ""
    known = rows.filter(pl.col("record").is_in(here))["identifier"].unique().to_list()
    for identifier in sorted(known, key=lambda name: (-len(name), name)):
        for match in _pattern(identifier).finditer(text):
            if match.start() <= column - 1 <= match.end():
                return identifier, Span(line, match.start() + 1, match.end() + 1), here
    return None

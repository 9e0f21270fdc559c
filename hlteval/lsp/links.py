"""Links from place to place: where an identifier is defined, and where it is mentioned.

Nothing here knows a format: the tables say which records have an identifier, `locate` of the format
where these records are, and the text where in them it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import polars as pl

from hlteval.converters import Format, ReadResult
from hlteval.findings import FieldRef, Span
from hlteval.lsp.buffers import Buffer, OpenFiles
from hlteval.lsp.identifiers import identifiers
from hlteval.lsp.judging import USAGE, Places
from hlteval.lsp.orders import Links, Order, Site
from hlteval.lsp.units import NoUnit, unit_of
from hlteval.sources import Member, Source, Unreadable, decode
from hlteval.workflows.batches import Submission
from hlteval.workflows.validation import open_submission

_SITES = 1000
"""Most places that are given."""
_AHEAD = 20_000
"""Characters after the beginning of a record in which its identifiers are looked for."""


class _Target(NamedTuple):
    """A position in a file: line and column as in findings, 1-based."""

    line: int
    column: int


@dataclass(frozen=True)
class _File:
    """A file that was read, with its format.

    Attributes:
        member: the file.
        form: its format.
    """

    member: Member
    form: Format

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
        """Where records are."""
        try:
            located = self.form.locate(self.member, [FieldRef(record) for record in records])
        except Unreadable:
            return [None] * len(records)
        return [None if place is None else place.span for place in located]

    def within(self, span: Span, identifier: str) -> Iterator[Span]:
        """The places of an identifier in a record, or after its beginning."""
        pattern, left = _pattern(identifier), _AHEAD
        for number in range(span.line, len(self.lines) + 1):
            line = self.lines[number - 1]
            first = number == span.line
            start = span.column - 1 if first else 0
            end = span.end_column - 1 if first and span.end_column > span.column else len(line)
            found = [
                Span(number, m.start() + 1, m.end() + 1) for m in pattern.finditer(line, start, end)
            ]
            found = found or [
                Span(number, m.start() + 1, m.end() + 1) for m in pattern.finditer(line, start)
            ]
            yield from found
            left -= len(line) + 1
            if left <= 0:
                return


def _pattern(identifier: str) -> re.Pattern[str]:
    """The identifier as a word of its own."""
    before = r"(?<!\w)" if identifier[:1].isalnum() else ""
    after = r"(?!\w)" if identifier[-1:].isalnum() else ""
    return re.compile(before + re.escape(identifier) + after)


def links(order: Order, buffers: Mapping[str, Buffer]) -> Links:
    """Where the identifier at a position is defined and mentioned; nothing where there is none.

    Args:
        order: with the document and the position.
        buffers: by key; the document is among them.
    """
    (path,) = order.paths
    try:
        unit = unit_of(path, OpenFiles(buffers), order.given, order.tasks.get(path, ""))
        files = OpenFiles(buffers, unit.encoding)
        opened = open_submission(unit.task.name, **unit.arguments(files))
    except (NoUnit, *USAGE):
        return Links()
    sources = {unit.path: opened.system}
    if opened.reference is not None:
        sources[opened.reference.path] = opened.reference
    places = Places(files, sources, order.units)
    return _Index.of(opened, path, places).links(order)


@dataclass(frozen=True)
class _Index:
    """The identifiers of what was read.

    Attributes:
        path: the key of the document.
        places: of the files.
        rows: a row for each identifier of a record, with the number of its file.
        files: by these numbers.
    """

    path: str
    places: Places
    rows: pl.DataFrame
    files: Sequence[_File]

    @classmethod
    def of(cls, opened: Submission, path: str, places: Places) -> _Index:
        """The identifiers of a document, and of what belongs to it."""
        rows: list[pl.DataFrame] = []
        files: list[_File] = []
        for own, form, result in _read(opened, path, places):
            found = identifiers(result.corpus)
            rows.append(found.with_columns(pl.col("origin") + len(files), own=pl.lit(own)))
            files += [_File(member, form) for member in result.members]
        return cls(path, places, pl.concat(rows) if rows else pl.DataFrame(), files)

    def links(self, order: Order) -> Links:
        """What the identifier at the position of an order leads to."""
        text = self.places.text(self.path)
        number = next(
            (n for n, file in enumerate(self.files) if self._key(file) == self.path), None
        )
        if text is None or number is None or self.rows.is_empty():
            return Links()
        own = self.rows.filter(pl.col("origin") == number)
        at = _Target(*_as_written(text.lines, *text.inside(order.position)))
        found = _at(self.files[number], own, at)
        if found is None:
            return Links()
        identifier, span, records = found
        same = own.filter(pl.col("identifier") == identifier, pl.col("record").is_in(records))
        key = ["kind", "document", "identifier"]
        rows = self.rows.join(same.select(key).unique(), on=key, how="semi", maintain_order="left")
        # Both sides may define an identifier, each for itself.
        ours = rows.filter(pl.col("own"))
        defined = self._sites(ours.filter(pl.col("defines")))
        defined = defined or self._sites(rows.filter(pl.col("defines")))
        mentioned = self._sites(ours.filter(~pl.col("defines")))
        return Links(text.range(span), defined or mentioned[:1], mentioned)

    def _key(self, file: _File) -> str | None:
        return self.places.keys.get(file.member.display)

    def _sites(self, rows: pl.DataFrame) -> tuple[Site, ...]:
        """Where the identifiers of rows are, once each."""
        found: dict[Site, None] = {}
        rows = (
            rows.head(_SITES).group_by("origin", "record", "identifier", maintain_order=True).len()
        )
        for (origin,), part in rows.group_by("origin", maintain_order=True):
            file = self.files[int(str(origin))]
            path = self._key(file)
            text = self.places.text(path) if path else None
            if path is None or text is None:
                continue
            spans = file.spans(part["record"].to_list())
            for span, identifier, count in zip(spans, part["identifier"], part["len"], strict=True):
                for place in _places(file, span, identifier, count):
                    found[Site(path, text.range(place))] = None
        return tuple(found)


def _places(file: _File, span: Span | None, identifier: str, count: int) -> list[Span]:
    """So many places of an identifier in a record; the record if it is not there."""
    if span is None:
        return []
    inside = [place for place, _ in zip(file.within(span, identifier), range(count), strict=False)]
    return inside or [span]


def _read(
    opened: Submission, path: str, places: Places
) -> Iterator[tuple[bool, Format, ReadResult]]:
    """The files of a document of both sides, with their formats; all where they are one file.

    What comes first is whether it is the side of the document.
    """
    sides: list[tuple[Source, Format, Mapping[str, tuple[Member, ...]]]]
    sides = [(opened.system, opened.format, opened.found)]
    if opened.reference is not None:
        sides.append((opened.reference, opened.reference_format, opened.expected))
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


def _at(file: _File, rows: pl.DataFrame, at: _Target) -> tuple[str, Span, list[int]] | None:
    """The longest identifier at a position, its span, and the records that may have it there."""
    records = rows["record"].unique().sort().to_list()
    spans = dict(zip(records, file.spans(records), strict=True))
    starts = sorted((span.line, span.column, record) for record, span in spans.items() if span)
    end = bisect_right(starts, (at.line, at.column, float("inf")))
    if not end:
        return None
    line, column, _ = starts[end - 1]
    here = [record for *place, record in starts[:end][-2:] if place == [line, column]]
    text = file.lines[at.line - 1] if at.line <= len(file.lines) else ""
    known = rows.filter(pl.col("record").is_in(here))["identifier"].unique().to_list()
    for identifier in sorted(known, key=lambda name: (-len(name), name)):
        for found in _pattern(identifier).finditer(text):
            if found.start() <= at.column - 1 <= found.end():
                return identifier, Span(at.line, found.start() + 1, found.end() + 1), here
    return None

"""Parts: some documents of large files, read by themselves as if there were no others.

Both sides of an evaluation are divided alike, so that a part has all lines of its documents. That
needs files in which each document has its lines together (`Format.sections`), and both sides the
same order of those that they share; all other files are read as a whole.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import msgspec
import polars as pl

from hlteval.converters import Format, ReadResult
from hlteval.findings import FieldRef, Location
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source, Unreadable
from hlteval.syntax.sections import Stretch

#: Bytes of both sides from which files are read in parts, and bytes of a part.
LARGE, PART = 48_000_000, 24_000_000

#: Finds places of a file.
Locate = Callable[[Member, Sequence[FieldRef]], list[Location | None]]


class NotApart(Exception):
    """Parts do not show all that whole files would."""


class Part(NamedTuple):
    """The lines of some documents of both sides; None for a side that is not compared."""

    reference: Stretch | None
    system: Stretch


class Parts(NamedTuple):
    """The parts of two files, or of one.

    Attributes:
        parts: the parts, in order.
        documents: how many documents there are.
        reference: the digest of the reference; empty without one.
        system: that of the submission.
    """

    parts: list[Part]
    documents: int
    reference: str
    system: str

    def stretches(self, *, of_reference: bool) -> list[Stretch]:
        """The lines of a side of each part; parts without any are left out."""
        sides = (part.reference if of_reference else part.system for part in self.parts)
        return [side for side in sides if side is not None and side.end > side.start]


def divide(
    form: Format, system: Source, gold: tuple[Format, Source] | None, documents: int | None
) -> Parts | None:
    """Divide a submission, and its reference, into parts.

    Args:
        form: the format of the submission.
        system: the submission.
        gold: the format and the source of the reference, if there is one.
        documents: documents of a part; as many as are of some size by default.

    Returns:
        None where they are small, or cannot be divided.
    """
    sides = [(form, system), *([gold] if gold else [])]
    if any(form.sections is None or not _is_one_file(source) for form, source in sides):
        return None
    if documents is None and sum(source.members[0].size or 0 for _, source in sides) < LARGE:
        return None
    try:
        found = [form.sections(source.members[0]) for form, source in sides if form.sections]
    except Unreadable:
        return None
    ours = found[0]
    if ours is None or (theirs := found[-1]) is None:
        return None
    if gold is None:
        cuts = [(end, end) for end in range(1, len(ours.names) + 1)]
    elif (cuts := _merge(theirs.names, ours.names)) == []:
        return None
    parts, done = list[Part](), (0, 0)
    for number, cut in enumerate(cuts, start=1):
        size = ours.starts[cut[1]] - ours.starts[done[1]]
        if gold is not None:
            size += theirs.starts[cut[0]] - theirs.starts[done[0]]
        complete = size >= PART if documents is None else not number % documents
        if complete or number == len(cuts):
            reference = theirs.stretch(done[0], cut[0]) if gold else None
            parts.append(Part(reference, ours.stretch(done[1], cut[1])))
            done = cut
    return Parts(parts, len(cuts), theirs.sha256 if gold else "", ours.sha256)


def _is_one_file(source: Source) -> bool:
    """Whether a source is a file in UTF-8 that is read from any offset."""
    if source.kind != "file" or len(source.members) != 1 or source.findings:
        return False
    member = source.members[0]
    return hasattr(member.fetch, "read") and member.encoding.lower() in {"utf-8", "utf8"}


def _merge(reference: Sequence[str], system: Sequence[str]) -> list[tuple[int, int]]:
    """How many documents of each side there are up to each document, in the order of both sides.

    Returns:
        A pair for each document; nothing if the sides have the documents in different orders.

    Examples:
        >>> _merge(["a", "b", "d"], ["b", "c", "d"])
        [(1, 0), (2, 1), (2, 2), (3, 3)]
        >>> _merge(["a", "b"], ["b", "a"])
        []
    """
    places = {name: number for number, name in enumerate(reference)}
    merged, ours = list[tuple[int, int]](), 0
    for number, name in enumerate(system):
        place = places.get(name)
        if place is not None:
            if place < ours:
                return []
            merged += ((end, number) for end in range(ours + 1, place + 1))
            ours = place + 1
        merged.append((ours, number + 1))
    return [*merged, *((end, len(system)) for end in range(ours + 1, len(reference) + 1))]


def read_stretch(form: Format, source: Source, stretch: Stretch, sha256: str) -> ReadResult:
    """Read some lines of a file; their records have the order that they have in the file.

    Args:
        form: the format.
        source: the file.
        stretch: the lines.
        sha256: the digest of the file.

    Raises:
        NotApart: if the reader finds anything, of which a whole file may show the cause.
    """
    member = source.members[0]
    results = list(form.read(source.only([some_lines(member, stretch)])))
    detected = {result.detected for result in results}
    if len(detected) != 1 or any(result.findings for result in results):
        raise NotApart
    corpus = results[0].corpus
    if len(results) > 1:
        corpus = Corpus.concat(result.corpus for result in results)
    tables = {"sources": corpus.sources.with_columns(sha256=pl.lit(sha256))}
    if stretch.names is not None:
        if corpus.documents.height != len(stretch.names):
            raise NotApart
        names = pl.Series(stretch.names, dtype=pl.String)
        tables["documents"] = corpus.documents.with_columns(name=names)
    for name, table in TABLES.items():
        rows = tables.get(name, getattr(corpus, name))
        if "record" in table.schema and stretch.records and rows.height:
            tables[name] = rows.with_columns(pl.col("record") + stretch.records)
    members = (member,) * corpus.sources.height
    return replace(results[0], corpus=corpus.replace(**tables), members=members)


def some_lines(member: Member, stretch: Stretch) -> Member:
    """Some lines of a file, as a file."""
    size = stretch.end - stretch.start
    fetch = partial(member.reader(), stretch.start, size)
    return msgspec.structs.replace(member, size=size, fetch=fetch)


def locate_apart(
    member: Member, places: Sequence[FieldRef], locate: Locate, stretches: Sequence[Stretch]
) -> list[Location | None]:
    """Locate places of a file in parts of it, so that it is not all in memory.

    Args:
        member: the file.
        places: the places.
        locate: finds them in a file.
        stretches: the lines of all parts, in order.
    """
    firsts = [stretch.records for stretch in stretches]
    by_part: dict[int, list[int]] = {}
    for number, place in enumerate(places):
        by_part.setdefault(bisect_left(firsts, place.record) - 1, []).append(number)
    found: list[Location | None] = [None] * len(places)
    for part, numbers in by_part.items():
        stretch, first = stretches[part], firsts[part]
        own = [FieldRef(places[n].record - first, places[n].field) for n in numbers]
        lines = some_lines(member, stretch)
        for number, location in zip(numbers, locate(lines, own), strict=True):
            if location is not None:
                span = msgspec.structs.replace(location.span, line=location.span.line + stretch.lines)
                found[number] = Location(span, location.excerpt)
    return found

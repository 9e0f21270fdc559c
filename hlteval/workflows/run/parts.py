"""Parts: some documents of large files, read by themselves as if there were no others.

Both sides of an evaluation are divided alike, so that a part has all lines of its documents. That
needs files in which each document has its lines together (`Format.sections`), and documents that
both sides share in about the same order: a file is cut where a document begins on both sides.
Whether a part has documents of another one is checked when they are read (`Check.add`). All other
files are read as a whole.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

import msgspec
import polars as pl

from hlteval.converters import Format, ReadResult
from hlteval.findings import FieldRef, Location
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source, Unreadable
from hlteval.syntax.sections import NEAR, Divisible, Stretch

#: Bytes of both sides from which files are read in parts, and bytes of a part.
LARGE, PART = 48_000_000, 12_000_000
#: Documents that are looked for on the other side for a cut, and how often that may fail.
_TRIED, _FAILED = 8, 4

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
        reference: the digest of the reference; empty without one.
        system: that of the submission.
    """

    parts: list[Part]
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
    sides = [*([gold] if gold else []), (form, system)]
    if any(form.sections is None or not _is_one_file(source) for form, source in sides):
        return None
    files = [_file_of(source) for _, source in sides]
    sizes = [file.size or 0 for file in files]
    if not all(sizes) or (documents is None and sum(sizes) < LARGE):
        return None
    try:
        found = [
            form.sections(file)
            for (form, _), file in zip(sides, files, strict=True)
            if form.sections
        ]
        known = [own for own in found if own is not None]
        cuts = _cuts(known, sizes, documents) if len(known) == len(sides) else []
        each = [own.stretches(at) for own, at in zip(known, zip(*cuts, strict=True), strict=False)]
    except Unreadable:
        return None
    halves = [own for own in each if own is not None]
    if not cuts or len(halves) < len(sides):
        return None
    (theirs, reference), (ours, digest) = halves[0], halves[-1]
    if gold is None:
        return Parts([Part(None, own) for own in ours], "", digest)
    return Parts([*map(Part, theirs, ours)], reference, digest)


def _cuts(
    sides: Sequence[Divisible], sizes: Sequence[int], documents: int | None
) -> list[tuple[int, ...]]:
    """The offsets on all sides of documents where files are cut, in order.

    Args:
        sides: the documents of the reference, if there is one, and of the submission.
        sizes: the sizes of both files.
        documents: documents of the first side in a part; by default bytes decide.
    """
    share, near = PART * sizes[0] // sum(sizes), 2 * PART * sizes[-1] // sum(sizes)
    cuts, at, place, failed = list[tuple[int, ...]](), 0, 0, 0
    while failed < _FAILED:
        if documents is None:
            begins = sides[0].begins(at + share)
        else:
            begins, near = islice(sides[0].begins(at), documents - 1, None), NEAR
        some = dict(islice(begins, _TRIED))
        if not some:
            break
        found = sides[-1].find([*some], place, near) if len(sides) > 1 else (*some.items(),)[0]
        if found is None:
            failed, at = failed + 1, max(some.values())
            continue
        at, place = some[found[0]], found[1]
        cuts.append((at, place)[: len(sides)])
    return cuts


def _file_of(source: Source) -> Member:
    """The file of a source that is one, or that has the rows of its corpus."""
    return source.saved or source.members[0]


def _is_one_file(source: Source) -> bool:
    """Whether a source is a file in UTF-8 that is read from any offset."""
    if source.saved is not None:
        return True
    if source.kind != "file" or len(source.members) != 1 or source.findings:
        return False
    member = source.members[0]
    return hasattr(member.fetch, "read") and member.encoding.lower() in {"utf-8", "utf8"}


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
    member = _file_of(source)
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
    """Some lines of a file, after those of its head, as a file."""
    read = member.reader()
    pieces = [(start, end - start) for start, end in stretch.pieces or [stretch[:2]]]
    size = len(stretch.head) + sum(size for _, size in pieces)
    fetch = partial(lambda: b"".join([stretch.head, *(read(*piece) for piece in pieces)]))
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
    firsts = [own.lines if own.in_lines else own.start for own in stretches]
    by_part: dict[int, list[int]] = {}
    for number, place in enumerate(places):
        by_part.setdefault(bisect_left(firsts, place.record) - 1, []).append(number)
    found: list[Location | None] = [None] * len(places)
    for part, numbers in by_part.items():
        stretch = stretches[part]
        own = [FieldRef(places[n].record - stretch.records, places[n].field) for n in numbers]
        lines = some_lines(member, stretch)
        for number, location in zip(numbers, locate(lines, own), strict=True):
            if location is not None:
                span = msgspec.structs.replace(
                    location.span, line=location.span.line + stretch.shift
                )
                found[number] = Location(span, location.excerpt)
    return found

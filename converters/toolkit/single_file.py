"""What formats that are one file have in common: how it begins, how it is read, where lines are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from hlteval.converters.format import ReadResult
from hlteval.findings import FieldRef, Finding, Location, Span, excerpt
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256
from hlteval.syntax.tsv import Table


class File(NamedTuple):
    """A file that was read.

    Attributes:
        member: the file itself.
        text: what it says; None where that is no text in its encoding, which is told already.
        origin: its row of the table `sources`.
    """

    member: Member
    text: str | None
    origin: dict[str, object]


def head(source: Source, size: int = 4000) -> str:
    """How a source begins that is a single file; empty where it is none, or cannot be read.

    Args:
        source: what may be of a format.
        size: how many bytes are looked at; a mark of the encoding is left out.
    """
    if source.kind not in {"file", "stdin"} or not source.members:
        return ""
    return beginning(source.members[0], size)


def beginning(member: Member, size: int = 4000) -> str:
    """How a file begins; empty where it cannot be read.

    Args:
        member: the file.
        size: how many bytes are looked at; a mark of the encoding is left out.
    """
    try:
        begin = member.fetch()[:size]
    except Unreadable:
        return ""
    return begin.decode("utf-8", "replace").removeprefix("\ufeff")


def own_name(name: str, names: dict[str, int]) -> str:
    """A name for a document that no other one has: its own, or that with a number.

    Args:
        name: as it is written.
        names: how often each was given until now; it is kept up.

    Examples:
        >>> names = {}
        >>> [own_name("d1", names) for _ in range(3)]
        ['d1', 'd1 (2)', 'd1 (3)']
    """
    own, count = name, names.get(name, 0)
    while own in names:
        count += 1
        own = f"{name} ({count})"
    names[name] = max(count, 1)
    names.setdefault(own, 1)
    return own


def readings(
    source: Source, form: str, read: Callable[[File], tuple[Corpus, Iterable[Finding]]]
) -> Iterator[ReadResult]:
    """A reading of each file.

    Args:
        source: the files.
        form: name of the format.
        read: gives the corpus of a file, and what was wrong with it.
    """
    for member in source.members:
        try:
            data = member.fetch()
        except Unreadable as reason:
            yield ReadResult(Corpus(), (reason.finding,), (member,))
            continue
        decoded = decode(data, display=member.display, encoding=member.encoding)
        named = {"path": source.path, "member": member.name or member.basename}
        origin: dict[str, object] = {"row": 0, **named, "format": form, "sha256": sha256(data)}
        corpus, findings = read(File(member, decoded.text, origin))
        yield ReadResult(corpus, (*decoded.findings, *findings), (member,))


def whole_line(line: str, _: str) -> tuple[int, int]:
    """The stretch of a line that is all of it."""
    return 0, len(line)


def located(
    member: Member,
    places: Sequence[FieldRef],
    stretch: Callable[[str, str], tuple[int, int]] = whole_line,
) -> list[Location | None]:
    """Where places of a file stand whose records are its lines; None for a line that is not there.

    Args:
        member: the file.
        places: what is looked for.
        stretch: where a field stands in a line: first code point, and one past the last, from 0.
    """
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text
    lines = (text or "").split("\n")
    return [
        in_line(lines[place.record - 1].removesuffix("\r"), place, stretch)
        if 1 <= place.record <= len(lines)
        else None
        for place in places
    ]


def located_cells(
    member: Member, places: Sequence[FieldRef], table: Table
) -> list[Location | None]:
    """Where cells of a table are; None for a line that is not there.

    Args:
        member: the file.
        places: what is looked for; fields are names of columns or their headings.
        table: the declaration of the file.
    """
    first = beginning(member, 100_000).partition("\n")[0].removesuffix("\r")
    return located(member, places, (table.ordered_by(first) or table).stretch)


def in_line(
    line: str, place: FieldRef, stretch: Callable[[str, str], tuple[int, int]] = whole_line
) -> Location:
    """Where a place stands in its line; see `located`."""
    start, end = stretch(line, place.field)
    span = Span(place.record, start + 1, end + 1)
    return Location(span, excerpt(line, span))

"""What formats share that are a single file: how it begins, how it is read, where its lines are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from hlteval.converters.format import ReadResult
from hlteval.findings import FieldRef, Finding, Location, Span, excerpt
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256
from hlteval.syntax.tsv import SLICE, Lines, Table

#: Gives the place of a field in a line: first code point, and one past the last, 0-based.
SpanOf = Callable[[str, str], tuple[int, int]]


class File(NamedTuple):
    """A file and its text.

    Attributes:
        member: the file.
        text: its text; None where it cannot be decoded, which is reported already.
        origin: its row of the table `sources`.
    """

    member: Member
    text: str | None
    origin: dict[str, object]


def head(source: Source, size: int = 4000) -> str:
    """The beginning of a source that is a single file; empty for other sources.

    Args:
        source: the source.
        size: the number of bytes; a byte order mark is left out.
    """
    if source.kind not in {"file", "stdin"}:
        return ""
    return head_of_first(source, size)


def head_of_first(source: Source, size: int = 4000) -> str:
    """The beginning of the first file of any source; the arguments are those of `head`."""
    if not source.members:
        return ""
    return beginning(source.members[0], size)


def beginning(member: Member, size: int = 4000) -> str:
    """The beginning of a file; empty where it cannot be read.

    Args:
        member: the file.
        size: the number of bytes; a byte order mark is left out.
    """
    try:
        begin = member.reader()(0, size)
    except Unreadable:
        return ""
    return begin.decode("utf-8", "replace").removeprefix("\ufeff")


def unique_name(name: str, names: dict[str, int]) -> str:
    """A unique name for a document: its own, or its own with a number.

    Args:
        name: the name as written.
        names: the names in use, and how often each was written; the new one is added.

    Examples:
        >>> names = {}
        >>> [unique_name("d1", names) for _ in range(3)]
        ['d1', 'd1 (2)', 'd1 (3)']
    """
    unique, count = name, names.get(name, 0)
    while unique in names:
        count += 1
        unique = f"{name} ({count})"
    names[name] = max(count, 1)
    names.setdefault(unique, 1)
    return unique


def read_files(
    source: Source, form: str, read: Callable[[File], tuple[Corpus, Iterable[Finding]]]
) -> Iterator[ReadResult]:
    """The result of reading each file of a source.

    Args:
        source: the files.
        form: the name of the format.
        read: gives the corpus of a file and the findings in it.
    """
    for member in source.members:
        try:
            data = member.fetch()
        except Unreadable as reason:
            yield ReadResult(Corpus(), (reason.finding,), (member,))
            continue
        decoded = decode(data, display=member.display, encoding=member.encoding)
        names = {"path": source.path, "member": member.name or member.basename}
        origin: dict[str, object] = {"row": 0, **names, "format": form, "sha256": sha256(data)}
        corpus, findings = read(File(member, decoded.text, origin))
        yield ReadResult(corpus, (*decoded.findings, *findings), (member,))


def whole_line(line: str, _: str) -> tuple[int, int]:
    """The place of a field that is a whole line."""
    return 0, len(line)


def locate_lines(
    member: Member, places: Sequence[FieldRef], span_of: SpanOf = whole_line
) -> list[Location | None]:
    """The locations of fields in a file whose records are its lines; None for missing lines.

    Args:
        member: the file.
        places: the fields.
        span_of: gives the place of a field in its line.
    """
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text
    return locate_in_text(text or "", places, span_of)


def locate_in_text(
    text: str, places: Sequence[FieldRef], span_of: SpanOf = whole_line
) -> list[Location | None]:
    """The locations of fields in a text whose records are its lines; None for missing lines.

    Args:
        text: the text of a file.
        places: the fields.
        span_of: gives the place of a field in its line.
    """
    found = _lines_of(text, {place.record for place in places})
    return [
        locate_in_line(found[place.record], place, span_of) if place.record in found else None
        for place in places
    ]


def _lines_of(text: str, records: Collection[int]) -> dict[int, str]:
    """Some lines of a text by their numbers, as far as they are there."""
    if len(text) <= SLICE:  # thousands of small files are split in a moment
        every = text.split("\n")
        return {at: every[at - 1].removesuffix("\r") for at in records if 1 <= at <= len(every)}
    lines = Lines(text)
    known = sorted(record for record in records if 1 <= record <= len(lines))
    found = dict(zip(known, lines.gather([record - 1 for record in known]), strict=True))
    if text.endswith("\n"):
        found[len(lines) + 1] = ""  # after the last line break
    return found


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
    return locate_lines(member, places, (table.ordered_by(first) or table).stretch)


def locate_in_line(
    line: str, place: FieldRef, stretch: Callable[[str, str], tuple[int, int]] = whole_line
) -> Location:
    """Where a place stands in its line; see `located`."""
    start, end = stretch(line, place.field)
    span = Span(place.record, start + 1, end + 1)
    return Location(span, excerpt(line, span))

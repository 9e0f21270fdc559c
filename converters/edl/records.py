"""The records of a table of entity mentions that its pattern refuses, one by one.

The bulk path of `edl_tab` takes the lines whose fields can be counted and whose extent is written
as the grammar has it. Every other line comes here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

FIELDS = ("run", "mention", "text", "extent", "entity", "type", "mention type", "confidence")
"""The fields of a record, in order."""

EXTENT = FIELDS.index("extent")
_OFFSETS = re.compile(r"(\d+)-(\d+)")
_BLANKS = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
"""What is a blank in Unicode, as the grammar and the tables have it."""

_MOST_DIGITS = 15
SHOWN = 60
"""Most characters of a text that a message quotes."""


class Fault(NamedTuple):
    """Something wrong in a record: its code, place (0-based columns) and values for the message."""

    code: str
    start: int
    end: int
    values: Mapping[str, object]


class Extent(NamedTuple):
    """Where a mention is: its document, and the first and the last of its code points."""

    document: str
    start: int
    last: int


class Record(NamedTuple):
    """A record as far as it can be read: its fields and extent, or neither; and what is wrong."""

    fields: Sequence[str] | None
    extent: Extent | None
    faults: Sequence[Fault]


def shown(text: str) -> str:
    """A text as a message quotes it: not the whole of a long one.

    Examples:
        >>> shown("x" * 99) == "x" * 60 + "…"
        True
    """
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def is_blank(text: str) -> bool:
    r"""Whether a text holds nothing but blanks.

    Examples:
        >>> is_blank(" \u3000"), is_blank(""), is_blank("\x1c")
        (True, True, False)
    """
    return not text or _BLANKS.fullmatch(text) is not None


def record(line: str) -> Record:
    r"""What a line says.

    Args:
        line: the line, without its break.

    Examples:
        >>> good = "R\tm1\tOsh\tD1:10-12\t7\tGPE\tNAM\t1.0"
        >>> record(good).extent
        Extent(document='D1', start=10, last=12)
        >>> [fault.code for fault in record(good + "\t").faults]
        ['EDL211']
        >>> [fault.code for fault in record(good.replace(":", " ")).faults]
        ['EDL203']
    """
    fields = line.split("\t")
    filled = len(line.rstrip("\t").split("\t"))
    if len(fields) < len(FIELDS) or filled != len(FIELDS):
        return Record(None, None, [_miscounted(line, fields, filled)])
    faults = []
    if len(fields) > len(FIELDS):
        end = len(line.rstrip("\t"))
        faults.append(Fault("EDL211", end, len(line), {"count": len(line) - end}))
    at = sum(len(field) + 1 for field in fields[:EXTENT])
    extent, more = extent_of(fields[EXTENT])
    faults += [fault._replace(start=fault.start + at, end=fault.end + at) for fault in more]
    return Record(fields[: len(FIELDS)] if extent else None, extent, faults)


def _miscounted(line: str, fields: Sequence[str], filled: int) -> Fault:
    """A line with another number of fields."""
    given = len(fields) if filled > len(FIELDS) else filled
    if len(fields) == len(FIELDS) and filled == len(FIELDS) - 1:
        hint = "add the confidence (field 8), such as 1.0"
    elif len(fields) == 1 and "\r" in line:
        hint = "end lines with LF, not with CR alone"
    elif len(fields) == 1 and len(line.split()) >= len(FIELDS):
        hint = "separate the fields with tabs, not spaces"
    else:
        hint = f"write {', '.join(FIELDS)}, separated by single tabs"
    return Fault("EDL201", 0, len(line), {"given": given, "wanted": len(FIELDS), "hint": hint})


def extent_of(written: str) -> tuple[Extent | None, list[Fault]]:
    """Where a fourth field says that the mention is, and what is wrong with how it says it.

    Examples:
        >>> extent_of("D1:10-12:x")[0], [fault.code for fault in extent_of("D1:10-12:x")[1]]
        (Extent(document='D1', start=10, last=12), ['EDL212'])
    """
    whole = (0, len(written))
    if is_blank(written):
        return None, [Fault("EDL202", *whole, {})]
    document, colon, rest = written.partition(":")
    if not colon:
        return None, [Fault("EDL203", *whole, {"given": shown(written)})]
    if is_blank(document):
        return None, [Fault("EDL204", 0, 1, {})]
    span = rest.partition(":")[0]
    plain = _OFFSETS.fullmatch(span)
    if plain and _fits(plain):
        return _extent(document, plain), list(_oddities(written, document, span))
    return _loose(written)


def _loose(written: str) -> tuple[Extent | None, list[Fault]]:
    """An extent with a colon in the identifier, or with a blank or another dash in the offsets."""
    document, _, span = written.rpartition(":")
    found = re.fullmatch(r" ?(\d+) ?[-\u2013] ?(\d+)", span)
    if not found or not _fits(found):
        at = written.index(":") + 1
        given = written[at:] or "(empty)"
        return None, [
            Fault("EDL205", min(at, len(written) - 1), len(written), {"given": shown(given)})
        ]
    faults = list(_oddities(written, document, span))
    if ":" in document:
        faults.append(Fault("EDL215", 0, len(document), {"name": shown(document)}))
    if not _OFFSETS.fullmatch(span):
        fix = f"{int(found[1])}-{int(found[2])}"
        values = {"given": span, "fix": fix}
        faults.append(Fault("EDL216", len(document) + 1, len(written), values))
    return _extent(document, found), faults


def _oddities(written: str, document: str, span: str) -> Iterator[Fault]:
    """What is odd in an extent that can be read."""
    at = len(document) + 1
    if blank := _BLANKS.search(document):
        yield Fault("EDL214", *blank.span(), {"name": shown(document)})
    if not span.isascii() and not span.replace("\u2013", "").isascii():
        fix = "".join(str(int(c)) if c.isdecimal() else c for c in span)
        yield Fault("EDL213", at, at + len(span), {"given": span, "fix": fix})
    if len(written) > at + len(span):
        end = at + len(span)
        yield Fault("EDL212", end, len(written), {"given": shown(written[end:])})


def _fits(found: re.Match[str]) -> bool:
    return max(len(found[1]), len(found[2])) <= _MOST_DIGITS


def _extent(document: str, found: re.Match[str]) -> Extent:
    return Extent(document, int(found[1]), int(found[2]))

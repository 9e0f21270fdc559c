"""Where a record of a file is, or a field of it: asked for by number, found as line and column."""

from __future__ import annotations

from dataclasses import dataclass

from hlteval.findings.finding import Excerpt, Span


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A record of a file, or one field of it, whose line and column are wanted.

    `field` names a part of the record in the words of the format, such as `label`, or with a
    number, such as `role 2`; an empty one is the whole record.
    """

    record: int
    field: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    """Where a place is, and the line there."""

    span: Span
    excerpt: Excerpt

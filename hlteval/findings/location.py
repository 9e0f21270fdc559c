"""Records and fields of a file, by number and by line and column."""

from __future__ import annotations

from dataclasses import dataclass

from hlteval.findings.finding import Excerpt, Span


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A reference to a record of a file or to one of its fields, to look up its location.

    Attributes:
        record: the 1-based ordinal of the record in its file.
        field: name of the field in the terms of the format, with a number if it is repeated:
            `label`, `role 2`. Empty for the whole record.
    """

    record: int
    field: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    """A span of a file, and the excerpt of its line."""

    span: Span
    excerpt: Excerpt

"""How people read the table of what was paired with what: a declaration of each task.

A report shows each row of it as two lines, the reference above the system, and marks what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["correct", "different", "missing", "extra", "unscored"]
"""What an outcome means: both sides agree, differ, one of them has nothing, or nothing counts."""
ERRORS: frozenset[Kind] = frozenset({"different", "missing", "extra"})
"""The kinds of outcomes that are errors."""


@dataclass(frozen=True, slots=True)
class OutcomeInfo:
    """What became of a row.

    Attributes:
        name: as in the column `outcome`.
        kind: what it means.
        title: for people; the name if empty.
    """

    name: str
    kind: Kind
    title: str = ""


@dataclass(frozen=True, slots=True)
class CellInfo:
    """What both sides have, one above the other.

    Attributes:
        title: what it is.
        reference: the column of the reference; empty if the reference has no such thing.
        system: the column of the system; empty if the system has no such thing.
        differs: a column that says whether they differ; if empty, values are compared.
        kind: `name` for identifiers, which differ without meaning; `value`, `number`, or `words`
            for texts of which the differing words are marked. Lists are shown line by line.
    """

    title: str
    reference: str = ""
    system: str = ""
    differs: str = ""
    kind: Literal["name", "value", "number", "words"] = "value"


@dataclass(frozen=True, slots=True)
class FacetInfo:
    """Something else to filter by.

    Attributes:
        column: its column.
        title: what it is.
        single: whether rows of different values say the same again, so that one value is shown.
    """

    column: str
    title: str
    single: bool = False


@dataclass(frozen=True, slots=True)
class PlaceInfo:
    """Where the two sides are: columns of offsets in the text, or of seconds.

    Attributes:
        reference: the columns of the start and end of the reference.
        system: those of the system.
        genre: the column with the kind of a document, `text`, `audio` or `video`; text if empty.
        inclusive: whether the end of a stretch of text is its last character.
        shown: whether places are shown beside the text.
    """

    reference: tuple[str, str] = ("reference_start", "reference_end")
    system: tuple[str, str] = ("system_start", "system_end")
    genre: str = ""
    inclusive: bool = False
    shown: bool = True


@dataclass(frozen=True, slots=True)
class AlignmentInfo:
    """How people read the table of what was paired with what.

    Attributes:
        table: its name.
        outcomes: what can become of a row.
        cells: what both sides have.
        label: columns with the type of a row; the first that is not null counts.
        label_title: what this type is called.
        details: columns about the pair, and what they are called.
        facets: what else it is filtered by.
        places: where the two sides are, if that is known.
        items: the columns of identifiers whose arguments and places are in the evidence.
        rows: makes the rows that people read, with the column `outcome`; the table has them itself
            if there is none.
        joined: a table with more about each row, and the columns by which it is found; its others
            are shown as details.
        document: the column of the document.
        shows_documents: whether the beginning of a document is the context of its rows.
    """

    table: str
    outcomes: tuple[OutcomeInfo, ...]
    cells: tuple[CellInfo, ...] = ()
    label: tuple[str, ...] = ("type",)
    label_title: str = "type"
    details: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    facets: tuple[FacetInfo, ...] = ()
    places: PlaceInfo | None = None
    items: tuple[str, str] | None = None
    rows: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    joined: tuple[str, tuple[str, ...]] | None = None
    document: str = "document"
    shows_documents: bool = False

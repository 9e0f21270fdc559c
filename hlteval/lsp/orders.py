"""Orders of the server to its worker, and the answers, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from hlteval.findings import Finding
from hlteval.lsp.documents import NOWHERE, Buffer, Position, Range, Units

Kind = Literal["judge", "fix", "links"]


class Edit(NamedTuple):
    """A text in place of a range."""

    place: Range
    put: str


@dataclass(frozen=True)
class Order:
    """Something for the worker to do.

    Attributes:
        kind: `judge` validates the units of documents, `fix` corrects findings of one, `links`
            finds where the identifier at a position is defined and mentioned.
        paths: the keys of the documents.
        buffers: by key, those that changed since the last order; None for one that was closed.
        given: settings, by the keys of a file of defaults.
        tasks: those of documents that were validated before, by key: a change may hide the format.
        units: what the columns of the client count.
        position: of a document, for `links`.
        code: of the findings that are corrected; empty for all.
        line: of the finding that is corrected, 1-based; 0 for all.
    """

    kind: Kind
    paths: tuple[str, ...]
    buffers: Mapping[str, Buffer | None] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    tasks: Mapping[str, str] = field(default_factory=dict)
    units: Units = "utf-16"
    position: Position = NOWHERE.start
    code: str = ""
    line: int = 0


class EditorFinding(NamedTuple):
    """A finding at its range in a document."""

    finding: Finding
    range: Range


@dataclass(frozen=True)
class UnitResult:
    """The findings of a unit.

    Attributes:
        unit: its key.
        paths: the documents of the order that belong to it.
        findings: findings by the key of their document; those of the whole unit are at the first of
            `paths`.
        note: why nothing was validated; empty if it was, or if nobody expects it.
        task: its name; empty if nothing was validated.
        inputs: the keys of the files and folders on which this depends.
    """

    unit: str
    paths: tuple[str, ...]
    findings: Mapping[str, tuple[EditorFinding, ...]] = field(default_factory=dict)
    note: str = ""
    task: str = ""
    inputs: tuple[str, ...] = ()

    def depends_on(self, path: str) -> bool:
        """Whether a document is one of the inputs, or in one.

        Examples:
            >>> unit_results = UnitResult("/runs/a", (), inputs=("/runs/a",))
            >>> unit_results.depends_on("/runs/a/d.a2"), unit_results.depends_on("/runs/ab")
            (True, False)
        """
        return any(path == root or path.startswith(f"{root}/") for root in self.inputs)


class Site(NamedTuple):
    """A range in a document, by key."""

    path: str
    range: Range


class Links(NamedTuple):
    """The definitions and mentions of an identifier, and its range at the position in question."""

    origin: Range | None = None
    definitions: tuple[Site, ...] = ()
    mentions: tuple[Site, ...] = ()


@dataclass(frozen=True)
class Failure:
    """An error of the program in place of an answer.

    Attributes:
        kind: the name of the exception; what it says may quote data, and is left out.
    """

    kind: str

"""The worker of the server: orders and their answers, as values, and the process that answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol

from hlteval.findings import Finding
from hlteval.lsp.documents import NOWHERE, Buffer, Position, Range, Units
from hlteval.workflows.processes.pool import Call, Limits, Process, ProcessEnded

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


#: Time for an order; then its worker is ended.
SECONDS = 120.0
TOO_LONG = Failure("TimeoutError")
_ANSWER = "hlteval.lsp.actions:answer"
#: Limits of a worker: those of a submission of a pipeline.
_LIMITS = Limits(megabytes=8000)


class Worker(Protocol):
    """Answers orders."""

    async def start(self) -> None:
        """Begin to import what it needs."""

    async def answer(self, order: Order) -> Any:
        """The answer to an order, or a `Failure`; it has all buffers that are open."""

    def end(self) -> None:
        """End what it does; it starts again with the next order."""

    async def close(self) -> None:
        """End it, and wait until it has ended."""


class WorkerProcess:
    """A worker in a process of its own, which is started with the first order."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._lock = asyncio.Lock()
        self._sent: dict[str, Buffer] = {}

    async def start(self) -> None:
        """Start the process, which begins to import what it needs."""
        async with self._lock:
            self._start()

    def _start(self) -> Process:
        if self._process is None:
            self._sent = {}
            self._process = Process(_ANSWER, limits=_LIMITS)
        return self._process

    async def answer(self, order: Order) -> Any:
        """The answer to an order, or a `Failure`."""
        async with self._lock:
            process = self._start()
            changed = replace(order, buffers=self._changes(order.buffers))
            try:
                return await process.answer(Call(_ANSWER, (changed,)), SECONDS)
            except ProcessEnded as ended:
                self._forget(process)
                return TOO_LONG if ended.status is None else Failure("ended")
            except asyncio.CancelledError:
                self._forget(process)
                raise

    def _changes(self, buffers: Mapping[str, Buffer | None]) -> dict[str, Buffer | None]:
        """The buffers that the process has not, or otherwise; None for those that were closed."""
        present = {key: buffer for key, buffer in buffers.items() if buffer is not None}
        changed: dict[str, Buffer | None] = {
            key: buffer for key, buffer in present.items() if self._sent.get(key) is not buffer
        }
        changed |= dict.fromkeys(self._sent.keys() - present.keys())
        self._sent = present
        return changed

    def _forget(self, process: Process) -> None:
        if self._process is process:
            self._process = None

    def end(self) -> None:
        """End the process, whatever it does; it starts again with the next order."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    async def close(self) -> None:
        """End the process, and wait until it has ended."""
        if (process := self._process) is not None:
            self._process = None
            await asyncio.to_thread(process.end)

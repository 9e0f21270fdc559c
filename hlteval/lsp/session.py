"""The session of an editor: its documents, what was found in them, and the process that finds it.

Nothing in `Session` waits: the server asks for an order (`next_order`), gives it to a worker and
hands the answer back (`take`). An answer about a text that has changed since is not shown.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal, NamedTuple

from hlteval.findings import Finding
from hlteval.lsp.documents import Buffer, Document, Edit, Position, Range, Text, Units, key, uri
from hlteval.workflows.processes.pool import Call, Limits, Process, ProcessEnded


class Order(NamedTuple):
    """Something for the worker to do.

    Attributes:
        kind: `judge` validates the units of documents, `fix` corrects findings of one, `links`
            finds where the identifier at a position is defined and mentioned.
        paths: the keys of the documents.
        buffers: by key; between processes those that changed since the last order.
        closed: the keys of buffers of earlier orders that are open no more.
        given: settings, by the keys of a file of defaults.
        tasks: those of documents that were validated before, by key: a change may hide the format.
        units: what the columns of the client count.
        position: of a document, for `links`.
        code: of the findings that are corrected; empty for all.
        line: of the finding that is corrected, 1-based; 0 for all.
    """

    kind: Literal["judge", "fix", "links"]
    paths: tuple[str, ...]
    buffers: Mapping[str, Buffer] = {}
    closed: frozenset[str] = frozenset()
    given: Mapping[str, Any] = {}
    tasks: Mapping[str, str] = {}
    units: Units = "utf-16"
    position: Position = Position(0, 0)
    code: str = ""
    line: int = 0


class EditorFinding(NamedTuple):
    """A finding at its range in a document."""

    finding: Finding
    range: Range


class UnitResult(NamedTuple):
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
    findings: Mapping[str, tuple[EditorFinding, ...]] = {}
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
    """The definitions and mentions of an identifier."""

    definitions: tuple[Site, ...] = ()
    mentions: tuple[Site, ...] = ()


class Failure(NamedTuple):
    """An error of the program in place of an answer.

    Attributes:
        kind: the name of the exception; what it says may quote data, and is left out.
    """

    kind: str


#: Time for an order; then its worker is ended.
SECONDS = 120.0
_ANSWER = "hlteval.lsp.actions:answer"
#: Limits of a worker: those of a submission of a pipeline.
_LIMITS = Limits(megabytes=8000)


class Worker:
    """A process that answers orders, and is started with the first one."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._lock = asyncio.Lock()
        self._sent: Mapping[str, Buffer] = {}

    def start(self) -> Process:
        """Start the process, which begins to import what it needs, if there is none."""
        if self._process is None:
            self._sent = {}
            self._process = Process(_ANSWER, limits=_LIMITS)
        return self._process

    async def answer(self, order: Order) -> Any:
        """The answer to an order, which has all buffers that are open; or a `Failure`."""
        async with self._lock:
            process = self.start()
            old, self._sent = self._sent, order.buffers
            new = {path: it for path, it in self._sent.items() if old.get(path) is not it}
            order = order._replace(buffers=new, closed=frozenset(old.keys() - self._sent.keys()))
            try:
                return await process.answer(Call(_ANSWER, (order,)), SECONDS)
            except (ProcessEnded, asyncio.CancelledError) as error:
                if self._process is process:
                    self._process = None
                if isinstance(error, ProcessEnded):
                    return Failure("TimeoutError" if error.status is None else "ended")
                raise

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


#: Most files that are not open, of one unit, whose findings are shown.
FILES = 500
_REASONS = {
    "TimeoutError": "validation takes too long",
    "MemoryError": "there is not enough memory to validate this",
    "ended": "validation ended without an answer",
}


class Publication(NamedTuple):
    """Findings and notes that the editor shows of a document.

    Attributes:
        uri: of the document.
        version: of its text; None if it is not open.
        findings: the findings.
        notes: what else is to be said of it.
    """

    uri: str
    version: int | None
    findings: tuple[EditorFinding, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class Session:
    """The state of a server.

    Attributes:
        show: shows findings in the editor.
        units: what the columns of the client count.
        given: settings of the command line and of the editor, by the keys of a file of defaults.
        documents: that are open, by key.
        waiting: keys of documents that are to be validated.
        running: keys of the documents that a worker validates.
        unit_results: what was found, by unit.
        shown: what the editor shows, by key.
    """

    show: Callable[[Publication], None]
    units: Units = "utf-16"
    given: Mapping[str, Any] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)
    waiting: dict[str, None] = field(default_factory=dict)
    running: tuple[str, ...] = ()
    unit_results: dict[str, UnitResult] = field(default_factory=dict)
    shown: dict[str, Publication] = field(default_factory=dict)

    def open(self, address: str, version: int, text: str) -> None:
        """Take a document that is opened, possibly a second time."""
        buffer = Buffer.beside(text, key(address))
        self._keep(Document(address, version, Text.of(text, self.units), buffer))

    def change(self, address: str, version: int, changes: Iterable[Edit]) -> None:
        """Take changes of a document; those of one that is not open mean nothing."""
        if (document := self.documents.get(key(address))) is not None:
            text, saved = document.text, replace(document.saved, changed=True)
            for change in changes:
                text = text.with_change(*change)
            self._keep(Document(address, version, text, saved))

    def save(self, address: str) -> None:
        """Take note that a document is saved."""
        if (document := self.documents.get(key(address))) is not None:
            saved = Buffer.beside(document.text.content, key(address))
            self._keep(replace(document, saved=saved))

    def _keep(self, document: Document) -> None:
        """Keep a document; it, and all units that depend on it, are to be validated."""
        path = key(document.uri)
        self.documents[path] = document
        self._wait([path])
        self._wait_for_others(path)

    def _wait_for_others(self, path: str) -> None:
        """Let the units be validated that depend on a document but that it does not belong to."""
        for result in self.unit_results.values():
            if path not in result.paths and result.depends_on(path):
                self._wait(self._open(result.paths)[:1])

    def _wait(self, paths: Iterable[str]) -> None:
        self.waiting.update(dict.fromkeys(paths))

    def close(self, address: str) -> None:
        """Forget a document: the disk has what counts."""
        closed = key(address)
        self.documents.pop(closed, None)
        self.waiting.pop(closed, None)
        for unit, result in list(self.unit_results.items()):
            if closed in result.paths:
                rest = self._open(result.paths)
                self._wait(rest)
                if not rest:
                    del self.unit_results[unit]
                    for path in (*result.findings, *result.paths):
                        self._show(path)
        self._wait_for_others(closed)
        self._show(closed)

    def again(self) -> None:
        """Validate everything again: settings or files have changed."""
        self._wait(self.documents)

    def order(self, kind: Literal["judge", "fix", "links"], *paths: str) -> Order:
        """An order with all buffers."""
        buffers = {path: document.buffer for path, document in self.documents.items()}
        tasks = {path: item.task for item in self.unit_results.values() for path in item.paths}
        return Order(kind, paths, buffers, frozenset(), self.given, tasks, self.units)

    def next_order(self) -> Order | None:
        """The next order for the worker; None if nothing waits."""
        paths = self._open(self.waiting)
        self.waiting.clear()
        self.running = tuple(paths)
        return self.order("judge", *paths) if paths else None

    @property
    def is_outdated(self) -> bool:
        """Whether a document has changed since its validation began."""
        return any(path in self.waiting for path in self.running)

    def take(self, answer: Sequence[UnitResult] | Failure) -> None:
        """Show the answer to the last order, but for documents that have changed since.

        If an outdated validation was ended, its documents are validated again.
        """
        is_outdated, running, self.running = self.is_outdated, self.running, ()
        if is_outdated and answer == Failure("ended"):
            self._wait(running)
            return
        if isinstance(answer, Failure):
            note = _REASONS.get(answer.kind, f"internal error of hlteval: {answer.kind}")
            answer = [UnitResult(path, (path,), note=note) for path in running]
        changed: dict[str, None] = {}
        for result in answer:
            if self._open(result.paths):
                changed.update(dict.fromkeys(self._replace(result)))
        for path in changed:
            if path not in self.documents or path not in self.waiting:
                self._show(path)

    def _open(self, paths: Iterable[str]) -> list[str]:
        return [path for path in paths if path in self.documents]

    def _replace(self, result: UnitResult) -> Iterator[str]:
        """Keep the result of a unit; gives the documents whose findings may differ."""
        for unit, old in list(self.unit_results.items()):
            if unit != result.unit and not set(old.paths) & set(result.paths):
                continue
            yield from (*old.findings, *old.paths)
            del self.unit_results[unit]
            rest = tuple(path for path in self._open(old.paths) if path not in result.paths)
            if unit == result.unit:
                result = result._replace(paths=(*result.paths, *rest))
            elif rest:
                self.unit_results[unit] = old._replace(paths=rest)
        self.unit_results[result.unit] = result
        yield from result.paths
        hidden = {*[path for path in result.findings if path not in self.documents][FILES:]}
        yield from (path for path in result.findings if path not in hidden)

    def _show(self, path: str) -> None:
        """Show the findings of a document if they, or its version, are others than before."""
        document = self.documents.get(path)
        results = self.unit_results.values()
        notes = tuple(item.note for item in results if item.note and path in item.paths)
        address, version = (document.uri, document.version) if document else (uri(path), None)
        shown = Publication(address, version, self.findings(path), notes)
        if shown != self.shown.get(path, Publication(shown.uri, None)):
            self.shown[path] = shown
            self.show(shown)
        if document is None and not (shown.findings or shown.notes):
            self.shown.pop(path, None)

    def findings(self, path: str) -> tuple[EditorFinding, ...]:
        """The findings of a document, once each, in whatever units."""
        results = (item.findings.get(path, ()) for item in self.unit_results.values())
        return tuple(dict.fromkeys(chain.from_iterable(results)))

    def at(self, path: str, start: Position, end: Position) -> list[EditorFinding]:
        """The findings of a document that touch a range."""
        findings = self.findings(path)
        return [item for item in findings if item.range.start <= end and start <= item.range.end]


#: Seconds without a change before documents are validated.
QUIET = 0.2
#: Seconds after the first change when they are in any case.
PATIENCE = 2.0
#: Seconds that an outdated validation may take; starting a worker again takes as long.
SHORT = 1.0


class Validation:
    """Validates what waits in a session.

    Args:
        session: the session.
        worker: validates.
        quiet: seconds without a change before it does.
    """

    def __init__(self, session: Session, worker: Worker, quiet: float = QUIET) -> None:
        self.session, self.worker, self.quiet = session, worker, quiet
        self._first = self._last = self._began = 0.0
        self._order: Order | None = None
        self._task: asyncio.Task[None] | None = None
        self._ending: asyncio.TimerHandle | None = None

    def notice(self) -> None:
        """Something waits: it is validated after a pause."""
        loop = asyncio.get_running_loop()
        self._last = loop.time()
        if self._task is None or self._task.done():
            self._first = self._last
            self._task = loop.create_task(self._work())
        if self._order is not None and self.session.is_outdated and self._ending is None:
            wait = max(self.quiet, SHORT - (self._last - self._began))
            self._ending = loop.call_later(wait, self._end_outdated, self._order)

    def _end_outdated(self, order: Order) -> None:
        """End a validation whose answer nobody wants any more."""
        self._ending = None
        if order is self._order:
            self.worker.end()

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self.session.waiting:
            while (left := min(self._last + self.quiet, self._first + PATIENCE) - loop.time()) > 0:
                await asyncio.sleep(left)
            if (order := self.session.next_order()) is None:
                return
            self._order, self._began = order, loop.time()
            answer = await self.worker.answer(order)
            self._order, self._first = None, loop.time()
            self.session.take(answer)

    async def close(self) -> None:
        """End whatever goes on."""
        if self._ending is not None:
            self._ending.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

"""Graphs of work: functions whose arguments are values, or the results of other functions.

What campaigns and pipelines compute are graphs of calls (`Node`): functions by name, whose
arguments are values or the results of other calls. `Workers` compute the same graph in this
process, in processes of this machine or on a dask cluster, so that the work knows nothing of them.

Both compute cells, of which each has one result: a submission to a task for a campaign, a step of a
submission for a pipeline. A campaign keeps results in a cache, a pipeline in its logs and folders
of scores, by a digest of all that they depend on. They compute only what they lack, and keep each
result as soon as there is one: a run that is killed is continued by the next one.
"""

from __future__ import annotations

import select
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from hlteval.extensions import resolve
from hlteval.sources.opening import NoRemoteError
from hlteval.workflows.processes.pool import NO_LIMITS, Call, Limits, Process, ProcessEnded

Problem = Literal["absent", "unusable", "error", "crashed", "memory", "time"]
#: The problems of inputs, which are the same wherever a function is called.
UNREAD: frozenset[Problem] = frozenset({"absent", "unusable"})


@dataclass(frozen=True)
class Node:
    """A call of a function.

    Attributes:
        function: its name, as `module:attribute`.
        arguments: values, and nodes whose results are its arguments.
        share: how many times as long as others it may take.
    """

    function: str
    arguments: tuple[Any, ...]
    share: int = 1


@dataclass(frozen=True)
class Failed:
    """There is no result.

    Attributes:
        problem: `absent` and `unusable` for inputs, `crashed` if the process ended.
        reason: in words; the path that does not exist, or how the process ended.
    """

    problem: Problem
    reason: str


class Workers(Protocol):
    """Executor of graphs."""

    def results(self, roots: Iterable[Node]) -> Iterator[tuple[int, Any]]:
        """The number of each root, from 0, and its result or `Failed`; in any order."""

    def close(self) -> None:
        """End all work."""


def call(function: str, *arguments: Any) -> Any:
    """Call a function by its name.

    Examples:
        >>> call("builtins:max", 1, 2)
        2
    """
    return resolve(function)(*arguments)


def failure(error: BaseException) -> Failed:
    """The failure that an exception is.

    Examples:
        >>> failure(MemoryError()).problem, failure(KeyError("d1")).reason
        ('memory', "an internal error (KeyError: 'd1')")
    """
    if isinstance(error, MemoryError):
        return Failed("memory", "not enough memory")
    return Failed("error", f"an internal error ({type(error).__name__}: {error})")


#: Seconds that a scheduler has to answer.
PATIENCE = 10.0
#: How many graphs there are at a time for each thread of the cluster.
AHEAD = 4


class Cluster:
    """Computes graphs on a cluster.

    Args:
        address: of the scheduler, such as `tcp://host:8786`.

    Raises:
        NoRemoteError: if the library is absent, or there is no scheduler at the address.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        try:
            self._library: Any = import_module("distributed")
        except ImportError as error:
            reason = "--cluster needs a library: pip install 'hlteval[cluster]'"
            raise NoRemoteError(reason) from error
        try:
            self.client: Any = self._library.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise NoRemoteError(f"no scheduler at {address}: {error}") from error

    def results(self, roots: Iterable[Node]) -> Iterator[tuple[int, Any]]:
        """The results, as they come; a few graphs are submitted at a time."""
        waiting = iter(enumerate(roots))
        numbers: dict[str, int] = {}
        each = self._library.as_completed(loop=self.client.loop)
        ahead = AHEAD * max(1, sum(self.client.nthreads().values()))

        def more(count: int) -> None:
            for number, root in islice(waiting, count):
                future = self._submit(root)
                numbers[future.key] = number
                each.add(future)

        more(ahead)
        try:
            for future in each:
                number, error = numbers.pop(future.key), future.exception()
                if error is None:
                    yield number, future.result()
                elif isinstance(error, self._library.KilledWorker):
                    yield number, Failed("error", "the workers that computed it ended")
                else:
                    yield number, failure(error)
                future.release()
                more(1)
        except (CancelledError, OSError) as error:
            raise NoRemoteError(
                f"the scheduler at {self.address} was lost: run it again; a campaign goes on"
            ) from error

    def _submit(self, node: Node) -> Any:
        values = [self._submit(item) if isinstance(item, Node) else item for item in node.arguments]
        return self.client.submit(call, node.function, *values, pure=False)

    def close(self) -> None:
        """Leave the cluster."""
        self.client.close()


#: The function that processes of this machine call.
_PERFORM = f"{__name__}:perform"
#: Seconds that a new process has beyond those of a call, to import what it needs.
START = 60.0


@dataclass(eq=False)
class _Task:
    """A call of a graph for a process.

    Attributes:
        graph: the number of its graph.
        function: its name.
        arguments: values, and results of other calls.
        parent: the call that takes its result; None for the root of the graph.
        place: of the result among the arguments of this call.
        missing: how many results it waits for.
        tries: how often its process ended.
        share: how many times as long as others it may take.
    """

    graph: int
    function: str
    arguments: list[Any]
    parent: _Task | None = None
    place: int = 0
    missing: int = 0
    tries: int = 0
    share: int = 1


def _first_tasks(
    graph: int, node: Node, parent: _Task | None = None, place: int = 0
) -> Iterator[_Task]:
    """Yield the calls below a node that need no result of another one."""
    inner = [number for number, item in enumerate(node.arguments) if isinstance(item, Node)]
    arguments = [*node.arguments]
    task = _Task(graph, node.function, arguments, parent, place, len(inner), share=node.share)
    for number in inner:
        yield from _first_tasks(graph, node.arguments[number], task, number)
    if not inner:
        yield task


def perform(function: str, arguments: Sequence[Any]) -> Any:
    """Call a function by its name; an error is a failure."""
    try:
        return call(function, *arguments)
    except Exception as error:
        return failure(error)


class _Turn(NamedTuple):
    """A call that a process works on, until a time of the monotonic clock."""

    process: Process
    task: _Task
    deadline: float


@dataclass
class LocalProcesses:
    """Computes graphs in processes on this machine.

    A process that had other calls before gets no blame: the call at which it fails or ends is given
    to a new one.

    Attributes:
        count: how many processes there are at most.
        tries: how often a call is tried whose process ends.
        seconds: for a call.
        limits: of each process.
        root: their working directory; None for this one.
    """

    count: int = 1
    tries: int = 3
    seconds: int = 3600
    limits: Limits = NO_LIMITS
    root: Path | None = None
    _idle: list[Process] = field(default_factory=list)
    _busy: dict[int, _Turn] = field(default_factory=dict)

    def results(self, roots: Iterable[Node]) -> Iterator[tuple[int, Any]]:
        """The results, as they come."""
        waiting: deque[_Task] = deque()
        graphs, unfinished = enumerate(roots), set[int]()
        while True:
            # A few graphs at a time: only their results are in memory.
            while len(waiting) < self.count and (item := next(graphs, None)) is not None:
                unfinished.add(item[0])
                waiting.extend(_first_tasks(*item))
            while waiting and len(self._busy) < self.count:
                self._begin(waiting.popleft(), self._idle.pop() if self._idle else None)
            if not self._busy:
                return
            for task, result in self._ends():
                parent = task.parent
                if task.graph not in unfinished:
                    continue
                if parent is not None and not isinstance(result, Failed):
                    parent.arguments[task.place] = result
                    parent.missing -= 1
                    if not parent.missing:
                        waiting.appendleft(parent)
                    continue
                unfinished.remove(task.graph)
                if parent is not None:  # nothing else of a graph that failed is needed
                    waiting = deque(each for each in waiting if each.graph != task.graph)
                yield task.graph, result

    def _begin(self, task: _Task, process: Process | None) -> None:
        start = START if process is None else 0.0
        process = process or Process(_PERFORM, root=self.root, limits=self.limits)
        deadline = time.monotonic() + self.seconds * task.share + start
        self._busy[process.stdout.fileno()] = _Turn(process, task, deadline)
        process.begin(Call(_PERFORM, (task.function, task.arguments)))

    def _ends(self) -> Iterator[tuple[_Task, Any]]:
        """Wait for calls to end, with a result or without one."""
        first = min(turn.deadline for turn in self._busy.values())
        ready, _, _ = select.select([*self._busy], [], [], max(0.0, first - time.monotonic()))
        now = time.monotonic()
        for number, (process, task, deadline) in [*self._busy.items()]:
            if number not in ready and deadline > now:
                continue
            del self._busy[number]
            late = Failed("time", "it took too long")
            result = self._answer(process) if number in ready else late
            if not isinstance(result, Failed) or result.problem in UNREAD:
                self._idle.append(process)
                yield task, result
                continue
            process.end()
            task.tries += process.calls == 1
            crashed = result.problem == "crashed" and task.tries < self.tries
            if result is not late and (process.calls > 1 or crashed):
                self._begin(task, None)
            else:
                yield task, result

    def _answer(self, process: Process) -> Any:
        """Take the answer of a process; its end is a failure."""
        try:
            return process.receive().value
        except ProcessEnded as ended:
            if ended.status == -signal.SIGABRT and self.limits.megabytes:
                return Failed("memory", "not enough memory")  # so libraries end that get none
            return Failed("crashed", ended.reason)

    def close(self) -> None:
        """End all processes."""
        for process in [*self._idle, *(turn.process for turn in self._busy.values())]:
            process.end()
        self._idle.clear()
        self._busy.clear()

"""Graphs of work: functions whose arguments are values, or the results of other functions.

A graph is made of `Node`s. `Workers` compute it, in this process, in several on this machine or on
a cluster; the graph and its functions are the same.

What a campaign computes is a graph of calls (`workflows/processes/graph.py`): functions by name,
whose arguments are values or the results of other calls. This process, processes of this machine
and a dask cluster compute the same graph, so that the work (`campaign.py`) knows nothing of them.
Results are found by a digest of what they depend on (`campaign_files.py`).
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import islice
from typing import Any, Literal, Protocol

from hlteval.extensions import resolve
from hlteval.sources.opening import NoRemoteError
from hlteval.workflows.processes.pool import Pool, ProcessEnded

Problem = Literal["error", "crashed", "memory", "time"]


@dataclass(frozen=True)
class Node:
    """A call of a function.

    Attributes:
        function: its name, as `module:attribute`.
        arguments: values, and nodes whose results are its arguments.
    """

    function: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Failed:
    """There is no result.

    Attributes:
        problem: in a word.
        reason: in words.
    """

    problem: Problem
    reason: str


class Workers(Protocol):
    """Executor of graphs."""

    def results(self, roots: Iterable[Node]) -> Iterator[tuple[int, Any]]:
        """The number of each root, from 0, and its result or `Failed`; in any order."""

    def close(self) -> None:
        """End all work."""


class InProcess:
    """Computes graphs in this process, one after the other."""

    def results(self, roots: Iterable[Node]) -> Iterator[tuple[int, Any]]:
        """The results, in order."""
        for number, root in enumerate(roots):
            try:
                yield number, _compute(root)
            except Exception as error:
                yield number, failure(error)

    def close(self) -> None:
        """Nothing is left to end."""


def _compute(node: Node) -> Any:
    values = (_compute(item) if isinstance(item, Node) else item for item in node.arguments)
    return call(node.function, *values)


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
                    yield number, Failed("crashed", "the workers that computed it ended")
                else:
                    yield number, failure(error)
                future.release()
                more(1)
        except (CancelledError, OSError) as error:
            raise NoRemoteError(
                f"the scheduler at {self.address} was lost; what was computed is kept: run it again"
            ) from error

    def _submit(self, node: Node) -> Any:
        arguments = [
            self._submit(item) if isinstance(item, Node) else item for item in node.arguments
        ]
        return self.client.submit(call, node.function, *arguments, pure=False)

    def close(self) -> None:
        """Leave the cluster."""
        self.client.close()


#: How often a call is tried whose process ends.
TRIES = 3


@dataclass(frozen=True)
class Order:
    """A call of a graph for a process.

    Attributes:
        root: the number of its graph.
        step: its number in this graph.
        function: its name.
        arguments: values; a `bytes` at the places of `results` is the result of another call.
        results: the places of such arguments.
        tries: how often it was tried before.
    """

    root: int
    step: int
    function: str
    arguments: tuple[Any, ...]
    results: frozenset[int] = frozenset()
    tries: int = 0


def perform(order: Order) -> bytes | Failed:
    """Call a function; the result is pickled, since another process may need it."""
    try:
        arguments = [
            pickle.loads(item) if place in order.results else item  # noqa: S301 - made below
            for place, item in enumerate(order.arguments)
        ]
        return pickle.dumps(call(order.function, *arguments))
    except Exception as error:
        return failure(error)


class LocalProcesses:
    """Computes graphs in processes on this machine.

    Args:
        count: how many processes there are at most.
    """

    def __init__(self, count: int = 1) -> None:
        self.count = count
        self.pool = Pool(f"{perform.__module__}:{perform.__name__}", count)

    def results(self, roots: Iterable[Node]) -> Iterator[tuple[int, Any]]:
        """The results, as they come."""
        waiting: deque[Order] = deque()
        graphs = ((number, _Graph(number, root)) for number, root in enumerate(roots))
        known: dict[int, _Graph] = {}

        def more() -> None:  # a few graphs at a time: only their results are in memory
            while len(waiting) < self.count and (item := next(graphs, None)) is not None:
                known[item[0]] = item[1]
                waiting.extend(item[1].ready())

        more()
        for order, answer in self.pool.results(waiting):
            graph = known.get(order.root)
            if graph is not None:
                waiting.extendleft(graph.add(order, answer))
                if graph.result is not None:
                    del known[order.root]
                    if isinstance(graph.result[0], Failed):  # nothing else of it is needed
                        others = [each for each in waiting if each.root != order.root]
                        waiting.clear()
                        waiting.extend(others)
                    yield order.root, graph.result[0]
            more()

    def close(self) -> None:
        """End all processes."""
        self.pool.close()


class _Graph:
    """The calls of a graph that are to be done, and their results."""

    def __init__(self, number: int, root: Node) -> None:
        self.number = number
        self.nodes: list[Node] = []
        self.parents: list[int | None] = []
        self.places: list[dict[int, int]] = []
        self.values: dict[int, bytes] = {}
        self.result: tuple[Any] | None = None
        self._enter(root, None)

    def _enter(self, node: Node, parent: int | None) -> int:
        step = len(self.nodes)
        self.nodes.append(node)
        self.parents.append(parent)
        self.places.append({})
        for place, item in enumerate(node.arguments):
            if isinstance(item, Node):
                self.places[step][place] = self._enter(item, step)
        return step

    def ready(self) -> Iterator[Order]:
        """The calls that need no result of another one."""
        return (self._order(step) for step in range(len(self.nodes)) if not self.places[step])

    def _order(self, step: int) -> Order:
        node, places = self.nodes[step], self.places[step]
        arguments = [
            self.values.pop(places[place]) if place in places else item
            for place, item in enumerate(node.arguments)
        ]
        return Order(self.number, step, node.function, tuple(arguments), frozenset(places))

    def add(self, order: Order, answer: bytes | Failed | ProcessEnded) -> Iterator[Order]:
        """Take the answer to a call; gives the calls that can be done now."""
        if self.result is not None:
            return
        if isinstance(answer, ProcessEnded):
            if answer.status is None:
                self.result = (Failed("time", "it took too long"),)
            elif order.tries + 1 < TRIES:
                yield replace(order, tries=order.tries + 1)
            else:
                self.result = (Failed("crashed", f"its process ended with {answer.reason}"),)
        elif isinstance(answer, Failed):
            self.result = (answer,)
        elif (parent := self.parents[order.step]) is None:
            self.result = (pickle.loads(answer),)  # noqa: S301 - from our own process
        else:
            self.values[order.step] = answer
            if all(child in self.values for child in self.places[parent].values()):
                yield self._order(parent)

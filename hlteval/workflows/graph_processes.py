"""Graphs on this machine: processes of our own, each of which does one call after the other.

A process that ends, whatever ends it, ends alone: its call is done again by another one. What was
computed is kept here as bytes, and goes on to the process that needs it.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hlteval.workflows.graph import Failed, Node, call, failed
from hlteval.workflows.pipeline_work import Outcome
from hlteval.workflows.pipeline_workers import Processes, WorkLimits

LIMITS = WorkLimits(megabytes=0)
"""What a call may use: an hour, and all memory there is."""
TRIES = 3
"""How often a call is tried whose process ends."""


@dataclass(frozen=True)
class Call:
    """What a process does.

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


@dataclass(frozen=True)
class Done(Outcome):
    """What came of a call.

    Attributes:
        value: the result, as bytes; None where there is none.
        failure: why there is none.
    """

    value: bytes | None = None
    failure: Failed | None = None


def perform(order: Call) -> Done:
    """Do a call; whatever goes wrong is an outcome."""
    try:
        arguments = [
            pickle.loads(item) if place in order.results else item  # noqa: S301 - made below
            for place, item in enumerate(order.arguments)
        ]
        return Done("passed", value=pickle.dumps(call(order.function, *arguments)))
    except Exception as error:
        return Done("passed", failure=failed(error))


@dataclass
class LocalProcesses:
    """Computes graphs in processes on this machine.

    Attributes:
        count: how many processes there are at most.
        limits: what each call may use.
    """

    count: int = 1
    limits: WorkLimits = LIMITS
    processes: Processes = field(init=False)

    def __post_init__(self) -> None:
        self.processes = Processes(
            Path.cwd(), self.count, self.limits, f"{perform.__module__}:{perform.__name__}"
        )

    def results(self, roots: Iterable[Node]) -> Iterator[tuple[int, Any]]:
        """The results, as they come."""
        waiting: deque[Call] = deque()
        graphs = ((number, _Graph(number, root)) for number, root in enumerate(roots))
        known: dict[int, _Graph] = {}

        def more() -> None:  # a few graphs at a time: only their results are in memory
            while len(waiting) < self.count and (item := next(graphs, None)) is not None:
                known[item[0]] = item[1]
                waiting.extend(item[1].ready())

        more()
        for order, outcome in self.processes.outcomes(waiting):
            graph = known.get(order.root)
            if graph is not None:
                waiting.extendleft(graph.add(order, outcome))
                if graph.result is not None:
                    del known[order.root]
                    if isinstance(graph.result[0], Failed):  # nothing else of it is needed
                        _keep(waiting, [each for each in waiting if each.root != order.root])
                    yield order.root, graph.result[0]
            more()

    def close(self) -> None:
        """End all processes."""
        self.processes.close()


def _keep(waiting: deque[Call], calls: list[Call]) -> None:
    waiting.clear()
    waiting.extend(calls)


class _Graph:
    """The calls of a graph that are to be done, and what came of them."""

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

    def ready(self) -> Iterator[Call]:
        """The calls that need no result of another one."""
        return (self._call(step) for step in range(len(self.nodes)) if not self.places[step])

    def _call(self, step: int) -> Call:
        node, places = self.nodes[step], self.places[step]
        arguments = [
            self.values.pop(places[place]) if place in places else item
            for place, item in enumerate(node.arguments)
        ]
        return Call(self.number, step, node.function, tuple(arguments), frozenset(places))

    def add(self, order: Call, outcome: Outcome) -> Iterator[Call]:
        """Take what came of a call; gives the calls that can be done now."""
        if self.result is not None:
            return
        if not isinstance(outcome, Done):
            if order.tries + 1 < TRIES and outcome.result == "crashed":
                yield replace(order, tries=order.tries + 1)
            else:
                self.result = (_ended(outcome),)
        elif outcome.value is None:
            self.result = (outcome.failure,)
        else:
            yield from self._take(order.step, outcome.value)

    def _take(self, step: int, value: bytes) -> Iterator[Call]:
        parent = self.parents[step]
        if parent is None:
            self.result = (pickle.loads(value),)  # noqa: S301 - from our own process
            return
        self.values[step] = value
        if all(child in self.values for child in self.places[parent].values()):
            yield self._call(parent)


def _ended(outcome: Outcome) -> Failed:
    """Why there is no result where the process ended."""
    if outcome.result == "time":
        return Failed("time", "it took too long")
    if outcome.result == "memory":
        return Failed("memory", "not enough memory")
    return Failed("crashed", f"its process ended with {outcome.reason}")

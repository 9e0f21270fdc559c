"""Graphs of work: functions whose arguments are values, or the results of other functions.

Whoever has something to compute describes it as `Node`s. Who computes it, this process, several on
this machine or those of a cluster, is a `Workers`; the graph and its functions are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from hlteval.extensions import resolve

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

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes whose results it takes."""
        return tuple(item for item in self.arguments if isinstance(item, Node))


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
    """Those who compute graphs."""

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
                yield number, _computed(root)
            except Exception as error:
                yield number, failed(error)

    def close(self) -> None:
        """Nothing is left to end."""


def _computed(node: Node) -> Any:
    values = (_computed(item) if isinstance(item, Node) else item for item in node.arguments)
    return call(node.function, *values)


def call(function: str, *arguments: Any) -> Any:
    """Call a function by its name.

    Examples:
        >>> call("builtins:max", 1, 2)
        2
    """
    return resolve(function)(*arguments)


def failed(error: BaseException) -> Failed:
    """The failure that an exception is.

    Examples:
        >>> failed(MemoryError()).problem, failed(KeyError("d1")).reason
        ('memory', "an internal error (KeyError: 'd1')")
    """
    if isinstance(error, MemoryError):
        return Failed("memory", "not enough memory")
    return Failed("error", f"an internal error ({type(error).__name__}: {error})")

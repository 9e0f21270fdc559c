"""The orchestrator of evaluations: results of cells by the digest of what they depend on.

A cell is what has one result: a submission to a task for a campaign, a step of a submission for a
pipeline. A campaign keeps results in a cache, a pipeline in its logs and folders of scores. Both
compute only what they lack, in this process, in others or on a cluster, and keep each result as
soon as there is one: a run that is killed is continued by the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

Outcome = TypeVar("Outcome")
Result = TypeVar("Result")


def complete(
    keys: Sequence[str],
    lookup: Callable[[int], Result | None],
    compute: Callable[[list[int]], Iterable[tuple[int, Outcome]]],
    keep: Callable[[list[int], Outcome], Iterable[Result]],
) -> Iterator[tuple[int, Result]]:
    """Yield the number and the result of each cell, as soon as it is known.

    Args:
        keys: the digest of all that each cell depends on; empty where it is not known.
        lookup: gives the result of a cell that was kept before; None if there is none.
        compute: computes cells, and gives the outcome of each in any order.
        keep: keeps the outcome of cells of the same content, and gives the result of each.

    Examples:
        >>> kept = {0: "a"}
        >>> twice = lambda numbers: ((number, "b") for number in numbers)
        >>> list(complete(["x", "y", "y"], kept.get, twice, lambda numbers, b: [b] * len(numbers)))
        [(0, 'a'), (1, 'b'), (2, 'b')]
    """
    waiting: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        if (result := lookup(number)) is not None:
            yield number, result
        else:  # cells of the same content are one computation
            waiting.setdefault(key or str(number), []).append(number)
    groups = {numbers[0]: numbers for numbers in waiting.values()}
    for first, outcome in compute(list(groups)):
        yield from zip(groups[first], keep(groups[first], outcome), strict=True)

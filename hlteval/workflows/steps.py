"""Progress of a run: how many of its documents are done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from hlteval.workflows.batches import Submission

T = TypeVar("T")
Step = Callable[[int, int | None], None]
"""Called after each batch with the documents that are done, and all; None if these are unknown."""


def silent(_done: int, _total: int | None) -> None:
    """A step that nobody watches."""


def watched(
    opened: Submission, each: Iterable[T], documents: Callable[[T], int], step: Step
) -> Iterator[T]:
    """What batches give; `step` is called as soon as the next one is asked for.

    Args:
        opened: the submission.
        each: what its batches give.
        documents: how many documents of both sides are in a batch, from what it gives.
        step: takes the documents that are done, and all.
    """
    done, total = 0, opened.total
    for item in each:
        yield item
        done += documents(item)
        step(done if total is None else min(done, total), total)


def part(step: Step, index: int, parts: int) -> Step:
    """The steps of one of several submissions, as steps of all; they are about as large.

    Args:
        step: takes the documents of all submissions; where their number is unknown, submissions.
        index: the number of the submission, from 0.
        parts: the number of submissions.

    Examples:
        >>> part(lambda done, total: print(done, "of", total), 1, 3)(20, 100)
        120 of 300
    """
    if parts == 1:
        return step

    def own(done: int, total: int | None) -> None:
        if total is None:
            step(index + 1, parts)
        else:
            step(index * total + done, parts * total)

    return own

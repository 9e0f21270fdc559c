"""Batches of a run by several processes, with the results of one, and the progress of a run.

A process is a new interpreter that shares nothing with this one: it opens the same inputs and takes
every n-th batch. Results come in the order of the batches, so nothing depends on how many processes
there are. Where one fails, this one does the rest: it has the same results, or the same error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, suppress
from itertools import cycle, islice
from typing import Any, Protocol, TypeVar

from hlteval.extensions import resolve
from hlteval.workflows.processes.pool import Call, Process, ProcessEnded
from hlteval.workflows.run.batches import Submission

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Worker(Protocol[T_co]):
    """Works on the batches of a submission."""

    @property
    def opened(self) -> Submission:
        """The submission and its reference."""

    def results(self, size: int | None) -> Iterator[Iterator[T_co]]:
        """The results of each batch, computed when they are asked for."""


def report_batches(
    opening: Call, size: int | None, first: int, jobs: int, report: Callable[[Any], None]
) -> None:
    """Report the results of every n-th batch.

    Args:
        opening: makes a worker.
        size: documents in a batch.
        first: the number of the first batch, from 0.
        jobs: how many processes there are.
        report: takes the results of a batch.
    """
    worker: Worker[Any] = resolve(opening.function)(*opening.arguments)
    for batch in islice(worker.results(size), first, None, jobs):
        report(list(batch))


def results(
    worker: Worker[T], opening: Call | None, jobs: int, size: int | None
) -> Generator[T, None, None]:
    """Yield the results of all batches, in their order.

    Whoever stops early closes the iterator, which ends the processes.

    Args:
        worker: does in this process what no other one does.
        opening: makes the same worker in other processes; None if they cannot.
        jobs: how many processes work on batches at most.
        size: documents in a batch.
    """
    done = 0
    if jobs > 1:  # a process for less than a batch would only cost its start
        jobs = min(jobs, worker.opened.batch_count(size))
    if opening is not None and jobs > 1:
        threads = {"POLARS_MAX_THREADS": str(max(1, (os.cpu_count() or 1) // jobs))}
        with ExitStack() as stack, suppress(ProcessEnded):
            processes = []
            for first in range(jobs):
                process = Process(opening.function, environment=threads | os.environ)
                stack.callback(process.end)
                arguments = (opening, size, first, jobs)
                process.begin(Call(f"{__name__}:report_batches", arguments, reports=True))
                processes.append(process)
            for process in cycle(processes):
                message = process.receive()
                if message.is_result:
                    return
                yield from message.value
                done += 1
    for batch in islice(worker.results(size), done, None):
        yield from batch


#: Called after each batch with the documents that are done, and all; None if these are unknown.
Progress = Callable[[int, int | None], None]


def no_progress(_done: int, _total: int | None) -> None:
    """Take a step that nobody watches."""


def with_progress(
    opened: Submission, each: Iterable[T], documents: Callable[[T], int], step: Progress
) -> Iterator[T]:
    """Yield the results of batches; `step` is called as soon as the next one is asked for.

    Args:
        opened: the submission.
        each: the results of its batches.
        documents: how many documents of both sides are in a batch, from its result.
        step: takes the documents that are done, and all.
    """
    done, total = 0, opened.total
    for item in each:
        yield item
        done += documents(item)
        step(done if total is None else min(done, total), total)


def subprogress(step: Progress, index: int, parts: int) -> Progress:
    """The steps of one of several submissions, as steps of all; they are about as large.

    Args:
        step: takes the documents of all submissions; where their number is unknown, submissions.
        index: the number of the submission, from 0.
        parts: the number of submissions.

    Examples:
        >>> subprogress(lambda done, total: print(done, "of", total), 1, 3)(20, 100)
        120 of 300
    """
    if parts == 1:
        return step

    def step_of_part(done: int, total: int | None) -> None:
        if total is None:
            step(index + 1, parts)
        else:
            step(index * total + done, parts * total)

    return step_of_part

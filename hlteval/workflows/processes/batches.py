"""Jobs: the batches of a run by several processes, with the results of one.

A process is a new interpreter that shares nothing with this one: it opens the same inputs and takes
every n-th batch. Results come in the order of the batches, so nothing depends on how many processes
there are. Where one fails, this one does the rest: it has the same results, or the same error.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, Protocol, TypeVar, cast

from hlteval.extensions import resolve
from hlteval.sources.opening import OpenInput
from hlteval.workflows.run.batches import Submission

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Worker(Protocol[T_co]):
    """What works on the batches of a submission."""

    @property
    def opened(self) -> Submission:
        """The submission and its reference."""

    def results(self, size: int | None) -> Iterator[Iterator[T_co]]:
        """What each batch gives, worked out when it is asked for."""


@dataclass(frozen=True)
class Opening:
    """How a worker is made, in this process or in another one.

    Attributes:
        function: its name, as `module:attribute`.
        arguments: its arguments by name.
    """

    function: str
    arguments: Mapping[str, Any]

    @property
    def repeatable(self) -> bool:
        """Whether another process opens the same: not standard input, nor what is in memory.

        Examples:
            >>> [Opening("", {"path": path}).repeatable for path in ("runs", "-")]
            [True, False]
        """
        items = _items(self.arguments)
        return not any(item == "-" or isinstance(item, OpenInput) for item in items)

    def __call__(self) -> Worker[Any]:
        """The worker."""
        worker: Worker[Any] = resolve(self.function)(**self.arguments)
        return worker


@dataclass(frozen=True)
class Order:
    """What a process does: every n-th batch.

    Attributes:
        opening: how it opens the inputs.
        size: documents in a batch.
        first: the number of its first batch, from 0.
        jobs: how many processes there are.
    """

    opening: Opening
    size: int | None
    first: int
    jobs: int

    def results(self) -> Iterator[list[Any]]:
        """What each of its batches gives."""
        return map(list, islice(self.opening().results(self.size), self.first, None, self.jobs))


def results(
    worker: Worker[T], opening: Opening | None, jobs: int, size: int | None
) -> Generator[T, None, None]:
    """What all batches give, in their order.

    Whoever stops early closes the iterator, which ends the processes.

    Args:
        worker: what this process does where no other one does.
        opening: how other processes make the same worker; None if they cannot.
        jobs: how many processes work on batches at most.
        size: documents in a batch.
    """
    done = 0
    if jobs > 1:  # a process for less than a batch would only cost its start
        jobs = min(jobs, worker.opened.batch_count(size))
    if opening is not None and jobs > 1 and opening.repeatable:
        with ExitStack() as stack:
            orders = (Order(opening, size, first, jobs) for first in range(jobs))
            pipes = [stack.enter_context(_started(order)) for order in orders]
            for batch in _received(pipes):
                if batch is None:
                    return
                yield from batch
                done += 1
    for each in islice(worker.results(size), done, None):
        yield from each


@contextmanager
def _started(order: Order) -> Iterator[IO[bytes]]:
    """The results of a process, which is ended at the end.

    It is in a session of its own, so that a Ctrl-C reaches only this process.
    """
    paths = os.pathsep.join(sys.path)
    threads = str(max(1, (os.cpu_count() or 1) // order.jobs))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "hlteval.workflows.processes.batch_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"POLARS_MAX_THREADS": threads, **os.environ, "PYTHONPATH": paths},
        start_new_session=True,
    )
    ordered, given = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
    try:
        with suppress(BrokenPipeError), ordered:
            pickle.dump(order, ordered)
        yield given
    finally:
        process.kill()
        given.close()
        process.wait()


def _received(pipes: list[IO[bytes]]) -> Iterator[list[Any] | None]:
    """The results of batch after batch; None after the last one, the end where a process failed."""
    batch: list[Any] | None = []
    number = 0
    while batch is not None:
        try:
            batch = pickle.load(pipes[number % len(pipes)])  # noqa: S301 - from our own process
        except (EOFError, pickle.UnpicklingError):
            return
        yield batch
        number += 1


def _items(value: object) -> Iterator[object]:
    """The values inside of mappings and lists."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _items(item)
    else:
        yield value


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

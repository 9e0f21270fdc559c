"""Workers: the results of all batches, from this process, from others, or from a cluster.

Another process shares nothing with this one: it opens the same inputs, and takes every n-th batch,
or some that follow each other. Results come in the order of the batches, so that nothing depends on
how many processes there are. Where one fails, this one does the rest: it has the same results, or
the same error.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, suppress
from itertools import cycle, islice
from typing import Any, Protocol, TypeVar

from hlteval.extensions import resolve
from hlteval.sources.opening import NoRemoteError
from hlteval.workflows.processes.graph import AHEAD, Cluster, Failed, Node
from hlteval.workflows.processes.pool import Call, Process, ProcessEnded
from hlteval.workflows.run.batches import Submission
from hlteval.workflows.run.parts import Parts

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
    opening: Call,
    size: int | None,
    first: int,
    jobs: int,
    parts: Parts | None,
    report: Callable[[Any], None],
) -> None:
    """Report the results of every n-th batch.

    Args:
        opening: makes a worker.
        size: documents in a batch.
        first: the number of the first batch, from 0.
        jobs: how many processes there are.
        parts: the parts of large files.
        report: takes the results of a batch.
    """
    worker: Worker[Any] = resolve(opening.function)(*opening.arguments)
    worker.opened.parts = parts
    for batch in islice(worker.results(size), first, None, jobs):
        report(list(batch))


def results(
    worker: Worker[T], opening: Call | None, jobs: int, size: int | None, cluster: str = ""
) -> Generator[T, None, None]:
    """Yield the results of all batches, in their order.

    Whoever stops early closes the iterator, which ends the processes.

    Args:
        worker: does in this process what no other one does.
        opening: makes the same worker in other processes; None if they cannot.
        jobs: how many processes work on batches at most.
        size: documents in a batch.
        cluster: the address of a scheduler, whose workers do it instead.

    Raises:
        NoRemoteError: if there is no such cluster, or its workers cannot do what this process can.
    """
    done = 0
    if cluster and opening is not None and worker.opened.batch_count(size) > 1:
        yield from _cluster_results(worker, opening, size, cluster)
        return
    if jobs > 1:  # a process for less than a batch would only cost its start
        jobs = min(jobs, worker.opened.batch_count(size))
    if opening is not None and jobs > 1:
        threads = {"POLARS_MAX_THREADS": str(max(1, (os.cpu_count() or 1) // jobs))}
        with ExitStack() as stack, suppress(ProcessEnded):
            processes = []
            for first in range(jobs):
                process = Process(opening.function, environment=threads | os.environ)
                stack.callback(process.end)
                arguments = (opening, size, first, jobs, worker.opened.parts)
                process.begin(Call(f"{__name__}:report_batches", arguments, reports=True))
                processes.append(process)
            for process in cycle(processes):
                message = process.receive()
                if message.is_result:
                    return
                yield from message.value
                done += 1
    for batch in islice(worker.results(size), done, None):
        if worker.opened.parts is None:
            yield from batch
        else:  # as from another process: its strings keep no others of their part in memory
            yield from (pickle.loads(pickle.dumps(result)) for result in batch)  # noqa: S301


def reason_for_one_process(opened: Submission, opening: Call | None, size: int | None) -> str:
    """Explain why `results` uses one process, however many are allowed; empty if it uses more.

    Args:
        opened: the submission.
        opening: as for `results`.
        size: documents in a batch.
    """
    if opening is None:
        return "other processes cannot read standard input or data in memory"
    if opened.batch_count(size) > 1:
        return ""
    if opened.format.layout == "single_file":
        single = "a submission in a single file is one batch"
        if opened.format.sections is None or opened.shared is not None:
            return single
        return f"{single}, unless it is large, valid and sorted by document"
    return f"a batch has up to {size or opened.task.hooks.batch:,} documents, and there is only one"


def batch_results(
    opening: Call, size: int | None, first: int, last: int | None, parts: Parts | None
) -> list[list[Any]]:
    """Return the results of some batches that follow each other; see `report_batches`."""
    worker: Worker[Any] = resolve(opening.function)(*opening.arguments)
    worker.opened.parts = parts
    return [list(batch) for batch in islice(worker.results(size), first, last)]


def _cluster_results(
    worker: Worker[T], opening: Call, size: int | None, address: str
) -> Iterator[T]:
    """Yield the results of all batches in their order, as a cluster computes them."""
    with closing(Cluster(address)) as cluster:
        threads = max(1, sum(cluster.client.nthreads().values()))
        each = max(1, worker.opened.batch_count(size) // (AHEAD * threads))
        firsts = [*range(0, worker.opened.batch_count(size), each)]
        shares = [*zip(firsts, [*firsts[1:], None], strict=True)]
        call = f"{__name__}:batch_results"
        roots = (Node(call, (opening, size, *share, worker.opened.parts)) for share in shares)
        came: dict[int, Any] = {}
        done = succeeded = 0
        for number, found in cluster.results(roots):
            came[number] = found
            succeeded += not isinstance(found, Failed)
            while done in came:
                batches = came.pop(done)
                if isinstance(batches, Failed):
                    reason, own = batches.reason, islice(worker.results(size), *shares[done])
                    batches = [list(batch) for batch in own]
                    if not succeeded:
                        raise NoRemoteError(f"the workers of {address} cannot do this: {reason}")
                for batch in batches:
                    yield from batch
                done += 1

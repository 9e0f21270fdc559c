"""Workers of a pipeline: processes that do orders, within limits."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hlteval.tasks.task import WrongOption
from hlteval.workflows.evaluation.pipeline_work import BROKEN, Order, Outcome, perform
from hlteval.workflows.processes.pool import Limits, Pool, ProcessEnded


@dataclass(frozen=True)
class WorkLimits:
    """Limits of a worker for one order.

    Attributes:
        seconds: of time.
        megabytes: of memory; 0 for all there is.
    """

    seconds: int = 3600
    megabytes: int = 8000


class Workers(Protocol):
    """Executor of orders."""

    def outcomes(self, orders: Iterable[Order]) -> Iterator[tuple[Order, Outcome]]:
        """The outcome of each order, as soon as there is one, in any order."""

    def close(self) -> None:
        """End all work."""


class Processes:
    """Does the orders in processes of their own.

    Args:
        root: their working directory.
        count: how many there are at most.
        limits: of each order.
        function: the name of the function that does an order, as `module:attribute`.
    """

    def __init__(
        self,
        root: Path,
        count: int = 1,
        limits: WorkLimits = WorkLimits(),
        function: str = f"{perform.__module__}:{perform.__name__}",
    ) -> None:
        memory = Limits(limits.megabytes)
        self.pool = Pool(function, count, limits.seconds, memory, root, _is_doubtful)

    def outcomes(self, orders: Iterable[Order]) -> Iterator[tuple[Order, Outcome]]:
        """The outcome of each order."""
        for order, answer in self.pool.results(orders):
            if not isinstance(answer, ProcessEnded):
                yield order, answer
            elif answer.status is None:
                yield order, Outcome("time")
            elif answer.status == -signal.SIGABRT and self.pool.limits.megabytes:
                yield order, Outcome("memory")  # so libraries end that get none
            else:
                yield order, Outcome("crashed", reason=answer.reason)

    def close(self) -> None:
        """End all processes."""
        self.pool.close()


def _is_doubtful(outcome: Outcome) -> bool:
    return outcome.result in BROKEN


#: What the smallest submission needs.
#:
#: Limits are of addresses, which libraries reserve by far more than they use: the reference and
#: systems of the demonstration, 20 lines each, take 1,070 MB where they are scored and compared.
LEAST_MEGABYTES = 1200


def check_memory(megabytes: int, *, unlimited: bool = False) -> None:
    """Refuse a limit with which nothing can be done.

    Args:
        megabytes: the limit.
        unlimited: whether 0 means that there is none.

    Raises:
        WrongOption: for less than what a process needs for the smallest submission.
    """
    if megabytes < LEAST_MEGABYTES and not (unlimited and megabytes == 0):
        all_there_is = ", or 0 for all there is" if unlimited else ""
        raise WrongOption(
            f"--max-memory {megabytes} is less than the smallest submission needs; "
            f"use {LEAST_MEGABYTES} or more{all_there_is}"
        )

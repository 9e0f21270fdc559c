"""The metrics that a reader looks at first, where not all can be shown."""

from __future__ import annotations

from collections.abc import Iterable

from hlteval.tasks.statistics import LOW
from hlteval.tasks.task import Task


def headline(task: Task, names: Iterable[str], primary: str, most: int) -> list[str]:
    """The most important metrics, in their order, with the one that ranks first.

    Args:
        task: that declares the statistics.
        names: of the metrics there are.
        primary: the metric that ranks.
        most: how many are wanted.

    Examples:
        >>> from hlteval.tasks import load
        >>> headline(load("seedev-full"), ["matches", "recall", "f1"], "f1", 2)
        ['f1', 'recall']
    """
    listed = sorted(names, key=lambda name: name != primary)
    best = sorted(listed, key=lambda name: _order(task, name, primary))[:most]
    return [name for name in listed if name in best]


def _order(task: Task, name: str, primary: str) -> tuple[bool, int, bool, bool]:
    """Rates before counts, then what the metric that ranks measures, then its statistic."""
    statistic = task.statistic(name)
    measure, _, last = primary.rpartition(".")
    return (
        name != primary,
        -(statistic.weight if statistic else LOW),
        not (measure and name.startswith(f"{measure}.")),
        not name.endswith(f".{last}"),
    )

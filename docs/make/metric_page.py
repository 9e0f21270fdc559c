"""The page docs/metrics.md: what every metric means, from the declarations of the tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docs.make.markdown import table
from hlteval import tasks
from hlteval.tasks.task import MeasureInfo, StatisticInfo, Task

_HEAD = """\
# Metrics

<!-- Made from the declarations in hlteval/tasks/ by docs.make.metric_page; do not edit. -->

The metrics of each task, with their meaning, formula, range, whether more or less is better, and
the clause that defines them. `hlteval tasks TASK` prints their meanings. Undefined values (0/0) are
shown as `-`. The formulas are those of the profile `plan`; [Differences](differences.md) lists
where `official` differs. [Confidence intervals](intervals.md) explains how intervals are computed.
"""

_WHAT = ("what", "comparison", "counts", "interval", "clause")
_FIGURE = ("figure", "meaning", "formula", "values", "better", "clause")


def metric_page() -> str:
    """The page docs/metrics.md, in Markdown.

    Examples:
        >>> metric_page().splitlines()[0]
        '# Metrics'
    """
    loaded = (tasks.load(name) for name in tasks.BUILTIN)
    return "\n".join([_HEAD, *(_task(task) for task in loaded if task.metrics)])


def _task(task: Task) -> str:
    """One task: its figures, and what has each of them."""
    ranks = sorted(set(task.primary.values()))
    ranked = " or ".join(f"`{name}`" for name in ranks)
    by = "" if len(ranks) < 2 else ", by profile"
    parts = [f"## {task.name}\n", f"{task.title}. Ranking metric: {ranked}{by}.\n"]
    methods = {name: _method(task, name) for name in task.metrics}
    if len(set(methods.values())) == 1:
        parts.append(f"Intervals: {next(iter(methods.values()))}.\n")
    if task.measures:
        parts.append(f"Metrics are named `MEASURE.STATISTIC`, e.g. {ranked}.\n")
        first = {name.rpartition(".")[0]: name for name in reversed(task.metrics)}
        rows = (_measured(item, methods[first[item.name]]) for item in task.measures)
        parts.append(table(_WHAT, rows))
    return "\n".join([*parts, table(_FIGURE, map(_figure, task.statistics))])


def _method(task: Task, name: str) -> str:
    """How the interval of a metric is computed, as the part that gives the metric declares."""
    (part,) = task.scorer("plan").decompose((name,))
    return part.interval_method


def _measured(one: MeasureInfo, method: str) -> tuple[str, ...]:
    return (f"`{one.name}`", *_plain(one.meaning, one.formula), method, *_plain(one.clause))


def _figure(figure: StatisticInfo) -> tuple[str, ...]:
    better = "-" if figure.better == "neither" else figure.better
    cells = _plain(figure.meaning, figure.formula or "counted", figure.values.text)
    return (f"`{figure.name}`", *cells, better, *_plain(figure.clause))


def _plain(*cells: str) -> Iterator[str]:
    """Cells of a table, in which code stands as it is and all else is plain text."""
    for cell in cells:
        parts = re.split(r"(`[^`]*`)", cell)
        yield "".join(
            part if part.startswith("`") else re.sub(r"([*_<>\[\]|\\])", r"\\\1", part)
            for part in parts
        )

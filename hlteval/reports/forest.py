"""Forest plots: values with their intervals, a row for each metric or system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf

from matplotlib.axes import Axes

from hlteval.reports.headline import headline
from hlteval.reports.plot_style import GRID, STYLES, plain
from hlteval.reports.score_formats import shown, values_of
from hlteval.results.comparison import Comparison, Difference, Limits
from hlteval.results.scores import Scores
from hlteval.tasks import load
from hlteval.tasks.statistics import RATE, Range
from hlteval.tasks.task import Task

MOST = 60
"""Most estimates in a figure."""
MOST_ROWS = 12
"""Most metrics in a figure."""
UNDEFINED = "undefined"
_SPREAD = 0.7
"""The share of the height of a row that its estimates take."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value as it is drawn.

    Attributes:
        value: where the point is; None if there is none.
        limits: of its interval, where there is one.
        text: at the right, so that numbers can be read.
        system: the number of its system, which has the same colour everywhere.
    """

    value: float | None
    limits: Limits = None
    text: str = ""
    system: int = 0


@dataclass(frozen=True, slots=True)
class Forest:
    """A forest plot.

    Attributes:
        axis: what its horizontal axis shows.
        rows: the estimates of each row, by its name, the first row at the top.
        values: what the values can be.
        line: a value that a vertical line marks.
    """

    axis: str
    rows: Mapping[str, Sequence[Estimate]]
    values: Range = RATE
    line: float | None = None

    @property
    def size(self) -> int:
        """The number of its estimates."""
        return sum(map(len, self.rows.values()))


def of_scores(scores: Mapping[str, Scores], names: Sequence[str] = ()) -> list[Forest]:
    """The values of metrics of several systems, a plot for each range of values.

    Args:
        scores: the scores by name of the system.
        names: the metrics; by default the most important ones that have comparable values.
    """
    first = next(iter(scores.values()))
    task = load(first.task)
    names = names or _chosen(scores, task, first.primary)
    ranges = [values_of(task, name) for name in names]
    order = sorted(zip(names, ranges, strict=True), key=lambda item: ranges.index(item[1]))
    return [
        _forest(scores, values, [name for name, _ in rows])
        for values, rows in groupby(order, key=lambda item: item[1])
    ]


def _forest(scores: Mapping[str, Scores], values: Range, names: Sequence[str]) -> Forest:
    """The plot of metrics of one range; an arrow marks those of which less is better."""
    task = load(next(iter(scores.values())).task)
    less = [name for name in names if (info := task.statistic(name)) and info.better == "less"]
    rows = {f"{name} ↓" if name in less else name: _estimates(scores, name) for name in names}
    intervals = any(own.intervals for own in scores.values())
    axis = f"value ({values.text})" + (", with interval" if intervals else "")
    return Forest(f"{axis}; ↓ lower is better" if less else axis, rows, values)


def undefined(scores: Mapping[str, Scores]) -> list[str]:
    """The comparable metrics that no system has a value of."""
    first = next(iter(scores.values()))
    names = _comparable(load(first.task), first.metrics, first.primary)
    return [name for name in names if all(own.metrics.get(name) is None for own in scores.values())]


def _chosen(scores: Mapping[str, Scores], task: Task, primary: str) -> list[str]:
    """The most important comparable metrics, of those that are defined."""
    every = dict.fromkeys(name for own in scores.values() for name in own.metrics)
    lacking = set(undefined(scores)) - {primary}
    names = [name for name in _comparable(task, every, primary) if name not in lacking]
    return headline(task, names, primary, max(1, min(MOST_ROWS, MOST // len(scores))))


def _comparable(task: Task, names: Iterable[str], primary: str) -> list[str]:
    """The metrics that rank, and those with rates or bounded values: counts have other scales."""
    ranges = {name: values_of(task, name) for name in names}
    return [
        name
        for name, values in ranges.items()
        if name == primary or values.kind == "rate" or values.most < inf
    ]


def _estimates(scores: Mapping[str, Scores], name: str) -> list[Estimate]:
    values = values_of(load(next(iter(scores.values())).task), name)
    found = ((own.metrics.get(name), own.intervals.get(name)) for own in scores.values())
    return [
        Estimate(value, limits, _text(value, limits, values), number)
        for number, (value, limits) in enumerate(found)
    ]


def _text(value: float | None, limits: Limits, values: Range) -> str:
    if value is None:
        return UNDEFINED
    between = f" [{', '.join(shown(limit, values) for limit in limits)}]" if limits else ""
    return shown(value, values) + between


def of_comparison(comparison: Comparison) -> list[Forest]:
    """The values of the systems, and their differences, with intervals."""
    values = values_of(load(comparison.task), comparison.metric)
    number = {system.name: index for index, system in enumerate(comparison.systems)}
    systems = {
        each.name: [
            Estimate(
                each.value,
                each.interval,
                _text(each.value, each.interval, values),
                number[each.name],
            )
        ]
        for each in comparison.systems
    } | {each.name: [Estimate(None, text="refused")] for each in comparison.refused}
    plots = [Forest(comparison.metric, systems, values)]
    if pairs := comparison.differences[:MOST]:
        rows = {f"{each.first} − {each.second}": [_difference(each)] for each in pairs}
        plots.append(Forest(f"difference in {comparison.metric}", rows, Range("", "rate"), 0.0))
    return plots


def _difference(pair: Difference) -> Estimate:
    if pair.difference is None:
        return Estimate(None, text=UNDEFINED)
    chance = "" if pair.corrected is None else f", p {pair.corrected:.4f}"
    black = len(STYLES) - 1
    return Estimate(pair.difference, pair.interval, f"{pair.difference:+.4f}{chance}", black)


def draw(place: Axes, forest: Forest) -> None:
    """Draw a forest plot: a point and the interval of each estimate, and the numbers beside it."""
    for row, estimates in enumerate(forest.rows.values()):
        for at, estimate in zip(_heights(row, len(estimates)), estimates, strict=True):
            _draw(place, estimate, at)
    place.set_yticks(range(len(forest.rows)), [plain(name) for name in forest.rows])
    place.set(xlabel=forest.axis, xlim=_limits(forest), ylim=(len(forest.rows) - 0.5, -0.5))
    if forest.line is not None:
        place.axvline(forest.line, color="black", linewidth=0.8)
    place.grid(visible=True, axis="x", linewidth=GRID)
    place.tick_params(axis="y", length=0)


def _draw(place: Axes, estimate: Estimate, at: float) -> None:
    style = STYLES[estimate.system % len(STYLES)]
    beside = place.get_yaxis_transform()
    place.text(1.01, at, estimate.text, transform=beside, va="center", fontsize="small")
    if estimate.value is None:
        return
    if estimate.limits:
        place.plot(estimate.limits, [at, at], color=style.color, linewidth=1.6)
    place.plot([estimate.value], [at], color=style.color, marker=style.marker, markersize=5)


def _heights(row: int, count: int) -> Iterator[float]:
    """The heights of the estimates of a row, the first at the top."""
    return (row + _SPREAD * ((number + 0.5) / count - 0.5) for number in range(count))


def _limits(forest: Forest) -> tuple[float, float]:
    """The ends of the axis: beyond what is drawn, and not beyond what the values can be."""
    each = [item for row in forest.rows.values() for item in row if item.value is not None]
    drawn = [end for item in each for end in (item.value, *(item.limits or ())) if end is not None]
    drawn += [] if forest.line is None else [forest.line]
    if not drawn:
        return (0.0, 1.0)
    low, high = min(drawn), max(drawn)
    margin = 0.08 * (high - low) or 0.05 * max(abs(high), 1.0)
    edge = 0.02 * (high - low + 2 * margin)  # points at the end are whole
    least, most = forest.values.least - edge, forest.values.most + edge
    return (max(low - margin, least), min(high + margin, most))

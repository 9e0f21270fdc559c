"""Plots of scores and comparisons: forests of intervals, and curves, safe for colour blindness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Literal, NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hlteval.findings.counts import first_names
from hlteval.reports.curves import RATES, Panel, panels
from hlteval.reports.scores import headline, value_text, values_of
from hlteval.reports.terminal import visible
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Difference, Limits
from hlteval.tasks import load
from hlteval.tasks.task import RATE, Range, Task

#: Width of the lines of the grid in points.
GRID = 0.4
#: Most characters of a name.
LONGEST = 40


_Line = Literal["-", "--", "-.", ":"]


class Style(NamedTuple):
    """How a system is drawn: no two differ in colour alone.

    Attributes:
        color: of its line and its points.
        line: the kind of its line.
        marker: the kind of its points.
    """

    color: str
    line: _Line
    marker: str


_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINES: tuple[_Line, ...] = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
#: Those of the systems in order, no two of the same colour and marker.
#:
#: The colours are Okabe and Ito's, without yellow.
STYLES = tuple(Style(_COLORS[at % 7], _LINES[at % 4], _MARKERS[at % 9]) for at in range(63))


def plain(name: str) -> str:
    r"""A name as text that is not a formula, on one line.

    Examples:
        >>> plain("a$b$"), plain("a\tb")
        ('a\\$b\\$', 'a→b')
    """
    return visible(name).replace("$", r"\$")


def short(names: list[str]) -> list[str]:
    """Names that fit: long ones lose their middle, and get a number if alike.

    Examples:
        >>> short(["a", "b" * 50])
        ['a', 'bbbbbbbbbbbbbbbbbbb…bbbbbbbbbbbbbbbbbbbb']
    """
    half = LONGEST // 2
    cut = [n if len(n) <= LONGEST else f"{n[: half - 1]}…{n[-half:]}" for n in names]
    return [f"{at} {n}" if cut.count(n) > 1 else n for at, n in enumerate(cut, start=1)]


#: Most estimates in a figure.
MOST = 60
#: Most metrics in a figure.
MOST_ROWS = 12
UNDEFINED = "undefined"
#: The share of the height of a row that its estimates take.
_SPREAD = 0.7


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


def forest_of_scores(scores: Mapping[str, Scores], names: Sequence[str] = ()) -> list[Forest]:
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
    between = f" [{', '.join(value_text(limit, values) for limit in limits)}]" if limits else ""
    return value_text(value, values) + between


def forest_of_comparison(comparison: Comparison) -> list[Forest]:
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


#: Width and height of a panel with curves in inches.
PANEL = 4.2
#: Height of a line of text in inches.
LINE = 0.2
#: Height of what is around a forest plot in inches.
FRAME = 1.0
#: Least width of a figure in inches.
WIDTH = 8.4
#: Most panels in a row.
FIGURES_MOST = 4
#: Most metrics that are named as undefined.
FEW = 3


def of_scores(scores: Mapping[str, Scores]) -> Figure:
    """The curves of several systems with their areas, or their metrics where there are no curves.

    Args:
        scores: the scores by name of the system, all of one task and profile.
    """
    first = next(iter(scores.values()))
    curves = panels(scores)
    areas = list(dict.fromkeys([first.primary, *(panel.metric for panel in curves)]))
    plots = forest_of_scores(scores, areas if curves else ())
    names = short(list(scores))
    title = f"{first.task}, profile {first.profile}" + f": {names[0]}" * (len(names) == 1)
    image, places, below = _layout(len(curves), plots, len(names))
    image.suptitle(
        plain(title) + (f"\n{_lacking(scores)}" if not curves else ""), fontsize="medium"
    )
    for place, panel in zip(places, curves, strict=True):
        _draw_curves(place, panel, dict(zip(names, scores.values(), strict=True)))
    for place, plot in zip(below, plots, strict=True):
        draw(place, plot)
    if len(names) > 1:
        _legend(image, names)
    return image


def _lacking(scores: Mapping[str, Scores]) -> str:
    """The metrics that are not drawn because no system has a value of them, in one line."""
    primary = next(iter(scores.values())).primary  # which is always drawn
    names = [name for name in undefined(scores) if name != primary]
    return f"undefined: {plain(first_names(names, FEW))}" if names else ""


def of_comparison(comparison: Comparison, scores: Mapping[str, Scores] | None = None) -> Figure:
    """The systems of a comparison and their differences, with intervals.

    Args:
        comparison: the comparison.
        scores: the scores by name of the system, of which the curves are drawn.
    """
    plots = forest_of_comparison(comparison)
    ranked = {each.name: scores[each.name] for each in comparison.systems} if scores else {}
    curves = panels(ranked)
    names = short([*ranked]) if curves else []
    image, above, places = _layout(len(curves), plots, len(names))
    image.suptitle(plain(f"{comparison.task}, profile {comparison.profile}"))
    for place, panel in zip(above, curves, strict=True):
        _draw_curves(place, panel, dict(zip(names, ranked.values(), strict=True)))
    for place, plot in zip(places, plots, strict=True):
        draw(place, plot)
    if curves:
        _legend(image, names)
    return image


def _layout(
    curves: int, plots: Sequence[Forest], names: int
) -> tuple[Figure, list[Axes], list[Axes]]:
    """An empty figure with the places of curves and those of forest plots, one below the other."""
    columns = max(1, min(FIGURES_MOST, curves))
    rows = -(-curves // columns)
    heights = [PANEL] * rows + [FRAME + LINE * (plot.size + 1) for plot in plots]
    size = (max(WIDTH, PANEL * columns), sum(heights) + LINE * (names + 2))
    image = Figure(figsize=size, layout="constrained")
    grid = image.add_gridspec(len(heights), columns, height_ratios=heights)
    places = [image.add_subplot(grid[at // columns, at % columns]) for at in range(curves)]
    return image, places, [image.add_subplot(grid[row, :]) for row in range(rows, len(heights))]


def _draw_curves(place: Axes, panel: Panel, scores: Mapping[str, Scores]) -> None:
    """Draw one diagram: the curve of each system; it names those that have none."""
    lacking = []
    for style, (name, system) in zip(_styles(len(scores)), scores.items(), strict=True):
        points = panel.curve(system)
        place.plot(
            *points,
            color=style.color,
            linestyle=style.line,
            marker=style.marker,
            markersize=3,
            linewidth=1.2,
        )
        lacking += [] if points[0] else [name]
    if lacking:
        text = "\n".join(["no curve", *map(plain, lacking if len(scores) > 1 else ())])
        place.text(0.5, 0.5, text, ha="center", va="center", transform=place.transAxes)
    place.set(title=plain(panel.title), xlabel=panel.axes[0], ylabel=panel.axes[1])
    place.set(ylim=(-0.02, 1.02))
    if panel.axes == RATES:
        place.set(xlim=(-0.02, 1.02), aspect="equal")
    place.grid(visible=True, linewidth=GRID)


def _legend(image: Figure, names: Sequence[str]) -> None:
    """One legend for all diagrams, below them."""
    handles = [
        Line2D([], [], color=style.color, linestyle=style.line, marker=style.marker, markersize=5)
        for style in _styles(len(names))
    ]
    numbers = [str(number) for number in range(len(names))]  # a label cannot begin with _
    wide = min(len(names), 4 if max(map(len, names)) < LONGEST // 2 else 2)
    legend = image.legend(
        handles, numbers, loc="outside lower center", fontsize="small", ncols=wide
    )
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(plain(name))


def _styles(count: int) -> list[Style]:
    return [STYLES[number % len(STYLES)] for number in range(count)]


def write(image: Figure, path: Path, kind: str) -> None:
    """Write a figure; the same numbers give the same bytes.

    Args:
        image: the figure.
        path: of the file.
        kind: `png`, `svg` or `pdf`.
    """
    # Text remains text in SVG and PDF.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "hlteval", "pdf.fonttype": 42}):
        varying = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}[kind]
        image.savefig(path, format=kind, dpi=150, metadata={varying: None})

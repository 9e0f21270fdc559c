"""Plots of scores and comparisons: forests of intervals, and curves, safe for colour blindness."""

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from math import inf
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hlteval.findings.counts import count_of, first_names
from hlteval.reports.curves import RATES, Panel, panels
from hlteval.reports.scores import headline, limits_text, value_text, values_of
from hlteval.reports.terminal import visible
from hlteval.results.agreement import Agreement
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Limits
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
        linestyle: the kind of its line.
        marker: the kind of its points.
    """

    color: str
    linestyle: _Line
    marker: str


#: The colours of `--series-1` to `--series-8` in pages: everybody sees them apart, on white too.
PALETTE = (
    *("#1c46a2", "#c42f0a", "#0f7a5c", "#955ea8"),
    *("#b08b14", "#2a8ded", "#722f34", "#232033"),
)
_LINES: tuple[_Line, ...] = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")

#: Those of the systems in order, no two of one colour: the palette, then lighter shades of it.
STYLES = tuple(
    Style(
        "#" + bytes(round(255 - (255 - part) * 0.8 ** (at // 8)) for part in parts).hex(),
        _LINES[at % 4],
        _MARKERS[at % 9],
    )
    for at in range(64)
    for parts in [bytes.fromhex(PALETTE[at % 8][1:])]
)
#: The number of the style of differences.
BLACK = len(PALETTE) - 1


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


class Estimate(NamedTuple):
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


class Forest(msgspec.Struct, frozen=True):
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


def forest_of_scores(scores: Mapping[str, Scores], names: Sequence[str] = ()) -> list[Forest]:
    """The values of metrics of several systems, a plot for each range of values.

    An arrow marks the metrics of which less is better.

    Args:
        scores: the scores by name of the system.
        names: the metrics; by default the most important ones that have comparable values.
    """
    first = next(iter(scores.values()))
    task = load(first.task)
    if not names:
        lacking = set(_without_value(scores)) - {first.primary}
        every = dict.fromkeys(name for own in scores.values() for name in own.metrics)
        known = [name for name in _comparable(task, every, first.primary) if name not in lacking]
        names = headline(task, known, first.primary, max(1, min(MOST_ROWS, MOST // len(scores))))
    intervals = ", with interval" if any(own.intervals for own in scores.values()) else ""
    plots: dict[Range, dict[str, list[Estimate]]] = {}
    for name in names:
        info, values = task.statistic(name), values_of(task, name)
        plots.setdefault(values, {})[f"{name} ↓" if info and info.better == "less" else name] = [
            _estimate(own.metrics.get(name), own.intervals.get(name), values, number)
            for number, own in enumerate(scores.values())
        ]
    less = {values: any(name.endswith(" ↓") for name in rows) for values, rows in plots.items()}
    lower = "; ↓ lower is better"
    return [
        Forest(f"value ({values.text}){intervals}{lower * less[values]}", rows, values)
        for values, rows in plots.items()
    ]


def _comparable(task: Task, names: Iterable[str], primary: str) -> list[str]:
    """The metrics that rank, and those with rates or bounded values: counts have other scales."""
    ranges = {name: values_of(task, name) for name in names}
    return [
        name
        for name, values in ranges.items()
        if name == primary or values.kind == "rate" or values.most < inf
    ]


def _without_value(scores: Mapping[str, Scores]) -> list[str]:
    """The comparable metrics that no system has a value of."""
    first = next(iter(scores.values()))
    names = _comparable(load(first.task), first.metrics, first.primary)
    return [name for name in names if all(own.metrics.get(name) is None for own in scores.values())]


def _estimate(value: float | None, limits: Limits, values: Range, system: int) -> Estimate:
    if value is None:
        return Estimate(None, limits, UNDEFINED, system)
    between = f" {limits_text(limits, values)}" if limits else ""
    return Estimate(value, limits, f"{value_text(value, values)}{between}", system)


def forest_of_comparison(comparison: Comparison) -> list[Forest]:
    """The values of the systems, and their differences, with intervals."""
    values = values_of(load(comparison.task), comparison.metric)
    systems = {
        each.name: [_estimate(each.value, each.interval, values, number)]
        for number, each in enumerate(comparison.systems)
    } | {each.name: [Estimate(None, text="refused")] for each in comparison.refused}
    rows = {}
    for pair in comparison.differences[:MOST]:
        chance = "" if pair.corrected is None else f", p {pair.corrected:.4f}"
        estimate = Estimate(None, text=UNDEFINED)
        if pair.difference is not None:
            text = f"{pair.difference:+.4f}{chance}"
            estimate = Estimate(pair.difference, pair.interval, text, BLACK)
        rows[f"{pair.first} − {pair.second}"] = [estimate]
    pairs = Forest(f"difference in {comparison.metric}", rows, Range("", "rate"), 0.0)
    return [Forest(comparison.metric, systems, values), *([pairs] if rows else [])]


def forest_of_agreement(agreement: Agreement) -> list[Forest]:
    """The pairs of annotators by each measure, and alpha of all by what is judged."""
    task, plots = load(agreement.task), list[Forest]()
    for measure in dict.fromkeys(pair.measure for pair in agreement.measures):
        values, pairs = values_of(task, measure), agreement.pairs_of(measure)[:MOST]
        rows = {
            f"{pair.first}, {pair.second}": [_estimate(pair.value, pair.interval, values, 0)]
            for pair in pairs
        }
        plots += [Forest(measure, rows, values)] if rows else []
    alphas = {
        item.judged: [_estimate(item.value, item.interval, RATE, 0)] for item in agreement.overall
    }
    named = "Krippendorff's alpha of all annotators"
    return [*plots, *([Forest(named, alphas, Range("", least=-inf, most=1.0))] if alphas else [])]


def _draw(place: Axes, forest: Forest) -> None:
    """Draw a forest plot: a point and the interval of each estimate, and the numbers beside it."""
    beside = place.get_yaxis_transform()
    for row, estimates in enumerate(forest.rows.values()):
        for number, estimate in enumerate(estimates):
            at = row + _SPREAD * ((number + 0.5) / len(estimates) - 0.5)
            style = STYLES[estimate.system % len(STYLES)]
            place.text(1.01, at, estimate.text, transform=beside, va="center", fontsize="small")
            if estimate.value is None:
                continue
            if estimate.limits:
                place.plot(estimate.limits, [at, at], color=style.color, linewidth=1.6)
            place.plot([estimate.value], [at], color=style.color, marker=style.marker, markersize=5)
    place.set_yticks(range(len(forest.rows)), [plain(name) for name in forest.rows])
    place.set(xlabel=forest.axis, xlim=_limits(forest), ylim=(len(forest.rows) - 0.5, -0.5))
    if forest.line is not None:
        place.axvline(forest.line, color="black", linewidth=0.8)
    place.grid(visible=True, axis="x", linewidth=GRID)
    place.tick_params(axis="y", length=0)


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
    first, curves = next(iter(scores.values())), panels(scores)
    areas = list(dict.fromkeys([first.primary, *(panel.metric for panel in curves)]))
    names = short(list(scores))
    title = f"{first.task}, profile {first.profile}" + f": {names[0]}" * (len(names) == 1)
    title = plain(title) + "\n" * (not curves)
    # The metric that ranks is always drawn.
    lacking = [name for name in _without_value(scores) if name != first.primary]
    if lacking and not curves:
        title += f"undefined: {plain(first_names(lacking, FEW))}"
    plots = forest_of_scores(scores, areas if curves else ())
    image = _figure(names, curves, plots, legend=len(names) > 1)
    image.suptitle(title, fontsize="medium")
    return image


def of_comparison(comparison: Comparison, scores: Mapping[str, Scores] | None = None) -> Figure:
    """The systems of a comparison and their differences, with intervals.

    Args:
        comparison: the comparison.
        scores: the scores by name of the system, of which the curves are drawn.
    """
    ranked = {each.name: scores[each.name] for each in comparison.systems} if scores else {}
    curves = panels(ranked)
    names = short([*ranked]) if curves else []
    image = _figure(names, curves, forest_of_comparison(comparison), legend=bool(curves))
    image.suptitle(plain(f"{comparison.task}, profile {comparison.profile}"))
    return image


def of_agreement(agreement: Agreement) -> Figure:
    """The pairs of annotators by each measure, and alpha of all, with intervals."""
    image = _figure([], [], forest_of_agreement(agreement), legend=False)
    annotators = count_of(len(agreement.annotators), "annotator")
    image.suptitle(plain(f"{agreement.task}: agreement of {annotators}"))
    return image


class NotebookFigure(Figure):
    """A figure that a notebook shows by itself, without pyplot and `%matplotlib inline`."""

    def _repr_png_(self) -> bytes:
        stream = BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()


def _figure(names: list[str], curves: list[Panel], plots: list[Forest], *, legend: bool) -> Figure:
    """A figure with curves above forest plots, and one legend for all diagrams, below them.

    Args:
        names: those of the systems in the legend.
        curves: the diagrams with a curve of each system.
        plots: the forest plots.
        legend: whether there is a legend.
    """
    columns = max(1, min(FIGURES_MOST, len(curves)))
    rows = -(-len(curves) // columns)
    sizes = [sum(map(len, plot.rows.values())) for plot in plots]
    heights = [PANEL] * rows + [FRAME + LINE * (size + 1) for size in sizes]
    size = (max(WIDTH, PANEL * columns), sum(heights) + LINE * (len(names) + 2))
    image = NotebookFigure(figsize=size, layout="constrained")
    grid = image.add_gridspec(len(heights), columns, height_ratios=heights)
    places = [image.add_subplot(grid[at // columns, at % columns]) for at in range(len(curves))]
    below = [image.add_subplot(grid[row, :]) for row in range(rows, len(heights))]
    for place, panel in zip(places, curves, strict=True):
        _draw_curves(place, panel, names)
    for place, plot in zip(below, plots, strict=True):
        _draw(place, plot)
    if legend:
        _add_legend(image, names)
    return image


def _draw_curves(place: Axes, panel: Panel, names: Sequence[str]) -> None:
    """Draw one diagram: the curve of each system; it names those that have none."""
    for number, points in enumerate(panel.curves):
        style = STYLES[number % len(STYLES)]._asdict()
        place.plot(*points, **style, markersize=3, linewidth=1.2)
    lacking = [name for name, curve in zip(names, panel.curves, strict=True) if not curve[0]]
    if lacking:
        text = "\n".join(["no curve", *map(plain, lacking if len(names) > 1 else ())])
        place.text(0.5, 0.5, text, ha="center", va="center", transform=place.transAxes)
    place.set(title=plain(panel.title), xlabel=panel.axes[0], ylabel=panel.axes[1])
    place.set(ylim=(-0.02, 1.02))
    if panel.axes == RATES:
        place.set(xlim=(-0.02, 1.02), aspect="equal")
    place.grid(visible=True, linewidth=GRID)


def _add_legend(image: Figure, names: Sequence[str]) -> None:
    styles = (STYLES[number % len(STYLES)]._asdict() for number in range(len(names)))
    lines = [Line2D([], [], **style, markersize=5) for style in styles]
    numbers = [str(number) for number in range(len(names))]  # a label cannot begin with _
    wide = min(len(names), 4 if max(map(len, names)) < LONGEST // 2 else 2)
    legend = image.legend(lines, numbers, loc="outside lower center", fontsize="small", ncols=wide)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(plain(name))


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

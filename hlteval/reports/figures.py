"""Figures of results: curves where the task has them, forest plots of values, and one legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hlteval.reports import forest
from hlteval.reports.curves import RATES, Panel, panels
from hlteval.reports.forest import Forest
from hlteval.reports.plot_style import GRID, LONGEST, STYLES, Style, plain, short
from hlteval.results.comparison import Comparison
from hlteval.results.scores import Scores

PANEL = 4.2
"""Width and height of a panel with curves in inches."""
LINE = 0.2
"""Height of a line of text in inches."""
FRAME = 1.0
"""Height of what is around a forest plot in inches."""
WIDTH = 8.4
"""Least width of a figure in inches."""
MOST = 4
"""Most panels in a row."""
FEW = 3
"""Most metrics that are named as undefined."""


def of_scores(scores: Mapping[str, Scores]) -> Figure:
    """The curves of several systems with their areas, or their metrics where there are no curves.

    Args:
        scores: the scores by name of the system, all of one task and profile.
    """
    first = next(iter(scores.values()))
    curves = panels(scores)
    areas = list(dict.fromkeys([first.primary, *(panel.metric for panel in curves)]))
    plots = forest.of_scores(scores, areas if curves else ())
    names = short(list(scores))
    title = f"{first.task}, profile {first.profile}" + f": {names[0]}" * (len(names) == 1)
    image, places, below = _layout(len(curves), plots, len(names))
    image.suptitle(
        plain(title) + (f"\n{_lacking(scores)}" if not curves else ""), fontsize="medium"
    )
    for place, panel in zip(places, curves, strict=True):
        _draw_curves(place, panel, dict(zip(names, scores.values(), strict=True)))
    for place, plot in zip(below, plots, strict=True):
        forest.draw(place, plot)
    if len(names) > 1:
        _legend(image, names)
    return image


def _lacking(scores: Mapping[str, Scores]) -> str:
    """The metrics that are not drawn because no system has a value of them, in one line."""
    primary = next(iter(scores.values())).primary  # which is always drawn
    names = [name for name in forest.undefined(scores) if name != primary]
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return f"undefined: {plain(', '.join(names[:FEW]))}{more}" if names else ""


def of_comparison(comparison: Comparison, scores: Mapping[str, Scores] | None = None) -> Figure:
    """The systems of a comparison and their differences, with intervals.

    Args:
        comparison: the comparison.
        scores: the scores by name of the system, of which the curves are drawn.
    """
    plots = forest.of_comparison(comparison)
    ranked = {each.name: scores[each.name] for each in comparison.systems} if scores else {}
    curves = panels(ranked)
    names = short([*ranked]) if curves else []
    image, above, places = _layout(len(curves), plots, len(names))
    image.suptitle(plain(f"{comparison.task}, profile {comparison.profile}"))
    for place, panel in zip(above, curves, strict=True):
        _draw_curves(place, panel, dict(zip(names, ranked.values(), strict=True)))
    for place, plot in zip(places, plots, strict=True):
        forest.draw(place, plot)
    if curves:
        _legend(image, names)
    return image


def _layout(
    curves: int, plots: Sequence[Forest], names: int
) -> tuple[Figure, list[Axes], list[Axes]]:
    """An empty figure with the places of curves and those of forest plots, one below the other."""
    columns = max(1, min(MOST, curves))
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

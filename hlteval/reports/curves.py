"""Curves as an image: precision and recall per layer or class, and nDCG."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hlteval.reports.score_formats import shown
from hlteval.results.scores import Scores
from hlteval.tasks.statistics import RATE

PANEL = 4.2
"""Width and height of a panel in inches."""
LINE = 0.2
"""Height of a line of the legend in inches."""
MOST = 4
"""Most panels in a row."""
LONGEST = 30
"""Most characters of a name in the legend."""


def draw(scores: Mapping[str, Scores], path: Path, kind: str) -> None:
    """Draw the curves of several systems.

    Args:
        scores: the scores by name of the system, with the table `curve`, or `pr` and maybe `ndcg`.
        path: path of the image.
        kind: `png`, `svg` or `pdf`.
    """
    # Text remains text in SVG and PDF; without a date, the same numbers give the same bytes.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "hlteval", "pdf.fonttype": 42}):
        varying = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}[kind]
        figure(scores).savefig(path, format=kind, dpi=150, metadata={varying: None})


@dataclass(frozen=True, slots=True)
class Panel:
    """A diagram with a curve of each system.

    Attributes:
        title: above it.
        axes: what its axes show.
        curve: the points of a system, as two lists.
        metric: the metric of a system that its legend shows, with a word for it.
    """

    title: str
    axes: tuple[str, str]
    curve: Callable[[Scores], tuple[list[float], list[float]]]
    metric: tuple[str, str]


_RATES = ("recall", "precision")


def panels(scores: Mapping[str, Scores]) -> list[Panel]:
    """The diagrams of a task: by layer, or nDCG where it has that, and its classes."""
    tables = [system.tables for system in scores.values()]
    if any("curve" in own for own in tables):
        layers = _values([own["curve"]["layer"] for own in tables])
        return [
            Panel(layer, _RATES, partial(points, layer=layer), (f"{layer.lower()}.auc", "AUC"))
            for layer in layers
        ]
    classes = _values([own["pr"]["class"] for own in tables if "pr" in own])
    known = {name for system in scores.values() for name in system.metrics}
    ranked = any("ndcg" in own for own in tables)
    return [
        *([Panel("nDCG", ("k", "nDCG"), _ndcg, ("ndcg.standard", "nDCG"))] if ranked else []),
        *(
            Panel(name, _RATES, partial(_of_class, name=name), _area(name, known))
            for name in classes
        ),
    ]


def _area(name: str, known: Collection[str]) -> tuple[str, str]:
    """The metric that is the area below the curve of a class, with a word for it."""
    areas = {f"ap.{name}": "AP", f"cd.ap.{name}": "AP"}
    return next((item for item in areas.items() if item[0] in known), (f"auc.{name}", "AUC"))


def _values(columns: Iterable[pl.Series]) -> list[str]:
    names = pl.concat([pl.Series(dtype=pl.String), *columns])
    return names.unique(maintain_order=True).to_list()


def _ndcg(system: Scores) -> tuple[list[float], list[float]]:
    """The nDCG at each rank, by the standard tie-break."""
    table = system.tables.get("ndcg", pl.DataFrame({"k": [], "standard": []}))
    return table["k"].to_list(), table["standard"].to_list()


def _of_class(system: Scores, name: str) -> tuple[list[float], list[float]]:
    """Recalls and precisions of the frames of a class; in `plan`, from recall 0."""
    if "pr" not in system.tables:
        return [], []
    rows = system.tables["pr"].filter(pl.col("class") == name).drop_nulls()
    recalls, precisions = rows["recall"].to_list(), rows["precision"].to_list()
    if system.profile == "plan" and precisions:
        return [0.0, *recalls], [precisions[0], *precisions]
    return recalls, precisions


def figure(scores: Mapping[str, Scores]) -> Figure:
    """The curves of several systems, with the legend of each diagram below it."""
    every = panels(scores)
    columns = max(1, min(MOST, len(every)))
    rows = max(1, -(-len(every) // columns))
    size = (PANEL * columns, (PANEL + LINE * (len(scores) + 1)) * rows)
    image = Figure(figsize=size, layout="constrained")
    places = image.subplots(rows, columns, squeeze=False).ravel()
    for place, panel in zip(places, every, strict=False):
        _draw(place, panel, scores)
    for place in places[len(every) :]:
        place.remove()
    return image


def points(system: Scores, layer: str) -> tuple[list[float], list[float]]:
    """Recalls and precisions of the curve whose area is the `auc` of a layer.

    In the profile `plan` it begins at recall 0, and follows the order of the cuts. In `official` it
    has the points of the script: with recall above 0, by recall and precision.
    """
    rows = system.tables["curve"].filter(pl.col("layer") == layer)
    rows = rows.drop_nulls(["recall", "precision"]).sort("cut")
    positive = rows.filter(pl.col("recall") > 0)
    if system.profile == "official":
        positive = positive.sort("recall", "precision")
    recalls, precisions = positive["recall"].to_list(), positive["precision"].to_list()
    if system.profile == "plan" and rows.height:
        return [0.0, *recalls], [rows["precision"][0], *precisions]
    return recalls, precisions


def _draw(place: Axes, panel: Panel, scores: Mapping[str, Scores]) -> None:
    """Draw one diagram: the curve of each system, with its number in the legend."""
    metric, word = panel.metric
    for name, system in zip(_short(list(scores)), scores.values(), strict=True):
        value = shown(system.metrics.get(metric), RATE)
        place.plot(
            *panel.curve(system),
            marker=".",
            markersize=3,
            linewidth=1.2,
            label=f"{name.replace('$', chr(92) + '$')} ({word} {value})",
        )
    place.set(title=panel.title, xlabel=panel.axes[0], ylabel=panel.axes[1], ylim=(-0.02, 1.02))
    if panel.axes == _RATES:
        place.set(xlim=(-0.02, 1.02), aspect="equal")
    place.grid(visible=True, linewidth=0.4)
    place.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.14))


def _short(names: list[str]) -> list[str]:
    """Names that fit below a panel: long ones lose their middle, and get a number if alike.

    Examples:
        >>> _short(["a", "b" * 40])
        ['a', 'bbbbbbbbbbbbbb…bbbbbbbbbbbbbbb']
    """
    half = LONGEST // 2
    cut = [n if len(n) <= LONGEST else f"{n[: half - 1]}…{n[-half:]}" for n in names]
    return [f"{at} {n}" if cut.count(n) > 1 else n for at, n in enumerate(cut, start=1)]

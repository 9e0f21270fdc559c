"""Precision-recall curves as an image: one panel per layer."""

from __future__ import annotations

from collections.abc import Mapping
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
LONGEST = 30
"""Most characters of a name in the legend."""


def draw(scores: Mapping[str, Scores], path: Path, kind: str) -> None:
    """Draw the precision-recall curves of several systems.

    Args:
        scores: the scores by name of the system; they contain the table `curve`.
        path: path of the image.
        kind: `png`, `svg` or `pdf`.
    """
    # Text remains text in SVG and PDF; without a date, the same numbers give the same bytes.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "hlteval", "pdf.fonttype": 42}):
        varying = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}[kind]
        figure(scores).savefig(path, format=kind, dpi=150, metadata={varying: None})


def figure(scores: Mapping[str, Scores]) -> Figure:
    """The curves of several systems, with the legend of each panel below it."""
    tables = [system.tables["curve"] for system in scores.values()]
    layers = pl.concat(tables)["layer"].unique(maintain_order=True).to_list()
    columns = max(1, len(layers))
    size = (PANEL * columns, PANEL + LINE * (len(scores) + 1))
    image = Figure(figsize=size, layout="constrained")
    panels = image.subplots(1, columns, squeeze=False)[0]
    for panel, layer in zip(panels, layers, strict=False):
        _panel(panel, layer, scores)
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


def _panel(panel: Axes, layer: str, scores: Mapping[str, Scores]) -> None:
    """Draw one layer: the curve of each system, with its area in the legend."""
    for name, system in zip(_short(list(scores)), scores.values(), strict=True):
        area = shown(system.metrics.get(f"{layer.lower()}.auc"), RATE)
        panel.plot(
            *points(system, layer),
            marker=".",
            markersize=3,
            linewidth=1.2,
            label=f"{name.replace('$', chr(92) + '$')} (AUC {area})",
        )
    panel.set(title=layer, xlabel="recall", ylabel="precision", xlim=(-0.02, 1.02))
    panel.set(ylim=(-0.02, 1.02), aspect="equal")
    panel.grid(visible=True, linewidth=0.4)
    panel.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.14))


def _short(names: list[str]) -> list[str]:
    """Names that fit below a panel: long ones lose their middle, and get a number if alike.

    Examples:
        >>> _short(["a", "b" * 40])
        ['a', 'bbbbbbbbbbbbbb…bbbbbbbbbbbbbbb']
    """
    half = LONGEST // 2
    cut = [n if len(n) <= LONGEST else f"{n[: half - 1]}…{n[-half:]}" for n in names]
    return [f"{at} {n}" if cut.count(n) > 1 else n for at, n in enumerate(cut, start=1)]

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


def draw(scores: Mapping[str, Scores], path: Path, kind: str) -> None:
    """Draw the precision-recall curves of several systems.

    Args:
        scores: the scores by name of the system; they contain the table `curve`.
        path: path of the image.
        kind: `png`, `svg` or `pdf`.
    """
    tables = [system.tables["curve"] for system in scores.values()]
    layers = pl.concat(tables)["layer"].unique(maintain_order=True).to_list()
    # Text remains text in SVG and PDF; without a date, the same numbers give the same bytes.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "hlteval", "pdf.fonttype": 42}):
        figure = Figure(figsize=(PANEL * max(1, len(layers)), PANEL), layout="constrained")
        panels = figure.subplots(1, max(1, len(layers)), squeeze=False)[0]
        for panel, layer in zip(panels, layers, strict=False):
            _panel(panel, layer, scores)
        varying = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}[kind]
        figure.savefig(path, format=kind, dpi=150, metadata={varying: None})


def _panel(panel: Axes, layer: str, scores: Mapping[str, Scores]) -> None:
    """Draw one layer: the curve of each system, with its area in the legend."""
    for name, system in scores.items():
        points = system.tables["curve"].filter(pl.col("layer") == layer)
        points = points.drop_nulls(["recall", "precision"]).sort("cut")
        positive = points.filter(pl.col("recall") > 0)
        recalls, precisions = positive["recall"].to_list(), positive["precision"].to_list()
        if system.profile == "plan" and points.height:  # the plan anchors the curve at recall 0
            recalls, precisions = [0.0, *recalls], [points["precision"][0], *precisions]
        area = shown(system.metrics.get(f"{layer.lower()}.auc"), RATE)
        panel.plot(
            recalls,
            precisions,
            marker=".",
            markersize=3,
            linewidth=1.2,
            label=f"{name.replace('$', chr(92) + '$')} (AUC {area})",
        )
    panel.set(title=layer, xlabel="recall", ylabel="precision", xlim=(-0.02, 1.02))
    panel.set(ylim=(-0.02, 1.02), aspect="equal")
    panel.grid(visible=True, linewidth=0.4)
    panel.legend(fontsize="small")

"""The curves of precision and recall as a picture: a panel for each layer."""

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
"""Inches of a panel's side."""


def draw(scores: Mapping[str, Scores], path: Path, kind: str) -> None:
    """Draw the curves of systems.

    Args:
        scores: the scores by the names of the systems; they have the table `curve`.
        path: where the picture is written.
        kind: `png`, `svg` or `pdf`.
    """
    tables = [one.tables["curve"] for one in scores.values()]
    layers = pl.concat(tables)["layer"].unique(maintain_order=True).to_list()
    # Text stays text in SVG and PDF, and the same numbers give the same bytes.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "hlteval", "pdf.fonttype": 42}):
        figure = Figure(figsize=(PANEL * max(1, len(layers)), PANEL), layout="constrained")
        panels = figure.subplots(1, max(1, len(layers)), squeeze=False)[0]
        for panel, layer in zip(panels, layers, strict=False):
            _panel(panel, layer, scores)
        dated = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}[kind]
        figure.savefig(path, format=kind, dpi=150, metadata={dated: None})


def _panel(panel: Axes, layer: str, scores: Mapping[str, Scores]) -> None:
    """One layer: the curve of each system, with the area below it."""
    for name, one in scores.items():
        points = one.tables["curve"].filter(pl.col("layer") == layer)
        points = points.drop_nulls(["recall", "precision"]).sort("cut")
        counted = points.filter(pl.col("recall") > 0)
        recalls, precisions = counted["recall"].to_list(), counted["precision"].to_list()
        if one.profile == "plan" and points.height:  # there the curve is anchored at recall 0
            recalls, precisions = [0.0, *recalls], [points["precision"][0], *precisions]
        area = shown(one.metrics.get(f"{layer.lower()}.auc"), RATE)
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

"""Curves of scores: precision and recall per layer or class, and nDCG."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from hlteval.findings import SUBMISSION
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, short_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Panel:
    """A diagram with a curve of each system.

    Attributes:
        title: above it.
        axes: what its axes show.
        curve: the points of a system, as two lists.
        metric: the metric that is the area below it, or its summary.
    """

    title: str
    axes: tuple[str, str]
    curve: Callable[[Scores], tuple[list[float], list[float]]]
    metric: str


RATES = ("recall", "precision")


def panels(scores: Mapping[str, Scores]) -> list[Panel]:
    """The diagrams of a task: by layer, or nDCG where it has that, and its classes."""
    tables = [system.tables for system in scores.values()]
    if any("curve" in own for own in tables):
        layers = _values([own["curve"]["layer"] for own in tables if "curve" in own])
        return [
            Panel(layer, RATES, partial(points, layer=layer), f"{layer.lower()}.auc")
            for layer in layers
        ]
    classes = _values([own["pr"]["class"] for own in tables if "pr" in own])
    known = {name for system in scores.values() for name in system.metrics}
    ranked = any("ndcg" in own for own in tables)
    return [
        *([Panel("nDCG", ("k", "nDCG"), _ndcg, "ndcg.standard")] if ranked else []),
        *(
            Panel(name, RATES, partial(_of_class, name=name), _area(name, known))
            for name in classes
        ),
    ]


def _area(name: str, known: Collection[str]) -> str:
    """The metric that is the area below the curve of a class."""
    areas = (f"ap.{name}", f"cd.ap.{name}")
    return next((area for area in areas if area in known), f"auc.{name}")


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


def points(system: Scores, layer: str) -> tuple[list[float], list[float]]:
    """Recalls and precisions of the curve whose area is the `auc` of a layer, by its cuts."""
    if "curve" not in system.tables:
        return [], []
    rows = system.tables["curve"].filter(pl.col("layer") == layer).sort("cut")
    rows = curve_points(rows, system.profile)
    return rows["recall"].to_list(), rows["precision"].to_list()


def curve_points(rows: pl.DataFrame, profile: str) -> pl.DataFrame:
    """The points of a curve, and what is known of each.

    In the profile `plan` it begins at recall 0, and follows the order of the rows. In `official` it
    has the points of the script: with recall above 0, by recall and precision.
    """
    known = [
        name for name in ("recall", "precision", "threshold", "tp", "fp", "fn") if name in rows
    ]
    rows = rows.select(known).drop_nulls(["recall", "precision"])
    positive = rows.filter(pl.col("recall") > 0)
    if profile == "official" or rows.is_empty():
        return positive.sort("recall", "precision")
    first = {"recall": [0.0], "precision": rows["precision"][:1]}
    return pl.concat([pl.DataFrame(first), positive], how="diagonal_relaxed").select(known)


NEEDED = "a plot needs matplotlib: pip install 'hlteval[plot]'"


def of_scores(scores: Scores, others: Mapping[str, Scores]) -> Figure:
    """The figure of a submission and others; see `Scores.plot`.

    Raises:
        ImportError: where matplotlib is not installed.
        ValueError: if the others are of another task.
    """
    if other := next((each for each in others.values() if each.task != scores.task), None):
        raise ValueError(f"others: expected scores of {scores.task}, got {other.task}")
    path = scores.verdict.paths.get(SUBMISSION, "") or "system"
    name = short_names([path])[path]
    while name in others:
        name += " (this)"
    try:
        from hlteval.reports.drawing import of_scores as figure
    except ImportError as error:
        raise ImportError(NEEDED) from error
    return figure({name: scores, **others})


def of_comparison(comparison: Comparison) -> Figure:
    """The figure of a comparison; see `Comparison.plot`.

    Raises:
        ImportError: where matplotlib is not installed.
    """
    try:
        from hlteval.reports.drawing import of_comparison as figure
    except ImportError as error:
        raise ImportError(NEEDED) from error
    return figure(comparison)

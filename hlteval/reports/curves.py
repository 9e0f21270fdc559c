"""Curves of scores: precision and recall per layer or class, and nDCG; plots in files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec
import polars as pl

from hlteval.extensions import lazy
from hlteval.findings import SUBMISSION
from hlteval.results.agreement import Agreement
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Leaderboard, short_names
from hlteval.results.verdict import Verdict
from hlteval.sources import writing
from hlteval.tasks.task import WrongOption

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Recalls and precisions, or other coordinates.
Points = tuple[list[float], list[float]]


class Panel(msgspec.Struct, frozen=True):
    """A diagram with a curve of each system.

    Attributes:
        title: above it.
        axes: what its axes show.
        metric: the metric that is the area below it, or its summary.
        curves: the points of each system.
    """

    title: str
    axes: tuple[str, str]
    metric: str
    curves: Sequence[Points]


RATES = ("recall", "precision")


def panels(scores: Mapping[str, Scores]) -> list[Panel]:
    """The diagrams of a task: by layer, or nDCG where it has that, and its classes."""
    systems = list(scores.values())
    if layers := _values(systems, "curve", "layer"):
        return [
            Panel(name, RATES, f"{name.lower()}.auc", [_of_layer(own, name) for own in systems])
            for name in layers
        ]
    found = []
    if any("ndcg" in own.tables for own in systems):
        nothing = pl.DataFrame({"k": [], "standard": []})
        tables = (own.tables.get("ndcg", nothing) for own in systems)
        curves = [(table["k"].to_list(), table["standard"].to_list()) for table in tables]
        found.append(Panel("nDCG", ("k", "nDCG"), "ndcg.standard", curves))
    known = {metric for own in systems for metric in own.metrics}
    for name in _values(systems, "pr", "class"):
        areas = (f"ap.{name}", f"cd.ap.{name}")
        area = next((area for area in areas if area in known), f"auc.{name}")
        found.append(Panel(name, RATES, area, [_of_class(own, name) for own in systems]))
    return found


def _values(systems: Iterable[Scores], table: str, column: str) -> list[str]:
    columns = [own.tables[table][column] for own in systems if table in own.tables]
    return list(dict.fromkeys(value for values in columns for value in values))


def _of_class(system: Scores, name: str) -> Points:
    """Recalls and precisions of the frames of a class; in `plan`, from recall 0."""
    if "pr" not in system.tables:
        return [], []
    rows = system.tables["pr"].filter(pl.col("class") == name).drop_nulls()
    recalls, precisions = rows["recall"].to_list(), rows["precision"].to_list()
    if system.profile == "plan" and precisions:
        return [0.0, *recalls], [precisions[0], *precisions]
    return recalls, precisions


def _of_layer(system: Scores, layer: str) -> Points:
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
    known = [name for name in (*RATES, "threshold", "tp", "fp", "fn") if name in rows]
    rows = rows.select(known).drop_nulls(["recall", "precision"])
    positive = rows.filter(pl.col("recall") > 0)
    if profile == "official" or rows.is_empty():
        return positive.sort("recall", "precision")
    first = {"recall": [0.0], "precision": rows["precision"][:1]}
    return pl.concat([pl.DataFrame(first), positive], how="diagonal_relaxed").select(known)


NEEDED = "a plot needs matplotlib: pip install 'hlteval[plot]'"
#: The suffixes of plots.
SUFFIXES = (".png", ".svg", ".pdf")


def check_plot(file: Path | None) -> None:
    """Hold that a plot can be written, before the work begins; nothing without a file.

    Raises:
        WrongOption: for another suffix, or where matplotlib is not installed.
    """
    if file is None:
        return
    if file.suffix.lower() not in SUFFIXES:
        raise WrongOption(f"a plot is one of {', '.join(SUFFIXES)}, not {file.name}")
    if find_spec("matplotlib") is None:
        raise WrongOption(NEEDED)


def plot_scores(scores: Mapping[str, Scores], file: Path | None) -> None:
    """Plot the scores of submissions; nothing without a file.

    Args:
        scores: their scores by path.
        file: of the picture; its suffix is its format.

    Raises:
        WrongOption: for a file that cannot be a plot.
    """
    if file is not None:
        check_plot(file)
        names = short_names(scores)
        _write("of_scores", {names[path]: own for path, own in scores.items()}, file)


def plot_comparison(
    comparison: Comparison, file: Path | None, scores: Mapping[str, Scores] | None = None
) -> None:
    """Plot the systems of a comparison and their differences; nothing without a file.

    Args:
        comparison: the comparison.
        file: of the picture; its suffix is its format.
        scores: the scores of each system, by name, from which their curves are drawn.

    Raises:
        WrongOption: for a file that cannot be a plot.
    """
    if file is not None:
        check_plot(file)
        _write("of_comparison", comparison, file, scores or {})


def plot_leaderboard(board: Leaderboard, file: Path | None) -> None:
    """Plot the values of all systems by each metric; nothing without a file, or without systems.

    Raises:
        WrongOption: for a file that cannot be a plot.
    """
    if file is not None and board.comparisons:
        check_plot(file)
        every = {
            row.name: Scores(
                task=board.task,
                profile=board.profile,
                signature=board.signature,
                primary=board.metrics[0],
                metrics={name: own.value for name, own in row.scores.items()},
                intervals={
                    name: cast("tuple[float, float]", own.interval)
                    for name, own in row.scores.items()
                    if own.interval
                },
                tables={},
                verdict=Verdict(board.task, board.profile, passed=True),
            )
            for row in board.systems
        }
        _write("of_scores", every, file)


def plot_agreement(agreement: Agreement, file: Path | None) -> None:
    """Plot the pairs of annotators, and alpha of all; nothing without a file, or without values.

    Raises:
        WrongOption: for a file that cannot be a plot.
    """
    if file is not None and (
        agreement.overall or any(p.value is not None for p in agreement.measures)
    ):
        check_plot(file)
        _write("of_agreement", agreement, file)


def _write(figure: str, result: object, file: Path, *more: object) -> None:
    image = lazy(f"hlteval.reports.drawing:{figure}")(result, *more)
    suffix = file.suffix.lower().removeprefix(".")
    with writing(file) as unfinished:
        lazy("hlteval.reports.drawing:write")(image, unfinished, suffix)


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
    return _draw("of_scores", {name: scores, **others})


def of_comparison(comparison: Comparison) -> Figure:
    """The figure of a comparison; see `Comparison.plot`.

    Raises:
        ImportError: where matplotlib is not installed.
    """
    return _draw("of_comparison", comparison)


def of_agreement(agreement: Agreement) -> Figure:
    """The figure of an agreement; see `Agreement.plot`.

    Raises:
        ImportError: where matplotlib is not installed.
    """
    return _draw("of_agreement", agreement)


def _draw(kind: str, result: object) -> Figure:
    try:
        drawing = import_module("hlteval.reports.drawing")
    except ImportError as error:
        raise ImportError(NEEDED) from error
    figure: Figure = getattr(drawing, kind)(result)
    return figure

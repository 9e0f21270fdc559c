"""Plots of results, which need matplotlib: it is imported when something is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hlteval.findings import SUBMISSION
from hlteval.results.comparison import Comparison
from hlteval.results.names import short_names
from hlteval.results.scores import Scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
        from hlteval.reports.figures import of_scores as figure
    except ImportError as error:
        raise ImportError(NEEDED) from error
    return figure({name: scores, **others})


def of_comparison(comparison: Comparison) -> Figure:
    """The figure of a comparison; see `Comparison.plot`.

    Raises:
        ImportError: where matplotlib is not installed.
    """
    try:
        from hlteval.reports.figures import of_comparison as figure
    except ImportError as error:
        raise ImportError(NEEDED) from error
    return figure(comparison)

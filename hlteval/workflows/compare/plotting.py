"""Plots: the curves or the values of submissions, in a file."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from hlteval.extensions import lazy
from hlteval.reports.curves import NEEDED
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Leaderboard, short_names
from hlteval.results.verdict import Verdict
from hlteval.sources import writing
from hlteval.tasks.task import WrongOption
from hlteval.workflows.run.engine import Run, score
from hlteval.workflows.run.request import Request

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


def plot_scores(
    request: Request, scores: Scores, file: Path | None, beside: Iterable[str] = ()
) -> None:
    """Plot the scores of a submission, and of others; nothing without a file.

    Args:
        request: how the submission was scored.
        scores: its scores.
        file: of the picture; its suffix is its format.
        beside: paths of more submissions to score and include.

    Raises:
        WrongOption: for a file that cannot be a plot.
        Refused: if one of the other submissions cannot be scored.
    """
    if file is None:
        return
    check_plot(file)
    own = replace(request, alignment=False, evidence=False, jobs=1, step=None)
    every = {request.system: scores}
    every |= {path: score(replace(own, system=path)) for path in beside}
    names = short_names(every)
    _write("of_scores", {names[path]: own for path, own in every.items()}, file)


def plot_comparison(
    comparison: Comparison, file: Path | None, runs: Mapping[str, Run] | None = None
) -> None:
    """Plot the systems of a comparison and their differences; nothing without a file.

    Args:
        comparison: the comparison.
        file: of the picture; its suffix is its format.
        runs: what was counted of each system, by name, from which their curves are drawn.

    Raises:
        WrongOption: for a file that cannot be a plot.
    """
    if file is not None:
        check_plot(file)
        scores = {name: run.scores() for name, run in (runs or {}).items()}
        _write("of_comparison", comparison, file, scores)


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


def _write(figure: str, result: object, file: Path, *more: object) -> None:
    image = lazy(f"hlteval.reports.drawing:{figure}")(result, *more)
    suffix = file.suffix.lower().removeprefix(".")
    with writing(file) as unfinished:
        lazy("hlteval.reports.drawing:write")(image, unfinished, suffix)

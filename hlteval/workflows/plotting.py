"""Plots: the curves of one or several submissions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hlteval.results.names import short_names
from hlteval.results.scores import Scores
from hlteval.sources import writing
from hlteval.tasks import load
from hlteval.tasks.option import WrongOption
from hlteval.workflows.scoring import score

SUFFIXES = (".png", ".svg", ".pdf")


def split_options(task: str, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options that change scores by name, and those of the display by their kind.

    Examples:
        >>> split_options("speech-sf", {"place_match": "exact", "plot": "curves.svg"})
        ({'place_match': 'exact'}, {'plot': 'curves.svg'})
    """
    kinds = {option.name: option.display for option in load(task).options if option.display}
    return (
        {name: value for name, value in options.items() if name not in kinds},
        {kinds[name]: value for name, value in options.items() if name in kinds},
    )


def plot(
    task: str,
    reference: str,
    scores: Mapping[str, Scores],
    display: Mapping[str, Any],
    **settings: Any,
) -> None:
    """Plot the curves of a submission as its options of display say; nothing without a file.

    Args:
        task: name of the task.
        reference: path of the reference.
        scores: the scores of the submission, by its path.
        display: the file as `plot`, and as `others` the submissions to score and include.
        settings: those with which the submission was scored.

    Raises:
        WrongOption: for a file that cannot be a plot.
        Refused: if one of the other submissions cannot be scored.
    """
    paths = display.get("others", ())
    others = {path: score(task, reference, path, alignment=False, **settings) for path in paths}
    if file := display.get("plot"):
        write_plot({**scores, **others}, Path(file))


def write_plot(scores: Mapping[str, Scores], file: Path) -> None:
    """Draw the curves of submissions, a panel for each layer.

    Args:
        scores: the scores by the paths of the submissions.
        file: of the picture; its suffix is its format.

    Raises:
        WrongOption: for another suffix, or where matplotlib is not installed.
    """
    if file.suffix not in SUFFIXES:
        raise WrongOption(f"a plot is one of {', '.join(SUFFIXES)}, not {file.name}")
    try:
        from hlteval.reports.curves import draw
    except ImportError as error:
        raise WrongOption("a plot needs matplotlib: pip install 'hlteval[plot]'") from error
    names = short_names(scores)
    named = {names[path]: own for path, own in scores.items()}
    with writing(file) as unfinished:
        draw(named, unfinished, file.suffix.removeprefix("."))

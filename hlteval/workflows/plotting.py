"""Drawing: the curves of one or several submissions as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hlteval.results.scores import Scores
from hlteval.sources import writing
from hlteval.tasks.task import WrongOption

SUFFIXES = (".png", ".svg", ".pdf")


def plotted(scores: Mapping[str, Scores], path: Path) -> None:
    """Draw the curves of submissions, a panel for each layer.

    Args:
        scores: the scores by the paths of the submissions.
        path: the picture; its suffix tells its kind.

    Raises:
        WrongOption: for another suffix, or where matplotlib is not installed.
    """
    if path.suffix not in SUFFIXES:
        raise WrongOption(f"unsupported suffix of --plot {path.name}: use {', '.join(SUFFIXES)}")
    try:
        from hlteval.reports.curves import draw
    except ImportError as error:
        raise WrongOption("--plot needs matplotlib: pip install 'hlteval[plot]'") from error
    with writing(path) as unfinished:
        draw(named(scores), unfinished, path.suffix.removeprefix("."))


def named(scores: Mapping[str, Scores]) -> dict[str, Scores]:
    """The scores by short names: those of the files, where they differ, else the whole paths.

    Examples:
        >>> list(named({"runs/a.json": None, "runs/b.json": None}))
        ['a', 'b']
    """
    stems = [Path(path).stem for path in scores]
    if len(set(stems)) == len(stems):
        return dict(zip(stems, scores.values(), strict=True))
    return dict(scores)

"""The plot that a command writes: `--plot FILE.png`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Optional
from warnings import catch_warnings, filterwarnings

import typer

from hlteval.cli.commands import usage
from hlteval.cli.output_files import Files, problems
from hlteval.sources.writing import resolved

PlotFile = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Plot curves, or values with intervals, as FILE.png, .svg or .pdf.",
    ),
]

Beside = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(metavar="PATH", help="Another submission to include in the plot. Repeatable."),
]


def check_plot(path: Path | None, files: Files = ()) -> None:
    """Check, before the work begins, that a plot can be written.

    Args:
        path: of the plot; None for none.
        files: the other files that the command writes.

    Raises:
        BadParameter: for a file that is named twice, a folder, another suffix, or a file
            in a folder that does not exist, and without matplotlib.
    """
    from hlteval.workflows import plotting

    if path is None:
        return
    for reason in problems(path, {resolved(file) for _, file in files}):
        raise typer.BadParameter(f"invalid --plot {path}: {reason}")
    with usage():
        plotting.check_plot(path)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Draw names of systems in scripts that the font lacks without a word on standard error."""
    with catch_warnings():
        filterwarnings("ignore", "Glyph", UserWarning)
        yield

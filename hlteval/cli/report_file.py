"""The report that a command writes: `--report FILE.html`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from hlteval.cli.output_files import Files, Output, problems
from hlteval.sources.writing import resolved

if TYPE_CHECKING:
    from hlteval.reports.html import Result

ReportFile = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "--report",
        metavar="FILE.html",
        help="Also write a report: one HTML file that opens offline.",
    ),
]


def check_report(path: Path | None, files: Files = ()) -> None:
    """Check, before the work begins, that a report can be written.

    Args:
        path: of the report; None for none.
        files: the other files that the command writes.

    Raises:
        BadParameter: for a file that is named twice, a folder, another suffix, or a file
            in a folder that does not exist.
    """
    if path is None:
        return
    if path.suffix.lower() not in {".html", ".htm"}:
        raise typer.BadParameter(f"invalid --report {path}: the name must end in .html")
    for reason in problems(path, {resolved(file) for _, file in files}):
        raise typer.BadParameter(f"invalid --report {path}: {reason}")


def report_output(result: Result, path: Path | None) -> Iterator[Output]:
    """The report of a result as an output, if it is wanted."""
    if path is not None:
        from hlteval.reports.html import write

        yield path, partial(write, result)

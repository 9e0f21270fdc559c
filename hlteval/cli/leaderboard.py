"""`hlteval leaderboard`: systems by several metrics, with ranks and p values."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, get_args

import typer

from hlteval.cli import completion
from hlteval.cli.commands import (
    VIEWS,
    Columns,
    Confidence,
    Encoding,
    Jobs,
    OutputFiles,
    Profile,
    Reference,
    Seed,
    Wide,
    per_task,
    table_view,
    usage,
)
from hlteval.cli.compare import Replicates
from hlteval.cli.defaults import ConfigFile
from hlteval.cli.plot_file import PlotFile, check_plot, without_warnings
from hlteval.cli.validation_command import validation
from hlteval.results.defaults import Defaults
from hlteval.tasks import load

_Systems = Annotated[list[str], typer.Argument(metavar="SUBMISSION", help="The submissions.")]
_Names = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--names",
        metavar="FILE",
        help="Names of the systems: path or file name, tab, name per line.",
    ),
]
_Metrics = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "-m",
        "--metrics",
        metavar="NAME,…",
        autocompletion=completion.metrics,
        help="Metrics to show; the first one ranks (default: the ranking metric of the task and "
        "related ones).",
    ),
]

_BoardForm = Literal["text", "json", "tsv", "markdown", "latex", "html"]
_Form = Annotated[_BoardForm, typer.Option("--format", help="Output format.")]
_Output = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "-o",
        "--output",
        metavar="DIR",
        help="Write a page, a report of each system, and the table in all formats there.",
    ),
]
_Lenient = Annotated[
    bool,
    typer.Option(
        "--lenient", help="Rank despite blocking findings, leaving out what cannot be scored."
    ),
]


def leaderboard(
    task: str,
    systems: _Systems,
    reference: Reference,
    names: _Names = None,
    metrics: _Metrics = None,
    bootstrap: Replicates = None,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    profile: Profile = "plan",
    output: _Output = None,
    form: _Form = "text",
    columns: Columns = None,
    wide: Wide = False,
    lenient: _Lenient = False,
    output_file: OutputFiles = None,
    plot: PlotFile = None,
    encoding: Encoding = "utf-8",
    jobs: Jobs = 1,
    defaults_file: ConfigFile = None,  # noqa: ARG001 - read before the task is known
    options: dict[str, Any] | None = None,
    defaults: Defaults | None = None,
) -> None:
    """Rank submissions."""
    from hlteval.cli.output import refusals, show_findings, show_leaderboard, show_refused
    from hlteval.cli.output_files import output_files
    from hlteval.reports.leaderboard import columns_of
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import ranked_with_defaults
    from hlteval.tasks.options import with_seed
    from hlteval.workflows.board_folder import leaderboard_in
    from hlteval.workflows.plotting import plot_leaderboard
    from hlteval.workflows.runs import Intervals

    settings: dict[str, Any] = {"profile": profile, "lenient": lenient, "encoding": encoding}
    settings["options"] = with_seed(load(task), options or {}, seed)
    more: dict[str, Any] = {
        "names": names,
        "intervals": Intervals(bootstrap or 0, confidence, seed),
    }
    more |= {"metrics": _listed(metrics), "jobs": jobs}
    more["named"] = partial(ranked_with_defaults, defaults=defaults)
    files = output_files(output_file, get_args(_BoardForm))
    check_plot(plot, files)
    refusing = refusals(form, files, defaults=defaults)
    with usage(), refusing, progress(remarks(), "scoring") as step:
        board = leaderboard_in(output, task, reference, systems, step=step, **more, **settings)
    view = table_view(columns, wide, lambda: columns_of(board.metrics))
    show_findings(board.findings)
    settings["options"] = options or {}
    show_refused(
        board.refused, lambda name: validation(task, board.paths[name], reference, settings)
    )
    with usage(), without_warnings():
        show_leaderboard(board, form, view, files)
        plot_leaderboard(board, plot)
    raise typer.Exit(1 if board.refused else 0)


def _listed(names: str | None) -> list[str]:
    """The names of a list separated by commas."""
    return [name.strip() for name in (names or "").split(",") if name.strip()]


app = typer.Typer(
    cls=per_task(leaderboard, "leaderboard", VIEWS),
    help="Rank submissions by several metrics: one table, with significance tests.",
    no_args_is_help=True,
)

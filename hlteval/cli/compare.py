"""`hlteval compare`: ranks, confidence intervals and significance tests of several systems."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional, get_args

import typer

from hlteval.cli import completion
from hlteval.cli.commands import (
    VIEWS,
    Columns,
    Confidence,
    Encoding,
    Form,
    OutputFiles,
    Profile,
    Reference,
    Seed,
    TableForm,
    Wide,
    per_task,
    table_view,
    usage,
)
from hlteval.cli.defaults import ConfigFile
from hlteval.cli.plot_file import PlotFile, check_plot, without_warnings
from hlteval.cli.report_file import ReportFile
from hlteval.cli.validation_command import validation
from hlteval.results.defaults import Defaults
from hlteval.tasks import load

Replicates = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        min=1,
        metavar="N",
        help="Number of resamples (default 10,000); the jackknife has none.",
    ),
]

Test = Annotated[
    Optional[Literal["permutation", "bootstrap", "jackknife"]],  # noqa: UP045
    typer.Option(help="Significance test (default: permutation; jackknife if counts do not add)."),
]
Lenient = Annotated[
    bool,
    typer.Option(
        "--lenient",
        help="Compare despite blocking findings, leaving out what cannot be scored.",
    ),
]

MetricName = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "-m",
        "--metric",
        metavar="NAME",
        autocompletion=completion.metrics,
        help="Metric to compare (default: the ranking metric of the task).",
    ),
]


def compare(
    task: str,
    systems: Annotated[
        list[str], typer.Argument(metavar="SUBMISSION", help="Two or more submissions.")
    ],
    reference: Reference,
    metric: MetricName = None,
    test: Test = None,
    bootstrap: Replicates = None,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    profile: Profile = "plan",
    form: Form = "text",
    columns: Columns = None,
    wide: Wide = False,
    lenient: Lenient = False,
    output_file: OutputFiles = None,
    report: ReportFile = None,
    plot: PlotFile = None,
    encoding: Encoding = "utf-8",
    defaults_file: ConfigFile = None,  # noqa: ARG001 - read before the task is known
    options: dict[str, Any] | None = None,
    defaults: Defaults | None = None,
) -> None:
    """Compare submissions."""
    from hlteval.cli.output import refusals, show_comparison, show_refused
    from hlteval.cli.output_files import output_files
    from hlteval.cli.report_file import check_report, report_output
    from hlteval.reports.comparison import COLUMNS
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import compared_with_defaults
    from hlteval.tasks.options import with_seed
    from hlteval.workflows.comparison import compare as run
    from hlteval.workflows.plotting import plot_comparison
    from hlteval.workflows.runs import Intervals

    settings: dict[str, Any] = {"profile": profile, "lenient": lenient, "encoding": encoding}
    settings["options"] = with_seed(load(task), options or {}, seed)
    settings |= {"metric": metric, "test": test}
    settings["intervals"] = Intervals(bootstrap or 0, confidence, seed)
    view = table_view(columns, wide, lambda: COLUMNS)
    files = output_files(output_file, get_args(TableForm))
    check_report(report, files)
    check_plot(plot, files)
    runs: dict[str, Any] = {}
    refusing = refusals(form, files, report=report, defaults=defaults)
    with usage(), refusing, progress(remarks(), "comparing") as step, without_warnings():
        comparison = run(task, reference, systems, step=step, counted=runs.update, **settings)
        plot_comparison(comparison, plot, runs)
    comparison = compared_with_defaults(comparison, defaults)
    paths = comparison.paths
    show_refused(
        comparison.refused, lambda name: validation(task, paths[name], reference, settings)
    )
    with usage():
        show_comparison(comparison, form, view, files, report_output(comparison, report))
    raise typer.Exit(1 if comparison.refused else 0)


app = typer.Typer(
    cls=per_task(compare, "compare", VIEWS),
    help="Compare submissions: ranks, confidence intervals and significance tests.",
    no_args_is_help=True,
)

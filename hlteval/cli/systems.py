"""`hlteval compare`: ranks, confidence intervals and significance tests of several systems."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, get_args

import typer

from hlteval.cli import commands as completion
from hlteval.cli.commands import (
    VIEWS,
    Columns,
    Condition,
    Confidence,
    Encoding,
    Form,
    Jobs,
    OutputFiles,
    Profile,
    Reference,
    Seed,
    TableForm,
    Wide,
    forms,
    per_task,
    table_view,
    usage,
)
from hlteval.cli.defaults import ConfigFile
from hlteval.cli.output import PlotFile, ReportFile, check_plot, without_warnings
from hlteval.cli.validate import validation
from hlteval.results.verdict import Defaults
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
    from hlteval.cli.output import (
        check_report,
        output_files,
        refusals,
        report_output,
        show_comparison,
        show_refused,
    )
    from hlteval.reports.systems import COLUMNS
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import compared_with_defaults
    from hlteval.tasks.options import with_seed
    from hlteval.workflows.compare.comparison import compare as run
    from hlteval.workflows.compare.plotting import plot_comparison
    from hlteval.workflows.run.engine import Intervals

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


compare_app = typer.Typer(
    cls=per_task(compare, "compare", VIEWS),
    help="Compare submissions: ranks, confidence intervals and significance tests.",
    no_args_is_help=True,
)


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
    from hlteval.cli.output import (
        output_files,
        refusals,
        show_findings,
        show_leaderboard,
        show_refused,
    )
    from hlteval.reports.systems import columns_of
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import ranked_with_defaults
    from hlteval.tasks.options import with_seed
    from hlteval.workflows.compare.board import leaderboard_in
    from hlteval.workflows.compare.plotting import plot_leaderboard
    from hlteval.workflows.run.engine import Intervals

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


leaderboard_app = typer.Typer(
    cls=per_task(leaderboard, "leaderboard", VIEWS),
    help="Rank submissions by several metrics: one table, with significance tests.",
    no_args_is_help=True,
)


_CONDITIONS = (
    *VIEWS,
    Condition("seed", lambda given: given["bootstrap"], "with --bootstrap 0"),
    Condition("confidence", lambda given: given["bootstrap"], "with --bootstrap 0"),
    Condition(
        "per",
        lambda given: forms(given) & {"text", "markdown", "latex"},
        "without --format text, markdown or latex",
    ),
    Condition("max_differences", lambda given: "text" in forms(given), "without --format text"),
)


Annotations = Annotated[
    list[str],
    typer.Argument(
        metavar="ANNOTATION",
        help="An annotation of each annotator, or one that names several annotators.",
    ),
]
Documents = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(metavar="PATH", help="Documents of the annotations, if not included in them."),
]
Per = Annotated[
    Optional[Literal["document", "label"]],  # noqa: UP045
    typer.Option(help="Also show the coefficients of each document or label."),
]
Listed = Annotated[
    int,
    typer.Option(min=0, metavar="N", help="Maximum number of differences to list (0 for all)."),
]
AgreementReplicates = Annotated[
    int,
    typer.Option(
        min=0, metavar="N", help="Number of resamples for intervals (0 for no intervals)."
    ),
]
AgreementLenient = Annotated[
    bool,
    typer.Option(
        "--lenient", help="Compare despite blocking findings, leaving out what cannot be read."
    ),
]


def agreement(
    task: str,
    annotations: Annotations,
    against: Documents = None,
    per: Per = None,
    max_differences: Listed = 10,
    bootstrap: AgreementReplicates = 1000,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    form: Form = "text",
    columns: Columns = None,
    wide: Wide = False,
    lenient: AgreementLenient = False,
    output_file: OutputFiles = None,
    report: ReportFile = None,
    encoding: Encoding = "utf-8",
    defaults_file: ConfigFile = None,  # noqa: ARG001 - read before the task is known
    options: dict[str, Any] | None = None,
    defaults: Defaults | None = None,
) -> None:
    """Measure the agreement between annotators."""
    from hlteval.cli.output import check_report, output_files, publish, refusals, report_output
    from hlteval.reports.agreement import COLUMNS, FORMATS, Shown
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import agreed_with_defaults
    from hlteval.results.systems import short_names
    from hlteval.workflows.agreement.agreement import agreement as run
    from hlteval.workflows.run.engine import Intervals

    view = table_view(columns, wide, lambda: COLUMNS)
    what = Shown(view, per or "", max_differences or None)
    files = output_files(output_file, get_args(TableForm))
    check_report(report, files)
    names = short_names(annotations)
    intervals = Intervals(bootstrap, confidence, seed) if bootstrap else None
    refusing = refusals(form, files, report=report, defaults=defaults)
    with usage(), refusing, progress(remarks(), "reading") as step:
        found = run(
            task, annotations, names=[names[path] for path in annotations], against=against,
            intervals=intervals, lenient=lenient, options=options, encoding=encoding, step=step,
        )  # fmt: skip
    found = agreed_with_defaults(found, defaults)
    with usage():
        others = report_output(found, report)
        publish(lambda name: FORMATS[name](found, what), form, files, others)


agreement_app = typer.Typer(
    cls=per_task(agreement, "agreement", _CONDITIONS),
    help="Measure the agreement between annotators of the same documents.",
    no_args_is_help=True,
)

"""`hlteval compare`, `leaderboard` and `agreement`: several systems, or annotators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from hlteval.cli import commands
from hlteval.cli.defaults import ConfigFile
from hlteval.cli.output import Outputs, PlotFile, ReportFile, without_warnings
from hlteval.cli.process import argument, option
from hlteval.cli.validate import validation_command
from hlteval.results.verdict import Defaults
from hlteval.tasks import load
from hlteval.workflows.run.request import Intervals, Request

if TYPE_CHECKING:
    from hlteval.workflows.run.engine import Run

Compared = Annotated[list[str], argument("SUBMISSION", "Two or more submissions.")]
Systems = Annotated[list[str], argument("SUBMISSION", "The submissions.")]
Annotations = Annotated[
    list[str],
    argument(
        "ANNOTATION", "An annotation of each annotator, or one that names several annotators."
    ),
]
Replicates = Annotated[
    int | None,
    option("--bootstrap N", "Number of resamples (default 10,000); the jackknife has none.", min=1),
]
AgreementReplicates = Annotated[
    int, option("--bootstrap N", "Number of resamples for intervals (0 for no intervals).", min=0)
]
Test = Annotated[
    Literal["permutation", "bootstrap", "jackknife"] | None,
    option("--test", "Significance test (default: permutation; jackknife if counts do not add)."),
]
MetricName = Annotated[
    str | None,
    option(
        "-m --metric NAME",
        "Metric to compare (default: the ranking metric of the task).",
        autocompletion=commands.metrics,
    ),
]
Metrics = Annotated[
    str | None,
    option(
        "-m --metrics NAME,…",
        "Metrics to show; the first one ranks (default: the ranking metric of the task and related "
        "ones).",
        autocompletion=commands.metrics,
    ),
]
Names = Annotated[
    str | None,
    option("--names FILE", "Names of the systems: path or file name, tab, name per line."),
]
CompareLenient = Annotated[
    bool,
    option("--lenient", "Compare despite blocking findings, leaving out what cannot be scored."),
]
RankLenient = Annotated[
    bool, option("--lenient", "Rank despite blocking findings, leaving out what cannot be scored.")
]
AgreementLenient = Annotated[
    bool, option("--lenient", "Compare despite blocking findings, leaving out what cannot be read.")
]
BoardForm = Literal["text", "json", "tsv", "markdown", "latex", "html"]
FormOfBoard = Annotated[BoardForm, option("--format", "Output format.")]
Output = Annotated[
    Path | None,
    option(
        "-o --output DIR",
        "Write a page, a report of each system, and the table in all formats there.",
    ),
]
Documents = Annotated[
    str | None, option("--against PATH", "Documents of the annotations, if not included in them.")
]
Per = Annotated[
    Literal["document", "label"] | None,
    option("--per", "Also show the coefficients of each document or label."),
]
Listed = Annotated[
    int, option("--max-differences N", "Maximum number of differences to list (0 for all).", min=0)
]


def compare(
    task: str,
    systems: Compared,
    reference: commands.Reference,
    metric: MetricName = None,
    test: Test = None,
    bootstrap: Replicates = None,
    confidence: commands.Confidence = 0.95,
    seed: commands.Seed = 0,
    profile: commands.Profile = "plan",
    form: commands.Form = "text",
    columns: commands.Columns = None,
    wide: commands.Wide = False,
    lenient: CompareLenient = False,
    output_file: commands.OutputFiles = None,
    report: ReportFile = None,
    plot: PlotFile = None,
    encoding: commands.Encoding = "utf-8",
    defaults_file: ConfigFile = None,  # noqa: ARG001 - read before the task is known
    options: dict[str, object] | None = None,
    defaults: Defaults | None = None,
) -> None:
    """Compare submissions."""
    from hlteval.cli.output import show_refused
    from hlteval.reports.systems import COLUMNS
    from hlteval.reports.systems import COMPARISON_FORMATS as FORMATS
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import with_defaults
    from hlteval.tasks.options import with_seed
    from hlteval.workflows.compare.comparison import compare as run
    from hlteval.workflows.compare.plotting import plot_comparison

    values = with_seed(load(task), options or {}, seed)
    view = commands.table_view(columns, wide, lambda: COLUMNS)
    outputs = Outputs.of(form, output_file, get_args(commands.TableForm), report, plot)
    runs: dict[str, Run] = {}
    request = Request(
        task, "", reference, profile=profile, options=values, encoding=encoding, lenient=lenient,
        intervals=Intervals(bootstrap or 0, confidence, seed),
    )  # fmt: skip
    refusals = outputs.refusals((), defaults)
    with commands.usage(), refusals, progress(remarks(), "comparing") as step, without_warnings():
        comparison = run(
            replace(request, step=step), systems, metric=metric, test=test, counted=runs.update
        )
        plot_comparison(comparison, plot, runs)
    comparison = with_defaults(comparison, defaults)
    paths = comparison.paths
    show_refused(
        comparison.refused, lambda name: validation_command(replace(request, system=paths[name]))
    )
    with commands.usage():
        outputs.publish(lambda name: FORMATS[name](comparison, view), comparison)
    raise typer.Exit(1 if comparison.refused else 0)


compare_app = commands.task_app(
    compare,
    "compare",
    "Compare submissions: ranks, confidence intervals and significance tests.",
    commands.VIEWS,
)


def leaderboard(
    task: str,
    systems: Systems,
    reference: commands.Reference,
    names: Names = None,
    metrics: Metrics = None,
    bootstrap: Replicates = None,
    confidence: commands.Confidence = 0.95,
    seed: commands.Seed = 0,
    profile: commands.Profile = "plan",
    output: Output = None,
    form: FormOfBoard = "text",
    columns: commands.Columns = None,
    wide: commands.Wide = False,
    lenient: RankLenient = False,
    output_file: commands.OutputFiles = None,
    plot: PlotFile = None,
    encoding: commands.Encoding = "utf-8",
    jobs: commands.Jobs = 1,
    defaults_file: ConfigFile = None,  # noqa: ARG001 - read before the task is known
    options: dict[str, object] | None = None,
    defaults: Defaults | None = None,
) -> None:
    """Rank submissions."""
    from hlteval.cli.output import publish, show_findings, show_refused
    from hlteval.reports.systems import LEADERBOARD_FORMATS as FORMATS
    from hlteval.reports.systems import columns_of
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import with_defaults
    from hlteval.tasks.options import with_seed
    from hlteval.workflows.compare.board import leaderboard_in
    from hlteval.workflows.compare.plotting import plot_leaderboard

    values = with_seed(load(task), options or {}, seed)
    outputs = Outputs.of(form, output_file, get_args(BoardForm), plot=plot)
    request = Request(
        task, "", reference, profile=profile, options=values, encoding=encoding, lenient=lenient,
        jobs=jobs, intervals=Intervals(bootstrap or 0, confidence, seed),
    )  # fmt: skip
    with commands.usage(), outputs.refusals((), defaults), progress(remarks(), "scoring") as step:
        board = leaderboard_in(
            output, replace(request, step=step), systems, names=names, metrics=_split(metrics),
            named=partial(with_defaults, defaults=defaults),
        )  # fmt: skip
    view = commands.table_view(columns, wide, lambda: columns_of(board.metrics))
    show_findings(board.findings)
    each = replace(request, options=options or {})
    show_refused(
        board.refused, lambda name: validation_command(replace(each, system=board.paths[name]))
    )
    with commands.usage(), without_warnings():
        publish(lambda name: FORMATS[name](board, view), form, outputs.files)
        plot_leaderboard(board, plot)
    raise typer.Exit(1 if board.refused else 0)


def _split(names: str | None) -> Sequence[str]:
    return [name.strip() for name in (names or "").split(",") if name.strip()]


leaderboard_app = commands.task_app(
    leaderboard,
    "leaderboard",
    "Rank submissions by several metrics: one table, with significance tests.",
    commands.VIEWS,
)


def agreement(
    task: str,
    annotations: Annotations,
    against: Documents = None,
    per: Per = None,
    max_differences: Listed = 10,
    bootstrap: AgreementReplicates = 1000,
    confidence: commands.Confidence = 0.95,
    seed: commands.Seed = 0,
    form: commands.Form = "text",
    columns: commands.Columns = None,
    wide: commands.Wide = False,
    lenient: AgreementLenient = False,
    output_file: commands.OutputFiles = None,
    report: ReportFile = None,
    encoding: commands.Encoding = "utf-8",
    defaults_file: ConfigFile = None,  # noqa: ARG001 - read before the task is known
    options: dict[str, object] | None = None,
    defaults: Defaults | None = None,
) -> None:
    """Measure the agreement between annotators."""
    from hlteval.reports.agreement import COLUMNS, FORMATS, Selection
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import with_defaults
    from hlteval.results.systems import short_names
    from hlteval.workflows.agreement.agreement import agreement as run

    view = Selection(
        commands.table_view(columns, wide, lambda: COLUMNS), per or "", max_differences or None
    )
    outputs = Outputs.of(form, output_file, get_args(commands.TableForm), report)
    names = short_names(annotations)
    with commands.usage(), outputs.refusals((), defaults), progress(remarks(), "reading") as step:
        request = Request(
            task, "", against=against, options=options or {}, encoding=encoding, lenient=lenient,
            intervals=Intervals(bootstrap, confidence, seed) if bootstrap else None, step=step,
        )  # fmt: skip
        result = run(request, annotations, [names[path] for path in annotations])
    result = with_defaults(result, defaults)
    with commands.usage():
        outputs.publish(lambda name: FORMATS[name](result, view), result)


_CONDITIONS = (
    *commands.VIEWS,
    commands.Condition("seed", lambda given: given["bootstrap"], "with --bootstrap 0"),
    commands.Condition("confidence", lambda given: given["bootstrap"], "with --bootstrap 0"),
    commands.Condition(
        "per",
        lambda given: commands.forms(given) & {"text", "markdown", "latex"},
        "without --format text, markdown or latex",
    ),
    commands.Condition(
        "max_differences", lambda given: "text" in commands.forms(given), "without --format text"
    ),
)

agreement_app = commands.task_app(
    agreement,
    "agreement",
    "Measure the agreement between annotators of the same documents.",
    _CONDITIONS,
)

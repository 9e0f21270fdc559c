"""`hlteval score`: the official scores of a submission."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Optional, get_args

import typer

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
    per_task,
    table_view,
    usage,
    uses_seed,
)
from hlteval.cli.defaults import ConfigFile
from hlteval.cli.output import Beside, PlotFile, ReportFile, check_plot, without_warnings
from hlteval.cli.validate import validation
from hlteval.results.verdict import Defaults
from hlteval.tasks import load

Bootstrap = Annotated[
    int,
    typer.Option(min=0, metavar="N", help="Confidence intervals, from N resamples if counts add."),
]

System = Annotated[
    str,
    typer.Option("-s", "--system", metavar="PATH", help="Submission; - for standard input."),
]
Output = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("-o", "--output", metavar="DIR", help="Write scores.json and all tables there."),
]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Score the rest despite blocking findings.")
]


def score(
    task: str,
    reference: Reference,
    system: System,
    output: Output = None,
    profile: Profile = "plan",
    form: Form = "text",
    columns: Columns = None,
    wide: Wide = False,
    lenient: Lenient = False,
    bootstrap: Bootstrap = 0,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    output_file: OutputFiles = None,
    report: ReportFile = None,
    plot: PlotFile = None,
    beside: Beside = None,
    encoding: Encoding = "utf-8",
    jobs: Jobs = 1,
    defaults_file: ConfigFile = None,  # noqa: ARG001 - read before the task is known
    options: dict[str, Any] | None = None,
    defaults: Defaults | None = None,
) -> None:
    """Score a submission."""
    from hlteval.cli.output import (
        check_folder,
        check_report,
        output_files,
        refusals,
        report_output,
        show_scores,
    )
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import with_defaults
    from hlteval.tasks.options import with_seed
    from hlteval.workflows.compare.plotting import plot_scores
    from hlteval.workflows.run.engine import measure_names
    from hlteval.workflows.run.engine import score as run
    from hlteval.workflows.run.request import Intervals, Request

    files = output_files(output_file, get_args(TableForm))
    check_report(report, files)
    check_plot(plot, files)
    forms = {form, *dict(files)}
    settings: dict[str, Any] = {"profile": profile, "lenient": lenient, "encoding": encoding}
    settings["options"] = with_seed(load(task), options or {}, seed)
    settings["intervals"] = Intervals(bootstrap, confidence, seed) if bootstrap else None
    more: dict[str, Any] = {"alignment": "json" in forms or bool(output or report), "jobs": jobs}
    more["evidence"] = bool(report)
    command = validation(task, system, reference, settings)
    with usage():
        view = table_view(columns, wide, lambda: measure_names(Request(task, system, **settings)))
    refusing = refusals(form, files, command, report, defaults)
    with usage(), refusing, progress(remarks(), "scoring") as step, without_warnings():
        check_folder(output)
        scores = run(Request(task, system, reference, step=step, **more, **settings))
        plot_scores(task, reference, {system: scores}, plot, beside or (), **settings)
    scores = with_defaults(scores, defaults)
    with usage():
        show_scores(scores, form, output, view, files, report_output(scores, report))


CONDITIONS = (
    *VIEWS,
    Condition("confidence", itemgetter("bootstrap"), "without --bootstrap"),
    Condition("seed", uses_seed, "without --bootstrap"),
    Condition("beside", itemgetter("plot"), "without --plot"),
)

app = typer.Typer(
    cls=per_task(score, "score", CONDITIONS),
    help="Score a submission against a reference.",
    no_args_is_help=True,
)

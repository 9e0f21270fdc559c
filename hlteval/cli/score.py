"""`hlteval score`: the official scores of a submission."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, get_args

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
from hlteval.cli.output import Beside, Outputs, PlotFile, ReportFile, without_warnings
from hlteval.cli.process import option
from hlteval.cli.validate import validation_command
from hlteval.results.verdict import Defaults
from hlteval.tasks import load
from hlteval.workflows.run.request import Intervals, Request, help_of

Bootstrap = Annotated[
    int, option("--bootstrap N", "Confidence intervals, from N resamples if counts add.", min=0)
]
System = Annotated[str, option("-s --system PATH", "Submission; - for standard input.")]
Output = Annotated[
    Path | None, option("-o --output DIR", "Write scores.json and all tables there.")
]
Lenient = Annotated[bool, option("--lenient", help_of("lenient"))]


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
    from hlteval.cli.output import check_folder, show_scores
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import with_defaults
    from hlteval.tasks.options import with_seed
    from hlteval.workflows.compare.plotting import plot_scores
    from hlteval.workflows.run import engine

    outputs = Outputs.of(form, output_file, get_args(TableForm), report, plot)
    json = "json" in {form, *dict(outputs.files)}
    request = Request(
        task, system, reference, profile=profile, encoding=encoding, lenient=lenient, jobs=jobs,
        options=with_seed(load(task), options or {}, seed), evidence=bool(report),
        alignment=json or bool(output or report),
        intervals=Intervals(bootstrap, confidence, seed) if bootstrap else None,
    )  # fmt: skip
    with usage():
        view = table_view(columns, wide, lambda: engine.measure_names(request))
    refusals = outputs.refusals(validation_command(request), defaults)
    with usage(), refusals, progress(remarks(), "scoring") as step, without_warnings():
        check_folder(output)
        scores = engine.score(replace(request, step=step))
        plot_scores(request, scores, plot, beside or ())
    with usage():
        show_scores(with_defaults(scores, defaults), outputs, view, output)


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

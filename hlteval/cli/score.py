"""`hlteval score`: the official scores of a submission."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Annotated, get_args

from hlteval.cli import commands
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
    reference: commands.Reference,
    system: System,
    output: Output = None,
    profile: commands.Profile = "plan",
    form: commands.Form = "text",
    columns: commands.Columns = None,
    wide: commands.Wide = False,
    lenient: Lenient = False,
    bootstrap: Bootstrap = 0,
    confidence: commands.Confidence = 0.95,
    seed: commands.Seed = 0,
    output_file: commands.OutputFiles = None,
    report: ReportFile = None,
    plot: PlotFile = None,
    beside: Beside = None,
    encoding: commands.Encoding = "utf-8",
    jobs: commands.Jobs = 1,
    defaults_file: ConfigFile = None,  # noqa: ARG001 - read before the task is known
    options: dict[str, object] | None = None,
    defaults: Defaults | None = None,
) -> None:
    """Score a submission."""
    from hlteval.cli.output import check_folder, show_scores
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import with_defaults
    from hlteval.tasks.options import with_seed
    from hlteval.workflows.compare.plotting import plot_scores
    from hlteval.workflows.run import engine

    outputs = Outputs.of(form, output_file, get_args(commands.TableForm), report, plot)
    json = "json" in {form, *dict(outputs.files)}
    request = Request(
        task, system, reference, profile=profile, encoding=encoding, lenient=lenient, jobs=jobs,
        options=with_seed(load(task), options or {}, seed), evidence=bool(report),
        alignment=json or bool(output or report),
        intervals=Intervals(bootstrap, confidence, seed) if bootstrap else None,
    )  # fmt: skip
    with commands.usage():
        view = commands.table_view(columns, wide, lambda: engine.measure_names(request))
    refusals = outputs.refusals(validation_command(request), defaults)
    with commands.usage(), refusals, progress(remarks(), "scoring") as step, without_warnings():
        check_folder(output)
        scores = engine.score(replace(request, step=step))
        plot_scores(request, scores, plot, beside or ())
    with commands.usage():
        show_scores(with_defaults(scores, defaults), outputs, view, output)


CONDITIONS = (
    *commands.VIEWS,
    commands.Condition("confidence", itemgetter("bootstrap"), "without --bootstrap"),
    commands.Condition("seed", commands.uses_seed, "without --bootstrap"),
    commands.Condition("beside", itemgetter("plot"), "without --plot"),
)

app = commands.task_app(score, "score", "Score a submission against a reference.", CONDITIONS)

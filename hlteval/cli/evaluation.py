"""The commands `pipeline`, `campaign`, `manifest check` and `manifest best`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from hlteval.cli import commands
from hlteval.cli.commands import OutputFiles, Profile, usage
from hlteval.cli.defaults import ConfigFile
from hlteval.cli.process import HelpfulCommand, HelpfulGroup, argument, epilog, option
from hlteval.cli.validate import FindingsForm, MaxFindings

Form = Annotated[Literal["text", "json"], option("--format", "Output format.")]
Root = Annotated[
    Path,
    argument(
        "ROOT",
        "Folder of the evaluation, with the archives in ROOT/submissions; logs and results are "
        "written to ROOT/logs and ROOT/results.",
    ),
]
Reference = Annotated[
    str, option("-r --reference PATH", "Reference of the tasks that have none in the manifest.")
]
Against = Annotated[
    str,
    option("--against PATH", "Documents to check submissions against (default: the reference)."),
]
TaskName = Annotated[
    str,
    option(
        "--task TASK",
        "Task of all submissions (default: from their names, or from the manifest).",
        autocompletion=commands.tasks,
    ),
]
Manifest = Annotated[str | None, option("--manifest FILE", "Manifest of the evaluation (TOML).")]
Options = Annotated[
    list[str] | None,
    option(
        "--option NAME=VALUE",
        "Option of the tasks that have it, e.g. mode=both. Repeatable.",
        autocompletion=commands.options,
    ),
]
Limit = Annotated[
    int | None,
    option(
        "--limit N",
        "Maximum number of valid submissions to score per team and task (default: from the "
        "manifest or the task); 0 for all.",
        min=0,
    ),
]
Retry = Annotated[
    bool, option("--retry", "Retry submissions that crashed, or took too much time or memory.")
]
Seconds = Annotated[int, option("--max-time SECONDS", "Time for a submission.", min=1)]
Memory = Annotated[int, option("--max-memory MB", "Memory for a submission; 0 for all.", min=0)]
Jobs = Annotated[int, option("--jobs -j N", "Number of submissions at a time.", min=1)]
Watch = Annotated[bool, option("--watch", "Continue whenever submissions or references change.")]


def pipeline(
    context: typer.Context,
    root: Root,
    reference: Reference = "",
    against: Against = "",
    task: TaskName = "",
    manifest: Manifest = None,
    profile: Profile = "plan",
    option: Options = None,
    limit: Limit = None,
    retry: Retry = False,
    max_time: Seconds = 3600,
    max_memory: Memory = 8000,
    jobs: Jobs = 1,
    watch: Watch = False,
    form: Form = "text",
    defaults_file: ConfigFile = None,
) -> None:
    """Validate and score all submissions of an evaluation."""
    from hlteval.cli import evaluation_output as run
    from hlteval.workflows.evaluation.pipeline_state import (
        PipelineSettings,
        WorkLimits,
        check_memory,
    )

    task, options = run.check_task(task), run.options_of(option)
    limits = WorkLimits(max_time, max_memory, jobs)
    settings = PipelineSettings(
        root, reference, against, task, profile, options, limit, retry, limits
    )
    with usage():
        check_memory(max_memory, unlimited=True)
        settings = run.complete_settings(context, settings, manifest, defaults_file)
        clean = run.run_watching(settings, form) if watch else run.run_pipeline(settings, form)
    raise typer.Exit(0 if clean else 1)


CampaignFile = Annotated[str, argument("MANIFEST", "Manifest of the campaign (TOML).")]
Output = Annotated[
    Path | None,
    option(
        "-o --output DIR",
        "Folder of the table and the reports (default: the name of the manifest).",
    ),
]
Cache = Annotated[
    Path | None,
    option("--cache DIR", "Folder of the results of earlier runs (default: DIR/cache of -o)."),
]
Processes = Annotated[int, option("--jobs -j N", "Number of processes.", min=1)]
Cluster = Annotated[
    str,
    option(
        "--cluster ADDRESS",
        "Compute on a dask cluster, e.g. tcp://host:8786, instead of this machine.",
    ),
]


def campaign(
    manifest: CampaignFile,
    output: Output = None,
    cache: Cache = None,
    jobs: Processes = 1,
    cluster: Cluster = "",
    form: Form = "text",
    defaults_file: ConfigFile = None,
) -> None:
    """Score many submissions to many tasks into one table; compute only what is new."""
    from hlteval.cli.evaluation_output import run_campaign as run

    with usage():
        complete = run(manifest, output, cache, (jobs, cluster), form, defaults_file)
    raise typer.Exit(0 if complete else 1)


ManifestFile = Annotated[str, argument("MANIFEST", "Manifest of the evaluation (TOML).")]
ManifestRoot = Annotated[
    Path | None,
    argument(
        "ROOT",
        "Folder of the evaluation, with the archives in ROOT/submissions; without it, only the "
        "manifest is checked.",
    ),
]
ScoredRoot = Annotated[
    Path, argument("ROOT", "Folder of the evaluation, whose submissions a pipeline has scored.")
]
BestForm = Annotated[Literal["text", "json", "tsv"], option("--format", "Output format.")]
app = typer.Typer(
    cls=HelpfulGroup,
    help="Check the manifest of an evaluation, and find the best submissions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("check", cls=HelpfulCommand, epilog=epilog("manifest check"), no_args_is_help=True)
def check(
    manifest: ManifestFile,
    root: ManifestRoot = None,
    form: Annotated[FindingsForm, option("--format", "Output format.")] = "text",
    max_findings: MaxFindings = None,
    output_file: OutputFiles = None,
) -> None:
    """Check a manifest, and whether the submissions agree with it."""
    from hlteval.cli.output import check_inputs_stay, output_files, show_verdict
    from hlteval.workflows.evaluation.manifest_checks import check as run

    with usage():
        check_inputs_stay({"manifest": manifest, "paths": root, "output_file": output_file})
        files = output_files(output_file, get_args(FindingsForm))
        verdict = run(manifest, root)
        show_verdict(verdict, form, max_findings, files)
    raise typer.Exit(0 if verdict.passed else 1)


@app.command("best", cls=HelpfulCommand, epilog=epilog("manifest best"), no_args_is_help=True)
def best(manifest: ManifestFile, root: ScoredRoot, form: BestForm = "text") -> None:
    """List the best submission of each team at each checkpoint."""
    from hlteval.cli.output import publish, show_findings
    from hlteval.reports.evaluation import BEST_FORMATS as FORMATS
    from hlteval.workflows.evaluation.manifests import read_manifest
    from hlteval.workflows.evaluation.pipeline_status import best_submissions

    with usage():
        read = read_manifest(manifest)
        submissions = () if read.content is None else best_submissions(read.evaluation, root)
    show_findings(read.findings)
    if read.content is None:
        raise typer.Exit(1)
    publish(lambda name: FORMATS[name](submissions), form)

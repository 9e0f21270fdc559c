"""The commands `pipeline`, `campaign`, `manifest check` and `manifest best`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Optional, get_args

import typer

from hlteval.cli import commands
from hlteval.cli.commands import OutputFiles, Profile, usage
from hlteval.cli.defaults import ConfigFile
from hlteval.cli.process import HelpfulCommand, HelpfulGroup, epilog
from hlteval.cli.validate import FindingsForm, MaxFindings

_path = partial(typer.Option, metavar="PATH", show_default=False)
_folder = partial(typer.Option, metavar="DIR")
_root = partial(typer.Argument, metavar="ROOT")
_manifest = partial(typer.Argument, metavar="MANIFEST")
_number = partial(typer.Option, metavar="N")
_Form = Annotated[Literal["text", "json"], typer.Option("--format", help="Output format.")]
_Root = Annotated[
    Path,
    _root(
        help="Folder of the evaluation, with the archives in ROOT/submissions; logs and results "
        "are written to ROOT/logs and ROOT/results."
    ),
]
_Reference = Annotated[
    str, _path("-r", "--reference", help="Reference of the tasks that have none in the manifest.")
]
_Against = Annotated[
    str, _path(help="Documents to check submissions against (default: the reference).")
]
_Task = Annotated[
    str,
    typer.Option(
        metavar="TASK",
        autocompletion=commands.tasks,
        show_default=False,
        help="Task of all submissions (default: from their names, or from the manifest).",
    ),
]
_Manifest = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(metavar="FILE", help="Manifest of the evaluation (TOML)."),
]
_Options = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        autocompletion=commands.options,
        help="Option of the tasks that have it, e.g. mode=both. Repeatable.",
    ),
]
_Limit = Annotated[
    Optional[int],  # noqa: UP045
    _number(
        "--limit",
        min=0,
        help="Maximum number of valid submissions to score per team and task (default: from the "
        "manifest or the task); 0 for all.",
    ),
]
_Retry = Annotated[
    bool,
    typer.Option(
        "--retry", help="Retry submissions that crashed, or took too much time or memory."
    ),
]
_Seconds = Annotated[
    int, typer.Option("--max-time", min=1, metavar="SECONDS", help="Time for a submission.")
]
_Memory = Annotated[
    int,
    typer.Option("--max-memory", min=0, metavar="MB", help="Memory for a submission; 0 for all."),
]
_Jobs = Annotated[int, _number("--jobs", "-j", min=1, help="Number of submissions at a time.")]
_Watch = Annotated[
    bool, typer.Option("--watch", help="Continue whenever submissions or references change.")
]


def pipeline(
    context: typer.Context,
    root: _Root,
    reference: _Reference = "",
    against: _Against = "",
    task: _Task = "",
    manifest: _Manifest = None,
    profile: Profile = "plan",
    option: _Options = None,
    limit: _Limit = None,
    retry: _Retry = False,
    max_time: _Seconds = 3600,
    max_memory: _Memory = 8000,
    jobs: _Jobs = 1,
    watch: _Watch = False,
    form: _Form = "text",
    defaults_file: ConfigFile = None,
) -> None:
    """Validate and score all submissions of an evaluation."""
    from hlteval.cli import evaluation_output as run
    from hlteval.workflows.evaluation.pipeline_state import PipelineSettings, WorkLimits

    task, options = run.check_task(task), run.options_of(option)
    limits = WorkLimits(max_time, max_memory, jobs)
    settings = PipelineSettings(
        root, reference, against, task, profile, options, limit, retry, limits
    )
    with usage():
        settings = run.complete_settings(context, settings, manifest, defaults_file)
        clean = run.run_watching(settings, form) if watch else run.run_pipeline(settings, form)
    raise typer.Exit(0 if clean else 1)


_CampaignFile = Annotated[str, _manifest(help="Manifest of the campaign (TOML).")]
_Output = Annotated[
    Optional[Path],  # noqa: UP045
    _folder(
        "-o",
        "--output",
        help="Folder of the table and the reports (default: the name of the manifest).",
    ),
]
_Cache = Annotated[
    Optional[Path],  # noqa: UP045
    _folder(help="Folder of the results of earlier runs (default: DIR/cache of -o)."),
]
_Processes = Annotated[int, _number("--jobs", "-j", min=1, help="Number of processes.")]
_Cluster = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        show_default=False,
        help="Compute on a dask cluster, e.g. tcp://host:8786, instead of this machine.",
    ),
]


def campaign(
    manifest: _CampaignFile,
    output: _Output = None,
    cache: _Cache = None,
    jobs: _Processes = 1,
    cluster: _Cluster = "",
    form: _Form = "text",
    defaults_file: ConfigFile = None,
) -> None:
    """Score many submissions to many tasks into one table; compute only what is new."""
    from hlteval.cli.evaluation_output import run_campaign as run

    with usage():
        complete = run(manifest, output, cache, (jobs, cluster), form, defaults_file)
    raise typer.Exit(0 if complete else 1)


_ManifestFile = Annotated[str, _manifest(help="Manifest of the evaluation (TOML).")]
_ManifestRoot = Annotated[
    Optional[Path],  # noqa: UP045
    _root(
        help="Folder of the evaluation, with the archives in ROOT/submissions; without it, only "
        "the manifest is checked."
    ),
]
_Scored = Annotated[
    Path, _root(help="Folder of the evaluation, whose submissions a pipeline has scored.")
]
app = typer.Typer(
    cls=HelpfulGroup,
    help="Check the manifest of an evaluation, and find the best submissions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("check", cls=HelpfulCommand, epilog=epilog("manifest check"), no_args_is_help=True)
def check(
    manifest: _ManifestFile,
    root: _ManifestRoot = None,
    form: Annotated[FindingsForm, typer.Option("--format", help="Output format.")] = "text",
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
def best(
    manifest: _ManifestFile,
    root: _Scored,
    form: Annotated[
        Literal["text", "json", "tsv"], typer.Option("--format", help="Output format.")
    ] = "text",
) -> None:
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

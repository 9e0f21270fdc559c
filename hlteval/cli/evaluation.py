"""The commands `pipeline`, `campaign`, `manifest check` and `manifest best`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from hlteval.cli import commands
from hlteval.cli.commands import OutputFiles, Profile, usage
from hlteval.cli.defaults import ConfigFile
from hlteval.cli.process import HelpfulCommand, HelpfulGroup, epilog, parameter
from hlteval.cli.validate import FindingsForm, MaxFindings

_pipeline, _campaign = partial(parameter, "pipeline"), partial(parameter, "campaign")
_manifest = partial(parameter, "manifest")


def pipeline(
    context: typer.Context,
    root: Annotated[Path, _pipeline("root")],
    reference: Annotated[str, _pipeline("reference")] = "",
    against: Annotated[str, _pipeline("against")] = "",
    task: Annotated[str, _pipeline("task", autocompletion=commands.tasks)] = "",
    manifest: Annotated[str | None, _pipeline("manifest")] = None,
    profile: Profile = "plan",
    option: Annotated[
        list[str] | None, _pipeline("option", autocompletion=commands.options)
    ] = None,
    limit: Annotated[int | None, _pipeline("limit", min=0)] = None,
    retry: Annotated[bool, _pipeline("retry")] = False,
    max_time: Annotated[int, _pipeline("max_time", min=1)] = 3600,
    max_memory: Annotated[int, _pipeline("max_memory", min=0)] = 8000,
    jobs: Annotated[int, _pipeline("jobs", min=1)] = 1,
    watch: Annotated[bool, _pipeline("watch")] = False,
    form: Annotated[Literal["text", "json"], _pipeline("form")] = "text",
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


def campaign(
    manifest: Annotated[str, _campaign("manifest")],
    output: Annotated[Path | None, _campaign("output")] = None,
    cache: Annotated[Path | None, _campaign("cache")] = None,
    jobs: Annotated[int, _campaign("jobs", min=1)] = 1,
    cluster: Annotated[str, _campaign("cluster")] = "",
    form: Annotated[Literal["text", "json"], _campaign("form")] = "text",
    defaults_file: ConfigFile = None,
) -> None:
    """Score many submissions to many tasks into one table; compute only what is new."""
    from hlteval.cli.evaluation_output import run_campaign as run

    with usage():
        complete = run(manifest, output, cache, (jobs, cluster), form, defaults_file)
    raise typer.Exit(0 if complete else 1)


app = typer.Typer(
    cls=HelpfulGroup,
    help="Check the manifest of an evaluation, and find the best submissions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("check", cls=HelpfulCommand, epilog=epilog("manifest check"), no_args_is_help=True)
def check(
    manifest: Annotated[str, _manifest("manifest")],
    root: Annotated[Path | None, _manifest("root")] = None,
    form: Annotated[FindingsForm, _manifest("form")] = "text",
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
    manifest: Annotated[str, _manifest("manifest")],
    root: Annotated[Path, _manifest("scored_root")],
    form: Annotated[Literal["text", "json", "tsv"], _manifest("form")] = "text",
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

"""The commands `pipeline`, `campaign`, `manifest check` and `manifest best`."""

from pathlib import Path
from typing import Literal

import typer

from hlteval.cli.commands import Form, check_task, declaration, with_options
from hlteval.cli.defaults import path_of_task
from hlteval.cli.process import HelpfulCommand, HelpfulGroup, epilog, usage


def pipeline(
    context: typer.Context,
    root: Path,
    reference: str = "",
    against: str = "",
    task: str = "",
    manifest: str | None = None,
    profile: str = "plan",
    option: list[str] | None = None,
    limit: int | None = None,
    retry: bool = False,
    max_time: int = 3600,
    max_memory: int = 8000,
    jobs: int = 1,
    watch: bool = False,
    form: Form = "text",
    defaults_file: str | None = None,
) -> None:
    """Validate and score all submissions of an evaluation."""
    from hlteval.cli import evaluation_output as run
    from hlteval.workflows.evaluation.pipeline_state import PipelineSettings, WorkLimits

    if task := path_of_task(task, [str(root / "submissions")], defaults_file):
        check_task(task)
    limits = WorkLimits(max_time, max_memory, jobs)
    settings = PipelineSettings(
        root, reference, against, task, profile, run.options_of(option), limit, retry, limits
    )
    with usage():
        settings = run.complete_settings(context, settings, manifest, defaults_file)
        clean = run.run_watching(settings, form) if watch else run.run_pipeline(settings, form)
    raise typer.Exit(0 if clean else 1)


def campaign(
    manifest: str,
    output: Path | None = None,
    cache: Path | None = None,
    jobs: int = 1,
    cluster: str = "",
    form: Form = "text",
    defaults_file: str | None = None,
) -> None:
    """Score many submissions to many tasks into one table; compute only what is new."""
    from hlteval.cli.evaluation_output import run_campaign as run

    with usage():
        complete = run(manifest, output, cache, (jobs, cluster), form, defaults_file)
    raise typer.Exit(0 if complete else 1)


def check(
    manifest: str,
    root: Path | None = None,
    form: str = "text",
    max_findings: int | None = None,
    output_file: list[str] | None = None,
) -> None:
    """Check a manifest, and whether the submissions agree with it."""
    from hlteval.cli.output import check_inputs_stay, output_files, show_verdict
    from hlteval.workflows.evaluation.manifest_checks import check as run

    with usage():
        check_inputs_stay({"manifest": manifest, "paths": root, "output_file": output_file})
        files = output_files(output_file, declaration("manifest check", "form")["choices"])
        verdict = run(manifest, root)
        show_verdict(verdict, form, max_findings, files)
    raise typer.Exit(0 if verdict.passed else 1)


def best(manifest: str, root: Path, form: Literal["text", "json", "tsv"] = "text") -> None:
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


app = typer.Typer(
    cls=HelpfulGroup,
    help="Check the manifest of an evaluation, and find the best submissions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for _command in (check, best):
    _name = f"manifest {_command.__name__}"
    app.command(_command.__name__, cls=HelpfulCommand, epilog=epilog(_name), no_args_is_help=True)(
        with_options(_name, _command)
    )

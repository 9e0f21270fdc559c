"""Run `hlteval pipeline` and `hlteval campaign`: settings, defaults, and printed results."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer

from hlteval.cli.defaults import config_of_call, not_given, show_defaults, sound, without_effect
from hlteval.cli.output import publish, show_findings
from hlteval.reports import evaluation as reports
from hlteval.reports.terminal import progress, remarks, results, write
from hlteval.results.config import Config
from hlteval.results.evaluation import PipelineResult
from hlteval.results.verdict import Defaults
from hlteval.tasks import is_known
from hlteval.workflows.config import read_config
from hlteval.workflows.evaluation import campaign_files as files
from hlteval.workflows.evaluation import pipeline_state as state
from hlteval.workflows.evaluation.campaign import campaign_in
from hlteval.workflows.evaluation.manifests import CampaignManifest, read_campaign
from hlteval.workflows.evaluation.pipeline import other_tasks, pipeline, watch


def options_of(assignments: Sequence[str] | None) -> Mapping[str, str]:
    """Return the values of `--option NAME=VALUE`, by name.

    Raises:
        BadParameter: for anything else.
    """
    options: dict[str, str] = {}
    for assignment in assignments or ():
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"invalid --option {assignment}: use NAME=VALUE")
        options[name.replace("-", "_")] = value
    return options


def complete_settings(
    context: Any, settings: state.PipelineSettings, manifest: str | None, path: str | None
) -> state.PipelineSettings:
    """Return the settings of a pipeline with those of a file of defaults and of its manifest.

    Args:
        context: of the command.
        settings: those of the command line.
        manifest: path of the manifest, if there is one.
        path: the value of `--defaults`.

    Raises:
        Exit: with status 1, if the manifest has errors.
    """
    state.check_memory(settings.work.megabytes, unlimited=True)
    config = config_of_call(path, [str(settings.root / "submissions")], settings.task)
    if config and (others := other_tasks(config, manifest)):
        without_effect(config, ", ".join(others))
    elif config:
        missing = not_given(context, config, state.SETTINGS)
        settings = state.with_config(settings, config, missing, manifest)
        if settings.defaults and settings.defaults.names:
            show_defaults(Defaults(config.path, settings.defaults.names))
    settings, findings = state.with_manifest(settings, manifest)
    show_findings(findings)
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)
    return settings


def run_pipeline(settings: state.PipelineSettings, form: str) -> bool:
    """Run a pipeline once, and print its result; whether nothing but submissions is wrong."""
    with progress(remarks(), "submissions") as step:
        result = pipeline(settings, step=step)
    publish(partial(reports.render, result), form)
    return result.clean


def run_watching(settings: state.PipelineSettings, form: str) -> bool:
    """Run a pipeline again and again, and print what is new; a signal ends it.

    As text, these are the submissions whose status is new; as JSON, all of them.
    """
    before: PipelineResult | None = None
    for result in watch(settings):
        if form == "json":
            write(results(), reports.render(result, form))
        else:
            old = set(before.submissions) if before else set()
            for entry in result.submissions:
                if entry not in old:
                    write(results(), reports.line(entry))
            write(remarks(), reports.summary(result))
        before = result
    return before is not None and before.clean


def _configs(manifest: CampaignManifest, path: str | None) -> dict[str, Config]:
    """Return the file of defaults for each task of a campaign that it is for."""
    config = config_of_call(path, [manifest.file.path])
    if config is None:
        return {}
    names = [name for name in manifest.campaign.tasks if is_known(name)]
    kept = [name for name in names if config.task in {"", name}]
    if names and not kept:
        without_effect(config, ", ".join(names))
    return {name: sound(read_config(config.path, name)) for name in kept}


def run_campaign(
    path: str,
    output: Path | None,
    cache: Path | None,
    workers: tuple[int, str],
    form: str,
    defaults_file: str | None = None,
) -> bool:
    """Run a campaign, write its files and print it; whether all cells have numbers.

    Raises:
        Exit: with status 1, if the manifest has errors.
    """
    manifest = read_campaign(path)
    manifest = files.with_configs(manifest, _configs(manifest, defaults_file))
    for defaults in dict.fromkeys(manifest.defaults.values()):
        show_defaults(defaults)
    show_findings(manifest.findings)
    if not manifest.usable:
        raise typer.Exit(1)
    folder, (jobs, cluster) = output or files.default_folder(path), workers
    with progress(remarks(), "cells") as step:
        result = campaign_in(folder, manifest, cache=cache, jobs=jobs, cluster=cluster, step=step)
    files.write_campaign(result, folder)
    show_findings(result.findings)
    publish(partial(reports.render, result), form)
    return result.complete

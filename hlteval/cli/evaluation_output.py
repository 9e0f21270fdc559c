"""What `hlteval pipeline` reads of its arguments, runs and prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from hlteval.cli.commands import unknown_task
from hlteval.cli.defaults import config_of_call, not_given, show_defaults, sound, without_effect
from hlteval.cli.output import publish, show_findings
from hlteval.reports import evaluation as reports
from hlteval.reports.terminal import progress, remarks, results, write
from hlteval.results.config import Config, campaign_with_defaults
from hlteval.results.evaluation import PipelineResult
from hlteval.tasks import known
from hlteval.workflows.config import read_config
from hlteval.workflows.evaluation.campaign import campaign
from hlteval.workflows.evaluation.campaign_files import (
    CACHE,
    default_folder,
    defaults_of,
    prepared,
    with_configs,
    workers_of,
    write_campaign,
)
from hlteval.workflows.evaluation.manifests import CampaignManifest, read_campaign
from hlteval.workflows.evaluation.pipeline import other_tasks, pipeline, taken, with_config
from hlteval.workflows.evaluation.pipeline_state import PipelineSettings, settings
from hlteval.workflows.evaluation.pipeline_workers import WorkLimits


def check_task(task: str) -> str:
    """The name of a task; empty if there is none.

    Raises:
        BadParameter: for an unknown task.
    """
    if task and task not in known():
        raise unknown_task(task, list(known()))
    return task


def options_of(assignments: Sequence[str] | None) -> Mapping[str, str]:
    """The values of `--option NAME=VALUE`, by name.

    Raises:
        BadParameter: for anything else.
    """
    found: dict[str, str] = {}
    for assignment in assignments or ():
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"invalid --option {assignment}: use NAME=VALUE")
        found[name.replace("-", "_")] = value
    return found


def with_file(context: Any, given: dict[str, Any], path: str | None) -> dict[str, Any]:
    """The settings of a pipeline with those of a file of defaults that are not given.

    Args:
        context: of the command.
        given: the settings of the command line.
        path: the value of `--defaults`.
    """
    root, manifest = given["root"], given["manifest"]
    config = config_of_call(path, [str(root / "submissions")], given["task"])
    if config is None or not _is_for(config, manifest):
        return given
    missing = not_given(context, config, ["reference", "against", "profile", "task"])
    show_defaults(taken(config, given, missing))
    return with_config(config, given, missing)


def _is_for(config: Config, manifest: str | None) -> bool:
    """Whether a file of defaults is for all tasks of a manifest; if not, a note reports it."""
    others = other_tasks(config, manifest)
    if others:
        without_effect(config, ", ".join(others))
    return not others


def _settings(given: Mapping[str, Any]) -> PipelineSettings:
    """The settings of a pipeline; findings about its manifest are printed.

    Raises:
        Exit: with status 1, if the manifest has errors.
    """
    made, found = settings(**given)
    show_findings(found)
    if any(finding.severity == "error" for finding in found):
        raise typer.Exit(1)
    return made


def run_pipeline(given: Mapping[str, Any], jobs: int, limits: WorkLimits, form: str) -> bool:
    """Run a pipeline once, and print its result; whether nothing but submissions is wrong."""
    made = _settings(given)
    with progress(remarks(), "submissions") as step:
        result = pipeline(made, jobs=jobs, limits=limits, step=step)
    publish(lambda name: reports.PIPELINE_FORMATS[name](result), form)
    return result.clean


def run_watching(given: Mapping[str, Any], jobs: int, limits: WorkLimits, form: str) -> bool:
    """Run a pipeline again and again, and print what is new; a signal ends it."""
    from hlteval.workflows.evaluation.pipeline import watch

    before: PipelineResult | None = None
    for result in watch(_settings(given), jobs=jobs, limits=limits):
        _show_news(before, result, form)
        before = result
    return before is not None and before.clean


def _show_news(before: PipelineResult | None, result: PipelineResult, form: str) -> None:
    """Print the submissions whose status is new; as JSON all of them."""
    if form == "json":
        write(results(), reports.pipeline_json(result))
        return
    old = set(before.submissions) if before else set()
    for entry in result.submissions:
        if entry not in old:
            write(results(), reports.line(entry))
    write(remarks(), reports.pipeline_summary(result))


def _configs(manifest: CampaignManifest, given: str | None) -> dict[str, Config]:
    """The file of defaults for each task of a campaign that it is for."""
    config = config_of_call(given, [manifest.file.path])
    if config is None or manifest.campaign is None:
        return {}
    names = [name for name in manifest.campaign.tasks if name in known()]
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
    configs = _configs(manifest, defaults_file)
    taken = defaults_of(manifest, configs)
    manifest = with_configs(manifest, configs)
    for defaults in dict.fromkeys(taken.values()):
        show_defaults(defaults)
    show_findings(manifest.findings)
    if not manifest.usable:
        raise typer.Exit(1)
    with workers_of(*workers) as each, progress(remarks(), "cells") as step:
        folder = prepared(output or default_folder(path), cache, manifest.inputs)
        result = campaign(manifest, cache or folder / CACHE, workers=each, step=step)
    result = campaign_with_defaults(result, taken)
    write_campaign(result, folder)
    show_findings(result.findings)
    publish(lambda name: reports.FORMATS[name](result), form)
    return result.complete

"""What `hlteval pipeline` reads of its arguments, runs and prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from hlteval.cli.commands import unknown_task
from hlteval.cli.defaults import config_of_call, not_given, show_defaults, without_effect
from hlteval.cli.output import publish, show_findings
from hlteval.reports import pipeline as reports
from hlteval.reports.terminal import progress, remarks, results, write
from hlteval.results.config import Config
from hlteval.results.pipeline import PipelineResult
from hlteval.tasks import known
from hlteval.workflows.pipeline import pipeline
from hlteval.workflows.pipeline_defaults import other_tasks, taken, with_config
from hlteval.workflows.pipeline_settings import PipelineSettings, settings
from hlteval.workflows.pipeline_workers import WorkLimits


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


def run(given: Mapping[str, Any], jobs: int, limits: WorkLimits, form: str) -> bool:
    """Run a pipeline once, and print its result; whether nothing but submissions is wrong."""
    made = _settings(given)
    with progress(remarks(), "submissions") as step:
        result = pipeline(made, jobs=jobs, limits=limits, step=step)
    publish(lambda name: reports.FORMATS[name](result), form)
    return result.clean


def run_watching(given: Mapping[str, Any], jobs: int, limits: WorkLimits, form: str) -> bool:
    """Run a pipeline again and again, and print what is new; a signal ends it."""
    from hlteval.workflows.pipeline_watch import watch

    before: PipelineResult | None = None
    for result in watch(_settings(given), jobs=jobs, limits=limits):
        _show_news(before, result, form)
        before = result
    return before is not None and before.clean


def _show_news(before: PipelineResult | None, result: PipelineResult, form: str) -> None:
    """Print the submissions whose status is new; as JSON all of them."""
    if form == "json":
        write(results(), reports.json(result))
        return
    old = set(before.submissions) if before else set()
    for entry in result.submissions:
        if entry not in old:
            write(results(), reports.line(entry))
    write(remarks(), reports.summary(result))

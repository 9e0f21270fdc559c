"""Files of defaults as an argument: `defaults`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from hlteval.findings import Findings, Severity
from hlteval.results.agreement import Agreement
from hlteval.results.config import (
    Config,
    agreed_with_defaults,
    compared_with_defaults,
    judged_with_defaults,
    with_defaults,
)
from hlteval.results.defaults import Defaults
from hlteval.results.leaderboard import Leaderboard
from hlteval.results.scores import Scores
from hlteval.results.verdict import Verdict
from hlteval.sources.inputs import Input, WrongArgument, as_path
from hlteval.tasks import known, load
from hlteval.workflows.campaign_manifest import CampaignManifest
from hlteval.workflows.selection import Selection

_SETTINGS = ("against", "profile", "encoding")
"""The keys of a file that are arguments of functions, too."""
_OF_VERDICTS = ("select", "ignore", "severity", "fail-on")
"""The keys on which findings and verdicts depend."""


def config_file(given: Input, task: str) -> Config:
    """A file of defaults for a task; an empty one stands for that of the file.

    Raises:
        FileNotFoundError: if there is none.
        TypeError: for anything but a file.
        WrongArgument: if it has errors, or is for another task.
    """
    from hlteval.workflows.config import read_config
    from hlteval.workflows.toml_files import WrongManifest

    path = as_path("defaults", given, files_only=True)
    try:
        config = read_config(path, task)
    except WrongManifest as error:
        raise WrongArgument(f"defaults: {error}") from error
    for finding in config.findings:
        if finding.severity == "error":
            where = f"{finding.file}{finding.position}"
            raise WrongArgument(f"defaults: {where}: {finding.message} ({finding.code})")
    if task and config.task not in {"", task}:
        raise _of_another(config, task)
    return config


def _of_another(config: Config, tasks: str) -> WrongArgument:
    return WrongArgument(f"defaults: {config.path} has defaults for {config.task}, not for {tasks}")


def campaign_configs(given: Input | None, manifest: CampaignManifest) -> dict[str, Config]:
    """A file of defaults for each task of a campaign that it is for; none without a file.

    Raises:
        FileNotFoundError, TypeError, WrongArgument: as for `config_file`.
    """
    if given is None or manifest.campaign is None:
        return {}
    config = config_file(given, "")
    names = [name for name in manifest.campaign.tasks if name in known()]
    kept = [name for name in names if config.task in {"", name}]
    if names and not kept:
        raise _of_another(config, ", ".join(names))
    return {name: config_file(config.path, name) for name in kept}


def pipeline_config(given: Input, task: str, manifest: str | None) -> Config:
    """A file of defaults for a pipeline.

    Args:
        given: the file.
        task: the task of all submissions; empty for none.
        manifest: the path of the manifest, if there is one.

    Raises:
        FileNotFoundError, TypeError, WrongArgument: as for `config_file`.
    """
    from hlteval.workflows.pipeline_defaults import other_tasks

    config = config_file(given, task)
    if others := other_tasks(config, manifest):
        raise _of_another(config, ", ".join(others))
    return config


def taken_from(given: object) -> Defaults | None:
    """What was taken from the argument `defaults`, which `checked` has read."""
    return given if isinstance(given, Defaults) else None


@dataclass(frozen=True)
class Configured:
    """A call with defaults.

    Attributes:
        config: the file of defaults.
        added: the arguments that come from it, by parameter.
        defaults: what was taken; None if nothing was.
        profile: the profile of the call.
    """

    config: Config
    added: Mapping[str, Any]
    defaults: Defaults | None
    profile: str

    @classmethod
    def of(cls, bound: inspect.BoundArguments, command: str) -> Configured:
        """The defaults of a call; arguments that are given win, options one by one.

        Args:
            bound: the arguments that are given, among them `defaults` and `task`.
            command: the name of the function, which selects the options of the task.
        """
        given = bound.arguments
        config = config_file(given["defaults"], given["task"])
        added: dict[str, Any] = {
            key: config.values[key]
            for key in _SETTINGS
            if key in config.values and key in bound.signature.parameters
            if given.get(key) is None
        }
        options = _options(config, given, command)
        names = [*added, *(key for key in _OF_VERDICTS if key in config.values)]
        names = names if command == "validate" else [*added]
        names += [f"options.{name}" for name in options]
        if options:
            added["options"] = {**(given.get("options") or {}), **options}
        defaults = Defaults(config.path, tuple(names)) if names else None
        return cls(config, added, defaults, added.get("profile") or given.get("profile", "plan"))

    def named(self, result: Any) -> Any:
        """A result that names the defaults; a verdict over the findings that they select."""
        if isinstance(result, Verdict):
            return judged_with_defaults(self._selected(result), self.defaults)
        if isinstance(result, Scores):
            return with_defaults(result, self.defaults)
        if isinstance(result, Agreement):
            return agreed_with_defaults(result, self.defaults)
        if isinstance(result, Leaderboard):
            return result  # which names them where it is made, before it is written
        return compared_with_defaults(result, self.defaults)

    def _selected(self, verdict: Verdict) -> Verdict:
        values = self.config.values
        levels = [f"{code}={level}" for code, level in values.get("severity", {}).items()]
        selection = Selection.parse(values.get("select", ()), values.get("ignore", ()), levels)
        kept = msgspec.structs.replace(verdict, findings=Findings(selection.of(verdict.findings)))
        if self.profile == "official" or not verdict.decided:
            return kept
        lowest = Severity(values.get("fail-on", "error"))
        return msgspec.structs.replace(kept, passed=not kept.reaches(lowest))


def _options(config: Config, given: Mapping[str, Any], command: str) -> dict[str, Any]:
    """The options of the file that a function has and that are not given."""
    written = (*(given.get("options") or {}), *given.get("task_option", {}))
    present = {str(name).replace("-", "_") for name in written}
    own = {option.name for option in load(given["task"]).options if option.available_in(command)}
    return {name: value for name, value in config.options.items() if name in own - present}

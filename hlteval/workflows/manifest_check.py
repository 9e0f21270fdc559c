"""What is inconsistent in a manifest by itself, beyond its structure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hlteval.findings import Finding
from hlteval.findings.suggest import did_you_mean
from hlteval.results.evaluation import Evaluation, TaskSettings, name_pattern
from hlteval.tasks import known, load
from hlteval.tasks.option import WrongOption
from hlteval.tasks.options import check_values, merged
from hlteval.tasks.task import Task
from hlteval.workflows.manifests import Manifest


def check_manifest(manifest: Manifest) -> tuple[Finding, ...]:
    """All findings about a manifest by itself.

    Args:
        manifest: the manifest, as it was read.
    """
    if manifest.evaluation is None:
        return manifest.findings
    return (*manifest.findings, *Checking(manifest, manifest.evaluation).findings())


class Checking:
    """The checks of one manifest."""

    def __init__(self, manifest: Manifest, evaluation: Evaluation) -> None:
        self.manifest, self.evaluation = manifest, evaluation
        self.at = manifest.finding

    def findings(self) -> Iterator[Finding]:
        """All findings, part by part."""
        for name, settings in self.evaluation.tasks.items():
            yield from self.task(name, settings)
        for name, team in self.evaluation.teams.items():
            yield from self.names("task", team.tasks, "teams", name, "tasks")
        yield from self.names("condition", self.evaluation.ensembles_for, "ensembles_for")
        yield from self.limits()
        yield from self.submissions()

    def names(self, part: str, names: Sequence[str], *path: str | int) -> Iterator[Finding]:
        """Names of a list that are not declared."""
        for index, name in enumerate(names):
            yield from self.name(part, name, *path, index)

    def name(self, part: str, name: str, *path: str | int) -> Iterator[Finding]:
        """A name that is not declared; where nothing is, any name is right."""
        declared = self.evaluation.declared(part)
        if declared and name not in declared:
            hint = did_you_mean(name, declared, f"use {', '.join(declared)}, or declare it")
            yield self.at("MAN107", *path, part=part, name=name, hint=hint)

    def task(self, name: str, settings: TaskSettings) -> Iterator[Finding]:
        """What is wrong with a task and its settings."""
        if name not in known():
            hint = did_you_mean(name, known(), "`hlteval tasks` lists them")
            yield self.at("MAN106", "tasks", name, of_key=True, task=name, hint=hint)
            return
        for key in ("reference", "against"):
            yield from self.paths(getattr(settings, key), "tasks", name, key)
        yield from self.settings(name, settings)
        if settings.names:
            yield from self.pattern(settings.names, "tasks", name, "names")

    def paths(self, given: str | Mapping[str, str], *path: str) -> Iterator[Finding]:
        """Paths that do not exist, and languages that are not declared."""
        each = {"": given} if isinstance(given, str) else given
        for language, written in each.items():
            place = (*path, language) if language else path
            if language:
                yield from self.name("language", language, *place)
            if written and not (Path(self.manifest.path).parent / written).exists():
                yield self.at("MAN108", *place, path=written)

    def settings(self, name: str, settings: TaskSettings) -> Iterator[Finding]:
        """A profile, metric or option that the task does not have."""
        task = load(name)
        if settings.profile not in task.profiles:
            reason = f"{name} has no profile {settings.profile}"
            yield self.at("MAN110", "tasks", name, "profile", reason=reason, task=name)
        if settings.metric and task.statistic(settings.metric) is None:
            reason = f"{name} has no metric {settings.metric}"
            yield self.at("MAN110", "tasks", name, "metric", reason=reason, task=name)
        for option, value in settings.options.items():
            try:
                values = merged(task, {option.replace("-", "_"): value})
                check_values(task, values)
                _check_choices(task, values)
            except WrongOption as error:
                path = ("tasks", name, "options", option)
                yield self.at("MAN110", *path, reason=str(error), task=name)

    def pattern(self, written: str, *path: str) -> Iterator[Finding]:
        """A pattern of names that is wrong, or does not say the team."""
        try:
            missing = "team" not in name_pattern(written).groupindex
            reason = "it does not say the team; add {team}" if missing else ""
        except ValueError as error:
            reason = str(error)
        if reason:
            yield self.at("MAN111", *path, pattern=written, reason=reason)

    def limits(self) -> Iterator[Finding]:
        """Limits of undeclared tasks, or that no number keeps."""
        for index, limit in enumerate(self.evaluation.limits):
            yield from self.names("task", limit.tasks, "limits", index, "tasks")
            if limit.most is not None and limit.least > limit.most:
                path = ("limits", index, "least")
                yield self.at("MAN109", *path, least=limit.least, most=limit.most)

    def submissions(self) -> Iterator[Finding]:
        """Submissions that are listed twice, or with undeclared parts."""
        seen: set[str] = set()
        for index, entry in enumerate(self.evaluation.submissions):
            if entry.file in seen:
                yield self.at("MAN112", "submissions", index, "file", file=entry.file)
            seen.add(entry.file)
            for part, name in entry.parts.items():
                yield from self.name(part, name, "submissions", index, part)


def _check_choices(task: Task, values: Mapping[str, str]) -> None:
    """Check the values of options that have only a few.

    Raises:
        WrongOption: for any other value.
    """
    for option in task.options:
        if option.name in values:
            option.check(values[option.name])

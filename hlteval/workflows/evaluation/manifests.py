"""The manifests of evaluations and campaigns: TOML files, their schema in words, and their checks.

A manifest is read in three steps: its syntax, its structure by the JSON Schema of grammars/, and
what it declares. All findings have the line and column of the key or value that they are about.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path as FilePath
from typing import Any, TypeVar

import msgspec

from hlteval.findings import Finding
from hlteval.findings.suggest import did_you_mean
from hlteval.results.evaluation import (
    Campaign,
    CampaignTask,
    Cell,
    Condition,
    Evaluation,
    Group,
    TaskSettings,
    name_pattern,
)
from hlteval.results.verdict import Defaults, Profile
from hlteval.sources.names import ARCHIVE_SUFFIXES, is_junk
from hlteval.sources.opening import is_url
from hlteval.syntax.places import Path
from hlteval.tasks import is_file, is_known, load, task_names
from hlteval.tasks.generic.declaration import WrongTask
from hlteval.tasks.options import check_values, merge_options
from hlteval.tasks.task import Task, WrongOption
from hlteval.tasks.toml_file import TomlFile, read_toml

S = TypeVar("S")


class TaskTables(TomlFile):
    """A TOML file with settings of tasks, which may be declared in files beside it."""

    @property
    def folder(self) -> FilePath:
        """The folder to which the paths of declarations are relative."""
        return FilePath() if self.path == "-" else FilePath(self.path).parent

    @cached_property
    def declarations(self) -> Mapping[str, str]:
        """The paths of declarations as they are written, by the paths where they are."""
        names = (self.content or {}).get("tasks", {})
        return {os.path.normpath(self.folder / name): name for name in names if is_file(name)}

    @property
    def content_with_paths(self) -> Mapping[str, Any]:
        """The content, in which each declaration has the path where it is."""
        paths = {name: path for path, name in self.declarations.items()}

        def resolve(value: Any) -> Any:
            if isinstance(value, dict):
                return {paths.get(key, key): resolve(item) for key, item in value.items()}
            if isinstance(value, list):
                return [resolve(item) for item in value]
            return paths.get(value, value) if isinstance(value, str) else value

        content: Mapping[str, Any] = resolve(self.content or {})
        return content

    def finding(
        self, code: str, *path: str | int, of_key: bool = False, **values: object
    ) -> Finding:
        """Return a finding at a value; a declaration has the path that is written."""
        steps = (self.declarations.get(str(step), step) for step in path)
        return super().finding(code, *steps, of_key=of_key, **values)

    def check_tasks(
        self, prefix: str, tasks: Mapping[str, S], check: Callable[[Task, S], Iterator[Finding]]
    ) -> Iterator[Finding]:
        """Yield the findings about the settings of each task, or that it does not exist."""
        for name, settings in tasks.items():
            try:
                if is_known(name):
                    yield from check(load(name), settings)
                    continue
            except WrongTask as error:
                yield from error.findings
                continue
            except FileNotFoundError:
                pass
            hint = did_you_mean(name, task_names(), "`hlteval tasks` lists them")
            yield self.finding(f"{prefix}106", "tasks", name, of_key=True, task=name, hint=hint)

    def check_options(
        self,
        code: str,
        task: Task,
        options: Mapping[str, object],
        place: Sequence[str],
        resolve: Callable[[Task, Mapping[str, object]], Mapping[str, str]] = merge_options,
        command: str = "",
    ) -> Iterator[Finding]:
        """Yield findings about options that a task does not have, and about wrong values.

        Args:
            code: of the catalogue.
            task: the task.
            options: values by name.
            place: the path of the table that has them.
            resolve: gives the values as text.
            command: the command that has to have them; empty for any.
        """
        for name, value in options.items():
            try:
                values = resolve(task, {name.replace("-", "_"): value})
                for option in task.options:
                    if option.name in values:
                        if command and not option.available_in(command):
                            raise WrongOption(option.elsewhere(task.name, "compare"))
                        option.check(values[option.name])
                check_values(task, values)
            except WrongOption as error:
                path = (*place, "options", name)
                yield self.finding(code, *path, reason=str(error), task=task.name)


def resolve_options(
    task: Task, options: Mapping[str, object], resolve: Callable[[str], str]
) -> dict[str, str]:
    """Return the options of a task as text, with paths as another folder has them.

    Args:
        task: the task.
        options: values by name.
        resolve: gives the path for a path.

    Raises:
        WrongOption: for an option that the task does not have, or a value of another type.
    """
    inputs = {option.name for option in task.options if option.is_input}
    values = {name.replace("-", "_"): value for name, value in options.items()}
    paths = {name: resolve_paths(values[name], resolve) for name in values.keys() & inputs}
    return merge_options(task, values | paths)


def resolve_paths(value: object, resolve: Callable[[str], str]) -> object:
    """Return the value of a setting with another path for each path."""
    if isinstance(value, list | tuple):
        return [resolve_paths(item, resolve) for item in value]
    return resolve(value) if isinstance(value, str) and value else value


#: The condition of a task that declares none; its name is empty.
WHOLE = Condition()
#: The settings of a task that its cells have under the same names.
_OF_TASK = ("lenient", "encoding", "metrics")
#: What a manifest that cannot be read declares.
_NOTHING = Campaign(name="", tasks={})


@dataclass(frozen=True)
class CampaignManifest:
    """The manifest of a campaign as it was read.

    Attributes:
        file: the file.
        campaign: what it declares; nothing if it cannot be read, or breaks the schema.
        defaults: what comes from a file of defaults, by task, profile and condition.
    """

    file: TaskTables
    campaign: Campaign = _NOTHING
    defaults: Mapping[Group, Defaults] = field(default_factory=dict)

    @cached_property
    def base(self) -> str:
        """The folder to which paths are relative."""
        path = self.file.path
        return str(FilePath.cwd() if path == "-" else FilePath(path).absolute().parent)

    def path(self, written: str) -> str:
        """Return a path of the manifest as the program opens it; a URL is one as it is."""
        return written if is_url(written) else os.path.normpath(FilePath(self.base, written))

    def display(self, path: str) -> str:
        """Return a path as it is in tables: below the folder of the manifest, relative to it."""
        below = path.removeprefix(f"{self.base}{os.sep}")
        return below.replace(os.sep, "/") if below != path else path

    @cached_property
    def submissions(self) -> list[tuple[str, str, Path]]:
        """Name and path or URL of each submission, and its place in the manifest."""
        each: list[tuple[str, str, Path]] = [
            (name, self.path(written), ("submissions", name))
            for name, written in self.campaign.submissions.items()
        ]
        for index, written in enumerate(self.campaign.folders):
            folder = FilePath(self.path(written))
            for path in sorted(folder.iterdir()) if folder.is_dir() else ():
                if not is_junk(path.name) and not path.name.startswith("."):
                    each.append((_submission_name(path), str(path), ("folders", index)))
        return each

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """Path or URL of each submission by its name; the first one of a name."""
        listed: dict[str, str] = {}
        for name, path, _ in self.submissions:
            listed.setdefault(name, path)
        return listed

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All findings about it."""
        return (*self.file.findings, *(() if self.file.content is None else self._check()))

    @property
    def usable(self) -> bool:
        """Whether it can be run."""
        return not any(finding.severity == "error" for finding in self.findings)

    def _check(self) -> Iterator[Finding]:
        """Yield the findings about folders, submissions and tasks."""
        at, campaign = self.file.finding, self.campaign
        for index, written in enumerate(campaign.folders):
            if not FilePath(self.path(written)).is_dir():
                yield at("CPN112", "folders", index, path=written)
        for name, path, place in self.submissions:
            if (first := self.paths[name]) != path:
                first, second = self.display(first), self.display(path)
                yield at("CPN109", *place, name=name, first=first, second=second)
        yield from self.file.check_tasks("CPN", campaign.tasks, self._check_task)
        if not self.paths:
            yield at("CPN110", "name", of_key=True)
        elif not campaign.tasks:
            yield at("CPN111", "tasks", of_key=True)

    def _check_task(self, task: Task, settings: CampaignTask) -> Iterator[Finding]:
        """Yield the findings about the settings of a task."""
        place = ("tasks", task.name)
        at = partial(self.file.finding, "CPN108", *place, task=task.name)
        for key, reason in _wrong_settings(task, settings, self.profiles(settings)):
            yield at(key, reason=reason)
        tables: dict[tuple[str, ...], CampaignTask | Condition] = {place: settings}
        for name, condition in settings.conditions.items():
            tables[(*place, "conditions", name)] = condition
        resolve = partial(resolve_options, resolve=self.path)
        for path, part in tables.items():
            for index, name in enumerate(part.submissions):
                if name not in self.paths:
                    hint = did_you_mean(name, [*self.paths], "declare it below [submissions]")
                    step = ("submissions", index)
                    yield self.file.finding("CPN107", *path, *step, name=name, hint=hint)
            yield from self.file.check_options("CPN108", task, part.options, path, resolve, "score")
        references = [c.reference for c in settings.conditions.values() or (WHOLE,)]
        if task.scored_alone and any([settings.reference, *references]):
            yield at("reference", reason=f"{task.name} has no reference; remove the key")
        elif not task.scored_alone and not settings.reference and not all(references):
            yield at(of_key=True, reason=f"{task.name} needs a reference")

    def profiles(self, settings: CampaignTask) -> tuple[Profile, ...]:
        """Return the profiles of a task: its own, or those of the campaign."""
        return settings.profiles or self.campaign.profiles

    def cells(self) -> Iterator[Cell]:
        """Yield the cells, in the order of the manifest."""
        campaign = self.campaign
        drawn = {name: getattr(campaign, name) for name in ("resamples", "confidence", "seed")}
        for task, settings in campaign.tasks.items():
            for profile in self.profiles(settings):
                for name, condition in (settings.conditions or {"": WHOLE}).items():
                    reference = condition.reference or settings.reference
                    options = {**settings.options, **condition.options}
                    for submission in condition.submissions or settings.submissions or self.paths:
                        yield Cell(
                            task=task,
                            profile=profile,
                            condition=name,
                            submission=submission,
                            system=self.paths[submission],
                            reference=self.path(reference) if reference else "",
                            options=resolve_options(load(task), options, self.path),
                            ranked=campaign.leaderboards,
                            **drawn,
                            **{name: getattr(settings, name) for name in _OF_TASK},
                        )

    @property
    def inputs(self) -> set[str]:
        """The paths of all that is read: the manifest, submissions, references and options."""
        paths = {self.file.path, *self.paths.values()}
        for cell in self.cells():
            inputs = {option.name for option in load(cell.task).options if option.is_input}
            paths |= {cell.reference, *(cell.options[name] for name in inputs & {*cell.options})}
        return {path for path in paths if path and not is_url(path)}


def read_campaign(path: str) -> CampaignManifest:
    """Read the manifest of a campaign.

    Raises:
        FileNotFoundError: if the file does not exist.
        NotToml: if it is not one file.
    """
    file = read_toml(path, "campaign", "CPN", TaskTables)
    if file.content is None:
        return CampaignManifest(file)
    return CampaignManifest(file, msgspec.convert(file.content_with_paths, Campaign))


def _submission_name(path: FilePath) -> str:
    """Return the name of a submission in a folder: that of the folder or file without its suffix.

    Examples:
        >>> [_submission_name(FilePath(name)) for name in ("NIST_1.2.tar.gz", "run.tab")]
        ['NIST_1.2', 'run']
    """
    name = path.name
    suffix = next((end for end in ARCHIVE_SUFFIXES if name.lower().endswith(end)), path.suffix)
    return name if path.is_dir() else name[: len(name) - len(suffix)]


def _wrong_settings(
    task: Task, settings: CampaignTask, profiles: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield the settings that a task does not have: the key, and the reason."""
    if not task.metric:
        yield "reference", f"{task.name} cannot be scored: it supports validation only"
        return
    for profile in profiles:
        if profile not in task.profiles:
            yield "profiles", f"{task.name} has no profile {profile}"
    for metric in settings.metrics:
        if task.statistic(metric) is None:
            hint = did_you_mean(metric, task.metrics, f"`hlteval tasks {task.name}` lists them")
            yield "metrics", f"{task.name} has no metric {metric}; {hint}"
    try:
        "".encode(settings.encoding)
    except LookupError:
        yield "encoding", f"unknown encoding {settings.encoding}"


@dataclass(frozen=True)
class Manifest(TaskTables):
    """The manifest of an evaluation as it was read."""

    @property
    def folder(self) -> FilePath:
        """The folder of the manifest; the processes of a pipeline have another one."""
        return super().folder.absolute()

    @cached_property
    def evaluation(self) -> Evaluation:
        """The evaluation that it declares; nothing if it cannot be read, or breaks the schema."""
        if self.content is None:
            return Evaluation(name="", tasks={})
        return msgspec.convert(self.content_with_paths, Evaluation)

    def check(self) -> tuple[Finding, ...]:
        """Return all findings about it by itself."""
        return (*self.findings, *(() if self.content is None else self._check()))

    def _check(self) -> Iterator[Finding]:
        """Yield the findings about what it declares, part by part."""
        evaluation = self.evaluation
        yield from self.check_tasks("MAN", evaluation.tasks, self._check_settings)
        for name, team in evaluation.teams.items():
            yield from self._check_names("task", team.tasks, "teams", name, "tasks")
        yield from self._check_names("condition", evaluation.ensembles_for, "ensembles_for")
        for index, limit in enumerate(evaluation.limits):
            yield from self._check_names("task", limit.tasks, "limits", index, "tasks")
            if limit.most is not None and limit.least > limit.most:
                path = ("limits", index, "least")
                yield self.finding("MAN109", *path, least=limit.least, most=limit.most)
        seen: set[str] = set()
        for index, entry in enumerate(evaluation.submissions):
            if entry.file in seen:
                yield self.finding("MAN112", "submissions", index, "file", file=entry.file)
            seen.add(entry.file)
            for part, name in entry.parts.items():
                yield from self._check_name(part, name, "submissions", index, part)

    def _check_names(self, part: str, names: Sequence[str], *path: str | int) -> Iterator[Finding]:
        """Yield findings about names of a list that are not declared."""
        for index, name in enumerate(names):
            yield from self._check_name(part, name, *path, index)

    def _check_name(self, part: str, name: str, *path: str | int) -> Iterator[Finding]:
        """Yield the finding about an undeclared name; where nothing is declared, any is right."""
        declared = self.evaluation.names_of(part)
        if declared and name not in declared:
            hint = did_you_mean(name, declared, f"use {', '.join(declared)}, or declare it")
            yield self.finding("MAN107", *path, part=part, name=name, hint=hint)

    def _check_settings(self, task: Task, settings: TaskSettings) -> Iterator[Finding]:
        """Yield findings about paths, profile, metric, options and pattern of names of a task."""
        place = ("tasks", task.name)
        sides = {"reference": settings.reference, "against": settings.against}
        for key, path_or_paths in sides.items():
            paths = {"": path_or_paths} if isinstance(path_or_paths, str) else path_or_paths
            for language, path in paths.items():
                steps = (*place, key, language) if language else (*place, key)
                if language:
                    yield from self._check_name("language", language, *steps)
                if path and not (FilePath(self.path).parent / path).exists():
                    yield self.finding("MAN108", *steps, path=path)
        wrong = {}
        if settings.profile not in task.profiles:
            wrong["profile"] = f"{task.name} has no profile {settings.profile}"
        if settings.metric and task.statistic(settings.metric) is None:
            wrong["metric"] = f"{task.name} has no metric {settings.metric}"
        for key, reason in wrong.items():
            yield self.finding("MAN110", *place, key, reason=reason, task=task.name)
        yield from self.check_options("MAN110", task, settings.options, place)
        if settings.names:
            try:
                missing = "team" not in name_pattern(settings.names).groupindex
                reason = "it does not say the team; add {team}" if missing else ""
            except ValueError as error:
                reason = str(error)
            if reason:
                steps = (*place, "names")
                yield self.finding("MAN111", *steps, pattern=settings.names, reason=reason)


def read_manifest(path: str) -> Manifest:
    """Read the manifest of an evaluation: its findings are those of its syntax and structure.

    Raises:
        FileNotFoundError: if the file does not exist.
        NotToml: if it is not one file.
    """
    return read_toml(path, "manifest", "MAN", Manifest)

"""The manifest of a campaign: read, checked, and expanded into cells."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from hlteval.findings import Finding
from hlteval.findings.suggest import did_you_mean
from hlteval.results.campaign import Campaign, CampaignTask, Cell, Condition, ProfileName
from hlteval.sources.names import is_junk
from hlteval.sources.remote import is_url
from hlteval.sources.signatures import ARCHIVE_SUFFIXES
from hlteval.tasks import known, load
from hlteval.tasks.option import Option, WrongOption
from hlteval.tasks.options import check_values, merged
from hlteval.tasks.task import Task
from hlteval.workflows.toml_files import TomlFile, read_toml

WHOLE = Condition()
"""The condition of a task that declares none; its name is empty."""


@dataclass(frozen=True)
class CampaignManifest:
    """The manifest of a campaign as it was read.

    Attributes:
        file: the file.
        campaign: what it declares; None if it cannot be read, or breaks the schema.
    """

    file: TomlFile
    campaign: Campaign | None

    @cached_property
    def listed(self) -> Mapping[str, str]:
        """Path or URL of each submission by its name; the first one of a name."""
        found: dict[str, str] = {}
        for name, path, _ in self._named():
            found.setdefault(name, path)
        return found

    @cached_property
    def base(self) -> str:
        """The folder to which paths are relative."""
        path = self.file.path
        return str(Path.cwd() if path == "-" else Path(path).absolute().parent)

    def path(self, written: str) -> str:
        """A path of the manifest as the program opens it; a URL is one as it is."""
        return written if is_url(written) else os.path.normpath(Path(self.base, written))

    def shown(self, path: str) -> str:
        """A path as it is in tables: below the folder of the manifest, relative to it."""
        below = path.removeprefix(f"{self.base}{os.sep}")
        return below.replace(os.sep, "/") if below != path else path

    def _named(self) -> Iterator[tuple[str, str, tuple[str | int, ...]]]:
        """Name and path of each submission, and its place in the manifest."""
        for name, written in self.campaign.submissions.items() if self.campaign else ():
            yield name, self.path(written), ("submissions", name)
        for index, written in enumerate(self.campaign.folders if self.campaign else ()):
            folder = Path(self.path(written))
            for path in sorted(folder.iterdir()) if folder.is_dir() else ():
                if not is_junk(path.name) and not path.name.startswith("."):
                    yield _name_of(path), str(path), ("folders", index)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All findings about it."""
        return (*self.file.findings, *(self._findings() if self.campaign else ()))

    @property
    def usable(self) -> bool:
        """Whether it can be run."""
        return not any(finding.severity == "error" for finding in self.findings)

    def _findings(self) -> Iterator[Finding]:
        assert self.campaign is not None  # noqa: S101 - for the type checker
        yield from self._folders()
        yield from self._repeated()
        for name, settings in self.campaign.tasks.items():
            yield from self._task(name, settings)
        if not self.listed:
            yield self.file.finding("CPN110", "name", of_key=True)
        elif not self.campaign.tasks:
            yield self.file.finding("CPN111", "tasks", of_key=True)

    def _folders(self) -> Iterator[Finding]:
        """Folders that cannot be listed."""
        for index, written in enumerate(self.campaign.folders if self.campaign else ()):
            if not Path(self.path(written)).is_dir():
                yield self.file.finding("CPN112", "folders", index, path=written)

    def _repeated(self) -> Iterator[Finding]:
        """Submissions of one name."""
        seen: dict[str, str] = {}
        for name, path, place in self._named():
            if seen.setdefault(name, path) != path:
                first, second = self.shown(seen[name]), self.shown(path)
                yield self.file.finding("CPN109", *place, name=name, first=first, second=second)

    def _task(self, name: str, settings: CampaignTask) -> Iterator[Finding]:
        """What is wrong with a task and its settings."""
        at = self.file.finding
        if name not in known():
            hint = did_you_mean(name, known(), "`hlteval tasks` lists them")
            yield at("CPN106", "tasks", name, of_key=True, task=name, hint=hint)
            return
        task = load(name)
        for reason in _of_task(task, settings, self.profiles(settings)):
            yield at("CPN108", "tasks", name, reason[0], reason=reason[1], task=name)
        yield from self._names(settings.submissions, "tasks", name)
        yield from self._options(task, settings.options, "tasks", name)
        for condition, own in settings.conditions.items():
            place = ("tasks", name, "conditions", condition)
            yield from self._names(own.submissions, *place)
            yield from self._options(task, own.options, *place)
        yield from self._references(task, settings)

    def _references(self, task: Task, settings: CampaignTask) -> Iterator[Finding]:
        """A task whose reference is missing, or that has none."""
        each = settings.conditions.values() or (WHOLE,)
        given = [settings.reference, *(condition.reference for condition in each)]
        if task.scored_alone and any(given):
            reason = f"{task.name} has no reference; remove the key"
            path = ("tasks", task.name, "reference")
            yield self.file.finding("CPN108", *path, reason=reason, task=task.name)
        elif not task.scored_alone and not settings.reference and not all(given[1:]):
            reason = f"{task.name} needs a reference"
            place = ("tasks", task.name)
            yield self.file.finding("CPN108", *place, of_key=True, reason=reason, task=task.name)

    def _names(self, names: Sequence[str], *place: str) -> Iterator[Finding]:
        """Submissions that are not listed."""
        for index, name in enumerate(names):
            if name not in self.listed:
                hint = did_you_mean(name, [*self.listed], "declare it below [submissions]")
                path: tuple[str | int, ...] = (*place, "submissions", index)
                yield self.file.finding("CPN107", *path, name=name, hint=hint)

    def _options(self, task: Task, options: Mapping[str, object], *place: str) -> Iterator[Finding]:
        """Options that the task does not have, and values that they cannot have."""
        for name, value in options.items():
            try:
                _check(task, self.resolved(task, {name: value}))
            except WrongOption as error:
                path = (*place, "options", name)
                yield self.file.finding("CPN108", *path, reason=str(error), task=task.name)

    def resolved(self, task: Task, options: Mapping[str, object]) -> dict[str, str]:
        """The options of a task as text, with paths as the program opens them.

        Raises:
            WrongOption: for an option that the task does not have, or a value of another type.
        """
        declared = {option.name: option for option in task.options}
        named = {name.replace("-", "_"): value for name, value in options.items()}
        return merged(
            task, {name: self._value(declared.get(name), value) for name, value in named.items()}
        )

    def _value(self, option: Option | None, value: object) -> object:
        """The value of an option; a path is relative to the manifest."""
        if option is None or not option.is_input:
            return value
        if isinstance(value, list | tuple):
            return [self._value(option, item) for item in value]
        return self.path(value) if isinstance(value, str) and value else value

    def profiles(self, settings: CampaignTask) -> tuple[ProfileName, ...]:
        """The profiles of a task: its own, or those of the campaign that it has."""
        assert self.campaign is not None  # noqa: S101 - for the type checker
        return settings.profiles or self.campaign.profiles

    def cells(self) -> Iterator[Cell]:
        """The cells, in the order of the manifest."""
        assert self.campaign is not None  # noqa: S101 - for the type checker
        for name, settings in self.campaign.tasks.items():
            for profile in self.profiles(settings):
                for condition, own in (settings.conditions or {"": WHOLE}).items():
                    for submission in own.submissions or settings.submissions or self.listed:
                        yield self._cell(name, settings, profile, (condition, own), submission)

    @property
    def inputs(self) -> set[str]:
        """The paths of all that is read: the manifest, submissions, references and options."""
        read = {self.file.path, *self.listed.values()}
        for cell in self.cells():
            named = {option.name for option in load(cell.task).options if option.is_input}
            read |= {cell.reference, *(cell.options[name] for name in named & {*cell.options})}
        return {path for path in read if path and not is_url(path)}

    def _cell(
        self,
        name: str,
        settings: CampaignTask,
        profile: ProfileName,
        condition: tuple[str, Condition],
        submission: str,
    ) -> Cell:
        campaign: Any = self.campaign
        title, own = condition
        reference = own.reference or settings.reference
        return Cell(
            task=name,
            profile=profile,
            condition=title,
            submission=submission,
            system=self.listed[submission],
            reference=self.path(reference) if reference else "",
            options=self.resolved(load(name), {**settings.options, **own.options}),
            lenient=settings.lenient,
            encoding=settings.encoding,
            resamples=campaign.resamples,
            confidence=campaign.confidence,
            seed=campaign.seed,
            ranked=campaign.leaderboards,
            metrics=settings.metrics,
        )


def read_campaign(path: str) -> CampaignManifest:
    """Read the manifest of a campaign.

    Raises:
        FileNotFoundError: if the file does not exist.
        WrongManifest: if it is not one file.
    """
    file = read_toml(path, "campaign", "CPN")
    campaign = None if file.content is None else msgspec.convert(file.content, Campaign)
    return CampaignManifest(file, campaign)


def _name_of(path: Path) -> str:
    """The name of a submission in a folder: that of the folder or file, without its suffix.

    Examples:
        >>> [_name_of(Path(name)) for name in ("NIST_1.2.tar.gz", "run.tab")]
        ['NIST_1.2', 'run']
    """
    suffix = next((end for end in ARCHIVE_SUFFIXES if path.name.lower().endswith(end)), "")
    if path.is_dir():
        return path.name
    return path.name[: -len(suffix)] if suffix else path.stem


def _of_task(
    task: Task, settings: CampaignTask, profiles: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Settings that a task does not have: the key, and the reason."""
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


def _check(task: Task, values: Mapping[str, str]) -> None:
    """Check the values of options.

    Raises:
        WrongOption: for a value that an option cannot have, or an option that scores do not need.
    """
    for option in task.options:
        if option.name in values:
            if not option.available_in("score"):
                raise WrongOption(option.elsewhere(task.name, "compare"))
            option.check(values[option.name])
    check_values(task, values)

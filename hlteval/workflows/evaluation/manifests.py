"""The manifests of evaluations and campaigns: TOML files, their schema in words, and their checks.

A manifest is read in three steps: its syntax, its structure by the JSON Schema of grammars/, and
what it declares. All findings have the line and column of the key or value that they are about.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import msgspec

from hlteval.findings import Finding, Problem
from hlteval.findings.suggest import did_you_mean
from hlteval.grammars import schema as load_schema
from hlteval.results.evaluation import (
    Campaign,
    CampaignTask,
    Cell,
    Condition,
    Evaluation,
    ProfileName,
    TaskSettings,
    name_pattern,
)
from hlteval.sources import Unreadable, decode, open_source
from hlteval.sources.names import ARCHIVE_SUFFIXES, is_junk
from hlteval.sources.opening import is_url
from hlteval.syntax.json_text import KINDS, WANTED, schema_errors
from hlteval.syntax.places import Extent, KeyPlaces, Path, Places, locate
from hlteval.tasks import load, task_modules
from hlteval.tasks.options import check_values, merge_options
from hlteval.tasks.task import Option, Task, WrongOption


class Broken(NamedTuple):
    """One way in which a manifest breaks the schema.

    Attributes:
        code: of the catalogue.
        path: of the key or value.
        of_key: whether the key is wrong, rather than the value.
        values: of the templates of the code.
    """

    code: str
    path: Path
    of_key: bool
    values: Mapping[str, object]


def schema_problems(
    content: Mapping[str, Any], schema: str = "manifest", prefix: str = "MAN"
) -> Iterator[Broken]:
    """Yield the ways in which a manifest breaks its schema.

    Args:
        content: the manifest, as `tomllib` reads it.
        schema: the name of the schema, and of the definition in it.
        prefix: of the codes.

    Examples:
        >>> [(item.code, item.path) for item in schema_problems({"name": 3, "taks": {}})]
        [('MAN102', ('taks',)), ('MAN104', ()), ('MAN103', ('name',))]
    """
    for error in schema_errors(schema, schema, content):
        path, given, wanted = error.path, error.given, error.wanted
        if error.keyword == "required":
            for name in wanted:
                if name not in given:
                    values = {"key": name, "where": where(path)}
                    yield Broken(f"{prefix}104", path, True, values)
        elif error.keyword == "additionalProperties":
            keys = _keys(schema, path)
            for name in given:
                if name not in keys:
                    hint = did_you_mean(name, keys, f"use {', '.join(keys)}")
                    values = {"key": name, "hint": hint}
                    yield Broken(f"{prefix}102", (*path, name), True, values)
        elif error.keyword in {"type", "oneOf"}:
            kind = "a table" if isinstance(given, dict) else KINDS.get(type(given), _DATE)
            right = _PATHS if error.keyword == "oneOf" else {**WANTED, **_WORDS}[wanted]
            values = {"key": where(path), "given": kind, "wanted": right}
            yield Broken(f"{prefix}103", path, False, values)
        else:
            hint = _HINTS.get(error.keyword, "correct it").format(wanted)
            if error.keyword == "enum":
                allowed = list(map(str, wanted))
                hint = did_you_mean(str(given), allowed, f"use one of {', '.join(allowed)}")
            values = {"key": where(path), "given": _as_toml(given), "hint": hint}
            yield Broken(f"{prefix}105", path, False, values)


#: Types that TOML calls otherwise than JSON.
_WORDS = {"object": "a table"}
_DATE = "a date or time"
_PATHS = "a path, or a table with a path for each language"
#: The help about a value by the keyword of the schema that it breaks.
_HINTS = {
    "minimum": "use a number from {}",
    "maximum": "use a number up to {}",
    "minLength": "write a text, or remove the key",
    "minItems": "write at least one",
    "uniqueItems": "write each one once",
}


def _keys(schema: str, path: Path) -> list[str]:
    """Return the keys that a schema has for the table at a path."""
    definitions = load_schema(schema)["definitions"]
    part: Mapping[str, Any] = definitions[schema]
    for step in path:
        if isinstance(step, int):
            part = part.get("items", {})
        else:
            part = part.get("properties", {}).get(step) or part.get("additionalProperties") or {}
        while "$ref" in part:
            part = definitions[part["$ref"].rpartition("/")[2]]
    return list(part.get("properties", {}))


def where(path: Path) -> str:
    """Return a path as people write it.

    Examples:
        >>> where(("limits", 0, "most")), where(())
        ('limits[0].most', 'the manifest')
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".") or "the manifest"


def _as_toml(value: object) -> str:
    """Return a value as TOML writes it, more or less.

    Examples:
        >>> _as_toml("pln"), _as_toml([]), _as_toml(True)
        ('"pln"', '[]', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


#: The place in messages of `tomllib`.
_AT = re.compile(r" \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)$")


class WrongManifest(ValueError):
    """A path that is not a manifest: an error of usage."""


@dataclass(frozen=True)
class TomlFile:
    """A TOML file as it was read.

    Attributes:
        path: of the file, as its user writes it.
        text: of the file; empty if it cannot be read.
        content: of the file; None if it cannot be read, or breaks the schema.
        findings: about the file by itself.
    """

    path: str
    text: str = ""
    content: Mapping[str, Any] | None = None
    findings: tuple[Finding, ...] = field(default=())

    @cached_property
    def places(self) -> Mapping[Path, KeyPlaces]:
        """The places of its keys and values."""
        return locate(self.text)

    def finding(
        self, code: str, *path: str | int, of_key: bool = False, **values: object
    ) -> Finding:
        """Return a finding at a value, or at the closest part around it that is there.

        Args:
            code: of the catalogue.
            path: of the value.
            of_key: whether it is about the key.
            values: of the templates of the code.
        """
        while path and path not in self.places:
            path = path[:-1]
        place = self.places.get(path, KeyPlaces(Extent(0, 0), Extent(0, 0)))
        start, end = place.key if of_key else place.value
        return Places(self.text).finding(Problem(code, 0, start, end, values), self.path)

    def check_task(self, prefix: str, name: str) -> Iterator[Finding]:
        """Yield the finding about a task that does not exist."""
        if name not in task_modules():
            hint = did_you_mean(name, task_modules(), "`hlteval tasks` lists them")
            yield self.finding(f"{prefix}106", "tasks", name, of_key=True, task=name, hint=hint)

    def check_options(
        self,
        code: str,
        task: Task,
        options: Mapping[str, object],
        place: Sequence[str],
        check: Callable[[str, object], None],
    ) -> Iterator[Finding]:
        """Yield findings about options that a task does not have, and about wrong values.

        Args:
            code: of the catalogue.
            task: the task.
            options: values by name.
            place: the path of the table that has them.
            check: raises `WrongOption` for a wrong option or value.
        """
        for name, value in options.items():
            try:
                check(name, value)
            except WrongOption as error:
                path = (*place, "options", name)
                yield self.finding(code, *path, reason=str(error), task=task.name)


def _check_values(task: Task, values: Mapping[str, str], command: str = "") -> None:
    """Check the values of options.

    Raises:
        WrongOption: for a wrong value, or an option that the command, if one is given, lacks.
    """
    for option in task.options:
        if option.name in values:
            if command and not option.available_in(command):
                raise WrongOption(option.elsewhere(task.name, "compare"))
            option.check(values[option.name])
    check_values(task, values)


def read_toml(path: str, schema: str, prefix: str) -> TomlFile:
    """Read a TOML file: its findings are those of its syntax and structure.

    Args:
        path: of the file.
        schema: its name in grammars/.
        prefix: of its codes.

    Raises:
        FileNotFoundError: if the file does not exist.
        WrongManifest: if it is not one file.
    """
    source = open_source(path)
    if source.kind not in {"file", "stdin"} or len(source.members) != 1:
        raise WrongManifest(f"{path} is not a TOML file")
    member = source.members[0]
    try:
        result = decode(member.fetch(), display=member.display)
    except Unreadable as error:
        return TomlFile(path, findings=(error.finding,))
    file = TomlFile(path, result.text or "", findings=result.findings)
    if result.text is None:
        return file
    try:
        content = tomllib.loads(file.text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        problems = [_syntax_finding(file, f"{prefix}101", error)]
    else:
        problems = [
            file.finding(problem.code, *problem.path, of_key=problem.of_key, **problem.values)
            for problem in schema_problems(content, schema, prefix)
        ]
        if not problems:
            return replace(file, content=content)
    return replace(file, findings=(*file.findings, *problems))


def _syntax_finding(file: TomlFile, code: str, error: Exception) -> Finding:
    """Return the finding about text that is not TOML, at the place in the message of Python."""
    message = str(error)
    if isinstance(error, RecursionError):
        message = "Arrays or tables that are nested too deeply"
    place, start = _AT.search(message), 0
    if place and place[1]:
        lines = file.text.split("\n")
        start = sum(len(line) + 1 for line in lines[: int(place[1]) - 1]) + int(place[2]) - 1
    elif place:
        start = len(file.text)
    reason = _AT.sub("", message)
    values = {"reason": reason[:1].lower() + reason[1:]}
    return Places(file.text).finding(Problem(code, 0, start, start, values), file.path)


#: The condition of a task that declares none; its name is empty.
WHOLE = Condition()


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
        if self.campaign is None:
            return []
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
        return (*self.file.findings, *(self._check(self.campaign) if self.campaign else ()))

    @property
    def usable(self) -> bool:
        """Whether it can be run."""
        return not any(finding.severity == "error" for finding in self.findings)

    def _check(self, campaign: Campaign) -> Iterator[Finding]:
        """Yield the findings about folders, submissions and tasks."""
        at = self.file.finding
        for index, written in enumerate(campaign.folders):
            if not FilePath(self.path(written)).is_dir():
                yield at("CPN112", "folders", index, path=written)
        for name, path, place in self.submissions:
            if (first := self.paths[name]) != path:
                first, second = self.display(first), self.display(path)
                yield at("CPN109", *place, name=name, first=first, second=second)
        for name, settings in campaign.tasks.items():
            wrong = list(self.file.check_task("CPN", name))
            yield from wrong or self._check_task(load(name), settings)
        if not self.paths:
            yield at("CPN110", "name", of_key=True)
        elif not campaign.tasks:
            yield at("CPN111", "tasks", of_key=True)

    def _check_task(self, task: Task, settings: CampaignTask) -> Iterator[Finding]:
        """Yield the findings about the settings of a task."""
        place = ("tasks", task.name)
        for key, reason in _wrong_settings(task, settings, self.profiles(settings)):
            yield self.file.finding("CPN108", *place, key, reason=reason, task=task.name)

        def check(name: str, value: object) -> None:
            _check_values(task, self.resolve_options(task, {name: value}), "score")

        tables: dict[tuple[str, ...], CampaignTask | Condition] = {place: settings}
        for name, condition in settings.conditions.items():
            tables[(*place, "conditions", name)] = condition
        for path, part in tables.items():
            for index, name in enumerate(part.submissions):
                if name not in self.paths:
                    hint = did_you_mean(name, [*self.paths], "declare it below [submissions]")
                    step = ("submissions", index)
                    yield self.file.finding("CPN107", *path, *step, name=name, hint=hint)
            yield from self.file.check_options("CPN108", task, part.options, path, check)
        references = [c.reference for c in settings.conditions.values() or (WHOLE,)]
        if task.scored_alone and any([settings.reference, *references]):
            reason = f"{task.name} has no reference; remove the key"
            yield self.file.finding("CPN108", *place, "reference", reason=reason, task=task.name)
        elif not task.scored_alone and not settings.reference and not all(references):
            reason = f"{task.name} needs a reference"
            yield self.file.finding("CPN108", *place, of_key=True, reason=reason, task=task.name)

    def resolve_options(self, task: Task, options: Mapping[str, object]) -> dict[str, str]:
        """Return the options of a task as text, with paths as the program opens them.

        Raises:
            WrongOption: for an option that the task does not have, or a value of another type.
        """
        declared = {option.name: option for option in task.options}
        values = {name.replace("-", "_"): value for name, value in options.items()}
        return merge_options(
            task, {n: self._value(declared.get(n), value) for n, value in values.items()}
        )

    def _value(self, option: Option | None, value: object) -> object:
        """Return the value of an option; a path is relative to the manifest."""
        if option is None or not option.is_input:
            return value
        if isinstance(value, list | tuple):
            return [self._value(option, item) for item in value]
        return self.path(value) if isinstance(value, str) and value else value

    def profiles(self, settings: CampaignTask) -> tuple[ProfileName, ...]:
        """Return the profiles of a task: its own, or those of the campaign."""
        return settings.profiles or (self.campaign.profiles if self.campaign else ())

    def cells(self) -> Iterator[Cell]:
        """Yield the cells, in the order of the manifest."""
        if (campaign := self.campaign) is None:
            return
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
                            options=self.resolve_options(load(task), options),
                            lenient=settings.lenient,
                            encoding=settings.encoding,
                            resamples=campaign.resamples,
                            confidence=campaign.confidence,
                            seed=campaign.seed,
                            ranked=campaign.leaderboards,
                            metrics=settings.metrics,
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
        WrongManifest: if it is not one file.
    """
    file = read_toml(path, "campaign", "CPN")
    campaign = None if file.content is None else msgspec.convert(file.content, Campaign)
    return CampaignManifest(file, campaign)


def _submission_name(path: FilePath) -> str:
    """Return the name of a submission in a folder: that of the folder or file without its suffix.

    Examples:
        >>> [_submission_name(FilePath(name)) for name in ("NIST_1.2.tar.gz", "run.tab")]
        ['NIST_1.2', 'run']
    """
    suffix = next((end for end in ARCHIVE_SUFFIXES if path.name.lower().endswith(end)), "")
    if path.is_dir():
        return path.name
    return path.name[: -len(suffix)] if suffix else path.stem


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
class Manifest(TomlFile):
    """The manifest of an evaluation as it was read.

    Attributes:
        evaluation: what it declares; None if it cannot be read, or breaks the schema.
    """

    evaluation: Evaluation | None = None


def read_manifest(path: str) -> Manifest:
    """Read the manifest of an evaluation: its findings are those of its syntax and structure.

    Raises:
        FileNotFoundError: if the file does not exist.
        WrongManifest: if it is not one file.
    """
    file = read_toml(path, "manifest", "MAN")
    evaluation = None if file.content is None else msgspec.convert(file.content, Evaluation)
    return Manifest(file.path, file.text, file.content, file.findings, evaluation)


def check_manifest(manifest: Manifest) -> tuple[Finding, ...]:
    """Return all findings about the manifest of an evaluation by itself."""
    if manifest.evaluation is None:
        return manifest.findings
    return (*manifest.findings, *_Check(manifest, manifest.evaluation).findings())


class _Check:
    """The checks of the manifest of an evaluation by itself."""

    def __init__(self, manifest: Manifest, evaluation: Evaluation) -> None:
        self.manifest, self.evaluation, self.at = manifest, evaluation, manifest.finding

    def findings(self) -> Iterator[Finding]:
        """Yield all findings, part by part."""
        evaluation = self.evaluation
        for name, settings in evaluation.tasks.items():
            wrong = list(self.manifest.check_task("MAN", name))
            yield from wrong or self.task(load(name), settings)
        for name, team in evaluation.teams.items():
            yield from self.names("task", team.tasks, "teams", name, "tasks")
        yield from self.names("condition", evaluation.ensembles_for, "ensembles_for")
        for index, limit in enumerate(evaluation.limits):
            yield from self.names("task", limit.tasks, "limits", index, "tasks")
            if limit.most is not None and limit.least > limit.most:
                path = ("limits", index, "least")
                yield self.at("MAN109", *path, least=limit.least, most=limit.most)
        seen: set[str] = set()
        for index, entry in enumerate(evaluation.submissions):
            if entry.file in seen:
                yield self.at("MAN112", "submissions", index, "file", file=entry.file)
            seen.add(entry.file)
            for part, name in entry.parts.items():
                yield from self.name(part, name, "submissions", index, part)

    def names(self, part: str, names: Sequence[str], *path: str | int) -> Iterator[Finding]:
        """Yield findings about names of a list that are not declared."""
        for index, name in enumerate(names):
            yield from self.name(part, name, *path, index)

    def name(self, part: str, name: str, *path: str | int) -> Iterator[Finding]:
        """Yield the finding about an undeclared name; where nothing is declared, any is right."""
        declared = self.evaluation.names_of(part)
        if declared and name not in declared:
            hint = did_you_mean(name, declared, f"use {', '.join(declared)}, or declare it")
            yield self.at("MAN107", *path, part=part, name=name, hint=hint)

    def task(self, task: Task, settings: TaskSettings) -> Iterator[Finding]:
        """Yield findings about paths, profile, metric, options and pattern of names of a task."""
        place, name = ("tasks", task.name), task.name
        for key, given in (("reference", settings.reference), ("against", settings.against)):
            for language, path in ({"": given} if isinstance(given, str) else given).items():
                steps = (*place, key, language) if language else (*place, key)
                if language:
                    yield from self.name("language", language, *steps)
                if path and not (FilePath(self.manifest.path).parent / path).exists():
                    yield self.at("MAN108", *steps, path=path)
        if settings.profile not in task.profiles:
            reason = f"{name} has no profile {settings.profile}"
            yield self.at("MAN110", *place, "profile", reason=reason, task=name)
        if settings.metric and task.statistic(settings.metric) is None:
            reason = f"{name} has no metric {settings.metric}"
            yield self.at("MAN110", *place, "metric", reason=reason, task=name)

        def check(option: str, value: object) -> None:
            _check_values(task, merge_options(task, {option.replace("-", "_"): value}))

        yield from self.manifest.check_options("MAN110", task, settings.options, place, check)
        if settings.names:
            try:
                missing = "team" not in name_pattern(settings.names).groupindex
                reason = "it does not say the team; add {team}" if missing else ""
            except ValueError as error:
                reason = str(error)
            if reason:
                yield self.at("MAN111", *place, "names", pattern=settings.names, reason=reason)

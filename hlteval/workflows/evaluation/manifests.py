"""The schema of manifests, in words: unknown and missing keys, values of other types."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path as PathlibPath
from typing import Any, NamedTuple

import msgspec

from hlteval.findings import Finding, Problem
from hlteval.findings.suggest import did_you_mean
from hlteval.grammars import schema
from hlteval.results.evaluation import (
    Campaign,
    CampaignTask,
    Cell,
    Condition,
    Evaluation,
    ProfileName,
)
from hlteval.sources import Unreadable, decode, open_source
from hlteval.sources.names import ARCHIVE_SUFFIXES, is_junk
from hlteval.sources.opening import is_url
from hlteval.syntax.json_parser import Path
from hlteval.syntax.json_text import KINDS, WANTED, SchemaError, schema_errors
from hlteval.syntax.places import Places
from hlteval.syntax.toml_places import Extent, Located, located
from hlteval.tasks import known, load
from hlteval.tasks.options import check_values, merged
from hlteval.tasks.task import Option, Task, WrongOption

_WORDS = {"object": "a table"}
"""What TOML calls otherwise than JSON."""


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


def broken(
    content: Mapping[str, Any], schema: str = "manifest", prefix: str = "MAN"
) -> Iterator[Broken]:
    """How a manifest breaks its schema.

    Args:
        content: the manifest, as `tomllib` reads it.
        schema: the name of the schema, and of the definition in it.
        prefix: of the codes.

    Examples:
        >>> [(item.code, item.path) for item in broken({"name": 3, "taks": {}})]
        [('MAN102', ('taks',)), ('MAN104', ()), ('MAN103', ('name',))]
    """
    for error in schema_errors(schema, schema, content):
        for found in _explained(error, schema):
            yield found._replace(code=f"{prefix}{found.code}")


def _explained(error: SchemaError, schema_name: str) -> Iterator[Broken]:
    """The ways in which an error of the schema breaks it; their codes have no prefix yet."""
    path = error.path
    if error.keyword == "required":
        for name in error.wanted:
            if name not in error.given:
                values = {"key": name, "where": where(path)}
                yield Broken("104", path, True, values)
    elif error.keyword == "additionalProperties":
        known = list(_definition(schema_name, path).get("properties", {}))
        for name in error.given:
            if name not in known:
                hint = did_you_mean(name, known, f"use {', '.join(known)}")
                yield Broken("102", (*path, name), True, {"key": name, "hint": hint})
    elif error.keyword in {"type", "oneOf"}:
        values = {"key": where(path), "given": _kind(error.given), "wanted": _wanted(error)}
        yield Broken("103", path, False, values)
    else:
        values = {"key": where(path), "given": shown(error.given), "hint": _hint(error)}
        yield Broken("105", path, False, values)


def _wanted(error: SchemaError) -> str:
    if error.keyword == "oneOf":
        return "a path, or a table with a path for each language"
    return _WORDS.get(error.wanted, WANTED[error.wanted])


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    return KINDS.get(type(value), "a date or time")


def _hint(error: SchemaError) -> str:
    """What to write in place of a value."""
    if error.keyword == "enum":
        allowed = [str(value) for value in error.wanted]
        return did_you_mean(str(error.given), allowed, f"use one of {', '.join(allowed)}")
    return {
        "minimum": f"use a number from {error.wanted}",
        "maximum": f"use a number up to {error.wanted}",
        "minLength": "write a text, or remove the key",
        "minItems": "write at least one",
        "uniqueItems": "write each one once",
    }.get(error.keyword, "correct it")


def _definition(name: str, path: Path) -> Mapping[str, Any]:
    """The part of a schema for the value at a path."""
    definitions = schema(name)["definitions"]
    part: Mapping[str, Any] = definitions[name]
    for step in path:
        part = _inner(part, step)
        while "$ref" in part:
            part = definitions[part["$ref"].rpartition("/")[2]]
    return part


def _inner(part: Mapping[str, Any], step: int | str) -> Mapping[str, Any]:
    if isinstance(step, int):
        inner: Mapping[str, Any] = part.get("items", {})
    else:
        inner = part.get("properties", {}).get(step) or part.get("additionalProperties") or {}
    return inner


def where(path: Path) -> str:
    """A path as people write it.

    Examples:
        >>> where(("limits", 0, "most")), where(())
        ('limits[0].most', 'the manifest')
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".") or "the manifest"


def shown(value: object) -> str:
    """A value as TOML writes it, more or less.

    Examples:
        >>> shown("pln"), shown([]), shown(True)
        ('"pln"', '[]', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


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
    def places(self) -> Mapping[Path, Located]:
        """Where its keys and values are."""
        return located(self.text)

    def finding(
        self, code: str, *path: str | int, of_key: bool = False, **values: object
    ) -> Finding:
        """A finding at a value, or at the closest part around it that is there.

        Args:
            code: of the catalogue.
            path: of the value.
            of_key: whether it is about the key.
            values: of the templates of the code.
        """
        while path and path not in self.places:
            path = path[:-1]
        place = self.places.get(path, Located(Extent(0, 0), Extent(0, 0)))
        start, end = place.key if of_key else place.value
        return Places(self.text).finding(Problem(code, 0, start, end, values), self.path)


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
    read = TomlFile(path, result.text or "", findings=result.findings)
    return read if result.text is None else _parsed(read, schema, prefix)


def _parsed(read: TomlFile, schema: str, prefix: str) -> TomlFile:
    try:
        content = tomllib.loads(read.text)
    except tomllib.TOMLDecodeError as error:
        return replace(read, findings=(*read.findings, _syntax(read, f"{prefix}101", str(error))))
    except RecursionError:
        found = _syntax(read, f"{prefix}101", "Arrays or tables that are nested too deeply")
        return replace(read, findings=(*read.findings, found))
    if wrong := tuple(_structure(read, content, schema, prefix)):
        return replace(read, findings=(*read.findings, *wrong))
    return replace(read, content=content)


def _syntax(read: TomlFile, code: str, message: str) -> Finding:
    r"""The finding about text that is not TOML, at the place that the message of Python names."""
    found = _AT.search(message)
    start = len(read.text)
    if found and found[1]:
        lines = read.text.split("\n")
        start = sum(len(line) + 1 for line in lines[: int(found[1]) - 1]) + int(found[2]) - 1
    elif not found:
        start = 0
    reason = _AT.sub("", message)
    values = {"reason": reason[:1].lower() + reason[1:]}
    return Places(read.text).finding(Problem(code, 0, start, start, values), read.path)


def _structure(
    read: TomlFile, content: Mapping[str, Any], schema: str, prefix: str
) -> Iterator[Finding]:
    """What breaks the schema."""
    for problem in broken(content, schema, prefix):
        yield read.finding(problem.code, *problem.path, of_key=problem.of_key, **problem.values)


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
        return str(PathlibPath.cwd() if path == "-" else PathlibPath(path).absolute().parent)

    def path(self, written: str) -> str:
        """A path of the manifest as the program opens it; a URL is one as it is."""
        return written if is_url(written) else os.path.normpath(PathlibPath(self.base, written))

    def shown(self, path: str) -> str:
        """A path as it is in tables: below the folder of the manifest, relative to it."""
        below = path.removeprefix(f"{self.base}{os.sep}")
        return below.replace(os.sep, "/") if below != path else path

    def _named(self) -> Iterator[tuple[str, str, tuple[str | int, ...]]]:
        """Name and path of each submission, and its place in the manifest."""
        for name, written in self.campaign.submissions.items() if self.campaign else ():
            yield name, self.path(written), ("submissions", name)
        for index, written in enumerate(self.campaign.folders if self.campaign else ()):
            folder = PathlibPath(self.path(written))
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
            if not PathlibPath(self.path(written)).is_dir():
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


def _name_of(path: PathlibPath) -> str:
    """The name of a submission in a folder: that of the folder or file, without its suffix.

    Examples:
        >>> [_name_of(PathlibPath(name)) for name in ("NIST_1.2.tar.gz", "run.tab")]
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


__all__ = ["Manifest", "WrongManifest", "read_manifest"]


@dataclass(frozen=True)
class Manifest(TomlFile):
    """A manifest as it was read.

    Attributes:
        evaluation: what it declares; None if it cannot be read, or breaks the schema.
    """

    evaluation: Evaluation | None = None


def read_manifest(path: str) -> Manifest:
    """Read a manifest: its findings are those of its syntax and structure.

    Raises:
        FileNotFoundError: if the file does not exist.
        WrongManifest: if it is not one file.
    """
    read = read_toml(path, "manifest", "MAN")
    evaluation = None if read.content is None else msgspec.convert(read.content, Evaluation)
    return Manifest(read.path, read.text, read.content, read.findings, evaluation)

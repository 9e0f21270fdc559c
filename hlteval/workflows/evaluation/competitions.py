"""Settings of competitions: publish.toml, and what the manifest of an evaluation says of them.

A manifest has no dates: phases are those of publish.toml, or one without an end.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from hlteval.findings import Finding
from hlteval.findings.suggest import did_you_mean
from hlteval.results.evaluation import TaskSettings
from hlteval.results.packages import Phase, Publication
from hlteval.tasks.task import Task, WrongOption
from hlteval.tasks.toml_file import read_toml
from hlteval.workflows.evaluation.manifests import Manifest, TaskTables, resolve_options
from hlteval.workflows.platforms import MOST_COLUMNS

#: The phase where none is declared: it has begun, and has no end.
OPEN = Phase("Evaluation", "2000-01-01")


@dataclass(frozen=True)
class Settings(TaskTables):
    """The settings of a competition as they were read."""

    called: ClassVar[str] = "the settings"

    @property
    def publication(self) -> Publication:
        """The competition that is declared, with paths as this process opens them."""
        content = dict(self.content or {})
        for key in ("example", "documents"):
            if key in content:
                content[key] = self.path_of(content[key])
        return msgspec.convert(content, Publication)

    def values(self, task: Task) -> Mapping[str, str]:
        """The options of the task as text, with paths as this process opens them."""
        return resolve_options(task, self.publication.options, self.path_of)

    def path_of(self, written: str) -> str:
        """Return a path of the settings as the program opens it."""
        return str(self.folder / written)

    def check(self, task: Task) -> Iterator[Finding]:
        """Yield the findings about what is declared, for a task."""
        declared = self.publication
        for index, name in enumerate(declared.metrics):
            if task.statistic(name) is None:
                hint = did_you_mean(name, task.metrics, f"`hlteval tasks {task.name}` lists them")
                yield self.finding("BDL106", "metrics", index, metric=name, hint=hint)
        yield from self.check_options("BDL107", task, declared.options, (), command="score")
        if declared.profile not in task.profiles:
            reason = f"{task.display_name} has no profile {declared.profile}"
            yield self.finding("BDL107", "profile", reason=reason, task=task.name)
        places: dict[tuple[str | int, ...], str] = {
            (key,): (self.content or {}).get(key, "") for key in ("example", "documents")
        }
        for index, phase in enumerate(declared.phases):
            places["phases", index, "reference"] = phase.reference
        for place, path in places.items():
            if path and not (self.folder / path).exists():
                yield self.finding("BDL110", *place, path=path)
        yield from self.check_phases(declared.phases)

    def check_phases(self, phases: Sequence[Phase]) -> Iterator[Finding]:
        """Yield the findings about the dates of phases, by themselves and in sequence."""
        for index, phase in enumerate(phases):
            for key in ("start", "end"):
                written = getattr(phase, key)
                if written and not utc(written):
                    yield self.finding("BDL108", "phases", index, key, key=key, given=written)
            if phase.end and "" < utc(phase.end) <= utc(phase.start):
                yield self.finding("BDL109", "phases", index, "end", reason="it ends at its start")
        for index, (first, second) in enumerate(pairwise(phases), 1):
            if not first.end:
                reason = f"{first.name} has no end, but is not the last"
                yield self.finding("BDL109", "phases", index - 1, reason=reason)
            elif utc(first.end) and utc(first.end) >= utc(second.start) > "":
                reason = f"{second.name} begins before {first.name} has ended"
                yield self.finding("BDL109", "phases", index, "start", reason=reason)


def utc(written: str) -> str:
    """Return a date and time in UTC as platforms read it; empty if it is none.

    Examples:
        >>> utc("2026-12-01"), utc("2026-12-01T12:00:00+02:00"), utc("soon")
        ('2026-12-01 00:00:00', '2026-12-01 10:00:00', '')
    """
    try:
        moment = datetime.fromisoformat(written.strip())
    except ValueError:
        return ""
    moment = moment if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def read_settings(path: str | None) -> Settings:
    """Read the settings of a competition; without a file, all have their defaults.

    Raises:
        FileNotFoundError: if the file does not exist.
        NotToml: if it is not one file.
    """
    return Settings("", content={}) if path is None else read_toml(path, "publish", "BDL", Settings)


def with_manifest(
    settings: Settings, manifest: Manifest, task: Task, reference: str, documents: str | None
) -> Publication:
    """Return the settings of a competition with what a manifest says where they say nothing.

    That is the name of the evaluation, the documents that submissions are checked against, the
    profile, the ranking metric, and the most submissions of a team, also those to a checkpoint.

    Args:
        settings: those that were read.
        manifest: a manifest without errors.
        task: the task of the competition.
        reference: the path of its reference, which chooses the documents of a language; empty for
            that of the manifest.
        documents: the path of the documents that override all others, if there is one.

    Raises:
        WrongOption: if the manifest does not have the task, or has documents for other references.
    """
    evaluation = manifest.evaluation
    if task.name not in evaluation.tasks:
        hint = did_you_mean(task.name, [*evaluation.tasks], "")
        raise WrongOption(f"{manifest.path} has no task {task.name}; {hint}".rstrip("; "))
    own, declared = evaluation.tasks[task.name], settings.publication
    values: dict[str, object] = {"title": evaluation.name, "profile": own.profile}
    if own.metric:
        values["metrics"] = tuple(task.beside(own.metric, task.metrics)[:MOST_COLUMNS])
    written = settings.content or {}
    if not documents and "documents" not in written:
        values["documents"] = documents_of(manifest, own, reference)
    missing = {name: value for name, value in values.items() if name not in written}
    most = [
        limit.most
        for limit in evaluation.limits
        if limit.most is not None
        and "team" in limit.per
        and {*limit.per} <= {"team", "task", "checkpoint"}
        and (not limit.tasks or task.name in limit.tasks)
    ]
    if most:
        tables = written.get("phases") or [{}]
        missing["phases"] = tuple(
            phase if "submissions" in table else replace(phase, submissions=min(most))
            for phase, table in zip(declared.phases or (OPEN,), tables, strict=True)
        )
    return replace(declared, **missing)


def documents_of(manifest: Manifest, own: TaskSettings, reference: str) -> str:
    """Return the path of the documents of a task, or of the language of a reference; or empty.

    Raises:
        WrongOption: if the manifest has documents per language, and the reference is of none.
    """
    if isinstance(own.against, str):
        return str(manifest.folder / own.against) if own.against else ""
    if not reference:
        return ""
    languages = {} if isinstance(own.reference, str) else own.reference
    for name, path in languages.items():
        if name in own.against and (manifest.folder / path).resolve() == Path(reference).resolve():
            return str(manifest.folder / own.against[name])
    names = ", ".join(own.against)
    raise WrongOption(f"{manifest.path} has documents per language ({names}); add --documents PATH")


def reference_of(manifest: Manifest, task: Task) -> str:
    """Return the path of the reference that a manifest names for a task; empty for none.

    Raises:
        WrongOption: if it names one for each language.
    """
    reference = manifest.evaluation.tasks[task.name].reference
    if not isinstance(reference, str):
        names = ", ".join(reference)
        raise WrongOption(f"{manifest.path} has a reference per language ({names}); add -r PATH")
    return str(manifest.folder / reference) if reference else ""


def options_of(manifest: Manifest, task: Task) -> Mapping[str, str]:
    """Return the options of a task in a manifest as text, with paths as this process opens them."""
    options = manifest.evaluation.tasks[task.name].options
    return resolve_options(task, options, lambda path: str(manifest.folder / path))

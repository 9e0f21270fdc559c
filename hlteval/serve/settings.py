"""Orders and outcomes of jobs, as values that go between processes; settings of the organiser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from hlteval.findings import REFERENCE, SUBMISSION
from hlteval.results.verdict import Verdict
from hlteval.tasks import load
from hlteval.tasks.options import check_values, merge_options
from hlteval.tasks.task import WrongOption

#: The folders of a job: uploaded files, what is made of them, inputs of the organiser, the rest.
INPUT, OUTPUT, LINKS, SCRATCH = "input", "output", "given", "scratch"
#: The input of a job beside `SUBMISSION` and `REFERENCE`; those of options begin with `OPTION`.
SECOND = "second"
OPTION = "option-"


class Upload(msgspec.Struct, frozen=True):
    """An uploaded file.

    Attributes:
        name: as the browser gave it, with folders; it is never the name of a file here.
        size: in bytes.
        file: its number in the folder `INPUT`; empty where it was too large to be kept.
    """

    name: str
    size: int
    file: str = ""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Order of a job.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        encoding: of the files.
        lenient: whether to score in spite of blocking findings.
        intervals: whether scores have confidence intervals.
        options: values of the options of the task that are no files, by name.
        uploads: the uploaded files by input.
        given: inputs of the organiser: the name of each in the folder `LINKS`, by input.
    """

    task: str
    profile: str = "plan"
    encoding: str = "utf-8"
    lenient: bool = False
    intervals: bool = False
    options: dict[str, str] = {}
    uploads: dict[str, tuple[Upload, ...]] = {}
    given: dict[str, str] = {}


class Download(msgspec.Struct, frozen=True):
    """A file to download.

    Attributes:
        key: in its URL.
        label: on its link.
        file: its name in the folder `OUTPUT`.
        name: that the browser saves it under.
    """

    key: str
    label: str
    file: str
    name: str


class Part(msgspec.Struct, frozen=True):
    """A report, with what is seen before it is opened.

    Attributes:
        key: in its URL.
        title: on its tab.
        outcome: `pass`, `fail`, `undecided`, `refused` or nothing.
        facts: names and values.
        file: the report in the folder `OUTPUT`.
        downloads: what can be saved.
    """

    key: str
    title: str
    outcome: str
    facts: tuple[tuple[str, str], ...]
    file: str
    downloads: tuple[Download, ...] = ()


class Outcome(msgspec.Struct, frozen=True):
    """Outcome of a job.

    Attributes:
        parts: the reports.
        error: why there is no more, for people; empty if nothing is missing.
        bug: the kind and place of an internal error, for the terminal of the server.
    """

    parts: tuple[Part, ...] = ()
    error: str = ""
    bug: str = ""


class Progress(msgspec.Struct, frozen=True):
    """How far a job is.

    Attributes:
        phase: what is being done.
        done: the documents that are done.
        total: of these; None if that is unknown.
    """

    phase: Literal["starting", "checking", "scoring", "comparing", "fixing"] = "starting"
    done: int = 0
    total: int | None = None


class CannotServe(ValueError):
    """The libraries of the server are not installed."""


@dataclass(frozen=True)
class ServeSettings:
    """Settings of the organiser.

    Attributes:
        task: the only task; empty for all of them.
        reference: path of its reference; empty if users upload it.
        profile: `plan` or `official`; empty if users choose.
        encoding: of the files; empty if users choose.
        options: values of the options of the task as text, by name; paths for files.
    """

    task: str = ""
    reference: str = ""
    profile: str = ""
    encoding: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def files(self) -> Mapping[str, Path]:
        """The inputs that users need not upload, as absolute paths by the name of the input."""
        files = {REFERENCE: Path(self.reference).absolute()} if self.reference else {}
        for option in load(self.task).options if self.task else ():
            if option.is_input and option.name in self.options:
                files[f"{OPTION}{option.name}"] = Path(self.options[option.name]).absolute()
        return files

    @property
    def values(self) -> Mapping[str, str]:
        """The values of the options that are no files."""
        return {n: value for n, value in self.options.items() if f"{OPTION}{n}" not in self.files}


def check(settings: ServeSettings) -> tuple[ServeSettings, Verdict | None]:
    """The settings with the options of files of options, and the verdict over the reference.

    Raises:
        WrongOption: for an option that the task does not have, or a value that it cannot have.
        FileNotFoundError: if a path does not exist.
        hlteval.workflows.run.batches.NothingGiven: if the reference has no format of the task.
    """
    if not settings.task:
        if settings.reference or settings.options:
            raise WrongOption("a reference or options need the name of a task")
        return settings, None
    task = load(settings.task)
    task.hold_profile(settings.profile or task.profiles[0])
    values = merge_options(task, settings.options)
    if unknown := sorted(set(values) - {option.name for option in task.options}):
        raise WrongOption(f"unknown option {unknown[0]} of {task.name}")
    check_values(task, values)
    for option in task.options:
        if option.name in values:
            option.check(values[option.name])
        if option.metavar == "JAR" and option.name in values:
            raise WrongOption(f"--option {option.name} names a program: it is not for a page")
    made = ServeSettings(task.name, settings.reference, settings.profile, settings.encoding, values)
    for name, path in made.files.items():
        if not path.exists():
            given = settings.reference if name == REFERENCE else values[name.removeprefix(OPTION)]
            raise FileNotFoundError(2, "no such file or folder", given)
    return made, _reference_verdict(made)


def _reference_verdict(settings: ServeSettings) -> Verdict | None:
    """The verdict over the reference; None if there is none."""
    from hlteval.workflows.run.engine import validate
    from hlteval.workflows.run.request import Request

    if not settings.reference:
        return None
    task = load(settings.task)
    if task.scored_alone:
        raise WrongOption(f"{task.name} has no reference")
    available = {option.name for option in task.options if option.available_in("validate")}
    options = {name: value for name, value in settings.options.items() if name in available}
    return validate(
        Request(
            task.name,
            settings.reference,
            role=SUBMISSION if task.metric is None else REFERENCE,
            profile=settings.profile or task.profiles[0],
            encoding=settings.encoding or "utf-8",
            options=options,
        )
    )

"""Orders and outcomes of jobs, as values that go between processes; settings and limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Literal

import msgspec

from hlteval.findings import REFERENCE, SUBMISSION
from hlteval.results.verdict import Verdict
from hlteval.tasks import is_file, load
from hlteval.tasks.options import check_values, merge_options
from hlteval.tasks.task import WrongOption


class Folder(StrEnum):
    """A folder of a job: uploads, what is made of them, inputs of the organiser, and the rest."""

    INPUT = "input"
    OUTPUT = "output"
    LINKS = "given"
    SCRATCH = "scratch"


class Upload(msgspec.Struct, frozen=True):
    """An uploaded file.

    Attributes:
        name: as the browser gave it, with folders; it is never the name of a file here.
        size: in bytes.
        file: its path in the folder `Folder.INPUT`; empty where it was too large to be kept.
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
        given: inputs of the organiser: the name of each in the folder `Folder.LINKS`, by input.
        SECOND, OPTION: the input that the submission is compared with, and what the names of the
            inputs of options begin with; the others are `SUBMISSION` and `REFERENCE`.
    """

    SECOND: ClassVar[str] = "second"
    OPTION: ClassVar[str] = "option-"

    task: str
    profile: str = "plan"
    encoding: str = "utf-8"
    lenient: bool = False
    intervals: bool = False
    options: dict[str, str] = {}
    uploads: dict[str, tuple[Upload, ...]] = {}
    given: dict[str, str] = {}


class Link(msgspec.Struct, frozen=True):
    """A link to a file that can be saved.

    Attributes:
        key: in its URL.
        label: its text.
    """

    key: str
    label: str


class Part(msgspec.Struct, frozen=True):
    """A report as the page gets it, with what is seen before it is opened.

    Attributes:
        key: in its URL; the report in the folder `Folder.OUTPUT` has this name.
        title: on its tab.
        outcome: `pass`, `fail`, `undecided`, `refused` or nothing.
        facts: names and values.
        files: what can be saved.
    """

    key: str
    title: str
    outcome: str
    facts: tuple[tuple[str, str], ...]
    files: tuple[Link, ...] = ()


class Outcome(msgspec.Struct, frozen=True):
    """Outcome of a job.

    Attributes:
        parts: the reports.
        files: what can be saved, by the keys of links: the name of each file in the folder
            `Folder.OUTPUT`, and the one that the browser saves it under.
        error: why there is no more, for people; empty if nothing is missing.
        bug: the kind and place of an internal error, for the terminal of the server.
    """

    parts: tuple[Part, ...] = ()
    files: dict[str, tuple[str, str]] = {}
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


@dataclass(frozen=True)
class ServeLimits:
    """Limits of the server, its jobs and its clients.

    Attributes:
        jobs: number of jobs at a time.
        seconds: of a job.
        megabytes: of memory of a job.
        sessions: number of sessions.
        session_jobs: number of jobs of a session, those that are done included.
        bytes: of all uploads together.
        job_age: seconds after which a job is removed that nobody asks about.
        session_age: seconds after which a session without jobs is removed.
        headers: seconds for the headers of a request.
        reading: seconds in which a client reads nothing of an answer.
        pause: seconds without a byte of the body of a request.
        grace: seconds that a body may take in any case.
        rate: bytes per second after these, on average.
    """

    jobs: int = 2
    seconds: int = 600
    megabytes: int = 4000
    sessions: int = 200
    session_jobs: int = 6
    bytes: int = 4 << 30
    job_age: float = 3600
    session_age: float = 12 * 3600
    headers: float = 10.0
    reading: float = 30.0
    pause: float = 20.0
    grace: float = 30.0
    rate: float = 50_000.0


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
                files[f"{Order.OPTION}{option.name}"] = Path(self.options[option.name]).absolute()
        return files

    @property
    def values(self) -> Mapping[str, str]:
        """The values of the options that are no files."""
        files = {name.removeprefix(Order.OPTION) for name in self.files}
        return {name: value for name, value in self.options.items() if name not in files}


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
    if is_file(settings.task):  # the processes have another folder
        settings = replace(settings, task=str(Path(settings.task).absolute()))
    task = load(settings.task)
    task.hold_profile(settings.profile or task.profiles[0])
    values = merge_options(task, settings.options)
    check_values(task, values)
    paths = [settings.reference] if settings.reference else []
    for option in task.options:
        if option.name in values:
            option.check(values[option.name])
            if option.metavar == "JAR":
                raise WrongOption(f"--option {option.key} names a program: it is not for a page")
            paths += [values[option.name]] if option.is_input else []
    for path in paths:
        if not Path(path).exists():
            raise FileNotFoundError(2, "no such file or folder", path)
    settings = replace(settings, options=values)
    if not settings.reference:
        return settings, None
    if task.scored_alone:
        raise WrongOption(f"{task.name} has no reference")
    from hlteval.workflows.run.engine import validate
    from hlteval.workflows.run.request import Request

    names = [option.name for option in task.options if option.available_in("validate")]
    return settings, validate(
        Request(
            task.name,
            settings.reference,
            role=SUBMISSION if task.metric is None else REFERENCE,
            profile=settings.profile or task.profiles[0],
            encoding=settings.encoding or "utf-8",
            options={name: values[name] for name in names if name in values},
        )
    )

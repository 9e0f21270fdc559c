"""Settings of a server: what the organiser gives when it is started, checked at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hlteval.findings import REFERENCE as REFERENCE_SIDE
from hlteval.findings import SUBMISSION as SUBMISSION_SIDE
from hlteval.results.verdict import Verdict
from hlteval.serve.orders import OPTION, REFERENCE
from hlteval.tasks import load
from hlteval.tasks.option import WrongOption
from hlteval.tasks.options import check_values, merged


class CannotServe(ValueError):
    """The libraries of the server are not installed."""


@dataclass(frozen=True)
class ServeSettings:
    """What the organiser gives.

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
        found = {REFERENCE: Path(self.reference).absolute()} if self.reference else {}
        for option in load(self.task).options if self.task else ():
            if option.is_input and option.name in self.options:
                found[f"{OPTION}{option.name}"] = Path(self.options[option.name]).absolute()
        return found

    @property
    def values(self) -> Mapping[str, str]:
        """The values of the options that are no files."""
        return {n: value for n, value in self.options.items() if f"{OPTION}{n}" not in self.files}


def checked(settings: ServeSettings) -> tuple[ServeSettings, Verdict | None]:
    """The settings with the options of files of options, and the verdict over the reference.

    Raises:
        WrongOption: for an option that the task does not have, or a value that it cannot have.
        FileNotFoundError: if a path does not exist.
        hlteval.workflows.batches.NothingGiven: if the reference has no format of the task.
    """
    if not settings.task:
        if settings.reference or settings.options:
            raise WrongOption("a reference or options need the name of a task")
        return settings, None
    task = load(settings.task)
    task.hold_profile(settings.profile or task.profiles[0])
    values = merged(task, settings.options)
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
    return made, _judged(made)


def _judged(settings: ServeSettings) -> Verdict | None:
    """The verdict over the reference; None if there is none."""
    from hlteval.workflows.validation import validate

    if not settings.reference:
        return None
    task = load(settings.task)
    if task.scored_alone:
        raise WrongOption(f"{task.name} has no reference")
    own = [o.name for o in task.options if o.available_in("validate")]
    options = {name: settings.options[name] for name in own if name in settings.options}
    return validate(
        task.name,
        settings.reference,
        role=SUBMISSION_SIDE if task.metric is None else REFERENCE_SIDE,
        profile=settings.profile or task.profiles[0],
        encoding=settings.encoding or "utf-8",
        options=options,
    )

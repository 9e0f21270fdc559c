"""What the page asks for, made from the declarations of the tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hlteval.serve.orders import OPTION, REFERENCE, SECOND, SUBMISSION, Order
from hlteval.serve.settings import ServeSettings
from hlteval.serve.uploads import Rejected
from hlteval.sources.limits import LIMITS
from hlteval.sources.names import is_text
from hlteval.tasks import known, load
from hlteval.tasks.option import Option
from hlteval.tasks.task import Task

_LONGEST = 500
"""Characters of the value of an option at most."""


def offered(task: Task) -> Iterator[Option]:
    """The options of a task that the page has.

    An option that names a program, or a file with the names of other files, is none of them: no
    user may name what is on this machine.
    """
    for option in task.options:
        if not option.holds_options and option.metavar != "JAR":
            yield option


def tasks_of(settings: ServeSettings) -> list[str]:
    """The names of the tasks that the page offers."""
    return [settings.task] if settings.task else list(known())


def form(settings: ServeSettings) -> Mapping[str, Any]:
    """The data of the page: the tasks with their options, and what is given or limited."""
    names = {name: path.name for name, path in settings.files.items()}
    return {
        "tasks": [_task(load(name), settings) for name in tasks_of(settings)],
        "given": names,
        "profile": settings.profile,
        "encoding": settings.encoding,
        "limits": {
            "files": LIMITS.members,
            "file": LIMITS.member_bytes,
            "total": LIMITS.total_bytes,
        },
    }


def _task(task: Task, settings: ServeSettings) -> Mapping[str, Any]:
    needed = "optional" if task.reference_optional else "needed"
    return {
        "name": task.name,
        "title": task.title,
        "reference": "none" if task.scored_alone else needed,
        "scored": task.metric is not None,
        "folder": task.submitted_as_folder,
        "profiles": list(task.profiles),
        "options": [_option(option, settings) for option in offered(task)],
    }


def _option(option: Option, settings: ServeSettings) -> Mapping[str, Any]:
    kind = "switch" if option.switch else "choice" if option.choices else "text"
    return {
        "name": option.name,
        "label": option.name.replace("_", " "),
        "help": option.help,
        "kind": "file" if option.is_input else kind,
        "choices": list(option.choices),
        "placeholder": option.placeholder,
        "fixed": option.name in settings.options,
    }


def inputs(task: Task, settings: ServeSettings) -> set[str]:
    """The names of the inputs that can be uploaded for a task."""
    names = {SUBMISSION, SECOND} if task.metric else {SUBMISSION}
    names |= set() if task.scored_alone else {REFERENCE}
    names |= {f"{OPTION}{option.name}" for option in offered(task) if option.is_input}
    return names - settings.files.keys()


def held(order: Order, settings: ServeSettings) -> Order:
    """An order of the page, with what the organiser gives in place of what a user sends.

    Raises:
        Rejected: if the task is not offered, or an option of it is no text.
    """
    from hlteval.sources.decoding import check_encoding

    if order.task not in tasks_of(settings):
        raise Rejected(400, "This task is not offered here.")
    task = load(order.task)
    encoding = settings.encoding or order.encoding
    try:
        check_encoding(encoding)
    except (LookupError, ValueError) as error:
        raise Rejected(400, f"Unknown encoding {encoding[:40]}.") from error
    profile = settings.profile or order.profile
    if profile not in task.profiles:
        raise Rejected(400, f"{task.name} has no profile {profile[:40]}.")
    texts = {o.name: o for o in offered(task) if not o.is_input}
    for name, value in order.options.items():
        if name not in texts or len(value) > _LONGEST or not is_text(value) or "\0" in value:
            raise Rejected(400, f"The option {name[:40]} cannot have this value.")
    options = {**{n: v for n, v in order.options.items() if v}, **settings.values}
    return Order(
        task=task.name,
        profile=profile,
        encoding=encoding,
        lenient=order.lenient,
        intervals=order.intervals,
        options=options,
    )

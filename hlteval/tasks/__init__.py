"""Tasks: a file of declarations each, and a module a family with the functions that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlteval.extensions import RULES, TASKS, broken_extensions, extensions, load_extension

if TYPE_CHECKING:
    from hlteval.tasks.task import Task
    from hlteval.validators import Rule

#: The names of the tasks that come with the package, each declared by a file of its name.
BUILTIN = (
    *("seedev-binary", "seedev-full"),
    *("speech-sf", "lorehlt-edl", "lorehlt-sf", "ltf", "laf", "lorehlt-mt"),
    "hub4",
    *("ccu-nd", "ccu-ed", "ccu-vd", "ccu-ad", "ccu-cd", "ccu-ndmap", "ccu-reference", "ccu-ta2"),
    *("mentions", "segments", "transcripts"),
)


def task_names() -> tuple[str, ...]:
    """The names of the tasks, those that other packages add and ours."""
    return tuple(dict.fromkeys((*extensions(TASKS), *BUILTIN)))


def usable() -> list[str]:
    """The names of the tasks that can be loaded: of other packages, some may be broken."""
    broken = broken_extensions(TASKS)
    return [name for name in task_names() if name in BUILTIN or name not in broken]


def rules(task: Task) -> tuple[Rule, ...]:
    """The rules of a task, those of all tasks, and those that other packages add to it."""
    from hlteval.validators.names import RULES as OF_ALL

    added = [load_extension(RULES, name).get(task.name, ()) for name in extensions(RULES)]
    return (*task.rules(), *OF_ALL, *(rule for listed in added for rule in listed))


def load(name: str) -> Task:
    """A task by its name.

    Raises:
        KeyError: if there is none of that name.

    Examples:
        >>> load("seedev-binary").primary["plan"]
        'f1'
    """
    if name in BUILTIN:
        from hlteval.tasks.declarations import read_task

        return read_task(name)
    task: Task = load_extension(TASKS, name)
    return task

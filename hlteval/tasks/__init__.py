"""Tasks: one module a family, each declaring its tasks as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hlteval.extensions import RULES, TASKS, broken_extensions, extensions, load_extension, resolve

if TYPE_CHECKING:
    from hlteval.tasks.task import Task
    from hlteval.validators import Rule

#: The tasks by name, each imported where it is first used.
BUILTIN: Mapping[str, str] = {
    "seedev-binary": "hlteval.tasks.seedev:BINARY",
    "seedev-full": "hlteval.tasks.seedev:FULL",
    "speech-sf": "hlteval.tasks.situations:SPEECH",
    "lorehlt-edl": "hlteval.tasks.edl:EDL",
    "lorehlt-sf": "hlteval.tasks.lorehlt_sf:LOREHLT_SF",
    "ltf": "hlteval.tasks.ltf:LTF",
    "laf": "hlteval.tasks.ltf:LAF",
    "lorehlt-mt": "hlteval.tasks.mt:LOREHLT_MT",
    "hub4": "hlteval.tasks.hub4:HUB4",
    "ccu-nd": "hlteval.tasks.ccu:ND",
    "ccu-ed": "hlteval.tasks.ccu:ED",
    "ccu-vd": "hlteval.tasks.ccu:VD",
    "ccu-ad": "hlteval.tasks.ccu:AD",
    "ccu-cd": "hlteval.tasks.ccu:CD",
    "ccu-ndmap": "hlteval.tasks.ccu:NDMAP",
    "ccu-reference": "hlteval.tasks.ccu:REFERENCE",
    "ccu-ta2": "hlteval.tasks.ccu:TA2",
}

#: `plan` follows the written specification, `official` the public software, quirks included.
PROFILES = ("plan", "official")

__all__ = ["BUILTIN", "PROFILES", "load", "rules", "task_modules", "usable"]


def task_modules() -> Mapping[str, str]:
    """The tasks by name, ours and those that other packages add."""
    return {**extensions(TASKS), **BUILTIN}


def usable() -> list[str]:
    """The names of the tasks that can be loaded: of other packages, some may be broken."""
    broken = broken_extensions(TASKS)
    return [name for name in task_modules() if name in BUILTIN or name not in broken]


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
    task: Task = resolve(BUILTIN[name]) if name in BUILTIN else load_extension(TASKS, name)
    return task

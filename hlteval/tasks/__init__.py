"""Tasks: a file of declarations each, and a module a family with the functions that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlteval.extensions import RULES, TASKS, broken_extensions, extensions, load_extension

if TYPE_CHECKING:
    from hlteval.tasks.task import Task
    from hlteval.validators import Rule

#: The tasks of units that anybody can declare in a file: their formats say nothing of a task.
GENERIC = (
    *("mentions", "relations", "events", "coreference", "links", "labels"),
    *("segments", "transcripts"),
)
#: The names of the tasks that come with the package, each declared by a file of its name.
BUILTIN = (
    *("seedev-binary", "seedev-full"),
    *("speech-sf", "lorehlt-edl", "lorehlt-sf", "ltf", "laf", "lorehlt-mt"),
    "hub4",
    *("ccu-nd", "ccu-ed", "ccu-vd", "ccu-ad", "ccu-cd", "ccu-ndmap", "ccu-reference", "ccu-ta2"),
    *("bb19-norm", "bb19-norm-ner", "bb19-rel", "bb19-rel-ner", "bb19-kb", "bb19-kb-ner"),
    *("bb16-cat", "bb16-event"),
    *GENERIC,
)


#: The end of the names of files that declare a task.
SUFFIX = ".task.toml"


def task_names() -> tuple[str, ...]:
    """The names of the tasks, those that other packages add and ours."""
    return tuple(dict.fromkeys((*extensions(TASKS), *BUILTIN)))


def usable() -> list[str]:
    """The names of the tasks that can be loaded: of other packages, some may be broken."""
    broken = broken_extensions(TASKS)
    return [name for name in task_names() if name in BUILTIN or name not in broken]


def is_file(name: str) -> bool:
    """Whether a name is the path of a file that declares a task, or such a declaration as JSON.

    Examples:
        >>> is_file("tasks/people.task.toml"), is_file("hub4")
        (True, False)
    """
    return name.endswith(SUFFIX) or name.startswith('{"')


def is_known(name: str) -> bool:
    """Whether a task can be loaded by a name: that of a task, or a path of a declaration."""
    return name in BUILTIN or is_file(name) or name in task_names()


def rules(task: Task) -> tuple[Rule, ...]:
    """The rules of a task, those of all tasks, and those that other packages add to it."""
    from hlteval.validators.names import RULES as OF_ALL

    added = [load_extension(RULES, name).get(task.name, ()) for name in extensions(RULES)]
    return (*task.rules(), *OF_ALL, *(rule for listed in added for rule in listed))


def load(name: str) -> Task:
    """A task by its name, or by the path of the file that declares it.

    Raises:
        KeyError: if there is none of that name.
        FileNotFoundError: if there is no such file.
        hlteval.tasks.generic.declaration.WrongTask: if its declaration has errors.

    Examples:
        >>> load("seedev-binary").primary["plan"]
        'f1'
    """
    if name in BUILTIN:
        from hlteval.tasks.declarations import read_task

        return read_task(name)
    if is_file(name):
        from hlteval.tasks.generic.declaration import declared_task

        return declared_task(name)
    task: Task = load_extension(TASKS, name)
    return task

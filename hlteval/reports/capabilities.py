"""Lists of the tasks, formats and metrics, made from their declarations."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from hlteval import converters, tasks
from hlteval.reports.prose import Prose
from hlteval.reports.tables import FIXED, Column, Table
from hlteval.tasks.statistics import HIGH, LOW, NORMAL
from hlteval.tasks.task import Task

FORMAT_COLUMNS = (
    Column("format", "name"),
    Column("reads", "name", HIGH),
    Column("writes", "name", HIGH),
    Column("supports", "prose", LOW),
    Column("description", "prose", FIXED),
)
"""The columns of the list of formats."""

TASK_COLUMNS = (
    Column("task", "name"),
    Column("format", "prose", NORMAL),
    Column("profiles", "prose", HIGH),
    Column("ranked by", "name", NORMAL),
    Column("metrics", "number", LOW),
    Column("description", "prose", FIXED),
)
"""The columns of the list of tasks."""


def formats() -> Table:
    """A table of the formats: whether each is read and written, and the tables it supports."""
    rows = []
    for name, form in converters.summaries().items():
        directions = ("yes" if supported else "-" for supported in (form.reads, form.writes))
        supports = "everything" if form.everything else " ".join(form.tables)
        description = "; ".join([form.title, *(item.text for item in form.settings)])
        rows.append([name, *directions, supports, description])
    return Table(FORMAT_COLUMNS, rows)


def task_table() -> Table:
    """A table of the tasks: formats, profiles, ranking metric and number of metrics."""
    return Table(TASK_COLUMNS, [_task_row(tasks.load(name)) for name in tasks.usable()])


def _task_row(task: Task) -> list[str]:
    return [
        task.name,
        " ".join(dict.fromkeys([task.format, *task.references])),
        " ".join(task.profiles),
        ", ".join(dict.fromkeys(task.primary.values())) or "-",
        str(len(task.metrics) or "-"),
        task.title,
    ]


def task(name: str) -> RenderableType:
    """The title, specification and metrics of a task, one metric per line.

    Raises:
        KeyError: for an unknown task.
    """
    task = tasks.load(name)
    ranking = set(task.primary.values())
    lines = (f"{name}  ranks" if name in ranking else name for name in task.metrics)
    return Group(Prose(task.title), Prose(task.specification), *map(Text, lines))

"""Lists of the tasks, formats and metrics, made from their declarations."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from hlteval import converters, tasks


def formats() -> Table:
    """A table of the formats: whether each is read and written, and the tables it supports."""
    table = Table(box=None, pad_edge=False)
    for head in ("format", "reads", "writes", "supports", "description"):
        table.add_column(head, overflow="fold")
    for name, form in converters.summaries().items():
        directions = ("yes" if supported else "-" for supported in (form.reads, form.writes))
        supports = "everything" if form.everything else " ".join(form.tables)
        table.add_row(name, *directions, supports, "; ".join([form.title, *form.settings]))
    return table


def task_table() -> Table:
    """A table of the tasks: formats, profiles, ranking metric and number of metrics."""
    table = Table(box=None, pad_edge=False)
    for head in ("task", "format", "profiles", "ranked by", "metrics", "description"):
        table.add_column(head, overflow="fold")
    for name in tasks.known():
        task = tasks.load(name)
        table.add_row(
            name,
            " ".join(dict.fromkeys([task.format, *task.references])),
            " ".join(task.profiles),
            ", ".join(dict.fromkeys(task.primary.values())) or "-",
            str(len(task.metrics) or "-"),
            task.title,
        )
    return table


def task(name: str) -> Text:
    """The title, specification and metrics of a task, one metric per line.

    Raises:
        KeyError: for an unknown task.
    """
    task = tasks.load(name)
    ranking = set(task.primary.values())
    text = Text(f"{task.title}\n{task.specification}\n")
    for metric in task.metrics:
        text.append(f"{metric}  ranks\n" if metric in ranking else f"{metric}\n")
    return text

"""Tables of what there is: tasks and formats, made from their declarations."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from hlteval import converters, tasks


def formats() -> Table:
    """The formats: whether each is read and written, and which tables it carries."""
    table = Table(box=None, pad_edge=False)
    for head in ("format", "reads", "writes", "supports", "description"):
        table.add_column(head, overflow="fold")
    for name, form in converters.summaries().items():
        carried = "everything" if form.everything else " ".join(form.tables)
        able = ("yes" if has else "-" for has in (form.reads, form.writes))
        table.add_row(name, *able, carried, "; ".join([form.title, *form.settings]))
    return table


def task_table() -> Table:
    """The tasks: what each is given in, how many metrics it has, and the one that ranks."""
    table = Table(box=None, pad_edge=False)
    for head in ("task", "format", "profiles", "ranked by", "metrics", "description"):
        table.add_column(head, overflow="fold")
    for name in tasks.known():
        task = tasks.load(name)
        ranked = ", ".join(dict.fromkeys(task.primary.values())) or "-"
        table.add_row(
            name,
            " ".join(dict.fromkeys([task.format, *task.references])),
            " ".join(task.profiles),
            ranked,
            str(len(task.metrics) or "-"),
            task.title,
        )
    return table


def task(name: str) -> Text:
    """One task: what it is, and its metrics, a line each.

    Raises:
        KeyError: if there is none of that name.
    """
    declared = tasks.load(name)
    ranks = set(declared.primary.values())
    told = Text(f"{declared.title}\n{declared.specification}\n")
    for metric in declared.metrics:
        told.append(f"{metric}\n" if metric not in ranks else f"{metric}  ranks\n")
    return told

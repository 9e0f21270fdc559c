"""`hlteval tasks`, `formats`, `explain`, `schema`, `config` and `demo`: what there is."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hlteval.cli import commands
from hlteval.cli.process import argument, option
from hlteval.extensions import FORMATS, TASKS, broken_extensions

if TYPE_CHECKING:
    from hlteval.reports.tables import Table

ListForm = Annotated[Literal["text", "json"], option("--format", "Output format.")]
TaskName = Annotated[
    str | None, argument("TASK", "Task whose metrics are listed.", autocompletion=commands.tasks)
]
Code = Annotated[
    str,
    argument("CODE", "Code of a finding, e.g. STD302, or a prefix.", autocompletion=commands.codes),
]
SchemaName = Annotated[
    str | None,
    argument(
        "NAME",
        "Schema to print, e.g. scores; without it, all are listed.",
        autocompletion=commands.schemas,
    ),
]
ConfigPath = Annotated[
    str | None,
    argument(
        "PATH", "Submission, or a file of defaults itself; without it, the working directory."
    ),
]
Folder = Annotated[
    str, argument("FOLDER", "Folder for the example files; existing files are not overwritten.")
]


def tasks(
    name: TaskName = None,
    columns: commands.Columns = None,
    wide: commands.Wide = False,
    form: ListForm = "text",
) -> None:
    """List the tasks, or the metrics of one."""
    from hlteval.cli.output import show
    from hlteval.reports import lists
    from hlteval.tasks import task_modules, usable

    _warn_of_broken(TASKS)
    if name is not None and name not in task_modules():
        raise commands.unknown_task(name, list(task_modules()))
    if name and (columns or wide):
        raise typer.BadParameter("--columns and --wide apply to the list of all tasks")
    if name and form == "text":
        show(lists.task(name))
    else:
        json = partial(lists.tasks_json, [name] if name else usable())
        _show_list(json, lists.task_table, columns, wide, form)


def formats(
    columns: commands.Columns = None, wide: commands.Wide = False, form: ListForm = "text"
) -> None:
    """List the formats and what they support."""
    from hlteval.reports import lists

    _warn_of_broken(FORMATS)
    _show_list(lists.formats_json, lists.formats, columns, wide, form)


def _warn_of_broken(group: str) -> None:
    """Print which plug-ins cannot be loaded, and why."""
    from hlteval.reports.terminal import remarks, warning, write

    for reason in broken_extensions(group).values():
        write(remarks(), warning(reason))


def _show_list(
    json: Callable[[], str], table: Callable[[], Table], columns: str | None, wide: bool, form: str
) -> None:
    """Print a list as JSON, or as a table with the columns of `--columns` and `--wide`.

    Raises:
        BadParameter: for both of these options, or one with JSON.
    """
    from hlteval.cli.output import publish, show
    from hlteval.reports.tables import Tables

    if form == "json":
        if columns or wide:
            name = "--columns" if columns else "--wide"
            raise typer.BadParameter(f"{name} has no effect without --format text")
        publish(lambda _: json(), form)
        return
    if columns and wide:
        raise typer.BadParameter("--wide has no effect with --columns")
    made = table()
    view = commands.table_view(columns, wide, lambda: [column.name for column in made.columns])
    show(Tables(view.of([made]), view.wide))


def explain(code: Code, form: ListForm = "text") -> None:
    """Explain a finding: why it is reported, and how to fix it."""
    from hlteval.cli.output import publish
    from hlteval.reports import lists

    try:
        publish(lambda _: lists.codes_json(code) if form == "json" else lists.explain(code), form)
    except lists.UnknownCodeError as error:
        raise typer.BadParameter(str(error)) from error


def schema(name: SchemaName = None, form: ListForm = "text") -> None:
    """Print the JSON Schema of an output or a file, or list all schemas."""
    from hlteval.cli.output import publish
    from hlteval.reports.schemas.declared import (
        UnknownSchemaError,
        schema_table,
        schema_text,
        schemas_json,
    )

    if name and form == "json":
        raise typer.BadParameter("--format applies to the list of all schemas: a schema is JSON")
    try:
        if name:
            publish(lambda _: schema_text(name), form)
        else:
            publish(lambda _: schemas_json() if form == "json" else schema_table(), form)
    except UnknownSchemaError as error:
        raise typer.BadParameter(str(error)) from error


def config(path: ConfigPath = None, form: ListForm = "text") -> None:
    """Show which hlteval.toml applies to a folder, its settings and its problems."""
    from hlteval.cli.output import publish, show_findings
    from hlteval.reports.packages import FORMATS
    from hlteval.workflows.config import config_of

    with commands.usage():
        found = config_of(path or "")
    publish(lambda name: FORMATS[name](found), form)
    show_findings(found.findings if found else ())
    wrong = found and any(finding.severity == "error" for finding in found.findings)
    raise typer.Exit(1 if wrong else 0)


def demo(folder: Folder = "hlteval-demo") -> None:
    """Validate, score and convert a small example, showing each command."""
    from rich.text import Text

    from hlteval.cli.app import app
    from hlteval.reports.terminal import results
    from hlteval.workflows.config import commands as steps
    from hlteval.workflows.config import unpack

    with commands.usage():
        unpack(Path(folder))
    for command in steps(folder):  # as a user would type it
        results().print(Text(f"\n$ {shlex.join(command)}", style="bold green"), soft_wrap=True)
        results().print()
        app(command[1:], standalone_mode=False)

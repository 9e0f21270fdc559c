"""`hlteval tasks`, `formats`, `explain`: lists of tasks and formats, and the codes of findings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from hlteval.cli import commands as completion
from hlteval.cli.commands import Columns, Wide, table_view, unknown_task, usage
from hlteval.extensions import FORMATS, TASKS, broken_extensions

if TYPE_CHECKING:
    from hlteval.reports.tables import Table, Tables

ListForm = Annotated[Literal["text", "json"], typer.Option("--format", help="Output format.")]


def tasks(
    name: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(
            metavar="TASK", autocompletion=completion.tasks, help="Task whose metrics are listed."
        ),
    ] = None,
    columns: Columns = None,
    wide: Wide = False,
    form: ListForm = "text",
) -> None:
    """List the tasks, or the metrics of one."""
    from hlteval.cli.output import publish, show
    from hlteval.reports import lists as capabilities
    from hlteval.tasks import known, usable

    _warn_of_broken(TASKS)
    if name is not None and name not in known():
        raise unknown_task(name, list(known()))
    if name and (columns or wide):
        raise typer.BadParameter("--columns and --wide apply to the list of all tasks")
    if form == "json":
        from hlteval.reports.lists import tasks_json

        check_view(columns, wide)
        publish(lambda _: tasks_json([name] if name else usable()), form)
        return
    table = capabilities.task_table()
    show(capabilities.task(name) if name else selected(table, columns, wide))


def _warn_of_broken(group: str) -> None:
    """Print which plug-ins cannot be loaded, and why."""
    from hlteval.reports.terminal import remarks, warning, write

    for reason in broken_extensions(group).values():
        write(remarks(), warning(reason))


def formats(columns: Columns = None, wide: Wide = False, form: ListForm = "text") -> None:
    """List the formats and what they support."""
    from hlteval.cli.output import publish, show
    from hlteval.reports.lists import formats as table

    _warn_of_broken(FORMATS)
    if form == "json":
        from hlteval.reports.lists import formats_json

        check_view(columns, wide)
        publish(lambda _: formats_json(), form)
        return
    show(selected(table(), columns, wide))


def check_view(columns: str | None, wide: bool) -> None:
    """Check that there is no option of tables, of which JSON has none.

    Raises:
        BadParameter: if there is one.
    """
    if columns or wide:
        name = "--columns" if columns else "--wide"
        raise typer.BadParameter(f"{name} has no effect without --format text")


def selected(table: Table, columns: str | None, wide: bool) -> Tables:
    """A table with the columns that `--columns` and `--wide` ask for."""
    from hlteval.reports.tables import Tables

    if columns and wide:
        raise typer.BadParameter("--wide has no effect with --columns")
    view = table_view(columns, wide, lambda: [column.name for column in table.columns])
    return Tables(view.of([table]), view.wide)


def explain(
    code: Annotated[
        str,
        typer.Argument(
            metavar="CODE",
            autocompletion=completion.codes,
            help="Code of a finding, e.g. STD302, or a prefix.",
        ),
    ],
    form: ListForm = "text",
) -> None:
    """Explain a finding: why it is reported, and how to fix it."""
    from hlteval.cli.output import publish
    from hlteval.reports.lists import UnknownCodeError
    from hlteval.reports.lists import explain as run

    try:
        if form == "json":
            from hlteval.reports.lists import codes_json

            publish(lambda _: codes_json(code), form)
        else:
            publish(lambda _: run(code), form)
    except UnknownCodeError as error:
        raise typer.BadParameter(str(error)) from error


def schema(
    name: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(
            metavar="NAME",
            autocompletion=completion.schemas,
            help="Schema to print, e.g. scores; without it, all are listed.",
        ),
    ] = None,
    form: ListForm = "text",
) -> None:
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


def config(
    path: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(
            metavar="PATH",
            help="Submission, or a file of defaults itself; without it, the working directory.",
        ),
    ] = None,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="Output format.")] = (
        "text"
    ),
) -> None:
    """Show which hlteval.toml applies to a folder, its settings and its problems."""
    from hlteval.cli.output import publish, show_findings
    from hlteval.reports.packages import FORMATS
    from hlteval.workflows.config import config_of

    with usage():
        found = config_of(path or "")
    publish(lambda name: FORMATS[name](found), form)
    show_findings(found.findings if found else ())
    wrong = found and any(finding.severity == "error" for finding in found.findings)
    raise typer.Exit(1 if wrong else 0)


def demo(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER",
            help="Folder for the example files; existing files are not overwritten.",
        ),
    ] = "hlteval-demo",
) -> None:
    """Validate, score and convert a small example, showing each command."""
    from hlteval.cli.app import app
    from hlteval.cli.commands import usage
    from hlteval.cli.output import show_command
    from hlteval.workflows.config import commands, unpack

    with usage():
        unpack(Path(folder))
    for command in commands(folder):
        show_command(command)
        app(command[1:], standalone_mode=False)

"""`hlteval tasks`, `formats`, `explain`, `schema`, `config` and `demo`: what there is."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from typer import BadParameter, Exit, echo

from hlteval.cli.commands import Form, check_task
from hlteval.cli.defaults import path_of_task
from hlteval.cli.output import Outputs
from hlteval.cli.process import usage
from hlteval.extensions import FORMATS, TASKS, broken_extensions

if TYPE_CHECKING:
    from hlteval.reports.tables import Table


def new_task(
    data: str, unit: str | None = None, from_format: str | None = None, output: str | None = None
) -> None:
    """Write the declaration of a task from data: its labels, argument types and settings."""
    from hlteval.reports.terminal import Prose, remarks, write
    from hlteval.sources.writing import check_name
    from hlteval.tasks import SUFFIX
    from hlteval.tasks.generic.draft import draft

    if output is not None and not output.endswith(SUFFIX):
        raise BadParameter(f"the name of a declaration ends in {SUFFIX}")
    with usage():
        if output is not None:
            check_name(Path(output))
            if Path(output).exists():
                raise FileExistsError(f"{output} exists; choose another name, or remove it")
        folder = str(Path(output).parent) if output else "."
        made = draft(data, unit or "", from_format or "", folder)
        if output is None:
            echo(made.text, nl=False)
            return
        Path(output).write_text(made.text, "utf-8", newline="\n")
    write(remarks(), Prose(f"{output} is written; hlteval tasks --check {output} checks it"))


def tasks(
    name: str | None = None,
    check: str | None = None,
    columns: str | None = None,
    wide: bool = False,
    form: Form = "text",
) -> None:
    """List the tasks; explain the metrics and options of one; or check a file that declares one."""
    from hlteval.reports import lists
    from hlteval.reports.terminal import results, write
    from hlteval.tasks import usable

    if check is not None:
        if name or columns or wide:
            raise BadParameter("--check takes a file, and neither a task nor columns")
        _check(check, form)
    _warn_of_broken(TASKS)
    if name is not None:
        name = path_of_task(name, ["-"])
        check_task(name)
    if name and (columns or wide):
        raise BadParameter("--columns and --wide apply to the list of all tasks")
    if name and form == "text":
        write(results(), lists.task(name))
    else:
        json = partial(lists.tasks_json, [name] if name else usable())
        _show_list(json, lists.task_table, columns, wide, form)


def _check(path: str, form: Form) -> None:
    """Check a file that declares a task, and print the verdict.

    Raises:
        Exit: with status 1 for errors, 0 without.
    """
    from hlteval.cli.output import show_verdict
    from hlteval.findings import Findings
    from hlteval.results.verdict import Verdict
    from hlteval.tasks.generic.declaration import read_declaration

    with usage():
        findings = read_declaration(path).findings
    passed = not any(finding.severity == "error" for finding in findings)
    show_verdict(Verdict("", "", passed, Findings(findings)), form)
    raise Exit(0 if passed else 1)


def formats(
    path: str | None = None, columns: str | None = None, wide: bool = False, form: Form = "text"
) -> None:
    """List the formats and what they support; or say what format a file has, and why."""
    _warn_of_broken(FORMATS)
    if path is None:
        from hlteval.reports import lists

        _show_list(lists.formats_json, lists.formats, columns, wide, form)
        return
    from hlteval.cli.output import publish
    from hlteval.reports.packages import DETECTIONS
    from hlteval.workflows.convert.inputs import detection

    if columns or wide:
        raise BadParameter("--columns and --wide apply to the list of all formats")
    with usage():
        found = detection(path)
    publish(lambda name: DETECTIONS[name](found), form)
    raise Exit(0 if found.format else 1)


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
    from hlteval.cli.output import publish
    from hlteval.reports.tables import Tables
    from hlteval.reports.terminal import results, write

    if form == "json":
        if columns or wide:
            name = "--columns" if columns else "--wide"
            raise BadParameter(f"{name} has no effect without --format text")
        publish(lambda _: json(), form)
        return
    if columns and wide:
        raise BadParameter("--wide has no effect with --columns")
    made = table()
    view = Outputs(form, columns, wide).view(lambda: [column.name for column in made.columns])
    write(results(), Tables(view.of([made]), view.wide))


def explain(code: str, form: Form = "text") -> None:
    """Explain a finding: why it is reported, and how to fix it."""
    from hlteval.cli.output import publish
    from hlteval.reports import lists

    try:
        publish(lambda _: lists.codes_json(code) if form == "json" else lists.explain(code), form)
    except lists.UnknownCodeError as error:
        raise BadParameter(str(error)) from error


def schema(name: str | None = None, form: Form = "text") -> None:
    """Print the JSON Schema of an output or a file, or list all schemas."""
    from hlteval.cli.output import publish
    from hlteval.reports import lists

    if name and form == "json":
        raise BadParameter("--format applies to the list of all schemas: a schema is JSON")
    try:
        listed = lists.schemas_json if form == "json" else lists.schema_table
        publish(lambda _: lists.schema_text(name) if name else listed(), form)
    except lists.UnknownSchemaError as error:
        raise BadParameter(str(error)) from error


def config(path: str | None = None, form: Form = "text") -> None:
    """Show which hlteval.toml applies to a folder, its settings and its problems."""
    from hlteval.cli.output import publish, show_findings
    from hlteval.reports.packages import FORMATS
    from hlteval.workflows.config import config_of

    with usage():
        found = config_of(path or "")
    publish(lambda name: FORMATS[name](found), form)
    show_findings(found.findings if found else ())
    wrong = found and any(finding.severity == "error" for finding in found.findings)
    raise Exit(1 if wrong else 0)


def demo(folder: str = "hlteval-demo") -> None:
    """Validate, score and convert a small example, showing each command."""
    from rich.text import Text

    from hlteval.cli.app import app
    from hlteval.reports.terminal import results
    from hlteval.workflows.config import commands as steps
    from hlteval.workflows.config import unpack

    with usage():
        unpack(Path(folder))
    for command in steps(folder):  # as a user would type it
        results().print(Text(f"\n$ {shlex.join(command)}", style="bold green"), soft_wrap=True)
        results().print()
        app(command[1:], standalone_mode=False)

"""`hlteval tasks`, `formats`, `explain`: lists of tasks and formats, and the codes of findings."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from hlteval.cli.commands import unknown_task


def tasks(
    name: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(metavar="TASK", help="Task whose metrics are listed."),
    ] = None,
) -> None:
    """List the tasks, or the metrics of one."""
    from hlteval.cli.output import show
    from hlteval.reports import capabilities
    from hlteval.tasks import known

    if name is not None and name not in known():
        raise unknown_task(name, list(known()))
    show(capabilities.task(name) if name else capabilities.task_table())


def formats() -> None:
    """List the formats and what they support."""
    from hlteval.cli.output import show
    from hlteval.reports.capabilities import formats as table

    show(table())


def explain(
    code: Annotated[
        str,
        typer.Argument(metavar="CODE", help="Code of a finding, e.g. STD302, or a prefix."),
    ],
) -> None:
    """Explain a finding: why it is reported, and how to fix it."""
    from hlteval.cli.output import show
    from hlteval.reports.explain import UnknownCodeError
    from hlteval.reports.explain import explain as run

    try:
        show(run(code))
    except UnknownCodeError as error:
        raise typer.BadParameter(str(error)) from error

"""`hlteval tasks`, `formats`, `explain`: what there is, and what a code means."""

from __future__ import annotations

from typing import Annotated, Optional

import typer


def tasks(
    name: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(metavar="TASK", help="Lists the metrics of this task."),
    ] = None,
) -> None:
    """List the tasks, or the metrics of one."""
    from hlteval.cli.output import show
    from hlteval.reports import capabilities
    from hlteval.tasks import known

    if name is not None and name not in known():
        raise typer.BadParameter(f"unknown task {name}; the tasks are {', '.join(known())}")
    show(capabilities.task(name) if name else capabilities.task_table())


def formats() -> None:
    """List the formats and what they carry."""
    from hlteval.cli.output import show
    from hlteval.reports.capabilities import formats as table

    show(table())


def explain(
    code: Annotated[
        str,
        typer.Argument(
            metavar="CODE", help="The code of a finding, such as STD302; or its letters."
        ),
    ],
) -> None:
    """Explain a finding: why it is one, and how to fix it."""
    from hlteval.cli.output import show
    from hlteval.reports.explain import UnknownCodeError
    from hlteval.reports.explain import explain as run

    try:
        show(run(code))
    except UnknownCodeError as error:
        raise typer.BadParameter(str(error)) from error

"""`hlteval tasks`, `formats`, `explain`: what there is, and what a code means."""

from __future__ import annotations

from typing import Annotated

import typer


def tasks() -> None:
    """List the tasks with their metrics."""
    from hlteval.cli.output import show
    from hlteval.reports.capabilities import task_table as table

    show(table())


def formats() -> None:
    """List the formats and what they carry."""
    from hlteval.cli.output import show
    from hlteval.reports.capabilities import formats as table

    show(table())


def explain(
    code: Annotated[
        str, typer.Argument(metavar="CODE", help="The code of a finding, such as STD302.")
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

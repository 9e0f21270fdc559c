"""`hlteval inspect`: what an archive is, without unpacking it."""

from __future__ import annotations

from typing import Annotated, Literal, Optional

import typer

from hlteval.cli.commands import usage

InspectionForm = Annotated[Literal["text", "json"], typer.Option("--format", help="Output format.")]


def inspect(
    archive: Annotated[
        str,
        typer.Argument(metavar="ARCHIVE", help="Archive, folder or file; - for standard input."),
    ],
    max_members: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            min=0,
            metavar="N",
            help="Maximum number of members to show as text (default 20); 0 for all.",
        ),
    ] = None,
    form: InspectionForm = "text",
) -> None:
    """Show the kind, task, name, members and problems of an archive."""
    from hlteval.reports.packages import MAX_MEMBERS, inspection_json, inspection_text
    from hlteval.reports.terminal import results, write
    from hlteval.workflows.inspection import inspect as run

    if max_members is not None and form == "json":
        raise typer.BadParameter("--max-members has no effect without --format text")
    with usage():
        found = run(archive)
    limit = MAX_MEMBERS if max_members is None else max_members
    write(results(), inspection_json(found) if form == "json" else inspection_text(found, limit))
    raise typer.Exit(0 if found.passed else 1)

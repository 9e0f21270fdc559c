"""`hlteval config`: which file of defaults applies to a submission, and what it says."""

from __future__ import annotations

from typing import Annotated, Literal, Optional

import typer

from hlteval.cli.commands import usage


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
    from hlteval.reports.config import FORMATS
    from hlteval.workflows.config import config_of

    with usage():
        found = config_of(path or "")
    publish(lambda name: FORMATS[name](found), form)
    show_findings(found.findings if found else ())
    wrong = found and any(finding.severity == "error" for finding in found.findings)
    raise typer.Exit(1 if wrong else 0)

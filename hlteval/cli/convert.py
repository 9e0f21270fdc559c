"""`hlteval convert`: convert between formats."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from hlteval.cli.commands import usage


def _settings(assignments: list[str]) -> dict[str, str]:
    """The values of the settings by name, from `NAME=VALUE`."""
    for assignment in assignments:
        if "=" not in assignment:
            raise typer.BadParameter(f"invalid --set {assignment}: use NAME=VALUE")
    return dict(assignment.split("=", 1) for assignment in assignments)


def convert(
    source: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="Folder, file, .zip or .tgz; - for standard input."),
    ],
    target: Annotated[
        str, typer.Argument(metavar="OUTPUT", help="Output path; - for standard output.")
    ],
    from_format: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="Input format (default: auto-detect).",
        ),
    ] = None,
    to_format: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="Output format (default: from the suffix of the output).",
        ),
    ] = None,
    strict_loss: Annotated[
        bool,
        typer.Option(
            "--strict-loss", help="Write nothing if the output format cannot represent everything."
        ),
    ] = False,
    settings: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Format setting, e.g. escapes=ascii; `hlteval formats` lists them. Repeatable.",
        ),
    ] = None,
) -> None:
    """Convert between formats, and report what the output format cannot represent."""
    from hlteval.cli.output import show_findings
    from hlteval.workflows.conversion import Lossy
    from hlteval.workflows.conversion import convert as run

    try:
        with usage():
            findings = run(
                source,
                target,
                from_format=from_format,
                to_format=to_format,
                strict_loss=strict_loss,
                settings=_settings(settings or []),
            )
    except Lossy as lossy:
        show_findings(lossy.findings)
        raise typer.Exit(1) from lossy
    show_findings(findings)
    raise typer.Exit(1 if any(finding.severity == "error" for finding in findings) else 0)

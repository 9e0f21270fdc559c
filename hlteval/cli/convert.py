"""`hlteval convert`: any format to any that can carry it."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from hlteval.cli.commands import usage


def _settings(given: list[str]) -> dict[str, str]:
    """Settings by name."""
    for one in given:
        if "=" not in one:
            raise typer.BadParameter(f"--set takes NAME=VALUE, not {one}")
    return dict(one.split("=", 1) for one in given)


def convert(
    source: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="A folder, file, .zip or .tgz; - is standard input."),
    ],
    target: Annotated[
        str, typer.Argument(metavar="OUTPUT", help="Where to; - is standard output.")
    ],
    from_format: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="Format of the input; told from its files if not given.",
        ),
    ] = None,
    to_format: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="Format of the output; told from its suffix if not given.",
        ),
    ] = None,
    strict_loss: Annotated[
        bool, typer.Option("--strict-loss", help="Write nothing if anything would be lost.")
    ] = False,
    settings: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of either format, such as escapes=ascii; `hlteval formats` lists them.",
        ),
    ] = None,
) -> None:
    """Convert any format to any that can carry it, and list what it cannot carry."""
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

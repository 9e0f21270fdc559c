"""`hlteval demo`: the main commands, run on the example files of the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


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
    from hlteval.workflows.demo import commands, unpack

    with usage():
        unpack(Path(folder))
    for command in commands(folder):
        show_command(command)
        app(command[1:], standalone_mode=False)

"""`hlteval lsp`: findings in an editor, through the Language Server Protocol."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Optional

import typer

from hlteval.cli import completion
from hlteval.cli.commands import unknown_task


def lsp(
    task: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(
            metavar="TASK",
            autocompletion=completion.tasks,
            help="Task of all files (default: from hlteval.toml, the editor, or the only task with "
            "files of the format).",
        ),
    ] = None,
) -> None:
    """Show findings in an editor: a language server over standard input and output."""
    from hlteval.tasks import known

    if task is not None and task not in known():
        raise unknown_task(task, list(known()))
    try:
        from hlteval.lsp.server import serve
    except ImportError as error:
        raise typer.BadParameter("lsp needs pygls: pip install 'hlteval[lsp]'") from error
    silence()
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # nothing that is printed gets among the answers
        serve({"task": task} if task else {}, sys.stdin.buffer, answers)


def silence() -> None:
    """Let the libraries of the server log nothing: their messages quote data."""
    import logging

    logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)

"""`hlteval serve` and `hlteval lsp`: a page on this machine, and findings in an editor."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hlteval.cli.commands import check_task
from hlteval.cli.defaults import config_of_call, path_of_task, show_note
from hlteval.cli.output import show_findings
from hlteval.cli.process import usage

if TYPE_CHECKING:
    from hlteval.results.config import Config
    from hlteval.serve.settings import ServeSettings


def serve(
    task: str | None = None,
    reference: str | None = None,
    profile: str | None = None,
    encoding: str | None = None,
    option: list[str] | None = None,
    port: int = 0,
    browser: bool = False,
    max_time: int = 600,
    max_memory: int = 4000,
    jobs: int = 2,
    defaults_file: str | None = None,
) -> None:
    """Serve a page on this machine that validates, scores and compares uploaded submissions."""
    from hlteval.cli.evaluation_output import options_of
    from hlteval.serve.server import serve as run
    from hlteval.serve.settings import ServeLimits
    from hlteval.workflows.evaluation.pipeline_state import check_memory

    task = path_of_task(task or "", ["-"], defaults_file)
    given = {"task": task, "reference": reference, "profile": profile, "encoding": encoding}

    def ready(url: str, file: Path) -> None:
        typer.echo(url)
        sys.stdout.flush()
        show_note("open this address in a browser on this machine; Ctrl-C stops the server")
        if not browser and sys.stdout.isatty():
            import webbrowser

            webbrowser.open(file.as_uri())

    limits = ServeLimits(jobs, max_time, max_memory)
    with usage():
        check_memory(max_memory)
        config = config_of_call(defaults_file, ["-"], task, quiet=True)
        settings = _settings(given, options_of(option), config)
        run(settings, port=port, limits=limits, ready=ready, notify=show_note)


def _settings(
    given: Mapping[str, str | None], options: Mapping[str, str], config: Config | None
) -> ServeSettings:
    """The settings of the command line, then of the file of defaults; the reference is validated.

    Raises:
        BadParameter: for an unknown task.
        Exit: with status 1, if the reference has errors.
    """
    from hlteval.serve.settings import ServeSettings, check

    values = dict(config.values) if config else {}
    chosen = {name: value or values.get(name, "") for name, value in given.items()}
    if not chosen["task"]:  # what a file says of a reference and of options is for a task
        chosen["reference"] = given["reference"] or ""
        values.pop("options", None)
    else:
        check_task(chosen["task"])
    options = {**values.get("options", {}), **options}
    settings, verdict = check(ServeSettings(**chosen, options=options))
    if verdict is not None:
        show_findings(verdict.findings)
        if not verdict.passed:
            raise typer.Exit(1)
    return settings


def lsp(task: str | None = None) -> None:
    """Show findings in an editor: a language server over standard input and output."""
    import asyncio
    import logging

    if task is not None:
        task = path_of_task(task, ["-"])
        check_task(task)
    try:
        from hlteval.lsp.editor import serve
    except ImportError as error:
        raise typer.BadParameter("lsp needs pygls: pip install 'hlteval[lsp]'") from error
    for name in ("pygls", "asyncio"):  # their messages quote data
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # nothing that is printed gets among the answers
        asyncio.run(serve({"task": task} if task else {}, sys.stdin.buffer, answers))

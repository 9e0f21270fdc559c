"""`hlteval serve` and `hlteval lsp`: a page on this machine, and findings in an editor."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from hlteval.cli import commands
from hlteval.cli.commands import known_encoding, unknown_task, usage
from hlteval.cli.defaults import NONE, ConfigFile

if TYPE_CHECKING:
    from hlteval.results.config import Config
    from hlteval.serve.settings import ServeSettings

_Task = Annotated[
    Optional[str],  # noqa: UP045
    typer.Argument(
        metavar="TASK",
        autocompletion=commands.tasks,
        show_default=False,
        help="The only task of the page (default: all tasks).",
    ),
]
_Reference = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "-r",
        "--reference",
        metavar="PATH",
        help="Reference of the task (default: users upload it).",
    ),
]
_Profile = Annotated[
    Optional[Literal["plan", "official"]],  # noqa: UP045
    typer.Option(help="Profile of the page (default: users choose)."),
]
_Encoding = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        metavar="NAME",
        callback=known_encoding,
        help="Encoding of the files (default: users choose).",
    ),
]
_Options = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        autocompletion=commands.options,
        help="Option of the task for all users, e.g. mode=both. Repeatable.",
    ),
]
_Port = Annotated[
    int,
    typer.Option(
        min=0, max=65535, metavar="N", show_default=False, help="Port (default: any free port)."
    ),
]
_Seconds = Annotated[
    int, typer.Option("--max-time", min=1, metavar="SECONDS", help="Time for a job.")
]
_Memory = Annotated[int, typer.Option("--max-memory", metavar="MB", help="Memory for a job.")]
_Jobs = Annotated[
    int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Number of jobs at a time.")
]


def serve(
    task: _Task = None,
    reference: _Reference = None,
    profile: _Profile = None,
    encoding: _Encoding = None,
    option: _Options = None,
    port: _Port = 0,
    browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    max_time: _Seconds = 600,
    max_memory: _Memory = 4000,
    jobs: _Jobs = 2,
    defaults_file: ConfigFile = None,
) -> None:
    """Serve a page on this machine that validates, scores and compares uploaded submissions."""
    from hlteval.cli.evaluation_output import options_of
    from hlteval.serve.server import ServeLimits
    from hlteval.serve.server import serve as run
    from hlteval.workflows.evaluation.pipeline_state import check_memory

    given = {"task": task, "reference": reference, "profile": profile, "encoding": encoding}

    def ready(url: str, file: Path) -> None:
        typer.echo(url)
        sys.stdout.flush()
        _remark("open this address in a browser on this machine; Ctrl-C stops the server")
        if not browser and sys.stdout.isatty():
            import webbrowser

            webbrowser.open(file.as_uri())

    limits = ServeLimits(jobs, max_time, max_memory)
    with usage():
        check_memory(max_memory)
        settings = _settings(given, options_of(option), _config(defaults_file, task))
        run(settings, port=port, limits=limits, ready=ready, notify=_remark)


def _config(path: str | None, task: str | None) -> Config | None:
    """The file of defaults of the working directory, or the one that is named.

    Raises:
        Exit: with status 2, if it has errors.
    """
    from hlteval.cli.output import show_findings
    from hlteval.workflows.config import find, read_config, relative_path, start_of

    if path is None:
        default = find(start_of("-"))
        path = NONE if default is None else relative_path(default)
    if path == NONE:
        return None
    config = read_config(path, task or "")
    if any(finding.severity == "error" for finding in config.findings):
        show_findings(config.findings)
        raise typer.Exit(2)
    return config if config.task in {"", task or config.task} else None


def _settings(
    given: Mapping[str, str | None], options: Mapping[str, str], config: Config | None
) -> ServeSettings:
    """The settings of the command line, then of the file of defaults; the reference is validated.

    Raises:
        BadParameter: for an unknown task.
        Exit: with status 1, if the reference has errors.
    """
    from hlteval.cli.evaluation_output import check_task
    from hlteval.cli.output import show_findings
    from hlteval.serve.settings import ServeSettings, check

    values = dict(config.values) if config else {}
    chosen = {name: value or values.get(name, "") for name, value in given.items()}
    if not chosen["task"]:  # what a file says of a reference and of options is for a task
        chosen["reference"] = given["reference"] or ""
        values.pop("options", None)
    check_task(chosen["task"])
    options = {**values.get("options", {}), **options}
    settings, verdict = check(ServeSettings(**chosen, options=options))
    if verdict is not None:
        show_findings(verdict.findings)
        if not verdict.passed:
            raise typer.Exit(1)
    return settings


def _remark(text: str) -> None:
    from hlteval.reports.terminal import note, remarks, write

    write(remarks(), note(text))


def lsp(
    task: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(
            metavar="TASK",
            autocompletion=commands.tasks,
            help="Task of all files (default: from hlteval.toml, the editor, or the only task with "
            "files of the format).",
        ),
    ] = None,
) -> None:
    """Show findings in an editor: a language server over standard input and output."""
    import logging

    from hlteval.tasks import task_modules

    if task is not None and task not in task_modules():
        raise unknown_task(task, list(task_modules()))
    try:
        from hlteval.lsp.editor import serve
    except ImportError as error:
        raise typer.BadParameter("lsp needs pygls: pip install 'hlteval[lsp]'") from error
    for name in ("pygls", "asyncio"):  # their messages quote data
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # nothing that is printed gets among the answers
        serve({"task": task} if task else {}, sys.stdin.buffer, answers)

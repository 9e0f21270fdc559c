"""`hlteval pipeline`: all submissions of an evaluation, validated and scored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import typer

from hlteval.cli import completion
from hlteval.cli.commands import Profile, usage
from hlteval.cli.defaults import ConfigFile

_Root = Annotated[
    Path,
    typer.Argument(
        metavar="ROOT",
        help="Folder of the evaluation, with the archives in ROOT/submissions; logs and results "
        "are written to ROOT/logs and ROOT/results.",
    ),
]
_Reference = Annotated[
    str,
    typer.Option(
        "-r",
        "--reference",
        metavar="PATH",
        show_default=False,
        help="Reference of the tasks that have none in the manifest.",
    ),
]
_Against = Annotated[
    str,
    typer.Option(
        metavar="PATH",
        show_default=False,
        help="Documents to check submissions against (default: the reference).",
    ),
]
_Task = Annotated[
    str,
    typer.Option(
        metavar="TASK",
        autocompletion=completion.tasks,
        show_default=False,
        help="Task of all submissions (default: from their names, or from the manifest).",
    ),
]
_Manifest = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(metavar="FILE", help="Manifest of the evaluation (TOML)."),
]
_Options = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        autocompletion=completion.options,
        help="Option of the tasks that have it, e.g. mode=both. Repeatable.",
    ),
]
_Limit = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        "--limit",
        min=0,
        metavar="N",
        help="Maximum number of valid submissions to score per team and task (default: from the "
        "manifest or the task); 0 for all.",
    ),
]
_Seconds = Annotated[
    int, typer.Option("--max-time", min=1, metavar="SECONDS", help="Time for a submission.")
]
_Memory = Annotated[
    int,
    typer.Option("--max-memory", min=0, metavar="MB", help="Memory for a submission; 0 for all."),
]
_Jobs = Annotated[
    int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Number of submissions at a time.")
]


def pipeline(
    context: typer.Context,
    root: _Root,
    reference: _Reference = "",
    against: _Against = "",
    task: _Task = "",
    manifest: _Manifest = None,
    profile: Profile = "plan",
    option: _Options = None,
    limit: _Limit = None,
    retry: Annotated[
        bool,
        typer.Option(
            "--retry", help="Retry submissions that crashed, or took too much time or memory."
        ),
    ] = False,
    max_time: _Seconds = 3600,
    max_memory: _Memory = 8000,
    jobs: _Jobs = 1,
    watch: Annotated[
        bool, typer.Option("--watch", help="Continue whenever submissions or references change.")
    ] = False,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="Output format.")] = (
        "text"
    ),
    defaults_file: ConfigFile = None,
) -> None:
    """Validate and score all submissions of an evaluation."""
    from hlteval.cli.pipeline_output import check_task, options_of, run, run_watching, with_file
    from hlteval.workflows.least_memory import check_memory
    from hlteval.workflows.pipeline_workers import WorkLimits

    given: dict[str, Any] = {"root": root, "reference": reference, "against": against}
    given |= {"task": check_task(task), "profile": profile, "options": options_of(option)}
    given |= {"manifest": manifest, "most": limit, "retry": retry}
    limits = WorkLimits(max_time, max_memory)
    with usage():
        check_memory(max_memory, unlimited=True)
        given = with_file(context, given, defaults_file)
        clean = (run_watching if watch else run)(given, jobs, limits, form)
    raise typer.Exit(0 if clean else 1)

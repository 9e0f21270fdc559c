"""`hlteval validate`: every problem of a submission in a single run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Optional, get_args

import typer

from hlteval.cli import commands as completion
from hlteval.cli.commands import (
    Condition,
    Encoding,
    Jobs,
    OutputFiles,
    Profile,
    forms,
    per_task,
    usage,
)
from hlteval.cli.defaults import ConfigFile, show_defaults
from hlteval.cli.output import ReportFile
from hlteval.results.verdict import Defaults
from hlteval.tasks import load
from hlteval.tasks.task import Option

FindingsForm = Literal["text", "concise", "json", "jsonl", "sarif", "github", "junit"]
"""The output formats of a verdict."""


FixTo = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--fix",
        metavar="OUT",
        help="Write a copy with mechanical fixes, and validate that; OUT must not exist.",
    ),
]
UnsafeFixes = Annotated[
    bool, typer.Option("--unsafe-fixes", help="Also make fixes that change values.")
]
Diff = Annotated[
    bool, typer.Option("--diff", help="Show what --fix would change, and write nothing.")
]
Paths = Annotated[
    list[str],
    typer.Argument(metavar="SUBMISSION", help="Folder, file, .zip or .tgz; - for standard input."),
]
Against = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        metavar="PATH",
        help="Documents of the task: reference or test data, in the same forms.",
    ),
]
MaxFindings = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        min=0,
        metavar="N",
        help="Maximum number of findings per file in text (default 20), and five times as many in "
        "all; 0 for all.",
    ),
]
MaxPerCode = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        min=0,
        metavar="N",
        help="Maximum number of findings per code and file to explain (default 1000); others are "
        "only counted; 0 for all.",
    ),
]
FailOn = Annotated[
    Literal["error", "warning", "info"],
    typer.Option(help="Lowest severity that makes validation fail."),
]
Select = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        autocompletion=completion.codes,
        metavar="CODES",
        help="Report only codes with these prefixes, e.g. SEE,EDL5.",
    ),
]
Ignore = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        autocompletion=completion.codes,
        metavar="CODES",
        help="Do not report codes with these prefixes.",
    ),
]
Severities = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        autocompletion=completion.levels,
        metavar="CODE=LEVEL",
        help="Override the severity of codes: error, warning or info.",
    ),
]
CheckedAs = Annotated[
    Literal["submission", "reference"],
    typer.Option("--as", help="Check a submission, or a reference by itself."),
]
ByFolder = Annotated[
    bool,
    typer.Option(
        "--by-folder",
        help="Validate the folders of the files if submissions to the task are folders; for hooks "
        "that name the files of a commit.",
    ),
]


def validate(
    task: str,
    paths: Paths,
    against: Against = None,
    role: CheckedAs = "submission",
    profile: Profile = "plan",
    form: Annotated[FindingsForm, typer.Option("--format", help="Output format.")] = "text",
    max_findings: MaxFindings = None,
    max_per_code: MaxPerCode = None,
    fail_on: FailOn = "error",
    select: Select = None,
    ignore: Ignore = None,
    severity: Severities = None,
    output_file: OutputFiles = None,
    report: ReportFile = None,
    fix: FixTo = None,
    unsafe_fixes: UnsafeFixes = False,
    diff: Diff = False,
    by_folder: ByFolder = False,
    encoding: Encoding = "utf-8",
    jobs: Jobs = 1,
    defaults_file: ConfigFile = None,  # noqa: ARG001 - read before the task is known
    options: dict[str, Any] | None = None,
    defaults: Defaults | None = None,
) -> None:
    """Check a submission."""
    from hlteval.cli.output import (
        check_report,
        output_files,
        report_output,
        show_fixes,
        show_verdict,
    )
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import judged_with_defaults
    from hlteval.workflows.fix.fixing import fix as write_fixed
    from hlteval.workflows.run.engine import validate_all
    from hlteval.workflows.run.verdicts import Selection

    show_defaults(defaults)
    if by_folder:
        paths = _folders(task, paths, output_file, report)
    files = output_files(output_file, get_args(FindingsForm))
    check_report(report, files)
    settings: dict[str, Any] = {"against": against, "profile": profile, "fail_on": fail_on}
    settings |= {"encoding": encoding, "options": options, "role": role}
    settings |= {} if max_per_code is None else {"max_per_code": max_per_code}
    with usage(), progress(remarks(), "checking") as step:
        settings |= {"selection": Selection.parse(select or (), ignore or (), severity or ())}
        if fix is not None or diff:
            settings["unsafe"] = unsafe_fixes
            copy = write_fixed(task, _single(paths), fix, step=step, **settings)
            verdict = copy.verdict
        else:
            verdict = validate_all(task, paths, jobs=jobs, step=step, **settings)
            verdict = judged_with_defaults(verdict, defaults)
    with usage():
        if fix is not None or diff:
            show_fixes(copy, form, max_findings, files, report_output(verdict, report))
        else:
            show_verdict(verdict, form, max_findings, files, report_output(verdict, report))
    raise typer.Exit(0 if verdict.passed else 1)


def _folders(task: str, paths: list[str], output_file: Any, report: Any) -> list[str]:
    """The folders that are submissions, which no output may replace."""
    from hlteval.cli.output import check_inputs_stay
    from hlteval.workflows.run.verdicts import submissions

    folders = submissions(task, paths)
    with usage():
        check_inputs_stay({"paths": folders, "output_file": output_file, "report": report})
    return folders


def _single(paths: list[str]) -> str:
    """The one submission of which a copy is written."""
    if len(paths) > 1:
        raise typer.BadParameter("--fix and --diff take a single submission")
    return paths[0]


CONDITIONS = (
    Condition(
        "max_findings", lambda arguments: "text" in forms(arguments), "without --format text"
    ),
    Condition(
        "fail_on",
        lambda arguments: arguments["profile"] != "official",
        "with --profile official, which fails what the official software rejects",
    ),
    Condition(
        "jobs",
        lambda arguments: arguments["fix"] is None and not arguments["diff"],
        "with --fix or --diff",
    ),
    Condition("diff", lambda arguments: arguments["fix"] is None, "with --fix"),
    Condition(
        "unsafe_fixes",
        lambda arguments: arguments["fix"] is not None or arguments["diff"],
        "without --fix or --diff",
    ),
)

app = typer.Typer(
    cls=per_task(validate, "validate", CONDITIONS),
    help="Check a submission: every problem with location, cause and fix.",
    no_args_is_help=True,
)


def validation(task: str, system: str, reference: str, settings: Mapping[str, Any]) -> list[str]:
    """The command that reports all findings of a submission and its reference.

    Args:
        task: name of the task.
        system: path of the submission.
        reference: path of the reference; empty if the task has none.
        settings: with which it is scored: `profile`, `encoding`, and the task's `options`.

    Examples:
        >>> settings = {"profile": "official", "options": {"segments": "s.list"}}
        >>> " ".join(validation("hub4", "a.tpl", "b.tpl", settings))
        'hlteval validate hub4 a.tpl --against b.tpl --profile official'
    """
    words = ["hlteval", "validate", task, system]
    words += ["--against", reference] if reference else []
    for name, default in (("profile", "plan"), ("encoding", "utf-8")):
        value = settings.get(name) or default
        words += [f"--{name}", value] if value != default else []
    values = settings.get("options") or {}
    for option in load(task).options:
        if option.name in values and option.available_in("validate"):
            words += _words(option, values[option.name])
    return words


def _words(option: Option, value: Any) -> list[str]:
    """An option with its values as words of a command line."""
    if option.switch:
        return [f"--{option.flag}"]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for item in values for word in (f"--{option.flag}", str(item))]

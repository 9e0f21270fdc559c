"""`hlteval validate`: every problem of a submission in a single run."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import typer

from hlteval.cli import commands
from hlteval.cli.defaults import ConfigFile, show_defaults
from hlteval.cli.output import Outputs, ReportFile
from hlteval.cli.process import argument, option
from hlteval.results.verdict import Defaults
from hlteval.workflows.run.request import Request, Selection, help_of

#: The output formats of a verdict.
FindingsForm = Literal["text", "concise", "json", "jsonl", "sarif", "github", "junit"]

Paths = Annotated[
    list[str], argument("SUBMISSION", "Folder, file, .zip or .tgz; - for standard input.")
]
Against = Annotated[str | None, option("--against PATH", help_of("against"))]
CheckedAs = Annotated[Literal["submission", "reference"], option("--as", help_of("role"))]
FormOfFindings = Annotated[FindingsForm, option("--format", "Output format.")]
MaxFindings = Annotated[
    int | None,
    option(
        "--max-findings N",
        "Maximum number of findings per file in text (default 20), and five times as many in all; "
        "0 for all.",
        min=0,
    ),
]
MaxPerCode = Annotated[int | None, option("--max-per-code N", help_of("max_per_code"), min=0)]
FailOn = Annotated[Literal["error", "warning", "info"], option("--fail-on", help_of("fail_on"))]
Select = Annotated[
    list[str] | None,
    option(
        "--select CODES",
        "Report only codes with these prefixes, e.g. SEE,EDL5.",
        autocompletion=commands.codes,
    ),
]
Ignore = Annotated[
    list[str] | None,
    option(
        "--ignore CODES", "Do not report codes with these prefixes.", autocompletion=commands.codes
    ),
]
Severities = Annotated[
    list[str] | None,
    option(
        "--severity CODE=LEVEL",
        "Override the severity of codes: error, warning or info.",
        autocompletion=commands.levels,
    ),
]
FixTo = Annotated[
    str | None,
    option(
        "--fix OUT", "Write a copy with mechanical fixes, and validate that; OUT must not exist."
    ),
]
UnsafeFixes = Annotated[bool, option("--unsafe-fixes", "Also make fixes that change values.")]
Diff = Annotated[bool, option("--diff", "Show what --fix would change, and write nothing.")]
ByFolder = Annotated[
    bool,
    option(
        "--by-folder",
        "Validate the folders of the files if submissions to the task are folders; for hooks that "
        "name the files of a commit.",
    ),
]


def validate(
    task: str,
    paths: Paths,
    against: Against = None,
    role: CheckedAs = "submission",
    profile: commands.Profile = "plan",
    form: FormOfFindings = "text",
    max_findings: MaxFindings = None,
    max_per_code: MaxPerCode = None,
    fail_on: FailOn = "error",
    select: Select = None,
    ignore: Ignore = None,
    severity: Severities = None,
    output_file: commands.OutputFiles = None,
    report: ReportFile = None,
    fix: FixTo = None,
    unsafe_fixes: UnsafeFixes = False,
    diff: Diff = False,
    by_folder: ByFolder = False,
    encoding: commands.Encoding = "utf-8",
    jobs: commands.Jobs = 1,
    defaults_file: ConfigFile = None,  # noqa: ARG001 - read before the task is known
    options: dict[str, object] | None = None,
    defaults: Defaults | None = None,
) -> None:
    """Check a submission."""
    from hlteval.cli.output import show_verdict
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import with_defaults
    from hlteval.workflows.fix.fixing import fix as write_fixed
    from hlteval.workflows.run.engine import validate_all

    show_defaults(defaults)
    if by_folder:
        paths = _folders(task, paths, output_file, report)
    outputs = Outputs.of(form, output_file, get_args(FindingsForm), report)
    settings: dict[str, Any] = {"against": against, "profile": profile, "role": role}
    settings |= {"fail_on": fail_on, "encoding": encoding, "options": options or {}}
    settings |= {} if max_per_code is None else {"max_per_code": max_per_code}
    copy = None
    with commands.usage(), progress(remarks(), "checking") as step:
        selection = Selection.parse(select or (), ignore or (), severity or ())
        settings |= {"selection": selection, "step": step}
        if fix is not None or diff:
            if len(paths) > 1:
                raise typer.BadParameter("--fix and --diff take a single submission")
            copy = write_fixed(Request(task, paths[0], **settings), fix, unsafe=unsafe_fixes)
            verdict = copy.verdict
        else:
            verdict = validate_all(Request(task, "", jobs=jobs, **settings), paths)
            verdict = with_defaults(verdict, defaults)
    with commands.usage():
        show_verdict(verdict, form, max_findings, outputs.files, outputs.reports(verdict), copy)
    raise typer.Exit(0 if verdict.passed else 1)


def _folders(task: str, paths: list[str], output_file: object, report: object) -> list[str]:
    """Return the folders that are submissions, which no output may replace."""
    from hlteval.cli.output import check_inputs_stay
    from hlteval.workflows.run.verdicts import submissions

    folders = submissions(task, paths)
    with commands.usage():
        check_inputs_stay({"paths": folders, "output_file": output_file, "report": report})
    return folders


CONDITIONS = (
    commands.Condition(
        "max_findings", lambda given: "text" in commands.forms(given), "without --format text"
    ),
    commands.Condition(
        "fail_on",
        lambda given: given["profile"] != "official",
        "with --profile official, which fails what the official software rejects",
    ),
    commands.Condition(
        "jobs", lambda given: given["fix"] is None and not given["diff"], "with --fix or --diff"
    ),
    commands.Condition("diff", lambda given: given["fix"] is None, "with --fix"),
    commands.Condition(
        "unsafe_fixes",
        lambda given: given["fix"] is not None or given["diff"],
        "without --fix or --diff",
    ),
)

app = commands.task_app(
    validate,
    "validate",
    "Check a submission: every problem with location, cause and fix.",
    CONDITIONS,
)


def validation_command(request: Request) -> list[str]:
    """Return the command that reports all findings of a submission and its reference.

    Examples:
        >>> options = {"segments": "s.list"}
        >>> request = Request("hub4", "a.tpl", "b.tpl", profile="official", options=options)
        >>> " ".join(validation_command(request))
        'hlteval validate hub4 a.tpl --against b.tpl --profile official'
    """
    words = ["hlteval", "validate", request.task, request.system]
    words += ["--against", request.reference] if request.reference else []
    words += ["--profile", request.profile] if request.profile != "plan" else []
    words += ["--encoding", request.encoding] if request.encoding != "utf-8" else []
    for item in request.definition.options:
        if item.name not in request.options or not item.available_in("validate"):
            continue
        value = request.options[item.name]
        values = value if isinstance(value, list | tuple) else [value]
        for each in values[:1] if item.switch else values:
            words += [f"--{item.flag}"] if item.switch else [f"--{item.flag}", str(each)]
    return words

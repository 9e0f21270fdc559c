"""`hlteval pack`, `inspect` and `verify`: archives of submissions, and signatures of scores."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer
from typer.main import get_group

from hlteval.cli import commands
from hlteval.cli.defaults import ConfigFile, show_defaults
from hlteval.cli.process import argument, option
from hlteval.results.verdict import Defaults

Inputs = Annotated[
    list[str], argument("PATH", "Files of the submission: folders, files, archives.")
]
Target = Annotated[
    str,
    option("-o --output NAME", "Archive to write; without a suffix, that of the task is added."),
]
Against = Annotated[
    str | None,
    option("--against PATH", "Documents of the task to validate against: reference or test data."),
]
Force = Annotated[bool, option("--force", "Replace an existing archive.")]
ReportForm = Annotated[Literal["text", "json"], option("--format", "Output format.")]


def pack(
    task: str,
    paths: Inputs,
    archive: Target,
    against: Against = None,
    profile: commands.Profile = "plan",
    force: Force = False,
    form: ReportForm = "text",
    encoding: commands.Encoding = "utf-8",
    defaults_file: ConfigFile = None,  # noqa: ARG001 - read before the task is known
    options: dict[str, object] | None = None,
    defaults: Defaults | None = None,
) -> None:
    """Pack a submission with the names, index and layout of its task, if it validates."""
    from hlteval.reports.packages import PACKED
    from hlteval.reports.terminal import progress, remarks, results, write
    from hlteval.workflows.packages import pack as run

    show_defaults(defaults)
    with commands.usage(), progress(remarks(), "packing") as step:
        packed = run(
            task, paths, archive, force=force, against=against, profile=profile,
            options=options or {}, encoding=encoding, step=step,
        )  # fmt: skip
    write(results(), PACKED[form](packed))
    raise typer.Exit(1 if packed.path is None else 0)


app = commands.task_app(
    pack, "pack", "Pack a submission with the names, index and layout that its task requires."
)


Archive = Annotated[str, argument("ARCHIVE", "Archive, folder or file; - for standard input.")]
MaxMembers = Annotated[
    int | None,
    option(
        "--max-members N",
        "Maximum number of members to show as text (default 20); 0 for all.",
        min=0,
    ),
]


def inspect(archive: Archive, max_members: MaxMembers = None, form: ReportForm = "text") -> None:
    """Show the kind, task, name, members and problems of an archive."""
    from hlteval.reports.findings import json
    from hlteval.reports.packages import MAX_MEMBERS, inspection_text
    from hlteval.reports.terminal import results, write
    from hlteval.workflows.packages import inspect as run

    if max_members is not None and form == "json":
        raise typer.BadParameter("--max-members has no effect without --format text")
    with commands.usage():
        found = run(archive)
    limit = MAX_MEMBERS if max_members is None else max_members
    write(results(), json(found) if form == "json" else inspection_text(found, limit))
    raise typer.Exit(0 if found.passed else 1)


_Signature = Annotated[
    str,
    argument(
        "SIGNATURE",
        "Signature, or the output of score that contains it: a file, a folder, or - for standard "
        "input. From JSON, the numbers are compared as well.",
    ),
]
_Systems = Annotated[
    list[str],
    option("-s --system PATH", "Submission; repeat it for the signature of a comparison."),
]
_Task = Annotated[
    str | None, option("--task TASK", "Your task, to compare it.", autocompletion=commands.tasks)
]
_Profile = Annotated[
    Literal["plan", "official"] | None, option("--profile", "Your profile, to compare it.")
]
_Lenient = Annotated[
    bool | None, option("--lenient/--no-lenient", "Whether you used --lenient, to compare it.")
]
_Bootstrap = Annotated[
    int | None, option("--bootstrap N", "Your number of bootstrap resamples.", min=1)
]
_Confidence = Annotated[
    float | None, option("--confidence LEVEL", "Your confidence level.", min=0.01, max=0.9999)
]
_Seed = Annotated[int | None, option("--seed N", "Your random seed.", min=0)]
_Encoding = Annotated[
    str | None,
    option(
        "--encoding NAME",
        "Encoding of your files, to compare it.",
        callback=commands.known_encoding,
    ),
]


def verify(
    context: typer.Context,
    signature: _Signature,
    reference: commands.Reference,
    system: _Systems,
    task: _Task = None,
    profile: _Profile = None,
    lenient: _Lenient = None,
    bootstrap: _Bootstrap = None,
    confidence: _Confidence = None,
    seed: _Seed = None,
    encoding: _Encoding = None,
    form: ReportForm = "text",
) -> None:
    """Compare a signature, part by part, with files and settings."""
    from hlteval.reports.packages import VERIFICATION_FORMATS as FORMATS
    from hlteval.reports.terminal import progress, remarks, results, write
    from hlteval.workflows.verification import read_claim
    from hlteval.workflows.verification import verify as run

    with commands.usage(), progress(remarks(), "reading") as step:
        claim = read_claim(signature)
        result = run(
            claim, reference, system, task=task, profile=profile, lenient=lenient,
            bootstrap=bootstrap, confidence=confidence, seed=seed, encoding=encoding,
            options=_options(context, task or claim.only("task")), step=step,
        )  # fmt: skip
    write(results(), FORMATS[form](result))
    raise typer.Exit(0 if result.agrees else 1)


def _options(context: typer.Context, task: str | None) -> dict[str, Any]:
    """Return the options of the task among the arguments that are not options of this command.

    Raises:
        typer.BadParameter: for any other argument.
    """
    values: dict[str, Any] = {}

    def keep(task: str, options: dict[str, object] | None = None) -> None:  # noqa: ARG001
        values.update(options or {})

    if context.args:
        group: Any = get_group(commands.task_app(keep, "score"))
        command = group.get_command(context, task or "")
        command.main(context.args, prog_name=context.command_path, standalone_mode=False)
    return values

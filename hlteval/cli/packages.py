"""`hlteval pack`: an archive that validates, from the files of a submission."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional

import typer
from typer.main import get_group

from hlteval.cli import commands as completion
from hlteval.cli.commands import Encoding, Profile, Reference, known_encoding, per_task, usage
from hlteval.cli.defaults import ConfigFile, show_defaults
from hlteval.results.verdict import Defaults

Inputs = Annotated[
    list[str],
    typer.Argument(metavar="PATH", help="Files of the submission: folders, files, archives."),
]
Target = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="NAME",
        help="Archive to write; without a suffix, that of the task is added.",
    ),
]
Against = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        metavar="PATH",
        help="Documents of the task to validate against: reference or test data.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing archive.")]
PackedForm = Annotated[Literal["text", "json"], typer.Option("--format", help="Output format.")]


def pack(
    task: str,
    paths: Inputs,
    archive: Target,
    against: Against = None,
    profile: Profile = "plan",
    force: Force = False,
    form: PackedForm = "text",
    encoding: Encoding = "utf-8",
    defaults_file: ConfigFile = None,  # noqa: ARG001 - read before the task is known
    options: dict[str, Any] | None = None,
    defaults: Defaults | None = None,
) -> None:
    """Pack a submission with the names, index and layout of its task, if it validates."""
    from hlteval.reports.packages import PACKED
    from hlteval.reports.terminal import progress, remarks, results, write
    from hlteval.workflows.packages import pack as run

    show_defaults(defaults)
    settings: dict[str, Any] = {"against": against, "profile": profile, "options": options}
    with usage(), progress(remarks(), "packing") as step:
        packed = run(task, paths, archive, force=force, encoding=encoding, step=step, **settings)
    write(results(), PACKED[form](packed))
    raise typer.Exit(1 if packed.path is None else 0)


app = typer.Typer(
    cls=per_task(pack, "pack"),
    help="Pack a submission with the names, index and layout that its task requires.",
    no_args_is_help=True,
)


InspectionForm = Annotated[Literal["text", "json"], typer.Option("--format", help="Output format.")]


def inspect(
    archive: Annotated[
        str,
        typer.Argument(metavar="ARCHIVE", help="Archive, folder or file; - for standard input."),
    ],
    max_members: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            min=0,
            metavar="N",
            help="Maximum number of members to show as text (default 20); 0 for all.",
        ),
    ] = None,
    form: InspectionForm = "text",
) -> None:
    """Show the kind, task, name, members and problems of an archive."""
    from hlteval.reports.packages import MAX_MEMBERS, inspection_json, inspection_text
    from hlteval.reports.terminal import results, write
    from hlteval.workflows.packages import inspect as run

    if max_members is not None and form == "json":
        raise typer.BadParameter("--max-members has no effect without --format text")
    with usage():
        found = run(archive)
    limit = MAX_MEMBERS if max_members is None else max_members
    write(results(), inspection_json(found) if form == "json" else inspection_text(found, limit))
    raise typer.Exit(0 if found.passed else 1)


_Signature = Annotated[
    str,
    typer.Argument(
        metavar="SIGNATURE",
        help="Signature, or the output of score that contains it: a file, a folder, or - for "
        "standard input. From JSON, the numbers are compared as well.",
    ),
]
_Systems = Annotated[
    list[str],
    typer.Option(
        "-s",
        "--system",
        metavar="PATH",
        help="Submission; repeat it for the signature of a comparison.",
    ),
]
_Task = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(metavar="TASK", autocompletion=completion.tasks, help="Your task, to compare it."),
]
_Profile = Annotated[
    Optional[Literal["plan", "official"]],  # noqa: UP045
    typer.Option(help="Your profile, to compare it."),
]
_Lenient = Annotated[
    Optional[bool],  # noqa: UP045
    typer.Option("--lenient/--no-lenient", help="Whether you used --lenient, to compare it."),
]
_Bootstrap = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, metavar="N", help="Your number of bootstrap resamples."),
]
_Confidence = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(min=0.01, max=0.9999, metavar="LEVEL", help="Your confidence level."),
]
_Seed = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=0, metavar="N", help="Your random seed."),
]
_Encoding = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        metavar="NAME", callback=known_encoding, help="Encoding of your files, to compare it."
    ),
]
_Form = Annotated[Literal["text", "json"], typer.Option("--format", help="Output format.")]


def verify(
    context: typer.Context,
    signature: _Signature,
    reference: Reference,
    system: _Systems,
    task: _Task = None,
    profile: _Profile = None,
    lenient: _Lenient = None,
    bootstrap: _Bootstrap = None,
    confidence: _Confidence = None,
    seed: _Seed = None,
    encoding: _Encoding = None,
    form: _Form = "text",
) -> None:
    """Compare a signature, part by part, with files and settings."""
    from hlteval.reports.packages import VERIFICATION_FORMATS as FORMATS
    from hlteval.reports.terminal import progress, remarks, results, write
    from hlteval.workflows.verification import read_claim
    from hlteval.workflows.verification import verify as run

    own: dict[str, Any] = {"task": task, "profile": profile, "lenient": lenient}
    own |= {"bootstrap": bootstrap, "confidence": confidence, "seed": seed, "encoding": encoding}
    with usage(), progress(remarks(), "reading") as step:
        claim = read_claim(signature)
        own["options"] = _options(context, task or claim.only("task"))
        found = run(claim, reference, system, step=step, **own)
    write(results(), FORMATS[form](found))
    raise typer.Exit(0 if found.agrees else 1)


def _options(context: typer.Context, task: str | None) -> dict[str, Any]:
    """The options of the task among the arguments that are not options of this command.

    Raises:
        typer.BadParameter: for any other argument.
    """
    values: dict[str, Any] = {}

    def keep(task: str, options: dict[str, Any] | None = None) -> None:  # noqa: ARG001
        values.update(options or {})

    if context.args:
        group: Any = get_group(typer.Typer(cls=per_task(keep, "score")))
        command = group.get_command(context, task or "")
        command.main(context.args, prog_name=context.command_path, standalone_mode=False)
    return values

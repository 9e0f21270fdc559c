"""`hlteval verify`: which part of a signature differs from files and settings."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional

import typer
from typer.main import get_group

from hlteval.cli import completion
from hlteval.cli.commands import Reference, known_encoding, per_task, usage

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
    from hlteval.reports.terminal import progress, remarks, results, write
    from hlteval.reports.verification import FORMATS
    from hlteval.workflows.claims import read_claim
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

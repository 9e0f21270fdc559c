"""`hlteval pack`: an archive that validates, from the files of a submission."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional

import typer

from hlteval.cli.commands import Encoding, Profile, per_task, usage
from hlteval.cli.defaults import ConfigFile, show_defaults
from hlteval.results.defaults import Defaults

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
    from hlteval.workflows.packing import pack as run

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

"""`hlteval convert`: convert between formats."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional

import typer

from hlteval.cli import commands as completion
from hlteval.cli.commands import Encoding, OutputFiles, usage
from hlteval.cli.defaults import ConfigFile, config_of_call, not_given, show_defaults
from hlteval.results.verdict import Defaults

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="Folder, file, .zip or .tgz; - for standard input. Several inputs, such as texts "
        "and annotations, are joined by document name.",
    ),
]

InputFormats = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--from",
        metavar="FORMAT",
        autocompletion=completion.formats,
        help="Input format (default: auto-detect); one for all inputs, or one for each.",
    ),
]

StrictLoss = Annotated[
    bool,
    typer.Option(
        "--strict-loss",
        help="Write nothing if the output format cannot represent everything, or if there are "
        "errors or unread files in the input.",
    ),
]

Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Replace an existing file; in a folder, replace files of the same names only.",
    ),
]

Settings = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        autocompletion=completion.settings,
        help="Format setting, e.g. escapes=ascii; `hlteval formats` lists them. Repeatable.",
    ),
]

ConversionForm = Annotated[
    Literal["text", "json"],
    typer.Option("--format", help="Format of the report of what was written and lost."),
]


def _settings(assignments: list[str]) -> dict[str, str]:
    """The values of the settings by name, from `NAME=VALUE`."""
    for assignment in assignments:
        if "=" not in assignment:
            raise typer.BadParameter(f"invalid --set {assignment}: use NAME=VALUE")
    return dict(assignment.split("=", 1) for assignment in assignments)


def convert(
    context: typer.Context,
    sources: Inputs,
    target: Annotated[
        str, typer.Argument(metavar="OUTPUT", help="Output path; - for standard output.")
    ],
    from_format: InputFormats = None,
    to_format: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--to",
            metavar="FORMAT",
            autocompletion=completion.formats,
            help="Output format (default: from the suffix of the output).",
        ),
    ] = None,
    strict_loss: StrictLoss = False,
    force: Force = False,
    settings: Settings = None,
    form: ConversionForm = "text",
    output_file: OutputFiles = None,
    encoding: Encoding = "utf-8",
    defaults_file: ConfigFile = None,
) -> None:
    """Convert between formats, and report what the output format cannot represent."""
    from hlteval.cli.output import check_inputs_stay, output_files, show_conversion
    from hlteval.reports.packages import CONVERSION_FORMATS as FORMATS
    from hlteval.reports.terminal import progress, remarks
    from hlteval.sources.writing import check_outputs
    from hlteval.workflows.convert.conversion import conversion

    if target == "-" and form != "text":
        raise typer.BadParameter("--format json needs standard output; use a path instead of -")
    files = output_files(output_file, FORMATS)
    given: dict[str, Any] = {
        "from_format": from_format or None,
        "to_format": to_format,
        "force": force,
    }
    given |= {"strict_loss": strict_loss, "settings": _settings(settings or [])}
    with usage():
        config = config_of_call(defaults_file, sources)
        own = not_given(context, config, ["encoding"])
        shared = [config.path] if config else []
        check_inputs_stay({"sources": sources, "output_file": output_file}, (), [target, *shared])
        check_outputs([target], shared, merged=True)
    show_defaults(Defaults(config.path, tuple(own)) if config and own else None)
    encoding = own.get("encoding", encoding)
    with usage(), progress(remarks(), "converting", shown=target != "-") as step:
        done = conversion(sources, target, encoding=encoding, step=step, **given)
    with usage():
        show_conversion(done, form, files)
    raise typer.Exit(0 if done.clean else 1)

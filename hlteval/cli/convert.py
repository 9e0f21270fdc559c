"""`hlteval convert`: convert between formats."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from hlteval.cli import commands
from hlteval.cli.defaults import ConfigFile, config_of_call, not_given, show_defaults
from hlteval.cli.process import argument, option
from hlteval.results.verdict import Defaults

Inputs = Annotated[
    list[str],
    argument(
        "INPUT...",
        "Folder, file, .zip or .tgz; - for standard input. Several inputs, such as texts and "
        "annotations, are joined by document name.",
    ),
]
Target = Annotated[str, argument("OUTPUT", "Output path; - for standard output.")]
InputFormats = Annotated[
    list[str] | None,
    option(
        "--from FORMAT",
        "Input format (default: auto-detect); one for all inputs, or one for each.",
        autocompletion=commands.formats,
    ),
]
OutputFormat = Annotated[
    str | None,
    option(
        "--to FORMAT",
        "Output format (default: from the suffix of the output).",
        autocompletion=commands.formats,
    ),
]
StrictLoss = Annotated[
    bool,
    option(
        "--strict-loss",
        "Write nothing if the output format cannot represent everything, or if there are errors or "
        "unread files in the input.",
    ),
]
Force = Annotated[
    bool,
    option(
        "--force", "Replace an existing file; in a folder, replace files of the same names only."
    ),
]
Settings = Annotated[
    list[str] | None,
    option(
        "--set NAME=VALUE",
        "Format setting, e.g. escapes=ascii; `hlteval formats` lists them. Repeatable.",
        autocompletion=commands.settings,
    ),
]
ConversionForm = Annotated[
    Literal["text", "json"],
    option("--format", "Format of the report of what was written and lost."),
]


def convert(
    context: typer.Context,
    sources: Inputs,
    target: Target,
    from_format: InputFormats = None,
    to_format: OutputFormat = None,
    strict_loss: StrictLoss = False,
    force: Force = False,
    settings: Settings = None,
    form: ConversionForm = "text",
    output_file: commands.OutputFiles = None,
    encoding: commands.Encoding = "utf-8",
    defaults_file: ConfigFile = None,
) -> None:
    """Convert between formats, and report what the output format cannot represent."""
    from hlteval.cli.output import check_inputs_stay, output_files, show_findings, write_files
    from hlteval.reports.packages import CONVERSION_FORMATS as FORMATS
    from hlteval.reports.terminal import progress, remarks, results, write
    from hlteval.sources.writing import check_outputs
    from hlteval.workflows.convert.conversion import conversion

    if target == "-" and form != "text":
        raise typer.BadParameter("--format json needs standard output; use a path instead of -")
    files = output_files(output_file, FORMATS)
    for assignment in settings or ():
        if "=" not in assignment:
            raise typer.BadParameter(f"invalid --set {assignment}: use NAME=VALUE")
    with commands.usage():
        config = config_of_call(defaults_file, sources)
        taken = not_given(context, config, ["encoding"])
        shared = [config.path] if config else []
        check_inputs_stay({"sources": sources, "output_file": output_file}, (), [target, *shared])
        check_outputs([target], shared, merged=True)
    show_defaults(Defaults(config.path, tuple(taken)) if config and taken else None)
    with commands.usage(), progress(remarks(), "converting", shown=target != "-") as step:
        done = conversion(
            sources, target, from_format=from_format or None, to_format=to_format, force=force,
            strict_loss=strict_loss, encoding=taken.get("encoding", encoding), step=step,
            settings=dict(assignment.split("=", 1) for assignment in settings or ()),
        )  # fmt: skip
    with commands.usage():
        write_files(files, lambda name: FORMATS[name](done))
        if form == "text":
            show_findings(done.findings)
        else:
            write(results(), FORMATS[form](done))
    raise typer.Exit(0 if done.clean else 1)

"""The commands and what they share."""

from __future__ import annotations

from typing import Annotated

import typer

from hlteval import __version__
from hlteval.cli import compare, score, validate
from hlteval.cli.convert import convert
from hlteval.cli.demo import demo
from hlteval.cli.describe import explain, formats, tasks

app = typer.Typer(
    name="hlteval",
    help="Validate, convert and score submissions to shared tasks in human language technology.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hlteval {__version__}")
        raise typer.Exit


@app.callback()
def common(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    "Validate, convert and score submissions to shared tasks in human language technology."


app.add_typer(validate.app, name="validate")
app.command("convert")(convert)
app.add_typer(score.app, name="score")
app.add_typer(compare.app, name="compare")
app.command("tasks")(tasks)
app.command("formats")(formats)
app.command("explain")(explain)
app.command("demo")(demo)

"""The application: all commands, and the options of `hlteval` itself."""

from __future__ import annotations

from collections.abc import Callable
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
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"hlteval {__version__}")
        raise typer.Exit


@app.callback()
def common(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Validate, convert and score submissions to shared tasks in human language technology."""


def _first_line(command: Callable[..., None]) -> str:
    """The first line of a docstring: typer truncates the short help that it derives itself."""
    return (command.__doc__ or "").partition("\n")[0]


app.add_typer(validate.app, name="validate")
app.command("convert", short_help=_first_line(convert))(convert)
app.add_typer(score.app, name="score")
app.add_typer(compare.app, name="compare")
for command in (tasks, formats, explain, demo):
    app.command(command.__name__, short_help=_first_line(command))(command)

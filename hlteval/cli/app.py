"""The application: all commands, and the options of `hlteval` itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hlteval import __version__
from hlteval.cli import compare, manifest, pack, score, validate
from hlteval.cli.convert import convert
from hlteval.cli.demo import demo
from hlteval.cli.describe import explain, formats, tasks
from hlteval.cli.inspect import inspect
from hlteval.cli.pipeline import pipeline
from hlteval.cli.verify import verify


class Commands(TyperGroup):
    """All commands; the reasons of their usage errors are wrapped at words in a terminal."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command.

        Raises:
            BadParameter: for a usage error.
        """
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = _wrapped(error)
            raise


def _wrapped(error: typer.BadParameter) -> str:
    """The message of a usage error as a terminal shows it."""
    from hlteval.reports.display import visible
    from hlteval.reports.prose import hanging
    from hlteval.reports.terminal import remarks

    console = remarks()
    width = console.width if console.is_terminal else None
    message = " ".join(visible(line) for line in error.message.splitlines())
    head = f"Error: {error.format_message()}".removesuffix(error.message)
    return hanging(message, width, len(head))


app = typer.Typer(
    name="hlteval",
    cls=Commands,
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


app.add_typer(validate.app, name="validate", short_help=validate.app.info.help)
app.command("convert", short_help=_first_line(convert))(convert)
app.add_typer(score.app, name="score", short_help=score.app.info.help)
app.add_typer(compare.app, name="compare", short_help=compare.app.info.help)
app.command(
    "verify",
    short_help=_first_line(verify),
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    no_args_is_help=True,
)(verify)
app.add_typer(pack.app, name="pack", short_help=pack.app.info.help)
app.add_typer(manifest.app, name="manifest", short_help=manifest.app.info.help)
app.command("pipeline", short_help=_first_line(pipeline), no_args_is_help=True)(pipeline)
for command in (inspect, tasks, formats, explain, demo):
    app.command(command.__name__, short_help=_first_line(command))(command)

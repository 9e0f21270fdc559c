"""The application: all commands, and the options of `hlteval` itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar

import typer
from typer.main import get_command

from hlteval import __version__
from hlteval.cli import evaluation, packages, score, systems, validate
from hlteval.cli.convert import convert
from hlteval.cli.evaluation import campaign, pipeline
from hlteval.cli.lists import config, demo, explain, formats, schema, tasks
from hlteval.cli.packages import inspect, verify
from hlteval.cli.process import HelpfulCommand, HelpfulGroup, epilog
from hlteval.cli.servers import lsp, serve


class Unbuilt(HelpfulCommand):
    """A command as the help of all commands lists it; its own options are made when it is named."""

    function: ClassVar[Callable[..., None]]
    settings: ClassVar[Mapping[str, Any]]

    def built(self) -> Any:
        """The command with its options."""
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(
            self.name,
            cls=HelpfulCommand,
            short_help=self.short_help,
            epilog=self.epilog,
            **self.settings,
        )(type(self).function)
        return get_command(alone)


class Commands(HelpfulGroup):
    """All commands; the reasons of their usage errors are wrapped at words in a terminal."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named, and its arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.built() if isinstance(command, Unbuilt) else command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run a command.

        Raises:
            BadParameter: for a usage error.
        """
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = _wrap(error)
            raise


def _wrap(error: typer.BadParameter) -> str:
    """The message of a usage error as a terminal shows it."""
    from hlteval.reports.terminal import indent_wrapped, remarks, visible

    console = remarks()
    width = console.width if console.is_terminal else None
    message = " ".join(visible(line) for line in error.message.splitlines())
    head = f"Error: {error.format_message()}".removesuffix(error.message)
    return indent_wrapped(message, width, len(head))


app = typer.Typer(
    name="hlteval",
    cls=Commands,
    help="Validate, convert and score submissions to shared tasks in human language technology.",
    epilog=epilog(""),
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
            "-V", "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Validate, convert and score submissions to shared tasks in human language technology."""


def _add(name: str, command: Callable[..., None], **settings: Any) -> None:
    """Register a command, whose help has the first line of its docstring and its exit codes."""
    short = (command.__doc__ or "").partition("\n")[0]  # typer would truncate its own short help
    members = {"function": staticmethod(command), "settings": settings}
    listed = type("Command", (Unbuilt,), members)
    app.command(name, cls=listed, short_help=short, epilog=epilog(name))(lambda: None)


def _add_group(name: str, group: typer.Typer) -> None:
    """Register a group of commands."""
    app.add_typer(group, name=name, short_help=group.info.help, epilog=epilog(name))


_add_group("validate", validate.app)
_add("convert", convert)
_add_group("score", score.app)
_add_group("compare", systems.compare_app)
_add_group("leaderboard", systems.leaderboard_app)
_add_group("agreement", systems.agreement_app)
_add(
    "verify",
    verify,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    no_args_is_help=True,
)
_add_group("pack", packages.app)
_add_group("manifest", evaluation.app)
_add("pipeline", pipeline, no_args_is_help=True)
_add("campaign", campaign, no_args_is_help=True)
_add("serve", serve)
for each in (inspect, lsp, config, tasks, formats, explain, schema, demo):
    _add(each.__name__, each)

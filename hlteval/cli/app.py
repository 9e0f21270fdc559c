"""The application: all commands, and the options of `hlteval` itself."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, get_args

import typer

from hlteval import __version__
from hlteval.cli import evaluation, submissions
from hlteval.cli.commands import Command, TaskCommand, build_command, task_app, with_options
from hlteval.cli.evaluation import campaign, pipeline
from hlteval.cli.lists import config, demo, explain, formats, new_task, schema, tasks
from hlteval.cli.packages import convert, inspect, publish, verify
from hlteval.cli.process import HelpfulCommand, HelpfulGroup, declarations, epilog
from hlteval.cli.servers import lsp, serve

#: The commands that are of no single task, in the order of the help.
COMMANDS: Mapping[str, Callable[..., None]] = {
    each.__name__.replace("_", "-"): each
    for each in (
        *(convert, verify, pipeline, campaign, publish, serve, inspect, lsp),
        *(new_task, config, tasks, formats, explain, schema, demo),
    )
}
#: The commands that tasks have, in the order of the help.
TASKED: Mapping[Command, TaskCommand] = MappingProxyType(
    {name: TaskCommand(name, getattr(submissions, name)) for name in get_args(Command)}
)


class Unbuilt(HelpfulCommand):
    """A command as the help of all commands lists it; its own options are made when it is named."""

    def built(self) -> Any:
        """The command with its options."""
        name = str(self.name)
        settings, run = declarations()[name].get("settings", {}), with_options(name, COMMANDS[name])
        return build_command(name, run, str(self.short_help), str(self.epilog), settings)


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
            from hlteval.reports.terminal import indent_wrapped, remarks, visible

            console = remarks()
            width = console.width if console.is_terminal else None
            head = len(f"Error: {error.format_message()}".removesuffix(error.message))
            message = " ".join(visible(line) for line in error.message.splitlines())
            error.message = indent_wrapped(message, width, head)
            raise


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


for _name, _command in COMMANDS.items():
    # typer would truncate its own short help
    _short = (_command.__doc__ or "").partition("\n")[0]
    app.command(_name, cls=Unbuilt, short_help=_short, epilog=epilog(_name))(lambda: None)
for _name, _group in [*((n, task_app(c)) for n, c in TASKED.items()), ("manifest", evaluation.app)]:
    app.add_typer(_group, name=_name, short_help=_group.info.help, epilog=epilog(_name))

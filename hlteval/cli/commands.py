"""What the commands share: a command per task, errors of usage, output."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, ClassVar, Literal, Optional

import typer
from typer.core import TyperCommand, TyperGroup

from hlteval.tasks import known, load
from hlteval.tasks.task import Option


def _known_encoding(name: str) -> str:
    try:
        "a".encode(name)
    except (LookupError, UnicodeError) as error:
        raise typer.BadParameter(f"unknown encoding {name}") from error
    return name


Encoding = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=_known_encoding,
        help="Encoding of the input files.",
    ),
]

Profile = Annotated[
    Literal["plan", "official"],
    typer.Option(help="Follow the written specification, or the official software with its bugs."),
]

Confidence = Annotated[
    float,
    typer.Option(
        min=0.01,
        max=0.9999,
        show_default=False,
        help="Confidence level of the intervals (default 0.95).",
    ),
]
Seed = Annotated[int, typer.Option(min=0, show_default=False, help="Random seed (default 0).")]


Command = Literal["compare", "score", "validate"]


class _Switches:
    """Shows no placeholder of a value for switches in help, `--help` among them."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters of a command."""
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class Command(_Switches, TyperCommand):
    """A command."""


class Group(_Switches, TyperGroup):
    """A group of commands."""


class TaskGroup(Group):
    """Commands by task: for a name that is none, it says which tasks there are."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a task.

        Raises:
            BadParameter: if there is no task of that name, or none that is scored.
        """
        if cmd_name in known() and (self.command == "validate" or load(cmd_name).metric):
            app = typer.Typer(add_completion=False, rich_markup_mode=None)
            function = _command(cmd_name, type(self).run, self.command)
            title = load(cmd_name).title
            app.command(cmd_name, help=title, short_help=title, no_args_is_help=True)(function)
            return get_command(app)
        if cmd_name in known():
            raise typer.BadParameter(f"{cmd_name} cannot be scored: it supports validation only")
        if not cmd_name.startswith("-"):
            from hlteval.findings.suggest import did_you_mean

            names = self.list_commands(ctx)
            hint = did_you_mean(cmd_name, names, f"use one of {', '.join(names)}")
            raise typer.BadParameter(f"unknown task {cmd_name}; {hint}")
        return None


def per_task(run: Callable[..., None], command: Command) -> type[TaskGroup]:
    """A group with a command for every task, with the options of the task after the common ones.

    Args:
        run: a function whose first parameter is the name of the task; its last parameter `options`
            takes the task's own options by name.
        command: which of the tasks' own options are offered.
    """
    for name in known():
        if command != "validate" and load(name).metric is None:
            continue
        declare = app.command(name, cls=Command, help=load(name).title, no_args_is_help=True)
        declare(_command(name, run, command))


def _command(name: str, run: Callable[..., None], which: Command) -> Callable[..., None]:
    own = {option.name: option for option in load(name).options if option.available_in(which)}
    parameters = inspect.signature(run, eval_str=True).parameters.values()
    common = [one for one in parameters if one.name not in {"task", "options"}]

    def command(**given: Any) -> None:
        given["options"] = {key: value for key in own if (value := given.pop(key))}
        run(name, **given)

    added = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if option.switch else None,
            annotation=_annotation(option),
        )
        for option in own.values()
    ]
    signature = inspect.Signature(
        [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in common] + added
    )
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    return command


def _annotation(option: Option) -> Any:
    """What the command line makes of an option."""
    if option.switch:
        return Annotated[bool, typer.Option(f"--{option.flag}", help=option.help)]
    names = [*([f"-{option.short}"] if option.short else []), f"--{option.flag}"]
    return Annotated[
        Optional[list[str] if option.repeatable else str],  # noqa: UP045
        typer.Option(*names, metavar=option.placeholder, help=option.help),
    ]


@contextmanager
def usage() -> Iterator[None]:
    """Tell what a user got wrong on the command line; exit code 2."""
    from hlteval.converters import WrongSetting
    from hlteval.tasks.task import WrongOption
    from hlteval.workflows.batches import NothingGiven
    from hlteval.workflows.conversion import UnknownFormat
    from hlteval.workflows.selection import UnknownCode

    try:
        yield
    except (NothingGiven, UnknownCode, UnknownFormat, WrongOption, WrongSetting) as error:
        raise typer.BadParameter(str(error)) from error
    except FileNotFoundError as error:
        reason = f"no such file or folder: {error.filename}" if error.filename else str(error)
        raise typer.BadParameter(reason) from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        raise typer.BadParameter(str(error)) from error

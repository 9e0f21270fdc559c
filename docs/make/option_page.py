"""The page docs/options.md: every command with its options, from the commands themselves."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, get_args, get_origin

from typer.models import ArgumentInfo, OptionInfo

from docs.make.markdown import table
from hlteval import tasks
from hlteval.cli import app, evaluation, submissions
from hlteval.cli.commands import Command, with_options
from hlteval.cli.process import declarations
from hlteval.tasks.task import Option, Task

_HEAD = """\
# Options

<!-- Made from the commands in hlteval/cli/ and the declarations in hlteval/tasks/ by
docs.make.option_page; do not edit. -->

All commands with their arguments and options, as in `hlteval COMMAND --help`. Commands with a task
also have the options of the task: `hlteval score hub4 --help`. Arguments and options are optional
unless marked *required*. For exit codes, see
[Scripting and continuous integration](programs.md#exit-codes).

`-m`, `--metric` is the one name of what was also `--metrics`, `--measures` and `--measure`. The old
names work until the next release, also in files of options and in Python; commands print a note.
`compare` and `leaderboard` have it of every task.
"""

PER_TASK: tuple[Command, ...] = get_args(Command)
"""The commands that have a sub-command for each task."""

_ORDER = (
    *("validate", "convert", "score", "compare", "leaderboard", "agreement", "verify", "pack"),
    *("platform", "publish", "inspect", "lsp", "pipeline", "campaign"),
    *("serve", "manifest check", "manifest best"),
    *("new-task", "config", "tasks", "formats", "explain", "schema", "demo"),
)
_FUNCTIONS = {
    **{name: getattr(submissions, name) for name in PER_TASK},
    "manifest check": evaluation.check,
    "manifest best": evaluation.best,
    **app.COMMANDS,
}
COMMANDS: Mapping[str, Callable[..., None]] = MappingProxyType(
    {name: _FUNCTIONS[name] for name in _ORDER}
)
"""The commands by name, in the order of the page."""


def option_page() -> str:
    """The page docs/options.md, in Markdown.

    Examples:
        >>> option_page().splitlines()[0]
        '# Options'
    """
    return "\n".join([_HEAD, *(_command(name, run) for name, run in COMMANDS.items()), _own()])


def _command(name: str, run: Callable[..., None]) -> str:
    """One command: how it is called, and what it takes."""
    items = taken(name, run)
    called = ["hlteval", name, *(["TASK"] if name in PER_TASK else [])]
    called += [item.called for item in items if item.called]
    parts = [f"## {name}\n", f"{description(run)}\n", f"```text\n{' '.join(called)}\n```\n"]
    if items:
        parts.append(table(("", "description", "default"), [item.row for item in items]))
    parts.append(f"{_exits(name)}\n")
    return "\n".join(parts)


def taken(name: str, run: Callable[..., None]) -> list[Taken]:
    """The arguments and options of a command, in order; those of tasks are not among them.

    Args:
        name: of the command.
        run: its body.
    """
    if name in PER_TASK:
        parameters = app.TASKED[name].parameters
    else:
        parameters = inspect.signature(with_options(name, run)).parameters
    return [Taken(item) for item in parameters.values() if item.name != "context"]


def own_options(command: str) -> dict[str, list[tuple[str, str]]]:
    """The options that tasks have beside the common ones, by task, with their help.

    Args:
        command: one of `PER_TASK`.
    """
    found = {}
    for name in tasks.BUILTIN:
        options = (each for each in tasks.load(name).options if each.available_in(command))
        if rows := [
            (_option(each)[0].strip("`").replace("\\|", "|"), each.help) for each in options
        ]:
            found[name] = rows
    return found


def _exits(name: str) -> str:
    """What the exit codes of a command mean that not all commands share."""
    own = enumerate(declarations()[name]["exits"])
    return "  \n".join(f"Exit code {code}: {meaning}" for code, meaning in own)


def description(run: Callable[..., None]) -> str:
    """What a command does, as its help says it."""
    return (inspect.getdoc(run) or "").partition("\n")[0]


class Taken:
    """An argument or an option of a command, as its signature declares it."""

    def __init__(self, parameter: inspect.Parameter) -> None:
        self.parameter = parameter
        kind, *declared = get_args(parameter.annotation)
        self.info: ArgumentInfo | OptionInfo = declared[0]
        self.kind = kind

    @property
    def needed(self) -> bool:
        """Whether it must be given."""
        return self.parameter.default is inspect.Parameter.empty

    @property
    def value(self) -> str:
        """What stands for its value."""
        if self.info.metavar:
            return self.info.metavar
        kinds = (self.kind, *get_args(self.kind))  # those of an optional value are inside
        if choices := next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ()):
            return "|".join(choices)
        return ""  # a switch

    @property
    def names(self) -> Sequence[str]:
        """Its names on the command line; an argument is named by what stands for it."""
        if isinstance(self.info, ArgumentInfo):
            return (self.value,)
        flag = f"--{self.parameter.name.replace('_', '-')}"
        # in an annotation the first name stands where otherwise the default does
        declared = (self.info.default, *(self.info.param_decls or ()))
        return tuple(item for item in map(str, declared) if item.startswith("-")) or (flag,)

    @property
    def called(self) -> str:
        """How it stands in a call; nothing for an option that may be left out."""
        if isinstance(self.info, ArgumentInfo):
            many = "…" if get_origin(self.kind) is list else ""
            return f"{self.value}{many}" if self.needed else f"[{self.value}]"
        return f"{self.names[-1]} {self.value}" if self.needed else ""

    @property
    def row(self) -> tuple[str, str, str]:
        """Its row of the table."""
        names = ", ".join(self.names)
        option = isinstance(self.info, OptionInfo) and self.value
        name = f"{names} {self.value}" if option else names
        default = "*required*" if self.needed else self._default()
        return f"`{name}`".replace("|", "\\|"), self.info.help or "", default

    def _default(self) -> str:
        given = self.parameter.default
        return "" if given is None or given is False else f"`{given}`"


def _own() -> str:
    """The options that tasks have beside the common ones."""
    loaded = (tasks.load(name) for name in tasks.BUILTIN)
    parts = [_task(task) for task in loaded if task.options]
    return "\n".join(["## Options of tasks\n", *parts])


def _task(task: Task) -> str:
    heads = ("", "description", "commands")
    return "\n".join([f"### {task.name}\n", table(heads, map(_option, task.options))])


def _option(option: Option) -> tuple[str, str, str]:
    names = f"-{option.short}, --{option.flag}" if option.short else f"--{option.flag}"
    name = f"{names} {option.placeholder}".strip().replace("|", "\\|")
    return f"`{name}`", option.help, ", ".join(_having(option))


def _having(option: Option) -> Iterator[str]:
    """The commands that have an option."""
    return (name for name in PER_TASK if option.available_in(name))

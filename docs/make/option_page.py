"""The page docs/options.md: every command with its options, from the commands themselves."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, get_args, get_origin

from typer.models import ArgumentInfo, OptionInfo

from docs.make.markdown import table
from hlteval import tasks
from hlteval.cli import convert, score, validate
from hlteval.cli import evaluation as campaign_command
from hlteval.cli import evaluation as manifest
from hlteval.cli import evaluation as pipeline_command
from hlteval.cli import lists as config_command
from hlteval.cli import lists as demo
from hlteval.cli import lists as describe
from hlteval.cli import lists as schema_command
from hlteval.cli import packages as inspect_command
from hlteval.cli import packages as pack
from hlteval.cli import packages as verify
from hlteval.cli import servers as lsp_command
from hlteval.cli import servers as serve_command
from hlteval.cli import systems as agreement
from hlteval.cli import systems as compare
from hlteval.cli import systems as leaderboard
from hlteval.cli.commands import INTERNAL, Command
from hlteval.cli.process import ALWAYS, exit_codes
from hlteval.tasks.task import Option, Task

_HEAD = """\
# Options

<!-- Made from the commands in hlteval/cli/ and the declarations in hlteval/tasks/ by
docs.make.option_page; do not edit. -->

All commands with their arguments and options, as in `hlteval COMMAND --help`. Commands with a task
also have the options of the task: `hlteval score hub4 --help`. Arguments and options are optional
unless marked *required*. For exit codes, see
[Scripting and continuous integration](programs.md#exit-codes).
"""

COMMANDS: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        "validate": validate.validate,
        "convert": convert.convert,
        "score": score.score,
        "compare": compare.compare,
        "leaderboard": leaderboard.leaderboard,
        "agreement": agreement.agreement,
        "verify": verify.verify,
        "pack": pack.pack,
        "inspect": inspect_command.inspect,
        "lsp": lsp_command.lsp,
        "pipeline": pipeline_command.pipeline,
        "campaign": campaign_command.campaign,
        "serve": serve_command.serve,
        "manifest check": manifest.check,
        "manifest best": manifest.best,
        "config": config_command.config,
        "tasks": describe.tasks,
        "formats": describe.formats,
        "explain": describe.explain,
        "schema": schema_command.schema,
        "demo": demo.demo,
    }
)
"""The commands by name, in the order of the page."""

PER_TASK: tuple[Command, ...] = ("validate", "score", "compare", "leaderboard", "agreement", "pack")
"""Those that have a sub-command for each task."""


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
    parameters = inspect.signature(run, eval_str=True).parameters.values()
    hidden = INTERNAL if name in PER_TASK else {"context"}
    return [Taken(parameter) for parameter in parameters if parameter.name not in hidden]


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
    own = [item for item in exit_codes(name).items() if item[0] not in ALWAYS]
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

"""Exit codes of the commands, as their help, their manual pages and the documentation list them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

ALWAYS: Mapping[int, str] = MappingProxyType(
    {
        2: "Usage error, a path does not exist, or an output cannot be written.",
        3: "Internal error of hlteval.",
    }
)
"""What 2 and 3 mean for every command."""

EXIT_CODES: Mapping[str, Mapping[int, str]] = MappingProxyType(
    {
        "": {
            0: "Success; warnings are allowed.",
            1: "Validation failed, nothing was scored, or the result is negative.",
        },
        "validate": {
            0: "The submission passes.",
            1: "It fails, or the verdict is undecided.",
        },
        "convert": {
            0: "The output was written.",
            1: "The input has errors, or nothing was written.",
        },
        "score": {
            0: "The submission was scored.",
            1: "Nothing was scored because of blocking findings.",
        },
        "compare": {
            0: "All submissions were compared.",
            1: "At least one submission could not be scored.",
        },
        "leaderboard": {
            0: "All submissions were ranked.",
            1: "At least one submission could not be scored; the others are ranked.",
        },
        "agreement": {
            0: "The annotators were compared.",
            1: "Nothing was compared because of blocking findings.",
        },
        "verify": {
            0: "No part of the signature differs.",
            1: "At least one part of the signature differs.",
        },
        "pack": {
            0: "The archive was written.",
            1: "The submission fails; nothing was written.",
        },
        "inspect": {
            0: "The archive has no errors.",
            1: "The archive has errors.",
        },
        "pipeline": {
            0: "All submissions were processed, invalid ones included.",
            1: "A submission was not scored, failed or is waiting, or the manifest has errors.",
        },
        "campaign": {
            0: "All cells have numbers.",
            1: "A cell has no numbers, or the manifest has errors.",
        },
        "serve": {
            0: "The server was stopped.",
            1: "The reference has errors; nothing was served.",
        },
        "manifest": {
            0: "Success; warnings are allowed.",
            1: "The manifest has errors.",
        },
        "manifest check": {
            0: "The manifest passes.",
            1: "The manifest or a submission has errors.",
        },
        "manifest best": {
            0: "The best submissions are listed.",
            1: "The manifest has errors.",
        },
        "config": {
            0: "The defaults were shown, if any.",
            1: "The file of defaults has errors.",
        },
        "lsp": {
            0: "The editor ended the session.",
            1: "The editor ended the session without shutting it down.",
        },
        "tasks": {0: "The list was printed."},
        "formats": {0: "The list was printed."},
        "explain": {0: "The explanation was printed."},
        "schema": {0: "The schema, or the list, was printed."},
        "demo": {0: "All commands were run."},
    }
)
"""What 0 and 1 mean, by command; the empty name is `hlteval` itself."""


def exit_codes(command: str) -> Mapping[int, str]:
    """The exit codes of a command with their meanings, in order.

    Args:
        command: its name, without `hlteval`; `validate` for all of `validate TASK`.

    Examples:
        >>> exit_codes("verify")[1]
        'At least one part of the signature differs.'
    """
    return {**EXIT_CODES.get(command, EXIT_CODES[""]), **ALWAYS}


def epilog(command: str) -> str:
    """The exit codes of a command as its epilog, one per line.

    Examples:
        >>> epilog("tasks").splitlines()[0]
        '0 The list was printed.'
    """
    return "\n".join(f"{code} {meaning}" for code, meaning in exit_codes(command).items())


class _WithExitCodes:
    """A command whose epilog is the list of its exit codes."""

    epilog: str | None

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the exit codes as a section of the help."""
        if self.epilog:
            lines = self.epilog.splitlines()
            with formatter.section("Exit codes"):
                formatter.write_dl([tuple(line.split(" ", 1)) for line in lines])


class HelpfulCommand(_WithExitCodes, TyperCommand):
    """A command whose help lists its exit codes; an error about what is missing shows its use.

    An option that takes one value is given once: of several values all but the last would be lost.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command.

        Raises:
            BadParameter: for a wrong word, an empty value, an option that is repeated though it
                takes one value, and for what is missing, with all that is required.
        """
        try:
            if args and not ctx.resilient_parsing:
                _, _, order = self.make_parser(ctx).parse_args([*args])
                _check_repeated(order, ctx)
            rest = super().parse_args(ctx, args)
        except BadParameter as error:
            error.message = error.message or f"Use: {ctx.command_path} {_required(self.params)}"
            raise
        for parameter in self.params:
            _check_not_empty(parameter, ctx)
        return rest


def _check_not_empty(parameter: Any, context: Any) -> None:
    """Refuse an empty value, as an unset variable of the shell gives: as a path it would be `/`."""
    value = context.params.get(parameter.name)
    source = context.get_parameter_source(parameter.name)
    values = value if isinstance(value, list | tuple) else [value]
    if any(each == "" for each in values) and source and source.name != "DEFAULT":
        name = parameter.metavar if _is_argument(parameter) else parameter.opts[-1]
        raise BadParameter(f"{name} is empty; leave it out or give it a value")


def _check_repeated(order: Iterable[Any], ctx: Any) -> None:
    """Refuse options that are repeated though they take one value.

    Args:
        order: the parameters as they are given.
        ctx: the context of the command.
    """
    for each, times in Counter(order).items():
        if times > 1 and not (_is_argument(each) or each.multiple or each.is_flag or each.count):
            reason = f"given {times} times, but it takes one value"
            raise BadParameter(reason, ctx=ctx, param=each)


def _required(parameters: Iterable[Any]) -> str:
    """The options and arguments that a command cannot do without, as in its usage."""
    needed = sorted((each for each in parameters if each.required), key=_is_argument)
    words = ([] if _is_argument(each) else [each.opts[0], each.metavar] for each in needed)
    arguments = [
        each.metavar if each.nargs == 1 or each.metavar.endswith("...") else f"{each.metavar}..."
        for each in needed
        if _is_argument(each)
    ]
    return " ".join([*(word for some in words for word in some), *arguments])


def _is_argument(parameter: Any) -> bool:
    return str(parameter.param_type_name) == "argument"


class HelpfulGroup(_WithExitCodes, TyperGroup):
    """A group of commands whose help lists its exit codes."""

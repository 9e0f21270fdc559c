"""Options of tasks as arguments of functions, and messages in the names of arguments."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from hlteval.sources.inputs import Input, WrongArgument, as_path
from hlteval.tasks import load
from hlteval.tasks.option import Option, WrongOption
from hlteval.tasks.options import unknown

OptionValue: TypeAlias = Input | bool | float | Sequence[str | os.PathLike[str] | float] | None
"""What an option can be: text, a number, a boolean for a switch, a list, or an input for a file."""

_FLAG = re.compile(r"--([a-z][a-z-]*)")
_ARGUMENTS = {
    "from": "from_format",
    "to": "to_format",
    "set": "settings",
}
"""Arguments that have other names on the command line."""
_SAME = (
    *("against", "bootstrap", "encoding", "force", "lenient", "max-memory", "metric", "profile"),
    "strict-loss",
)
"""Arguments of which only the notation differs."""


def reference_path(task: str, given: Input | None) -> str:
    """The path of a reference; empty for a task without references.

    Raises:
        WrongArgument: if there is none and the task needs one, or the reverse.
    """
    declared = load(task)
    if declared.scored_alone != (given is None):
        needs = "has no reference; pass None" if declared.scored_alone else "needs a reference"
        raise WrongArgument(f"reference: {task} {needs}")
    return "" if given is None else as_path("reference", given, table=declared.scored_table)


def task_options(
    task: str,
    function: Callable[..., Any],
    options: Mapping[str, Any] | None,
    keywords: Mapping[str, Any],
) -> dict[str, Any]:
    """The options of a task, as `merged` takes them: inputs have become names.

    Args:
        task: name of the task.
        function: the function whose options they are, named after its command. Its parameters are
            suggested too.
        options: by name, with hyphens or underscores; None is an option that is not set.
        keywords: the same as keyword arguments.

    Raises:
        WrongOption: for an unknown option.
        WrongArgument: for an option that is there twice.
        TypeError: for names that are not text.
    """
    command, parameters = function.__name__, tuple(inspect.signature(function).parameters)
    known = {option.name: option for option in load(task).options}
    found: dict[str, Any] = {}
    for given in (options or {}, keywords):
        for written, value in given.items():
            if not isinstance(written, str):
                raise TypeError(f"options: expected names as text, got {written!r}")
            name = written.replace("-", "_")
            if name not in known or not known[name].available_in(command):
                raise _unknown(task, command, name, parameters)
            if name in found:
                raise WrongArgument(f"{name}: set twice, as an argument and in options")
            if value is not None:
                found[name] = _value(known[name], value)
    return found


def _unknown(task: str, command: str, name: str, parameters: tuple[str, ...]) -> WrongOption:
    declared = load(task)
    for option in declared.options:
        if option.name == name:  # of another command
            return WrongOption(f"{name}: {_spelled(option.elsewhere(task, command), _flags(task))}")
    options = [option.name for option in declared.options if option.available_in(command)]
    return unknown(name, declared, options, also=parameters)


def _value(option: Option, value: Any) -> Any:
    """The value of an option, with the names of inputs where it names files."""
    if not option.is_input:
        return value
    if option.repeatable:
        values = value if isinstance(value, list | tuple) else [value]
        return [as_path(option.name, item) for item in values]
    return as_path(option.name, value, files_only=not option.format)


@contextmanager
def python_names(inputs: Mapping[str, object], task: str = "") -> Iterator[None]:
    """Messages of errors have the names of arguments, not those of the command line.

    Args:
        inputs: paths by argument: a message about one of them begins with the argument.
        task: the task whose options there are.
    """
    flags = _flags(task)
    try:
        yield
    except ValueError as error:
        message = _spelled(str(error), flags)
        error.args = (f"{_about(message, inputs)}{message}", *error.args[1:])
        if isinstance(fix := getattr(error, "fix", None), str):
            error.__dict__["fix"] = _spelled(fix, flags)
        raise
    except OSError as error:
        if error.errno is None and "output" in inputs:  # of ours: the folder or file is in the way
            message = _spelled(str(error), flags)
            error.args = (f"{_about(message, inputs) or 'output: '}{message}",)
        raise


def _flags(task: str) -> dict[str, str]:
    """The arguments by their names on the command line."""
    options = load(task).options if task else ()
    own = {option.flag: option.name for option in options}
    return {name: name.replace("-", "_") for name in _SAME} | _ARGUMENTS | own


def _spelled(message: str, flags: Mapping[str, str]) -> str:
    return _FLAG.sub(lambda match: flags.get(match[1], match[0]), message)


def _about(message: str, inputs: Mapping[str, object]) -> str:
    """The argument whose path a message names, as its beginning; empty if there is none."""
    for argument, path in inputs.items():
        if isinstance(path, str) and path and argument not in message:
            named = re.search(rf"(?<!\S){re.escape(path)}(?=[/:,\s]|$)", message)
            if named:
                return f"{argument}: "
    return ""

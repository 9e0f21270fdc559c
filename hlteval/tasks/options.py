"""Options of a task: read from a file, and converted to what its metric takes."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from hlteval.tasks.task import Option, Task, WrongOption

_LARGE = 1e6
"""Numbers of options are smaller."""


def merged(task: Task, given: Mapping[str, object]) -> dict[str, str]:
    """The options of a task as text: those that are given, and those of a file that one names.

    What is given overrides the file. The file is TOML; its keys are the names of options. Values
    are strings, numbers, lists of these, and booleans for switches, here as there; switches that
    are off and empty values are left out.

    Raises:
        WrongOption: for an unreadable file, an unknown option in it, or a value of another type.

    Examples:
        >>> from hlteval.tasks import load
        >>> merged(load("speech-sf"), {"place_match": "exact"})
        {'place_match': 'exact'}
    """
    own = {name: _given(task, name, value) for name, value in given.items() if value}
    read: dict[str, str] = {}
    for option in task.options:
        if option.holds_options and (path := own.pop(option.name, "")):
            read |= _of_file(path, task, [o for o in task.options if o is not option])
    return {**{name: value for name, value in read.items() if value}, **own}


def check_effect(
    task: Task, command: str, given: Collection[str], present: Collection[str] = ()
) -> None:
    """Check that each option of a task changes something in a command.

    Args:
        task: the task.
        command: name of the command.
        given: names of the options.
        present: names of what else the command has: options of a file, arguments, and `tables` if
            it gives all tables.

    Raises:
        WrongOption: for an option that the command would ignore, with where it belongs.
    """
    for option in task.options:
        if option.name not in given:
            continue
        if not option.available_in(command):
            raise WrongOption(option.elsewhere(task.name, command))
        if missing := option.lacks(command, {*given, *present}):
            raise WrongOption(missing)
        if option.adds == "tables" and "tables" not in present:
            raise WrongOption(f"--{option.flag} has no effect without -o or JSON")


def _given(task: Task, name: str, value: object) -> str:
    """A value from the command line, which is text already, or from Python."""
    if isinstance(value, str):
        return value
    for option in task.options:
        if option.name == name:
            return _text(f"--{option.flag}", option, value)
    return str(value)


def _of_file(path: str, task: Task, options: Iterable[Option]) -> dict[str, str]:
    known = {option.name: option for option in options}
    read = {}
    for key, value in _table(path).items():
        name = key.replace("-", "_")
        if name not in known:
            flags = ", ".join(option.flag for option in known.values())
            raise WrongOption(f"{path}: unknown option {key} of {task.name}; use one of {flags}")
        read[name] = _text(f"{path}: {known[name].flag}", known[name], value)
    return read


def _table(path: str) -> dict[str, object]:
    try:
        return tomllib.loads(Path(path).read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WrongOption(f"{path} is not valid TOML: {error}") from error


def _text(display: str, option: Option, value: object) -> str:
    """A value as it would be given on the command line; nothing for a switch that is off."""
    if isinstance(value, bool) or option.switch:
        if not (isinstance(value, bool) and option.switch):
            kind = "true or false" if option.switch else "a value, not true or false"
            raise WrongOption(f"{display} takes {kind}")
        return "yes" if value else ""
    if isinstance(value, list | tuple):
        separator = " " if option.repeatable else ","
        return separator.join(_text(display, option, item) for item in value)
    if isinstance(value, str | int | float):
        return str(value)
    raise WrongOption(f"{display} must be a string, a number or a list")


def metric_options(task: Task, given: Mapping[str, str], *, encoding: str = "utf-8") -> Any:
    """The options of a task's metric, as its dataclass has them.

    Args:
        task: the task.
        given: values as text, by the names of the task's options.
        encoding: of the files that they name.

    Raises:
        WrongOption: for a value that an option cannot have, or one that needs another option.
        FileNotFoundError: for a path that does not exist.

    Examples:
        >>> from hlteval.tasks import load
        >>> options = metric_options(load("hub4"), {"beta": "2", "fillers": "uh, um"})
        >>> options.beta, options.fillers
        (2.0, ('uh', 'um'))
    """
    if task.metric_options is None:
        return None
    default = task.metric_options()
    names = {field.name for field in fields(default)}
    values = {
        option.name: _converted(option, {**given, "encoding": encoding})
        for option in task.options
        if option.name in names and option.name in given
    }
    return replace(default, **values)


def _converted(option: Option, given: Mapping[str, str]) -> object:
    """The value of an option as the metric takes it."""
    value: Any = given[option.name]
    option.check(value)
    for name in (*option.needs.get("", ()), *option.needs.get(value, ())):
        if name not in given:
            raise WrongOption(f"--{option.flag} needs --{name.replace('_', '-')}")
    if option.switch or option.format:
        return True
    if option.kind == "number":
        return _number(option, value)
    if option.repeatable:
        value = tuple(value.split())
    elif option.kind == "list":
        value = tuple(item for part in value.split(",") if (item := part.strip()))
    try:
        return option.read(value, given) if option.read else value
    except WrongOption:
        raise
    except ValueError as reason:
        raise WrongOption(f"--{option.flag}: {reason}") from reason


def _number(option: Option, written: str) -> float:
    try:
        value = float(written)
    except ValueError:
        value = 0.0
    if not 0 < value < _LARGE:
        raise WrongOption(f"--{option.flag} is a number above 0, not {written}")
    return value

"""Options of a task that stand in a file, for those who always score with the same ones."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from hlteval.tasks.task import Option, Task, WrongOption

NAME = "options"
"""The option that names the file."""


def merged(task: Task, given: Mapping[str, str]) -> dict[str, str]:
    """The options that are given, and those of the file that the option `options` names.

    What is given counts before what the file says. The file is TOML; its keys are the names of
    options, its values strings, numbers, lists of these, and true or false for switches.

    Raises:
        WrongOption: if the file cannot be read, or holds what is no option of the task.

    Examples:
        >>> from hlteval.tasks import load
        >>> merged(load("speech-sf"), {"place_match": "exact"})
        {'place_match': 'exact'}
    """
    own = {name: value for name, value in given.items() if name != NAME}
    known = {option.name: option for option in task.options}
    if NAME not in given or NAME not in known:
        return dict(given)
    path = given[NAME]
    read = {}
    for key, value in _table(path).items():
        name = key.replace("-", "_")
        if name not in known or name == NAME:
            flags = ", ".join(option.flag for option in task.options if option.name != NAME)
            raise WrongOption(f"{path}: unknown option {key} of {task.name}; use one of {flags}")
        read[name] = _text(path, known[name], value)
    return {**{name: value for name, value in read.items() if value}, **own}


def _table(path: str) -> dict[str, object]:
    try:
        return tomllib.loads(Path(path).read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WrongOption(f"{path} is not valid TOML: {error}") from error


def _text(path: str, option: Option, value: object) -> str:
    """A value as it would be given on the command line; nothing for a switch that is off."""
    if isinstance(value, bool) or option.switch:
        if not (isinstance(value, bool) and option.switch):
            kind = "true or false" if option.switch else "a value, not true or false"
            raise WrongOption(f"{path}: {option.flag} takes {kind}")
        return "yes" if value else ""
    if isinstance(value, list):
        return ",".join(_text(path, option, item) for item in value)
    if isinstance(value, str | int | float):
        return str(value)
    raise WrongOption(f"{path}: {option.flag} must be a string, a number or a list of these")

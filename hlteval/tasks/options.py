"""Options of a task: read from a file, and converted to what its metric takes."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from math import isfinite, nan
from numbers import Real
from typing import TYPE_CHECKING, Any

from hlteval.findings.suggest import did_you_mean
from hlteval.sources import Unreadable, open_source
from hlteval.sources.names import is_text
from hlteval.tasks.task import Option, Task, WrongOption

if TYPE_CHECKING:
    from hlteval.tasks.option_files import OptionFiles

#: Numbers of options are smaller.
_LARGE = 1e6


def merge_options(task: Task, given: Mapping[str, object]) -> dict[str, str]:
    """The options of a task as text: those that are given, and those of a file that one names.

    What is given overrides the file. The file is TOML; its keys are the names of options. Values
    are strings, numbers, lists of these, and booleans for switches, here as there; switches that
    are off and empty values are left out.

    Raises:
        WrongOption: for an unreadable file, an unknown option in it, or a value of another type.

    Examples:
        >>> from hlteval.tasks import load
        >>> merge_options(load("speech-sf"), {"place_match": "exact"})
        {'place_match': 'exact'}
    """
    options = by_name(task.options)
    own: dict[str, str] = {}
    for written, value in given.items():
        if written not in options:
            raise unknown(written, task, (option.key for option in task.options))
        option = options[written]
        if option.switch and isinstance(value, str) and value in {"", "yes"}:
            text = value
        else:
            text = "" if value is None else _text(f"--{option.flag}", option, value)
        if option.repeatable and option.kind == "list":
            text = " ".join(text.replace(",", " ").split())
        if text:
            own[option.name] = text
    read: dict[str, str] = {}
    for option in task.options:
        if option.holds_options and (path := own.pop(option.name, "")):
            read |= _of_file(path, task, [other for other in task.options if other is not option])
    own = {**{name: value for name, value in read.items() if value}, **own}
    return {**task.option_defaults, **own}


def by_name(options: Iterable[Option]) -> dict[str, Option]:
    """Options by the names that users may write: the present ones, and the former ones.

    Examples:
        >>> from hlteval.tasks import load
        >>> [*by_name(load("coreference").options)][-2:]
        ['metric', 'measures']
    """
    return {name: option for option in options for name in (option.key, option.name)}


def with_seed(task: Task, given: Mapping[str, object], seed: int) -> dict[str, object]:
    """Options of a task with the seed of a command, for those that follow it and are not given.

    Examples:
        >>> from hlteval.tasks import load
        >>> with_seed(load("lorehlt-sf"), {"gravity": "numeric"}, 7)
        {'annotator_seed': '7', 'gravity': 'numeric'}
        >>> with_seed(load("hub4"), {}, 7)
        {}
    """
    names = [option.name for option in task.options if option.follows_seed and seed]
    return {**dict.fromkeys(names, str(seed)), **given}


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
        if option.adds in ("tables", "texts") and "tables" not in present:
            raise WrongOption(f"--{option.flag} has no effect without -o, --report or JSON")


def check_values(task: Task, given: Mapping[str, str]) -> None:
    """Check the values of options that are neither files nor choices, where no metric reads them.

    Raises:
        WrongOption: for a value that an option cannot have.

    Examples:
        >>> from hlteval.tasks import load
        >>> check_values(load("ccu-ta2"), {"scale": "7"})
    """
    for option in task.options:
        if option.name in given and option.read and not (option.is_file or option.format):
            _as_read(option, given[option.name], given)


def _as_read(option: Option, written: str, given: Mapping[str, str]) -> object:
    """The value of an option as its reader gives it; the value itself without a reader."""
    value: Any = written
    if option.repeatable:
        value = tuple(written.split())
    elif option.kind == "list":
        value = tuple(item for part in written.split(",") if (item := part.strip()))
    try:
        return option.read(value, given) if option.read else value
    except WrongOption:
        raise
    except ValueError as reason:
        raise WrongOption(f"--{option.flag}: {reason}") from reason


def groupings(task: Task, given: Mapping[str, str]) -> tuple[str, ...]:
    """Criteria by which documents are grouped, so that each group is scored, too.

    Raises:
        WrongOption: for a value that the option cannot have.

    Examples:
        >>> from hlteval.tasks import load
        >>> groupings(load("mentions"), {"by": "document,language"}), groupings(load("hub4"), {})
        (('document', 'language'), ())
    """
    options = [item for item in task.options if item.groups_documents and item.name in given]
    values: list[Any] = [_as_read(option, given[option.name], given) for option in options]
    return tuple(name for each in values for name in each if name != "label")  # always given


def unknown(
    name: str, task: Task, known: Iterable[str], where: str = "", also: Iterable[str] = ()
) -> WrongOption:
    """The error for an unknown option.

    Args:
        name: the unknown name.
        task: the task.
        known: the names that there are.
        where: prefix of the message, such as a file.
        also: other names that may be meant.
    """
    names = list(known)
    listed = f"use one of {', '.join(names)}" if names else "it has no options"
    hint = did_you_mean(name, [*names, *also], listed)
    return WrongOption(f"{where}unknown option {name} of {task.name}; {hint}")


def _of_file(path: str, task: Task, options: Iterable[Option]) -> dict[str, str]:
    """Read the options of a TOML file as text."""
    source = open_source(path)
    if source.kind not in {"file", "stdin"} or len(source.members) != 1:
        raise WrongOption(f"{path} is not a TOML file")
    try:
        table = tomllib.loads(source.members[0].fetch().decode())
    except Unreadable as error:
        raise WrongOption(f"{path}: {error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WrongOption(f"{path} is not valid TOML: {error}") from error
    listed = list(options)
    known, read = by_name(listed), {}
    for key, value in table.items():
        option = known.get(key.replace("-", "_"))
        if option is None:
            raise unknown(key, task, (each.flag for each in listed), f"{path}: ")
        read[option.name] = _text(f"{path}: {option.flag}", option, value)
    return read


def _text(display: str, option: Option, value: object) -> str:
    """A value as it would be given on the command line; nothing for a switch that is off."""
    if isinstance(value, str) and not option.switch:
        if not option.is_input and not is_text(value):
            raise WrongOption(f"{display} must be text that UTF-8 can represent, not {value!a}")
        return value
    if isinstance(value, bool) or option.switch:
        if not (isinstance(value, bool) and option.switch):
            kind = "true or false" if option.switch else "a value, not true or false"
            raise WrongOption(f"{display} takes {kind}")
        return "yes" if value else ""
    if isinstance(value, list | tuple):
        separator = " " if option.repeatable else ","
        return separator.join(_text(display, option, item) for item in value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, str | Real):
        return str(value)
    raise WrongOption(f"{display} must be a string, a number or a list")


def metric_options(task: Task, given: Mapping[str, str], files: OptionFiles | None = None) -> Any:
    """The options of a task's metric, as its dataclass has them.

    Of a file that is read as a corpus, the metric has the names of its documents, or True if its
    default is False.

    Args:
        task: the task.
        given: values as text, by the names of the task's options.
        files: those that the options name; without them, these options have their defaults.

    Raises:
        WrongOption: for a value that an option cannot have, or one that needs another option.

    Examples:
        >>> from hlteval.tasks import load
        >>> options = metric_options(load("hub4"), {"beta": "2", "fillers": "uh, um"})
        >>> options.beta, options.fillers
        (2.0, ('uh', 'um'))
    """
    if task.metric_options is None:
        return None
    default = task.metric_options()
    defaults = {field.name: getattr(default, field.name) for field in fields(default)}
    read: dict[str, object] = {**defaults}
    if files:
        corpora = {n: c for n, c in files.corpora.items() if defaults.get(n) is not False}
        read |= {name: (*corpus.documents["name"],) for name, corpus in corpora.items()}
        read |= files.values
    values = {
        option.name: _value(option, given, read)
        for option in task.options
        if option.name in defaults and option.name in given
    }
    return replace(default, **values)


def _value(option: Option, given: Mapping[str, str], read: Mapping[str, object]) -> object:
    """Convert the value of an option to what the metric takes; `read` has those of files."""
    text = given[option.name]
    option.check(text)
    for name in (*option.needs.get("", ()), *option.needs.get(text, ())):
        if name not in given:
            raise WrongOption(f"--{option.flag} needs --{name.replace('_', '-')}")
    if option.switch or read[option.name] is False:
        return True
    if option.is_file:
        return read[option.name]
    if option.kind != "number":
        return _as_read(option, text, given)
    number = to_number(text)
    if not 0 < number < _LARGE:
        raise WrongOption(f"--{option.flag} is a number above 0, not {text}")
    return number


def to_number(text: str) -> float:
    """A finite number; not-a-number for anything else.

    Examples:
        >>> to_number("1e3"), to_number("inf"), to_number("many")
        (1000.0, nan, nan)
    """
    try:
        value = float(text)
    except ValueError:
        return nan
    return value if isfinite(value) else nan

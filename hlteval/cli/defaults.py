"""Defaults of folders on the command line, whose words are read before it is parsed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer

from hlteval.results.verdict import Defaults
from hlteval.tasks import is_file, is_known, load

if TYPE_CHECKING:
    from hlteval.cli.commands import TaskCommand
    from hlteval.results.config import Config
    from hlteval.tasks.task import Task
    from hlteval.workflows.run.request import Request

#: The options of every command that print its help.
HELP = ("-h", "--help")


def switches(command: TaskCommand) -> frozenset[str]:
    """The options of a command that take no value.

    Examples:
        >>> from hlteval.cli.app import TASKED
        >>> sorted(switches(TASKED["score"]))
        ['--confusion', '--help', '--lenient', '--quiet', '--wide', '-h', '-q']
    """
    found = set(HELP)
    for parameter in command.parameters.values():
        kind, declared = get_args(parameter.annotation)
        if kind is bool:
            found |= {str(name) for name in (declared.default, *declared.param_decls)}
    return frozenset(found)


def arguments(words: Sequence[str], without_value: Collection[str]) -> Iterator[int]:
    """Give the indices of the words that are neither options nor their values.

    Args:
        words: the words after the name of the command.
        without_value: the options that take no value; all others take one.

    Examples:
        >>> list(arguments(["--wide", "a", "-j4", "-s", "b", "--format=json", "c"], {"--wide"}))
        [1, 6]
    """
    is_value = False
    for index, word in enumerate(words):
        if word == "--":
            yield from range(index + 1, len(words))
            return
        if is_value:
            is_value = False
        elif word.startswith("-") and word != "-":
            # The value of an option is the next word, rather than a part of the same.
            alone = "=" not in word if word.startswith("--") else len(word) == 2
            is_value = alone and word not in without_value
        else:
            yield index


def values(words: Sequence[str], names: Collection[str]) -> Iterator[str]:
    """The values of an option.

    Args:
        words: the words after the name of the command.
        names: the names of the option.

    Examples:
        >>> list(values(["-s", "a", "--system=b", "-sc", "x"], ("-s", "--system")))
        ['a', 'b', 'c']
    """
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if word in names:
            yield from words[index + 1 : index + 2]
        elif name in names and equals:
            yield value
        elif not word.startswith("--") and word[:2] in names:
            yield word[2:]


def with_first(words: Sequence[str], wanted: Collection[str], command: TaskCommand) -> list[str]:
    """The words with the name of a task first, which may be after options.

    Args:
        words: the words after the name of the command.
        wanted: the names of the tasks.
        command: the command.

    Examples:
        >>> from hlteval.cli.app import TASKED
        >>> with_first(["--wide", "-r", "ltf", "hub4", "-s", "b"], ("ltf", "hub4"), TASKED["score"])
        ['hub4', '--wide', '-r', 'ltf', '-s', 'b']
    """
    if not words or not words[0].startswith("-") or words[0] in HELP:
        return list(words)
    index = next(arguments(words, switches(command)), len(words))
    first = [word for word in words[index : index + 1] if word in wanted or is_file(word)]
    return [*first, *words[:index], *words[index + len(first) :]]


#: The value of `--defaults` that asks for no file.
NONE = "none"
#: Where a context keeps the file of defaults.
KEY = "hlteval.defaults"

#: The sources of a value: the command line, or the file of defaults.
WRITTEN, FILE = "COMMANDLINE", "DEFAULT_MAP"


def task_of(words: Sequence[str], command: TaskCommand) -> str:
    """Return the task that the file of defaults names, for a command line without a task.

    Raises:
        BadParameter: if several files apply.
    """
    if not command.takes_defaults or set(words) & set(HELP):
        return ""
    config = _read(_path(words, command))
    return config.task if config else ""


def task_path(words: Sequence[str], command: TaskCommand) -> str:
    """The path of the task that words begin with, if a file of defaults lists it; else its name.

    Raises:
        BadParameter: if several files apply.
    """
    name, *rest = words
    if is_known(name) or name.startswith("-") or not command.takes_defaults:
        return name
    config = _read(_path(rest, command), quiet=True)
    return str(config.tasks.get(name, name)) if config else name


def set_defaults(context: Any, words: Sequence[str], command: TaskCommand, own_task: bool) -> None:
    """Let the options of a task that are not given have the values of the file of defaults.

    Args:
        context: of the command, whose options are still to be parsed.
        words: the command line, with the task first.
        command: the command.
        own_task: whether the task is that of the file, too.

    Raises:
        BadParameter: if several files apply.
        Exit: with status 2, if the file has errors.
    """
    from hlteval.tasks.options import merge_options

    task, *rest = words
    if not command.takes_defaults or set(words) & set(HELP) or not rest:
        return
    config = _read(_path(rest, command, task), task)
    if config is None:
        return
    kept = {key: value for key, value in config.values.items() if own_task or key != "task"}
    context.meta[KEY] = replace(config, values=kept)
    present: dict[str, object] = {}
    for key, value in config.values.items():
        name = key.replace("-", "_")
        if name not in command.takes or (name == "reference" and load(task).scored_alone):
            continue
        is_table = isinstance(value, Mapping)
        present[name] = [f"{code}={level}" for code, level in value.items()] if is_table else value
    for declared in load(task).options:
        name, key = declared.name, declared.key
        if key in config.options and declared.available_in(command.name):
            text = merge_options(load(task), {key: config.options[key]}).get(name, "")
            several = [text] if declared.repeatable and text else text or None
            present[name] = bool(text) if declared.switch else several
    context.default_map = {task: present}


def _path(words: Sequence[str], command: TaskCommand, task: str = "") -> str | None:
    """Return the path of the file of defaults that applies to a command line."""
    from hlteval.workflows.config import start_of

    written = next(iter(values(words, ["--defaults"])), None)
    if written == "":
        raise typer.BadParameter("--defaults is empty; leave it out or give it a value")
    if written is not None:
        return written
    if "system" in command.takes:
        paths = list(values(words, ["-s", "--system"]))
    else:
        declared = load(task).options if task else ()
        flags = {f"--{option.flag}" for option in declared if option.switch}
        paths = [words[index] for index in arguments(words, switches(command) | flags)]
        if "--by-folder" in words and task:
            from hlteval.workflows.run.verdicts import submissions

            paths = submissions(task, paths)
        elif "--by-folder" in words:
            paths = [str(Path(path).parent) for path in paths]
    return _search([start_of(path) for path in paths] or [start_of("-")])


def _search(starts: Sequence[Path]) -> str | None:
    """Search the file of defaults from some folders upwards.

    Raises:
        BadParameter: if these are several.
    """
    from hlteval.workflows.config import find, relative_path

    paths = list(dict.fromkeys(map(cache(find), starts)))
    if len(paths) > 1:
        listed = ", ".join("none" if path is None else relative_path(path) for path in paths)
        raise typer.BadParameter(
            f"submissions have different files of defaults ({listed}); use --defaults FILE"
        )
    return None if paths[0] is None else relative_path(paths[0])


def _read(path: str | None, task: str = "", *, quiet: bool = False) -> Config | None:
    """Read a file of defaults; None if there is none, or for another task, which it may print.

    Raises:
        Exit: with status 2, if the file has errors.
    """
    from hlteval.workflows.config import read_config

    if path is None or path == NONE:
        return None
    config = sound(read_config(path, task))
    named = {"", task, os.path.relpath(task)} if is_file(task) else {"", task}
    if task and config.task not in named:
        if not quiet:
            without_effect(config, task)
        return None
    return config


def sound(config: Config) -> Config:
    """A file of defaults without errors; all findings about it are printed.

    Raises:
        Exit: with status 2, if it has errors.
    """
    from hlteval.cli.output import show_findings

    if any(finding.severity == "error" for finding in config.findings):
        show_findings(config.findings)
        raise typer.Exit(2)
    return config


def config_of_call(
    given: str | None, inputs: Sequence[str], task: str = "", *, quiet: bool = False
) -> Config | None:
    """The file of defaults of a command that is not of one task; None if none applies.

    Args:
        given: the value of `--defaults`.
        inputs: the paths above which it is searched for.
        task: the task that is given; empty if none is.
        quiet: whether nothing is printed if the file is for another task.

    Raises:
        BadParameter: if several files apply.
        Exit: with status 2, if the file has errors.
    """
    from hlteval.workflows.config import start_of

    path = _search([start_of(each) for each in inputs]) if given is None else given
    return _read(path, task, quiet=quiet)


def path_of_task(name: str, inputs: Sequence[str], written: str | None = None) -> str:
    """The path of a task that the file of defaults lists by its name; else its name.

    Args:
        name: of the task, or empty.
        inputs: the paths above which the file of defaults is searched for.
        written: the value of `--defaults`.

    Raises:
        BadParameter: if several files apply.
        Exit: with status 2, if the file has errors.
    """
    if not name or is_known(name):
        return name
    config = config_of_call(written, inputs, quiet=True)
    return str(config.tasks.get(name, name)) if config else name


def without_effect(config: Config, other: str) -> None:
    """Print that a file of defaults is for another task."""
    show_note(f"{config.path} has defaults for {config.task} only, not for {other}")


def not_given(context: Any, config: Config | None, names: Iterable[str]) -> Mapping[str, Any]:
    """The values of a file of defaults for parameters that are not on the command line."""
    return {
        name: config.values[name]
        for name in names
        if config and name in config.values
        if source(context, name) != WRITTEN
    }


def source(context: Any, name: str) -> str:
    """The source of the value of a parameter: `WRITTEN`, `FILE`, or another."""
    found = context.get_parameter_source(name)
    return found.name if found else ""


def applied_defaults(context: Any, task: Task) -> Defaults | None:
    """Return the defaults that a command takes from a file; None if it takes nothing."""
    config: Config | None = context.meta.get(KEY)
    if config is None:
        return None
    options = {option.key: option.name for option in task.options}
    names = dict.fromkeys(
        f"options.{inner}" if key == "options" else key
        for key, value in config.values.items()
        for inner in (value if key == "options" else [key])
        if key == "task" or source(context, options.get(inner, inner.replace("-", "_"))) == FILE
    )
    return Defaults(config.path, tuple(names)) if names else None


def show_defaults(defaults: Defaults | None) -> None:
    """Print which file gave what, if one did."""
    if defaults is not None:
        show_note(defaults.note)


def show_unused_jobs(request: Request, reasons: Sequence[str], submissions: int) -> None:
    """Print why `--jobs` or `--cluster` has no effect, if it has none on any submission.

    Args:
        request: has the number of jobs.
        reasons: one for each submission that one process read.
        submissions: how many there are.
    """
    option = "--cluster" if request.cluster else f"--jobs {request.jobs}"
    if reasons and len(reasons) >= submissions:
        show_note(f"{option} has no effect: {'; '.join(dict.fromkeys(reasons))}")


def show_note(text: str) -> None:
    """Print a note to standard error."""
    from hlteval.reports.terminal import note, remarks, write

    write(remarks(), note(text))

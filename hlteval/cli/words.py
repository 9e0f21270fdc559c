"""The words of a command line before it is parsed: which are options, values and arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, get_args

HELP = ("-h", "--help")
"""The options of every command that print its help."""


def switches(run: Callable[..., Any]) -> frozenset[str]:
    """The options of a command that take no value, from its signature.

    Examples:
        >>> from hlteval.cli.score import score
        >>> sorted(switches(score))
        ['--help', '--lenient', '--wide', '-h']
    """
    found = set(HELP)
    for parameter in inspect.signature(run, eval_str=True).parameters.values():
        kind, *declared = get_args(parameter.annotation) or (None,)
        if kind is bool:
            found |= {str(name) for name in (declared[0].default, *declared[0].param_decls)}
    return frozenset(found)


def arguments(words: Sequence[str], without_value: Collection[str]) -> Iterator[int]:
    """Where the words are that are neither options nor their values.

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
            is_value = _takes_next(word) and word not in without_value
        else:
            yield index


def _takes_next(option: str) -> bool:
    """Whether the value of an option is the next word, rather than a part of the same."""
    return "=" not in option if option.startswith("--") else len(option) == 2


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


def with_first(words: Sequence[str], wanted: Collection[str], run: Callable[..., Any]) -> list[str]:
    """The words with the name of a task first, which may be after options.

    Args:
        words: the words after the name of the command.
        wanted: the names of the tasks.
        run: the body of the command.

    Examples:
        >>> from hlteval.cli.score import score
        >>> with_first(["--wide", "-r", "ltf", "hub4", "-s", "b"], ("ltf", "hub4"), score)
        ['hub4', '--wide', '-r', 'ltf', '-s', 'b']
    """
    if not words or not words[0].startswith("-") or words[0] in HELP:
        return list(words)
    for index in arguments(words, switches(run)):
        if words[index] in wanted:
            return [words[index], *words[:index], *words[index + 1 :]]
        break
    return list(words)

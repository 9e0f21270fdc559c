"""Names that shells complete: tasks, formats, metrics, settings and codes.

Each function takes the beginning of a word and returns the words that it can become, with what they
mean. None reads a file of the user, and none imports a heavy library.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator
from importlib import resources

import typer

from hlteval.tasks.option import Option

Words = list[tuple[str, str]]
"""Words that a shell offers, each with what it means."""
LISTED = "hlteval.listed"
"""Set in a context whose group lists its tasks: their commands are not built."""


def tasks(incomplete: str) -> Words:
    """Names of tasks.

    Examples:
        >>> [name for name, _ in tasks("lorehlt-e")]
        ['lorehlt-edl']
    """
    from hlteval.tasks import known, load

    return [(name, load(name).title) for name in known() if name.startswith(incomplete)]


def formats(incomplete: str) -> Words:
    """Names of formats.

    Examples:
        >>> formats("rsd")[0][0]
        'rsd'
    """
    from hlteval.converters import summaries

    listed = summaries().items()
    return [(name, form.title) for name, form in listed if name.startswith(incomplete)]


def settings(incomplete: str) -> Words:
    """Settings of formats, up to the equals sign.

    Examples:
        >>> [name for name, _ in settings("off")]
        ['offsets=']
    """
    from hlteval.converters import summaries

    found: dict[str, str] = {}
    for form in summaries().values():
        for written in form.settings:
            found.setdefault(f"{written.name}=", written.help)
    return [item for item in found.items() if item[0].startswith(incomplete)]


def schemas(incomplete: str) -> Words:
    """Names of schemas.

    Examples:
        >>> schemas("scor")
        [('scores', 'Scores of a submission')]
    """
    from hlteval.reports.schemas.declared import SCHEMAS

    listed = SCHEMAS.items()
    return [(name, schema.title) for name, schema in listed if name.startswith(incomplete)]


def codes(incomplete: str) -> Words:
    """Codes of findings; in a list separated by commas, the last one.

    Examples:
        >>> [name for name, _ in codes("STD3,SRC20")]
        ['STD3,SRC201', 'STD3,SRC202', 'STD3,SRC203', 'STD3,SRC204', 'STD3,SRC205']
    """
    before, comma, last = incomplete.rpartition(",")
    return [(before + comma + code, title) for code, title in _codes(last)]


def levels(incomplete: str) -> Words:
    """Codes with the severities that they can get.

    Examples:
        >>> [name for name, _ in levels("SRC201=w")]
        ['SRC201=warning']
    """
    code, equals, level = incomplete.partition("=")
    if not equals:
        return [(f"{name}=", title) for name, title in codes(incomplete)]
    return [
        (f"{code}={each}", "") for each in ("error", "warning", "info") if each.startswith(level)
    ]


def _codes(beginning: str) -> Iterator[tuple[str, str]]:
    """The codes that begin with something; only the files of their letters are read."""
    folder = resources.files("hlteval.findings") / "codes"
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        prefix = file.name.removesuffix(".toml")
        if prefix.startswith(beginning[:3]):
            entries = tomllib.loads(file.read_text("utf-8")).items()
            yield from ((c, entry["title"]) for c, entry in entries if c.startswith(beginning))


def metrics(ctx: typer.Context, incomplete: str) -> Words:
    """Names of the metrics of a command's task; in a list separated by commas, the last one."""
    from hlteval.tasks import known, load

    task = str(ctx.info_name)
    before, comma, last = incomplete.rpartition(",")
    names: Iterable[str] = load(task).metrics if task in known() else ()
    return [(before + comma + name, "") for name in names if name.startswith(last)]


def options(incomplete: str) -> Words:
    """Options of tasks, for commands that take them as NAME=VALUE."""
    from hlteval.tasks import known, load

    found: dict[str, str] = {}
    for name in known():
        for option in load(name).options:
            found.setdefault(f"{option.flag}=", option.help)
    return [item for item in found.items() if item[0].startswith(incomplete)]


def choices(option: Option) -> Callable[[str], list[str]] | None:
    """What completes the value of an option of a task; None where anything can be written.

    Examples:
        >>> complete = choices(Option("mode", "", choices=("map", "content")))
        >>> complete("m")
        ['map']
    """
    if not option.choices:
        return None

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in option.choices if choice.startswith(incomplete)]

    return complete

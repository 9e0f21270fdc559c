"""Manual pages: one for `hlteval` and one for each command, from the commands themselves.

`make man` writes them into build/man, where `man -M build/man hlteval-score` shows them.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from docs.make.option_page import COMMANDS, PER_TASK, Taken, description, own_options, taken
from hlteval import __version__
from hlteval.cli.app import app
from hlteval.cli.process import exit_codes

_TITLE = "Evaluation of human language technology"


def man_pages() -> Mapping[str, str]:
    """The manual pages in roff, by the name of their file.

    Examples:
        >>> sorted(man_pages())[:2]
        ['hlteval-agreement.1', 'hlteval-campaign.1']
    """
    pages = {f"{_name(command)}.1": _page(command) for command in COMMANDS}
    return {"hlteval.1": _whole(), **pages}


def write(folder: Path) -> None:
    """Write all pages into the folder `man1` of a folder."""
    target = folder / "man1"
    target.mkdir(parents=True, exist_ok=True)
    for name, text in man_pages().items():
        (target / name).write_text(text, "ascii")


def roff(text: str) -> str:
    r"""A text as roff shows it unchanged: escaped, and in ASCII.

    Examples:
        >>> roff("--set NAME=VALUE,…"), roff(".zip")
        ('\\-\\-set NAME=VALUE,\\[u2026]', '\\&.zip')
    """
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("`", r"\(ga")
    escaped = "".join(c if c.isascii() else rf"\[u{ord(c):04X}]" for c in escaped)
    escaped = re.sub(r"\|(?=\w)", r"|\\:", escaped)  # where a long list of values may be broken
    return re.sub(r"^(?=[.'])", r"\\&", escaped, flags=re.M)


def _name(command: str) -> str:
    """The name of the page of a command.

    Examples:
        >>> _name("manifest check")
        'hlteval-manifest-check'
    """
    return "-".join(["hlteval", *command.split()])


def _whole() -> str:
    """The page of `hlteval` itself."""
    synopsis = roff("hlteval [-V] [-h] COMMAND …")
    about = inspect.cleandoc(str(app.info.help))
    options = [("-V, --version", "Print the version and exit."), ("-h, --help", "Show the help.")]
    commands = [(name, description(run)) for name, run in COMMANDS.items()]
    parts = [*_head("hlteval", about.rstrip(".").lower()), ".SH SYNOPSIS", synopsis]
    parts += [".SH DESCRIPTION", roff(about), ".SH OPTIONS", *_listed(options)]
    parts += [".SH COMMANDS", *_listed(commands), *_exits("")]
    return "\n".join([*parts, *_see(map(_name, COMMANDS))]) + "\n"


def _page(command: str) -> str:
    """The page of a command."""
    run = COMMANDS[command]
    items = taken(command, run)
    called = ["hlteval", *command.split(), *(["TASK"] if command in PER_TASK else [])]
    called += [item.called for item in items if item.called]
    about = description(run)
    head = _head(_name(command), about.rstrip("."))
    parts = [*head, ".SH SYNOPSIS", roff(" ".join([*called, "[OPTIONS]"]))]
    parts += [".SH DESCRIPTION", roff(about)]
    if items:
        parts += [".SH OPTIONS", *_listed((_written(item), _meaning(item)) for item in items)]
    for task, options in own_options(command).items() if command in PER_TASK else ():
        parts += [f".SH OPTIONS OF {roff(task)}", *_listed(options)]
    return "\n".join([*parts, *_exits(command), *_see(["hlteval"])]) + "\n"


def _head(name: str, about: str) -> Iterator[str]:
    yield f'.TH "{roff(name.upper())}" 1 "" "hlteval {__version__}" "{_TITLE}"'
    yield ".SH NAME"
    yield f"{roff(name)} \\- {roff(about[:1].lower() + about[1:])}"


def _written(item: Taken) -> str:
    return item.row[0].strip("`").replace("\\|", "|")


def _meaning(item: Taken) -> str:
    """What an option does, with its default."""
    default = item.row[2].strip("*`")
    more = {"": "", "required": " Required."}.get(default, f" Default: {default}.")
    return item.row[1] + more


def _listed(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in rows:
        yield f".TP\n.B {roff(name)}\n{roff(meaning)}"


def _exits(command: str) -> Iterator[str]:
    yield ".SH EXIT STATUS"
    yield from _listed((str(code), meaning) for code, meaning in exit_codes(command).items())


def _see(names: Iterable[str]) -> Iterator[str]:
    yield ".SH SEE ALSO"
    yield ".nh"  # names of commands are not divided
    yield ".nh"  # names of commands are searched for: they are not hyphenated
    yield ".ad l"
    yield ",\n".join(f".BR {roff(name)} (1)" for name in names)


if __name__ == "__main__":
    write(Path(sys.argv[1]))

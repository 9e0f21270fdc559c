"""The explanation of a code, for `hlteval explain CODE` and the page of the code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text

from hlteval.findings import Entry, catalogue, entry
from hlteval.findings.suggest import closest
from hlteval.reports.display import visible
from hlteval.reports.prose import wrap
from hlteval.reports.tables import Column, Table, Tables
from hlteval.reports.text import STYLES

_WIDEST = 88
"""Maximum line length of prose, which longer lines make hard to read."""


class UnknownCodeError(ValueError):
    """An unknown code; `suggestion` is the closest known code, or None if none is similar."""

    def __init__(self, code: str, suggestion: str | None) -> None:
        prefixes = ", ".join(dict.fromkeys(known[:3] for known in catalogue()))
        hint = f"did you mean {suggestion}?" if suggestion else f"codes start with {prefixes}"
        super().__init__(f"unknown code {visible(code)}; {hint}")
        self.code, self.suggestion = code, suggestion


def explain(code: str) -> RenderableType:
    """The meaning of a code, why it matters and how to fix it, with an example.

    Args:
        code: a code, or a prefix of codes, of which a list is given; case does not matter.

    Raises:
        UnknownCodeError: if no code of the catalogue matches.
    """
    found = matching(code)
    alone = len(found) == 1 and found[0].code == code.strip().upper()
    return Explanation(found[0]) if alone else _listing(found)


def matching(code: str) -> list[Entry]:
    """The entry of a code, or those of the codes with a prefix; case does not matter.

    Raises:
        UnknownCodeError: if no code of the catalogue matches.

    Examples:
        >>> [entry.code for entry in matching("std30")][:2]
        ['STD301', 'STD302']
    """
    prefix = code.strip().upper()
    if re.fullmatch("[A-Z]{3}[0-9]{3}", prefix):
        try:
            return [entry(prefix)]
        except KeyError:
            return [look_up(code, catalogue())]
    found = [known for name, known in catalogue().items() if name.startswith(prefix)]
    return found or [look_up(code, catalogue())]


def _listing(entries: Sequence[Entry]) -> Tables:
    """A table of codes with severity and title."""
    columns = [Column("code", "name"), Column("severity", "name"), Column("title", "prose")]
    rows = [[(row.code, STYLES[row.severity]), row.severity.value, row.title] for row in entries]
    return Tables([Table(columns, rows)])


def look_up(code: str, entries: Mapping[str, Entry]) -> Entry:
    """The entry of a code; case does not matter.

    Raises:
        UnknownCodeError: if there is no such entry.
    """
    name = code.strip().upper()
    if name in entries:
        return entries[name]
    raise UnknownCodeError(code, closest(name, entries, cutoff=60))


@dataclass(frozen=True, slots=True)
class Explanation:
    """An entry of the catalogue, rendered as text for people."""

    entry: Entry

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        entry, width = self.entry, min(options.max_width, _WIDEST)
        title, *more = wrap(f": {entry.title}", width, len(entry.code))
        head = Text().append(entry.code, STYLES[entry.severity]).append(title, "bold")
        yield head.append("".join(f"\n{line}" for line in more), "bold")
        yield Text("\n".join(wrap(status(entry), width)))
        for label, text in prose(entry):
            yield _section(label, *_lines(text, width - 2))
        for label, example in examples(entry):
            yield _section(label, *map(visible, example.split("\n")))


def status(entry: Entry) -> str:
    """The name and severity of an entry, and whether it is fixable and blocking."""
    text = f"{entry.name}, {entry.severity}{', fixable' if entry.fixer else ''}"
    return f"{text}, blocking: the submission cannot be scored" if entry.blocking else text


def prose(entry: Entry) -> list[tuple[str, str]]:
    """The label and text of each prose section of an entry."""
    sections = [("Why", entry.why), ("Fix", entry.fix), ("Rule", entry.clause)]
    return [(label, text) for label, text in sections if text.strip()]


def examples(entry: Entry) -> list[tuple[str, str]]:
    """The label and text of each example of an entry."""
    sections = [("Wrong", entry.bad), ("Right", entry.good)]
    return [(label, example.strip("\n")) for label, example in sections if example.strip()]


def _section(label: str, *lines: str) -> Text:
    body = "\n".join(f"  {line}".rstrip() for line in lines)
    return Text(f"\n{label}\n", style="bold").append(body, "not bold")


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, each on one line."""
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.strip())]


def _lines(text: str, width: int) -> Iterator[str]:
    """The lines of a text, with an empty line between paragraphs."""
    for number, paragraph in enumerate(paragraphs(text)):
        if number:
            yield ""
        yield from wrap(paragraph, width)

"""What a code means: for `hlteval explain CODE`; its page is made from the same parts."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

from hlteval.findings import Entry, catalogue, entry
from hlteval.findings.suggest import closest
from hlteval.reports.display import visible
from hlteval.reports.text import STYLES

_WIDEST = 88
"""Longer lines of prose are tiring to read, however wide the terminal is."""


class UnknownCodeError(ValueError):
    """There is no such code; `suggestion` is the nearest that there is, if one is near."""

    def __init__(self, code: str, suggestion: str | None) -> None:
        letters = ", ".join(dict.fromkeys(each[:3] for each in catalogue()))
        hint = f"did you mean {suggestion}?" if suggestion else f"codes start with {letters}"
        super().__init__(f"unknown code {visible(code)}; {hint}")
        self.code, self.suggestion = code, suggestion


def explain(code: str) -> RenderableType:
    """What a code means, why it matters, and how to mend it, with an example.

    Args:
        code: as it stands in a finding, or its beginning: then all such codes are listed. Small
            letters are as good.

    Raises:
        UnknownCodeError: if the catalogue has no such code.
    """
    wanted = code.strip().upper()
    if re.fullmatch("[A-Z]{3}[0-9]{3}", wanted):
        try:
            return Explanation(entry(wanted))
        except KeyError:
            return Explanation(look_up(code, catalogue()))
    matching = [listed for name, listed in catalogue().items() if name.startswith(wanted)]
    return _listing(matching) if matching else Explanation(look_up(code, catalogue()))


def _listing(entries: Sequence[Entry]) -> Table:
    """Codes with what they are, a line each."""
    table = Table(box=None, pad_edge=False)
    for head in ("code", "severity", "title"):
        table.add_column(head, overflow="fold")
    for listed in entries:
        code = Text(listed.code, STYLES[listed.severity])
        table.add_row(code, listed.severity.value, listed.title)
    return table


def look_up(code: str, entries: Mapping[str, Entry]) -> Entry:
    """The entry of a code.

    Raises:
        UnknownCodeError: if there is none.
    """
    wanted = code.strip().upper()
    if wanted in entries:
        return entries[wanted]
    raise UnknownCodeError(code, closest(wanted, entries, cutoff=60))


@dataclass(frozen=True, slots=True)
class Explanation:
    """An entry of the catalogue, as text for people."""

    entry: Entry

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        entry, width = self.entry, min(options.max_width, _WIDEST)
        head = Text().append(entry.code, STYLES[entry.severity]).append(f": {entry.title}", "bold")
        yield head.append(f"\n{standing(entry)}", "default not bold")
        for label, told in prose(entry):
            yield _part(label, *_wrapped(told, width - 2))
        for label, example in examples(entry):
            yield _part(label, *map(visible, example.split("\n")))


def standing(entry: Entry) -> str:
    """Name, severity, and whether it blocks."""
    told = f"{entry.name}, {entry.severity}"
    return f"{told}, blocking: the submission cannot be scored" if entry.blocking else told


def prose(entry: Entry) -> list[tuple[str, str]]:
    """The parts of an entry that are sentences, each with its label."""
    parts = [("Why", entry.why), ("Fix", entry.fix), ("Rule", entry.clause)]
    return [(label, told) for label, told in parts if told.strip()]


def examples(entry: Entry) -> list[tuple[str, str]]:
    """The examples of an entry, each with its label."""
    parts = [("Wrong", entry.bad), ("Right", entry.good)]
    return [(label, example.strip("\n")) for label, example in parts if example.strip()]


def _part(label: str, *lines: str) -> Text:
    body = "\n".join(f"  {line}".rstrip() for line in lines)
    return Text(f"\n{label}\n", style="bold").append(body, "not bold")


def paragraphs(told: str) -> list[str]:
    """The paragraphs of a text, each as one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", told.strip())]


def _wrapped(told: str, width: int) -> Iterator[str]:
    for number, paragraph in enumerate(paragraphs(told)):
        if number:
            yield ""
        yield from textwrap.wrap(paragraph, width, break_on_hyphens=False, break_long_words=False)

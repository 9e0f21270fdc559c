"""What a code means: for `hlteval explain CODE`, and the page docs/codes.md."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text

from hlteval.findings import Entry, catalogue
from hlteval.reports.display import visible
from hlteval.reports.text import STYLES

_WIDEST = 88
"""Longer lines of prose are tiring to read, however wide the terminal is."""


class UnknownCodeError(ValueError):
    """There is no such code; `suggestion` is the nearest that there is, if one is near."""

    def __init__(self, code: str, suggestion: str | None) -> None:
        hint = f"did you mean {suggestion}?" if suggestion else "docs/codes.md lists them all"
        super().__init__(f"there is no code {visible(code)}; {hint}")
        self.code, self.suggestion = code, suggestion


def explain(code: str) -> RenderableType:
    """What a code means, why it matters, and how to mend it, with an example.

    Args:
        code: as it stands in a finding; small letters are as good.

    Raises:
        UnknownCodeError: if the catalogue has no such code.
    """
    return Explanation(look_up(code, catalogue()))


def look_up(code: str, entries: Mapping[str, Entry]) -> Entry:
    """The entry of a code.

    Raises:
        UnknownCodeError: if there is none.
    """
    wanted = code.strip().upper()
    if wanted in entries:
        return entries[wanted]
    from rapidfuzz import fuzz, process

    near = process.extractOne(wanted, list(entries), scorer=fuzz.ratio, score_cutoff=60)
    raise UnknownCodeError(code, near[0] if near else None)


@dataclass(frozen=True, slots=True)
class Explanation:
    """An entry of the catalogue, as text for people."""

    entry: Entry

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        entry, width = self.entry, min(options.max_width, _WIDEST)
        head = Text().append(entry.code, STYLES[entry.severity]).append(f": {entry.title}", "bold")
        yield head.append(f"\n{_standing(entry)}", "default not bold")
        for label, prose in _prose(entry):
            yield _part(label, *_wrapped(prose, width - 2))
        for label, example in _examples(entry):
            yield _part(label, *map(visible, example.split("\n")))


def _standing(entry: Entry) -> str:
    """Name, severity, and whether it blocks."""
    standing = f"{entry.name}, {entry.severity}"
    return f"{standing}, blocking: nothing can be scored" if entry.blocking else standing


def _prose(entry: Entry) -> list[tuple[str, str]]:
    parts = [("Why", entry.why), ("What to do", entry.fix), ("Rule", entry.clause)]
    return [(label, prose) for label, prose in parts if prose.strip()]


def _examples(entry: Entry) -> list[tuple[str, str]]:
    parts = [("Wrong", entry.bad), ("Right", entry.good)]
    return [(label, example.strip("\n")) for label, example in parts if example.strip()]


def _part(label: str, *lines: str) -> Text:
    body = "\n".join(f"  {line}".rstrip() for line in lines)
    return Text(f"\n{label}\n", style="bold").append(body, "not bold")


def _paragraphs(prose: str) -> list[str]:
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", prose.strip())]


def _wrapped(prose: str, width: int) -> Iterator[str]:
    for number, paragraph in enumerate(_paragraphs(prose)):
        if number:
            yield ""
        yield from textwrap.wrap(paragraph, width, break_on_hyphens=False, break_long_words=False)


_HEAD = """\
# Codes of findings

<!-- Made from hlteval/findings/codes/ by hlteval.reports.explain; do not edit. -->

Every finding has a code, which is never reused. The letters name a format or a layer. An *error*
fails validation, a *warning* and an *info* do not. Where a finding is *blocking*, nothing sensible
can be scored: `hlteval score` refuses the submission unless told to be lenient. In the examples a
tab is drawn as `→`. `hlteval explain CODE` shows the same in the terminal.
"""


def page(entries: Iterable[Entry] | None = None) -> str:
    """The page docs/codes.md, in Markdown.

    Args:
        entries: what to tell of; everything in the catalogue where it is left out.

    Examples:
        >>> page().splitlines()[0]
        '# Codes of findings'
    """
    listed = catalogue().values() if entries is None else entries
    groups = groupby(listed, lambda entry: entry.code.rstrip("0123456789"))
    return "".join([_HEAD, *(_group(prefix, list(group)) for prefix, group in groups)])


def _group(prefix: str, entries: Sequence[Entry]) -> str:
    """The codes of a prefix: a table of them, then each by itself."""
    table = ["| code | severity | title |", "|---|---|---|", *map(_row, entries)]
    return "\n".join([f"\n## {prefix}\n", *table, *map(_section, entries), ""])


def _row(entry: Entry) -> str:
    severity = f"{entry.severity}, blocking" if entry.blocking else entry.severity.value
    return f"| [{entry.code}](#{entry.code.lower()}) | {severity} | {_inline(entry.title)} |"


def _section(entry: Entry) -> str:
    """A code on the page: what it is, and the parts that `explain` shows."""
    parts = [f"### {entry.code}", f"**{_inline(entry.title)}** ({_standing(entry)})"]
    for label, prose in _prose(entry):
        first, *others = map(_inline, _paragraphs(prose))
        parts += [f"*{label}*: {first}", *others]
    for label, example in _examples(entry):
        parts += [f"*{label}*:", _fenced(example)]
    return "\n" + "\n\n".join(parts)


def _inline(prose: str) -> str:
    """Prose of the catalogue, which may hold code in backticks and is otherwise plain text."""
    plain_and_code = re.split(r"(`[^`]*`)", prose)
    return "".join(
        part if part.startswith("`") else re.sub(r"([*_<>\[\]|\\])", r"\\\1", part)
        for part in plain_and_code
    )


def _fenced(example: str) -> str:
    longest = max(map(len, re.findall("`+", example)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *map(visible, example.split("\n")), fence])

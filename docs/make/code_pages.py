"""The index docs/codes.md, and a page per code for the site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from docs.make.origins import Origins, origins
from hlteval.findings import Entry, catalogue
from hlteval.reports.lists import examples, paragraphs, prose, status
from hlteval.reports.terminal import visible

_CHOICE = re.compile(r"\{[^{}|]+\|[^{}|]*\|([^{}|]*)\}")
_HEAD = """\
# Codes of findings

<!-- Made from hlteval/findings/codes/ by docs.make.code_pages; do not edit. -->

Every finding has a code, which is never reused. The prefix denotes a format or a layer. An
*error* makes validation fail; a *warning* or an *info* does not. If a finding is *blocking*, the
submission cannot be scored sensibly: `hlteval score` rejects it unless you use `--lenient`.
`hlteval explain CODE` explains the reason for a finding and how to fix it, with a bad and a good
example; the documentation site (`make docs`) has the same on a page per code.
"""

_SILENCE = """\
## Ignore it, or override its severity {{ data-search-exclude }}

```sh
hlteval validate TASK SUBMISSION --ignore {code}
hlteval validate TASK SUBMISSION --severity {code}={other}
```
"""

_BLOCKS = """
This changes the output and the verdict of `validate`. `hlteval score` still rejects it;
with `--lenient` it scores the rest, if anything is left, and reports what was left out.
"""

_NOWHERE = Origins((), ())


def index(
    entries: Iterable[Entry] | None = None, found: Mapping[str, Origins] | None = None
) -> str:
    """The page docs/codes.md, in Markdown: a row per code, with an anchor of its name.

    Args:
        entries: the entries, by default the whole catalogue.
        found: the origins of each code.

    Examples:
        >>> index().splitlines()[0]
        '# Codes of findings'
    """
    shown = catalogue().values() if entries is None else entries
    where = origins() if found is None else found
    groups = groupby(shown, lambda entry: entry.code.rstrip("0123456789"))
    return "".join([_HEAD, *(_group(prefix, list(group), where) for prefix, group in groups)])


def _group(prefix: str, entries: Sequence[Entry], where: Mapping[str, Origins]) -> str:
    """The table of the codes of a prefix."""
    heads = ["| code | severity | title | reported by |", "|---|---|---|---|"]
    rows = [_row(entry, where.get(entry.code, _NOWHERE)) for entry in entries]
    return "\n".join([f"\n## {prefix}\n", *heads, *rows, ""])


def _row(entry: Entry, where: Origins) -> str:
    severity = f"{entry.severity}, blocking" if entry.blocking else entry.severity.value
    anchor = f'<a id="{entry.code.lower()}"></a>{entry.code}'
    found_by = "; ".join(part for part in _found_by(where) if part)
    return f"| {anchor} | {severity} | {_inline(entry.title)} | {found_by} |"


def _found_by(where: Origins, up: str = "") -> Iterator[str]:
    """Links to the formats, and to the tasks, that raise a code."""
    if len(where.formats) > 10:
        yield "all formats and tasks"
        return
    if not where.formats and not where.tasks:
        yield where.otherwise.replace("](", f"]({up}")
    yield ", ".join(f"[{name}]({up}formats.md#{name})" for name in where.formats)
    yield ", ".join(f"[{name}]({up}tasks.md#{name})" for name in where.tasks)


def pages(
    entries: Iterable[Entry] | None = None, found: Mapping[str, Origins] | None = None
) -> dict[str, str]:
    """A page for every code, in Markdown, by code.

    Args:
        entries: the entries, by default the whole catalogue.
        found: the origins of each code.

    Examples:
        >>> pages()["STD302"].splitlines()[0]
        '# STD302: Unresolved reference'
    """
    shown = catalogue().values() if entries is None else entries
    where = origins() if found is None else found
    return {entry.code: _page(entry, where.get(entry.code, _NOWHERE)) for entry in shown}


def plural_template(template: str) -> str:
    """A template as documentation shows it: with the words of the plural.

    Examples:
        >>> plural_template("{count} {count|line|lines}")
        '{count} lines'
    """
    return _CHOICE.sub(r"\1", template)


def _page(entry: Entry, where: Origins) -> str:
    """The page of a code: the sections of `explain`, its origins, and how to ignore it."""
    parts = [f"# {entry.code}: {_inline(entry.title)}", f"*{status(entry)}*"]
    parts += [f"In a report: {_code(plural_template(entry.message))}"]
    for label, text in prose(entry):
        first, *others = map(_inline, paragraphs(text))
        parts += [f"**{label}.** {first}", *others]
    for label, example in examples(entry):
        parts += [f"**{label}:**", _fenced(example)]
    if any("\t" in example for _, example in examples(entry)):
        parts.append("In the examples, `→` is a tab.")
    found = [part for part in _found_by(where, up="../") if part]
    parts += [f"**Reported by** {'; '.join(found)}."]
    other = "info" if entry.severity == "warning" else "warning"
    silence = _SILENCE.format(code=entry.code, other=other)
    return "\n\n".join(parts) + "\n\n" + silence + (_BLOCKS if entry.blocking else "")


def _inline(text: str) -> str:
    """Escape a text of the catalogue, which is plain but for code in backticks."""
    plain_and_code = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"([*_<>\[\]|\\])", r"\\\1", part)
        for part in plain_and_code
    )


def _code(text: str) -> str:
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{ticks} {text} {ticks}" if len(ticks) > 1 else f"`{text}`"


def _fenced(example: str) -> str:
    longest = max(map(len, re.findall("`+", example)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *map(visible, example.split("\n")), fence])

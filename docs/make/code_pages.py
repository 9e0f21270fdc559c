"""The page docs/codes.md, an index, and a page for every code, which the site has beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from docs.make.origins import Origins, origins
from hlteval.findings import Entry, catalogue
from hlteval.reports.display import visible
from hlteval.reports.explain import examples, paragraphs, prose, status

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
## Ignore it, or override its severity

```sh
hlteval validate TASK SUBMISSION --ignore {code}
hlteval validate TASK SUBMISSION --severity {code}={other}
```
"""

_BLOCKS = """
This changes the output and the verdict of `validate`. `hlteval score` still rejects the submission;
with `--lenient` it scores the rest and reports what was left out.
"""

_NOWHERE = Origins((), ())


def index(
    entries: Iterable[Entry] | None = None, found: Mapping[str, Origins] | None = None
) -> str:
    """The page docs/codes.md, in Markdown: every code in a line, with an anchor of its name.

    Args:
        entries: what to tell of; everything in the catalogue where it is left out.
        found: where each comes from.

    Examples:
        >>> index().splitlines()[0]
        '# Codes of findings'
    """
    listed = catalogue().values() if entries is None else entries
    where = origins() if found is None else found
    groups = groupby(listed, lambda entry: entry.code.rstrip("0123456789"))
    return "".join([_HEAD, *(_group(prefix, list(group), where) for prefix, group in groups)])


def _group(prefix: str, entries: Sequence[Entry], where: Mapping[str, Origins]) -> str:
    """The codes of a prefix, as a table."""
    heads = ["| code | severity | title | reported by |", "|---|---|---|---|"]
    rows = [_row(entry, where.get(entry.code, _NOWHERE)) for entry in entries]
    return "\n".join([f"\n## {prefix}\n", *heads, *rows, ""])


def _row(entry: Entry, where: Origins) -> str:
    severity = f"{entry.severity}, blocking" if entry.blocking else entry.severity.value
    anchor = f'<a id="{entry.code.lower()}"></a>{entry.code}'
    told = "; ".join(part for part in _found_by(where) if part)
    return f"| {anchor} | {severity} | {_inline(entry.title)} | {told} |"


def _found_by(where: Origins, up: str = "") -> Iterator[str]:
    """The formats and the tasks that a code comes from, as links."""
    if len(where.formats) > 10:
        yield "all formats and tasks"
        return
    if not where.formats and not where.tasks:
        yield "conversions"
    yield ", ".join(f"[{name}]({up}formats.md#{name})" for name in where.formats)
    yield ", ".join(f"[{name}]({up}tasks.md#{name})" for name in where.tasks)


def pages(
    entries: Iterable[Entry] | None = None, found: Mapping[str, Origins] | None = None
) -> dict[str, str]:
    """A page for every code, in Markdown, by code.

    Args:
        entries: what to tell of; everything in the catalogue where it is left out.
        found: where each comes from.

    Examples:
        >>> pages()["STD302"].splitlines()[0]
        '# STD302: Unresolved reference'
    """
    listed = catalogue().values() if entries is None else entries
    where = origins() if found is None else found
    return {entry.code: _page(entry, where.get(entry.code, _NOWHERE)) for entry in listed}


def _page(entry: Entry, where: Origins) -> str:
    """A code: what it is, the parts that `explain` shows, who finds it, and how to silence it."""
    parts = [f"# {entry.code}: {_inline(entry.title)}", f"*{status(entry)}*"]
    parts += [f"In a report: {_code(entry.message)}"]
    for label, told in prose(entry):
        first, *others = map(_inline, paragraphs(told))
        parts += [f"**{label}.** {first}", *others]
    for label, example in examples(entry):
        parts += [f"**{label}:**", _fenced(example)]
    found = [part for part in _found_by(where, up="../") if part]
    parts += [f"**Reported by** {'; '.join(found)}."]
    other = "info" if entry.severity == "warning" else "warning"
    silence = _SILENCE.format(code=entry.code, other=other)
    return "\n\n".join(parts) + "\n\n" + silence + (_BLOCKS if entry.blocking else "")


def _inline(told: str) -> str:
    """Prose of the catalogue, which may hold code in backticks and is otherwise plain text."""
    plain_and_code = re.split(r"(`[^`]*`)", told)
    return "".join(
        part if part.startswith("`") else re.sub(r"([*_<>\[\]|\\])", r"\\\1", part)
        for part in plain_and_code
    )


def _code(told: str) -> str:
    ticks = "`" * (1 + max(map(len, re.findall("`+", told)), default=0))
    return f"{ticks} {told} {ticks}" if len(ticks) > 1 else f"`{told}`"


def _fenced(example: str) -> str:
    longest = max(map(len, re.findall("`+", example)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *map(visible, example.split("\n")), fence])

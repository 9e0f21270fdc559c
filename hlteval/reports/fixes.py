"""Corrections of a submission, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from rich.text import Text

from hlteval.findings.counts import counted
from hlteval.reports.display import isolate_bidi, visible
from hlteval.reports.findings import json as findings_json
from hlteval.results.fixes import Fix, FixedCopy

_SHOWN = 5
"""Maximum number of lines that are named for a file and code."""


def text(copy: FixedCopy) -> Text:
    r"""What was corrected, by file and code, and what was left, a line each.

    Examples:
        >>> from hlteval.results.verdict import Verdict
        >>> text(FixedCopy(path=None, verdict=Verdict("hub4", "plan", passed=True))).plain
        'nothing to fix; no copy was written\n'
    """
    return Text("\n".join([*_lines(copy), ""]))


def _lines(copy: FixedCopy) -> Iterator[str]:
    if not copy.readable:
        yield "no copy was written, since the submission cannot be read"
        return
    for line in copy.changes:
        yield "\t".join(map(visible, line.split("\t")))
    for (file, code), group in groupby(sorted(copy.fixes, key=_group), _group):
        fixes = list(group)
        many = sum(fix.count for fix in fixes if fix.line is None)
        times = f" ({many:,} places)" if many > 1 else ""
        yield f"fixed[{code}]: {isolate_bidi(file)}{_places(fixes)}: {fixes[0].title}{times}"
    for item in copy.unfixed:
        yield f"not fixed[{item.code}]: {isolate_bidi(item.file or '')}: {item.reason}"
    count = sum(fix.count for fix in copy.fixes)
    if count and copy.path is not None:
        yield f"{counted(count, 'fix')} in {isolate_bidi(copy.path)}"
    elif count:
        yield f"{counted(count, 'fix')} with --fix; nothing was written"
    else:
        yield f"{'nothing fixed' if copy.unfixed else 'nothing to fix'}; no copy was written"


def _group(fix: Fix) -> tuple[str, str]:
    return fix.file or "", fix.code


def _places(fixes: list[Fix]) -> str:
    """The lines of fixes, with a count of those that are not named."""
    lines = [str(fix.line) for fix in fixes if fix.line is not None]
    if not lines:
        return ""
    more = f" and {counted(len(lines) - _SHOWN, 'more line')}" if len(lines) > _SHOWN else ""
    return f":{','.join(lines[:_SHOWN])}{more}"


def json(copy: FixedCopy) -> str:
    """The verdict over the copy as JSON, with its path, `fixes` and `unfixed`."""
    more: dict[str, Any] = {"copy": copy.path, "fixes": copy.fixes, "unfixed": copy.unfixed}
    return findings_json(copy.verdict, schema="fixed-copy", **more)

"""The output formats of a pipeline, and of the best submissions of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.findings.counts import counted
from hlteval.reports.display import visible
from hlteval.reports.escapes import escaped, printable
from hlteval.reports.prose import Prose, note
from hlteval.reports.tables import FIXED, Cell, Column, Table, Tables
from hlteval.results.pipeline import Entry, PipelineResult, Status
from hlteval.tasks.statistics import HIGH, LOW

_STYLES: Mapping[Status, str] = MappingProxyType(
    {
        "scored": "green",
        "valid": "green",
        "invalid": "bold red",
        "over limit": "yellow",
        "not scored": "bold red",
        "failed": "bold red",
        "waiting": "yellow",
        "withdrawn": "yellow",
    }
)
_COLUMNS = (
    Column("submission", "name"),
    Column("task", "name", HIGH),
    Column("team", "name", LOW),
    Column("status", "name", FIXED),
    Column("reason", "prose", FIXED),
)


def text(result: PipelineResult) -> RenderableType:
    """A row per submission, and how many there are of each status."""
    rows = [_row(each) for each in result.submissions]
    table = [Tables([Table(_COLUMNS, rows)])] if rows else []
    return Group(*table, *map(note, result.notes), summary(result))


def _row(entry: Entry) -> list[Cell]:
    reason = f"{entry.reason}; {entry.help}" if entry.help else entry.reason
    status = (entry.status, _STYLES[entry.status])
    names = map(visible, (entry.submission, entry.task or "-", entry.team or "-"))
    return [*names, status, visible(reason)]


def summary(result: PipelineResult) -> RenderableType:
    """How many submissions there are of each status.

    Examples:
        >>> print(summary(PipelineResult("r", (Entry("a", "a.tgz", "scored"),))).text)
        1 submission: 1 scored; nothing new
    """
    number = len(result.submissions)
    counts = ", ".join(f"{count:,} {status}" for status, count in result.counts.items())
    head = f"{counted(number, 'submission')}{': ' if counts else ''}{counts}"
    return Prose(head + ("" if result.done else "; nothing new"), "bold")


def line(entry: Entry) -> RenderableType:
    """One submission, as `--watch` reports it."""
    text = Text(visible(entry.submission)).append("  ").append(entry.status, _STYLES[entry.status])
    return text.append(f"  {visible(entry.reason)}" if entry.reason else "")


def json(result: PipelineResult) -> str:
    """One object with the root, the number of each status, and all submissions."""
    return escaped(msgspec.json.encode(printable(result.to_dict()))).decode() + "\n"


FORMATS: Mapping[str, Callable[[PipelineResult], str | RenderableType]] = MappingProxyType(
    {"text": text, "json": json}
)
"""The output formats by name."""

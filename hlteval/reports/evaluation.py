"""The output formats of the best submissions of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.findings import Severity
from hlteval.findings.counts import counted
from hlteval.reports.scores import UNDEFINED, shown, values_of
from hlteval.reports.tables import FIXED, Cell, Column, Table, Tables
from hlteval.reports.terminal import Prose, escaped, in_cells, note, printable, visible
from hlteval.results.evaluation import Best, CampaignResult, CellRow, Entry, PipelineResult
from hlteval.results.evaluation import CellStatus as Status
from hlteval.results.evaluation import SubmissionStatus as EvaluationStatus
from hlteval.results.verdict import head
from hlteval.tasks import load
from hlteval.tasks.task import HIGH, LOW

_NAMES = ("task", "language", "condition", "checkpoint", "team", "submission", "metric", "value")


def best_text(best: Sequence[Best]) -> RenderableType:
    """A row per team; columns of which nothing is known are left out."""
    if not best:
        return Prose("no submission is scored; run `hlteval pipeline` first")
    rows = [_row(each) for each in best]
    kept = [at for at in range(len(_NAMES)) if any(row[at] for row in rows)]
    columns = [
        Column(_NAMES[at], "number" if _NAMES[at] == "value" else "name", FIXED) for at in kept
    ]
    return Tables([Table(columns, [[row[at] for at in kept] for row in rows])])


def _row(best: Best) -> list[str]:
    value = shown(best.value, values_of(load(best.task), best.metric))
    names = (*best.group, best.team, best.submission, best.metric)
    return [*map(visible, names), value]


def tsv(best: Sequence[Best]) -> str:
    """A line per team, with a header; an undefined value is empty."""
    lines = ["\t".join(_NAMES)]
    for each in best:
        value = "" if each.value is None else repr(each.value)
        names = (*each.group, each.team, each.submission, each.metric)
        lines.append("\t".join([*(in_cells(visible(name)) for name in names), value]))
    return "\n".join(lines) + "\n"


def best_json(best: Sequence[Best]) -> str:
    """One object with the best submission of each team."""
    built = printable({**head("best-submissions"), "best": msgspec.to_builtins(list(best))})
    return escaped(msgspec.json.encode(built)).decode() + "\n"


BEST_FORMATS: Mapping[str, Callable[[Sequence[Best]], str | RenderableType]] = MappingProxyType(
    {"text": best_text, "json": best_json, "tsv": tsv}
)
"""The output formats by name."""


_STYLES: Mapping[Status, str] = MappingProxyType(
    {"scored": "green", "refused": "bold red", "failed": "bold red"}
)
_COLUMNS = (
    Column("submission", "name"),
    Column("status", "name", FIXED),
    Column("metric", "name", FIXED),
    Column("value", "number", FIXED),
    Column("interval", "number", HIGH),
    Column("errors", "number", LOW),
    Column("reason", "prose", FIXED),
)


def text(result: CampaignResult) -> RenderableType:
    """A table for each task, profile and condition, with the metric that ranks."""
    tables = [
        Table(_COLUMNS, [_campaign_row(row) for row in rows], title=_title(rows[0]))
        for rows in result.groups.values()
    ]
    return Group(Tables(tables), summary(result))


def _title(row: CellRow) -> str:
    cell = row.cell
    condition = f", condition {visible(cell.condition)}" if cell.condition else ""
    return f"{cell.task}, profile {cell.profile}{condition}"


def _campaign_row(row: CellRow) -> list[Cell]:
    result, name = row.result, row.headline
    values = values_of(load(row.cell.task), name)
    limits = [shown(limit, values) for limit in result.intervals.get(name, ())]
    value = shown(result.metrics.get(name), values)
    return [
        visible(row.cell.submission),
        (result.status, _STYLES[result.status]),
        name or UNDEFINED,
        value,
        f"[{', '.join(limits)}]" if limits else "",
        f"{row.count(Severity.ERROR):,}",
        visible(result.reason),
    ]


def summary(result: CampaignResult) -> RenderableType:
    """How many cells there are of each status, and how many were computed.

    Examples:
        >>> print(summary(CampaignResult("dry run", ())).text)
        0 cells
    """
    number = len(result.rows)
    counts = ", ".join(f"{count:,} {status}" for status, count in result.counts.items())
    head = f"{counted(number, 'cell')}{': ' if counts else ''}{counts}"
    cached = number - result.computed
    return Prose(head + (f"; {cached:,} from the cache" if cached else ""), "bold")


def json(result: CampaignResult) -> str:
    """One object with the name, the number of each status, and all cells without resamples."""
    content = {
        **head("campaign"),
        "name": result.name,
        "counts": result.counts,
        "computed": result.computed,
        "cells": list(_cells(result)),
    }
    return escaped(msgspec.json.encode(printable(content))).decode() + "\n"


def _cells(result: CampaignResult) -> Iterator[dict[str, object]]:
    for row in result.rows:
        cell, own = row.cell, row.result
        yield {
            "task": cell.task,
            "profile": cell.profile,
            "condition": cell.condition,
            "submission": cell.submission,
            "status": own.status,
            "reason": own.reason,
            "metrics": {name: own.metrics.get(name) for name in cell.metrics or own.metrics},
            "intervals": {name: list(limits) for name, limits in own.intervals.items()},
            "documents": own.documents,
            "records": own.records,
            "findings": row.findings.to_dict(),
            "notes": list(own.notes),
            "signature": own.signature,
            "key": row.key,
        }


FORMATS: Mapping[str, Callable[[CampaignResult], str | RenderableType]] = MappingProxyType(
    {"text": text, "json": json}
)
"""The output formats by name."""


_PIPELINE_STYLES: Mapping[EvaluationStatus, str] = MappingProxyType(
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
_PIPELINE_COLUMNS = (
    Column("submission", "name"),
    Column("task", "name", HIGH),
    Column("team", "name", LOW),
    Column("status", "name", FIXED),
    Column("reason", "prose", FIXED),
)


def pipeline_text(result: PipelineResult) -> RenderableType:
    """A row per submission, and how many there are of each status."""
    rows = [_pipeline_row(each) for each in result.submissions]
    table = [Tables([Table(_PIPELINE_COLUMNS, rows)])] if rows else []
    return Group(*table, *map(note, result.notes), pipeline_summary(result))


def _pipeline_row(entry: Entry) -> list[Cell]:
    reason = f"{entry.reason}; {entry.help}" if entry.help else entry.reason
    status = (entry.status, _PIPELINE_STYLES[entry.status])
    names = map(visible, (entry.submission, entry.task or "-", entry.team or "-"))
    return [*names, status, visible(reason)]


def pipeline_summary(result: PipelineResult) -> RenderableType:
    """How many submissions there are of each status.

    Examples:
        >>> print(pipeline_summary(PipelineResult("r", (Entry("a", "a.tgz", "scored"),))).text)
        1 submission: 1 scored; nothing new
    """
    number = len(result.submissions)
    counts = ", ".join(f"{count:,} {status}" for status, count in result.counts.items())
    head = f"{counted(number, 'submission')}{': ' if counts else ''}{counts}"
    return Prose(head + ("" if result.done else "; nothing new"), "bold")


def line(entry: Entry) -> RenderableType:
    """One submission, as `--watch` reports it."""
    text = (
        Text(visible(entry.submission))
        .append("  ")
        .append(entry.status, _PIPELINE_STYLES[entry.status])
    )
    return text.append(f"  {visible(entry.reason)}" if entry.reason else "")


def pipeline_json(result: PipelineResult) -> str:
    """One object with the root, the number of each status, and all submissions."""
    return escaped(msgspec.json.encode(printable(result.to_dict()))).decode() + "\n"


PIPELINE_FORMATS: Mapping[str, Callable[[PipelineResult], str | RenderableType]] = MappingProxyType(
    {"text": pipeline_text, "json": pipeline_json}
)
"""The output formats by name."""

"""The output formats of campaigns, pipelines, and the best submissions of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.findings import Severity
from hlteval.findings.counts import count_of
from hlteval.reports.scores import UNDEFINED, value_text, values_of
from hlteval.reports.tables import FIXED, Cell, Column, Table, Tables
from hlteval.reports.terminal import Prose, escape_json, in_cells, note, printable, visible
from hlteval.results.evaluation import (
    Best,
    CampaignResult,
    CellStatus,
    Entry,
    PipelineResult,
    SubmissionStatus,
)
from hlteval.results.verdict import head
from hlteval.tasks import load
from hlteval.tasks.task import HIGH, LOW

_STYLES: Mapping[SubmissionStatus | CellStatus, str] = MappingProxyType(
    {
        "scored": "green",
        "valid": "green",
        "refused": "bold red",
        "invalid": "bold red",
        "over limit": "yellow",
        "not scored": "bold red",
        "failed": "bold red",
        "waiting": "yellow",
        "withdrawn": "yellow",
    }
)


def _json(content: Mapping[str, object]) -> str:
    return escape_json(msgspec.json.encode(printable(content))).decode() + "\n"


def _summary(kind: str, number: int, counts: Mapping[str, int], more: str) -> RenderableType:
    """Return how many submissions or cells there are, and how many of each status."""
    by_status = ", ".join(f"{count:,} {status}" for status, count in counts.items())
    return Prose(f"{count_of(number, kind)}{': ' if counts else ''}{by_status}{more}", "bold")


_NAMES = ("task", "language", "condition", "checkpoint", "team", "submission", "metric", "value")


def best_text(best: Sequence[Best]) -> RenderableType:
    """Return a row per team; columns of which nothing is known are left out."""
    if not best:
        return Prose("no submission is scored; run `hlteval pipeline` first")
    rows = []
    for each in best:
        value = value_text(each.value, values_of(load(each.task), each.metric))
        rows.append([*(visible(getattr(each, name)) for name in _NAMES[:-1]), value])
    kept = [index for index in range(len(_NAMES)) if any(row[index] for row in rows)]
    value_at = len(_NAMES) - 1
    columns = [Column(_NAMES[i], "number" if i == value_at else "name", FIXED) for i in kept]
    return Tables([Table(columns, [[row[index] for index in kept] for row in rows])])


def best_tsv(best: Sequence[Best]) -> str:
    """Return a line per team, with a header; an undefined value is empty."""
    lines = ["\t".join(_NAMES)]
    for each in best:
        value = "" if each.value is None else repr(each.value)
        names = (in_cells(visible(getattr(each, name))) for name in _NAMES[:-1])
        lines.append("\t".join([*names, value]))
    return "\n".join(lines) + "\n"


def best_json(best: Sequence[Best]) -> str:
    """Return one object with the best submission of each team."""
    return _json({**head("best-submissions"), "best": msgspec.to_builtins(list(best))})


#: The output formats of the best submissions by name.
BEST_FORMATS: Mapping[str, Callable[[Sequence[Best]], str | RenderableType]] = MappingProxyType(
    {"text": best_text, "json": best_json, "tsv": best_tsv}
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
    """Return a table for each task, profile and condition, with the metric that ranks."""
    tables = []
    for (task, profile, condition), rows in result.groups.items():
        cells: list[list[Cell]] = []
        for row in rows:
            name, status = row.headline, row.result.status
            values = values_of(load(task), name)
            limits = [value_text(limit, values) for limit in row.result.intervals.get(name, ())]
            cells.append(
                [
                    visible(row.cell.submission),
                    (status, _STYLES[status]),
                    name or UNDEFINED,
                    value_text(row.result.metrics.get(name), values),
                    f"[{', '.join(limits)}]" if limits else "",
                    f"{row.count(Severity.ERROR):,}",
                    visible(row.result.reason),
                ]
            )
        suffix = f", condition {visible(condition)}" if condition else ""
        tables.append(Table(_COLUMNS, cells, title=f"{task}, profile {profile}{suffix}"))
    return Group(Tables(tables), summary(result))


def summary(result: CampaignResult) -> RenderableType:
    """Return how many cells there are of each status, and how many are from the cache.

    Examples:
        >>> print(summary(CampaignResult("dry run", ())).text)
        0 cells
    """
    cached = len(result.rows) - result.computed
    more = f"; {cached:,} from the cache" if cached else ""
    return _summary("cell", len(result.rows), result.counts, more)


def json(result: CampaignResult) -> str:
    """Return one object with the name, the number of each status, and cells without resamples."""
    cells = []
    for row in result.rows:
        cell, scored = row.cell, row.result
        values = {
            "status": scored.status,
            "reason": scored.reason,
            "metrics": {name: scored.metrics.get(name) for name in cell.metrics or scored.metrics},
            "intervals": {name: list(limits) for name, limits in scored.intervals.items()},
            "documents": scored.documents,
            "records": scored.records,
            "findings": row.findings.to_dict(),
            "notes": list(scored.notes),
            "signature": scored.signature,
            "key": row.key,
        }
        names = ("task", "profile", "condition", "submission")
        cells.append({**{name: getattr(cell, name) for name in names}, **values})
    counts = {"name": result.name, "counts": result.counts, "computed": result.computed}
    return _json({**head("campaign"), **counts, "cells": cells})


#: The output formats of campaigns by name.
FORMATS: Mapping[str, Callable[[CampaignResult], str | RenderableType]] = MappingProxyType(
    {"text": text, "json": json}
)

_PIPELINE_COLUMNS = (
    Column("submission", "name"),
    Column("task", "name", HIGH),
    Column("team", "name", LOW),
    Column("status", "name", FIXED),
    Column("reason", "prose", FIXED),
)


def pipeline_text(result: PipelineResult) -> RenderableType:
    """Return a row per submission, and how many there are of each status."""
    rows: list[list[Cell]] = []
    for entry in result.submissions:
        reason = f"{entry.reason}; {entry.help}" if entry.help else entry.reason
        names = map(visible, (entry.submission, entry.task or "-", entry.team or "-"))
        rows.append([*names, (entry.status, _STYLES[entry.status]), visible(reason)])
    table = [Tables([Table(_PIPELINE_COLUMNS, rows)])] if rows else []
    return Group(*table, *map(note, result.notes), pipeline_summary(result))


def pipeline_summary(result: PipelineResult) -> RenderableType:
    """Return how many submissions there are of each status.

    Examples:
        >>> print(pipeline_summary(PipelineResult("r", (Entry("a", "a.tgz", "scored"),))).text)
        1 submission: 1 scored; nothing new
    """
    more = "" if result.done else "; nothing new"
    return _summary("submission", len(result.submissions), result.counts, more)


def line(entry: Entry) -> RenderableType:
    """Return one submission, as `--watch` reports it."""
    name = Text(visible(entry.submission)).append("  ")
    status = name.append(entry.status, _STYLES[entry.status])
    return status.append(f"  {visible(entry.reason)}" if entry.reason else "")


def pipeline_json(result: PipelineResult) -> str:
    """Return one object with the root, the number of each status, and all submissions."""
    return _json(result.to_dict())


#: The output formats of pipelines by name.
PIPELINE_FORMATS: Mapping[str, Callable[[PipelineResult], str | RenderableType]] = MappingProxyType(
    {"text": pipeline_text, "json": pipeline_json}
)

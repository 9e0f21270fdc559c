"""The output formats of a campaign."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import msgspec
from rich.console import Group, RenderableType

from hlteval.findings import Severity
from hlteval.findings.counts import counted
from hlteval.reports.display import visible
from hlteval.reports.escapes import escaped, printable
from hlteval.reports.prose import Prose
from hlteval.reports.score_formats import UNDEFINED, shown, values_of
from hlteval.reports.tables import FIXED, Cell, Column, Table, Tables
from hlteval.results.campaign import CampaignResult, CellRow, Status
from hlteval.results.versions import head
from hlteval.tasks import load
from hlteval.tasks.statistics import HIGH, LOW

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
        Table(_COLUMNS, [_row(row) for row in rows], title=_title(rows[0]))
        for rows in result.groups.values()
    ]
    return Group(Tables(tables), summary(result))


def _title(row: CellRow) -> str:
    cell = row.cell
    condition = f", condition {visible(cell.condition)}" if cell.condition else ""
    return f"{cell.task}, profile {cell.profile}{condition}"


def _row(row: CellRow) -> list[Cell]:
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

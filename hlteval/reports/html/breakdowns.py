"""Breakdowns of scores: by type, genre, document and whatever else the tables of a task list."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hlteval.reports.html.sections import Breakdown
from hlteval.reports.score_formats import pivoted, values_of
from hlteval.results.scores import Scores
from hlteval.tasks.task import Task

_KEYS = ("document", "genre", "type", "slot", "class", "segment", "layer")
"""What tables break values down by; other columns of text divide them into groups."""
_LISTS = frozenset({"scorings", "curve", "pr", "ndcg"})
"""Tables that are not broken down: the scores themselves, and curves."""


def breakdowns(scores: Scores, task: Task) -> Iterator[Breakdown]:
    """The breakdowns of all scorings of an evaluation, then those of tables with a row per item."""
    for evaluation, measures, rows in pivoted(scores.tables["scorings"]):
        held = [row for row in rows if any(value is not None for value in row[1])]
        if len(held) > 1:
            values = {name: [row[1][at] for row in held] for at, name in enumerate(measures)}
            yield _breakdown(task, evaluation, [row[0] for row in held], values)
    if scores.by_document is not None and scores.by_document.height > 1:
        each = scores.by_document
        values = each.drop("document").to_dict(as_series=False)
        yield _breakdown(task, "document", each["document"].to_list(), values)
    for name, frame in scores.tables.items():
        if name not in _LISTS and name != task.alignment:
            yield from _of_table(task, name, frame)


def _breakdown(
    task: Task, name: str, items: list[str], values: dict[str, list[float | None]]
) -> Breakdown:
    """A breakdown with the measures that have values, rates first."""
    known = {name: each for name, each in values.items() if any(v is not None for v in each)}
    rates = [name for name in known if values_of(task, name).kind == "rate"]
    ordered = {name: known[name] for name in [*rates, *(n for n in known if n not in rates)]}
    return Breakdown(name, items, ordered, [name for name in rates if _unit(task, name)])


def _unit(task: Task, name: str) -> bool:
    """Whether a rate is from 0 to 1."""
    values = values_of(task, name)
    return (values.least, values.most) == (0.0, 1.0)


def _of_table(task: Task, name: str, frame: pl.DataFrame) -> Iterator[Breakdown]:
    """The breakdowns of a table, one for each group, where a key tells its rows apart."""
    texts = [column for column in frame.columns if frame[column].dtype == pl.String]
    key = next((column for column in _KEYS if column in texts), None)
    rates = [column for column in frame.columns if _declared_rate(task, frame, column)]
    if key is None or not rates:
        return
    others = [column for column in texts if column != key]
    groups = frame.group_by(others, maintain_order=True) if others else [((), frame)]
    for group, rows in groups:
        if 1 < rows.height == rows[key].n_unique():
            title = " · ".join(
                [f"{name.replace('_', ' ')} ({key})", *map(str, filter(None, group))]
            )
            yield _breakdown(
                task,
                title,
                rows[key].fill_null("-").to_list(),
                rows.select(rates).to_dict(as_series=False),
            )


def _declared_rate(task: Task, frame: pl.DataFrame, column: str) -> bool:
    statistic = task.statistic(column)
    return statistic is not None and frame[column].dtype.is_numeric()

"""The report of scores: headline, all numbers, curves, breakdowns, alignment and findings."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hlteval.reports.html.alignment import alignment
from hlteval.reports.html.breakdowns import breakdowns
from hlteval.reports.html.curve_sections import curve_sections
from hlteval.reports.html.finding_sections import finding_sections
from hlteval.reports.html.page import Page, Tab
from hlteval.reports.html.sections import (
    Bars,
    Column,
    Copied,
    DataTable,
    Fact,
    Headline,
    Notes,
    Section,
)
from hlteval.reports.html.verdict_page import about, found
from hlteval.reports.score_formats import pivoted, shown, values_of
from hlteval.results.scores import Scores
from hlteval.tasks import load
from hlteval.tasks.task import Task

MOST_FACTS = 8
"""The most numbers of a headline."""
_DRAWN = frozenset({"scorings", "curve", "pr", "ndcg"})
"""Tables that are shown as scores or curves."""


def score_page(scores: Scores, parent: tuple[str, str] | None = None) -> Page:
    """The report of the scores of a submission.

    Args:
        scores: the scores, with the alignment if it is to be shown.
        parent: a link to the page that this one belongs to, and its text.
    """
    task = load(scores.task)
    aligned = alignment(scores)
    return Page(
        title=task.title,
        subtitle=about(scores.verdict),
        tabs=[
            Tab("Overview", list(_overview(scores, task))),
            Tab("Scores", list(_scores(scores, task))),
            Tab("Curves", list(curve_sections(scores))),
            Tab("Breakdown", _bars(scores, task)),
            Tab("Alignment", [aligned] if aligned else [], aligned.errors if aligned else None),
            Tab("Tables", list(_tables(scores, task))),
            Tab("Findings", list(finding_sections(scores.verdict)), found(scores.verdict)),
        ],
        parent=parent,
    )


def _overview(scores: Scores, task: Task) -> Iterator[Section]:
    """The numbers to read first, what to know about them, and the signature."""
    yield Headline(facts=[_fact(scores, task, name) for name in _first(scores, task)])
    if scores.warnings or scores.notes:
        title = "Notes" if scores.notes else ""
        yield Notes(title=title, warnings=scores.warnings, notes=scores.notes)
    yield Copied(
        title="Signature",
        intro="Everything that the numbers depend on. Publish it with them; "
        "hlteval verify computes them again from it.",
        text=scores.signature,
    )


def _first(scores: Scores, task: Task) -> list[str]:
    """The metric that ranks, then others of the same measure, then all others, up to a maximum."""
    beside = [
        name for name in task.beside(scores.primary, scores.metrics) if name in scores.metrics
    ]
    return list(dict.fromkeys([*beside, *scores.metrics]))[:MOST_FACTS]


def _fact(scores: Scores, task: Task, name: str) -> Fact:
    values, limits = values_of(task, name), scores.intervals.get(name)
    main = name == scores.primary
    return Fact(
        name=f"{name} (ranks)" if main else name,
        value=shown(scores.metrics[name], values),
        interval=f"[{', '.join(shown(limit, values) for limit in limits)}]" if limits else "",
        note=_meaning(task, name) if main else "",
        main=main,
    )


def _meaning(task: Task, name: str) -> str:
    """What a metric says, as its declaration does; empty for one that is not declared."""
    measure, statistic = task.declared.get(name, (None, task.statistic(name)))
    said = [item.meaning.rstrip(".") for item in (measure, statistic) if item is not None]
    return ". ".join(said).replace("`", "")


def _scores(scores: Scores, task: Task) -> Iterator[Section]:
    """A table of all metrics, then one for each evaluation, with a column for each measure."""
    yield _metrics(scores, task)
    for evaluation, measures, rows in pivoted(scores.tables["scorings"]):
        names = pl.DataFrame({"": [name for name, _ in rows]}, schema={"": pl.String})
        values = pl.DataFrame(
            [cells for _, cells in rows], dict.fromkeys(measures, pl.Float64), orient="row"
        )
        heads = [Column("", "scoring"), *(_column(task, name) for name in measures)]
        yield DataTable(evaluation, frame=names.hstack(values), columns=heads)


def _metrics(scores: Scores, task: Task) -> DataTable:
    """All metrics with their intervals, if there are any, and what they mean."""
    ends = ("low", "high") if scores.intervals else ()
    rows = [
        {
            "metric": name,
            **{
                end: _figure(task, name, value)
                for end, value in zip(("value", *ends), each, strict=True)
            },
            "meaning": _meaning(task, name),
        }
        for name, value in scores.metrics.items()
        for each in [(value, *(scores.intervals.get(name, (None, None)) if ends else ()))]
    ]
    names = ["metric", "value", *ends, "meaning"]
    columns = [
        Column(name, kind="figure" if name in ("value", *ends) else "text") for name in names
    ]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String))
    return DataTable("All metrics", frame=frame, columns=columns)


def _figure(task: Task, name: str, value: float | None) -> str | None:
    return None if value is None else shown(value, values_of(task, name))


def _column(task: Task, measure: str) -> Column:
    statistic = task.statistic(measure)
    rate = values_of(task, measure).kind == "rate"
    meaning = statistic.meaning if statistic else ""
    return Column(measure, measure, "rate" if rate else "number", meaning)


def _bars(scores: Scores, task: Task) -> list[Section]:
    found = list(breakdowns(scores, task))
    return [Bars("Breakdown", breakdowns=found)] if found else []


def _tables(scores: Scores, task: Task) -> Iterator[Section]:
    """All other tables with rows."""
    aligned = {task.alignment, *([task.alignment_info.table] if task.alignment_info else [])}
    for name, frame in scores.tables.items():
        if name not in _DRAWN | aligned and frame.height:
            yield _table(scores, task, name)


def _table(scores: Scores, task: Task, name: str) -> DataTable:
    frame = scores.tables[name]
    columns = [_typed(task, column, dtype) for column, dtype in frame.schema.items()]
    return DataTable(name.replace("_", " ").capitalize(), frame=frame, columns=columns)


def _typed(task: Task, name: str, dtype: pl.DataType) -> Column:
    """A column of a table, shown as its statistic declares."""
    from hlteval.reports.html.columns import column

    statistic = task.statistic(name)
    known = column(name, dtype)
    if known.kind != "rate" or (statistic and statistic.values.kind == "rate"):
        return known
    return Column(name, kind="number")

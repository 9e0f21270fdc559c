"""The reports of comparisons, leaderboards and campaigns: ranks, differences and p values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import polars as pl

from hlteval.findings import Severity
from hlteval.reports.html import page as parts
from hlteval.reports.html.page import DataTable, Fact, Notes, Page, Section, Tab
from hlteval.reports.html.scores import FindingList, title
from hlteval.reports.scores import limits_text, value_text, values_of
from hlteval.reports.systems import (
    PAIRS,
    REFUSALS,
    board_systems,
    caption,
    labels,
    ranked_systems,
    refused_systems,
)  # fmt: skip
from hlteval.reports.tables import Field
from hlteval.results.evaluation import CampaignResult, Group
from hlteval.results.systems import (
    NOT_DISTINGUISHABLE,
    Comparison,
    Leaderboard,
    RankedValue,
    System,
)  # fmt: skip
from hlteval.tasks import load
from hlteval.tasks.task import RATE, Range

SHARED_RANKS = "Systems not significantly different from the best of their group share its rank."
PUBLISHED = "Everything that the numbers depend on. Publish it with them."


def comparison_page(comparison: Comparison) -> Page:
    """The report of a comparison."""
    task, metric = comparison.task, comparison.metric
    about = [("task", task), ("profile", comparison.profile), ("metric", metric)]
    intro = caption(comparison) or SHARED_RANKS
    overview: list[Section] = [
        _headline(comparison, RATE),
        _bars(task, {metric: metric}, {each.name: {metric: each} for each in comparison.systems}),
        DataTable("Systems", intro, *ranked_systems(comparison)),
        *([Notes("Notes", notes=comparison.notes)] if comparison.notes else []),
        parts.Copied("Signature", PUBLISHED, comparison.signature),
    ]
    refused: list[Section] = []
    for system in comparison.refused:
        refused.append(Notes(system.name, warnings=[system.reason], notes=[system.help]))
        refused += [FindingList(findings=system.blocking)] if system.blocking else []
    tabs = [
        Tab("Overview", overview),
        Tab("Differences", _differences(comparison, "p values (Holm)", "Pairs")),
        Tab("Refused", refused, len(comparison.refused)),
    ]
    return Page(title(task), [*about, ("systems", str(len(comparison.systems)))], tabs)


def _headline(comparison: Comparison, limits: Range) -> Section:
    """The best systems with their values and intervals, or that none is the best.

    Args:
        comparison: the comparison.
        limits: what the limits of intervals can be.
    """
    metric, values = comparison.metric, values_of(load(comparison.task), comparison.metric)
    facts = [
        Fact(each.name, value_text(each.value, values), limits_text(each.interval, limits, ""),
             "rank 1", main=number == 0)
        for number, each in enumerate(comparison.best)
    ]  # fmt: skip
    if facts:
        return parts.Headline(f"Best by {metric}", facts=facts)
    reason = comparison.significance.note or "no difference is significant"
    return Notes(f"Systems {NOT_DISTINGUISHABLE} by {metric}", notes=[reason])


def _bars(
    task: str, metrics: Mapping[str, str], systems: Mapping[str, Mapping[str, System | RankedValue]]
) -> parts.Bars:
    """The values of systems as bars with their intervals.

    Args:
        task: name of the task.
        metrics: the metrics by what they are called.
        systems: the values of each system, by metric.
    """
    scores = {name: [own[metric] for own in systems.values()] for name, metric in metrics.items()}
    ranges = {name: values_of(load(task), metric) for name, metric in metrics.items()}
    values = parts.Breakdown(
        "system",
        list(systems),
        {name: [own.value for own in each] for name, each in scores.items()},
        [name for name, values in ranges.items() if (values.least, values.most) == (0.0, 1.0)],
        {name: [own.interval for own in each] for name, each in scores.items()},
    )
    return parts.Bars("Values", breakdowns=[values])


def _differences(comparison: Comparison, values: str, pairs: str) -> list[Section]:
    """The p values and the differences of all pairs, in tables of these names; none without pairs.

    The p values are corrected; they have a row and a column for each system.
    """
    if not comparison.differences:
        return []
    names = [system.name for system in comparison.systems]
    chances: dict[tuple[str, str], float | None] = {}
    for pair in comparison.differences:
        chances[pair.first, pair.second] = chances[pair.second, pair.first] = pair.corrected
    columns = {
        Field(f"c{at}", name, "rate"): [chances.get((other, name)) for other in names]
        for at, name in enumerate(names)
    }
    frame = pl.DataFrame({"system": names}).with_columns(
        pl.Series(field.name, rows, pl.Float64) for field, rows in columns.items()
    )
    below = "Below 0.05, two systems are significantly different."
    minus = "The first minus the second; wins, losses and ties are documents."
    return [
        DataTable(values, below, frame, [Field("system"), *columns]),
        DataTable(pairs, minus, comparison.to_frame("differences"), PAIRS),
    ]


#: The file of the report of each system, by its name.
Links = Mapping[str, str]
#: Rows of the table of systems that are on one page.
_MANY = 100


def leaderboard_page(board: Leaderboard, links: Links | None = None) -> Page:
    """The report of a leaderboard.

    Args:
        board: the leaderboard.
        links: the files of the reports of the systems, if there are any.
    """
    refused = [("refused", f"{len(board.refused):,}")] if board.refused else []
    about = [
        ("task", board.task),
        ("profile", board.profile),
        ("metrics", ", ".join(board.metrics)),
    ]
    named = dict(zip(labels(board.metrics), board.metrics, strict=True))
    values = {row.name: row.scores for row in board.systems}
    compared = (
        _differences(own, f"p values (Holm) of {own.metric}", f"Pairs by {own.metric}")
        for own in board.comparisons
    )
    return Page(
        f"Leaderboard: {title(board.task)}",
        [*about, ("systems", f"{len(board.systems):,}"), *refused],
        [
            Tab("Leaderboard", list(_ranking(board, links or {}))),
            Tab("Values", [_bars(board.task, named, values)] if values else []),
            Tab("Significance", [section for sections in compared for section in sections]),
        ],
    )


def _ranking(board: Leaderboard, links: Links) -> Iterator[Section]:
    """The best systems, the table, those that are refused, notes and the signature."""
    for first in board.comparisons[:1]:
        yield _headline(first, values_of(load(board.task), first.metric))
    if board.systems:
        frame, fields = board_systems(board, partial(limits_text, missing=""))
        intro = caption(board.comparisons[0]) or SHARED_RANKS
        yield DataTable("Systems", intro, *_with_links(frame, fields, 2, links), _MANY)
    if board.refused:
        frame = refused_systems(board)
        yield DataTable("Refused submissions", "", *_with_links(frame, REFUSALS, 1, links))
    if board.notes:
        yield Notes("Notes", notes=board.notes)
    if board.signature:
        yield parts.Copied("Signature", PUBLISHED, board.signature)


def _with_links(
    frame: pl.DataFrame, fields: Sequence[Field], at: int, links: Links
) -> tuple[pl.DataFrame, Sequence[Field]]:
    """A table of systems with links to their reports in the column of this number, if any."""
    if not links:
        return frame, fields
    reports = pl.Series("report", [links[name] for name in frame["system"]], pl.String)
    return frame.with_columns(reports), [*fields[:at], Field("report", kind="link"), *fields[at:]]


#: The columns of the table of cells, and the types of their values.
_CELLS: Mapping[Field, pl.DataType | type[pl.DataType]] = {
    **{
        Field(name): pl.String
        for name in ("task", "profile", "condition", "submission", "status", "metric")
    },
    **{Field(name, kind="rate"): pl.Float64 for name in ("value", "low", "high")},
    Field("errors", kind="number"): pl.Int64,
    Field("codes", kind="list"): pl.List(pl.String),
}


def campaign_page(result: CampaignResult, pages: Mapping[Group, str]) -> Page:
    """Return the report of a campaign.

    Args:
        result: the campaign.
        pages: the file of each leaderboard's own report, relative to this one.
    """
    troubled = [row for row in result.rows if row.result.status != "scored"]
    reasons: list[Section] = []
    for row in troubled:
        heading = f"{row.cell.submission} ({_group_title(row.cell.group)})"
        reasons.append(Notes(heading, warnings=[row.result.reason]))
        reasons += [FindingList(findings=row.findings)] if row.findings else []
    cells, groups = f"{len(result.rows):,}", f"{len(result.groups):,}"
    facts = [Fact("cells", cells, main=True)]
    facts += [Fact(status, f"{number:,}") for status, number in result.counts.items()]
    return Page(
        result.name,
        [("cells", cells), ("groups", groups)],
        [
            Tab("Cells", [parts.Headline("Cells", facts=facts), _cells(result)]),
            Tab("Leaderboards", list(_boards(result, pages)), len(result.boards)),
            Tab("Without numbers", reasons, len(troubled)),
        ],
    )


def _group_title(group: Group) -> str:
    """Return a group of cells as people read it.

    Examples:
        >>> _group_title(("hub4", "plan", "")), _group_title(("hub4", "plan", "strict"))
        ('hub4, plan', 'hub4, plan, strict')
    """
    return ", ".join(filter(None, group))


def _cells(result: CampaignResult) -> DataTable:
    """Return all cells; without conditions or intervals, their columns say nothing."""
    rows = []
    for row in result.rows:
        name, cell = row.headline, row.result
        value, limits = cell.metrics.get(name), cell.intervals.get(name, (None, None))
        number = None if value is None else float(value)
        codes = sorted({finding.code for finding in row.findings if finding.severity == "error"})
        names = (*row.cell.group, row.cell.submission, cell.status, name)
        rows.append((*names, number, *limits, row.count(Severity.ERROR), codes))
    schema = {field.name: dtype for field, dtype in _CELLS.items()}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    fields = [
        field
        for field in _CELLS
        if field.name not in ("condition", "low", "high")
        or not {None, ""}.issuperset(frame[field.name].to_list())
    ]
    intro = (
        "The metric is the one that ranks; the table campaign.parquet has all of them. Codes are "
        "those of cells without numbers."
    )
    return DataTable("All cells", intro, frame, fields)


def _boards(result: CampaignResult, pages: Mapping[Group, str]) -> Iterator[Section]:
    """Yield a table for each leaderboard, after a table of their reports."""
    if not result.boards:
        return
    titles = [_group_title(group) for group in result.boards]
    files = [pages.get(group, "") for group in result.boards]
    yield DataTable(
        "Reports",
        "Differences and p values of each leaderboard.",
        pl.DataFrame({"leaderboard": titles, "report": files}),
        [Field("leaderboard"), Field("report", kind="link")],
    )
    for heading, board in zip(titles, result.boards.values(), strict=True):
        frame, fields = board_systems(board, limits_text)
        metrics = {field.name: field.meaning for field in fields if field.meaning}
        rates = [Field(metric, metric, "rate") for metric in metrics.values()]
        intro = caption(board.comparisons[0]) or SHARED_RANKS
        yield DataTable(heading, intro, frame.rename(metrics), [*fields[:2], *rates])

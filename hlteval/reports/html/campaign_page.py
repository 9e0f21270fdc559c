"""The report of a campaign: its cells, its leaderboards, and why cells have no numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import polars as pl

from hlteval.findings import Severity
from hlteval.reports.comparison import caption, rank_shown
from hlteval.reports.html.comparison_page import SHARED_RANKS
from hlteval.reports.html.finding_sections import FindingList
from hlteval.reports.html.page import Page, Tab
from hlteval.reports.html.sections import Column, DataTable, Fact, Headline, Notes, Section
from hlteval.results.campaign import CampaignResult, CellRow, Group
from hlteval.results.comparison import System
from hlteval.results.leaderboard import Leaderboard

CELLS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "task": pl.String,
    "profile": pl.String,
    "condition": pl.String,
    "submission": pl.String,
    "status": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "errors": pl.Int64,
    "codes": pl.List(pl.String),
}


def campaign_page(result: CampaignResult, pages: Mapping[Group, str]) -> Page:
    """The report of a campaign.

    Args:
        result: the campaign.
        pages: the file of each leaderboard's own report, relative to this one.
    """
    troubled = [row for row in result.rows if row.result.status != "scored"]
    groups = len(result.groups)
    return Page(
        title=result.name,
        subtitle=[("cells", f"{len(result.rows):,}"), ("groups", f"{groups:,}")],
        tabs=[
            Tab("Cells", list(_overview(result))),
            Tab("Leaderboards", list(_boards(result, pages)), len(result.boards)),
            Tab("Without numbers", list(_troubled(troubled)), len(troubled)),
        ],
    )


def group_title(group: Group) -> str:
    """A group of cells as people read it.

    Examples:
        >>> group_title(("hub4", "plan", "")), group_title(("hub4", "plan", "strict"))
        ('hub4, plan', 'hub4, plan, strict')
    """
    return ", ".join(filter(None, group))


def _overview(result: CampaignResult) -> Iterator[Section]:
    """How many cells there are of each status, and all of them."""
    facts = [Fact("cells", f"{len(result.rows):,}", main=True)]
    facts += [Fact(status, f"{number:,}") for status, number in result.counts.items()]
    yield Headline("Cells", facts=facts)
    frame = pl.DataFrame([_cell(row) for row in result.rows], schema=CELLS, orient="row")
    yield DataTable(
        "All cells",
        "The metric is the one that ranks; the table campaign.parquet has all of them. Codes are "
        "those of cells without numbers.",
        frame=frame,
        columns=[Column(name, kind=_kind(name)) for name in CELLS if _is_used(frame, name)],
    )


def _kind(name: str) -> Literal["text", "list", "rate", "number"]:
    if CELLS[name] == pl.Float64:
        return "rate"
    if CELLS[name] == pl.Int64:
        return "number"
    return "text" if CELLS[name] == pl.String else "list"


def _is_used(frame: pl.DataFrame, name: str) -> bool:
    """Whether a column says anything: without conditions or intervals, theirs do not."""
    if name not in {"condition", "low", "high"}:
        return True
    return not {None, ""}.issuperset(frame[name].to_list())


def _cell(row: CellRow) -> tuple[object, ...]:
    name, own = row.headline, row.result
    value = own.metrics.get(name)
    low, high = own.intervals.get(name, (None, None))
    number = None if value is None else float(value)
    codes = sorted({finding.code for finding in row.findings if finding.severity == "error"})
    found = (name, number, low, high, row.count(Severity.ERROR), codes)
    return (*row.cell.group, row.cell.submission, own.status, *found)


def _boards(result: CampaignResult, pages: Mapping[Group, str]) -> Iterator[Section]:
    """A table for each leaderboard, after a table of their reports."""
    if not result.boards:
        return
    files = [pages.get(group, "") for group in result.boards]
    titles = [group_title(group) for group in result.boards]
    yield DataTable(
        "Reports",
        "Differences and p values of each leaderboard.",
        frame=pl.DataFrame({"leaderboard": titles, "report": files}),
        columns=[Column("leaderboard"), Column("report", kind="link")],
    )
    for group, board in result.boards.items():
        yield _board(group_title(group), board)


def _board(title: str, board: Leaderboard) -> DataTable:
    """The systems of a leaderboard: rank and name, then the value and rank of each metric."""
    first = board.comparisons[0]
    rows = [
        (
            rank_shown(row.rank, first),
            row.name,
            *(_value(row.scores.get(metric)) for metric in board.metrics),
        )
        for row in board.rows
        if not row.reason
    ]
    schema = {"rank": pl.Int64, "system": pl.String}
    frame = pl.DataFrame(
        rows, schema=schema | dict.fromkeys(board.metrics, pl.Float64), orient="row"
    )
    columns = [Column("rank", kind="number"), Column("system")]
    return DataTable(
        title,
        caption(first) or SHARED_RANKS,
        frame=frame,
        columns=[*columns, *(Column(metric, metric, "rate") for metric in board.metrics)],
    )


def _value(system: System | None) -> float | None:
    return None if system is None or system.value is None else float(system.value)


def _troubled(rows: list[CellRow]) -> Iterator[Section]:
    """Why cells have no numbers, with their findings."""
    for row in rows:
        cell = row.cell
        yield Notes(f"{cell.submission} ({group_title(cell.group)})", warnings=[row.result.reason])
        if row.findings:
            yield FindingList(findings=row.findings)

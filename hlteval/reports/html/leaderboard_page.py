"""The report of a leaderboard: systems by metric, significance, refused submissions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from hlteval.reports.comparison import caption, rank_shown
from hlteval.reports.html.comparison_page import SHARED_RANKS, headline, matrix, pairs
from hlteval.reports.html.page import Page, Tab
from hlteval.reports.html.sections import (
    Bars,
    Breakdown,
    Column,
    Copied,
    DataTable,
    Fact,
    Notes,
    Section,
)
from hlteval.reports.html.verdict_page import title
from hlteval.reports.leaderboard import INTERVAL, RANK, labels
from hlteval.reports.score_formats import shown, values_of
from hlteval.results.comparison import System
from hlteval.results.leaderboard import Leaderboard
from hlteval.tasks import load

Links = Mapping[str, str]
"""The file of the report of each system, by its name."""
_MANY = 100
"""Rows of the table of systems that are on one page."""


def leaderboard_page(board: Leaderboard, links: Links | None = None) -> Page:
    """The report of a leaderboard.

    Args:
        board: the leaderboard.
        links: the files of the reports of the systems, if there are any.
    """
    ranked = len(board.rows) - len(board.refused)
    return Page(
        title=f"Leaderboard: {title(board.task)}",
        subtitle=[
            ("task", board.task),
            ("profile", board.profile),
            ("metrics", ", ".join(board.metrics)),
            ("systems", f"{ranked:,}"),
            *([("refused", f"{len(board.refused):,}")] if board.refused else []),
        ],
        tabs=[
            Tab("Leaderboard", list(_ranking(board, links or {}))),
            Tab("Values", list(_values(board))),
            Tab("Significance", list(_significance(board))),
        ],
    )


def _ranking(board: Leaderboard, links: Links) -> Iterator[Section]:
    """The best systems, the table, those that are refused, notes and the signature."""
    for first in board.comparisons[:1]:
        best = enumerate(first.best)
        yield headline(first, [_fact(board, system, main=at == 0) for at, system in best])
    if len(board.rows) > len(board.refused):
        yield _systems(board, links)
    yield from _refused(board, links)
    if board.notes:
        yield Notes("Notes", notes=board.notes)
    if board.signature:
        intro = "Everything that the numbers depend on. Publish it with them."
        yield Copied("Signature", intro, text=board.signature)


def _fact(board: Leaderboard, system: System, *, main: bool) -> Fact:
    metric = board.metrics[0]
    value = shown(system.value, values_of(load(board.task), metric))
    return Fact(system.name, value, _limits(board, metric, system), "rank 1", main=main)


def _limits(board: Leaderboard, metric: str, own: System) -> str:
    """An interval as people read it; empty if there is none."""
    values = values_of(load(board.task), metric)
    return f"[{', '.join(shown(end, values) for end in own.interval)}]" if own.interval else ""


def _systems(board: Leaderboard, links: Links) -> DataTable:
    """Rank, system, and by metric value, interval and rank; then the reports."""
    rows = [row for row in board.rows if not row.reason]
    task = load(board.task)
    names = [row.name for row in rows]
    first = board.comparisons[0]
    cells: dict[str, pl.Series] = {
        "rank": pl.Series([rank_shown(row.rank, first) for row in rows], dtype=pl.Int64),
        "system": pl.Series(names, dtype=pl.String),
    }
    columns = [Column("rank", kind="number"), Column("system")]
    if links:
        cells["report"] = pl.Series([links.get(name) for name in names], dtype=pl.String)
        columns.append(Column("report", kind="link"))
    for at, (metric, label) in enumerate(zip(board.metrics, labels(board.metrics), strict=True)):
        scores = [row.scores[metric] for row in rows]
        cells[label] = pl.Series([own.value for own in scores], dtype=pl.Float64)
        rate = values_of(task, metric).kind == "rate"
        columns.append(Column(label, label, "rate" if rate else "number", metric))
        if any(own.interval for own in scores):
            name = f"{label} {INTERVAL}"
            cells[name] = pl.Series([_limits(board, metric, own) for own in scores])
            columns.append(Column(name))
        if at:
            name = f"{label} {RANK}"
            ranks = [rank_shown(own.rank, board.by(metric)) for own in scores]
            cells[name] = pl.Series(ranks, dtype=pl.Int64)
            columns.append(Column(name, kind="number"))
    intro = caption(first) or SHARED_RANKS
    return DataTable("Systems", intro, frame=pl.DataFrame(cells), columns=columns, page_size=_MANY)


def _values(board: Leaderboard) -> Iterator[Section]:
    """The values of each metric as bars with their intervals."""
    rows = [row for row in board.rows if not row.reason]
    if not rows:
        return
    task, named = load(board.task), dict(zip(labels(board.metrics), board.metrics, strict=True))
    ranges = {label: values_of(task, metric) for label, metric in named.items()}
    scores = {label: [row.scores[metric] for row in rows] for label, metric in named.items()}
    values = Breakdown(
        "system",
        [row.name for row in rows],
        {label: [own.value for own in each] for label, each in scores.items()},
        [label for label, own in ranges.items() if (own.least, own.most) == (0.0, 1.0)],
        {label: [own.interval for own in each] for label, each in scores.items()},
    )
    yield Bars("Values", breakdowns=[values])


def _significance(board: Leaderboard) -> Iterator[Section]:
    """By metric the p values of all pairs and their differences."""
    for own in board.comparisons:
        if own.differences:
            yield matrix(own, f"p values (Holm) of {own.metric}")
            yield pairs(own, f"Pairs by {own.metric}")


def _refused(board: Leaderboard, links: Links) -> Iterator[Section]:
    """The systems that were not scored, with the reason and what to do."""
    rows = [row for row in board.rows if row.reason]
    if not rows:
        return
    cells = {
        "system": [row.name for row in rows],
        "reason": [row.reason for row in rows],
        "help": [row.help for row in rows],
    }
    columns = [Column("system"), Column("reason"), Column("help", "what to do")]
    if links:
        cells["report"] = [links[row.name] for row in rows]
        columns.insert(1, Column("report", kind="link"))
    yield DataTable("Refused submissions", frame=pl.DataFrame(cells), columns=columns)

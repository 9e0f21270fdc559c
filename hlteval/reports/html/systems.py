"""The reports of comparisons, leaderboards and campaigns: ranks, differences and p values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import polars as pl

from hlteval.findings import Severity
from hlteval.reports.html.page import (
    Bars,
    Breakdown,
    Column,
    Copied,
    DataTable,
    Fact,
    Headline,
    Notes,
    Page,
    Section,
    Tab,
)
from hlteval.reports.html.scores import FindingList, title
from hlteval.reports.scores import value_text, values_of
from hlteval.reports.systems import INTERVAL, RANK, caption, labels, rank_shown
from hlteval.results.evaluation import CampaignResult, Group
from hlteval.results.systems import NOT_DISTINGUISHABLE, Comparison, Leaderboard, System
from hlteval.tasks import load

SHARED_RANKS = "Systems not significantly different from the best of their group share its rank."


def comparison_page(comparison: Comparison, parent: tuple[str, str] | None = None) -> Page:
    """The report of a comparison.

    Args:
        comparison: the comparison.
        parent: a link to the page that this one belongs to, and its text.
    """
    return Page(
        title=title(comparison.task),
        subtitle=[
            ("task", comparison.task),
            ("profile", comparison.profile),
            ("metric", comparison.metric),
            ("systems", str(len(comparison.systems))),
        ],
        tabs=[
            Tab("Overview", list(_overview(comparison))),
            Tab("Differences", list(_differences(comparison))),
            Tab("Refused", list(_refused(comparison)), len(comparison.refused)),
        ],
        parent=parent,
    )


def _overview(comparison: Comparison) -> Iterator[Section]:
    """The best systems, all of them with their intervals, notes and the signature."""
    values = values_of(load(comparison.task), comparison.metric)
    facts = [
        Fact(each.name, value_text(each.value, values), _limits(each), "rank 1", main=at == 0)
        for at, each in enumerate(comparison.best)
    ]
    yield headline(comparison, facts)
    yield Bars("Values", breakdowns=[_values(comparison)])
    yield _systems(comparison)
    if comparison.notes:
        yield Notes("Notes", notes=comparison.notes)
    yield Copied(
        "Signature",
        "Everything that the numbers depend on. Publish it with them.",
        text=comparison.signature,
    )


def headline(comparison: Comparison, facts: Sequence[Fact]) -> Section:
    """The best systems, or that none is the best.

    Args:
        comparison: the comparison.
        facts: the values of the best systems.
    """
    if facts:
        return Headline(f"Best by {comparison.metric}", facts=facts)
    reason = comparison.significance.note or "no difference is significant"
    return Notes(f"Systems {NOT_DISTINGUISHABLE} by {comparison.metric}", notes=[reason])


def _limits(system: System) -> str:
    limits = system.interval
    return f"[{limits[0]:.4f}, {limits[1]:.4f}]" if limits else ""


def _values(comparison: Comparison) -> Breakdown:
    metric, systems = comparison.metric, comparison.systems
    values = values_of(load(comparison.task), metric)
    rates = [metric] if (values.least, values.most) == (0.0, 1.0) else []
    return Breakdown(
        "system",
        [system.name for system in systems],
        {metric: [system.value for system in systems]},
        rates,
        {metric: [system.interval for system in systems]},
    )


def _systems(comparison: Comparison) -> DataTable:
    """The table of systems: rank, name, value and interval, and the path."""
    path = pl.col("name").replace(dict(comparison.paths)).alias("path")
    frame = comparison.to_frame().with_columns(path)
    if comparison.significance.note:
        frame = frame.with_columns(rank=pl.lit(None, pl.Int64))
    rate = values_of(load(comparison.task), comparison.metric).kind == "rate"
    numbers = [Column(name, kind="rate" if rate else "number") for name in ("value", "low", "high")]
    columns = [Column("rank", kind="number"), Column("name", "system"), *numbers, Column("path")]
    intro = caption(comparison) or SHARED_RANKS
    return DataTable("Systems", intro, frame=frame, columns=columns)


def _differences(comparison: Comparison) -> Iterator[Section]:
    """The matrix of p values, and all pairs."""
    if not comparison.differences:
        return
    yield matrix(comparison)
    yield pairs(comparison)


def pairs(comparison: Comparison, heading: str = "Pairs") -> DataTable:
    """The differences of all pairs of systems.

    Args:
        comparison: the comparison.
        heading: of the table.
    """
    rates = ("difference", "low", "high", "probability", "corrected")
    titles = {"probability": "p", "corrected": "p (Holm)"}
    return DataTable(
        heading,
        "The first minus the second; wins, losses and ties are documents.",
        frame=comparison.to_frame("differences"),
        columns=[
            Column("first"),
            Column("second"),
            *(Column(name, titles.get(name, ""), "rate") for name in rates),
            *(Column(name, kind="number") for name in ("wins", "losses", "ties")),
        ],
    )


def matrix(comparison: Comparison, heading: str = "p values (Holm)") -> DataTable:
    """The p values of all pairs, corrected, with a row and a column for each system.

    Args:
        comparison: the comparison.
        heading: of the table.
    """
    listed = [system.name for system in comparison.systems]
    values: dict[tuple[str, str], float | None] = {}
    for pair in comparison.differences:
        values[pair.first, pair.second] = values[pair.second, pair.first] = pair.corrected
    rows = [[first, *(values.get((first, second)) for second in listed)] for first in listed]
    ids = [f"c{at}" for at in range(len(listed))]
    schema = {"system": pl.String, **dict.fromkeys(ids, pl.Float64)}
    heads = [Column(own, name, "rate") for own, name in zip(ids, listed, strict=True)]
    return DataTable(
        heading,
        "Below 0.05, two systems are significantly different.",
        frame=pl.DataFrame(rows, schema=schema, orient="row"),
        columns=[Column("system"), *heads],
    )


def _refused(comparison: Comparison) -> Iterator[Section]:
    """The systems that were not scored: why, what to do, and the findings that are the reason."""
    for system in comparison.refused:
        yield Notes(system.name, warnings=[system.reason], notes=[system.help])
        if system.blocking:
            yield FindingList(findings=system.blocking)


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
            Tab("Values", list(_leaderboard_values(board))),
            Tab("Significance", list(_significance(board))),
        ],
    )


def _ranking(board: Leaderboard, links: Links) -> Iterator[Section]:
    """The best systems, the table, those that are refused, notes and the signature."""
    for first in board.comparisons[:1]:
        best = enumerate(first.best)
        yield headline(first, [_fact(board, system, main=at == 0) for at, system in best])
    if len(board.rows) > len(board.refused):
        yield _leaderboard_systems(board, links)
    yield from _leaderboard_refused(board, links)
    if board.notes:
        yield Notes("Notes", notes=board.notes)
    if board.signature:
        intro = "Everything that the numbers depend on. Publish it with them."
        yield Copied("Signature", intro, text=board.signature)


def _fact(board: Leaderboard, system: System, *, main: bool) -> Fact:
    metric = board.metrics[0]
    value = value_text(system.value, values_of(load(board.task), metric))
    return Fact(system.name, value, _leaderboard_limits(board, metric, system), "rank 1", main=main)


def _leaderboard_limits(board: Leaderboard, metric: str, own: System) -> str:
    """An interval as people read it; empty if there is none."""
    values = values_of(load(board.task), metric)
    return f"[{', '.join(value_text(end, values) for end in own.interval)}]" if own.interval else ""


def _leaderboard_systems(board: Leaderboard, links: Links) -> DataTable:
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
            cells[name] = pl.Series([_leaderboard_limits(board, metric, own) for own in scores])
            columns.append(Column(name))
        if at:
            name = f"{label} {RANK}"
            ranks = [rank_shown(own.rank, board.by(metric)) for own in scores]
            cells[name] = pl.Series(ranks, dtype=pl.Int64)
            columns.append(Column(name, kind="number"))
    intro = caption(first) or SHARED_RANKS
    return DataTable("Systems", intro, frame=pl.DataFrame(cells), columns=columns, page_size=_MANY)


def _leaderboard_values(board: Leaderboard) -> Iterator[Section]:
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


def _leaderboard_refused(board: Leaderboard, links: Links) -> Iterator[Section]:
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


ColumnKind = Literal["text", "list", "rate", "number"]
#: The columns of the table of cells: the type of their values, and how they are shown.
_CELLS: Mapping[str, tuple[pl.DataType | type[pl.DataType], ColumnKind]] = {
    **dict.fromkeys(
        ("task", "profile", "condition", "submission", "status", "metric"), (pl.String, "text")
    ),
    **dict.fromkeys(("value", "low", "high"), (pl.Float64, "rate")),
    "errors": (pl.Int64, "number"),
    "codes": (pl.List(pl.String), "list"),
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
        heading = f"{row.cell.submission} ({group_title(row.cell.group)})"
        reasons.append(Notes(heading, warnings=[row.result.reason]))
        reasons += [FindingList(findings=row.findings)] if row.findings else []
    groups = len(result.groups)
    return Page(
        title=result.name,
        subtitle=[("cells", f"{len(result.rows):,}"), ("groups", f"{groups:,}")],
        tabs=[
            Tab("Cells", _cells(result)),
            Tab("Leaderboards", list(_boards(result, pages)), len(result.boards)),
            Tab("Without numbers", reasons, len(troubled)),
        ],
    )


def group_title(group: Group) -> str:
    """Return a group of cells as people read it.

    Examples:
        >>> group_title(("hub4", "plan", "")), group_title(("hub4", "plan", "strict"))
        ('hub4, plan', 'hub4, plan, strict')
    """
    return ", ".join(filter(None, group))


def _cells(result: CampaignResult) -> list[Section]:
    """Return how many cells there are of each status, and all of them."""
    facts = [Fact("cells", f"{len(result.rows):,}", main=True)]
    facts += [Fact(status, f"{number:,}") for status, number in result.counts.items()]
    rows = []
    for row in result.rows:
        name, cell = row.headline, row.result
        value, limits = cell.metrics.get(name), cell.intervals.get(name, (None, None))
        number = None if value is None else float(value)
        codes = sorted({finding.code for finding in row.findings if finding.severity == "error"})
        names = (*row.cell.group, row.cell.submission, cell.status, name)
        rows.append((*names, number, *limits, row.count(Severity.ERROR), codes))
    schema = {name: dtype for name, (dtype, _) in _CELLS.items()}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    # Without conditions or intervals, their columns say nothing.
    empty = {
        name
        for name in ("condition", "low", "high")
        if {None, ""}.issuperset(frame[name].to_list())
    }
    columns = [Column(name, kind=kind) for name, (_, kind) in _CELLS.items() if name not in empty]
    intro = (
        "The metric is the one that ranks; the table campaign.parquet has all of them. Codes are "
        "those of cells without numbers."
    )
    table = DataTable("All cells", intro, frame=frame, columns=columns)
    return [Headline("Cells", facts=facts), table]


def _boards(result: CampaignResult, pages: Mapping[Group, str]) -> Iterator[Section]:
    """Yield a table for each leaderboard, after a table of their reports."""
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
    for heading, board in zip(titles, result.boards.values(), strict=True):
        first = board.comparisons[0]
        systems = [row for row in board.rows if not row.reason]
        ranks = [rank_shown(row.rank, first) for row in systems]
        cells = {
            "rank": pl.Series(ranks, dtype=pl.Int64),
            "system": pl.Series([row.name for row in systems], dtype=pl.String),
        }
        for metric in board.metrics:
            scores = [row.scores.get(metric) for row in systems]
            values = [None if own is None else own.value for own in scores]
            cells[metric] = pl.Series(values, dtype=pl.Float64, strict=False)
        columns = [Column("rank", kind="number"), Column("system")]
        columns += [Column(metric, metric, "rate") for metric in board.metrics]
        intro = caption(first) or SHARED_RANKS
        yield DataTable(heading, intro, frame=pl.DataFrame(cells), columns=columns)

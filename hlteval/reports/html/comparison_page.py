"""The report of a comparison: ranks, differences and p values of systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from hlteval.reports.comparison import caption
from hlteval.reports.html.finding_sections import FindingList
from hlteval.reports.html.page import Page, Tab
from hlteval.reports.html.sections import (
    Bars,
    Breakdown,
    Column,
    Copied,
    DataTable,
    Fact,
    Headline,
    Notes,
    Section,
)
from hlteval.reports.html.verdict_page import title
from hlteval.reports.score_formats import shown, values_of
from hlteval.results.comparison import NOT_DISTINGUISHABLE, Comparison, System
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
        Fact(each.name, shown(each.value, values), _limits(each), "rank 1", main=at == 0)
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

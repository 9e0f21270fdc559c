"""The report of a comparison: ranks, differences and p values of systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

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
from hlteval.results.comparison import Comparison, System
from hlteval.results.names import short_names
from hlteval.tasks import load

Names = Mapping[str, str]
"""Short names of systems by path."""


def comparison_page(comparison: Comparison, parent: tuple[str, str] | None = None) -> Page:
    """The report of a comparison.

    Args:
        comparison: the comparison.
        parent: a link to the page that this one belongs to, and its text.
    """
    paths = [system.name for system in comparison.systems]
    names = short_names([*paths, *(system.name for system in comparison.refused)])
    return Page(
        title=title(comparison.task),
        subtitle=[
            ("task", comparison.task),
            ("profile", comparison.profile),
            ("metric", comparison.metric),
            ("systems", str(len(comparison.systems))),
        ],
        tabs=[
            Tab("Overview", list(_overview(comparison, names))),
            Tab("Differences", list(_differences(comparison, names))),
            Tab("Refused", list(_refused(comparison, names)), len(comparison.refused)),
        ],
        parent=parent,
    )


def _overview(comparison: Comparison, names: Names) -> Iterator[Section]:
    """The best systems, all of them with their intervals, notes and the signature."""
    values = values_of(load(comparison.task), comparison.metric)
    best = [system for system in comparison.systems if system.rank == 1]
    facts = [
        Fact(names[each.name], shown(each.value, values), _limits(each), "rank 1", main=at == 0)
        for at, each in enumerate(best)
    ]
    yield Headline(f"Best by {comparison.metric}", facts=facts)
    yield Bars("Values", breakdowns=[_values(comparison, names)])
    yield _systems(comparison, names)
    if comparison.notes:
        yield Notes("Notes", notes=comparison.notes)
    yield Copied(
        "Signature",
        "Everything that the numbers depend on. Publish it with them.",
        text=comparison.signature,
    )


def _limits(system: System) -> str:
    limits = system.interval
    return f"[{limits[0]:.4f}, {limits[1]:.4f}]" if limits else ""


def _values(comparison: Comparison, names: Names) -> Breakdown:
    metric, systems = comparison.metric, comparison.systems
    values = values_of(load(comparison.task), metric)
    rates = [metric] if (values.least, values.most) == (0.0, 1.0) else []
    return Breakdown(
        "system",
        [names[system.name] for system in systems],
        {metric: [system.value for system in systems]},
        rates,
        {metric: [system.interval for system in systems]},
    )


def _systems(comparison: Comparison, names: Names) -> DataTable:
    """The table of systems: rank, name, value and interval, and the path."""
    path = pl.col("name")
    frame = comparison.to_frame().with_columns(
        path.replace_strict(dict(names), return_dtype=pl.String).alias("system")
    )
    rate = values_of(load(comparison.task), comparison.metric).kind == "rate"
    numbers = [Column(name, kind="rate" if rate else "number") for name in ("value", "low", "high")]
    columns = [Column("rank", kind="number"), Column("system"), *numbers, Column("name", "path")]
    return DataTable("Systems", frame=frame, columns=columns)


def _differences(comparison: Comparison, names: Names) -> Iterator[Section]:
    """The matrix of p values, and all pairs."""
    if not comparison.differences:
        return
    yield matrix(comparison, names)
    yield pairs(comparison, names)


def pairs(comparison: Comparison, names: Names, heading: str = "Pairs") -> DataTable:
    """The differences of all pairs of systems.

    Args:
        comparison: the comparison.
        names: of the systems, by path.
        heading: of the table.
    """
    short = dict(names)
    frame = comparison.to_frame("differences").with_columns(
        pl.col(name).replace_strict(short, return_dtype=pl.String) for name in ("first", "second")
    )
    rates = ("difference", "low", "high", "probability", "corrected")
    titles = {"probability": "p", "corrected": "p (Holm)"}
    return DataTable(
        heading,
        "The first minus the second; wins, losses and ties are documents.",
        frame=frame,
        columns=[
            Column("first"),
            Column("second"),
            *(Column(name, titles.get(name, ""), "rate") for name in rates),
            *(Column(name, kind="number") for name in ("wins", "losses", "ties")),
        ],
    )


def matrix(comparison: Comparison, names: Names, heading: str = "p values (Holm)") -> DataTable:
    """The p values of all pairs, corrected, with a row and a column for each system.

    Args:
        comparison: the comparison.
        names: of the systems, by path.
        heading: of the table.
    """
    listed = [system.name for system in comparison.systems]
    values: dict[tuple[str, str], float | None] = {}
    for pair in comparison.differences:
        values[pair.first, pair.second] = values[pair.second, pair.first] = pair.corrected
    rows = [[names[first], *(values.get((first, second)) for second in listed)] for first in listed]
    ids = [f"c{at}" for at in range(len(listed))]
    schema = {"system": pl.String, **dict.fromkeys(ids, pl.Float64)}
    heads = [Column(own, names[name], "rate") for own, name in zip(ids, listed, strict=True)]
    return DataTable(
        heading,
        "Below 0.05, two systems are significantly different.",
        frame=pl.DataFrame(rows, schema=schema, orient="row"),
        columns=[Column("system"), *heads],
    )


def _refused(comparison: Comparison, names: Names) -> Iterator[Section]:
    """The systems that were not scored: why, what to do, and the findings that are the reason."""
    for system in comparison.refused:
        yield Notes(names[system.name], warnings=[system.reason], notes=[system.help])
        if system.blocking:
            yield FindingList(findings=system.blocking)

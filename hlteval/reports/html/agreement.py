"""The report of agreement: measures and coefficients, by label and document, and differences."""

from __future__ import annotations

import os.path
from collections.abc import Iterator
from typing import Literal

import polars as pl

from hlteval.reports.agreement import coefficient_rows, measure_rows, notes
from hlteval.reports.html import page as parts
from hlteval.reports.html.page import DataTable, Fact, Page, Section, Tab
from hlteval.reports.html.scores import MOST_FACTS, FindingList, title
from hlteval.reports.scores import limits_text, value_text, values_of
from hlteval.reports.tables import Field
from hlteval.results.agreement import Agreement, CoefficientValue
from hlteval.tasks import load
from hlteval.tasks.task import RATE


def agreement_page(agreement: Agreement) -> Page:
    """The report of the agreement between annotators."""
    about = [
        ("task", agreement.task),
        ("annotators", ", ".join(agreement.annotators)),
        ("documents", f"{agreement.documents:,}"),
    ]
    findings = [FindingList(findings=agreement.findings)] if agreement.findings else []
    tabs = [
        Tab("Overview", list(_overview(agreement))),
        Tab("By label", list(_by(agreement, "label"))),
        Tab("By document", list(_by(agreement, "document"))),
        Tab("Differences", list(_differences(agreement)), len(agreement.differences)),
        Tab("Findings", findings, len(agreement.findings)),
    ]
    return Page(title(agreement.task), about, tabs)


def _overview(agreement: Agreement) -> Iterator[Section]:
    """The numbers to read first, all of them, notes and the signature."""
    facts = []
    for number, pair in enumerate(agreement.measures):
        value = value_text(pair.value, values_of(load(agreement.task), pair.measure))
        limits, names = limits_text(pair.interval, missing=""), f"{pair.first}, {pair.second}"
        facts.append(Fact(pair.measure, value, limits, names, number == 0))
    for item in agreement.coefficients:
        if item.coefficient == "alpha" and item.document is None and item.label is None:
            value, limits = value_text(item.value, RATE), limits_text(item.interval, missing="")
            facts.append(Fact(f"{item.judged}: {item.coefficient}", value, limits, "all"))
    yield parts.Headline("Agreement", facts=facts[:MOST_FACTS])
    if agreement.measures:
        titles = {"forward": "first as reference", "backward": "second as reference"}
        frame, fields = measure_rows(agreement)
        fields = [each._replace(title=titles.get(each.name, each.title)) for each in fields]
        yield DataTable("Measures", "", frame, fields)
    if agreement.coefficients:
        yield _table("Coefficients", agreement, "")
    yield parts.Notes("Notes", notes=list(notes(agreement)))
    published = "Everything that the numbers depend on. Publish it with them."
    yield parts.Copied("Signature", published, agreement.signature)


def _table(
    heading: str, agreement: Agreement, scope: Literal["", "document", "label"]
) -> DataTable:
    """A table of coefficients, of everything or of each document or label, without intervals."""
    frame, fields = coefficient_rows(agreement, scope)
    ends = ("low", "high") if scope else ()
    meanings = (f"{name}: {agreement.meanings[name]}" for name in dict.fromkeys(frame["judged"]))
    return DataTable(
        heading, "; ".join(meanings), frame, [each for each in fields if each.name not in ends]
    )


def _by(agreement: Agreement, scope: Literal["document", "label"]) -> Iterator[Section]:
    """The coefficients of each document or label: bars of alpha by what is judged, and a table."""
    items: dict[str, list[CoefficientValue]] = {}
    for item in agreement.coefficients:
        if getattr(item, scope) is not None:
            alphas = items.setdefault(item.judged, [])
            alphas += [item] if item.coefficient == "alpha" else []
    if items:
        breakdowns = [
            parts.Breakdown(
                f"{judged}, {scope}",
                [getattr(item, scope) for item in alphas],
                {"alpha": [item.value for item in alphas]},
                intervals={"alpha": [item.interval for item in alphas]},
            )
            for judged, alphas in items.items()
            if alphas
        ]
        yield parts.Bars(f"By {scope}", breakdowns=breakdowns)
        yield _table(f"Coefficients by {scope}", agreement, scope)


def _differences(agreement: Agreement) -> Iterator[Section]:
    """Differences of annotators: a row per unit, with what each of them says and where.

    The page leaves out the folder that all places of an annotator are in.
    """
    if not agreement.differences:
        return
    columns = {
        Field(name): [getattr(item, name) for item in agreement.differences]
        for name in ("judged", "document", "unit")
    }
    places = {}
    for at, name in enumerate(agreement.annotators):
        judgments = [item.judgments.get(name) for item in agreement.differences]
        said = [each and each.category for each in judgments]
        columns[Field(f"category{at}", name)] = [None if c is None else str(c) for c in said]
        where = [each and each.place for each in judgments]
        shared = os.path.commonprefix([place for place in where if place])  # noqa: RUF071 - cut back to a folder
        folder = shared[: shared.rfind("/") + 1]
        places[Field(f"place{at}", f"place, {name}")] = [
            place and place.removeprefix(folder) for place in where
        ]
    columns |= places
    frame = pl.DataFrame(
        {field.name: pl.Series(values, dtype=pl.String) for field, values in columns.items()}
    )
    yield DataTable(
        "Differences",
        "Units of which annotators say different things; an empty cell is a unit that the "
        "annotator did not mark.",
        frame,
        list(columns),
    )

"""The report of agreement: measures and coefficients, by label and document, and differences."""

from __future__ import annotations

import os.path
from collections.abc import Iterator

import polars as pl

from hlteval.reports.agreement import notes
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
from hlteval.reports.html.scores import MOST_FACTS, FindingList, title
from hlteval.reports.scores import value_text, values_of
from hlteval.results.agreement import Agreement, CoefficientValue, PairMeasure
from hlteval.tasks import load


def agreement_page(agreement: Agreement, parent: tuple[str, str] | None = None) -> Page:
    """The report of the agreement between annotators.

    Args:
        agreement: the agreement.
        parent: a link to the page that this one belongs to, and its text.
    """
    return Page(
        title=title(agreement.task),
        subtitle=[
            ("task", agreement.task),
            ("annotators", ", ".join(agreement.annotators)),
            ("documents", f"{agreement.documents:,}"),
        ],
        tabs=[
            Tab("Overview", list(_overview(agreement))),
            Tab("By label", list(_by(agreement, "label"))),
            Tab("By document", list(_by(agreement, "document"))),
            Tab("Differences", list(_differences(agreement)), len(agreement.differences)),
            Tab("Findings", list(_findings(agreement)), len(agreement.findings)),
        ],
        parent=parent,
    )


def _overview(agreement: Agreement) -> Iterator[Section]:
    """The numbers to read first, all of them, notes and the signature."""
    facts = [_fact(agreement, pair, at == 0) for at, pair in enumerate(agreement.measures)]
    facts += [
        Fact(f"{item.judged}: {item.coefficient}", _rate(item.value), _limits(item.interval), "all")
        for item in _overall(agreement)
        if item.coefficient == "alpha"
    ]
    yield Headline("Agreement", facts=facts[:MOST_FACTS])
    if agreement.measures:
        yield _measures(agreement)
    if agreement.coefficients:
        yield _table("Coefficients", _overall(agreement), agreement)
    yield Notes("Notes", notes=list(notes(agreement)))
    yield Copied(
        "Signature",
        "Everything that the numbers depend on. Publish it with them.",
        text=agreement.signature,
    )


def _fact(agreement: Agreement, pair: PairMeasure, main: bool) -> Fact:
    values = values_of(load(agreement.task), pair.measure)
    return Fact(
        pair.measure, value_text(pair.value, values), _limits(pair.interval),
        f"{pair.first}, {pair.second}", main,
    )  # fmt: skip


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _limits(interval: tuple[float, float] | None) -> str:
    return f"[{interval[0]:.4f}, {interval[1]:.4f}]" if interval else ""


def _overall(agreement: Agreement) -> list[CoefficientValue]:
    every = agreement.coefficients
    return [item for item in every if item.document is None and item.label is None]


def _measures(agreement: Agreement) -> DataTable:
    """The measures of the task for each pair, in both directions."""
    frame = agreement.to_frame("measures")
    titles = {
        "value": "mean", "forward": "first as reference", "backward": "second as reference",
    }  # fmt: skip
    task = load(agreement.task)
    rate = all(values_of(task, name).kind == "rate" for name in frame["measure"])
    numbers = ("value", "low", "high", "forward", "backward")
    columns = [
        *(Column(name) for name in ("measure", "first", "second")),
        *(Column(name, titles.get(name, ""), "rate" if rate else "number") for name in numbers),
        Column("documents", kind="number"),
        Column("reason"),
    ]
    return DataTable("Measures", frame=frame, columns=columns)


def _table(
    heading: str, items: list[CoefficientValue], agreement: Agreement, scope: str = ""
) -> DataTable:
    """A table of coefficients, of everything or of each document or label."""
    rows = [
        {
            "judged": item.judged,
            "scope": getattr(item, scope) if scope else None,
            "coefficient": item.coefficient,
            "annotators": ", ".join(item.annotators),
            "value": item.value,
            "low": item.interval[0] if item.interval else None,
            "high": item.interval[1] if item.interval else None,
            "units": item.units,
            "reason": item.reason,
        }
        for item in items
    ]
    numbers = ("value", "low", "high")
    schema: dict[str, type[pl.DataType]] = {
        "judged": pl.String, "scope": pl.String, "coefficient": pl.String,
        "annotators": pl.String, **dict.fromkeys(numbers, pl.Float64), "units": pl.Int64,
        "reason": pl.String,
    }  # fmt: skip
    columns = [
        Column("judged"),
        *([Column("scope", scope)] if scope else []),
        Column("coefficient"),
        Column("annotators"),
        *(Column(name, kind="rate") for name in numbers if not scope or name == "value"),
        Column("units", kind="number"),
        Column("reason"),
    ]
    judged = dict.fromkeys(item.judged for item in items)
    meanings = "; ".join(f"{name}: {agreement.meanings[name]}" for name in judged)
    return DataTable(heading, meanings, pl.DataFrame(rows, schema=schema), columns)


def _by(agreement: Agreement, scope: str) -> Iterator[Section]:
    """The coefficients of each document or label: bars of those of all annotators, and a table."""
    items = [item for item in agreement.coefficients if getattr(item, scope) is not None]
    if not items:
        return
    yield Bars(f"By {scope}", breakdowns=list(_breakdowns(items, scope)))
    yield _table(f"Coefficients by {scope}", items, agreement, scope)


def _breakdowns(items: list[CoefficientValue], scope: str) -> Iterator[Breakdown]:
    """Alpha of each document or label, by what is judged."""
    for judged in dict.fromkeys(item.judged for item in items):
        own = [i for i in items if i.judged == judged and i.coefficient == "alpha"]
        if own:
            yield Breakdown(
                f"{judged}, {scope}",
                [getattr(item, scope) for item in own],
                {"alpha": [item.value for item in own]},
                intervals={"alpha": [item.interval for item in own]},
            )


def _differences(agreement: Agreement) -> Iterator[Section]:
    """Differences of annotators: a row per unit, with what each of them says and where."""
    if not agreement.differences:
        return
    shared = [_folder(agreement, name) for name in agreement.annotators]
    rows = []
    for item in agreement.differences:
        row: dict[str, str | None] = {
            "judged": item.judged, "document": item.document, "unit": item.unit,
        }  # fmt: skip
        for at, name in enumerate(agreement.annotators):
            judgment = item.judgments.get(name)
            own, place = (judgment.category, judgment.place) if judgment else (None, None)
            row[f"category{at}"] = None if own is None else str(own)
            row[f"place{at}"] = place and place.removeprefix(shared[at])
        rows.append(row)
    every = list(enumerate(agreement.annotators))
    heads = [Column(f"category{at}", name) for at, name in every]
    heads += [Column(f"place{at}", f"place, {name}") for at, name in every]
    columns = [Column("judged"), Column("document"), Column("unit"), *heads]
    schema = dict.fromkeys((column.name for column in columns), pl.String)
    yield DataTable(
        "Differences",
        "Units of which annotators say different things; an empty cell is a unit that the "
        "annotator did not mark.",
        pl.DataFrame(rows, schema=schema),
        columns,
    )


def _folder(agreement: Agreement, annotator: str) -> str:
    """The folder that all places of an annotator are in, which the page leaves out."""
    judgments = (item.judgments.get(annotator) for item in agreement.differences)
    places = [judgment.place for judgment in judgments if judgment and judgment.place]
    shared = os.path.commonprefix(places)  # noqa: RUF071 - cut back to a folder
    return shared[: shared.rfind("/") + 1]


def _findings(agreement: Agreement) -> Iterator[Section]:
    if agreement.findings:
        yield FindingList(findings=agreement.findings)

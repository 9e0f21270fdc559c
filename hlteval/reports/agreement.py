"""The output formats of agreement between annotators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import polars as pl
from msgspec.structs import replace
from rich.console import RenderableType

from hlteval.findings.counts import count_of, first_names
from hlteval.reports.findings import json
from hlteval.reports.scores import text_table, values_of
from hlteval.reports.sentences import document
from hlteval.reports.tables import (
    ALL,
    Field,
    Table,
    Tables,
    View,
    column_headers,
    fields_of,
    tsv_lines,
)
from hlteval.reports.terminal import Formats, Prose, frame_text, visible, warning
from hlteval.results.agreement import Agreement, Disagreement
from hlteval.tasks import load

_MEASURES, _COEFFICIENTS = fields_of("measures"), fields_of("coefficients")
Scope = Literal["", "document", "label"]
#: The names of the columns of all tables.
COLUMNS = column_headers(_MEASURES, _COEFFICIENTS, [Field("document"), Field("label")])
#: How many differences people read.
LISTED = 10
ALL_OF_THEM = "all"
NOT_MARKED = "not marked"


@dataclass(frozen=True, slots=True)
class Selection:
    """Selection of what people read of an agreement.

    Attributes:
        view: the columns of the tables.
        per: of what there are values beside those of everything: `document`, `label`, or empty.
        listed: how many differences are listed; None for all.
    """

    view: View = ALL
    per: Scope = ""
    listed: int | None = LISTED


def measure_rows(agreement: Agreement) -> tuple[pl.DataFrame, list[Field]]:
    """The measures of the task for each pair, in both directions, and the columns of the table."""
    frame, task = agreement.to_frame("measures"), load(agreement.task)
    if all(values_of(task, name).kind == "rate" for name in frame["measure"]):
        return frame, [*_MEASURES]
    numbers = [each._replace(kind="number") if each.kind == "rate" else each for each in _MEASURES]
    return frame, numbers


def coefficient_rows(agreement: Agreement, per: Scope) -> tuple[pl.DataFrame, list[Field]]:
    """The coefficients of everything, or of each document or label, and their columns."""
    whole = pl.all_horizontal(pl.col("document", "label").is_null())
    frame = agreement.to_frame("coefficients").with_columns(pl.col("annotators").list.join(", "))
    frame = frame.filter(pl.col(per).is_not_null() if per else whole)
    judged, *others = _COEFFICIENTS
    if not per:
        return frame, [judged, *others]
    return frame.rename({per: "scope"}), [judged, Field("scope", per), *others]


def _tables(agreement: Agreement, selection: Selection) -> list[Table]:
    task, (measures, fields) = load(agreement.task), measure_rows(agreement)
    ranges = [values_of(task, name) for name in measures["measure"]]
    tables = [text_table(measures, fields, ranges=ranges)]
    every = ", ".join(agreement.annotators) if len(agreement.annotators) != 2 else None
    for per in dict.fromkeys(("", selection.per)):
        frame, fields = coefficient_rows(agreement, per)
        frame = frame.with_columns(pl.col("annotators").replace({every: ALL_OF_THEM}))
        tables.append(text_table(frame, fields, f"by {per}" if per else ""))
    return selection.view.of([table for table in tables if table.rows])


def line(item: Disagreement) -> str:
    """A difference in one line: the unit, and the judgment of each annotator, with its place."""
    judgments = []
    for name, judgment in item.judgments.items():
        category = NOT_MARKED if judgment.category is None else judgment.category
        text = f"{category:g}" if isinstance(category, float) else category
        judgments.append(f"{name} {text}{f' ({judgment.place})' if judgment.place else ''}")
    unit = f"{item.document} {item.unit}".strip()
    return f"{item.judged}, {unit}: {'; '.join(judgments)}"


def notes(agreement: Agreement) -> Iterator[str]:
    """The remarks on how to read the numbers, and why some are missing."""
    yield from agreement.notes
    numbers = [(pair, pair.measure) for pair in agreement.measures] + [
        (item, f"{item.judged} {item.coefficient}")
        for item in agreement.coefficients
        if item.is_whole
    ]
    missing: dict[tuple[str, str], dict[str, None]] = {}
    for item, name in numbers:
        lack = "no value" if item.value is None else "no interval"
        missing.setdefault((lack, item.reason), {})[name] = None
    for (lack, reason), numbers_without in missing.items():
        if reason:
            listed = first_names([*numbers_without], 3, others=2)
            yield f"{lack} for {listed}: {reason}"


def text(agreement: Agreement, selection: Selection = Selection()) -> RenderableType:
    """Tables of measures and coefficients, where annotators part, notes and the signature."""
    listed = agreement.differences[: selection.listed]
    more = len(agreement.differences) - len(listed)
    annotators = count_of(len(agreement.annotators), "annotator")
    documents = count_of(agreement.documents, "document")
    parts: list[RenderableType] = [Tables(_tables(agreement, selection), selection.view.wide)]
    if agreement.differences:
        parts.append(Prose(count_of(len(agreement.differences), "difference"), "bold"))
        parts += [Prose(visible(line(item))) for item in listed]
    if more:
        parts.append(Prose(f"… and {more:,} more", "dim"))
    parts += [warning(f"{item.message} ({item.code})") for item in agreement.findings]
    head = f"{agreement.task}: agreement of {annotators}, {documents}"
    return frame_text(head, parts, notes(agreement), agreement.signature)


def tsv(agreement: Agreement, _: Selection = Selection()) -> str:
    """The tables of measures, coefficients and differences, with an empty line between two."""
    frames = [agreement.to_frame(rows) for rows in ("measures", "coefficients", "differences")]
    return "\n".join(
        tsv_lines(frame.columns, *(map(_on_one_line, row) for row in frame.iter_rows()))
        for frame in frames
    )


def _on_one_line(value: object) -> object:
    """The value of a cell: lists with commas, and one space for any white space of texts."""
    text = ", ".join(value) if isinstance(value, list) else value
    return " ".join(visible(text).split()) if isinstance(text, str) else text


def markdown(agreement: Agreement, selection: Selection = Selection()) -> str:
    """The tables in Markdown."""
    return _paper_tables(agreement, selection).markdown(agreement.signature, aligned=False)


def latex(agreement: Agreement, selection: Selection = Selection()) -> str:
    """The tables in LaTeX (booktabs)."""
    return _paper_tables(agreement, selection).latex(agreement.signature, aligned=False)


def _paper_tables(agreement: Agreement, selection: Selection) -> Tables:
    return Tables([replace(table, title="") for table in _tables(agreement, selection)])


#: The output formats by name.
FORMATS: Formats[[Agreement, Selection]] = MappingProxyType(
    {
        "text": text,
        "json": json,
        "tsv": tsv,
        "markdown": markdown,
        "latex": latex,
        "sentence": document,
    }
)

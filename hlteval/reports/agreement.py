"""The output formats of agreement between annotators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.findings.counts import count_of, first_names
from hlteval.reports.scores import limits_text, value_text, values_of
from hlteval.reports.tables import ALL, FIXED, Column, Table, Tables, View, tsv_lines
from hlteval.reports.terminal import Formats, Prose, json_text, note, visible, warning
from hlteval.results.agreement import Agreement, Disagreement
from hlteval.tasks import load
from hlteval.tasks.task import HIGH, LOW, NORMAL, RATE

_MEASURES = (
    Column("measure", "name"),
    Column("first", "name"),
    Column("second", "name"),
    Column("mean", importance=FIXED),
    Column("interval", importance=HIGH),
    Column("1st as reference", importance=NORMAL),
    Column("2nd as reference", importance=NORMAL),
    Column("documents", importance=LOW),
)
_COEFFICIENTS = (
    Column("judged", "name"),
    Column("coefficient", "name"),
    Column("annotators", "name"),
    Column("value", importance=FIXED),
    Column("interval", importance=HIGH),
    Column("units", importance=NORMAL),
)
_PER = MappingProxyType({"document": Column("document", "name"), "label": Column("label", "name")})
#: The names of the columns of all tables.
COLUMNS = tuple(
    dict.fromkeys(column.name for column in (*_MEASURES, *_COEFFICIENTS, *_PER.values()))
)
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
    per: Literal["", "document", "label"] = ""
    listed: int | None = LISTED


def _measures(agreement: Agreement) -> Table:
    task = load(agreement.task)
    rows = []
    for pair in agreement.measures:
        values = values_of(task, pair.measure)
        names = map(visible, (pair.measure, pair.first, pair.second))
        both = (value_text(value, values) for value in (pair.forward, pair.backward))
        mean = (value_text(pair.value, values), limits_text(pair.interval))
        rows.append([*names, *mean, *both, str(pair.documents)])
    return Table(_MEASURES, rows)


def _coefficients(agreement: Agreement, per: Literal["", "document", "label"] = "") -> Table:
    """The coefficients of everything, or of each document or label."""
    rows = []
    for item in agreement.coefficients:
        scopes = {"": "", "document": item.document, "label": item.label}
        if scopes[per] is None or (not per and (item.document or item.label) is not None):
            continue
        every = len(item.annotators) == len(agreement.annotators) != 2
        rows.append(
            [
                item.judged,
                *([visible(scopes[per] or "")] if per else []),
                item.coefficient,
                ALL_OF_THEM if every else ", ".join(map(visible, item.annotators)),
                value_text(item.value, RATE),
                limits_text(item.interval),
                str(item.units),
            ]
        )
    first, *others = _COEFFICIENTS
    return Table([first, *([_PER[per]] if per else []), *others], rows, f"by {per}" if per else "")


def _tables(agreement: Agreement, selection: Selection) -> list[Table]:
    tables = [_measures(agreement), _coefficients(agreement)]
    tables += [_coefficients(agreement, selection.per)] if selection.per else []
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
        if (item.document or item.label) is None
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
    head = f"{agreement.task}: agreement of {annotators}, {documents}"
    parts: list[RenderableType] = [
        Prose(head, "bold"),
        Tables(_tables(agreement, selection), selection.view.wide),
    ]
    if agreement.differences:
        parts.append(Prose(count_of(len(agreement.differences), "difference"), "bold"))
        parts += [Prose(visible(line(item))) for item in listed]
    if more:
        parts.append(Prose(f"… and {more:,} more", "dim"))
    parts += [warning(f"{item.message} ({item.code})") for item in agreement.findings]
    parts += map(note, notes(agreement))
    return Group(*parts, Text(visible(agreement.signature), style="dim"))


def json(agreement: Agreement, _: Selection = Selection()) -> str:
    """The agreement as one JSON object."""
    return json_text(agreement.to_dict())


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
    {"text": text, "json": json, "tsv": tsv, "markdown": markdown, "latex": latex}
)

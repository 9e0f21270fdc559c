"""The output formats of agreement between annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.findings.counts import counted
from hlteval.reports.scores import UNDEFINED, shown, tex, values_of
from hlteval.reports.tables import ALL, FIXED, Column, Table, Tables, View
from hlteval.reports.terminal import (
    Prose,
    escaped,
    in_cells,
    in_markdown,
    note,
    printable,
    visible,
    warning,
)
from hlteval.results.agreement import Agreement, CoefficientValue, Disagreement, Limits
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
COLUMNS = tuple(
    dict.fromkeys(column.name for column in (*_MEASURES, *_COEFFICIENTS, *_PER.values()))
)
"""The names of the columns of all tables."""
LISTED = 10
"""How many differences people read."""
ALL_OF_THEM = "all"
NOT_MARKED = "not marked"


@dataclass(frozen=True, slots=True)
class Shown:
    """What people read of an agreement.

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
        both = [shown(value, values) for value in (pair.forward, pair.backward)]
        names = [visible(name) for name in (pair.measure, pair.first, pair.second)]
        mean = [shown(pair.value, values), _limits(pair.interval)]
        rows.append([*names, *mean, *both, str(pair.documents)])
    return Table(_MEASURES, rows)


def _coefficients(agreement: Agreement, per: str = "") -> Table:
    """The coefficients of everything, or of each document or label."""
    columns = (*_COEFFICIENTS[:1], _PER[per], *_COEFFICIENTS[1:]) if per else _COEFFICIENTS
    rows = []
    for item in agreement.coefficients:
        scope = item.document if per == "document" else item.label
        if (per and scope is None) or (not per and (item.document or item.label) is not None):
            continue
        cells = _cells(agreement, item)
        rows.append([cells[0], visible(scope or ""), *cells[1:]] if per else cells)
    return Table(columns, rows, f"by {per}" if per else "")


def _cells(agreement: Agreement, item: CoefficientValue) -> list[str]:
    every = len(item.annotators) == len(agreement.annotators) != 2
    names = ALL_OF_THEM if every else ", ".join(map(visible, item.annotators))
    numbers = [shown(item.value, RATE), _limits(item.interval), str(item.units)]
    return [item.judged, item.coefficient, names, *numbers]


def _limits(interval: Limits) -> str:
    return f"[{interval[0]:.4f}, {interval[1]:.4f}]" if interval else UNDEFINED


def _tables(agreement: Agreement, what: Shown) -> list[Table]:
    tables = [_measures(agreement), _coefficients(agreement)]
    tables += [_coefficients(agreement, what.per)] if what.per else []
    return what.view.of([table for table in tables if table.rows])


def line(item: Disagreement) -> str:
    """A difference in one line: the unit, and what each annotator says of it, where."""
    said = "; ".join(
        f"{name} {_category(judgment.category)}{f' ({judgment.place})' if judgment.place else ''}"
        for name, judgment in item.judgments.items()
    )
    unit = f"{item.document} {item.unit}".strip()
    return f"{item.judged}, {unit}: {said}"


def _category(category: str | float | None) -> str:
    return (
        NOT_MARKED
        if category is None
        else f"{category:g}"
        if isinstance(category, float)
        else category
    )


def notes(agreement: Agreement) -> Iterator[str]:
    """The remarks on how to read the numbers, and why some are missing."""
    yield from agreement.notes
    overall = [item for item in agreement.coefficients if (item.document or item.label) is None]
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for pair in agreement.measures:
        what = "no value" if pair.value is None else "no interval"
        reasons.setdefault((what, pair.reason), {})[pair.measure] = None
    for item in overall:
        what = "no value" if item.value is None else "no interval"
        name = f"{item.judged} {item.coefficient}"
        reasons.setdefault((what, item.reason), {})[name] = None
    for (what, reason), names in reasons.items():
        if reason:
            yield f"{what} for {_some([*names])}: {reason}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 4 else ""
    return ", ".join(names[:3] if more else names) + more


def text(agreement: Agreement, what: Shown = Shown()) -> RenderableType:
    """Tables of measures and coefficients, where annotators part, notes and the signature."""
    listed = agreement.differences[: what.listed]
    more = len(agreement.differences) - len(listed)
    annotators = counted(len(agreement.annotators), "annotator")
    documents = counted(agreement.documents, "document")
    head = f"{agreement.task}: agreement of {annotators}, {documents}"
    parts: list[RenderableType] = [
        Prose(head, "bold"),
        Tables(_tables(agreement, what), what.view.wide),
    ]
    if agreement.differences:
        parts.append(Prose(counted(len(agreement.differences), "difference"), "bold"))
        parts += [Prose(visible(line(item))) for item in listed]
    if more:
        parts.append(Prose(f"… and {more:,} more", "dim"))
    parts += [warning(f"{item.message} ({item.code})") for item in agreement.findings]
    parts += map(note, notes(agreement))
    return Group(*parts, Text(visible(agreement.signature), style="dim"))


def json(agreement: Agreement, _: Shown = Shown()) -> str:
    """The agreement as one JSON object."""
    return escaped(msgspec.json.encode(printable(agreement.to_dict()))).decode() + "\n"


def tsv(agreement: Agreement, _: Shown = Shown()) -> str:
    """The tables of measures, coefficients and differences, with an empty line between two."""
    frames = [agreement.to_frame(rows) for rows in ("measures", "coefficients", "differences")]
    return "\n".join(_tsv(frame.columns, frame.iter_rows()) for frame in frames)


def _tsv(columns: Sequence[str], rows: Iterator[tuple[object, ...]]) -> str:
    lines = [columns, *([_field(value) for value in row] for row in rows)]
    return "".join("\t".join(cells) + "\n" for cells in lines)


def _field(value: object) -> str:
    if isinstance(value, list):
        value = ", ".join(value)
    return "" if value is None else in_cells(" ".join(visible(str(value)).split()))


def markdown(agreement: Agreement, what: Shown = Shown()) -> str:
    """The tables in Markdown."""
    blocks = [f"`{agreement.signature}`\n"]
    for table in _tables(agreement, what):
        lines = [f"| {' | '.join(row)} |\n" for row in _lines(table, in_markdown)]
        blocks.append("".join([lines[0], f"|{'---|' * len(table.columns)}\n", *lines[1:]]))
    return "\n".join(blocks)


def latex(agreement: Agreement, what: Shown = Shown()) -> str:
    """The tables in LaTeX (booktabs)."""
    blocks = [f"% {agreement.signature}\n"]
    for table in _tables(agreement, what):
        first, *others = (rf"{' & '.join(row)} \\" + "\n" for row in _lines(table, tex))
        blocks.append(
            rf"\begin{{tabular}}{{{'l' * len(table.columns)}}}"
            f"\n\\toprule\n{first}\\midrule\n{''.join(others)}\\bottomrule\n\\end{{tabular}}\n"
        )
    return "\n".join(blocks)


def _lines(table: Table, written: Callable[[str], str]) -> Iterator[list[str]]:
    """The header and the rows of a table, with cells as a format writes them."""
    yield [written(column.name) for column in table.columns]
    for row in table.rows:
        yield [written(str(cell)) for cell in row]


FORMATS: Mapping[str, Callable[[Agreement, Shown], str | RenderableType]] = MappingProxyType(
    {"text": text, "json": json, "tsv": tsv, "markdown": markdown, "latex": latex}
)
"""The output formats by name."""

"""The output formats of scores, and of a refusal to score; values and intervals as text."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from types import MappingProxyType

import msgspec
import polars as pl
from msgspec.structs import replace
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.extensions import lazy
from hlteval.findings.sequence import severities
from hlteval.reports import terminal
from hlteval.reports.findings import MAX_FINDINGS
from hlteval.reports.findings import text as findings_text
from hlteval.reports.tables import ALL, FIXED, Cell, Column, Field, Table, Tables, View, tsv_lines
from hlteval.reports.terminal import Prose
from hlteval.results.scores import Scores
from hlteval.results.systems import Interval
from hlteval.results.verdict import Refusal
from hlteval.tasks import load
from hlteval.tasks.task import LOW, NUMBER, RATE, Range, Task

UNDEFINED = "-"
#: Metrics that people read in a list; where there are more, they read the tables.
MANY = 30
_SLICE = 20_000
#: Floats from here on are written with an exponent.
_EXPONENT = 1e16
#: The types of columns that Polars and msgspec write alike in JSON.
_ALIKE = (pl.String, pl.Int64, pl.Float64, pl.Boolean, pl.List(pl.String))
#: The file by which a folder of scores is recognised.
MAIN = "scores.json"


def value_text(value: float | None, values: Range) -> str:
    """A value as people read it, `-` where undefined.

    Args:
        value: of a metric or a measure.
        values: what it can be, as its statistic declares.

    Examples:
        >>> from hlteval.tasks.task import NUMBER, RATE
        >>> value_text(1.0, RATE), value_text(832.0, NUMBER), value_text(None, RATE)
        ('1.0000', '832', '-')
    """
    if value is None:
        return UNDEFINED
    whole = values.kind != "rate" and float(value).is_integer()
    return str(int(value)) if whole else f"{value:.4f}"


def limits_text(limits: Interval | None, values: Range = RATE, missing: str = UNDEFINED) -> str:
    """The limits of a confidence interval as people read them.

    Args:
        limits: of the interval, lower first; None without one.
        values: what the limits can be.
        missing: the text where there is no interval.

    Examples:
        >>> limits_text((0.25, 0.5)), limits_text(None)
        ('[0.2500, 0.5000]', '-')
    """
    return f"[{', '.join(value_text(limit, values) for limit in limits)}]" if limits else missing


def values_of(task: Task, name: str) -> Range:
    """The values that a metric or a measure of the table `scorings` can have; NUMBER if unknown."""
    statistic = task.statistic(name)
    return statistic.values if statistic else NUMBER


def text_table(
    frame: pl.DataFrame, fields: Iterable[Field], title: str = "", ranges: Sequence[Range] = ()
) -> Table:
    """The rows of a data frame as people read them.

    Args:
        frame: the rows.
        fields: its columns.
        title: a line above it, if any.
        ranges: what the numbers of each row can be, rather than those of each column.

    Examples:
        >>> frame = pl.DataFrame({"value": [0.5, None], "low": [0.25, None], "high": [1.0, None]})
        >>> text_table(frame, [Field("value"), Field("low"), Field("high")]).rows
        [['0.5000', '[0.2500, 1.0000]'], ['-', '-']]
    """
    columns = {
        field: field.column
        for field in fields
        if field.importance is not None and field.name != "high"
    }
    rows = [
        [_cell(row, field, ranges[number] if ranges else field.values) for field in columns]
        for number, row in enumerate(frame.iter_rows(named=True))
    ]
    return Table([*columns.values()], rows, title)


def _cell(row: Mapping[str, object], field: Field, values: Range) -> str:
    match row[field.name], row.get("high"):
        case None, _:
            return UNDEFINED
        case float(low), float(high) if field.name == "low":
            return limits_text((low, high))
        case float(value), _:
            return f"{value:+.4f}" if field.signed else value_text(value, values)
        case [*items], _:
            return ", ".join(terminal.visible(str(item)) for item in items)
        case value, _:
            return terminal.visible(str(value))


def pivot_scorings(
    scorings: pl.DataFrame,
) -> Iterator[tuple[str, list[str], list[tuple[str, list[float | None]]]]]:
    """The table `scorings` as people read it: by evaluation, its measures and a row a scoring.

    A measure that a scoring does not have is None in its row.
    """
    for (evaluation,), rows in scorings.group_by("evaluation", maintain_order=True):
        measures = rows["measure"].unique(maintain_order=True).to_list()
        cells: list[tuple[str, dict[str, float | None]]] = []
        for name, measure, value in rows.select("scoring", "measure", "value").iter_rows():
            if not cells or cells[-1][0] != name or measure in cells[-1][1]:
                cells.append((name, {}))
            cells[-1][1][measure] = value
        each = [(name, [values.get(measure) for measure in measures]) for name, values in cells]
        yield str(evaluation), measures, each


def text(scores: Scores, view: View = ALL) -> RenderableType:
    """Metrics, scorings that hold something, notes and the signature."""
    scorings = view.of(_scorings(scores, with_empty=False))
    parts: list[RenderableType] = [*map(terminal.warning, scores.warnings)]
    parts += [Tables([_metrics(scores)]), Tables(scorings, view.wide)]
    parts += [Tables([_confusion(scores)], view.wide)] if view.confusion else []
    head = f"{scores.task}, profile {scores.profile}"
    return terminal.frame_text(head, parts, scores.notes, scores.signature)


def primary_value(scores: Scores) -> str:
    """The value of the metric that ranks, on a line of its own; `-` where undefined."""
    value = scores.metrics.get(scores.primary)
    return f"{value_text(value, values_of(load(scores.task), scores.primary))}\n"


def _metrics(scores: Scores) -> Table:
    """The metrics; of many only the one that ranks."""
    many = len(scores.metrics) > MANY
    columns = [Column("metric", "name"), Column("value"), Column("ranks", "name")]
    if scores.intervals:
        columns.insert(2, Column("interval", "name"))
    rows: list[list[Cell]] = []
    for name, value, limits in _intervals(scores):
        ranks = name == scores.primary
        between = [limits] if scores.intervals else []
        if ranks or not many:
            style = "bold" if ranks else ""
            rows.append([(name, style), value, *between, ("(primary)" * ranks, "dim")])
    return Table(columns, rows, header=False)


def _confusion(scores: Scores) -> Table:
    """The confusion of labels as a matrix, without numbers where labels are never confused."""
    matrix = scores.confusion
    if matrix is None:
        raise ValueError("the scores have no confusion of labels")
    names = [terminal.visible(name) for name in matrix.columns]
    columns = [Column("", "name"), *(Column(name, importance=LOW) for name in names[1:])]
    rows = [
        [terminal.visible(label), *(str(count or "") for count in counts)]
        for label, *counts in matrix.iter_rows()
    ]
    return Table(columns, rows, "Confusion of labels (rows: reference, columns: system)")


def _intervals(scores: Scores, missing: str = "") -> Iterator[list[str]]:
    """Each metric with its value and its interval as people read them."""
    task = load(scores.task)
    for name, value in scores.metrics.items():
        values = values_of(task, name)
        limits = limits_text(scores.intervals.get(name), values, missing)
        yield [name, value_text(value, values), limits]


def _scorings(scores: Scores, *, with_empty: bool) -> Iterator[Table]:
    """The table of each evaluation, possibly without the scorings of which there is nothing.

    Columns are as important as their statistics; that of the metric that ranks is always there.
    """
    task = load(scores.task)
    ranking = task.statistic(scores.primary)
    for evaluation, measures, scorings in pivot_scorings(scores.tables["scorings"]):
        columns = [Column("", "name")]
        for name in measures:
            statistic = task.statistic(name)
            weight = statistic.weight if statistic else LOW
            fixed = statistic is not None and statistic is ranking
            columns.append(Column(name, importance=FIXED if fixed else weight))
        ranges = [values_of(task, name) for name in measures]
        rows = [
            [scoring, *map(value_text, values, ranges)]
            for number, (scoring, values) in enumerate(scorings)
            if with_empty or number == 0 or any(values) or evaluation in scores.tables
        ]
        yield Table(columns, rows, evaluation)


def json(scores: Scores, _: View = ALL) -> str:
    """One object with everything; null where undefined."""
    return b"".join(_json(scores)).decode()


def _json(scores: Scores) -> Iterator[bytes]:
    """Pieces of the JSON: with the alignment of a large corpus the whole takes much memory."""
    begin = b"{"
    for name, value in scores.to_dict(lambda table: table).items():
        yield begin + msgspec.json.encode(name) + b":"
        if name == "tables":
            yield from map(terminal.escape_json, _tables(value))
        else:
            yield terminal.json_text(value).removesuffix("\n").encode()
        begin = b","
    yield b"}\n"


def _tables(tables: Mapping[str, pl.DataFrame]) -> Iterator[bytes]:
    begin = b"{"
    for name, table in tables.items():
        yield begin + msgspec.json.encode(name) + b":["
        for number, part in enumerate(table.iter_slices(_SLICE)):
            yield b"," * (number > 0) + _rows(part)
        yield b"]"
        begin = b","
    yield b"}" if tables else b"{}"


def _rows(table: pl.DataFrame) -> bytes:
    """The rows of a table as JSON objects with commas between them.

    Polars writes them ten times faster, and the same, but for what is 1e16 and more.
    """
    floats = table.select(pl.col(pl.Float64).abs().fill_nan(None).max())
    largest = floats.row(0) if floats.width else ()
    small = all(most is None or most < _EXPONENT for most in largest)
    if not table.height or not small or any(dtype not in _ALIKE for dtype in table.dtypes):
        return msgspec.json.encode(table.to_dicts())[1:-1]
    lines = BytesIO()
    table.write_ndjson(lines)
    return lines.getvalue()[:-1].replace(b"\n", b",")  # JSON contains no line break


def tsv(scores: Scores, _: View = ALL) -> str:
    """The metrics: name, tab, value in full, empty where undefined; then the interval, if any."""
    metrics = scores.metrics.items()
    return tsv_lines(*((name, value, *scores.intervals.get(name, ())) for name, value in metrics))


def markdown(scores: Scores, view: View = ALL) -> str:
    """The scorings as Markdown tables, after the intervals where there are some."""
    return _paper_tables(scores, view).markdown(scores.signature)


def latex(scores: Scores, view: View = ALL) -> str:
    """The scorings as LaTeX tables (booktabs), after the intervals where there are some."""
    return _paper_tables(scores, view).latex(scores.signature)


def _paper_tables(scores: Scores, view: View) -> Tables:
    """The intervals, if any, and all scorings with the columns of a view, in the given order.

    The name of an evaluation is the header of its first column.
    """
    tables = []
    if scores.intervals:
        columns = (Column("metric", "name"), Column("value"), Column("interval"))
        tables.append(Table(columns, list(_intervals(scores, UNDEFINED))))
    for table in view.of(_scorings(scores, with_empty=True)):
        head = Column(table.title, "name")
        tables.append(replace(table, columns=[head, *table.columns[1:]], title=""))
    tables += [replace(_confusion(scores), title="")] if view.confusion else []
    return Tables(tables)


def write_tables(scores: Scores, folder: Path) -> None:
    """Everything as files: scores.json, each table as <name>.tsv, official files."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / MAIN).open("wb") as stream:
        stream.writelines(_json(scores))
    (folder / "metrics.tsv").write_text(tsv(scores), "utf-8", newline="\n")
    for name, table in scores.tables.items():
        (folder / f"{name}.tsv").write_text(frame_tsv(table), "utf-8", newline="")
    for name, content in scores.files.items():
        (folder / name).write_text(content, "utf-8", newline="")


def frame_tsv(table: pl.DataFrame) -> str:
    """A data frame as TSV with a header; lists are joined, line breaks and tabs are spaces."""
    lists = [column for column, dtype in table.schema.items() if dtype == pl.List(pl.String)]
    flat = table.with_columns(pl.col(column).list.join(" ") for column in lists)
    flat = flat.with_columns(pl.col(pl.String).str.replace_all(r"[\t\r\n]", " "))
    return flat.write_csv(separator="\t", quote_style="never")


#: The formats by name.
FORMATS: terminal.Formats[[Scores, View]] = MappingProxyType(
    {
        "text": text,
        "json": json,
        "tsv": tsv,
        "markdown": markdown,
        "latex": latex,
        "sentence": lazy("hlteval.reports.sentences:document"),
    }
)


def headline(task: Task, names: Iterable[str], primary: str, most: int) -> list[str]:
    """The most important metrics, in their order, with the one that ranks first.

    Args:
        task: that declares the statistics.
        names: of the metrics there are.
        primary: the metric that ranks.
        most: how many are wanted.

    Examples:
        >>> from hlteval.tasks import load
        >>> headline(load("seedev-full"), ["matches", "recall", "f1"], "f1", 2)
        ['f1', 'recall']
    """
    listed = sorted(names, key=lambda name: name != primary)
    best = sorted(listed, key=lambda name: _order(task, name, primary))[:most]
    return [name for name in listed if name in best]


def _order(task: Task, name: str, primary: str) -> tuple[bool, int, bool, bool]:
    """Rates before counts, then what the metric that ranks measures, then its statistic."""
    statistic = task.statistic(name)
    measure, _, last = primary.rpartition(".")
    return (
        name != primary,
        -(statistic.weight if statistic else LOW),
        not (measure and name.startswith(f"{measure}.")),
        not name.endswith(f".{last}"),
    )


def refusal_text(refusal: Refusal, max_findings: int = MAX_FINDINGS) -> RenderableType:
    """The findings that are the reason, then the reason, what to do, and what else there is.

    Args:
        refusal: why nothing was scored.
        max_findings: maximum number of findings shown per file; 0 for all.
    """
    findings = tuple(refusal.blocking)
    blocking = replace(refusal.verdict, task="", findings=findings)
    return Group(findings_text(blocking, max_findings), Text(), refusal_summary(refusal))


def platform_text(result: Scores | Refusal) -> RenderableType:
    """The most important metrics, notes and the signature, or the reason of a refusal, as a log."""
    if isinstance(result, Refusal):
        return refusal_text(result)
    names = load(result.task).beside(result.primary, result.metrics)
    values = [f"{name}: {value}" for name, value, _ in _intervals(result) if name in names]
    notes = [*result.warnings, *result.notes, result.signature]
    return Group(*map(Prose, [*values, *notes]))


def refusal_summary(refusal: Refusal) -> RenderableType:
    """The reason and what to do; the number of all other findings, and their command."""
    lines: list[RenderableType] = [Prose(refusal.reason, "bold red"), Prose(refusal.help)]
    blocking = set(refusal.blocking)
    if others := tuple(item for item in refusal.verdict.findings if item not in blocking):
        more = "; to see all findings, run" if refusal.command else ""
        lines.append(Prose(f"not shown: {severities(others)}{more}"))
        lines += [Text(f"  {shlex.join(refusal.command)}")] if refusal.command else []
    return Group(*lines)

"""The formats that scores are shown in: text for people, tables for papers, JSON for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from types import MappingProxyType

import msgspec
import polars as pl
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.reports.display import visible
from hlteval.reports.escapes import escaped, in_markdown, printable
from hlteval.reports.prose import Prose, note, warning
from hlteval.reports.tables import ALL, FIXED, Cell, Column, Table, Tables, View
from hlteval.results.scores import Scores
from hlteval.tasks import load
from hlteval.tasks.statistics import LOW, NUMBER, Range
from hlteval.tasks.task import Task

UNDEFINED = "-"
MANY = 30
"""Metrics that people read in a list; where there are more, they read the tables."""
_SLICE = 20_000
_EXPONENT = 1e16
"""Floats from here on are written with an exponent."""
MAIN = "scores.json"
"""The file by which a folder of scores is recognised."""


def shown(value: float | None, values: Range) -> str:
    """A value as people read it, `-` where undefined.

    Args:
        value: of a metric or a measure.
        values: what it can be, as its statistic declares.

    Examples:
        >>> from hlteval.tasks.statistics import COUNT, RATE
        >>> shown(1.0, RATE), shown(832.0, COUNT), shown(None, RATE)
        ('1.0000', '832', '-')
    """
    if value is None:
        return UNDEFINED
    whole = values.kind != "rate" and float(value).is_integer()
    return str(int(value)) if whole else f"{value:.4f}"


def _row(task: Task, measures: list[str], values: list[float | None]) -> list[str]:
    each = zip(measures, values, strict=True)
    return [shown(value, values_of(task, measure)) for measure, value in each]


def values_of(task: Task, name: str) -> Range:
    """What a metric or a measure of the table `scorings` can be; any number if not declared."""
    statistic = task.statistic(name)
    return statistic.values if statistic else NUMBER


def pivoted(
    scorings: pl.DataFrame,
) -> Iterator[tuple[str, list[str], list[tuple[str, list[float | None]]]]]:
    """The table `scorings` as people read it: by evaluation, its measures and a row a scoring."""
    for (evaluation,), rows in scorings.group_by("evaluation", maintain_order=True):
        measures = rows["measure"].unique(maintain_order=True).to_list()
        values = rows["value"].to_list()
        names = rows["scoring"].to_list()
        size = len(measures)
        cells = [(names[at], values[at : at + size]) for at in range(0, len(values), size)]
        yield str(evaluation), measures, cells


def text(scores: Scores, view: View = ALL) -> RenderableType:
    """Metrics, scorings that hold something, notes and the signature."""
    task = load(scores.task)
    scorings = [_scorings(scores, task, *rows) for rows in pivoted(scores.tables["scorings"])]
    return Group(
        Prose(f"{scores.task}, profile {scores.profile}", "bold"),
        *map(warning, scores.warnings),
        Tables([_metrics(scores)]),
        Tables(view.of(scorings), view.wide),
        *map(note, scores.notes),
        Text(visible(scores.signature), style="dim"),
    )


def _metrics(scores: Scores) -> Table:
    many = len(scores.metrics) > MANY
    columns = [Column("metric", "name"), Column("value"), Column("ranks", "name")]
    if scores.intervals:
        columns.insert(2, Column("interval", "name"))
    rows: list[list[Cell]] = []
    for name in scores.metrics:
        if many and name != scores.primary:
            continue
        value, limits = _values(scores, name)
        ranks = name == scores.primary
        between = [limits] if scores.intervals else []
        rows.append([(name, "bold" if ranks else ""), value, *between, ("ranks" * ranks, "dim")])
    return Table(columns, rows, header=False)


def _values(scores: Scores, name: str) -> tuple[str, str]:
    """A metric and its interval as people read them; the interval is empty where there is none."""
    values = values_of(load(scores.task), name)
    limits = [shown(limit, values) for limit in scores.intervals.get(name, ())]
    return shown(scores.metrics[name], values), f"[{', '.join(limits)}]" if limits else ""


def _intervals(scores: Scores) -> Iterator[list[str]]:
    """The metrics with their intervals, a row each; none without a bootstrap."""
    for name in scores.metrics if scores.intervals else ():
        value, limits = _values(scores, name)
        yield [name, value, limits or UNDEFINED]


_INTERVALS = ["metric", "value", "interval"]


def _scorings(
    scores: Scores,
    task: Task,
    evaluation: str,
    measures: list[str],
    rows: list[tuple[str, list[float | None]]],
) -> Table:
    """The table of an evaluation, without the scorings of which there is nothing."""
    columns = [Column("", "name"), *(_column(task, name, scores.primary) for name in measures)]
    shown = [
        [scoring, *_row(task, measures, values)]
        for number, (scoring, values) in enumerate(rows)
        if number == 0 or any(values)
    ]
    return Table(columns, shown, evaluation)


def _column(task: Task, measure: str, primary: str) -> Column:
    """The column of a measure, as important as its statistic; that which ranks is always there."""
    statistic, ranking = task.statistic(measure), task.statistic(primary)
    weight = statistic.weight if statistic else LOW
    return Column(measure, importance=FIXED if statistic and statistic is ranking else weight)


def json(scores: Scores, _: View = ALL) -> str:
    """One object with everything; null where undefined."""
    return b"".join(_json(scores)).decode()


def _json(scores: Scores) -> Iterator[bytes]:
    """The same piece by piece: with the alignment of a large corpus it takes much memory."""
    begin = b"{"
    for name, value in scores.to_dict(lambda table: table).items():
        yield begin + msgspec.json.encode(name) + b":"
        if name == "tables":
            yield from map(escaped, _tables(value))
        else:
            yield escaped(msgspec.json.encode(printable(msgspec.to_builtins(value))))
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
    if not table.height or not _written_alike(table):
        return msgspec.json.encode(table.to_dicts())[1:-1]
    lines = BytesIO()
    table.write_ndjson(lines)
    return lines.getvalue()[:-1].replace(b"\n", b",")  # no line break stands in JSON


def _written_alike(table: pl.DataFrame) -> bool:
    floats = table.select(pl.col(pl.Float64).abs().fill_nan(None).max())
    known = (pl.String, pl.Int64, pl.Float64, pl.Boolean, pl.List(pl.String))
    largest = floats.row(0) if floats.width else ()
    small = all(most is None or most < _EXPONENT for most in largest)
    return small and all(dtype in known for dtype in table.dtypes)


def tsv(scores: Scores, _: View = ALL) -> str:
    """The metrics: name, tab, value in full, empty where undefined; then the interval, if any."""
    lines = [
        [name, *map(_full, (value, *scores.intervals.get(name, ())))]
        for name, value in scores.metrics.items()
    ]
    return "".join("\t".join(line) + "\n" for line in lines)


def _full(value: float | None) -> str:
    return "" if value is None else repr(value)


def markdown(scores: Scores, view: View = ALL) -> str:
    """The scorings as Markdown tables, behind the intervals where there are some."""
    blocks = [f"`{scores.signature}`\n"]
    if rows := list(_intervals(scores)):
        blocks.append(_markdown(_INTERVALS, "|---|---:|---:|", rows))
    for heads, rows in _selected(scores, view):
        blocks.append(_markdown(heads, f"|---|{'---:|' * (len(heads) - 1)}", rows))
    return "\n".join(blocks)


def _selected(scores: Scores, view: View) -> Iterator[tuple[list[str], list[list[str]]]]:
    """The header and the rows of the table of each evaluation, with the columns of a view."""
    task = load(scores.task)
    for evaluation, measures, scorings in pivoted(scores.tables["scorings"]):
        columns = [measures.index(name) for name in view.columns or measures if name in measures]
        heads = [evaluation, *(measures[index] for index in columns)]
        cells = ((name, _row(task, measures, values)) for name, values in scorings)
        if columns:
            yield heads, [[name, *(row[index] for index in columns)] for name, row in cells]


def _markdown(heads: Sequence[str], rule: str, rows: Iterable[Sequence[str]]) -> str:
    head, *body = (f"| {' | '.join(map(in_markdown, row))} |\n" for row in (heads, *rows))
    return "".join([head, f"{rule}\n", *body])


def latex(scores: Scores, view: View = ALL) -> str:
    """The scorings as LaTeX tables (booktabs), behind the intervals where there are some."""
    blocks = [f"% {scores.signature}\n"]
    if rows := list(_intervals(scores)):
        blocks.append(_latex(_INTERVALS, rows))
    blocks += [_latex(heads, rows) for heads, rows in _selected(scores, view)]
    return "\n".join(blocks)


def _latex(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    first, *body = (rf"{' & '.join(map(tex, row))} \\" + "\n" for row in (heads, *rows))
    columns = f"l{'r' * (len(heads) - 1)}"
    return (
        rf"\begin{{tabular}}{{{columns}}}" + f"\n\\toprule\n{first}\\midrule\n"
        f"{''.join(body)}\\bottomrule\n\\end{{tabular}}\n"
    )


_TEX: Mapping[int, str] = MappingProxyType(
    {
        **{ord(sign): f"\\{sign}" for sign in "_&%#${}"},
        ord("\\"): r"\textbackslash{}",
        ord("~"): r"\textasciitilde{}",
        ord("^"): r"\textasciicircum{}",
        ord("<"): r"\textless{}",
        ord(">"): r"\textgreater{}",
        ord("|"): r"\textbar{}",
    }
)
"""Characters that LaTeX obeys, or prints as others in its first encoding of fonts."""


def tex(name: str) -> str:
    r"""A name as LaTeX prints it.

    Examples:
        >>> print(tex("a_b {50 %} <c"))
        a\_b \{50 \%\} \textless{}c
    """
    return name.translate(_TEX)


def write_tables(scores: Scores, folder: Path) -> None:
    """Everything as files: scores.json, each table as <name>.tsv, official files."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / MAIN).open("wb") as stream:
        stream.writelines(_json(scores))
    (folder / "metrics.tsv").write_text(tsv(scores), "utf-8")
    for name, table in scores.tables.items():
        lists = [column for column, dtype in table.schema.items() if dtype == pl.List(pl.String)]
        flat = table.with_columns(pl.col(column).list.join(" ") for column in lists)
        flat = flat.with_columns(pl.col(pl.String).str.replace_all(r"[\t\r\n]", " "))
        content = flat.write_csv(separator="\t", quote_style="never")
        (folder / f"{name}.tsv").write_text(content, "utf-8", newline="")
    for name, content in scores.files.items():
        (folder / name).write_text(content, "utf-8", newline="")


FORMATS: Mapping[str, Callable[[Scores, View], str | RenderableType]] = MappingProxyType(
    {"text": text, "json": json, "tsv": tsv, "markdown": markdown, "latex": latex}
)
"""The formats by name."""

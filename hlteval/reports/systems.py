"""The output formats of comparisons and of leaderboards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import polars as pl
from msgspec.structs import replace
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.reports.findings import json as findings_json
from hlteval.reports.scores import (
    UNDEFINED,
    frame_tsv,
    limits_text,
    refusal_text,
    text_table,
    values_of,
)
from hlteval.reports.sentences import document
from hlteval.reports.tables import (
    ALL,
    FIXED,
    Column,
    Field,
    Table,
    Tables,
    View,
    column_headers,
    fields_of,
    tsv_lines,
)
from hlteval.reports.terminal import Formats, Prose, frame_text, in_markdown, json_text, visible
from hlteval.results.systems import (
    NOT_DISTINGUISHABLE,
    Comparison,
    Interval,
    Leaderboard,
    RankedValue,
    RefusedSystem,
)
from hlteval.tasks import load
from hlteval.tasks.task import HIGH, LOW, NORMAL, Range

#: The systems of a comparison; a metric that is no rate has numbers.
_SYSTEMS = fields_of("systems")
#: The differences of all pairs of systems.
PAIRS = fields_of("pairs")
#: Maximum number of findings shown per file of a system that is refused.
FIRST = 4
#: The names of the columns of both tables.
COLUMNS = column_headers(_SYSTEMS, PAIRS)


def ranked_systems(comparison: Comparison) -> tuple[pl.DataFrame, list[Field]]:
    """The systems by rank, then those that are refused, and the columns that people read."""
    frame = comparison.to_frame().with_columns(
        path=pl.col("name").replace(dict(comparison.paths)),
        rank=pl.lit(None, pl.Int64) if comparison.significance.note else pl.col("rank"),
    )
    values = values_of(load(comparison.task), comparison.metric)
    kind: Literal["rate", "number"] = "rate" if values.kind == "rate" else "number"
    return frame, [
        each._replace(kind=kind, values=values) if each.kind == "rate" else each
        for each in _SYSTEMS
    ]


def _comparison_tables(comparison: Comparison) -> list[Table]:
    """The table of the systems and that of the pairs."""
    systems = text_table(*ranked_systems(comparison), caption(comparison))
    rows = [
        [REFUSED, *row[1:]] if number >= len(comparison.systems) else row
        for number, row in enumerate(systems.rows)
    ]
    return [replace(systems, rows=rows), text_table(comparison.to_frame("differences"), PAIRS)]


def _tables(comparison: Comparison, view: View) -> list[Table]:
    """The table of the systems and that of the pairs, if there are any, with a view's columns."""
    systems, pairs = _comparison_tables(comparison)
    return view.of([systems, *([pairs] if pairs.rows else [])])


def caption(comparison: Comparison) -> str:
    """The line above the systems if no difference can be significant, empty otherwise."""
    reason = comparison.significance.note
    return reason and f"{NOT_DISTINGUISHABLE}: {reason}"


def comparison_text(comparison: Comparison, view: View = ALL) -> RenderableType:
    """Tables of the systems by rank and of all pairs, then notes and the signature."""
    head = f"{comparison.task}, profile {comparison.profile}: {comparison.metric}"
    parts = [Tables(_tables(comparison, view), view.wide)]
    notes = (line for line in comparison.notes if line != comparison.significance.note)
    return frame_text(head, parts, notes, comparison.signature)


def comparison_json(comparison: Comparison, _: View = ALL) -> str:
    """The comparison as one JSON object; in `refused`, what `score` reports of these systems."""
    reports = {each.name: msgspec.Raw(findings_json(each).encode()) for each in comparison.refused}
    return json_text(comparison.to_dict() | {"refused": reports})


def refusal(system: RefusedSystem, command: Sequence[str]) -> RenderableType:
    """The reason why a system is refused, with the first findings that are this reason.

    Args:
        system: the system.
        command: the command that reports all its findings.
    """
    head = Prose(f"refused: {visible(system.name)}", "bold underline")
    whole = replace(system, command=command)
    return Group(head, Text(), refusal_text(whole, FIRST), Text())


def comparison_tsv(comparison: Comparison, _: View = ALL) -> str:
    """The table of systems, an empty line, and the table of pairs, each with a header line."""
    return "\n".join(
        tsv_lines([column.name for column in table.columns], *table.rows)
        for table in _comparison_tables(comparison)
    )


def comparison_markdown(comparison: Comparison, view: View = ALL) -> str:
    """The tables of systems and of pairs in Markdown."""
    return Tables(_tables(comparison, view)).markdown(comparison.signature, aligned=False)


def comparison_latex(comparison: Comparison, view: View = ALL) -> str:
    """The tables of systems and of pairs in LaTeX (booktabs)."""
    return Tables(_tables(comparison, view)).latex(comparison.signature, aligned=False)


#: The file by which a folder of a comparison is recognised.
COMPARISON = "comparison.json"


def write_comparison(comparison: Comparison, folder: Path) -> None:
    """Everything as files: comparison.json, systems, differences, and errors item by item."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / COMPARISON).write_text(comparison_json(comparison), "utf-8", newline="")
    tables = {"systems": comparison.to_frame(), "differences": comparison.to_frame("differences")}
    if comparison.errors:
        tables["errors"] = comparison.errors.to_frame()
        tables["error_counts"] = comparison.errors.counts()
        tables["error_counts_by_document"] = comparison.errors.counts("document")
        tables["error_counts_by_label"] = comparison.errors.counts("label")
    for name, table in tables.items():
        (folder / f"{name}.tsv").write_text(frame_tsv(table), "utf-8", newline="")


#: The output formats by name.
COMPARISON_FORMATS: Formats[[Comparison, View]] = {
    "text": comparison_text,
    "json": comparison_json,
    "tsv": comparison_tsv,
    "markdown": comparison_markdown,
    "latex": comparison_latex,
    "sentence": document,
}


#: Text of a row in place of a rank.
REFUSED = "refused"
#: Probabilities below it are shown as such: three decimals would be 0.
LEAST = 0.0005
SYSTEM, RANK, INTERVAL = "system", "rank", "interval"
#: The systems of a leaderboard that are not scored.
REFUSALS = fields_of("refusals")


def board_systems(
    board: Leaderboard, interval: Callable[[Interval | None, Range], str]
) -> tuple[pl.DataFrame, list[Field]]:
    """The systems by rank, and the columns that people read.

    These are rank and name; then value, interval and rank by metric, of which the first is never
    dropped. The rank by the first metric is that of the row.

    Args:
        board: the leaderboard.
        interval: gives the text of an interval.
    """
    alike = {each.metric for each in board.comparisons if each.significance.note}
    ranks = [None if board.metrics[0] in alike else row.rank for row in board.systems]
    columns = {
        Field(RANK, kind="number"): pl.Series(ranks, dtype=pl.Int64),
        Field(SYSTEM): pl.Series([row.name for row in board.systems], dtype=pl.String),
    }
    for number, (label, metric) in enumerate(
        zip(labels(board.metrics), board.metrics, strict=True)
    ):
        values, first = values_of(load(board.task), metric), number == 0
        scores = [row.scores[metric] for row in board.systems]
        kind: Literal["rate", "number"] = "rate" if values.kind == "rate" else "number"
        field = Field(label, label, kind, metric, FIXED if first else NORMAL, values)
        columns[field] = pl.Series([own.value for own in scores], dtype=pl.Float64)
        if any(own.interval for own in scores):
            field = Field(f"{label} {INTERVAL}", kind="limits", importance=HIGH if first else LOW)
            columns[field] = pl.Series([interval(own.interval, values) for own in scores])
        if not first:
            ranks = [None if metric in alike else own.rank for own in scores]
            field = Field(f"{label} {RANK}", kind="number", importance=LOW)
            columns[field] = pl.Series(ranks, dtype=pl.Int64)
    return pl.DataFrame({field.name: values for field, values in columns.items()}), [*columns]


def refused_systems(board: Leaderboard) -> pl.DataFrame:
    """The systems that are not scored, with the reason and what to do."""
    rows = [(row.name, row.reason, row.help) for row in board.rows if row.reason]
    return pl.DataFrame(rows, schema=[field.name for field in REFUSALS], orient="row")


def _leaderboard_tables(board: Leaderboard, view: View) -> list[Table]:
    """The systems by rank; those that are refused, if any; and p values of the first metric."""
    first = board.comparisons[:1]
    systems = board_systems(board, lambda limits, _: limits_text(limits))
    tables = view.of([text_table(*systems, "".join(map(caption, first)))])
    tables += [text_table(refused_systems(board), REFUSALS, REFUSED)] if board.refused else []
    return [*tables, *(matrix(each) for each in first if each.differences)]


def labels(metrics: Sequence[str]) -> list[str]:
    """Headers of metrics: without what is measured, where that is the same for all.

    Examples:
        >>> labels(["both.f", "both.rec"]), labels(["both.f", "content.f"])
        (['f', 'rec'], ['both.f', 'content.f'])
    """
    measures = {name.rpartition(".")[0] for name in metrics}
    short = [name.rpartition(".")[2] for name in metrics]
    return short if len(measures) == 1 and len(set(short)) == len(short) else [*metrics]


def matrix(comparison: Comparison) -> Table:
    """The p values (Holm) of all pairs: a row per system but the best, a column per better one.

    The columns are the places of the systems in the order of the rows.
    """
    names = [system.name for system in comparison.systems]
    chances = {(pair.first, pair.second): pair.corrected for pair in comparison.differences}
    columns = [Column(""), Column(SYSTEM, "name")]
    columns += [Column(str(place), importance=NORMAL) for place in range(1, len(names))]
    rows = [
        [str(place), visible(name),
         *(probability(chances[better, name]) if column < place - 1 else ""
           for column, better in enumerate(names[:-1]))]
        for place, name in enumerate(names, start=1)
    ]  # fmt: skip
    return Table(columns, rows, f"p (Holm) of {comparison.metric}")


def probability(value: float | None) -> str:
    """A probability with three decimals.

    Examples:
        >>> probability(0.0312), probability(0.00019998), probability(None)
        ('0.031', '<0.001', '-')
    """
    if value is None:
        return UNDEFINED
    return "<0.001" if value < LEAST else f"{value:.3f}"


def leaderboard_text(board: Leaderboard, view: View = ALL) -> RenderableType:
    """The tables, then notes and the signature."""
    captions = [each.significance.note for each in board.comparisons[:1]]
    parts = (Tables([table], view.wide) for table in _leaderboard_tables(board, view))
    notes = (line for line in board.notes if line not in captions)
    return frame_text(_title(board), parts, notes, board.signature)


def _title(board: Leaderboard) -> str:
    return f"{board.task}, profile {board.profile}: {', '.join(board.metrics)}"


def leaderboard_tsv(board: Leaderboard, _: View = ALL) -> str:
    """The table of systems, an empty line, and that of all pairs by metric, each with a header.

    Values are in full, and empty where undefined.
    """
    frame = board.to_frame("differences").rename({"probability": "p", "corrected": "p (Holm)"})
    pairs = tsv_lines(frame.columns, *frame.iter_rows())
    return f"{tsv_lines(*_system_lines(board))}\n{pairs}"


def _system_lines(board: Leaderboard) -> Iterator[list[object]]:
    """The header and a line per system, with the limits of intervals apart."""
    by_metric = (
        (metric, f"{metric} low", f"{metric} high", f"{metric} {RANK}") for metric in board.metrics
    )
    yield [RANK, SYSTEM, *(name for names in by_metric for name in names), "reason"]
    for row in board.rows:
        cells: list[object] = [REFUSED if row.reason else row.rank, row.name]
        for metric in board.metrics:
            system = row.scores.get(metric, RankedValue())
            cells += [system.value, *(system.interval or (None, None)), system.rank]
        yield [*cells, row.reason]


def leaderboard_markdown(board: Leaderboard, view: View = ALL) -> str:
    """The tables in Markdown, then the notes."""
    blocks = [f"{in_markdown(_title(board))}\n"]
    blocks += [f"`{board.signature}`\n"] if board.signature else []
    blocks += [table.markdown() for table in _leaderboard_tables(board, view)]
    blocks += ["".join(f"- {in_markdown(visible(line))}\n" for line in board.notes)]
    return "\n".join(filter(None, blocks))


def leaderboard_latex(board: Leaderboard, view: View = ALL) -> str:
    """The tables in LaTeX (booktabs)."""
    head = f"{_title(board)}\n% {board.signature}"
    return Tables(_leaderboard_tables(board, view)).latex(head)


def html(board: Leaderboard, _: View = ALL) -> str:
    """The leaderboard as one HTML file that opens offline."""
    from hlteval.reports.html.systems import leaderboard_page

    return leaderboard_page(board).html()


#: The output formats by name.
LEADERBOARD_FORMATS: Formats[[Leaderboard, View]] = {
    "text": leaderboard_text,
    "json": findings_json,
    "tsv": leaderboard_tsv,
    "markdown": leaderboard_markdown,
    "latex": leaderboard_latex,
    "sentence": document,
    "html": html,
}


def columns_of(metrics: Sequence[str]) -> list[str]:
    """The names of the columns of the first table that a user can choose."""
    names = [RANK, SYSTEM]
    for metric in labels(metrics):
        names += [metric, f"{metric} {INTERVAL}", f"{metric} {RANK}"]
    return names

"""The output formats of comparisons and of leaderboards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.reports.findings import json as findings_json
from hlteval.reports.scores import UNDEFINED, limits_text, refusal_text, value_text, values_of
from hlteval.reports.tables import ALL, FIXED, Column, Table, Tables, View, tsv_lines
from hlteval.reports.terminal import Formats, Prose, in_markdown, json_text, note, visible
from hlteval.results.systems import (
    NOT_DISTINGUISHABLE,
    Comparison,
    Leaderboard,
    RankedValue,
    RefusedSystem,
)
from hlteval.tasks import load
from hlteval.tasks.task import HIGH, LOW, NORMAL, RATE

_SYSTEMS = (
    Column("rank"),
    Column("system", "name"),
    Column("value", importance=FIXED),
    Column("interval", importance=HIGH),
)
_PAIRS = (
    Column("first", "name"),
    Column("second", "name"),
    Column("difference", importance=FIXED),
    Column("interval", importance=HIGH),
    Column("p", importance=NORMAL),
    Column("p (Holm)", importance=FIXED),
    Column("wins", importance=LOW),
    Column("losses", importance=LOW),
    Column("ties", importance=LOW),
)
#: Maximum number of findings shown per file of a system that is refused.
FIRST = 4
#: The names of the columns of both tables.
COLUMNS = tuple(dict.fromkeys(column.name for column in (*_SYSTEMS, *_PAIRS)))


def _systems(comparison: Comparison) -> Table:
    """The systems by rank, then those that are refused."""
    values = values_of(load(comparison.task), comparison.metric)
    rows = [
        [
            rank_text(system.rank, comparison),
            visible(system.name),
            value_text(system.value, values),
            limits_text(system.interval),
        ]
        for system in comparison.systems
    ]
    rows += [
        ["refused", visible(refused.name), UNDEFINED, UNDEFINED] for refused in comparison.refused
    ]
    return Table(_SYSTEMS, rows, caption(comparison))


def _pairs(comparison: Comparison) -> Table:
    """The differences of all pairs of systems."""
    rows = [
        [
            visible(pair.first),
            visible(pair.second),
            UNDEFINED if pair.difference is None else f"{pair.difference:+.4f}",
            limits_text(pair.interval),
            value_text(pair.probability, RATE),
            value_text(pair.corrected, RATE),
            *map(str, (pair.wins, pair.losses, pair.ties)),
        ]
        for pair in comparison.differences
    ]
    return Table(_PAIRS, rows)


def _tables(comparison: Comparison, view: View) -> list[Table]:
    """The table of the systems and that of the pairs, if there are any, with a view's columns."""
    pairs = _pairs(comparison)
    return view.of([_systems(comparison), *([pairs] if pairs.rows else [])])


def rank_shown(rank: int | None, comparison: Comparison) -> int | None:
    """A rank for people: none where no difference can be significant."""
    return None if comparison.significance.note else rank


def rank_text(rank: int | None, comparison: Comparison) -> str:
    """The text of a rank for people."""
    rank = rank_shown(rank, comparison)
    return UNDEFINED if rank is None else str(rank)


def caption(comparison: Comparison) -> str:
    """The line above the systems if no difference can be significant, empty otherwise."""
    reason = comparison.significance.note
    return reason and f"{NOT_DISTINGUISHABLE}: {reason}"


def comparison_text(comparison: Comparison, view: View = ALL) -> RenderableType:
    """Tables of the systems by rank and of all pairs, then notes and the signature."""
    return Group(
        Prose(f"{comparison.task}, profile {comparison.profile}: {comparison.metric}", "bold"),
        Tables(_tables(comparison, view), view.wide),
        *(note(line) for line in comparison.notes if line != comparison.significance.note),
        Text(visible(comparison.signature), style="dim"),
    )


def comparison_json(comparison: Comparison, _: View = ALL) -> str:
    """The comparison as one JSON object; in `refused`, what `score` reports of these systems."""
    reports = {system.name: msgspec.Raw(findings_json(system).encode()) for system in comparison.refused}
    return json_text(comparison.to_dict() | {"refused": reports})


def refusal(system: RefusedSystem, command: Sequence[str]) -> RenderableType:
    """The reason why a system is refused, with the first findings that are this reason.

    Args:
        system: the system.
        command: the command that reports all its findings.
    """
    head = Prose(f"refused: {visible(system.name)}", "bold underline")
    whole = msgspec.structs.replace(system, command=command)
    return Group(head, Text(), refusal_text(whole, FIRST), Text())


def comparison_tsv(comparison: Comparison, _: View = ALL) -> str:
    """The table of systems, an empty line, and the table of pairs, each with a header line."""
    tables = (_systems(comparison), _pairs(comparison))
    return "\n".join(
        tsv_lines([column.name for column in table.columns], *table.rows) for table in tables
    )


def comparison_markdown(comparison: Comparison, view: View = ALL) -> str:
    """The tables of systems and of pairs in Markdown."""
    return Tables(_tables(comparison, view)).markdown(comparison.signature, aligned=False)


def comparison_latex(comparison: Comparison, view: View = ALL) -> str:
    """The tables of systems and of pairs in LaTeX (booktabs)."""
    return Tables(_tables(comparison, view)).latex(comparison.signature, aligned=False)


#: The output formats by name.
COMPARISON_FORMATS: Formats[[Comparison, View]] = MappingProxyType(
    {
        "text": comparison_text,
        "json": comparison_json,
        "tsv": comparison_tsv,
        "markdown": comparison_markdown,
        "latex": comparison_latex,
    }
)


#: Text of a row in place of a rank.
REFUSED = "refused"
#: Probabilities below it are shown as such: three decimals would be 0.
LEAST = 0.0005
SYSTEM, RANK, REASON, INTERVAL = "system", "rank", "reason", "interval"


def _leaderboard_tables(board: Leaderboard, view: View) -> list[Table]:
    """The systems by rank; those that are refused, if any; and p values of the first metric.

    Of the first table there are the columns of a view: rank and name; then value, interval and rank
    by metric, of which the first is never dropped. The rank by the first metric is that of the row.
    """
    rows = [row for row in board.rows if not row.reason]
    columns = [Column(RANK), Column(SYSTEM, "name")]
    cells = [[rank_text(row.rank, board.comparisons[0]), visible(row.name)] for row in rows]
    for number, label in enumerate(labels(board.metrics)):
        metric, first = board.metrics[number], number == 0
        values = values_of(load(board.task), metric)
        systems = [row.scores[metric] for row in rows]
        columns.append(Column(label, importance=FIXED if first else NORMAL))
        texts = [[value_text(system.value, values) for system in systems]]
        if any(system.interval for system in systems):
            columns.append(Column(f"{label} {INTERVAL}", importance=HIGH if first else LOW))
            texts.append([limits_text(system.interval) for system in systems])
        if not first:
            columns.append(Column(f"{label} {RANK}", importance=LOW))
            texts.append([rank_text(system.rank, board.by(metric)) for system in systems])
        cells = [[*row, *more] for row, *more in zip(cells, *texts, strict=True)]
    tables = view.of([Table(columns, cells, "".join(map(caption, board.comparisons[:1])))])
    if board.refused:
        reasons = [[visible(row.name), visible(row.reason)] for row in board.rows if row.reason]
        heads = (Column(SYSTEM, "name"), Column(REASON, "prose", FIXED))
        tables.append(Table(heads, reasons, REFUSED))
    return [*tables, *(matrix(each) for each in board.comparisons[:1] if each.differences)]


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
    return Group(
        Prose(_title(board), "bold"),
        *(Group(Tables([table], view.wide)) for table in _leaderboard_tables(board, view)),
        *(note(line) for line in board.notes if line not in captions),
        Text(visible(board.signature), style="dim"),
    )


def _title(board: Leaderboard) -> str:
    return f"{board.task}, profile {board.profile}: {', '.join(board.metrics)}"


def leaderboard_json(board: Leaderboard, _: View = ALL) -> str:
    """The leaderboard as one JSON object."""
    return json_text(board.to_dict())


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
    yield [RANK, SYSTEM, *(name for names in by_metric for name in names), REASON]
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
LEADERBOARD_FORMATS: Formats[[Leaderboard, View]] = MappingProxyType(
    {
        "text": leaderboard_text,
        "json": leaderboard_json,
        "tsv": leaderboard_tsv,
        "markdown": leaderboard_markdown,
        "latex": leaderboard_latex,
        "html": html,
    }
)


def columns_of(metrics: Sequence[str]) -> list[str]:
    """The names of the columns of the first table that a user can choose."""
    names = [RANK, SYSTEM]
    for metric in labels(metrics):
        names += [metric, f"{metric} {INTERVAL}", f"{metric} {RANK}"]
    return names

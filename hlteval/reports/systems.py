"""The output formats of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.reports.scores import UNDEFINED, Refusal, shown, tex, values_of
from hlteval.reports.tables import ALL, FIXED, Column, Table, Tables, View
from hlteval.reports.terminal import Prose, escaped, in_cells, in_markdown, note, printable, visible
from hlteval.results.systems import (
    NOT_DISTINGUISHABLE,
    Comparison,
    Leaderboard,
    Limits,
    RefusedSystem,
    Row,
    System,
)
from hlteval.results.verdict import head
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
FIRST = 4
"""Maximum number of findings shown per file of a system that is refused."""
COLUMNS = tuple(dict.fromkeys(column.name for column in (*_SYSTEMS, *_PAIRS)))
"""The names of the columns of both tables."""


def _systems(comparison: Comparison) -> Iterator[list[str]]:
    values = values_of(load(comparison.task), comparison.metric)
    for system in comparison.systems:
        yield [
            rank_text(system.rank, comparison),
            visible(system.name),
            shown(system.value, values),
            _limits(system.interval),
        ]
    for refused in comparison.refused:
        yield ["refused", visible(refused.name), UNDEFINED, UNDEFINED]


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


def _pairs(comparison: Comparison) -> Iterator[list[str]]:
    for pair in comparison.differences:
        numbers = [_signed(pair.difference), _limits(pair.interval)]
        chances = [shown(pair.probability, RATE), shown(pair.corrected, RATE)]
        documents = [str(count) for count in (pair.wins, pair.losses, pair.ties)]
        yield [visible(pair.first), visible(pair.second), *numbers, *chances, *documents]


def _limits(interval: Limits) -> str:
    return f"[{interval[0]:.4f}, {interval[1]:.4f}]" if interval else "-"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.4f}"


def _tables(comparison: Comparison, view: View) -> list[Table]:
    """The table of the systems and that of the pairs, if there are any, with a view's columns."""
    pairs = Table(_PAIRS, list(_pairs(comparison)))
    systems = Table(_SYSTEMS, list(_systems(comparison)), caption(comparison))
    return view.of([systems, *([pairs] if pairs.rows else [])])


def _lines(table: Table) -> list[list[str]]:
    """The header and the rows of a table of plain cells."""
    return [[column.name for column in table.columns], *([*map(str, row)] for row in table.rows)]


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
    reports = {
        printable(system.name): msgspec.Raw(_refusal(system).as_json().encode())
        for system in comparison.refused
    }
    every = msgspec.structs.asdict(comparison)
    del every["paths"]  # what the user has named
    fields = printable(msgspec.to_builtins({**every, "refused": ()}))
    return (
        escaped(msgspec.json.encode({**head("comparison"), **fields, "refused": reports})).decode()
        + "\n"
    )


def _refusal(system: RefusedSystem, command: Sequence[str] = ()) -> Refusal:
    return Refusal(system.verdict, system.reason, system.help, system.blocking, command)


def refusal(system: RefusedSystem, command: Sequence[str]) -> RenderableType:
    """Why a system is refused, with the first findings that are the reason.

    Args:
        system: the system.
        command: the command that reports all its findings.
    """
    head = Prose(f"refused: {visible(system.name)}", "bold underline")
    return Group(head, Text(), _refusal(system, command).as_text(FIRST), Text())


def comparison_tsv(comparison: Comparison, _: View = ALL) -> str:
    """The table of systems, an empty line, and the table of pairs, each with a header line."""
    tables = [Table(_SYSTEMS, list(_systems(comparison))), Table(_PAIRS, list(_pairs(comparison)))]
    rows = [["\t".join(map(in_cells, row)) + "\n" for row in _lines(table)] for table in tables]
    return "\n".join(map("".join, rows))


def comparison_markdown(comparison: Comparison, view: View = ALL) -> str:
    """The tables of systems and of pairs in Markdown."""
    blocks = [f"`{comparison.signature}`\n"]
    for table in _tables(comparison, view):
        lines = [f"| {' | '.join(map(in_markdown, row))} |\n" for row in _lines(table)]
        title = f"{table.title}:\n\n" if table.title else ""
        blocks.append("".join([title, lines[0], f"|{'---|' * len(table.columns)}\n", *lines[1:]]))
    return "\n".join(blocks)


def comparison_latex(comparison: Comparison, view: View = ALL) -> str:
    """The tables of systems and of pairs in LaTeX (booktabs)."""
    blocks = [f"% {comparison.signature}\n"]
    for table in _tables(comparison, view):
        first, *others = (rf"{' & '.join(map(tex, row))} \\" + "\n" for row in _lines(table))
        title = f"% {table.title}\n" if table.title else ""
        blocks.append(
            rf"{title}\begin{{tabular}}{{{'l' * len(table.columns)}}}"
            f"\n\\toprule\n{first}\\midrule\n{''.join(others)}\\bottomrule\n\\end{{tabular}}\n"
        )
    return "\n".join(blocks)


COMPARISON_FORMATS: Mapping[str, Callable[[Comparison, View], str | RenderableType]] = (
    MappingProxyType(
        {
            "text": comparison_text,
            "json": comparison_json,
            "tsv": comparison_tsv,
            "markdown": comparison_markdown,
            "latex": comparison_latex,
        }
    )
)
"""The output formats by name."""


REFUSED = "refused"
"""What a row has in place of a rank."""
LEAST = 0.0005
"""Probabilities below it are shown as such: three decimals would be 0."""
SYSTEM, RANK, REASON, INTERVAL = "system", "rank", "reason", "interval"


def tables(board: Leaderboard) -> list[Table]:
    """The systems by rank; those that are refused, if any; and p values of the first metric."""
    rows = [row for row in board.rows if not row.reason]
    title = "".join(map(caption, board.comparisons[:1]))
    every = [Table(list(_columns(board)), [list(_cells(board, row)) for row in rows], title)]
    if board.refused:
        columns = (Column(SYSTEM, "name"), Column(REASON, "prose", FIXED))
        reasons = [[visible(row.name), visible(row.reason)] for row in board.rows if row.reason]
        every.append(Table(columns, reasons, REFUSED))
    return [*every, *(matrix(each) for each in board.comparisons[:1] if each.differences)]


def _columns(board: Leaderboard) -> Iterator[Column]:
    """Rank and name; then value, interval and rank by metric, of which the first is never dropped.

    The rank by the first metric is that of the row.
    """
    yield Column(RANK)
    yield Column(SYSTEM, "name")
    for number, metric in enumerate(labels(board.metrics)):
        first = number == 0
        yield Column(metric, importance=FIXED if first else NORMAL)
        systems = board.by(board.metrics[number]).systems if board.comparisons else ()
        if any(system.interval for system in systems):
            yield Column(f"{metric} {INTERVAL}", importance=HIGH if first else LOW)
        if not first:
            yield Column(f"{metric} {RANK}", importance=LOW)


def labels(metrics: Sequence[str]) -> list[str]:
    """Headers of metrics: without what is measured, where that is the same for all.

    Examples:
        >>> labels(["both.f", "both.rec"]), labels(["both.f", "content.f"])
        (['f', 'rec'], ['both.f', 'content.f'])
    """
    measures = {name.rpartition(".")[0] for name in metrics}
    short = [name.rpartition(".")[2] for name in metrics]
    return short if len(measures) == 1 and len(set(short)) == len(short) else [*metrics]


def _cells(board: Leaderboard, row: Row) -> Iterator[str]:
    yield rank_text(row.rank, board.comparisons[0])
    yield visible(row.name)
    intervals = {column.name for column in _columns(board)}
    task = load(board.task)
    for number, (metric, label) in enumerate(
        zip(board.metrics, labels(board.metrics), strict=True)
    ):
        own = row.scores[metric]
        yield shown(own.value, values_of(task, metric))
        if f"{label} {INTERVAL}" in intervals:
            yield _leaderboard_limits(own.interval)
        if number:
            yield rank_text(own.rank, board.by(metric))


def _leaderboard_limits(interval: Limits) -> str:
    return f"[{interval[0]:.4f}, {interval[1]:.4f}]" if interval else UNDEFINED


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
         *(probability(chances[better, name]) if at < place - 1 else ""
           for at, better in enumerate(names[:-1]))]
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
        *(Group(Tables([table], view.wide)) for table in _viewed(board, view)),
        *(note(line) for line in board.notes if line not in captions),
        Text(visible(board.signature), style="dim"),
    )


def _title(board: Leaderboard) -> str:
    return f"{board.task}, profile {board.profile}: {', '.join(board.metrics)}"


def _viewed(board: Leaderboard, view: View) -> list[Table]:
    """The tables with the columns of a view: these are of the first table."""
    first, *others = tables(board)
    return [*view.of([first]), *others]


def leaderboard_json(board: Leaderboard, _: View = ALL) -> str:
    """The leaderboard as one JSON object."""
    return escaped(msgspec.json.encode(printable(board.to_dict()))).decode() + "\n"


def leaderboard_tsv(board: Leaderboard, _: View = ALL) -> str:
    """The table of systems, an empty line, and that of all pairs by metric, each with a header.

    Values are in full, and empty where undefined.
    """
    return "\n".join(
        "".join("\t".join(in_cells(visible(cell)) for cell in line) + "\n" for line in lines)
        for lines in (_system_lines(board), _pair_lines(board))
    )


def _system_lines(board: Leaderboard) -> list[list[str]]:
    heads = [RANK, SYSTEM]
    for metric in board.metrics:
        heads += [metric, f"{metric} low", f"{metric} high", f"{metric} {RANK}"]
    return [[*heads, REASON], *(_line(board, row) for row in board.rows)]


def _pair_lines(board: Leaderboard) -> list[list[str]]:
    frame = board.to_frame("differences")
    heads = {"probability": "p", "corrected": "p (Holm)"}
    rows = [
        [cell if isinstance(cell, str) else _full(cell) for cell in row] for row in frame.rows()
    ]
    return [[heads.get(name, name) for name in frame.columns], *rows]


def _line(board: Leaderboard, row: Row) -> list[str]:
    cells = [REFUSED if row.reason else _full(row.rank), row.name]
    for metric in board.metrics:
        own = row.scores.get(metric, System(name="", value=None, interval=None, rank=None))
        cells += map(_full, (own.value, *(own.interval or (None, None)), own.rank))
    return [*cells, row.reason]


def _full(value: float | None) -> str:
    return "" if value is None else repr(value)


def leaderboard_markdown(board: Leaderboard, view: View = ALL) -> str:
    """The tables in Markdown, then the notes."""
    blocks = [f"{in_markdown(_title(board))}\n"]
    blocks += [f"`{board.signature}`\n"] if board.signature else []
    for table in _viewed(board, view):
        head, *rows = (
            f"| {' | '.join(map(in_markdown, line))} |\n" for line in _leaderboard_lines(table)
        )
        kinds = "".join("---:|" if column.kind == "number" else "---|" for column in table.columns)
        title = f"{table.title}:\n\n" if table.title else ""
        blocks.append("".join([title, head, f"|{kinds}\n", *rows]))
    blocks += ["".join(f"- {in_markdown(visible(line))}\n" for line in board.notes)]
    return "\n".join(filter(None, blocks))


def leaderboard_latex(board: Leaderboard, view: View = ALL) -> str:
    """The tables in LaTeX (booktabs)."""
    blocks = [f"% {_title(board)}\n% {board.signature}\n"]
    for table in _viewed(board, view):
        first, *others = (
            rf"{' & '.join(map(tex, line))} \\" + "\n" for line in _leaderboard_lines(table)
        )
        kinds = "".join("r" if column.kind == "number" else "l" for column in table.columns)
        title = f"% {table.title}\n" if table.title else ""
        blocks.append(
            f"{title}\\begin{{tabular}}{{{kinds}}}"
            f"\n\\toprule\n{first}\\midrule\n{''.join(others)}\\bottomrule\n\\end{{tabular}}\n"
        )
    return "\n".join(blocks)


def _leaderboard_lines(table: Table) -> list[list[str]]:
    """The header and the rows of a table of plain cells."""
    return [[column.name for column in table.columns], *([*map(str, row)] for row in table.rows)]


def html(board: Leaderboard, _: View = ALL) -> str:
    """The leaderboard as one HTML file that opens offline."""
    from hlteval.reports.html.systems import leaderboard_page

    return leaderboard_page(board).html()


LEADERBOARD_FORMATS: Mapping[str, Callable[[Leaderboard, View], str | RenderableType]] = (
    MappingProxyType(
        {
            "text": leaderboard_text,
            "json": leaderboard_json,
            "tsv": leaderboard_tsv,
            "markdown": leaderboard_markdown,
            "latex": leaderboard_latex,
            "html": html,
        }
    )
)
"""The output formats by name."""


def columns_of(metrics: Sequence[str]) -> list[str]:
    """The names of the columns of the first table that a user can choose."""
    names = [RANK, SYSTEM]
    for metric in labels(metrics):
        names += [metric, f"{metric} {INTERVAL}", f"{metric} {RANK}"]
    return names

"""The output formats of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.reports.display import visible
from hlteval.reports.escapes import escaped, in_cells, in_markdown, printable
from hlteval.reports.prose import Prose, note
from hlteval.reports.refusal import Refusal
from hlteval.reports.score_formats import UNDEFINED, shown, tex, values_of
from hlteval.reports.tables import ALL, FIXED, Column, Table, Tables, View
from hlteval.results.comparison import NOT_DISTINGUISHABLE, Comparison, Limits, RefusedSystem
from hlteval.results.versions import head
from hlteval.tasks import load
from hlteval.tasks.statistics import HIGH, LOW, NORMAL, RATE

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


def text(comparison: Comparison, view: View = ALL) -> RenderableType:
    """Tables of the systems by rank and of all pairs, then notes and the signature."""
    return Group(
        Prose(f"{comparison.task}, profile {comparison.profile}: {comparison.metric}", "bold"),
        Tables(_tables(comparison, view), view.wide),
        *(note(line) for line in comparison.notes if line != comparison.significance.note),
        Text(visible(comparison.signature), style="dim"),
    )


def json(comparison: Comparison, _: View = ALL) -> str:
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


def tsv(comparison: Comparison, _: View = ALL) -> str:
    """The table of systems, an empty line, and the table of pairs, each with a header line."""
    tables = [Table(_SYSTEMS, list(_systems(comparison))), Table(_PAIRS, list(_pairs(comparison)))]
    rows = [["\t".join(map(in_cells, row)) + "\n" for row in _lines(table)] for table in tables]
    return "\n".join(map("".join, rows))


def markdown(comparison: Comparison, view: View = ALL) -> str:
    """The tables of systems and of pairs in Markdown."""
    blocks = [f"`{comparison.signature}`\n"]
    for table in _tables(comparison, view):
        lines = [f"| {' | '.join(map(in_markdown, row))} |\n" for row in _lines(table)]
        title = f"{table.title}:\n\n" if table.title else ""
        blocks.append("".join([title, lines[0], f"|{'---|' * len(table.columns)}\n", *lines[1:]]))
    return "\n".join(blocks)


def latex(comparison: Comparison, view: View = ALL) -> str:
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


FORMATS: Mapping[str, Callable[[Comparison, View], str | RenderableType]] = MappingProxyType(
    {"text": text, "json": json, "tsv": tsv, "markdown": markdown, "latex": latex}
)
"""The output formats by name."""

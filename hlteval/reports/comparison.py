"""The output formats of a comparison."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hlteval.reports.display import visible
from hlteval.reports.score_formats import shown, tex, values_of
from hlteval.results.comparison import Comparison, Limits
from hlteval.tasks import load
from hlteval.tasks.statistics import RATE

_SYSTEMS = ("rank", "system", "value", "interval")
_PAIRS = ("first", "second", "difference", "interval", "p", "p (Holm)", "wins", "losses", "ties")


def _systems(comparison: Comparison) -> Iterator[list[str]]:
    values = values_of(load(comparison.task), comparison.metric)
    for system in comparison.systems:
        rank = "-" if system.rank is None else str(system.rank)
        name = _short(comparison, system.name)
        yield [rank, name, shown(system.value, values), _limits(system.interval)]


def _pairs(comparison: Comparison) -> Iterator[list[str]]:
    for pair in comparison.differences:
        numbers = [_signed(pair.difference), _limits(pair.interval)]
        chances = [shown(pair.probability, RATE), shown(pair.corrected, RATE)]
        documents = [str(count) for count in (pair.wins, pair.losses, pair.ties)]
        names = [_short(comparison, name) for name in (pair.first, pair.second)]
        yield [*names, *numbers, *chances, *documents]


def _short(comparison: Comparison, name: str) -> str:
    """The path of a system without the folders that the paths of all systems share."""
    shared = os.path.commonprefix([s.name for s in comparison.systems])  # noqa: RUF071 - cut back
    return visible(name[shared.rfind("/") + 1 :])


def _limits(interval: Limits) -> str:
    return f"[{interval[0]:.4f}, {interval[1]:.4f}]" if interval else "-"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.4f}"


def text(comparison: Comparison) -> RenderableType:
    """Tables of the systems by rank and of all pairs, then notes and the signature."""
    head = f"{comparison.task}, profile {comparison.profile}: {comparison.metric}"
    return Group(
        Text(head, style="bold"),
        _table(_SYSTEMS, _systems(comparison)),
        *([_table(_PAIRS, _pairs(comparison))] if comparison.differences else []),
        *(Text(f"note: {note}", style="yellow") for note in comparison.notes),
        Text(comparison.signature, style="dim"),
    )


def _table(heads: Sequence[str], rows: Iterator[list[str]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for head in heads:
        is_name = head in {"system", "first", "second"}
        table.add_column(head, justify="left" if is_name else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def json(comparison: Comparison) -> str:
    """The comparison as one JSON object."""
    return msgspec.json.encode(comparison).decode() + "\n"


def tsv(comparison: Comparison) -> str:
    """The table of systems, an empty line, and the table of pairs, each with a header line."""
    tables = [(_SYSTEMS, _systems(comparison)), (_PAIRS, _pairs(comparison))]
    return "\n".join(
        "".join("\t".join(row) + "\n" for row in (heads, *rows)) for heads, rows in tables
    )


def markdown(comparison: Comparison) -> str:
    """The tables of systems and of pairs in Markdown."""
    blocks = [f"`{comparison.signature}`\n"]
    for heads, rows in ((_SYSTEMS, _systems(comparison)), (_PAIRS, _pairs(comparison))):
        lines = [f"| {' | '.join(row)} |\n" for row in (heads, *rows)]
        blocks.append("".join([lines[0], f"|{'---|' * len(heads)}\n", *lines[1:]]))
    return "\n".join(blocks)


def latex(comparison: Comparison) -> str:
    """The tables of systems and of pairs in LaTeX (booktabs)."""
    blocks = [f"% {comparison.signature}\n"]
    for heads, rows in ((_SYSTEMS, _systems(comparison)), (_PAIRS, _pairs(comparison))):
        first, *others = (rf"{' & '.join(map(tex, row))} \\" + "\n" for row in (heads, *rows))
        blocks.append(
            rf"\begin{{tabular}}{{{'l' * len(heads)}}}"
            f"\n\\toprule\n{first}\\midrule\n{''.join(others)}\\bottomrule\n\\end{{tabular}}\n"
        )
    return "\n".join(blocks)


FORMATS: Mapping[str, Callable[[Comparison], str | RenderableType]] = MappingProxyType(
    {"text": text, "json": json, "tsv": tsv, "markdown": markdown, "latex": latex}
)
"""The output formats by name."""

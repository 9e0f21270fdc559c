"""The output formats of the best submissions of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import msgspec
from rich.console import RenderableType

from hlteval.reports.display import visible
from hlteval.reports.escapes import escaped, in_cells, printable
from hlteval.reports.prose import Prose
from hlteval.reports.score_formats import shown, values_of
from hlteval.reports.tables import FIXED, Column, Table, Tables
from hlteval.results.pipeline import Best
from hlteval.results.versions import head
from hlteval.tasks import load

_NAMES = ("task", "language", "condition", "checkpoint", "team", "submission", "metric", "value")


def text(best: Sequence[Best]) -> RenderableType:
    """A row per team; columns of which nothing is known are left out."""
    if not best:
        return Prose("no submission is scored; run `hlteval pipeline` first")
    rows = [_row(each) for each in best]
    kept = [at for at in range(len(_NAMES)) if any(row[at] for row in rows)]
    columns = [
        Column(_NAMES[at], "number" if _NAMES[at] == "value" else "name", FIXED) for at in kept
    ]
    return Tables([Table(columns, [[row[at] for at in kept] for row in rows])])


def _row(best: Best) -> list[str]:
    value = shown(best.value, values_of(load(best.task), best.metric))
    names = (*best.group, best.team, best.submission, best.metric)
    return [*map(visible, names), value]


def tsv(best: Sequence[Best]) -> str:
    """A line per team, with a header; an undefined value is empty."""
    lines = ["\t".join(_NAMES)]
    for each in best:
        value = "" if each.value is None else repr(each.value)
        names = (*each.group, each.team, each.submission, each.metric)
        lines.append("\t".join([*(in_cells(visible(name)) for name in names), value]))
    return "\n".join(lines) + "\n"


def json(best: Sequence[Best]) -> str:
    """One object with the best submission of each team."""
    built = printable({**head("best-submissions"), "best": msgspec.to_builtins(list(best))})
    return escaped(msgspec.json.encode(built)).decode() + "\n"


FORMATS: Mapping[str, Callable[[Sequence[Best]], str | RenderableType]] = MappingProxyType(
    {"text": text, "json": json, "tsv": tsv}
)
"""The output formats by name."""

"""The table and the JSON that the public scorer writes (neleval 3.1)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

COUNTS = ("ptp", "fp", "rtp", "fn")
RATES = ("precision", "recall", "fscore")
HEADER = ("ptp", "fp", "rtp", "fn", "precis", "recall", "fscore", "measure")


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    r"""The figures with three decimals, whole counts as they are, sorted by the measures' names.

    Args:
        rows: `measure`, `fractional` (whether counts are sums of fractions), counts and rates; null
            where there is none.

    Examples:
        >>> row = {"measure": "muc", "fractional": False, "ptp": 1.0, "fp": 1.0, "rtp": 1.0}
        >>> row |= {"fn": 0.0, "precision": 0.5, "recall": 1.0, "fscore": 2 / 3}
        >>> table([row]).splitlines()[1].split("\t")
        ['1', '1', '1', '0', '0.500', '1.000', '0.667', 'muc']
    """
    lines = ["\t".join(HEADER)]
    for row in sorted(rows, key=lambda row: str(row["measure"])):
        cells = [_cell(value) for value in _figures(row).values()]
        if not cells:
            cells = ["0"] * (len(HEADER) - 1)
        lines.append("\t".join([*cells, row["measure"]]))
    return "\n".join(lines) + "\n"


def as_json(rows: Iterable[Mapping[str, Any]]) -> str:
    """The figures by the names of the measures."""
    by_measure = {row["measure"]: _figures(row) for row in rows}
    return json.dumps(by_measure, sort_keys=True, indent=4) + "\n"


def _figures(row: Mapping[str, Any]) -> dict[str, float | int]:
    """The figures of a row; nothing where it has none."""
    figures = dict[str, float | int]()
    if row["precision"] is None:
        return figures
    counts = {name: row[name] if row["fractional"] else int(row[name]) for name in COUNTS}
    return figures | counts | {name: row[name] for name in RATES}


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)

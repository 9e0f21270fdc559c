"""The listing: a reference and a system side by side, for people."""

from __future__ import annotations

import polars as pl

from hlteval.scoring.templette_points import POINTS


def listing(mapping: pl.DataFrame) -> str:
    """The mapping for people: what the reference says on the left, the system on the right.

    Args:
        mapping: as `MAPPING`; the last of its modes is shown.
    """
    if mapping.is_empty():
        return ""
    last = mapping["mode"][-1]
    shown = mapping.filter((pl.col("mode") == last) & (pl.col("level") != "alternative"))
    lines = [f"Templettes side by side, points by {last}: reference | system"]
    columns = ("level", "slot", "reference", "system", *POINTS, "why")
    for level, slot, ours, theirs, *points, why in shown.select(columns).iter_rows():
        if level == "slot":
            continue
        told = " ".join(
            f"{number} {name.upper()}"
            for name, number in zip(POINTS, points, strict=True)
            if number
        )
        if level == "fill":
            lines.append(f"    {slot}: {ours or '-'} | {theirs or '-'}  [{told}] {why}")
        else:
            indent = "\n" if level == "set" else "  "
            lines.append(f"{indent}{ours or '-'} | {theirs or '-'}  [{told}] {why}")
    return "\n".join(lines) + "\n"

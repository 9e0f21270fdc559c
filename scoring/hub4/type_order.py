"""The order in which types are mapped: those that others point to come first.

Whether a pointer is correct depends on how the instances it leads to are mapped, so types are
mapped from the bottom up. Types that point to each other in a circle are mapped together; the
slots with such pointers are left out then, and count only when all is mapped.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

_SOURCE, _TARGET = ["set", "type"], ["set", "target_type"]


def ranked(types: pl.DataFrame, pointing: pl.DataFrame, given: Sequence[str] = ()) -> pl.DataFrame:
    """When each type of each set is mapped.

    Args:
        types: `set`, `type`: the types that both sides have.
        pointing: `set`, `type`, `target_type`: which types point to which.
        given: an order to keep to; types that it does not name come before those it does.

    Returns:
        The types with `rank`, from 0.

    Examples:
        >>> types = pl.DataFrame({"set": [1, 1], "type": ["TEMPLATE", "BREAD"]})
        >>> pointing = pl.DataFrame({"set": 1, "type": "TEMPLATE", "target_type": "BREAD"})
        >>> ranked(types, pointing).sort("rank")["type"].to_list()
        ['BREAD', 'TEMPLATE']
    """
    if given:
        places = pl.DataFrame({"type": list(given), "rank": range(1, len(given) + 1)})
        places = places.with_columns(pl.col("type").cast(pl.String), pl.col("rank").cast(pl.Int64))
        ranks = types.join(places, on="type", how="left", maintain_order="left")
        return ranks.with_columns(pl.col("rank").fill_null(0))
    left = types
    edges = pointing.unique().join(types, on=_SOURCE, how="semi")
    edges = edges.join(types, left_on=_TARGET, right_on=_SOURCE, how="semi")
    done, rank = [types.clear().with_columns(rank=pl.lit(0, pl.Int64))], 0
    while not left.is_empty():
        ready = left.join(edges, on=_SOURCE, how="anti")
        if ready.is_empty():
            ready = _circles(left, edges)
        done.append(ready.with_columns(rank=pl.lit(rank, pl.Int64)))
        left = left.join(ready, on=_SOURCE, how="anti")
        edges = edges.join(ready, left_on=_TARGET, right_on=_SOURCE, how="anti")
        rank += 1
    return pl.concat(done)


def _circles(types: pl.DataFrame, edges: pl.DataFrame) -> pl.DataFrame:
    """The types that all types they lead to lead back to."""
    leading: dict[tuple[int, str], list[str]] = {}
    for number, source, target in edges.sort(edges.columns).iter_rows():
        leading.setdefault((number, source), []).append(target)
    reached = {
        (number, name): _reached(leading, number, name) for number, name in types.iter_rows()
    }
    bottom = [
        {"set": number, "type": name}
        for (number, name), names in reached.items()
        if all(name in reached[number, other] for other in names)
    ]
    return pl.DataFrame(bottom, schema=types.schema)


def _reached(leading: dict[tuple[int, str], list[str]], number: int, name: str) -> set[str]:
    seen: set[str] = set()
    left = [name]
    while left:
        for target in leading.get((number, left.pop()), ()):
            if target not in seen:
                seen.add(target)
                left.append(target)
    return seen

"""The rows of tables that findings are about, where a corpus was not read from lines of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from hlteval.representation import TABLES, Corpus

Place = tuple[int | None, int | None]


def row_keys(
    corpus: Corpus, table: str, rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str | None, int | None]]:
    """The table and the key of each row of a rule.

    Args:
        corpus: what the rule checked.
        table: the table that it runs on; other tables are searched for what is not there.
        rows: what it returned, with `origin` and `record`.

    Examples:
        >>> corpus = Corpus(
        ...     documents=[{"row": 0, "name": "d1"}],
        ...     groups=[{"row": 7, "document": 0, "origin": 0, "record": 1, "group": "*",
        ...              "kind": "Equiv", "member": "T1"}],
        ... )
        >>> list(row_keys(corpus, "groups", [{"origin": 0, "record": 1}]))
        [('groups', 7)]
    """
    wanted = {(row["origin"], row["record"]) for row in rows if row["record"] is not None}
    found: dict[Place, tuple[str, int]] = {}
    for name in (table, *(other for other in TABLES if other != table)):
        frame: pl.DataFrame = getattr(corpus, name)
        if wanted and frame.height and "record" in frame.columns:
            keys = _keys(frame, wanted)
            found |= {place: (name, key) for place, key in keys.items()}
            wanted -= keys.keys()
    return (found.get((row["origin"], row["record"]), (None, None)) for row in rows)


def _keys(frame: pl.DataFrame, wanted: set[Place]) -> dict[Place, int]:
    """The key of the first row at each of some places."""
    places = pl.DataFrame(
        list(wanted), schema={"origin": pl.Int64, "record": pl.Int64}, orient="row"
    )
    rows = frame.select("origin", "record", "row").join(places, on=["origin", "record"], how="semi")
    first = rows.unique(["origin", "record"], keep="first", maintain_order=True)
    return {(origin, record): row for origin, record, row in first.iter_rows()}

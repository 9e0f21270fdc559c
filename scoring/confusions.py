"""Confusion of labels: how often each label of a reference has each label of a system, or none.

Most metrics pair items of equal labels only. Beside such pairs, what only one side has is paired
where it is in the same place or has the same arguments: there, the system has another label.
"""

import numpy as np
import polars as pl

from hlteval.scoring.instance_detection import overlap_pairs
from hlteval.scoring.matching import first_free

#: Columns of the table: a label of the reference, one of the system, null for none; and how often.
CONFUSION = ("label", "system", "count")
#: The most overlaps in a document that are tried for pairs.
MOST_OVERLAPS = 250_000
#: The labels of both sides; the start and end of a side.
Labels = tuple[str, str]
Place = tuple[str, str]


def count_labels(rows: pl.DataFrame, labels: Labels, weight: str = "") -> pl.DataFrame:
    """How often labels of both sides are beside each other, as `CONFUSION`.

    Args:
        rows: a pair of items or an item without a partner each.
        labels: the columns with the labels of the reference and the system.
        weight: a column with how often a row counts; once if empty.

    Examples:
        >>> rows = pl.DataFrame({"one": ["A", "A", None], "other": ["A", None, "B"]})
        >>> count_labels(rows, ("one", "other")).rows()
        [('A', 'A', 1), ('A', None, 1), (None, 'B', 1)]
    """
    ours, theirs = labels
    count = pl.col(weight).sum() if weight else pl.len()
    pairs = rows.group_by(label=ours, system=theirs).agg(count=count.cast(pl.Int64))
    return pairs.sort("label", "system", nulls_last=True)


def pair_by_key(
    rows: pl.DataFrame, labels: Labels, keys: tuple[str, str], by: str = "document"
) -> pl.DataFrame:
    """The labels of rows, those without a partner beside each other where their keys are equal.

    Args:
        rows: a pair of items or an item without a partner each.
        labels: the columns with the labels of the reference and the system.
        keys: the columns of both sides that say what the items are about.
        by: the column that items have in common.

    Examples:
        >>> rows = {"document": ["d", "d"], "one": ["A", None], "other": [None, "B"]}
        >>> rows = pl.DataFrame(rows | {"key": ["T1 T2", None], "key_system": [None, "T1 T2"]})
        >>> pair_by_key(rows, ("one", "other"), ("key", "key_system")).rows()
        [('A', 'B')]
    """
    ours, theirs = labels
    missing, extra = rows.filter(pl.col(theirs).is_null()), rows.filter(pl.col(ours).is_null())
    sides = []
    for side, key in zip((missing, extra), keys, strict=True):
        numbered = side.with_row_index("_row").with_columns(_key=key)
        ordinal = pl.int_range(pl.len()).over(by, "_key")
        sides.append(numbered.select("_row", by, "_key", _ordinal=ordinal).drop_nulls("_key"))
    met = sides[0].join(sides[1], on=[by, "_key", "_ordinal"], maintain_order="left")
    return _with_pairs(rows, labels, met["_row"].to_list(), met["_row_right"].to_list())


def pair_by_place(
    rows: pl.DataFrame, labels: Labels, places: tuple[Place, Place], by: str = "document"
) -> pl.DataFrame:
    """The labels of rows, those without a partner beside each other where they overlap most.

    In a group with more than `MOST_OVERLAPS`, only those at exactly the same place are paired: time
    and memory would grow with the square of one document.

    Args:
        rows: a pair of items or an item without a partner each.
        labels: the columns with the labels of the reference and the system.
        places: the columns with the start and end of both sides, half-open.
        by: the column that items have in common.

    Examples:
        >>> rows = {"document": ["d", "d"], "one": ["A", None], "other": [None, "B"]}
        >>> rows = pl.DataFrame(rows | {"start": [0, 2], "end": [4, 6]})
        >>> pair_by_place(rows, ("one", "other"), (("start", "end"),) * 2).rows()
        [('A', 'B')]
    """
    ours, theirs = labels
    missing, extra = rows.filter(pl.col(theirs).is_null()), rows.filter(pl.col(ours).is_null())
    if crowded := _crowded_groups(missing, extra, places, by):
        inside = pl.col(by).is_in(crowded)
        within = (pl.concat_str(place, separator=" ") for place in places)
        keyed = rows.filter(inside).with_columns(
            **dict(zip(("_ours", "_theirs"), within, strict=True))
        )
        others = pair_by_place(rows.filter(~inside), labels, places, by)
        return pl.concat([pair_by_key(keyed, labels, ("_ours", "_theirs"), by), others])
    sides = [
        side.select(by, start=pl.col(start).cast(pl.Float64), end=pl.col(end).cast(pl.Float64))
        for side, (start, end) in zip((missing, extra), places, strict=True)
    ]
    one, other, common = overlap_pairs(sides[0], sides[1], [by])
    taken = first_free(one, other, -common)
    return _with_pairs(rows, labels, one[taken].tolist(), other[taken].tolist())


def _crowded_groups(
    missing: pl.DataFrame, extra: pl.DataFrame, places: tuple[Place, Place], by: str
) -> list[object]:
    """The groups with more overlaps than are paired, counted without listing them."""
    sizes = missing.group_by(by).len().join(extra.group_by(by).len(), on=by)
    large = sizes.filter(pl.col("len") * pl.col("len_right") > MOST_OVERLAPS)[by].to_list()
    found = []
    for group in large:
        starts, ends, begins, stops = (
            side.filter(pl.col(by) == group)[name].cast(pl.Float64).to_numpy()
            for side, place in zip((missing, extra), places, strict=True)
            for name in place
        )
        before = np.searchsorted(np.sort(begins), ends, "left")
        over = np.searchsorted(np.sort(stops), starts, "right")
        if (before - over).sum() > MOST_OVERLAPS:
            found.append(group)
    return found


def _with_pairs(
    rows: pl.DataFrame, labels: Labels, missing: list[int], extra: list[int]
) -> pl.DataFrame:
    """The labels of rows, of which some of the reference only and of the system only are paired."""
    ours, theirs = labels
    without = rows.filter(pl.col(theirs).is_null()), rows.filter(pl.col(ours).is_null())
    both = rows.filter(pl.all_horizontal(pl.col(labels).is_not_null()))
    paired = pl.DataFrame(
        {ours: without[0][ours].gather(missing), theirs: without[1][theirs].gather(extra)}
    )
    alone = (
        side.with_row_index("_row").filter(~pl.col("_row").is_in([*chosen]))
        for side, chosen in zip(without, (missing, extra), strict=True)
    )
    return pl.concat([part.select(labels) for part in (both, paired, *alone)])

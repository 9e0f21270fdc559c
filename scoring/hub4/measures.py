"""The measures of templettes: from points to rates, in total, by type, by slot and by document."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from hlteval.scoring.hub4.instance_sets import InstanceSets, Mode
from hlteval.scoring.hub4.mapping import POINTS, Mapping
from hlteval.scoring.matching import best_places
from hlteval.scoring.metric import Replicates, Weights
from hlteval.scoring.ratios import quotient
from hlteval.scoring.resampling import weighted

SIDES = ("reference", "system")
#: The most steps of an assignment that takes less time than loading SciPy.
_MOST_STEPS = 300_000
DOCUMENTS = ("document", "document_system")

#: A row per mode, document, type and slot: its points. A row without a slot has the correct points
#: of the instances of that type by the greedy mapping, and by the mapping that has most. It is
#: drawn with its document: the reference's, or the system's where the reference has none.
COUNTS: dict[str, pl.DataType | type[pl.DataType]] = {
    "mode": pl.String,
    "document": pl.String,
    "document_system": pl.String,
    "drawn": pl.String,
    "type": pl.String,
    "slot": pl.String,
    **dict.fromkeys(POINTS, pl.Int64),
    "greedy": pl.Int64,
    "best": pl.Int64,
}

DERIVED = ("pos", "act", "rec", "pre", "f", "und", "ovg", "sub", "sub_muc", "err")
MEASURES = (*POINTS, *DERIVED)
_SHOWN = {name: name.upper() for name in MEASURES} | {"optional": "OPT", "removed": "REM"}


def point_counts(
    mapping: Mapping, sets: InstanceSets, mode: Mode
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The points of a mapping by document, type and slot, and what the greedy algorithm lost.

    Returns:
        Both as `COUNTS`; the latter with `rank`, when the type was mapped.
    """
    slots = mapping.evaluation.slots.join(mapping.pairs.select("pair", "set", "type"), on="pair")
    places = sets.slots.select("place", "slot")
    slots = slots.with_columns(place=pl.col("at") % sets.places).join(places, on="place")
    points = slots.group_by("set", "type", "slot").agg(pl.col(*POINTS).sum())
    losses = greedy_losses(mapping.scored, mapping.pairs).filter(pl.col("best") > pl.col("greedy"))
    named = sets.with_names(mapping.sets).with_columns(drawn=pl.coalesce(DOCUMENTS))
    tables = []
    for rows, more in ((points, ()), (losses, ("rank",))):
        known = rows.join(named, on="set", how="left").with_columns(mode=pl.lit(mode))
        absent = [pl.lit(None, COUNTS[name]).alias(name) for name in COUNTS if name not in known]
        tables.append(known.with_columns(absent).select(*COUNTS, *more))
    return tables[0], tables[1]


def greedy_losses(scored: pl.DataFrame, taken: pl.DataFrame) -> pl.DataFrame:
    """The correct points of the pairs that were taken, and of the best one-to-one mapping.

    Args:
        scored: `set`, `type`, `rank`, `reference`, `system`, `cor`: pairs with a correct point.
        taken: `set`, `reference`, `system`: the pairs that the greedy algorithm took.

    Returns:
        `rank`, `set`, `type`, `greedy`, `best`, in this order.
    """
    group = ["rank", "set", "type"]
    greedily = scored.join(taken, on=["set", "reference", "system"], how="semi")
    rows = greedily.group_by(group).agg(greedy=pl.col("cor").sum())
    # No mapping has more than the best of each row, or of each column.
    for side in SIDES:
        highest = scored.group_by(*group, side).agg(pl.col("cor").max())
        limit = highest.group_by(group).agg(pl.col("cor").sum().alias(side))
        rows = limit.join(rows, on=group, how="left")
    rows = rows.with_columns(pl.col("greedy").fill_null(0))
    open_ = rows.filter(pl.min_horizontal(SIDES) > pl.col("greedy"))
    best = []
    for key, pairs in scored.join(open_, on=group, how="semi").group_by(group):
        row, column = (np.unique(pairs[side], return_inverse=True)[1] for side in SIDES)
        table = np.zeros((row.max() + 1, column.max() + 1), dtype=np.int64)
        table[row, column] = pairs["cor"]
        places = best_places(table, compiled=table.size * min(table.shape) > _MOST_STEPS)
        best.append((*key, sum(int(table[place]) for place in places)))
    schema = {name: rows.schema[name] for name in group} | {"best": pl.Int64}
    rows = rows.join(pl.DataFrame(best, schema, orient="row"), on=group, how="left")
    return rows.select(*group, "greedy", best=pl.coalesce("best", "greedy")).sort(group)


def derived(beta: float) -> dict[str, pl.Expr]:
    """The measures of a table of points, by the specification's formulas; null where 0 / 0.

    Args:
        beta: the weight of recall in F.
    """
    cor, inc, mis, spu = (pl.col(name) for name in ("cor", "inc", "mis", "spu"))
    pos, act = cor + inc + mis, cor + inc + spu
    weighed = beta**2
    return {
        "pos": pos,
        "act": act,
        "rec": quotient(cor, pos),
        "pre": quotient(cor, act),
        # (b^2 + 1) P R / (b^2 P + R), with P and R written out, so that no 0 / 0 is left over
        "f": quotient((weighed + 1) * cor, weighed * pos + act),
        "und": quotient(mis, pos),
        "ovg": quotient(spu, act),
        "sub": quotient(inc, cor),
        "sub_muc": quotient(inc, cor + inc),
        "err": quotient(inc + spu + mis, cor + inc + spu + mis),
    }


def measures(points: dict[str, int], beta: float = 1.0) -> dict[str, float | None]:
    """All measures of some points.

    Examples:
        >>> found = measures({"cor": 3, "inc": 1, "mis": 2, "spu": 1, "optional": 0, "removed": 0})
        >>> found["pos"], found["rec"], found["sub"], found["sub_muc"]
        (6.0, 0.5, 0.3333333333333333, 0.25)
    """
    row = pl.DataFrame([points]).with_columns(**derived(beta)).select(MEASURES).row(0)
    values = (None if value is None else float(value) for value in row)
    return dict(zip(MEASURES, values, strict=True))


def weighted_measures(
    counts: pl.DataFrame,
    modes: Sequence[Mode],
    beta: float,
    documents: Sequence[str],
    weights: Weights,
) -> Replicates:
    """All measures, for each way to weigh the documents."""
    found: Replicates = {}
    for mode in modes:
        own = counts.drop_nulls("slot").filter(mode=mode).group_by("drawn")
        points = own.agg(pl.col(*POINTS).sum()).rename({"drawn": "document"})
        sums = weighted(points, POINTS, documents, weights)
        rows = pl.DataFrame(sums).with_columns(**derived(beta)).select(MEASURES)
        values = rows.select(pl.all().cast(pl.Float64).fill_null(float("nan")))
        found |= {f"{mode}.{name}": values[name].to_numpy() for name in MEASURES}
    return found


def tables(total: pl.DataFrame, modes: Sequence[str], beta: float) -> dict[str, pl.DataFrame]:
    """The tables of measures, and `scorings` for people."""
    points = total.drop_nulls("slot")
    by = {
        "by_type": ["mode", "type"],
        "by_slot": ["mode", "type", "slot"],
        "by_document": ["mode", "document", "document_system"],
    }
    found = {name: _by(points, modes, columns, beta) for name, columns in by.items()}
    found["scorings"] = _scorings(points, found, modes, beta)
    found["greedy_loss"] = total.filter(
        pl.col("slot").is_null() & (pl.col("best") > pl.col("greedy"))
    ).select("mode", "document", "document_system", "type", "greedy", "best")
    return found


def _by(
    points: pl.DataFrame, modes: Sequence[str], columns: Sequence[str], beta: float
) -> pl.DataFrame:
    """The measures by some columns, in the order of the modes and then sorted."""
    rows = points.group_by(columns).agg(pl.col(*POINTS).sum()).with_columns(**derived(beta))
    order = pl.col("mode").replace_strict(list(modes), list(range(len(modes))), default=None)
    return rows.sort(order, *columns[1:], nulls_last=True).select(*columns, *MEASURES)


def _scorings(
    points: pl.DataFrame, by: dict[str, pl.DataFrame], modes: Sequence[str], beta: float
) -> pl.DataFrame:
    """All, each type and each slot of it: a row per mode, scoring and measure."""
    nothing = [{"mode": mode, **dict.fromkeys(POINTS, 0)} for mode in modes]
    every = pl.concat([points.select("mode", *POINTS), pl.DataFrame(nothing)])
    whole = _by(every, modes, ["mode"], beta).with_columns(
        scoring=pl.lit("all"), level=pl.lit(["", ""])
    )
    types = by["by_type"].with_columns(scoring="type", level=pl.concat_list("type", pl.lit("")))
    slots = by["by_slot"].with_columns(
        scoring=pl.concat_str("type", "slot", separator="."), level=pl.concat_list("type", "slot")
    )
    order = pl.col("mode").replace_strict(list(modes), list(range(len(modes))), default=None)
    rows = pl.concat([item.drop("type", "slot", strict=False) for item in (whole, types, slots)])
    rows = rows.with_columns(order=order).sort("order", "level").with_row_index("at")
    rows = rows.with_columns(pl.col(*MEASURES).cast(pl.Float64))
    rows = rows.rename(_SHOWN)
    return (
        rows.unpivot(
            list(_SHOWN.values()), index=["at", "mode", "scoring"], variable_name="measure"
        )
        .sort("at", maintain_order=True)
        .select(evaluation="mode", scoring="scoring", measure="measure", value="value")
    )

"""Situation frames on their way through scoring: projected, merged, paired, and reported."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.matching import Pair, gains, optimal
from hlteval.scoring.similarity import UNIT

#: The layers by the names of their metrics, with the names of the specification.
LAYERS = {"relevance": "Relevance", "type": "Type", "type+place": "Type+Place"}

#: The metrics of each layer; the first is one of the next two, as the profile has it.
FIGURES = ("auc", "auc_anchored", "auc_unanchored", "max_f1")

#: What each system frame adds to a layer (`matched` in units, and `frames` after merging); the
#: frames as they were submitted, as the layer `submitted`; and the `references` of a segment and
#: type.
COUNTS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "document": pl.String,
    "layer": pl.String,
    "label": pl.String,
    "confidence": pl.Float64,
    "record": pl.Int64,
    "matched": pl.Int64,
    "frames": pl.Int64,
    "references": pl.Int64,
}

#: A row per pair of merged frames, or frame without a partner, when all frames count; `outcome` is
#: `matched`, `missed`, `false positive`, or `left out` (of an ambiguous segment, at Type+Place).
ALIGNMENT: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "layer": pl.String,
    "document": pl.String,
    "type": pl.String,
    "reference_place": pl.String,
    "system_place": pl.String,
    "confidence": pl.Float64,
    "record": pl.Int64,
    "similarity": pl.Float64,
    "outcome": pl.String,
}


def situations(corpus: Corpus) -> pl.DataFrame:
    """The situations of a corpus, with the columns that are compared."""
    columns = ("row", "document", "origin", "record", "label", "place", "confidence")
    return corpus.frames.filter(pl.col("kind") == "situation").select(columns)


def candidate_places(corpus: Corpus) -> pl.DataFrame:
    """The places that a frame of an ambiguous block may be at."""
    return corpus.arguments.filter(pl.col("role") == "Place")


def ambiguous_segments(corpus: Corpus) -> pl.DataFrame:
    """The segments with an ambiguous block."""
    return candidate_places(corpus).select("document").unique()


def by_confidence(frames: pl.DataFrame) -> pl.DataFrame:
    """The most confident frames first, equal ones in the order of the file."""
    order = {"confidence": True, "record": False}
    return frames.sort(
        list(order), descending=list(order.values()), maintain_order=True, nulls_last=True
    )


def projected(frames: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """The frames of a layer: those with all its parts, the first of each kind."""
    merged = frames.drop_nulls(keys).unique(list(keys), keep="first", maintain_order=True)
    known = {"document", *keys}
    absent = [
        pl.lit(None, pl.String).alias(name) for name in ("label", "place") if name not in known
    ]
    return merged.with_columns(absent).select("document", "label", "place", "confidence", "record")


def submitted_rows(frames: pl.DataFrame) -> pl.DataFrame:
    """The submitted frames as rows of the statistics."""
    zero = pl.lit(0, pl.Int64)
    return frames.select(
        "document",
        "label",
        "confidence",
        "record",
        layer=pl.lit("submitted"),
        matched=zero,
        frames=pl.lit(1, pl.Int64),
        references=zero,
    )


def changed_rows(layer: str, changes: pl.DataFrame) -> pl.DataFrame:
    """What each frame adds to a layer, as rows of the statistics."""
    one, zero = pl.lit(1, pl.Int64), pl.lit(0, pl.Int64)
    return changes.select(
        "document",
        "label",
        "confidence",
        "record",
        layer=pl.lit(layer),
        matched="matched",
        frames=one,
        references=zero,
    )


def reference_rows(layer: str, left: pl.DataFrame) -> pl.DataFrame:
    """The number of reference frames of each segment and type, as rows of the statistics."""
    zero = pl.lit(0, pl.Int64)
    groups = left.group_by("document", "label", maintain_order=True)
    counted = groups.agg(references=pl.len().cast(pl.Int64))
    return counted.select(
        "document",
        "label",
        confidence=pl.lit(None, pl.Float64),
        record=pl.lit(None, pl.Int64),
        layer=pl.lit(layer),
        matched=zero,
        frames=zero,
        references="references",
    )


def equal(
    left: pl.DataFrame, right: pl.DataFrame, keys: tuple[str, ...]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Layers where similarity is 0 or 1: what each frame adds, and the pairs."""
    ours = left.select(*keys, reference=pl.int_range(pl.len(), dtype=pl.Int64))
    theirs = right.with_columns(system=pl.int_range(pl.len(), dtype=pl.Int64))
    joined = theirs.join(ours, on=list(keys), how="left", maintain_order="left")
    hit = pl.col("reference").is_not_null()
    joined = joined.with_columns(matched=pl.when(hit).then(pl.lit(UNIT, pl.Int64)).otherwise(0))
    pairs = joined.filter(hit).select("reference", "system", weight="matched")
    return joined, pairs


def simple(both: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Types with one place on either side: there the best similarity so far is what counts."""
    group = ["document", "label"]
    some = both.filter((pl.col("references") == 1) | (pl.col("systems") == 1))
    best = some.group_by(*group, "system", maintain_order=True).agg(pl.col("weight").max())
    reached = best.sort("system").with_columns(best=pl.col("weight").cum_max().over(group))
    gains = reached.select(
        "system", matched=pl.col("best") - pl.col("best").shift(1, fill_value=0).over(group)
    )
    first = some.sort("weight", descending=True, maintain_order=True)
    pairs = first.unique(group, keep="first", maintain_order=True)
    return gains, pairs.select("reference", "system", "weight")


def contested(both: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Types with several places on both sides: an assignment grows with each frame."""
    some = both.filter((pl.col("references") > 1) & (pl.col("systems") > 1)).sort("system")
    groups: dict[tuple[int, str], list[Pair]] = {}
    rows = some.select("document", "label", "reference", "system", "weight").iter_rows()
    for document, label, *pair in rows:
        groups.setdefault((document, label), []).append(Pair(*pair))
    gained = [gain for candidates in groups.values() for gain in gains(candidates)]
    chosen = [pair for candidates in groups.values() for pair in optimal(candidates)]
    schema = {"reference": pl.Int64, "system": pl.Int64, "weight": pl.Int64}
    return (
        pl.DataFrame(gained, schema={"system": pl.Int64, "matched": pl.Int64}, orient="row"),
        pl.DataFrame(chosen, schema=schema, orient="row"),
    )


_PAIRED = ("document", "label", "reference_place", "system_place", "confidence", "record", "weight")


def aligned(
    layer: str, left: pl.DataFrame, right: pl.DataFrame, pairs: pl.DataFrame
) -> pl.DataFrame:
    """Pairs, then what is left of the reference, then what is left of the system."""
    ours = left.select(
        "document",
        "label",
        reference=pl.int_range(pl.len(), dtype=pl.Int64),
        reference_place="place",
    )
    theirs = right.select(
        "document",
        "label",
        "confidence",
        "record",
        system=pl.int_range(pl.len(), dtype=pl.Int64),
        system_place="place",
    )
    matched = pairs.join(ours, on="reference").join(theirs.drop("document", "label"), on="system")
    missed = ours.join(pairs, on="reference", how="anti")
    wrong = theirs.join(pairs, on="system", how="anti")
    outcomes = ((matched, "matched"), (missed, "missed"), (wrong, "false positive"))
    rows = [outcome_rows(part, layer, outcome) for part, outcome in outcomes]
    return pl.concat(rows).sort("document", "type", "record", nulls_last=True)


def outcome_rows(rows: pl.DataFrame, layer: str, outcome: str) -> pl.DataFrame:
    """Frames of one outcome as rows of the alignment."""
    dtypes = {**ALIGNMENT, "weight": pl.Int64}
    absent = [
        pl.lit(None, dtypes[name]).alias(name) for name in _PAIRED if name not in rows.columns
    ]
    return rows.with_columns(absent).select(
        pl.lit(LAYERS[layer]).alias("layer"),
        "document",
        pl.col("label").alias("type"),
        "reference_place",
        "system_place",
        "confidence",
        "record",
        (pl.col("weight").fill_null(0) / UNIT).alias("similarity"),
        pl.lit(outcome).alias("outcome"),
    )


def left_out(layer: str, frames: pl.DataFrame, ambiguous: pl.DataFrame) -> pl.DataFrame:
    """The frames of ambiguous segments, which do not count at a layer."""
    some = frames.join(ambiguous, on="document", how="semi", maintain_order="left")
    side = "reference_place" if frames["confidence"].null_count() else "system_place"
    return outcome_rows(some.rename({"place": side}), layer, "left out")


def with_names(
    rows: pl.DataFrame, names: pl.DataFrame, schema: Mapping[str, pl.DataType | type[pl.DataType]]
) -> pl.DataFrame:
    """Rows with the names of their documents."""
    joined = rows.join(names, left_on="document", right_on="row", maintain_order="left")
    return joined.drop("document").rename({"name": "document"}).select(list(schema))


def readable(rows: pl.DataFrame) -> pl.DataFrame:
    """The alignment as people read it: a match of similar places is a partial one.

    Examples:
        >>> rows = {"outcome": ["matched", "matched"], "similarity": [1.0, 0.8]}
        >>> readable(pl.DataFrame(rows))["outcome"].to_list()
        ['matched', 'partly matched']
    """
    partly = (pl.col("outcome") == "matched") & (pl.col("similarity") < 1)
    return rows.with_columns(
        outcome=pl.when(partly).then(pl.lit("partly matched")).otherwise("outcome")
    )

"""Error analysis between systems: their alignments are joined by the items of the reference.

Items of the reference are told apart by what the alignment has of the reference, items that only
systems have by what it has of the system, but for identifiers, which every system makes for itself.
Items that are the same in all of this are paired in order, right ones first.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

import polars as pl

from hlteval.results.errors import EXTRA, REFERENCE, ErrorAnalysis
from hlteval.scoring.metric import Evidence, Tables
from hlteval.tasks.task import AlignmentInfo

#: Between the values of a key; no value has it.
_SEPARATOR, _NOTHING = "\x1f", "\x00"
_KEY = ("_side", "document", "_key", "_ordinal")
#: Right ones first: of items that are the same, systems agree on as many as they can.
_ORDER = {"correct": 0, "different": 1, "missing": 2, "extra": 3}
#: Stretches of time are told apart to the microsecond.
_DIGITS = 6


def analyse_errors(
    info: AlignmentInfo, tables: Mapping[str, Tables], evidence: Mapping[str, Evidence]
) -> ErrorAnalysis:
    """Join the alignments of systems.

    Args:
        info: how their alignments are read.
        tables: of the scores of each system, by its name, best first.
        evidence: of each system, by its name.
    """
    kinds = {outcome.name: outcome.kind for outcome in info.outcomes}
    kind = pl.col("outcome").replace_strict(kinds, default="unscored", return_dtype=pl.String)
    rows = {
        name: info.read(own)[0].with_columns(_kind=kind).filter(pl.col("_kind") != "unscored")
        for name, own in tables.items()
    }
    weight = pl.lit(1, pl.Int64)
    if info.stretches and info.places:
        start, end = info.places.reference
        rows = dict(zip(rows, _cut([*rows.values()], start, end), strict=True))
        weight = (pl.col(end) - pl.col(start)).round(_DIGITS)
    named = {
        name: _with_keys(own, info, evidence[name].marks).with_columns(_weight=weight)
        for name, own in rows.items()
    }
    facets = [facet.column for facet in info.facets]
    common = ("_row", "_label", *facets, "_text", "_weight")
    each = (*common, "outcome", "_kind")
    frames = [
        own.select(*_KEY, *(pl.col(name).alias(f"{name} {place}") for name in each))
        for place, own in enumerate(named.values())
    ]
    items = reduce(lambda one, two: one.join(two, on=_KEY, how="full", coalesce=True), frames)
    places = range(len(frames))
    first = {name: pl.coalesce(f"{name} {place}" for place in places) for name in common}
    items = items.with_columns(**first).sort("document", "_row", "_side", "_key", "_ordinal")
    items = items.with_row_index("_item")
    keyed = items.select("_item", *_KEY)
    outcomes = {f"outcome {place}": pl.col(f"outcome {place}") for place in places}
    outcomes |= {f"kind {place}": pl.col(f"_kind {place}") for place in places}
    about = {"side": "_side", "document": "document", "label": "_label"}
    about |= {name: name for name in facets} | {"item": "_text", "weight": "_weight"}
    items = items.select(**about, **outcomes)
    single = [facet.column for facet in info.facets if facet.single and items.height]
    return ErrorAnalysis(
        systems=tuple(rows),
        items=items,
        facets=tuple(facets),
        counted={name: items[name][0] for name in single},
        rows={
            name: own.join(keyed, on=_KEY, how="left", maintain_order="left")
            for name, own in named.items()
        },
        evidence=evidence,
    )


def _cut(rows: Sequence[pl.DataFrame], start: str, end: str) -> list[pl.DataFrame]:
    """Rows of stretches of time, cut where any system has a boundary."""
    rounded = [own.with_columns(pl.col(start, end).round(_DIGITS)) for own in rows]
    bounds = pl.concat(own.select("document", at=name) for own in rounded for name in (start, end))
    bounds = bounds.unique().sort("document", "at")
    pieces = bounds.select("document", begin="at", until=pl.col("at").shift(-1).over("document"))
    cut = []
    for own in rounded:
        each = own.join(pieces.drop_nulls(), on="document", how="left", maintain_order="left")
        inside = (pl.col("begin") >= pl.col(start)) & (pl.col("until") <= pl.col(end))
        each = each.filter(inside).with_columns(pl.col("begin").alias(start), pl.col("until").alias(end))
        cut.append(each.drop("begin", "until"))
    return cut


def _with_keys(rows: pl.DataFrame, info: AlignmentInfo, marks: pl.DataFrame) -> pl.DataFrame:
    """Rows with what tells them apart, their label and text: `_side`, `_key`, `_ordinal` and so on.

    Args:
        rows: of a system.
        info: how they are read.
        marks: the arguments of its items, if these are events.
    """
    extra, facets = pl.col("_kind") == "extra", [facet.column for facet in info.facets]
    columns = {
        REFERENCE: [cell.reference for cell in info.cells],
        EXTRA: [cell.system for cell in info.cells if cell.kind != "name"],
    }
    places = {REFERENCE: info.places.reference, EXTRA: info.places.system} if info.places else {}
    also = {REFERENCE: info.reference_key, EXTRA: info.system_key}
    for (side, name), marked in zip(
        zip(columns, info.items or (), strict=False), ("reference", "system"), strict=False
    ):
        rows = _with_arguments(rows, marks.filter(side=marked), name, f"_{side}")
        also[side] = (*also[side], f"_{side}")
    keys, texts = {}, {}
    for side, own in columns.items():
        named = [name for name in dict.fromkeys(own) if name]
        place = places.get(side, ())
        keys[side] = _join(rows, dict.fromkeys((*named, *place, *facets, *also[side])), _SEPARATOR)
        shown = [name for name in named if name not in info.label] or named
        texts[side] = _join(rows, dict.fromkeys((*also[side], *shown)), " · ", place)
    label = pl.coalesce(info.label) if info.label else pl.lit(None, pl.String)
    rows = rows.with_row_index("_row").with_columns(
        _side=pl.when(extra).then(pl.lit(EXTRA)).otherwise(pl.lit(REFERENCE)),
        _key=pl.when(extra).then(keys[EXTRA]).otherwise(keys[REFERENCE]),
        _text=pl.when(extra).then(texts[EXTRA]).otherwise(texts[REFERENCE]),
        _label=label.cast(pl.String),
    )
    ordered = rows.sort(pl.col("_kind").replace_strict(_ORDER, return_dtype=pl.Int64), "_row")
    ordinal = pl.int_range(pl.len()).over("_side", "document", "_key")
    return ordered.with_columns(_ordinal=ordinal).sort("_row")


def _with_arguments(
    rows: pl.DataFrame, marks: pl.DataFrame, name: str, column: str
) -> pl.DataFrame:
    """Rows with the arguments of the items of a side, sorted, as text."""
    place = pl.concat_str(pl.lit(" "), "start", pl.lit("-"), "end").fill_null("")
    line = pl.concat_str("role", pl.lit(": "), pl.col("text").fill_null(""), place)
    texts = marks.group_by("document", pl.col("item").alias(name)).agg(line.sort())
    texts = texts.with_columns(pl.col("role").list.join(", ").alias(column)).drop("role")
    return rows.join(texts, on=["document", name], how="left", maintain_order="left")


def _join(
    rows: pl.DataFrame, columns: Iterable[str], separator: str, place: Sequence[str] = ()
) -> pl.Expr:
    """The values of columns as one text: a key has all of them, a text for people what there is."""
    texts = []
    for name in columns:
        is_list = isinstance(rows.schema[name], pl.List)
        text = pl.col(name).list.join(", ") if is_list else pl.col(name).cast(pl.String)
        texts.append(text.fill_null(_NOTHING) if separator == _SEPARATOR else text)
    texts += [pl.concat_str(*place, separator="-")] if place else []
    return pl.concat_str(texts, separator=separator, ignore_nulls=True) if texts else pl.lit("")

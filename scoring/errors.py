"""Error analysis between systems: their alignments are joined by the items of the reference.

Items of the reference are told apart by what an alignment has of the reference, items that only
systems have by what it has of the system, but for identifiers, which every system makes for itself.
Items that are the same in all of this are paired in order, right ones first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from typing import Literal

import polars as pl

from hlteval.representation import first_case
from hlteval.scoring.metric import Evidence

REFERENCE, EXTRA = "reference", "extra"
#: The numbers of a pair of systems: items that both, one or none of them have right; items of a
#: system only; and items of the reference that are scored for one of them only.
COUNTED = (
    *("both_right", "only_first", "only_second", "both_wrong"),
    *("both_extra", "only_first_extra", "only_second_extra", "unpaired"),
)


@dataclass(frozen=True, kw_only=True)
class ItemColumns:
    """The columns of the rows of an alignment that are about an item.

    Attributes:
        key: those that tell items apart, of the reference and of what is extra.
        text: those that people read, in the same way.
        label: those with its label; the first that is not null counts.
        place: the start and end of each side; empty without.
        facets: those that divide the rows.
        single: those of the facets of which one value is counted, since others repeat the items.
        items: the identifiers of events, whose arguments are in the evidence; empty without.
        stretches: whether rows are stretches of time, which every system divides in its own way.
    """

    key: Mapping[str, Sequence[str]]
    text: Mapping[str, Sequence[str]]
    label: Sequence[str] = ()
    place: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    facets: Sequence[str] = ()
    single: Sequence[str] = ()
    items: Mapping[str, str] = field(default_factory=dict)
    stretches: bool = False


@dataclass(frozen=True, kw_only=True)
class ErrorAnalysis:
    """Outcomes of each item of the reference, and of what is extra, in several systems.

    Attributes:
        systems: their names, best first.
        items: a row per item: `side`, `reference` or `extra`; `document`, `label`, `item`, its
            text; `weight`, 1 or its seconds; and for each system in turn `outcome N` and `kind N`,
            null where it has no such item.
        facets: columns of `items` between label and item, such as the layer or the criterion.
        counted: the value of each facet whose other values repeat the same items; only items with
            it are counted.
        rows: the alignment of each system by name, with `_item`, the row of `items`.
        evidence: the texts of documents and what items are about, by name of the system.
    """

    systems: tuple[str, ...]
    items: pl.DataFrame
    facets: tuple[str, ...] = ()
    counted: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    evidence: Mapping[str, Evidence] = field(default_factory=dict)

    def to_frame(self, *systems: str) -> pl.DataFrame:
        """The items, a row each: what they are, the result, and the outcome in each system.

        The result is, for two systems, `both right`, `only NAME right`, `both wrong`, `both extra`
        or `extra only in NAME`; for more, `all right`, `some right` and so on.

        Args:
            *systems: names of systems, to see these only.

        Raises:
            ValueError: for a name that no system has.
        """
        for name in systems:
            if name not in self.systems:
                raise ValueError(f"unknown system {name}: use one of {', '.join(self.systems)}")
        places = [self.systems.index(name) for name in systems or self.systems]
        frame = self.items.filter(pl.any_horizontal(_kind(place).is_not_null() for place in places))
        about = ["side", "document", "label", *self.facets, "item"]
        about += ["weight"] if self.items["weight"].dtype.is_float() else []
        names = [self.systems[place] for place in places]
        outcomes = {f"outcome of {self.systems[at]}": pl.col(f"outcome {at}") for at in places}
        return frame.select(*about, result=_result(places, names), **outcomes)

    def counts(self, by: Literal["", "document", "label"] = "") -> pl.DataFrame:
        """How many items each pair of systems has right and wrong, a row each.

        Args:
            by: `document` or `label` for a row of each of them; columns are those of `ErrorCounts`.
        """
        items = self.items.filter(*(pl.col(name) == value for name, value in self.counted.items()))
        frames = []
        for first, second in combinations(range(len(self.systems)), 2):
            sums = dict(zip(COUNTED, _sums(first, second), strict=True))
            counts = items.group_by(by).agg(**sums).sort(by) if by else items.select(**sums)
            names = {"first": pl.lit(self.systems[first]), "second": pl.lit(self.systems[second])}
            frames.append(counts.select(**names, **{name: pl.col(name) for name in counts.columns}))
        return pl.concat(frames)


def _kind(place: int) -> pl.Expr:
    return pl.col(f"kind {place}")


def _sums(first: int, second: int) -> Iterator[pl.Expr]:
    """The sums of weights that are `COUNTED`, of two systems by their places."""
    own, other = _kind(first), _kind(second)
    of_reference = pl.col("side") == REFERENCE
    both, either = own.is_not_null() & other.is_not_null(), own.is_not_null() | other.is_not_null()
    right, other_right = own == "correct", other == "correct"
    inside = of_reference & both
    conditions = [
        inside & right & other_right,
        inside & right & ~other_right,
        inside & ~right & other_right,
        inside & ~right & ~other_right,
        ~of_reference & both,
        ~of_reference & own.is_not_null() & ~both,
        ~of_reference & other.is_not_null() & ~both,
        of_reference & either & ~both,
    ]
    yield from (pl.col("weight").filter(condition).sum() for condition in conditions)


def _result(places: Sequence[int], names: Sequence[str]) -> pl.Expr:
    """The result of an item in some systems."""
    right = [(_kind(place) == "correct").fill_null(value=False) for place in places]
    present = [_kind(place).is_not_null() for place in places]
    every, some_right, some_extra = "all", pl.lit("some right"), pl.lit("extra in some")
    if len(places) == 2:
        every, (first, second) = "both", names
        some_right = first_case((right[0], f"only {first} right"), otherwise=f"only {second} right")
        alone = f"extra only in {first}", f"extra only in {second}"
        some_extra = first_case((present[0], alone[0]), otherwise=alone[1])
    extra = pl.col("side") == EXTRA
    return first_case(
        (extra & pl.all_horizontal(present), f"{every} extra"),
        (extra, some_extra),
        (pl.all_horizontal(right), f"{every} right"),
        (~pl.any_horizontal(right), f"{every} wrong"),
        otherwise=some_right,
    )


#: Between the values of a key; no value has it.
_SEPARATOR, _NOTHING = "\x1f", "\x00"
_KEY = ("_side", "document", "_key", "_ordinal")
_BECAME = ("outcome", "_kind")
#: Right ones first: of items that are the same, systems agree on as many as they can.
_ORDER = {"correct": 0, "different": 1, "missing": 2, "extra": 3}
#: Stretches of time are told apart to the microsecond.
_DIGITS = 6


def analyse_errors(
    columns: ItemColumns, rows: Mapping[str, pl.DataFrame], evidence: Mapping[str, Evidence]
) -> ErrorAnalysis:
    """Join the alignments of systems.

    Args:
        columns: of the rows.
        rows: of the alignment of each system that are scored, by its name, best first; `_kind`
            is what their outcome means.
        evidence: of each system, by its name.
    """
    weight = pl.lit(1, pl.Int64)
    if columns.stretches:
        start, end = columns.place[REFERENCE]
        rows = dict(zip(rows, _cut([*rows.values()], start, end), strict=True))
        weight = (pl.col(end) - pl.col(start)).round(_DIGITS)
    named = {
        name: _with_keys(own, columns, evidence[name].marks).with_columns(_weight=weight)
        for name, own in rows.items()
    }
    facets, places = columns.facets, range(len(named))
    common = ("_row", "_label", *facets, "_text", "_weight")
    frames = [
        own.select(*_KEY, *(pl.col(name).alias(f"{name} {place}") for name in (*common, *_BECAME)))
        for place, own in zip(places, named.values(), strict=True)
    ]
    items = reduce(lambda one, two: one.join(two, on=_KEY, how="full", coalesce=True), frames)
    first = {name: pl.coalesce(f"{name} {place}" for place in places) for name in common}
    items = items.with_columns(**first).sort("document", "_row", "_side", "_key", "_ordinal")
    keyed = items.with_row_index("_item").select("_item", *_KEY)
    about = {"side": "_side", "document": "document", "label": "_label"}
    about |= {name: name for name in facets} | {"item": "_text", "weight": "_weight"}
    outcomes = (
        pl.col(f"{name} {place}").alias(f"{name.removeprefix('_')} {place}")
        for place in places
        for name in _BECAME
    )
    items = items.select(*(pl.col(own).alias(name) for name, own in about.items()), *outcomes)
    return ErrorAnalysis(
        systems=tuple(rows),
        items=items,
        facets=tuple(facets),
        counted={name: items[name][0] for name in columns.single if items.height},
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
        each = each.filter(inside).with_columns(
            pl.col("begin").alias(start), pl.col("until").alias(end)
        )
        cut.append(each.drop("begin", "until"))
    return cut


def _with_keys(rows: pl.DataFrame, columns: ItemColumns, marks: pl.DataFrame) -> pl.DataFrame:
    """Rows with what tells them apart, their label and text: `_side`, `_key`, `_ordinal` and so on.

    Args:
        rows: of a system.
        columns: of the rows.
        marks: the arguments of its items, if these are events.
    """
    extra = pl.col("_kind") == "extra"
    keys, texts = {}, {}
    for side, marked in ((REFERENCE, "reference"), (EXTRA, "system")):
        arguments = []
        if name := columns.items.get(side):
            arguments = [f"_{side}"]
            rows = _with_arguments(rows, marks.filter(side=marked), name, arguments[0])
        place = columns.place.get(side, ())
        key = dict.fromkeys((*columns.key[side], *place, *columns.facets, *arguments))
        keys[side] = _join(rows, key, _SEPARATOR)
        texts[side] = _join(rows, (*columns.text[side], *arguments), " · ", place)
    label = pl.coalesce(columns.label) if columns.label else pl.lit(None, pl.String)
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

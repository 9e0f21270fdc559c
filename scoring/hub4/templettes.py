"""Templettes: what the instances of one side say, in the shape that is compared.

A side is its instances and their fills: one row a single fill of a scored slot, its strings worded
for comparing, and the minimal strings of a reference apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.hub4.normalizer import TextNormalizer
from hlteval.scoring.hub4.text_columns import Scale, in_columns

#: Slots without points, unless others are named: no system fills them on its own.
UNSCORED = ("DOC_NR", "COMMENT", "OBJ_STATUS")
#: What identifies a slot of an instance: a name, and which slot of that name it is.
PLACE = ("slot", "occurrence")


@dataclass(frozen=True)
class Side:
    """The instances of a reference or of a system.

    Attributes:
        instances: `instance`, `document`, `type`, `pointer`, `is_optional`, in the file's order.
        fills: `fill`, `instance`, `type`, `slot`, `occurrence`, `place`, `slot_optional`,
            `alternative`, `position`, `kind`, `text`, `content`, `start`, `end`, and `whole` and
            `whole_start` with premodifiers; of a pointer `target` and `target_type`, null where it
            leads nowhere.
        minimal: `fill`, `content`, `start`, `end`, and `bare`, whether it has nothing but
            premodifiers: a row per minimal string of a reference.
        whole: `document`, `start`, `end`: from the first to the last offset of all text fills.
        slots: `place`, `slot`, `occurrence`: the slots of both sides, numbered.
        most: one more than the greatest number of alternatives.
    """

    instances: pl.DataFrame
    fills: pl.DataFrame
    minimal: pl.DataFrame
    whole: pl.DataFrame
    slots: pl.DataFrame
    most: int = 2

    @property
    def places(self) -> int:
        """How many different slots there are."""
        return max(self.slots.height, 1)

    @property
    def order(self) -> pl.DataFrame:
        """The documents in the order of their first instances: `document`, `order`."""
        firsts = self.instances.group_by("document").agg(order=pl.col("instance").min())
        return firsts.sort("order")

    def of(self, documents: pl.Series) -> Side:
        """The instances of some documents, in the same numbering."""
        inside = pl.col("document").is_in(documents.drop_nulls().implode())
        fills = self.fills.filter(inside)
        return replace(
            self,
            instances=self.instances.filter(inside),
            fills=fills,
            minimal=self.minimal.filter(pl.col("fill").is_in(fills["fill"].implode())),
            whole=self.whole.filter(inside),
        )


def compared_side(
    corpus: Corpus,
    normalizer: TextNormalizer,
    unscored: tuple[str, ...] = UNSCORED,
    *,
    first_only: bool = False,
    offsets: Mapping[int, int] | None = None,
    scales: Mapping[int, Scale] | None = None,
) -> Side:
    """What a corpus says, for comparing.

    Args:
        corpus: with `frames` of the kind `templette` and their `fills`.
        normalizer: how strings are normalised.
        unscored: slots that give no points, as NAME, or TYPE.NAME for those of one type.
        first_only: whether only the first alternative of a slot counts, as for a system.
        offsets: what is added to the extents of each document.
        scales: what makes the extents of each document columns.

    Examples:
        >>> frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "templette"}
        >>> one = Corpus(frames=[{**frame, "frame": "BREAD-d-1", "label": "BREAD"}])
        >>> compared_side(one, TextNormalizer()).instances["pointer"].to_list()
        ['BREAD-d-1']
    """
    instances = corpus.frames.filter(pl.col("kind") == "templette").select(
        "document",
        instance="row",
        type="label",
        pointer="frame",
        is_optional=pl.col("optional").fill_null(False),
    )
    fills = _fills(corpus, instances, first_only=first_only)
    texts = fills.filter(pl.col("kind") == "text")
    shown = _moved(_maximal(texts, normalizer), offsets, scales)
    whole = shown.group_by("document").agg(
        start=pl.min_horizontal(pl.col("start").min(), pl.col("end").min()),
        end=pl.max_horizontal(pl.col("start").max(), pl.col("end").max()),
    )
    fills = _scored(fills, unscored)
    minimal = _moved(_minimal(texts, normalizer), offsets, scales).drop("document")
    worded = shown.select("fill", "content", "start", "end", "whole", "whole_start")
    fills = fills.drop("extents", "brackets").join(
        worded, on="fill", how="left", maintain_order="left"
    )
    return Side(instances, fills, minimal, whole.drop_nulls(), fills.select(PLACE).clear())


def numbered(reference: Side, system: Side) -> tuple[Side, Side]:
    """Two sides whose slots have the same numbers: the column `place`."""
    both = pl.concat([side.fills.select(PLACE) for side in (reference, system)])
    places = both.unique(maintain_order=True).with_row_index("place")
    places = places.with_columns(pl.col("place").cast(pl.Int64))
    most = [side.fills["alternative"].max() or 0 for side in (reference, system)]
    return tuple(  # type: ignore[return-value]
        replace(
            side,
            fills=side.fills.join(places, on=PLACE, how="left", maintain_order="left"),
            slots=places,
            most=max(int(str(number)) for number in most) + 1,
        )
        for side in (reference, system)
    )


def _fills(corpus: Corpus, instances: pl.DataFrame, *, first_only: bool) -> pl.DataFrame:
    """The fills of all instances, with what pointers lead to in the same document."""
    fills = corpus.fills.filter(pl.col("kind") != "empty")
    if first_only:
        fills = fills.filter(pl.col("alternative") == 1)
    rows = fills.select(
        *PLACE[:1],
        "slot_number",
        "alternative",
        "position",
        "kind",
        "text",
        "extents",
        "brackets",
        pointed="target",
        fill="row",
        instance="frame_row",
        slot_optional="optional",
    ).join(instances.select("instance", "document", "type"), on="instance", maintain_order="left")
    known = instances.unique(["document", "pointer"], keep="first", maintain_order=True)
    known = known.select("document", "pointer", target="instance", target_type="type")
    rows = rows.join(
        known,
        left_on=["document", "pointed"],
        right_on=["document", "pointer"],
        how="left",
        maintain_order="left",
    )
    same = ["instance", "slot"]
    place = pl.col("slot_number").rank("dense").over(same).cast(pl.Int64)
    twice = rows.select(pl.col("slot_number").n_unique().over(same).max()).item()
    occurrence = place if twice is not None and twice > 1 else pl.lit(1, pl.Int64)
    return rows.with_columns(occurrence=occurrence).drop("slot_number")


def _scored(fills: pl.DataFrame, unscored: tuple[str, ...]) -> pl.DataFrame:
    names = [name for name in unscored if "." not in name]
    full = [name for name in unscored if "." in name]
    left_out = pl.col("slot").is_in(names)
    if full:
        left_out |= pl.concat_str("type", "slot", separator=".").is_in(full)
    return fills.filter(~left_out)


def _maximal(texts: pl.DataFrame, normalizer: TextNormalizer) -> pl.DataFrame:
    """The maximal string of each text fill, with its extent."""
    first = pl.col("extents").list.first().struct
    whole = normalizer.contents(texts["text"], whole=True) if normalizer.premodifiers else None
    rows = texts.select(
        "fill",
        "document",
        start=first.field("start") + normalizer.shifts(texts["text"]),
        end=first.field("end"),
        content=normalizer.contents(texts["text"]),
        whole_start=first.field("start"),
    ).with_columns(whole=pl.col("content") if whole is None else whole)
    return _spared(rows, texts, normalizer)


def _spared(rows: pl.DataFrame, texts: pl.DataFrame, normalizer: TextNormalizer) -> pl.DataFrame:
    """The maximal strings with the premodifiers that minimal strings consist of."""
    some = texts.filter((pl.col("brackets").list.len() > 0).fill_null(False))
    if not normalizer.premodifiers or some.is_empty():
        return rows
    found = []
    for fill, text, brackets in some.select("fill", "text", "brackets").iter_rows():
        parts = [(part["start"], part["end"]) for part in brackets]
        if (most := normalizer.spared(text, parts)) is not None:
            shift = normalizer.shift(text, most=most)
            found.append((fill, shift, normalizer.content(text, most=most)))
    schema = {"fill": pl.Int64, "shift": pl.Int64, "spared": pl.String}
    table = pl.DataFrame(found, schema, orient="row")
    joined = rows.join(table, on="fill", how="left", maintain_order="left")
    return joined.with_columns(
        start=pl.coalesce(pl.col("whole_start") + pl.col("shift"), "start"),
        content=pl.coalesce("spared", "content"),
    ).drop("shift", "spared")


def _minimal(texts: pl.DataFrame, normalizer: TextNormalizer) -> pl.DataFrame:
    """The minimal strings of each text fill, with their extents."""
    inside = _parts(texts, pl.col("brackets"), "text").select(
        "fill", "document", "number", text=_slice()
    )
    extents = _parts(texts, pl.col("extents").list.slice(1))
    rows = inside.join(extents, on=["fill", "document", "number"], how="full", coalesce=True)
    rows = rows.sort("fill", "number")
    return rows.select(
        "fill",
        "document",
        start=pl.col("start") + normalizer.shifts(rows["text"]),
        end="end",
        content=normalizer.contents(rows["text"]),
        bare=normalizer.bares(rows["text"]),
    )


def _parts(rows: pl.DataFrame, lists: pl.Expr, *more: str) -> pl.DataFrame:
    """A row per part of a list of stretches, numbered within each fill."""
    listed = rows.select("fill", "document", *more, part=lists).filter(
        (pl.col("part").list.len() > 0).fill_null(False)
    )
    parts = listed.explode("part").unnest("part")
    return parts.with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64).over("fill"))


def _slice() -> pl.Expr:
    return pl.col("text").str.slice("start", pl.col("end") - pl.col("start"))


def _moved(
    rows: pl.DataFrame, offsets: Mapping[int, int] | None, scales: Mapping[int, Scale] | None
) -> pl.DataFrame:
    """Extents in the offsets, and then in the columns, in which the two sides are compared."""
    if offsets is not None:
        added = pl.col("document").replace_strict(
            dict(offsets), default=None, return_dtype=pl.Int64
        )
        rows = rows.with_columns(pl.col("start", "end", *_more(rows)) + added)
    return rows if scales is None else in_columns(rows, scales, _more(rows))


def _more(rows: pl.DataFrame) -> list[str]:
    return [name for name in ("whole_start",) if name in rows.columns]
